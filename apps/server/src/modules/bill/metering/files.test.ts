import { randomBytes } from 'node:crypto'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { consumes } from '@zhisuan/contract/bill/consume'
import { fileEntries, fileSpaces, fileUploads, type FileEntry } from '@zhisuan/contract/files/file'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JobDefinition } from '../../../platform/jobs.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { sendPiece } from '../../../testing/uploads.ts'
import { rateUsage } from '../testing.ts'

let app: TestApp
let url: string
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  url = await app.http.listen({ port: 0, host: '127.0.0.1' })
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

/** What the clock does every few minutes. */
const usageJob = (): JobDefinition =>
  app.platform
    .modules()
    .flatMap(({ jobs = [] }) => jobs)
    .find(({ name }) => name === 'files.usage.tell') ?? expect.fail('there is no such job')

/** A file in somebody's own space. */
async function put(token: string, bytes: Buffer): Promise<FileEntry> {
  const { items } = await call(app, fileSpaces.list, { token })
  const space = items.find(({ kind }) => kind === 'personal')?.id ?? ''
  const upload = await call(app, fileSpaces.upload, { token, params: { id: space }, body: { name: 'kept.bin', size_bytes: bytes.length } })
  expect((await sendPiece(url, token, upload, 0, new Uint8Array(bytes))).status).toBe(204)
  const { entry_id } = await call(app, fileUploads.get, { token, params: { id: upload.id } })
  return call(app, fileEntries.get, { token, params: { id: entry_id ?? '' } })
}

describe('files', () => {
  it('are paid for by GB and hour, until they are gone', async () => {
    const person = await someone(app)
    const category = await call(app, categories.create, { token: admin.token, body: { name: 'files' } })
    const product = await call(app, products.create, { token: admin.token, body: { name: 'spaces', category_id: category.id } })
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: 'room', meter: 'file.size' } })
    await call(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'hour', tiers: [{ above: 0, price: '1024' }] } })
    const file = await put(person.token, randomBytes(2 ** 20))
    const { db, jobs, now } = app.platform
    const tell = async (metered: number) => {
      await db.transaction().execute((tx) => jobs.send(tx, usageJob(), {}))
      await vi.waitFor(async () => {
        const space = await db.selectFrom('file_spaces').select('metered_bytes').where('id', '=', file.space_id).executeTakeFirst()
        expect(space?.metered_bytes).toBe(metered)
      }, 10_000)
    }
    await tell(2 ** 20)
    await rateUsage(db, new Date(now().getTime() + 3 * 3_600_000))
    const lines = await db
      .selectFrom('usage_lines')
      .select(['amount', 'seconds'])
      .where('resource_id', '=', file.space_id)
      .where('voided_at', 'is', null)
      .execute()
    const whole = lines.filter(({ seconds }) => seconds === 3_600)
    expect(whole.length).toBeGreaterThanOrEqual(2)
    // A MiB at 1,024 yuan the GiB: one yuan an hour, in the ledger's unit of 10⁻⁸.
    for (const { amount } of whole) expect(Number(amount)).toBe(1e8)
    const month = new Date(now().getTime() + 8 * 3_600_000).toISOString().slice(0, 7)
    expect((await call(app, consumes.resources, { token: person.token, query: { month } })).items).toMatchObject([
      { id: file.space_id, name: `个人空间（${person.name}）`, type: 'files.space' },
    ])
    await call(app, fileEntries.delete, { token: person.token, body: { ids: [file.id] } })
    await call(app, fileEntries.purge, { token: person.token, body: { ids: [file.id] } })
    await tell(0)
    expect(await db.selectFrom('usage_events').select('usage').where('resource_id', '=', file.space_id).orderBy('at', 'desc').executeTakeFirst()).toEqual({
      usage: {},
    })
  })
})
