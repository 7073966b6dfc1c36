import { randomUUID } from 'node:crypto'
import { categories, discounts, products, quotes, skus } from '@zhisuan/contract/bill/catalogue'
import type { Meter } from '@zhisuan/contract/bill/meter'
import type { BodyInput } from '@zhisuan/contract/define'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

const gib = 2 ** 30

let app: TestApp
let admin: Person & SignedIn
let tenant: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  tenant = await someone(app)
})
afterAll(() => app.close())

const name = (): string => `n-${randomUUID()}`
const makeProduct = async () => {
  const category = await call(app, categories.create, { token: admin.token, body: { name: name() } })
  return call(app, products.create, { token: admin.token, body: { name: name(), category_id: category.id } })
}
/** A meter is priced in one place, so each test has one of its own. */
const makeSku = async (meter: Meter, variant = '') => call(app, skus.create, { token: admin.token, body: { product_id: (await makeProduct()).id, name: name(), meter, variant } })
const setPrice = (id: string, price: string, wish: Partial<BodyInput<typeof skus.setPrice>> = {}) =>
  call(app, skus.setPrice, { token: admin.token, params: { id }, body: { period: 'hour', tiers: [{ above: 0, price }], ...wish } })
const grant = (fraction: string, wish: Partial<BodyInput<typeof discounts.create>> = {}) => call(app, discounts.create, { token: admin.token, body: { name: name(), fraction, ...wish } })
const ask = (items: BodyInput<typeof quotes.ask>['items'], wish: Partial<BodyInput<typeof quotes.ask>> = {}, token = tenant.token) => call(app, quotes.ask, { token, body: { period: 'hour', items, ...wish } })
/** What begins now begins with the next second. */
const nextSecond = () => app.clock.advance(1000)
const later = (seconds: number): string => new Date(app.clock.now().getTime() + seconds * 1000).toISOString()

describe('categories and products', () => {
  it('are made, renamed and deleted, but not while something is in them', async () => {
    const category = await call(app, categories.create, { token: admin.token, body: { name: name(), description: '云主机' } })
    expect(await refused(app, categories.create, { token: admin.token, body: { name: category.name } })).toMatchObject({ code: 96001, fields: [{ field: 'name' }] })
    const product = await call(app, products.create, { token: admin.token, body: { name: name(), category_id: category.id } })
    expect(product).toMatchObject({ category: { id: category.id, name: category.name }, sku_count: 0 })
    expect(await refused(app, products.create, { token: admin.token, body: { name: product.name, category_id: category.id } })).toMatchObject({ code: 96002 })
    expect(await refused(app, products.create, { token: admin.token, body: { name: name(), category_id: randomUUID() } })).toMatchObject({ status: 404, fields: [{ field: 'category_id' }] })
    expect(await refused(app, categories.delete, { token: admin.token, params: { id: category.id } })).toMatchObject({ code: 96004 })
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: name(), meter: 'file.size' } })
    expect(await refused(app, skus.create, { token: admin.token, body: { product_id: product.id, name: name(), meter: 'file.size' } })).toMatchObject({ code: 96003, message: `该计量项已在产品“${product.name}”中定价` })
    expect(await refused(app, products.delete, { token: admin.token, params: { id: product.id } })).toMatchObject({ code: 96005 })
    await call(app, skus.delete, { token: admin.token, params: { id: sku.id } })
    const other = await call(app, categories.create, { token: admin.token, body: { name: name() } })
    const renamed = name()
    expect(await call(app, products.update, { token: admin.token, params: { id: product.id }, body: { name: renamed, category_id: other.id } })).toMatchObject({ name: renamed, category: { id: other.id } })
    expect(await call(app, products.list, { token: admin.token, query: { category_id: other.id } })).toMatchObject({ total: 1, items: [{ id: product.id }] })
    await call(app, products.delete, { token: admin.token, params: { id: product.id } })
    await call(app, categories.delete, { token: admin.token, params: { id: other.id } })
    expect(await refused(app, products.get, { token: admin.token, params: { id: product.id } })).toMatchObject({ status: 404 })
    expect((await call(app, categories.list, { token: admin.token, query: { keyword: category.name } })).items).toMatchObject([{ product_count: 0 }])
  })

  it('are the administrators’ alone', async () => {
    for (const declared of [categories.list, categories.create, products.list, discounts.list, discounts.create]) expect(await refused(app, declared, { token: tenant.token }), declared.id).toMatchObject({ code: 3000 })
  })
})

describe('prices', () => {
  it('are added and never changed: each holds from when it was said to', async () => {
    const sku = await makeSku('registry.size')
    expect(await refused(app, quotes.ask, { token: tenant.token, body: { period: 'hour', items: [{ meter: 'registry.size', quantity: gib }] } })).toMatchObject({ status: 400, code: 24007, fields: [{ field: 'items.0' }] })
    const first = await setPrice(sku.id, '0.1')
    nextSecond()
    const planned = await setPrice(sku.id, '0.3', { effective_from: later(60) })
    expect(planned.status).toBe('planned')
    expect((await ask([{ meter: 'registry.size', quantity: 2 * gib }])).amount).toBe('0.20')
    // One made later for the same moment holds in its place.
    await setPrice(sku.id, '0.25', { effective_from: planned.effective_from })
    app.clock.advance(61_000)
    expect((await ask([{ meter: 'registry.size', quantity: 2 * gib }])).amount).toBe('0.50')
    const { items } = await call(app, skus.prices, { token: admin.token, params: { id: sku.id } })
    expect(items.map(({ tiers, status }) => [tiers[0]?.price, status])).toEqual([['0.25', 'current'], ['0.30', 'superseded'], ['0.10', 'superseded']])
    expect((await call(app, products.skus, { token: admin.token, params: { id: sku.product_id } })).items[0]?.prices).toMatchObject([{ tiers: [{ price: '0.25' }] }])
    const { pool } = app.platform.database
    await expect(pool.query('update bill_prices set effective_from = now() where id = $1', [first.id])).rejects.toThrow('append-only')
    await expect(pool.query('delete from bill_prices where id = $1', [first.id])).rejects.toThrow('append-only')
    expect(await refused(app, skus.delete, { token: admin.token, params: { id: sku.id } })).toMatchObject({ code: 96006 })
  })

  it('begin now at the earliest, and end after they begin', async () => {
    const sku = await makeSku('image.size')
    const refusal = (wish: object) => refused(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'hour', tiers: [{ above: 0, price: '1' }], ...wish } })
    expect(await refusal({ effective_from: later(-3_600) })).toMatchObject({ code: 96007, fields: [{ field: 'effective_from' }] })
    expect(await refusal({ effective_from: later(60), effective_to: later(60) })).toMatchObject({ code: 96007, fields: [{ field: 'effective_to' }] })
    for (const tiers of [[], [{ above: 1, price: '1' }], [{ above: 0, price: '1' }, { above: 0, price: '2' }], [{ above: 0, price: '-1' }], [{ above: 0, price: '0.000000001' }]]) expect((await refusal({ tiers })).fields?.[0]?.field, JSON.stringify(tiers)).toMatch(/^tiers/)
    await setPrice(sku.id, '1', { effective_to: later(10) })
    nextSecond()
    expect((await ask([{ meter: 'image.size', quantity: gib }])).amount).toBe('1.00')
    app.clock.advance(11_000)
    expect(await refused(app, quotes.ask, { token: tenant.token, body: { period: 'hour', items: [{ meter: 'image.size', quantity: gib }] } })).toMatchObject({ code: 24007 })
  })

  it('are graduated, and exact to eight decimals', async () => {
    const sku = await makeSku('eip.bandwidth')
    await setPrice(sku.id, '', { tiers: [{ above: 0, price: '0.063' }, { above: 5, price: '0.248' }] })
    await setPrice(sku.id, '', { period: 'month', tiers: [{ above: 0, price: '23' }, { above: 5, price: '80' }] })
    nextSecond()
    const hourly = await ask([{ meter: 'eip.bandwidth', quantity: 5 }, { meter: 'eip.bandwidth', quantity: 7 }])
    expect(hourly.lines.map(({ amount, parts }) => [amount, parts])).toEqual([
      ['0.315', [{ units: '5', price: '0.063' }]],
      ['0.811', [{ units: '5', price: '0.063' }, { units: '2', price: '0.248' }]],
    ])
    expect(await ask([{ meter: 'eip.bandwidth', quantity: 6 }], { period: 'month', count: 3 })).toMatchObject({ amount: '585.00', list_amount: '585.00', count: 3 })
    expect(await refused(app, quotes.ask, { token: tenant.token, body: { period: 'year', items: [{ meter: 'eip.bandwidth', quantity: 1 }] } })).toMatchObject({ code: 24007 })
  })

  it('of a kind come before those of all kinds, wherever there are some', async () => {
    await setPrice((await makeSku('vm.gpu')).id, '5')
    const special = await makeSku('vm.gpu', 'A100')
    nextSecond()
    const each = async () => (await ask([{ meter: 'vm.gpu', variant: 'A100', quantity: 1 }, { meter: 'vm.gpu', variant: 'V100', quantity: 1 }])).lines.map(({ amount }) => amount)
    expect(await each()).toEqual(['5.00', '5.00'])
    await setPrice(special.id, '9')
    nextSecond()
    expect(await each()).toEqual(['9.00', '5.00'])
  })
})

describe('discounts', () => {
  it('take a share above 0 and up to 1, and nothing else', async () => {
    for (const fraction of ['0', '0.0', '1.0001', '1.01', '-0.5', '2', '0.00001', '0.12345']) {
      expect(await refused(app, discounts.create, { token: admin.token, body: { name: name(), fraction } }), fraction).toMatchObject({ status: 400, code: 24008, fields: [{ field: 'fraction' }] })
    }
    for (const fraction of ['', 'x', '1e-1', '50%']) expect((await refused(app, discounts.create, { token: admin.token, body: { name: name(), fraction } })).fields, fraction).toMatchObject([{ field: 'fraction' }])
    // Far away, so that they take nothing off here.
    const far = { effective_from: later(10 ** 8) }
    expect(await Promise.all(['1', '0.0001', '0.85', '0.8500000'].map(async (fraction) => (await grant(fraction, far)).fraction))).toEqual(['1.00', '0.0001', '0.85', '0.85'])
  })

  it('hold for whom, for what and when they say; the lowest does, and only for them', async () => {
    const sku = await makeSku('backup.size')
    await setPrice(sku.id, '1')
    await setPrice(sku.id, '100', { period: 'month' })
    nextSecond()
    const other = await someone(app)
    const cost = async (period: 'hour' | 'month' = 'hour', token = tenant.token) => (await ask([{ meter: 'backup.size', quantity: gib }], { period }, token)).amount
    await grant('0.9', { product_id: sku.product_id })
    const mine = await grant('0.8', { product_id: sku.product_id, bp_id: tenant.bp_id, period: 'hour', effective_to: later(7_200) })
    await grant('0.7', { product_id: (await makeProduct()).id })
    nextSecond()
    expect([await cost(), await cost('month'), await cost('hour', other.token)]).toEqual(['0.80', '90.00', '0.90'])
    expect(await ask([{ meter: 'backup.size', quantity: gib }], { bp_id: tenant.bp_id }, admin.token)).toMatchObject({ amount: '0.80', list_amount: '1.00', lines: [{ fraction: '0.80' }] })
    expect(await refused(app, quotes.ask, { token: other.token, body: { period: 'hour', bp_id: tenant.bp_id, items: [{ meter: 'backup.size', quantity: 1 }] } })).toMatchObject({ status: 404 })
    // Ended, it is ended; what it took off before stays so.
    expect(await call(app, discounts.end, { token: admin.token, params: { id: mine.id } })).toMatchObject({ id: mine.id })
    nextSecond()
    expect(await cost()).toBe('0.90')
    expect(await refused(app, discounts.end, { token: admin.token, params: { id: mine.id } })).toMatchObject({ code: 96008 })
    expect((await call(app, discounts.list, { token: admin.token, query: { bp_id: tenant.bp_id ?? '' } })).items).toMatchObject([{ id: mine.id, status: 'ended' }])
    for (const wish of [{ bp_id: randomUUID() }, { product_id: randomUUID() }]) expect(await refused(app, discounts.create, { token: admin.token, body: { name: name(), fraction: '0.5', ...wish } })).toMatchObject({ status: 404 })
    await expect(app.platform.database.pool.query('update bill_discounts set fraction = 1')).rejects.toThrow('only ends')
  })
})
