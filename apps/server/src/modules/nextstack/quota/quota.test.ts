import { randomUUID } from 'node:crypto'
import { quotaResources, quotas, type QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createQuotas, type QuotaCounter, type QuotaService } from './quota.service.ts'

const gib = 2 ** 30

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
/** As the server has it, with a counter of things that are made here. */
let service: QuotaService

/** Things of an organisation, and of a project where they name one, with a size. */
const counter: QuotaCounter = {
  resources: ['volumes', 'volume_bytes'],
  async count(on, { bp_id, project_id }) {
    const { rows } = await sql<{ volumes: number; volume_bytes: number }>`
      select count(*) as volumes, coalesce(sum(size), 0)::bigint as volume_bytes from things
      where (${bp_id}::uuid is null or bp_id = ${bp_id}) and (${project_id}::uuid is null or project_id = ${project_id})`.execute(on)
    return rows[0] ?? {}
  },
}

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
  await sql`create table things (bp_id uuid, project_id uuid, size bigint not null)`.execute(app.platform.db)
  service = createQuotas({ mayMake: async () => undefined, db: app.platform.db, counters: [counter] })
})
afterAll(() => app.close())

type Of = { bp_id: string | null; project_id: string | null }
const whole = (bp_id: string | null): Of => ({ bp_id, project_id: null })
const newOrganisation = () => makeOrganisation(app)
async function newProject(bp_id: string): Promise<string> {
  const id = uuidv7()
  await app.platform.db
    .insertInto('projects')
    .values({ id, key: `p-${id}`, name: `项目-${id.slice(-6)}`, bp_id })
    .execute()
  return id
}
const add = (tx: Tx, { bp_id, project_id }: Of, size = gib) => sql`insert into things values (${bp_id}, ${project_id}, ${size})`.execute(tx)
/** Makes things as every service does: taken and made in one transaction. */
const make = (of: Of, more: Partial<Record<QuotaResource, number>> = { volumes: 1, volume_bytes: gib }, size = gib): Promise<void> =>
  app.platform.db.transaction().execute(async (tx) => {
    await service.take(tx, of, more)
    await add(tx, of, size)
  })
const things = async ({ bp_id, project_id }: Of): Promise<number> =>
  (
    await sql<{
      count: number
    }>`select count(*) as count from things where bp_id is not distinct from ${bp_id} and (${project_id}::uuid is null or project_id = ${project_id})`.execute(
      app.platform.db,
    )
  ).rows[0]?.count ?? 0
const limit = (bp_id: string, limits: Partial<Record<QuotaResource, number | null>>, project_id: string | null = null) =>
  call(app, quotas.set, { token: admin.token, params: { bp_id }, body: { project_id, limits } })
/** How many of so many at once were made; the others were refused by the quota and by nothing else. */
async function together(count: number, of: (index: number) => Of): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, index) => make(of(index))))
  for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ refusal: 'quotaExceeded' })
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

describe('taking', () => {
  it('of 100 at once against 10 makes exactly 10', async () => {
    const bp_id = await newOrganisation()
    await limit(bp_id, { volumes: 10 })
    expect(await together(100, () => whole(bp_id))).toBe(10)
    expect(await things(whole(bp_id))).toBe(10)
  })

  it('of 100 at once against 10 of a project makes exactly 10, and the organisation’s others count for themselves', async () => {
    const bp_id = await newOrganisation()
    const [narrow, wide] = [await newProject(bp_id), await newProject(bp_id)]
    await limit(bp_id, { volumes: 10 }, narrow)
    const [inNarrow, inWide] = await Promise.all([together(100, () => ({ bp_id, project_id: narrow })), together(20, () => ({ bp_id, project_id: wide }))])
    expect([inNarrow, inWide]).toEqual([10, 20])
    expect(await things(whole(bp_id))).toBe(30)
  })

  it('by two projects at once stops at what the organisation may have in all', async () => {
    const bp_id = await newOrganisation()
    const projects = [await newProject(bp_id), await newProject(bp_id)]
    await limit(bp_id, { volumes: 10 })
    for (const project of projects) await limit(bp_id, { volumes: 8 }, project)
    expect(await together(100, (index) => ({ bp_id, project_id: projects[index % 2] ?? null }))).toBe(10)
    for (const project_id of projects) expect(await things({ bp_id, project_id })).toBeLessThanOrEqual(8)
  })

  it('by organisations at once keeps each to its own', async () => {
    const organisations = await Promise.all(Array.from({ length: 4 }, newOrganisation))
    for (const [index, bp_id] of organisations.entries()) await limit(bp_id, { volumes: index * 3 })
    await together(100, (index) => whole(organisations[index % 4] ?? null))
    expect(await Promise.all(organisations.map((bp_id) => things(whole(bp_id))))).toEqual([0, 3, 6, 9])
  })

  it('counts what others made while it waited, and nothing that was taken back', async () => {
    const bp_id = await newOrganisation()
    await limit(bp_id, { volumes: 1 })
    const [taken, go] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
    const first = app.platform.db.transaction().execute(async (tx) => {
      await service.take(tx, whole(bp_id), { volumes: 1 })
      await add(tx, whole(bp_id))
      taken.resolve()
      if (!(await go.promise)) throw new Error('taken back')
    })
    first.catch(() => undefined)
    await taken.promise
    const second = make(whole(bp_id))
    go.resolve(false)
    await expect(first).rejects.toThrow('taken back')
    await second
    expect(await things(whole(bp_id))).toBe(1)
  })

  it('counts amounts, several of them, and the first that is too much is named with its number', async () => {
    const bp_id = await newOrganisation()
    await limit(bp_id, { volumes: 3, volume_bytes: 10 * gib })
    await make(whole(bp_id), { volumes: 1, volume_bytes: 7.5 * gib }, 7.5 * gib)
    await make(whole(bp_id), { volumes: 1, volume_bytes: 2.5 * gib }, 2.5 * gib)
    const refusal = async (more: Partial<Record<QuotaResource, number>>): Promise<Refusal> =>
      make(whole(bp_id), more).then(
        () => expect.fail('was made'),
        (error: Refusal) => error,
      )
    expect((await refusal({ volumes: 1, volume_bytes: 1 })).message).toBe('超出配额：云硬盘容量最多10 GB，已用10 GB')
    expect((await refusal({ volumes: 2 })).message).toBe('超出配额：云硬盘最多3，已用2')
    // What does not grow is not judged, however much there is.
    await limit(bp_id, { volumes: 5, volume_bytes: gib })
    await make(whole(bp_id), { volumes: 1, volume_bytes: 0 }, 0)
  })

  it('of what has no limit, or belongs to nobody, is always allowed', async () => {
    const bp_id = await newOrganisation()
    await make(whole(bp_id), { volumes: 1_000_000, vms: 5 })
    await make(whole(null), { volumes: 1_000_000 })
    expect(await things(whole(bp_id))).toBe(1)
  })
})

describe('limits', () => {
  const lineOf = async (bp_id: string, resource: QuotaResource, project_id?: string) =>
    (await call(app, quotas.get, { token: admin.token, params: { bp_id }, query: { project_id } })).lines.find((one) => one.resource === resource)

  it('fall back to the defaults, which an own limit overrides and lifts', async () => {
    const bp_id = await newOrganisation()
    const { token } = admin
    expect(await lineOf(bp_id, 'volumes')).toEqual({ resource: 'volumes', used: 0, limit: null, own: false })
    try {
      expect(await call(app, quotas.setDefaults, { token, body: { limits: { volumes: 2, vms: 0 } } })).toMatchObject({ limits: { volumes: 2, vms: 0 } })
      expect(await call(app, quotas.defaults, { token })).toMatchObject({ limits: { volumes: 2, vms: 0 } })
      expect(await lineOf(bp_id, 'volumes')).toMatchObject({ limit: 2, own: false })
      expect(await together(5, () => whole(bp_id))).toBe(2)
      await limit(bp_id, { volumes: 3 })
      expect(await lineOf(bp_id, 'volumes')).toMatchObject({ limit: 3, own: true })
      expect(await lineOf(bp_id, 'vms')).toMatchObject({ limit: 0, own: false })
      expect(await together(5, () => whole(bp_id))).toBe(1)
      await limit(bp_id, { volumes: null })
      expect(await lineOf(bp_id, 'volumes')).toMatchObject({ limit: null, own: true })
      expect(await together(5, () => whole(bp_id))).toBe(5)
      // Exactly what is set counts: the rest falls back again.
      await limit(bp_id, {})
      expect(await lineOf(bp_id, 'volumes')).toMatchObject({ limit: 2, own: false })
      // A project has no defaults: the organisation's limits hold for all of its projects together.
      expect(await lineOf(bp_id, 'volumes', await newProject(bp_id))).toMatchObject({ limit: null, own: false })
      // Below what is used is allowed: nothing new then.
      expect(await together(5, () => whole(bp_id))).toBe(0)
    } finally {
      await call(app, quotas.setDefaults, { token, body: { limits: {} } })
    }
  })

  it('are told with what is used, for each organisation and project', async () => {
    const bp_id = owner.bp_id ?? ''
    const project_id = await newProject(bp_id)
    await limit(bp_id, { key_pairs: 5, vms: null })
    await limit(bp_id, { vms: 7 }, project_id)
    const mine = await call(app, quotas.mine, { token: owner.token })
    expect(mine.lines.map(({ resource }) => resource)).toEqual(quotaResources)
    expect(mine.lines.find(({ resource }) => resource === 'key_pairs')).toEqual({ resource: 'key_pairs', used: 0, limit: 5, own: true })
    const ofProject = await call(app, quotas.mine, { token: owner.token, query: { project_id } })
    expect(ofProject.lines.find(({ resource }) => resource === 'vms')).toMatchObject({ limit: 7, own: true })
    expect(await call(app, quotas.get, { token: admin.token, params: { bp_id }, query: { project_id } })).toMatchObject({
      bp_id,
      bp_name: expect.stringMatching(/^org-/),
      project_id,
      project_name: expect.stringMatching(/^项目-/),
    })
    const { total, items } = await call(app, quotas.list, { token: admin.token, query: { page_size: 1000, sort: 'bp_name' } })
    expect(total).toBe(items.length)
    expect(items.find((one) => one.bp_id === bp_id)).toMatchObject({ project_id: null, lines: mine.lines })
    const [only] = (await call(app, quotas.list, { token: admin.token, query: { keyword: items[0]?.bp_name } })).items
    expect(only?.bp_id).toBe(items[0]?.bp_id)
    // Who runs the platform has no limits; who belongs to nobody has nothing.
    expect((await call(app, quotas.mine, { token: admin.token })).lines.every((line) => line.limit === null)).toBe(true)
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect((await call(app, quotas.mine, { token: nobody.token })).lines.every(({ used, limit: most }) => used === 0 && most === null)).toBe(true)
  })

  it.each([
    ['limits', {}],
    ['limits.volumes', { limits: { volumes: -1 } }],
    ['limits.volumes', { limits: { volumes: 1.5 } }],
    ['limits.volumes', { limits: { volumes: 2 ** 53 } }],
    ['limits', { limits: { chairs: 1 } }],
    ['project_id', { project_id: 'x', limits: {} }],
  ])('name the wrong field: %s', async (field, wish) => {
    const answer = await refused(app, quotas.set, { token: admin.token, params: { bp_id: owner.bp_id ?? '' }, body: wish })
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields?.map((one) => one.field)[0]).toMatch(new RegExp(`^${field}`))
  })

  it('are not another’s: what belongs to another organisation does not exist', async () => {
    const project_id = await newProject(stranger.bp_id ?? '')
    expect(await refused(app, quotas.mine, { token: owner.token, query: { project_id } })).toMatchObject({ status: 404, code: 90006 })
    const params = { bp_id: owner.bp_id ?? '' }
    expect(await refused(app, quotas.get, { token: admin.token, params, query: { project_id } })).toMatchObject({ status: 404, code: 90006 })
    expect(await refused(app, quotas.set, { token: admin.token, params, body: { project_id, limits: {} } })).toMatchObject({ status: 404, code: 90006 })
    expect(await refused(app, quotas.get, { token: admin.token, params: { bp_id: randomUUID() } })).toMatchObject({ status: 404, code: 90006 })
    expect(await refused(app, quotas.set, { token: admin.token, params: { bp_id: randomUUID() }, body: { limits: {} } })).toMatchObject({
      status: 404,
      code: 90006,
    })
  })

  it('are set by administrators', async () => {
    const params = { bp_id: owner.bp_id ?? '' }
    for (const [declared, input] of [
      [quotas.list, {}],
      [quotas.get, { params }],
      [quotas.set, { params, body: { limits: {} } }],
      [quotas.defaults, {}],
      [quotas.setDefaults, { body: { limits: {} } }],
    ] as const) {
      expect(await refused(app, declared, { token: owner.token, ...input })).toMatchObject({ status: 403, code: 3000 })
    }
  })
})
