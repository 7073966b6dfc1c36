import { randomUUID } from 'node:crypto'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { orders } from '@zhisuan/contract/bill/order'
import type { Kind } from '@zhisuan/contract/kind'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createMetering } from '../metering/metering.service.ts'
import { recordEvent } from '../metering/metering.store.ts'

const gib = 2 ** 30
const hour = 3_600_000

let app: TestApp
let admin: Person & SignedIn
let begin: number
let sku: string
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  const category = await call(app, categories.create, { token: admin.token, body: { name: 'computing' } })
  const product = await call(app, products.create, { token: admin.token, body: { name: 'instances', category_id: category.id } })
  sku = (await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: 'vcpu', meter: 'vm.vcpu' } })).id
  await call(app, skus.setPrice, { token: admin.token, params: { id: sku }, body: { period: 'hour', tiers: [{ above: 0, price: '0.1' }] } })
  begin = app.clock.now().getTime() + hour
  app.clock.advance(3 * hour)
  // Nobody's session lasts so long.
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const uses = (bp_id: string | null, id: string, at: number, usage: Record<string, number>, name = 'web', type: Kind = 'nextstack.vm') =>
  recordEvent(app.platform.db, {
    id: randomUUID(),
    resource_type: type,
    resource_id: id,
    resource_name: name,
    bp_id: bp_id ?? '',
    project_id: null,
    at: at / 1000,
    revision: 1,
    usage,
  })
const settle = () => createMetering(app.platform).settle()
const ordersOf = async (who: SignedIn, query = {}) => (await call(app, orders.list, { token: who.token, query })).items

it('is there for what is paid by the hour, from its first use on, at the prices of then', async () => {
  const who = await someone(app)
  const id = randomUUID()
  await uses(who.bp_id, id, begin, { 'vm.vcpu': 2, 'vm.disk': 10 * gib })
  // What two servers settle at once is ordered once.
  await Promise.all([settle(), settle()])
  const [order] = await ordersOf(who)
  expect(order).toMatchObject({
    kind: 'onDemand',
    status: 'charging',
    period: 'hour',
    resource: { type: 'nextstack.vm', id, name: 'web' },
    amount: '0.00',
    covers: null,
    created_at: new Date(begin).toISOString(),
  })
  await call(app, skus.setPrice, { token: admin.token, params: { id: sku }, body: { period: 'hour', tiers: [{ above: 0, price: '9' }] } })
  app.clock.advance(1_000)
  const params = { id: order?.id ?? '' }
  const { lines, history } = await call(app, orders.get, { token: who.token, params })
  expect(lines).toMatchObject([{ meter: 'vm.vcpu', quantity: 2, amount: '0.20' }])
  expect(history).toMatchObject([{ what: 'created', at: new Date(begin).toISOString() }])

  await uses(who.bp_id, id, begin + hour, {}, 'renamed')
  await settle()
  expect(await ordersOf(who, { kind: 'onDemand', status: 'ended', resource_type: 'nextstack.vm', keyword: 'renamed' })).toMatchObject([{ id: params.id }])
  await uses(who.bp_id, id, begin + 2 * hour, { 'vm.disk': 10 * gib }, 'renamed')
  await settle()
  expect(await ordersOf(who)).toMatchObject([{ id: params.id, status: 'charging' }])
})

it('nothing is done with it, and it is nobody else’s', async () => {
  const [who, other] = [await someone(app), await someone(app)]
  await uses(who.bp_id, randomUUID(), begin, { 'volume.size/ssd': gib }, 'data', 'compute.volume')
  await settle()
  const [order] = await ordersOf(who)
  const params = { id: order?.id ?? '' }
  for (const change of [orders.pay, orders.cancel, orders.refund])
    expect(await refused(app, change, { token: who.token, params })).toMatchObject({ status: 409, code: 90010 })
  expect(await refused(app, orders.renew, { token: who.token, params, body: { period: 'month' } })).toMatchObject({ status: 409, code: 90010 })
  expect(await refused(app, orders.refundPreview, { token: who.token, params })).toMatchObject({ status: 409, code: 90010 })
  expect(await refused(app, orders.get, { token: other.token, params })).toMatchObject({ status: 404 })
  expect(await ordersOf(other)).toEqual([])
  // Without a price it is free.
  expect((await call(app, orders.get, { token: who.token, params })).lines).toEqual([])
})

it('who gets something that another had gets an order of their own, and the other’s is ended', async () => {
  const [first, second] = [await someone(app), await someone(app)]
  const id = randomUUID()
  await uses(first.bp_id, id, begin, { 'vm.vcpu': 1 })
  await settle()
  await uses(second.bp_id, id, begin + hour, { 'vm.vcpu': 1 })
  await settle()
  expect(await ordersOf(first)).toMatchObject([{ status: 'ended' }])
  expect(await ordersOf(second)).toMatchObject([{ status: 'charging' }])
})
