import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { BodyInput } from '@zhisuan/contract/define'
import { bundles as calls, type Bundle } from '@zhisuan/contract/sys/bundle'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

const content = randomBytes(300_000)
const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Somebody's server, at an address that operators allow. */
const origin = createServer((request, response) => void (request.url === '/program.tgz' ? response.end(content) : response.writeHead(404).end()))
let app: TestApp
let admin: Person & SignedIn
let tenant: Person & SignedIn
const url = (path = '/program.tgz'): string => `http://127.0.0.1:${(origin.address() as AddressInfo).port}${path}`

beforeAll(async () => {
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  app = await testApp({ IMAGE_FETCH_ALLOW: '127.0.0.1' })
  admin = await someone(app, { kind: 1 })
  tenant = await someone(app)
})
afterAll(async () => {
  await app.close()
  origin.closeAllConnections()
  origin.close()
})

const announce = (wish: Partial<BodyInput<typeof calls.create>> & { sha256: string }) =>
  call(app, calls.create, { token: admin.token, body: { name: 'program', version: '1.2.3', format: 'tar.gz', ...wish } })
const send = (path: string, bytes: Buffer, { token = admin.token, type = 'application/octet-stream' } = {}) =>
  app.http.inject({ method: 'PUT', url: path, payload: bytes, headers: { 'content-type': type, authorization: `Bearer ${token}` } })
const served = (sha256: string) => app.http.inject({ method: 'GET', url: `/agent/bundles/${sha256}` })
const get = async (id: string): Promise<Bundle | undefined> =>
  (await call(app, calls.list, { token: admin.token, query: { page_size: 100 } })).items.find((one) => one.id === id)
const folder = (): string => join(app.config.DATA_DIR, 'bundles')

describe('a bundle', () => {
  it('is announced by its digest, sent, served to nodes, and forgotten', async () => {
    const bytes = randomBytes(200_000)
    const sha256 = sha256Of(bytes)
    const { bundle, upload_path } = await announce({ sha256: sha256.toUpperCase() })
    expect(bundle).toMatchObject({ sha256, status: 'uploading', size_bytes: null, used_by: 0, created_by: admin.name })
    expect((await served(sha256)).statusCode).toBe(404)
    expect((await send(upload_path ?? '', bytes)).statusCode).toBe(204)
    expect(await get(bundle.id)).toMatchObject({ status: 'ready', size_bytes: bytes.length })
    const { statusCode, rawPayload } = await served(sha256)
    expect([statusCode, sha256Of(rawPayload)]).toEqual([200, sha256])
    expect(statSync(join(folder(), sha256)).mode & 0o077).toBe(0)
    await call(app, calls.delete, { token: admin.token, params: { id: bundle.id } })
    expect([existsSync(join(folder(), sha256)), (await served(sha256)).statusCode]).toEqual([false, 404])
  })

  it('is refused where it is another, is there already, or is sent by somebody else; nothing of that stays', async () => {
    const bytes = randomBytes(1_000)
    const { bundle, upload_path } = await announce({ sha256: sha256Of(bytes) })
    const wrong = await send(upload_path ?? '', randomBytes(1_000))
    expect([wrong.statusCode, wrong.json()]).toMatchObject([400, { code: 92008 }])
    expect(await refused(app, calls.create, { token: admin.token, body: { name: 'n', version: '1', format: 'file', sha256: bundle.sha256 } })).toMatchObject({
      code: 92007,
      fields: [{ field: 'sha256' }],
    })
    for (const [token, status] of [
      [tenant.token, 403],
      ['', 401],
    ] as const)
      expect((await send(upload_path ?? '', bytes, { token })).statusCode).toBe(status)
    expect((await send(upload_path ?? '', bytes, { type: 'text/plain' })).statusCode).toBe(415)
    expect((await send(`/api/sys/v1/bundles/${randomUUID()}/content`, bytes)).statusCode).toBe(404)
    expect((await served('../../secret.key')).statusCode).toBe(404)
    expect(readdirSync(folder()).filter((name) => name.endsWith('.part'))).toEqual([])
    // It may still be sent; twice is once.
    expect((await Promise.all([send(upload_path ?? '', bytes), send(upload_path ?? '', bytes)])).some(({ statusCode }) => statusCode === 204)).toBe(true)
    expect(await get(bundle.id)).toMatchObject({ status: 'ready' })
    expect((await send(upload_path ?? '', bytes)).json()).toMatchObject({ code: 90010 })
  })

  it('is fetched from an address, if it is what was announced', async () => {
    const { bundle, upload_path } = await announce({ sha256: sha256Of(content), url: url() })
    expect([bundle.status, upload_path]).toEqual(['fetching', null])
    await vi.waitFor(async () => expect(await get(bundle.id)).toMatchObject({ status: 'ready', size_bytes: content.length, error: null }))
    expect((await served(sha256Of(content))).rawPayload.equals(content)).toBe(true)

    const other = await announce({ sha256: '1'.repeat(64), url: url() })
    const gone = await announce({ sha256: '2'.repeat(64), url: url('/none') })
    await vi.waitFor(async () =>
      expect([await get(other.bundle.id), await get(gone.bundle.id)]).toMatchObject([
        { status: 'error', error: expect.stringContaining(sha256Of(content)) },
        { status: 'error', error: '无法下载程序包：对方返回HTTP 404' },
      ]),
    )
    await vi.waitFor(() => expect(readdirSync(folder()).filter((name) => name.includes('.'))).toEqual([]))
    for (const address of ['http://169.254.169.254/x', 'http://[::1]/x', 'http://127.0.0.2/x'])
      expect(
        await refused(app, calls.create, { token: admin.token, body: { name: 'n', version: '1', format: 'file', sha256: '3'.repeat(64), url: address } }),
      ).toMatchObject({
        code: 92012,
        fields: [{ field: 'url' }],
      })
  })

  it('stays while a program is made of it', async () => {
    const bytes = randomBytes(1_000)
    const { bundle, upload_path } = await announce({ sha256: sha256Of(bytes) })
    await send(upload_path ?? '', bytes)
    const id = randomUUID()
    await app.platform.db
      .insertInto('kept_programs')
      .values({
        id,
        node_id: randomUUID(),
        owner_kind: 'sys.bundle',
        owner_id: randomUUID(),
        name: 'n',
        wanted: '',
        digest: '',
        wanted_version: null,
        bundle: bundle.sha256,
        next: null,
        next_digest: null,
        next_version: null,
        next_bundle: null,
        status: 'stopped',
        reason: null,
        observed: null,
        observed_at: null,
        brought_at: null,
      })
      .execute()
    expect(await get(bundle.id)).toMatchObject({ used_by: 1 })
    expect(await refused(app, calls.delete, { token: admin.token, params: { id: bundle.id } })).toMatchObject({
      code: 92009,
      message: '还有1个程序在使用该程序包',
    })
    await app.platform.db.deleteFrom('kept_programs').where('id', '=', id).execute()
    await call(app, calls.delete, { token: admin.token, params: { id: bundle.id } })
    expect(await refused(app, calls.delete, { token: admin.token, params: { id: bundle.id } })).toMatchObject({ status: 404 })
  })
})
