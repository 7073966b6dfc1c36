import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput, QueryInput } from '@zhisuan/contract/define'
import { flavors, type Flavor } from '@zhisuan/contract/nextstack/flavor'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { platformScope } from '../../../platform/auth/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { waitingForLocks } from '../../../testing/locks.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { beyondHosts } from '../host/host.reach.ts'
import { flavorFor } from './flavor.service.ts'

const gib = 2 ** 30

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
})
afterAll(() => app.close())

type Body = BodyInput<typeof flavors.create>
const body = (wish: Partial<Body> = {}): Body => ({ name: `f-${randomUUID()}`, cpu_cores: 2, memory_bytes: 4 * gib, disk_bytes: 40 * gib, ...wish })
const create = (wish: Partial<Body> = {}): Promise<Flavor> => call(app, flavors.create, { token: admin.token, body: body(wish) })
const forOwner = (wish: Partial<Body> = {}) => create({ public: false, organisation_ids: [owner.bp_id ?? ''], ...wish })
const list = (query: QueryInput<typeof flavors.list>, token = admin.token) => call(app, flavors.list, { token, query })
const get = (id: string, token = admin.token) => call(app, flavors.get, { token, params: { id } })
/** An instance on paper: what counts here is that there is a row. */
async function vmWith(flavor_id: string, person = owner): Promise<string> {
  const cloud = await call(app, clouds.create, {
    token: admin.token,
    body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: { type: 'sandbox' } },
  })
  const query = { cloud_id: cloud.cloud_id, type: 'container' } as const
  const [image] = (await call(app, images.list, { token: admin.token, query })).items
  const { items } = await call(app, vms.create, {
    token: person.token,
    body: {
      cloud_id: cloud.cloud_id,
      name: `vm-${randomUUID()}`,
      type: 'container',
      image_fingerprint: image?.fingerprint ?? '',
      flavor_id,
      network: 'sandbox0',
      password: 'Correct-horse-1',
    },
  })
  return items[0]?.id ?? ''
}

describe('the first flavors', () => {
  it('are there, for everybody', async () => {
    const { items } = await list({ sort: 'memory_bytes' }, owner.token)
    expect(items.map(({ name }) => name)).toEqual(['nano', 'micro', 'small', 'medium', 'large', 'xlarge', '2xlarge'])
    expect(items[0]).toMatchObject({ cpu_cores: 1, memory_bytes: gib / 4, gpu: null, public: true })
  })
})

describe('making', () => {
  it('answers with the whole flavor, and everybody may choose it', async () => {
    const wish = body({ description: '通用型', gpu: { model: 'NVIDIA A100', count: 2 } })
    const answer = await send(app, flavors.create, { token: admin.token, body: wish })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ ...wish, id: expect.any(String), beyond: null, public: true, organisations: [], vm_count: 0, created_at: expect.any(String) })
    const { id } = answer.body as Flavor
    expect(await get(id, owner.token)).toEqual(answer.body)
  })

  it('for some organisations is seen by these, who do not learn of each other', async () => {
    const flavor = await create({ public: false, organisation_ids: [owner.bp_id ?? '', owner.bp_id ?? ''] })
    expect(flavor.organisations).toEqual([{ id: owner.bp_id, name: expect.stringMatching(/^org-/) }])
    expect(await get(flavor.id, owner.token)).toMatchObject({ public: false, organisations: [], vm_count: 0 })
    expect(await refused(app, flavors.get, { token: stranger.token, params: { id: flavor.id } })).toMatchObject({ status: 404, code: 90006 })
    expect((await list({ keyword: flavor.name }, owner.token)).total).toBe(1)
    expect(await list({ keyword: flavor.name }, stranger.token)).toEqual({ total: 0, items: [] })
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await list({ keyword: flavor.name }, nobody.token)).toEqual({ total: 0, items: [] })
  })

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: undefined }],
    ['description', { description: 'x'.repeat(256) }],
    ['cpu_cores', { cpu_cores: 0 }],
    ['cpu_cores', { cpu_cores: 513 }],
    ['cpu_cores', { cpu_cores: 1.5 }],
    ['memory_bytes', { memory_bytes: 2 ** 20 }],
    ['memory_bytes', { memory_bytes: 2 ** 51 }],
    ['disk_bytes', { disk_bytes: 0 }],
    ['gpu.model', { gpu: { model: ' ', count: 1 } }],
    ['gpu.model', { gpu: { model: 'a\nb', count: 1 } }],
    ['gpu.count', { gpu: { model: 'A100', count: 17 } }],
    ['organisation_ids', { public: false }],
    ['organisation_ids.0', { public: false, organisation_ids: ['x'] }],
  ])('names the wrong field: %s', async (field, wish) => {
    const answer = await refused(app, flavors.create, { token: admin.token, body: { ...body(), ...wish } })
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields?.map((one) => one.field)).toEqual([field])
    expect(answer.fields?.[0]?.message).toMatch(/\p{Script=Han}/u)
  })

  it('refuses a name that there is, and an organisation that there is not; nothing is kept', async () => {
    const { name } = await create()
    expect(await refused(app, flavors.create, { token: admin.token, body: body({ name }) })).toMatchObject({
      status: 400,
      code: 94021,
      fields: [{ field: 'name', message: '规格名称已存在' }],
    })
    const other = body({ public: false, organisation_ids: [randomUUID()] })
    expect(await refused(app, flavors.create, { token: admin.token, body: other })).toMatchObject({
      status: 400,
      code: 94167,
      fields: [{ field: 'organisation_ids' }],
    })
    expect((await list({ keyword: other.name })).total).toBe(0)
  })

  it('is for administrators', async () => {
    const { id } = await create()
    for (const [declared, input] of [
      [flavors.create, { body: body() }],
      [flavors.update, { params: { id }, body: body() }],
      [flavors.delete, { params: { id } }],
      [flavors.vms, { params: { id } }],
    ] as const) {
      expect(await refused(app, declared, { token: owner.token, ...input })).toMatchObject({ status: 403, code: 3000 })
    }
  })
})

describe('the list', () => {
  it('filters by name, visibility and GPUs, and sorts', async () => {
    const mark = randomUUID().slice(0, 8)
    const big = await create({ name: `${mark}-big`, cpu_cores: 64 })
    const own = await forOwner({ name: `${mark}-own`, cpu_cores: 8 })
    const gpu = await create({ name: `${mark}-gpu`, cpu_cores: 16, gpu: { model: 'H200', count: 8 } })
    const ids = async (query: QueryInput<typeof flavors.list>, token = admin.token) =>
      (await list({ keyword: mark, ...query }, token)).items.map(({ id }) => id)
    expect(await ids({ sort: 'cpu_cores' })).toEqual([own.id, gpu.id, big.id])
    expect(await ids({ sort: '-name' })).toEqual([own.id, gpu.id, big.id])
    expect(await ids({ sort: '-created_at' })).toEqual([gpu.id, own.id, big.id])
    expect(await ids({ public: 'false' })).toEqual([own.id])
    expect(await ids({ gpu: 'true' })).toEqual([gpu.id])
    expect(await ids({ gpu: 'false', public: 'true' })).toEqual([big.id])
    expect(await ids({ page_size: 1, page_num: 2, sort: 'cpu_cores' })).toEqual([gpu.id])
    expect(await ids({ public: 'false' }, stranger.token)).toEqual([])
    expect(await refused(app, flavors.list, { token: owner.token, query: { sort: 'disk_bytes' } })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [{ field: 'sort' }],
    })
  })
})

describe('a long list', () => {
  // More are read in another way than few.
  it.each([40, 1_100])('shows an organisation what is everybody’s and %i others, each once and in order', async (count) => {
    const [person, mark] = [await someone(app), randomUUID().slice(0, 8)]
    const name = sql`${mark} || '-' || n`
    await sql`
      with made as (
        insert into flavors (id, name, cpu_cores, memory_bytes, disk_bytes, public)
        select gen_random_uuid(), ${name}, 1 + n % 7, 1073741824, 1, n % 11 = 0 from generate_series(1, ${count}) as n returning id, public
      )
      insert into flavor_organisations select id, ${person.bp_id} from made where not public`.execute(app.platform.database.db)
    const known = (await list({ keyword: mark, page_size: 1 })).total
    expect(known).toBe(count)
    const shown: Flavor[] = []
    for (let page = 1; shown.length < count; page++) {
      const { total, items } = await list({ keyword: mark, sort: '-cpu_cores', page_num: page, page_size: 100 }, person.token)
      expect([total, items.length > 0]).toEqual([count, true])
      shown.push(...items)
    }
    expect(new Set(shown.map(({ id }) => id)).size).toBe(count)
    expect(shown.map((one) => one.cpu_cores)).toEqual(shown.map((one) => one.cpu_cores).sort((one, other) => other - one))
    expect((await list({ keyword: mark }, stranger.token)).total).toBe(Math.floor(count / 11))
    const [all, open, closed] = await Promise.all([list({}, person.token), list({ public: 'true' }, person.token), list({ public: 'false' }, person.token)])
    expect([closed.total, all.total - open.total]).toEqual([count - Math.floor(count / 11), closed.total])
    expect(await list({ page_num: 100_000 }, person.token)).toEqual({ total: all.total, items: [] })
  })
})

describe('changing', () => {
  it('changes everything, also who may choose it; instances keep what they were made with', async () => {
    const flavor = await forOwner()
    const vm = await vmWith(flavor.id)
    const wish = body({ cpu_cores: 4, gpu: { model: 'A100', count: 1 }, public: false, organisation_ids: [stranger.bp_id ?? ''] })
    const after = await call(app, flavors.update, { token: admin.token, params: { id: flavor.id }, body: wish })
    expect(after).toMatchObject({ id: flavor.id, name: wish.name, cpu_cores: 4, gpu: wish.gpu, organisations: [{ id: stranger.bp_id }], vm_count: 1 })
    expect((await send(app, flavors.get, { token: owner.token, params: { id: flavor.id } })).status).toBe(404)
    expect(await call(app, vms.get, { token: owner.token, params: { id: vm } })).toMatchObject({ cpu_cores: 2, flavor: { id: flavor.id, name: flavor.name } })
    // Public again, it is nobody's in particular.
    expect(await call(app, flavors.update, { token: admin.token, params: { id: flavor.id }, body: { ...wish, public: true } })).toMatchObject({
      public: true,
      organisations: [],
    })
  })

  it('refuses another’s name, and what does not exist', async () => {
    const [one, other] = [await create(), await create()]
    const update = (id: string, name: string) => refused(app, flavors.update, { token: admin.token, params: { id }, body: body({ name }) })
    expect(await update(one.id, other.name)).toMatchObject({ status: 400, code: 94021, fields: [{ field: 'name' }] })
    expect(await update(randomUUID(), 'other')).toMatchObject({ status: 404, code: 90006 })
  })
})

describe('deleting', () => {
  it('is refused while an instance has it; then it is gone', async () => {
    const flavor = await create()
    const vm = await vmWith(flavor.id)
    const remove = () => send(app, flavors.delete, { token: admin.token, params: { id: flavor.id } })
    expect(await remove()).toMatchObject({ status: 400, body: { code: 94020, message: '还有1台实例在使用该规格' } })
    expect(await get(flavor.id)).toMatchObject({ vm_count: 1 })
    await app.platform.db.deleteFrom('vms').where('id', '=', vm).execute()
    expect((await remove()).status).toBe(204)
    expect((await remove()).status).toBe(404)
    expect(await refused(app, flavors.get, { token: admin.token, params: { id: flavor.id } })).toMatchObject({ status: 404, code: 90006 })
  })

  it('waits for an instance that is about to have it', async () => {
    const flavor = await create()
    const vm = await vmWith((await create()).id)
    const { db } = app.platform
    const [chosen, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const making = db.transaction().execute(async (tx) => {
      await flavorFor(tx, { bp_id: owner.bp_id ?? '' }, flavor.id)
      chosen.resolve()
      await go.promise
      await tx.updateTable('vms').set({ flavor_id: flavor.id }).where('id', '=', vm).execute()
    })
    await chosen.promise
    const removing = send(app, flavors.delete, { token: admin.token, params: { id: flavor.id } })
    await expect.poll(() => waitingForLocks(app, '%"flavors"%')).toBe(1)
    go.resolve()
    await making
    expect(await removing).toMatchObject({ status: 400, body: { code: 94020 } })
  })
})

describe('instances of a flavor', () => {
  it('are named with their organisation and cloud, newest first', async () => {
    const flavor = await create()
    const [first, second] = [await vmWith(flavor.id), await vmWith(flavor.id, stranger)]
    const { total, items } = await call(app, flavors.vms, { token: admin.token, params: { id: flavor.id } })
    expect(total).toBe(2)
    expect(items.map(({ id }) => id)).toEqual([second, first])
    expect(items[1]).toEqual({
      id: first,
      name: expect.stringMatching(/^vm-/),
      status: expect.any(String),
      cloud_id: expect.any(String),
      cloud_name: expect.stringMatching(/^c-/),
      bp_name: expect.stringMatching(/^org-/),
      created_at: expect.any(String),
    })
    expect(await refused(app, flavors.vms, { token: admin.token, params: { id: randomUUID() } })).toMatchObject({ status: 404, code: 90006 })
  })
})

describe('choosing one for an instance', () => {
  it('is refused beyond what the organisation may choose', async () => {
    const flavor = await forOwner()
    const { db } = app.platform
    expect(await flavorFor(db, { bp_id: owner.bp_id ?? '' }, flavor.id)).toMatchObject({ id: flavor.id, name: flavor.name })
    expect(await flavorFor(db, platformScope, flavor.id)).toMatchObject({ id: flavor.id })
    for (const scope of [{ bp_id: stranger.bp_id ?? '' }, { nothing: true } as const]) {
      await expect(flavorFor(db, scope, flavor.id)).rejects.toMatchObject({ refusal: 'flavorMissing', fields: [{ field: 'flavor_id' }] })
    }
  })
})

describe('a size that no host has', () => {
  const host = { threads: 8, memory_bytes: 16 * gib, gpus: { A100: 2 } }
  it('is beyond all of them by what it wants too much of', () => {
    const size = { cpu_cores: 8, memory_bytes: 16 * gib, gpu: { model: 'A100', count: 2 } }
    expect(beyondHosts([host], size)).toBeNull()
    expect(beyondHosts([host, { ...host, threads: 16 }], { ...size, cpu_cores: 9 })).toBeNull()
    expect(beyondHosts([host], { ...size, cpu_cores: 9 })).toBe('cpu_cores')
    expect(beyondHosts([host], { ...size, memory_bytes: 16 * gib + 1 })).toBe('memory_bytes')
    expect(beyondHosts([host], { ...size, gpu: { model: 'A100', count: 3 } })).toBe('gpus')
    expect(beyondHosts([host], { ...size, gpu: { model: 'V100', count: 1 } })).toBe('gpus')
    // No one host has both.
    expect(beyondHosts([host, { ...host, threads: 64, memory_bytes: 8 * gib }], { ...size, cpu_cores: 9 })).toBe('cpu_cores')
    // Of hosts that told nothing nobody knows.
    expect(beyondHosts([], { ...size, cpu_cores: 999 })).toBeNull()
    expect(beyondHosts([host, { threads: 0, memory_bytes: 0, gpus: {} }], { ...size, cpu_cores: 999 })).toBeNull()
  })

  it('is told where instances are made and resized, and refused there', async () => {
    const [large, small] = [await create({ cpu_cores: 500 }), await create({ cpu_cores: 1, memory_bytes: gib })]
    const vm_id = await vmWith(small.id)
    const { cloud_id } = await call(app, vms.get, { token: owner.token, params: { id: vm_id } })
    const beyondOf = async (query: QueryInput<typeof flavors.list>, { id }: Flavor, token = owner.token) =>
      (await list({ page_size: 1000, ...query }, token)).items.find((one) => one.id === id)?.beyond
    await vi.waitFor(async () => expect(await beyondOf({ cloud_id }, large)).toBe('cpu_cores'), { timeout: 10_000, interval: 50 })
    expect(await beyondOf({ cloud_id }, small)).toBeNull()
    expect(await beyondOf({ vm_id }, large)).toBe('cpu_cores')
    expect(await beyondOf({}, large)).toBeNull()
    // Where another organisation's instance is, is nobody's business.
    expect(await beyondOf({ vm_id }, large, stranger.token)).toBeNull()
    const refusal = { code: 94174, fields: [{ field: 'flavor_id' }] }
    await vi.waitFor(async () => expect(await call(app, vms.get, { token: owner.token, params: { id: vm_id } })).toMatchObject({ status: 'running' }))
    expect(await refused(app, vms.resize, { token: owner.token, params: { id: vm_id }, body: { flavor_id: large.id } })).toMatchObject(refusal)
    const [image] = (await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })).items
    const wish = {
      cloud_id,
      name: 'too-large',
      type: 'container' as const,
      image_fingerprint: image?.fingerprint ?? '',
      network: 'sandbox0',
      password: 'Correct-horse-1',
    }
    expect(await refused(app, vms.create, { token: owner.token, body: { ...wish, flavor_id: large.id } })).toMatchObject(refusal)
  })
})
