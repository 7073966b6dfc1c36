import { randomUUID } from 'node:crypto'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { consumes } from '@zhisuan/contract/bill/consume'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine } from '../../../testing/engine.ts'
import { someone } from '../../../testing/people.ts'
import { createRating } from '../rating/rating.service.ts'
import { createMetering } from './metering.service.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
})
afterAll(() => app.close())

describe('a resource that is renamed', () => {
  it('is called by its new name in bills, and found by it, at the same cost', async () => {
    const [admin, owner] = [await someone(app, { kind: 1 }), await someone(app)]
    const { cloud_id } = await call(app, clouds.create, {
      token: admin.token,
      body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: startTestEngine().connection },
    })
    const category = await call(app, categories.create, { token: admin.token, body: { name: 'storage' } })
    const product = await call(app, products.create, { token: admin.token, body: { name: 'volumes', category_id: category.id } })
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: 'size', meter: 'volume.size' } })
    await call(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'hour', tiers: [{ above: 0, price: '1' }] } })
    const { id } = await call(app, volumes.create, { token: owner.token, body: { cloud_id, name: `vol-${randomUUID()}`, size_bytes: 2 ** 30 } })
    await vi.waitFor(async () => expect(await call(app, volumes.get, { token: owner.token, params: { id } })).toMatchObject({ status: 'available' }), {
      interval: 20,
    })
    const { db, now } = app.platform
    const later = new Date(now().getTime() + 3 * 3_600_000)
    const month = new Date(now().getTime() + 8 * 3_600_000).toISOString().slice(0, 7)
    const rate = () => createRating({ db, now: () => later, metering: createMetering({ db }) }).run()
    const billed = async (keyword: string) => (await call(app, consumes.resources, { token: owner.token, query: { month, keyword } })).items
    await rate()
    const lines = () => db.selectFrom('usage_lines').select(['id', 'amount', 'voided_at']).where('resource_id', '=', id).orderBy('id').execute()
    const before = await lines()
    expect(before.length).toBeGreaterThan(0)
    const name = `renamed-${randomUUID()}`
    await call(app, volumes.update, { token: owner.token, params: { id }, body: { name, description: '' } })
    await rate()
    expect(await billed(name)).toMatchObject([{ id, name }])
    // It was rated again from the hour of the new name on, and came to the same.
    expect(await lines()).toEqual(before)
  })
})
