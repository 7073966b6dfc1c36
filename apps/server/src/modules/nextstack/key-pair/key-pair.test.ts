import { randomUUID } from 'node:crypto'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput, QueryInput } from '@zhisuan/contract/define'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { keyPairs, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { platformScope } from '../../../platform/auth/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { generateKey, parsePublicKey, publicLine } from './key-pair.ssh.ts'
import { publicKeysOf, remember } from './key-pair.service.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let colleague: Person & SignedIn
let stranger: Person & SignedIn

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
  stranger = await someone(app)
})
afterAll(() => app.close())

type Body = BodyInput<typeof keyPairs.create>
const create = (wish: Partial<Body> = {}, token = owner.token) => call(app, keyPairs.create, { token, body: { name: `k-${randomUUID()}`, ...wish } })
const refuse = (wish: object, token = owner.token) => refused(app, keyPairs.create, { token, body: { name: `k-${randomUUID()}`, ...wish } })
const list = (query: QueryInput<typeof keyPairs.list>, token = owner.token) => call(app, keyPairs.list, { token, query })
const get = (id: string, token = owner.token) => call(app, keyPairs.get, { token, params: { id } })
const someLine = async (): Promise<string> => publicLine((await generateKey('ssh-ed25519', 'me@host')).open)
const scopeOf = (person: Person) => ({ bp_id: person.bp_id ?? '' })

/** An instance on paper: what counts here is that there is a row. */
async function someVm(person = owner): Promise<string> {
  const cloud = await call(app, clouds.create, {
    token: admin.token,
    body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: { type: 'sandbox' } },
  })
  const query = { cloud_id: cloud.cloud_id, type: 'container' } as const
  const [image] = (await call(app, images.list, { token: person.token, query })).items
  const [flavor] = (await call(app, flavors.list, { token: person.token })).items
  const { items } = await call(app, vms.create, {
    token: person.token,
    body: {
      cloud_id: cloud.cloud_id,
      name: `vm-${randomUUID()}`,
      type: 'container',
      image_fingerprint: image?.fingerprint ?? '',
      flavor_id: flavor?.id ?? '',
      network: 'sandbox0',
      password: 'Correct-horse-1',
    },
  })
  return items[0]?.id ?? ''
}

describe('generating', () => {
  it('answers with both halves, the private one this once', async () => {
    const answer = await send(app, keyPairs.create, { token: owner.token, body: { name: '开发机', description: '办公室' } })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: '开发机',
      description: '办公室',
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      algorithm: 'ssh-ed25519',
      fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
      fingerprint_md5: expect.stringMatching(/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/),
      public_key: expect.stringMatching(/^ssh-ed25519 [A-Za-z0-9+/]+ 开发机$/),
      generated: true,
      vm_count: 0,
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      private_key: expect.stringMatching(/^-----BEGIN OPENSSH PRIVATE KEY-----\n[\s\S]+\n-----END OPENSSH PRIVATE KEY-----\n$/),
    })
    const { private_key, ...rest } = answer.body as KeyPair & { private_key: string }
    expect(await get(rest.id)).toEqual({ ...rest, vms: [] })
    // It is nowhere: not in any table, whatever its name.
    const secret = private_key.split('\n')[3] ?? ''
    expect(secret).toHaveLength(70)
    const { pool } = app.platform.database
    const { rows: tables } = await pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')`,
    )
    expect(tables.map(({ name }) => name)).toContain('public.key_pairs')
    for (const { name } of tables) {
      expect((await pool.query(`select from ${name} as t where t::text like $1`, [`%${secret}%`])).rowCount, name).toBe(0)
    }
  })

  it('makes RSA keys of 3072 bits where they are wanted', async () => {
    const made = await create({ algorithm: 'ssh-rsa' })
    expect(made).toMatchObject({ algorithm: 'ssh-rsa', generated: true })
    expect(parsePublicKey(made.public_key)?.blob.length).toBeGreaterThan(3072 / 8)
  })
})

describe('importing', () => {
  it('keeps the key as it is, and has no private half of it', async () => {
    const line = await someLine()
    expect(await create({ public_key: `  ${line}  ` })).toMatchObject({ public_key: line, generated: false, private_key: null, algorithm: 'ssh-ed25519' })
  })

  it.each([
    ['is none', 'not a key', 90001],
    ['has two lines', 'ssh-ed25519 AAAA\nssh-ed25519 AAAA', 90001],
    ['is another inside', `ssh-rsa ${Buffer.from('\0\0\0\x0bssh-ed25519').toString('base64')}`, 94048],
    ['is cut off', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6l0uNYBUsR', 94048],
    [
      'is too short',
      'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCuiBwx3Wr4bEGZ6SMxt9bLZojaClAP/FidpDwmcXbeNIdm6YaFwmOQ93LLMokMTNhcuoRyeOUOTOr+MXQxk9Q6pDx3a0fxVidJcvjMYctD2DNooJNnAKovCRqHSVJcq5AsMAfDO100KnMNm/JOCwzWplVB5Ue5S/E8emIqZT/MMw==',
      94048,
    ],
  ])('refuses a text that %s', async (_, public_key, code) => {
    const answer = await refuse({ public_key })
    expect(answer).toMatchObject({ status: 400, code, fields: [{ field: 'public_key', message: expect.stringMatching(/\p{Script=Han}/u) }] })
  })

  it('refuses a key that the organisation has, however it is written, and names it; others may have it', async () => {
    const line = await someLine()
    const { name } = await create({ public_key: line })
    expect(await refuse({ public_key: `${line.split(' ').slice(0, 2).join(' ')} another-comment` })).toMatchObject({
      status: 400,
      code: 94047,
      message: `该公钥已导入为“${name}”`,
      fields: [{ field: 'public_key' }],
    })
    await create({ public_key: line }, stranger.token)
    await create({ public_key: line }, admin.token)
    expect((await refuse({ public_key: line }, admin.token)).code).toBe(94047)
  })
})

describe('making', () => {
  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { name: undefined }],
    ['description', { description: 'x'.repeat(256) }],
    ['algorithm', { algorithm: 'ssh-dss' }],
    ['public_key', { public_key: '' }],
    ['public_key', { public_key: 'x'.repeat(9000) }],
  ])('names the wrong field: %s', async (field, wish) => {
    const answer = await refuse(wish)
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(new Set(answer.fields?.map((one) => one.field))).toEqual(new Set([field]))
  })

  it('refuses a name that the organisation has; others may have it', async () => {
    const { name } = await create()
    expect(await refuse({ name }, colleague.token)).toMatchObject({ status: 400, code: 94045, fields: [{ field: 'name', message: '密钥名称已存在' }] })
    expect((await create({ name }, stranger.token)).name).toBe(name)
  })

  it('of several at once with one name makes one', async () => {
    const name = `same-${randomUUID()}`
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(app, keyPairs.create, { token: owner.token, body: { name } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400])
    expect((await list({ keyword: name })).total).toBe(1)
  })

  it('is refused to somebody of no organisation', async () => {
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await refuse({}, nobody.token)).toMatchObject({ status: 403, code: 3000 })
    expect(await list({}, nobody.token)).toEqual({ total: 0, items: [] })
  })

  it('counts against the quota', async () => {
    const person = await someone(app)
    await create({}, person.token)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { key_pairs: 2 } } })
    await create({}, person.token)
    expect(await refuse({}, person.token)).toMatchObject({ status: 400, code: 94030, message: '超出配额：密钥最多2，已用2' })
    const { lines } = await call(app, quotas.mine, { token: person.token })
    expect(lines.find(({ resource }) => resource === 'key_pairs')).toEqual({ resource: 'key_pairs', used: 2, limit: 2, own: true })
  })
})

describe('the list', () => {
  it('is the organisation’s, looks for names and fingerprints, and sorts', async () => {
    const mark = randomUUID().slice(0, 8)
    const [one, two] = [await create({ name: `${mark}-b` }), await create({ name: `${mark}-a`, algorithm: 'ssh-rsa' }, colleague.token)]
    await create({ name: `${mark}-c` }, stranger.token)
    const names = async (query: QueryInput<typeof keyPairs.list>, token = owner.token) =>
      (await list({ keyword: mark, ...query }, token)).items.map(({ name }) => name)
    expect(await names({})).toEqual([two.name, one.name])
    expect(await names({ sort: 'name' })).toEqual([two.name, one.name])
    expect(await names({ sort: 'algorithm' })).toEqual([one.name, two.name])
    expect(await names({ page_size: 1, page_num: 2 })).toEqual([one.name])
    expect((await names({}, admin.token)).length).toBe(3)
    expect((await list({ keyword: one.fingerprint.slice(8, 30) })).items.map(({ id }) => id)).toEqual([one.id])
    expect((await list({ keyword: two.fingerprint_md5 })).items.map(({ id }) => id)).toEqual([two.id])
    expect(await refused(app, keyPairs.list, { token: owner.token, query: { sort: 'fingerprint' } })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [{ field: 'sort' }],
    })
  })
})

describe('another organisation’s', () => {
  it('does not exist', async () => {
    const { id } = await create()
    const before = await get(id)
    for (const [declared, input] of [
      [keyPairs.get, {}],
      [keyPairs.update, { body: { name: 'mine' } }],
      [keyPairs.delete, {}],
    ] as const) {
      expect(await refused(app, declared, { token: stranger.token, params: { id }, ...input })).toMatchObject({ status: 404, code: 90006 })
      expect(await refused(app, declared, { token: owner.token, params: { id: randomUUID() }, ...input })).toMatchObject({ status: 404, code: 90006 })
    }
    expect(await get(id)).toEqual(before)
    expect((await get(id, admin.token)).name).toBe(before.name)
  })
})

describe('changing', () => {
  it('changes name and description, the key stays', async () => {
    const made = await create()
    const name = `new-${randomUUID()}`
    const after = await call(app, keyPairs.update, { token: colleague.token, params: { id: made.id }, body: { name, description: '新' } })
    expect(after).toMatchObject({ id: made.id, name, description: '新', public_key: made.public_key })
    expect(after.updated_at > made.updated_at).toBe(true)
    const { name: taken } = await create()
    expect(await refused(app, keyPairs.update, { token: owner.token, params: { id: made.id }, body: { name: taken } })).toMatchObject({
      status: 400,
      code: 94045,
      fields: [{ field: 'name' }],
    })
  })
})

describe('instances that carry keys', () => {
  it('are named by them, as far as there are any', async () => {
    const [key, other, vm] = [await create(), await create(), await someVm()]
    const { db } = app.platform
    const ids = [other.id, key.id, key.id]
    await db.transaction().execute(async (tx) => {
      expect(await publicKeysOf(tx, scopeOf(owner), ids)).toEqual([other.public_key, key.public_key])
      await remember(tx, vm, ids)
      await remember(tx, vm, ids)
      await remember(tx, vm, [])
    })
    const { name } = await call(app, vms.get, { token: owner.token, params: { id: vm } })
    expect(await get(key.id)).toMatchObject({ vm_count: 1, vms: [{ id: vm, name }] })
    expect((await list({ keyword: key.name })).items[0]?.vm_count).toBe(1)
    // A key goes, and what it was put into stays; an instance goes, and the key stays.
    expect((await send(app, keyPairs.delete, { token: owner.token, params: { id: other.id } })).status).toBe(204)
    expect(await call(app, vms.get, { token: owner.token, params: { id: vm } })).toMatchObject({ id: vm })
    await db.deleteFrom('vms').where('id', '=', vm).execute()
    expect(await get(key.id)).toMatchObject({ vm_count: 0, vms: [] })
  })

  it('take only keys that there are for them', async () => {
    const key = await create()
    const { db } = app.platform
    expect(await publicKeysOf(db, platformScope, [key.id])).toEqual([key.public_key])
    expect(await publicKeysOf(db, scopeOf(stranger), [])).toEqual([])
    for (const [scope, ids] of [
      [scopeOf(stranger), [key.id]],
      [{ nothing: true }, [key.id]],
      [scopeOf(owner), [key.id, randomUUID()]],
    ] as const) {
      await expect(publicKeysOf(db, scope, ids)).rejects.toMatchObject({ refusal: 'keyPairMissing', fields: [{ field: 'key_pair_ids' }] })
    }
  })
})
