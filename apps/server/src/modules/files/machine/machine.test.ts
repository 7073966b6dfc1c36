import { randomBytes, randomUUID } from 'node:crypto'
import { containers } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { fileEntries, fileSpaces, fileTransfers, fileUploads } from '@zhisuan/contract/files/file'
import { machineCopies, machineCopiesMost, machineStallMinutes, type MachineCopy } from '@zhisuan/contract/files/machine'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { anyPort } from '@zhisuan/engines/registry/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, isDenied, keeping } from '../../../testing/policies.ts'
import { sendPiece, sha256Of } from '../../../testing/uploads.ts'
import { fakeDocker } from '../../cis/testing.ts'
import { someNode, type TestAgent } from '../../ecrm/testing.ts'

let app: TestApp
let url: string
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let node: TestAgent
/** The container, and what is in it. */
let id: string
const docker = fakeDocker()
const inside = () => [...docker.containers.values()][0]?.files ?? new Map<string, Buffer>()

beforeAll(async () => {
  const port = await anyPort()
  url = `http://127.0.0.1:${port}`
  app = await testApp({ PUBLIC_URL: url })
  await app.http.listen({ port, host: '127.0.0.1' })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
  node = await someNode(app, owner.token, { answers: docker.answers })
  await vi.waitFor(async () => expect((await call(app, edges.get, { token: owner.token, params: { id: node.edge.id } })).status).toBe('online'))
  const { items } = await call(app, containers.deploy, {
    token: owner.token,
    body: { name: `web-${randomUUID()}`, spec: { image: 'app:1' }, placement: { edge_ids: [node.edge.id] } },
  })
  id = items[0]?.id ?? ''
  await vi.waitFor(async () => expect((await call(app, containers.get, { token: owner.token, params: { id } })).status).toBe('running'))
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const machine = () => ({ kind: 'cis.container' as const, id })
const spaceOf = async (who: SignedIn, kind = 'personal'): Promise<string> =>
  (await call(app, fileSpaces.list, { token: who.token })).items.find((space) => space.kind === kind)?.id ?? ''
const used = async (who: SignedIn): Promise<number> => (await call(app, fileSpaces.list, { token: who.token })).usage.used_bytes
const put = async (who: SignedIn, name: string, bytes: Buffer, folders: string[] = []): Promise<string> => {
  const upload = await call(app, fileSpaces.upload, {
    token: who.token,
    params: { id: await spaceOf(who) },
    body: { name, size_bytes: bytes.length, folders },
  })
  if (bytes.length > 0) await sendPiece(url, who.token, upload, 0, new Uint8Array(bytes))
  return (await call(app, fileUploads.get, { token: who.token, params: { id: upload.id } })).entry_id ?? ''
}
const named = async (who: SignedIn, keyword: string) =>
  (await call(app, fileSpaces.entries, { token: who.token, params: { id: await spaceOf(who) }, query: { keyword, page_size: 100 } })).items
const ended = (who: SignedIn, copy: Pick<MachineCopy, 'id'>): Promise<MachineCopy> =>
  vi.waitFor(async () => {
    const { items } = await call(app, machineCopies.list, { token: who.token, params: machine() })
    const one = items.find((item) => item.id === copy.id)
    expect(one?.status).toMatch(/done|failed|cancelled/)
    return one as MachineCopy
  }, 25_000)
const send = async (who: SignedIn, entry_id: string, wish: Partial<BodyInput<typeof machineCopies.toMachine>> = {}): Promise<MachineCopy> =>
  ended(who, await call(app, machineCopies.toMachine, { token: who.token, body: { machine: machine(), path: '/data', entry_id, ...wish } }))
const begin = async (who: SignedIn, path: string, wish: Partial<BodyInput<typeof machineCopies.fromMachine>> = {}): Promise<MachineCopy> =>
  call(app, machineCopies.fromMachine, { token: who.token, body: { machine: machine(), path, space_id: await spaceOf(who), ...wish } })
const bring = async (who: SignedIn, path: string, wish: Partial<BodyInput<typeof machineCopies.fromMachine>> = {}): Promise<MachineCopy> =>
  ended(who, await begin(who, path, wish))
/** The newest of the owner's with a machine, as administrators read it. */
const lastRecord = async () =>
  (await call(app, fileTransfers.list, { token: admin.token, query: { keyword: owner.name, page_size: 100 } })).items.find((one) => one.machine !== null)

describe('from a space to a container', () => {
  it('a file goes into the directory that is open, is asked about where its name is taken, and is recorded', async () => {
    inside().set('/data/there', Buffer.from('there'))
    const bytes = randomBytes(700_000)
    const entry = await put(owner, 'weights.bin', bytes)
    expect(await send(owner, entry)).toMatchObject({ status: 'done', name: 'weights.bin', total_bytes: bytes.length, done_bytes: bytes.length })
    expect(inside().get('/data/weights.bin')?.equals(bytes)).toBe(true)
    const body = { machine: machine(), path: '/data', entry_id: entry }
    expect(await refused(app, machineCopies.toMachine, { token: owner.token, body })).toMatchObject({ code: 97602 })
    expect(await send(owner, entry, { conflict: 'keep_both' })).toMatchObject({ name: 'weights (1).bin' })
    inside().set('/data/weights.bin', Buffer.from('old'))
    await send(owner, entry, { conflict: 'replace' })
    expect([...inside()].filter(([, content]) => content.equals(bytes)).map(([path]) => path)).toEqual(['/data/weights.bin', '/data/weights (1).bin'])
    expect(await lastRecord()).toMatchObject({
      kind: 'to_machine',
      user_name: owner.name,
      // Whose own space it is knows what it was.
      name: null,
      machine: expect.stringMatching(/^web-[0-9a-f-]+$/),
      bytes: bytes.length,
      outcome: 'done',
    })
  })

  it('a folder goes with all that is in it, empty files too', async () => {
    const [a, b] = [randomBytes(10), Buffer.alloc(0)]
    const entry = await put(owner, 'a.bin', a, ['项目', 'src'])
    await put(owner, 'empty', b, ['项目'])
    const top = (await call(app, fileEntries.get, { token: owner.token, params: { id: entry } })).path[0]?.id ?? ''
    expect(await send(owner, top)).toMatchObject({ status: 'done', name: '项目', total_bytes: 10 })
    expect([inside().get('/data/项目/src/a.bin'), inside().get('/data/项目/empty')]).toEqual([a, b])
  })

  it('fails, with its reason in the record, where what it is of went meanwhile', async () => {
    const entry = await put(owner, 'going.bin', randomBytes(10))
    docker.fail((method, path) => (method === 'PUT' && path.endsWith('/archive') ? { status: 500, message: 'no space left on device' } : null))
    const copy = await send(owner, entry)
    docker.fail(null)
    expect(copy).toMatchObject({ status: 'failed', error: expect.stringContaining('磁盘') })
    expect(await lastRecord()).toMatchObject({ outcome: 'failed' })
  })
})

describe('from a container to a space', () => {
  it('a directory comes with its files verified, all at once, and counts', async () => {
    const [one, two] = [randomBytes(100_000), randomBytes(5)]
    inside().set('/out/run 1/model.bin', one)
    inside().set('/out/run 1/logs/说明.txt', two)
    const before = await used(owner)
    expect(await bring(owner, '/out/run 1')).toMatchObject({ status: 'done', name: 'run 1', done_bytes: 100_005 })
    const [file] = await named(owner, 'model.bin')
    expect(file).toMatchObject({ size_bytes: 100_000, sha256: sha256Of(one) })
    const [inLogs] = await named(owner, '说明.txt')
    expect(await call(app, fileEntries.get, { token: owner.token, params: { id: inLogs?.id ?? '' } })).toMatchObject({
      sha256: sha256Of(two),
      path: [{ name: 'run 1' }, { name: 'logs' }],
    })
    expect(await used(owner)).toBe(before + 100_005)
    expect(await lastRecord()).toMatchObject({
      kind: 'from_machine',
      bytes: 100_005,
      outcome: 'done',
    })
  })

  it('of two at once under one name both are kept; one after them is asked about', async () => {
    inside().set('/out/twice.bin', randomBytes(50_000))
    const both = await Promise.all([begin(owner, '/out/twice.bin'), begin(owner, '/out/twice.bin')])
    await Promise.all(both.map((copy) => ended(owner, copy)))
    expect((await named(owner, 'twice')).map(({ name }) => name)).toEqual(['twice (1).bin', 'twice.bin'])
    const body = { machine: machine(), path: '/out/twice.bin', space_id: await spaceOf(owner) }
    expect(await refused(app, machineCopies.fromMachine, { token: owner.token, body })).toMatchObject({ code: 97602 })
    expect(await bring(owner, '/out/twice.bin', { conflict: 'replace' })).toMatchObject({ status: 'done', name: 'twice.bin' })
    expect(await named(owner, 'twice')).toHaveLength(2)
  })

  it('leaves nothing behind where it does not fit into the quota, or a name is none for a space', async () => {
    const person = await someone(app)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { file_bytes: 1_000 } } })
    const other = await someNode(app, person.token, { answers: docker.answers })
    await vi.waitFor(async () => expect((await call(app, edges.get, { token: person.token, params: { id: other.edge.id } })).status).toBe('online'))
    const { items } = await call(app, containers.deploy, {
      token: person.token,
      body: { name: `small-${randomUUID()}`, spec: { image: 'app:1' }, placement: { edge_ids: [other.edge.id] } },
    })
    const theirs = { kind: 'cis.container' as const, id: items[0]?.id ?? '' }
    await vi.waitFor(async () => expect((await call(app, containers.get, { token: person.token, params: { id: theirs.id } })).status).toBe('running'))
    const files = [...docker.containers.values()].at(-1)?.files
    files?.set('/much/first', randomBytes(600))
    files?.set('/much/second', randomBytes(600))
    files?.set('/odd/a\\b', randomBytes(6))
    const outcome = async (path: string): Promise<MachineCopy> => {
      const body = { machine: theirs, path, space_id: await spaceOf(person) }
      const { id: copy } = await call(app, machineCopies.fromMachine, { token: person.token, body })
      return vi.waitFor(async () => {
        const one = (await call(app, machineCopies.list, { token: person.token, params: theirs })).items.find((item) => item.id === copy)
        expect(one?.ended_at).not.toBeNull()
        return one as MachineCopy
      }, 15_000)
    }
    expect(await outcome('/much')).toMatchObject({ status: 'failed', error: expect.stringContaining('空间不足') })
    expect(await outcome('/odd')).toMatchObject({ status: 'failed', error: expect.stringContaining('a\\b') })
    await vi.waitFor(async () => expect(await used(person)).toBe(0))
    expect(await named(person, '')).toEqual([])
    other.stop()
  })

  it('goes on after its server was killed in the middle, from its beginning, and counts once', async () => {
    inside().set('/out/killed.bin', randomBytes(3_000))
    const before = await used(owner)
    const copy = await begin(owner, '/out/killed.bin')
    await ended(owner, copy)
    // As a killed server leaves it: a part has come, and nobody is at it.
    const { db } = app.platform
    const [file] = await named(owner, 'killed.bin')
    await call(app, fileEntries.delete, { token: owner.token, body: { ids: [file?.id ?? ''] } })
    await call(app, fileEntries.purge, { token: owner.token, body: { ids: [file?.id ?? ''] } })
    const part = { copy_id: copy.id, path: '', sha256: file?.sha256 ?? '', size_bytes: 3_000 }
    await db.insertInto('file_machine_copy_parts').values(part).execute()
    await db
      .updateTable('byte_accounts')
      .set(({ eb }) => ({ used_bytes: eb('used_bytes', '+', 3_000) }))
      .where('bp_id', '=', owner.bp_id)
      .execute()
    await db
      .updateTable('file_machine_copies')
      .set({ status: 'running', ended_at: null, claimed_until: new Date(0) })
      .where('id', '=', copy.id)
      .execute()
    expect(await ended(owner, copy)).toMatchObject({ status: 'done' })
    expect(await used(owner)).toBe(before + 3_000)
    expect(await named(owner, 'killed')).toHaveLength(1)
  })

  it('that another server took up meanwhile is brought by that one alone, and counts once', async () => {
    inside().set('/out/overtaken.bin', randomBytes(4_000))
    const before = await used(owner)
    const { db } = app.platform
    const held = Promise.withResolvers<null>()
    docker.fail((method, path) => (method === 'GET' && path.endsWith('/archive') ? held.promise : null))
    const copy = await begin(owner, '/out/overtaken.bin')
    const claimOf = async () => (await db.selectFrom('file_machine_copies').selectAll().where('id', '=', copy.id).executeTakeFirstOrThrow()).claim
    await vi.waitFor(async () => expect(await claimOf()).toBe(1), 10_000)
    // As the other says it, which then is killed too.
    await db
      .updateTable('file_machine_copies')
      .set({ claim: 2, claimed_until: new Date(0) })
      .where('id', '=', copy.id)
      .execute()
    docker.fail(null)
    held.resolve(null)
    expect(await ended(owner, copy)).toMatchObject({ status: 'done', done_bytes: 4_000 })
    expect([await claimOf(), await used(owner), (await named(owner, 'overtaken')).length]).toEqual([3, before + 4_000, 1])
  })

  it('is stopped by who asked for it, and by nobody else', async () => {
    inside().set('/out/stopped.bin', randomBytes(1_000))
    const before = await used(owner)
    docker.fail((method, path) => (method === 'GET' && path.endsWith('/archive') ? { status: 503, message: 'busy' } : null))
    const copy = await begin(owner, '/out/stopped.bin')
    expect(await refused(app, machineCopies.cancel, { token: stranger.token, params: { id: copy.id } })).toMatchObject({ status: 404 })
    await call(app, machineCopies.cancel, { token: owner.token, params: { id: copy.id } }).catch(() => undefined)
    docker.fail(null)
    expect((await ended(owner, copy)).status).toMatch(/cancelled|failed/)
    expect(await named(owner, 'stopped')).toEqual([])
    await vi.waitFor(async () => expect(await used(owner)).toBe(before))
    expect(await refused(app, machineCopies.cancel, { token: owner.token, params: { id: copy.id } })).toMatchObject({ code: 97614 })
  })
})

describe('who may', () => {
  it('nobody reaches what is another organisation’s: neither the container, nor the file, nor the space', async () => {
    const theirs = await put(stranger, 'theirs.bin', randomBytes(5))
    const mine = await put(owner, 'mine.bin', randomBytes(5))
    inside().set('/out/secret', randomBytes(5))
    const ask = (token: string, entry_id: string) => refused(app, machineCopies.toMachine, { token, body: { machine: machine(), path: '/', entry_id } })
    expect(await ask(stranger.token, theirs)).toMatchObject({ status: 404 })
    expect(await ask(owner.token, theirs)).toMatchObject({ status: 404 })
    const from = async (token: string, space_id: string) =>
      refused(app, machineCopies.fromMachine, { token, body: { machine: machine(), path: '/out/secret', space_id } })
    expect(await from(stranger.token, await spaceOf(stranger))).toMatchObject({ status: 404 })
    expect(await from(owner.token, await spaceOf(stranger))).toMatchObject({ code: 97601 })
    expect(await from(owner.token, await spaceOf(owner, 'public'))).toMatchObject({ code: 97603 })
    expect(
      await refused(app, machineCopies.fromMachine, { token: owner.token, body: { machine: machine(), path: 'relative', space_id: await spaceOf(owner) } }),
    ).toMatchObject({
      fields: [{ field: 'path' }],
    })
    expect(await refused(app, machineCopies.toMachine, { token: owner.token, body: { machine: machine(), path: '/nowhere', entry_id: mine } })).toMatchObject({
      code: 97612,
      fields: [{ field: 'path' }],
    })
    expect((await call(app, machineCopies.list, { token: stranger.token, params: machine() })).items).toEqual([])
  })

  it.each([
    ['cis.container.fileLink', 'the container’s own action'],
    ['files.entry.download', 'the file’s own action'],
    ['files.machine.toMachine', 'the action itself'],
  ])('a denial of %s refuses, that is %s', async (action) => {
    const person = await makeUser(app, { kind: 4, organisation: owner.bp_id })
    const signed = { ...person, ...(await signIn(app, person)) }
    const entry = await put(signed, 'own.bin', randomBytes(5))
    const { makePolicy, give } = keeping(app)
    await give(owner, await makePolicy(owner, [deny(action)]), { user_id: person.id })
    expect(await isDenied(app, signed, machineCopies.toMachine, { body: { machine: machine(), path: '/data', entry_id: entry } })).toBe(true)
  })
})

describe('how much at once', () => {
  it('is bounded for each organisation: what is too much is refused, and two are worked at', async () => {
    inside().set('/out/one.bin', randomBytes(10))
    const { db } = app.platform
    const held = Promise.withResolvers<null>()
    docker.fail((method, path) => (method === 'GET' && path.endsWith('/archive') ? held.promise : null))
    const wish = { conflict: 'keep_both' } as const
    const begun = await Promise.all([1, 2, 3].map(() => begin(owner, '/out/one.bin', wish)))
    const statuses = async () => {
      const { items } = await call(app, machineCopies.list, { token: owner.token, params: machine() })
      return begun.map(({ id: copy }) => items.find((item) => item.id === copy)?.status ?? '').toSorted()
    }
    await vi.waitFor(async () => expect(await statuses()).toEqual(['running', 'running', 'waiting']), 10_000)
    const [row] = await db
      .selectFrom('file_machine_copies')
      .selectAll()
      .where('id', '=', begun[0]?.id ?? '')
      .execute()
    if (row === undefined) throw new Error('it is not there')
    const others = Array.from({ length: machineCopiesMost - 3 }, () => ({ ...row, id: randomUUID(), status: 'waiting' as const }))
    await db.insertInto('file_machine_copies').values(others).execute()
    const body = { machine: machine(), path: '/out/one.bin', space_id: await spaceOf(owner), ...wish }
    expect(await refused(app, machineCopies.fromMachine, { token: owner.token, body })).toMatchObject({
      code: 97616,
      message: '您所在的组织已有200项传送在等待或进行，请等其中一些结束后再试',
    })
    await db
      .deleteFrom('file_machine_copies')
      .where(
        'id',
        'in',
        others.map(({ id: one }) => one),
      )
      .execute()
    docker.fail(null)
    held.resolve(null)
    await Promise.all(begun.map((copy) => ended(owner, copy)))
    expect(await statuses()).toEqual(['done', 'done', 'done'])
  })

  it('ends where nothing moves any more, and says so', async () => {
    inside().set('/out/still.bin', randomBytes(10))
    const held = Promise.withResolvers<null>()
    docker.fail((method, path) => (method === 'GET' && path.endsWith('/archive') ? held.promise : null))
    const { id: copy } = await begin(owner, '/out/still.bin')
    const { db } = app.platform
    const stateOf = () => db.selectFrom('file_machine_copies').select(['status', 'error']).where('id', '=', copy).executeTakeFirstOrThrow()
    await vi.waitFor(async () => expect((await stateOf()).status).toBe('running'), 10_000)
    app.clock.advance(machineStallMinutes * 60_000 + 1_000)
    await vi.waitFor(async () => expect(await stateOf()).toEqual({ status: 'failed', error: '传送已有10分钟没有进展，已停止。请确认机器正常后重试' }), 10_000)
    docker.fail(null)
    held.resolve(null)
  })
})
