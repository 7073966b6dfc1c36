import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileTransfers } from '@zhisuan/contract/files/file'
import { modelImports, type ModelImport } from '@zhisuan/contract/models/import'
import { modelFiles, models } from '@zhisuan/contract/models/model'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { configs } from '@zhisuan/contract/sys/sys'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'
import { deny, keeping } from '../../testing/policies.ts'
import { startHub, type Hub } from '../../testing/hub.ts'
import { sha256Of } from '../../testing/uploads.ts'
import { lookJob } from './imports.ts'

let app: TestApp
let hub: Hub
let admin: Person & SignedIn
let owner: Person & SignedIn
beforeAll(async () => {
  hub = await startHub()
  app = await testApp({ IMAGE_FETCH_ALLOW: '127.0.0.1' })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
})
afterAll(async () => {
  await app.close()
  hub.close()
})

let made = 0
const create = async (): Promise<string> =>
  (await call(app, models.create, { token: owner.token, body: { namespace: 'imported', name: `m${++made}`, title: '导入' } })).id
const begin = (id: string, url = hub.url): Promise<ModelImport> =>
  call(app, modelImports.create, { token: owner.token, params: { id }, body: { url, repository: 'team/model' } })
const ended = (id: string): Promise<ModelImport> =>
  vi.waitFor(async () => {
    const [last] = (await call(app, modelImports.list, { token: owner.token, params: { id } })).items
    if (last === undefined || last.ended_at === null) throw new Error('it goes on')
    return last
  }, 20_000)
const used = async (): Promise<number> =>
  Number((await app.platform.db.selectFrom('byte_accounts').select('used_bytes').where('bp_id', '=', owner.bp_id).executeTakeFirst())?.used_bytes ?? 0)

describe('an import', () => {
  it('is refused from where administrators do not allow it', async () => {
    const id = await create()
    const body = { url: hub.url, repository: 'team/model' }
    expect(await refused(app, modelImports.create, { token: owner.token, params: { id }, body })).toMatchObject({ code: 97812 })
    await call(app, configs.set, { token: admin.token, body: { key: 'model_hubs', value: `${hub.url}/, http://10.0.0.1` } })
    // Allowed by its address, and still no place that the platform may be sent to.
    expect(await refused(app, modelImports.create, { token: owner.token, params: { id }, body: { ...body, url: 'http://10.0.0.1' } })).toMatchObject({
      code: 94165,
    })
    const stranger = await someone(app)
    expect(await refused(app, modelImports.create, { token: stranger.token, params: { id }, body })).toMatchObject({ status: 404 })
    expect((await call(app, modelImports.list, { token: owner.token, params: { id } })).hubs).toEqual([hub.url, 'http://10.0.0.1'])
  })

  it('brings all files in as one revision, and goes on where the connection broke off', async () => {
    const id = await create()
    const before = await used()
    const weights = randomBytes(2_000_000)
    hub.files.set('README.md', Buffer.from('# 说明'))
    hub.files.set('权重/model.safetensors', weights)
    hub.breaks.push(700_000)
    await begin(id)
    expect(await refused(app, modelImports.create, { token: owner.token, params: { id }, body: { url: hub.url, repository: 'team/model' } })).toMatchObject({
      code: 97814,
    })
    expect(await ended(id)).toMatchObject({
      status: 'done',
      error: null,
      total_files: 2,
      done_files: 2,
      total_bytes: weights.length + 8,
      done_bytes: weights.length + 8,
    })
    expect(hub.ranges.some((range) => /^bytes=[1-9]/.test(range ?? ''))).toBe(true)
    expect(await call(app, models.get, { token: owner.token, params: { id } })).toMatchObject({ card: '# 说明', file_count: 2 })
    expect((await call(app, modelFiles.list, { token: owner.token, params: { id }, query: {} })).items).toContainEqual({
      path: '权重/model.safetensors',
      size_bytes: weights.length,
      sha256: sha256Of(weights),
    })
    expect((await used()) - before).toBe(weights.length + 8)
  })

  it('counts before any of it comes: what is too much is not fetched, and what did not come counts no more', async () => {
    const id = await create()
    hub.files.clear()
    hub.files.set('a.bin', randomBytes(3_000))
    hub.files.set('b.bin', randomBytes(3_000))
    const before = await used()
    const limit = (file_bytes: number | null) =>
      call(app, quotas.set, { token: admin.token, params: { bp_id: owner.bp_id ?? '' }, body: { limits: { file_bytes } } })
    await limit(before + 5_000)
    hub.ranges.length = 0
    await begin(id)
    expect(await ended(id)).toMatchObject({ status: 'failed', done_bytes: 0, error: expect.stringContaining('空间不足') })
    expect([hub.ranges, await used()]).toEqual([[], before])
    // The second is not what the hub says: what it was to take up counts no more, the first waits.
    await limit(null)
    hub.told.set('b.bin', '0'.repeat(64))
    await begin(id)
    expect(await ended(id)).toMatchObject({ status: 'failed', total_bytes: 6_000, done_bytes: 3_000 })
    expect(await used()).toBe(before + 3_000)
    // Cancelled, and its model deleted, while it comes.
    hub.told.clear()
    hub.files.set('b.bin', randomBytes(1_000_000))
    hub.paceMs = 100
    const [cancelled, deleted] = [await create(), await create()]
    for (const model of [cancelled, deleted]) {
      const { id: import_id } = await begin(model)
      await vi.waitFor(async () => expect(await used()).toBeGreaterThanOrEqual(before + 1_003_000), 10_000)
      if (model === cancelled) await call(app, modelImports.cancel, { token: owner.token, params: { id: model, import_id } })
      else await call(app, models.delete, { token: owner.token, params: { id: model } })
      await vi.waitFor(async () => expect(await used()).toBeLessThanOrEqual(before + 6_000), 10_000)
    }
    hub.paceMs = 0
  })

  it('is cancelled while its model is deleted, and what has not come is given back once', async () => {
    const id = await create()
    hub.files.clear()
    hub.files.set('a.bin', randomBytes(2_000))
    const begun = await begin(id)
    await ended(id)
    const before = await used()
    const { db } = app.platform
    const reserve = (reserved_bytes: number) => db.updateTable('model_imports').set({ reserved_bytes }).where('id', '=', begun.id).execute()
    const count = (by: number) =>
      db
        .updateTable('byte_accounts')
        .set({ used_bytes: before + by })
        .where('bp_id', '=', owner.bp_id)
        .execute()
    await reserve(1_000)
    await count(1_000)
    const said = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    // As a cancellation that has taken it back, and is about to say so.
    const cancelling = db.transaction().execute(async (tx) => {
      await tx.updateTable('model_imports').set({ reserved_bytes: 0 }).where('id', '=', begun.id).execute()
      held.resolve()
      await said.promise
      await tx.updateTable('byte_accounts').set({ used_bytes: before }).where('bp_id', '=', owner.bp_id).execute()
    })
    await held.promise
    const deleting = call(app, models.delete, { token: owner.token, params: { id } })
    await vi.waitFor(async () => {
      const waiting = await sql<{ count: number }>`select count(*)::int from pg_locks where not granted`.execute(db)
      expect(waiting.rows[0]?.count).toBeGreaterThan(0)
    }, 10_000)
    said.resolve()
    await Promise.all([cancelling, deleting])
    expect(await used()).toBe(before - 2_000)
  })

  it('of other bytes than the hub says fails, in words, and leaves the model as it was', async () => {
    const id = await create()
    hub.files.clear()
    hub.files.set('model.bin', randomBytes(5_000))
    hub.told.set('model.bin', '0'.repeat(64))
    await begin(id)
    expect(await ended(id)).toMatchObject({ status: 'failed', error: '无法导入：“model.bin”与它的校验值不符' })
    expect(await call(app, models.get, { token: owner.token, params: { id } })).toMatchObject({ file_count: 0, revision: null })
    // And of one that is listed twice nobody knows which it is.
    hub.told.clear()
    hub.twice = true
    await begin(id)
    expect(await ended(id)).toMatchObject({ status: 'failed', error: '无法导入：文件名“model.bin”重复' })
    hub.twice = false
  })

  it('is cancelled, and taken up by the clock where a server was killed', async () => {
    const id = await create()
    hub.files.clear()
    hub.told.clear()
    hub.files.set('model.bin', randomBytes(5_000))
    // As a killed server leaves it: in progress, and nobody at it.
    const left = await begin(id)
    await ended(id)
    await app.platform.db
      .updateTable('model_imports')
      .set({ status: 'running', ended_at: null, claimed_until: new Date(0) })
      .where('id', '=', left.id)
      .execute()
    const look =
      app.platform
        .modules()
        .flatMap(({ jobs = [] }) => jobs)
        .find(({ name }) => name === 'models.import.look') ?? expect.fail('there is no such job')
    await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, look, {}))
    expect(await ended(id)).toMatchObject({ status: 'done' })
    const other = await create()
    const begun = await begin(other)
    await call(app, modelImports.cancel, { token: owner.token, params: { id: other, import_id: begun.id } })
    expect((await ended(other)).status).toMatch(/cancelled|done/)
  })

  it('goes on only where its hub and whoever asked for it may by now, and writes down no more than what came', async () => {
    hub.files.clear()
    for (let at = 0; at < 3; at++) hub.files.set(`${at}.bin`, randomBytes(2_000))
    const look = () => app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, lookJob, {}))
    const member = await someone(app, { kind: 4, organisation: owner.bp_id })
    const imported = async () => {
      const id = await create()
      const { id: of } = await call(app, modelImports.create, { token: member.token, params: { id }, body: { url: hub.url, repository: 'team/model' } })
      await ended(id)
      return { id, of }
    }
    /** As a killed server leaves it. */
    const left = async ({ of }: { of: string }) => {
      const back = { status: 'running', ended_at: null, claimed_until: new Date(0) } as const
      await app.platform.db.updateTable('model_imports').set(back).where('id', '=', of).execute()
    }
    // What has come is not asked for again.
    const some = await imported()
    await app.platform.db
      .insertInto('model_import_files')
      .values([0, 1].map((number) => ({ import_id: some.of, number, sha256: sha256Of(hub.files.get(`${number}.bin`) ?? Buffer.alloc(0)) })))
      .execute()
    hub.ranges.length = 0
    await left(some)
    await look()
    expect(await ended(some.id)).toMatchObject({ status: 'done', done_files: 3 })
    expect(hub.ranges).toHaveLength(1)
    const forbidden = await imported()
    await call(app, configs.set, { token: admin.token, body: { key: 'model_hubs', value: 'https://huggingface.co' } })
    await left(forbidden)
    await look()
    expect(await ended(forbidden.id)).toMatchObject({ status: 'failed', error: `管理员没有允许从“${hub.url}”导入` })
    await call(app, configs.set, { token: admin.token, body: { key: 'model_hubs', value: hub.url } })
    const denied = await imported()
    const { makePolicy, give } = keeping(app)
    await give(owner, await makePolicy(owner, [deny('models.revision.create')]), { user_id: member.id })
    await left(denied)
    await look()
    expect(await ended(denied.id)).toMatchObject({ status: 'failed', error: `无法导入：${member.name}已不能导入到该模型` })
  })

  it('believes a hub nothing: what is no size, no end, no address or no pace ends it in words, and nothing of it stays', async () => {
    const id = await create()
    const before = await used()
    hub.files.clear()
    hub.files.set('model.bin', randomBytes(5_000))
    const oid = 'b'.repeat(64)
    const tree =
      (listing: unknown, headers: Record<string, string> = {}) =>
      (path: string, response: ServerResponse) => {
        if (!path.includes('/tree/')) return false
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(typeof listing === 'string' ? listing : JSON.stringify(listing))
        return true
      }
    const file = { type: 'file', path: 'a.bin' }
    const elsewhere = '无法导入：对方转到了不允许的地址'
    const unreadable = '无法导入：对方的回答不是模型库的格式'
    const lies: readonly (readonly [NonNullable<Hub['instead']>, string])[] = [
      [tree([{ ...file, size: -1 }]), unreadable],
      [tree([{ ...file, size: 5, lfs: { oid, size: -5 } }]), unreadable],
      [tree('[{"type":"file","path":"a.bin","size":1e300}]'), unreadable],
      [tree('[{"type":"file","path":"a.bin","size":NaN}]'), unreadable],
      [tree(Array.from({ length: 600 }, (_, at) => ({ ...file, path: `${at}`, lfs: { oid, size: 2 ** 44 } }))), unreadable],
      [tree([{ ...file, path: '../a.bin', size: 1 }]), '无法导入：文件名“../a.bin”不能使用'],
      [tree(`["${'x'.repeat(3 * 2 ** 20)}"]`), '无法导入：对方的回答过长'],
      [tree([{ ...file, size: 1 }], { link: '<http://127.0.0.1:9/next>; rel="next"' }), unreadable],
      [tree([{ ...file, size: 2 ** 43 }]), '平台的文件空间不足'],
      // More comes than it said.
      [tree([{ ...file, path: 'model.bin', size: 100, lfs: { oid, size: 100 } }]), '文件过大'],
      [(path, response) => path.includes('/resolve/') && (response.writeHead(302, { location: 'http://10.0.0.1/model.bin' }).end(), true), elsewhere],
      [(path, response) => path.includes('/resolve/') && (response.writeHead(302, { location: 'file:///etc/passwd' }).end(), true), elsewhere],
    ]
    for (const [instead, error] of lies) {
      hub.instead = instead
      await begin(id)
      const last = await ended(id)
      expect(last.status, error).toBe('failed')
      expect(last.error).toContain(error)
      expect(await used()).toBe(before)
    }
    // Pages without end are not taken for all that there is.
    let pages = 0
    hub.instead = (path, response) =>
      tree(pages++ === 0 ? [{ ...file, path: 'model.bin', size: 5_000 }] : [], { link: `<${hub.url}/api/models/team/model/tree/on>; rel="next"` })(
        path,
        response,
      )
    await begin(id)
    expect(await ended(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('超过50页') })
    hub.instead = null
    const left = await vi.waitFor(async () => {
      const there = await readdir(join(app.config.DATA_DIR, 'bytes', 'imports')).catch(() => [])
      expect(there).toEqual([])
      return there
    }, 5_000)
    expect(left).toEqual([])
  })

  it('of one organisation leaves places to others, and is told of among the transfers', async () => {
    hub.files.clear()
    hub.files.set('a.bin', randomBytes(600_000))
    hub.paceMs = 100
    const ids = await Promise.all([0, 1, 2, 3, 4].map(() => create()))
    for (const id of ids) await begin(id)
    const running = async () =>
      (await app.platform.db.selectFrom('model_imports').select('id').where('model_id', 'in', ids).where('status', '=', 'running').execute()).length
    await vi.waitFor(async () => expect(await running()).toBe(2), 10_000)
    const other = await someone(app)
    const theirs = (await call(app, models.create, { token: other.token, body: { namespace: 'others', name: 'm', title: 'm' } })).id
    await call(app, modelImports.create, { token: other.token, params: { id: theirs }, body: { url: hub.url, repository: 'team/model' } })
    await vi.waitFor(async () => {
      const [one] = (await call(app, modelImports.list, { token: other.token, params: { id: theirs } })).items
      expect(one?.status).toBe('running')
      expect(await running()).toBe(2)
    }, 10_000)
    for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'done', error: null })
    hub.paceMs = 0
    const { items } = await call(app, fileTransfers.list, { token: admin.token, query: { kind: 'import', outcome: 'done', page_size: 100 } })
    expect(items.filter(({ user_name }) => user_name === owner.name).at(0)).toMatchObject({
      name: expect.stringMatching(/^imported\/m\d+$/),
      space_kind: 'model',
      machine: `${hub.url}/team/model`,
      bytes: 600_000,
      size_bytes: 600_000,
    })
  })

  it('that ended while nobody was at it leaves the disk, and one that nobody could go on with for a week ends', async () => {
    const id = await create()
    hub.files.clear()
    hub.files.set('model.bin', randomBytes(5_000))
    const one = await begin(id)
    await ended(id)
    const folder = (of: string) => join(app.config.DATA_DIR, 'bytes', 'imports', of)
    const gone = randomUUID()
    // Its own goes last.
    await vi.waitFor(() => expect(existsSync(folder(one.id))).toBe(false))
    for (const of of [one.id, gone]) await mkdir(folder(of), { recursive: true })
    const longAgo = new Date(Date.now() - 8 * 86_400_000)
    const [stuckAt, slowAt] = [await create(), await create()]
    const begun: string[] = []
    for (const at of [stuckAt, slowAt]) {
      const { id: of } = await begin(at)
      begun.push(of)
      await ended(at)
      // Its folder goes last, after it was looked what waits.
      await vi.waitFor(() => expect(existsSync(folder(of))).toBe(false))
    }
    const [stuck = ''] = begun
    const left = { status: 'running', ended_at: null, claimed_until: new Date(0), created_at: longAgo } as const
    await app.platform.db.transaction().execute(async (tx) => {
      await tx.updateTable('model_imports').set(left).where('id', 'in', begun).execute()
      // Of the other something came: it goes on, however long ago it began.
      await tx.updateTable('model_imports').set({ moved_at: longAgo }).where('id', '=', stuck).execute()
    })
    await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, lookJob, {}))
    await vi.waitFor(async () => {
      const row = await app.platform.db.selectFrom('model_imports').select(['status', 'error']).where('id', '=', stuck).executeTakeFirst()
      expect(row).toEqual({ status: 'failed', error: '一周内没有完成，已放弃' })
      expect([existsSync(folder(one.id)), existsSync(folder(gone))]).toEqual([false, false])
    }, 10_000)
    expect(await ended(slowAt)).toMatchObject({ status: 'done' })
  })
})
