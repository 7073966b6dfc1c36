import { randomUUID } from 'node:crypto'
import { categories, discounts, priceLists, products, quotes, skus, unpriced } from '@zhisuan/contract/bill/catalogue'
import type { Meter } from '@zhisuan/contract/bill/meter'
import type { BodyInput } from '@zhisuan/contract/define'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createMetering } from '../metering/metering.service.ts'
import { recordEvent } from '../metering/metering.store.ts'

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
const makeSku = async (meter: Meter, variant = '') =>
  call(app, skus.create, { token: admin.token, body: { product_id: (await makeProduct()).id, name: name(), meter, variant } })
const setPrice = (id: string, price: string, wish: Partial<BodyInput<typeof skus.setPrice>> = {}) =>
  call(app, skus.setPrice, { token: admin.token, params: { id }, body: { period: 'hour', tiers: [{ above: 0, price }], ...wish } })
const grant = (fraction: string, wish: Partial<BodyInput<typeof discounts.create>> = {}) =>
  call(app, discounts.create, { token: admin.token, body: { name: name(), fraction, ...wish } })
const ask = (items: BodyInput<typeof quotes.ask>['items'], wish: Partial<BodyInput<typeof quotes.ask>> = {}, token = tenant.token) =>
  call(app, quotes.ask, { token, body: { period: 'hour', items, ...wish } })
/** What begins now begins with the next second. */
const nextSecond = () => app.clock.advance(1000)
const later = (seconds: number): string => new Date(app.clock.now().getTime() + seconds * 1000).toISOString()

/** A resource uses something from a moment on, as of the last rating. */
const use = async (bp_id: string, usage: Record<string, number>, at = app.clock.now().getTime() / 1000, resource_id: string = randomUUID()) => {
  await recordEvent(app.platform.db, {
    id: randomUUID(),
    resource_type: 'nextstack.vm',
    resource_id,
    resource_name: 'one',
    bp_id,
    project_id: null,
    at,
    revision: 1,
    usage,
  })
  await createMetering(app.platform).settle()
  return resource_id
}
const inSeconds = (): number => Math.floor(app.clock.now().getTime() / 1000)

describe('categories and products', () => {
  it('are made, renamed and deleted, but not while something is in them', async () => {
    const category = await call(app, categories.create, { token: admin.token, body: { name: name(), description: '云主机' } })
    expect(await refused(app, categories.create, { token: admin.token, body: { name: category.name } })).toMatchObject({
      code: 96001,
      fields: [{ field: 'name' }],
    })
    const product = await call(app, products.create, { token: admin.token, body: { name: name(), category_id: category.id } })
    expect(product).toMatchObject({
      category: { id: category.id, name: category.name },
      sku_count: 0,
      priced_sku_count: 0,
      discount_count: 0,
      created_by: admin.name,
    })
    expect(await refused(app, products.create, { token: admin.token, body: { name: product.name, category_id: category.id } })).toMatchObject({ code: 96002 })
    expect(await refused(app, products.create, { token: admin.token, body: { name: name(), category_id: randomUUID() } })).toMatchObject({
      status: 404,
      fields: [{ field: 'category_id' }],
    })
    expect(await refused(app, categories.delete, { token: admin.token, params: { id: category.id } })).toMatchObject({
      code: 96004,
      message: `分类下还有1个产品，例如“${product.name}”，请先移走或删除`,
    })
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: name(), meter: 'file.size' } })
    expect(await refused(app, skus.create, { token: admin.token, body: { product_id: product.id, name: name(), meter: 'file.size' } })).toMatchObject({
      code: 96003,
      message: `该计量项已在产品“${product.name}”中定价`,
    })
    expect((await call(app, skus.list, { token: admin.token, query: { meter: 'file.size' } })).items).toMatchObject([
      { id: sku.id, product: { id: product.id, name: product.name } },
    ])
    expect(await refused(app, products.delete, { token: admin.token, params: { id: product.id } })).toMatchObject({
      code: 96005,
      message: '产品还有1个计费项和0个折扣，不能删除',
    })
    await call(app, skus.delete, { token: admin.token, params: { id: sku.id } })
    const other = await call(app, categories.create, { token: admin.token, body: { name: name() } })
    const renamed = name()
    expect(await call(app, products.update, { token: admin.token, params: { id: product.id }, body: { name: renamed, category_id: other.id } })).toMatchObject({
      name: renamed,
      category: { id: other.id },
    })
    expect(await call(app, products.list, { token: admin.token, query: { category_id: other.id } })).toMatchObject({ total: 1, items: [{ id: product.id }] })
    await call(app, products.delete, { token: admin.token, params: { id: product.id } })
    await call(app, categories.delete, { token: admin.token, params: { id: other.id } })
    expect(await refused(app, products.get, { token: admin.token, params: { id: product.id } })).toMatchObject({ status: 404 })
    expect((await call(app, categories.list, { token: admin.token, query: { keyword: category.name } })).items).toMatchObject([{ product_count: 0 }])
  })

  it('are the administrators’ alone', async () => {
    for (const declared of [categories.list, categories.create, products.list, discounts.list, discounts.create])
      expect(await refused(app, declared, { token: tenant.token }), declared.id).toMatchObject({ code: 3000 })
  })
})

describe('prices', () => {
  it('are added and never changed: each holds from when it was said to', async () => {
    const sku = await makeSku('registry.size')
    expect(await refused(app, quotes.ask, { token: tenant.token, body: { period: 'hour', items: [{ meter: 'registry.size', quantity: gib }] } })).toMatchObject(
      { status: 400, code: 24007, fields: [{ field: 'items.0' }] },
    )
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
    expect(items.map(({ tiers, status }) => [tiers[0]?.price, status])).toEqual([
      ['0.25', 'current'],
      ['0.30', 'superseded'],
      ['0.10', 'superseded'],
    ])
    expect((await call(app, products.skus, { token: admin.token, params: { id: sku.product_id } })).items[0]?.prices).toMatchObject([
      { tiers: [{ price: '0.25' }] },
    ])
    const { pool } = app.platform.database
    await expect(pool.query('update bill_prices set effective_from = now() where id = $1', [first.id])).rejects.toThrow('append-only')
    await expect(pool.query('delete from bill_prices where id = $1', [first.id])).rejects.toThrow('append-only')
    expect(await refused(app, skus.delete, { token: admin.token, params: { id: sku.id } })).toMatchObject({ code: 96006 })
  })

  it('begin now at the earliest, and end after they begin', async () => {
    const sku = await makeSku('image.size')
    const refusal = (wish: object) =>
      refused(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'hour', tiers: [{ above: 0, price: '1' }], ...wish } })
    expect(await refusal({ effective_from: later(-3_600) })).toMatchObject({ code: 96007, fields: [{ field: 'effective_from' }] })
    expect(await refusal({ effective_from: later(60), effective_to: later(60) })).toMatchObject({ code: 96007, fields: [{ field: 'effective_to' }] })
    for (const tiers of [
      [],
      [{ above: 1, price: '1' }],
      [
        { above: 0, price: '1' },
        { above: 0, price: '2' },
      ],
      [{ above: 0, price: '-1' }],
      [{ above: 0, price: '0.000000001' }],
    ])
      expect((await refusal({ tiers })).fields?.[0]?.field, JSON.stringify(tiers)).toMatch(/^tiers/)
    await setPrice(sku.id, '1', { effective_to: later(10) })
    nextSecond()
    expect((await ask([{ meter: 'image.size', quantity: gib }])).amount).toBe('1.00')
    app.clock.advance(11_000)
    expect(await refused(app, quotes.ask, { token: tenant.token, body: { period: 'hour', items: [{ meter: 'image.size', quantity: gib }] } })).toMatchObject({
      code: 24007,
    })
  })

  it('are graduated, and exact to eight decimals', async () => {
    const sku = await makeSku('eip.bandwidth')
    await setPrice(sku.id, '', {
      tiers: [
        { above: 0, price: '0.063' },
        { above: 5, price: '0.248' },
      ],
    })
    await setPrice(sku.id, '', {
      period: 'month',
      tiers: [
        { above: 0, price: '23' },
        { above: 5, price: '80' },
      ],
    })
    nextSecond()
    const hourly = await ask([
      { meter: 'eip.bandwidth', quantity: 5 },
      { meter: 'eip.bandwidth', quantity: 7 },
    ])
    expect(hourly.lines.map(({ amount, parts }) => [amount, parts])).toEqual([
      ['0.315', [{ units: '5', price: '0.063' }]],
      [
        '0.811',
        [
          { units: '5', price: '0.063' },
          { units: '2', price: '0.248' },
        ],
      ],
    ])
    expect(await ask([{ meter: 'eip.bandwidth', quantity: 6 }], { period: 'month', count: 3 })).toMatchObject({
      amount: '585.00',
      list_amount: '585.00',
      count: 3,
    })
    expect(await refused(app, quotes.ask, { token: tenant.token, body: { period: 'year', items: [{ meter: 'eip.bandwidth', quantity: 1 }] } })).toMatchObject({
      code: 24007,
    })
  })

  it('of a kind come before those of all kinds, wherever there are some', async () => {
    await setPrice((await makeSku('vm.gpu')).id, '5')
    const special = await makeSku('vm.gpu', 'A100')
    nextSecond()
    const each = async () =>
      (
        await ask([
          { meter: 'vm.gpu', variant: 'A100', quantity: 1 },
          { meter: 'vm.gpu', variant: 'V100', quantity: 1 },
        ])
      ).lines.map(({ amount }) => amount)
    expect(await each()).toEqual(['5.00', '5.00'])
    await setPrice(special.id, '9')
    nextSecond()
    expect(await each()).toEqual(['9.00', '5.00'])
  })
})

describe('discounts', () => {
  it('take a share above 0 and up to 1, and nothing else', async () => {
    for (const fraction of ['0', '0.0', '1.0001', '1.01', '-0.5', '2', '0.00001', '0.12345']) {
      expect(await refused(app, discounts.create, { token: admin.token, body: { name: name(), fraction } }), fraction).toMatchObject({
        status: 400,
        code: 24008,
        fields: [{ field: 'fraction' }],
      })
    }
    for (const fraction of ['', 'x', '1e-1', '50%'])
      expect((await refused(app, discounts.create, { token: admin.token, body: { name: name(), fraction } })).fields, fraction).toMatchObject([
        { field: 'fraction' },
      ])
    // Far away, so that they take nothing off here.
    const far = { effective_from: later(10 ** 8) }
    expect(await Promise.all(['1', '0.0001', '0.85', '0.8500000'].map(async (fraction) => (await grant(fraction, far)).fraction))).toEqual([
      '1.00',
      '0.0001',
      '0.85',
      '0.85',
    ])
  })

  it('hold for whom, for what and when they say; the lowest does, and only for them', async () => {
    const sku = await makeSku('backup.size')
    await setPrice(sku.id, '1')
    await setPrice(sku.id, '100', { period: 'month' })
    nextSecond()
    const other = await someone(app)
    const cost = async (period: 'hour' | 'month' = 'hour', token = tenant.token) =>
      (await ask([{ meter: 'backup.size', quantity: gib }], { period }, token)).amount
    await grant('0.9', { product_id: sku.product_id })
    const mine = await grant('0.8', { product_id: sku.product_id, bp_id: tenant.bp_id, period: 'hour', effective_to: later(7_200) })
    await grant('0.7', { product_id: (await makeProduct()).id })
    nextSecond()
    expect([await cost(), await cost('month'), await cost('hour', other.token)]).toEqual(['0.80', '90.00', '0.90'])
    expect(await ask([{ meter: 'backup.size', quantity: gib }], { bp_id: tenant.bp_id }, admin.token)).toMatchObject({
      amount: '0.80',
      list_amount: '1.00',
      lines: [{ fraction: '0.80' }],
    })
    expect(
      await refused(app, quotes.ask, { token: other.token, body: { period: 'hour', bp_id: tenant.bp_id, items: [{ meter: 'backup.size', quantity: 1 }] } }),
    ).toMatchObject({ status: 404 })
    // Ended, it is ended; what it took off before stays so.
    expect(await call(app, discounts.end, { token: admin.token, params: { id: mine.id } })).toMatchObject({ id: mine.id })
    nextSecond()
    expect(await cost()).toBe('0.90')
    expect(await refused(app, discounts.end, { token: admin.token, params: { id: mine.id } })).toMatchObject({ code: 96008 })
    expect((await call(app, discounts.list, { token: admin.token, query: { bp_id: tenant.bp_id ?? '' } })).items).toMatchObject([
      { id: mine.id, status: 'ended', ended: { by: admin.name } },
    ])
    const of = async (query: object) =>
      (await call(app, discounts.list, { token: admin.token, query: { product_id: sku.product_id, sort: 'fraction', ...query } })).items.map(
        ({ fraction }) => fraction,
      )
    expect([await of({}), await of({ status: 'current' }), await of({ status: 'ended' }), await of({ period: 'hour' })]).toEqual([
      ['0.80', '0.90'],
      ['0.90'],
      ['0.80'],
      ['0.80'],
    ])
    for (const wish of [{ bp_id: randomUUID() }, { product_id: randomUUID() }])
      expect(await refused(app, discounts.create, { token: admin.token, body: { name: name(), fraction: '0.5', ...wish } })).toMatchObject({ status: 404 })
    await expect(app.platform.database.pool.query('update bill_discounts set fraction = 1')).rejects.toThrow('only ends')
  })
})

describe('what a price means', () => {
  it('is told of planned prices and of what takes their place', async () => {
    const sku = await makeSku('vm.disk')
    expect(sku).toMatchObject({ ever_priced: false, planned_count: 0, created_by: admin.name })
    const from = later(7_200)
    await setPrice(sku.id, '1', { effective_to: later(10_000) })
    await setPrice(sku.id, '2', { effective_from: from })
    await setPrice(sku.id, '3', { effective_from: from })
    nextSecond()
    const { items } = await call(app, skus.prices, { token: admin.token, params: { id: sku.id }, query: { sort: 'effective_from' } })
    const begins = items[1]?.effective_from
    expect(items.map(({ tiers, status, replaced_at }) => [tiers[0]?.price, status, replaced_at])).toEqual([
      ['1.00', 'current', begins],
      ['2.00', 'superseded', begins],
      ['3.00', 'planned', null],
    ])
    expect((await call(app, products.skus, { token: admin.token, params: { id: sku.product_id } })).items).toMatchObject([
      { ever_priced: true, planned_count: 1 },
    ])
    const renamed = name()
    expect(await call(app, skus.update, { token: admin.token, params: { id: sku.id }, body: { name: renamed } })).toMatchObject({
      id: sku.id,
      name: renamed,
      prices: [{ status: 'current' }],
    })
    expect(await refused(app, skus.update, { token: admin.token, params: { id: randomUUID() }, body: { name: renamed } })).toMatchObject({ status: 404 })
  })

  it('for those who use it now is told before it holds, at their discounts and sizes', async () => {
    const sku = await makeSku('vm.memory')
    const [one, other] = [await makeOrganisation(app), await makeOrganisation(app)]
    await use(one, { 'vm.memory': 4 * gib, 'vm.vcpu': 1 })
    await use(one, { 'vm.memory': 4 * gib })
    await use(other, { 'vm.memory': 10 * gib })
    // What ended is nobody's any more.
    await use(other, {}, inSeconds() + 60, await use(other, { 'vm.memory': 100 * gib }))
    const preview = (price: string, wish: object = {}) =>
      call(app, skus.previewPrice, {
        token: admin.token,
        params: { id: sku.id },
        body: {
          tiers: [
            { above: 0, price },
            { above: 4, price: '0.5' },
          ],
          ...wish,
        },
      })
    expect(await preview('0.1')).toMatchObject({
      organisation_count: 2,
      resources: 3,
      before: '0.00',
      after: '3024.00',
      organisations: [
        { id: other, resources: 1, before: '0.00', after: '2448.00' },
        { id: one, resources: 2, after: '576.00' },
      ],
    })
    await setPrice(sku.id, '0.1')
    const special = await grant('0.5', { bp_id: one, product_id: sku.product_id, effective_from: later(3_600) })
    nextSecond()
    expect(await preview('0.2')).toMatchObject({ before: '1296.00', after: '3888.00' })
    expect((await preview('0.2', { effective_from: later(7_200) })).organisations).toContainEqual(
      expect.objectContaining({ id: one, before: '288.00', after: '576.00' }),
    )
    expect((await call(app, products.skus, { token: admin.token, params: { id: sku.product_id } })).items).toMatchObject([
      { used_by: { organisations: 2, resources: 3 } },
    ])
    expect(await call(app, products.get, { token: admin.token, params: { id: sku.product_id } })).toMatchObject({
      sku_count: 1,
      priced_sku_count: 1,
      discount_count: 1,
    })
    expect((await call(app, skus.prices, { token: admin.token, params: { id: sku.id } })).total).toBe(1)
    expect(
      await refused(app, skus.previewPrice, {
        token: admin.token,
        params: { id: sku.id },
        body: { tiers: [{ above: 0, price: '1' }], effective_from: later(-3_600) },
      }),
    ).toMatchObject({ code: 96007 })
    await call(app, discounts.end, { token: admin.token, params: { id: special.id } })
  })

  it('of all kinds reaches those kinds that have no price of their own', async () => {
    const [general, special] = [await makeSku('volume.size'), await makeSku('volume.size', 'fast')]
    const owner = await makeOrganisation(app)
    await use(owner, { 'volume.size/fast': gib })
    await use(owner, { 'volume.size/slow': gib })
    const reached = async (id: string) =>
      (await call(app, skus.previewPrice, { token: admin.token, params: { id }, body: { tiers: [{ above: 0, price: '1' }] } })).resources
    expect([await reached(general.id), await reached(special.id)]).toEqual([2, 1])
    await setPrice(special.id, '5')
    nextSecond()
    expect([await reached(general.id), await reached(special.id)]).toEqual([1, 1])
    const found = async (priced: 'all' | 'some' | 'none') =>
      (await call(app, products.list, { token: admin.token, query: { priced, page_size: 1000 } })).items.map(({ id }) => id)
    expect(await found('all')).toContain(special.product_id)
    expect(await found('none')).toContain(general.product_id)
    expect(await found('some')).not.toContain(special.product_id)
  })
})

describe('use without a price', () => {
  it('is told with how much and how long, and where it can be priced', async () => {
    const owner = await makeOrganisation(app)
    const begin = inSeconds() - 3 * 86_400
    const told = async (days = 7) =>
      (await call(app, unpriced.list, { token: admin.token, query: { days } })).items.find(({ meter }) => meter === 'snapshot.size')
    expect(await told()).toBeUndefined()
    const running = await use(owner, { 'snapshot.size': 2 * gib }, begin)
    await use(owner, {}, begin + 7_200, await use(owner, { 'snapshot.size': gib }, begin))
    // Beyond the days that are asked for only what reaches into them counts.
    expect(await told()).toMatchObject({
      variant: '',
      organisation_count: 1,
      resource_count: 2,
      first_at: new Date(begin * 1000).toISOString(),
      last_at: null,
      sku: null,
    })
    expect((await told())?.unit_hours).toBeCloseTo(2 * 72 + 2, 0)
    expect(await told(2)).toMatchObject({ resource_count: 1 })
    expect((await told(2))?.unit_hours).toBeCloseTo(2 * 48, 0)
    // A SKU alone is no price.
    const sku = await makeSku('snapshot.size')
    expect(await told()).toMatchObject({ last_at: null, sku: { id: sku.id, product: { id: sku.product_id } } })
    // Priced, it is free no more, and what was free stays so.
    await setPrice(sku.id, '1')
    app.clock.advance(60_000)
    const priced = await told()
    expect(priced?.last_at).not.toBeNull()
    expect(priced?.unit_hours).toBeCloseTo(2 * 72 + 2, 0)
    await use(owner, {}, inSeconds(), running)
    expect((await call(app, quotes.ask, { token: tenant.token, body: { period: 'hour', items: [{ meter: 'snapshot.size', quantity: gib }] } })).amount).toBe(
      '1.00',
    )
  })
})

describe('a list of prices', () => {
  const row = (wish: object) => ({ category: 'c', product: 'p', sku: 's', meter: 'eip.address' as const, hour: '0.1', ...wish })
  const bring = (rows: BodyInput<typeof priceLists.import>['rows']) => call(app, priceLists.import, { token: admin.token, body: { rows } })
  const refusal = (rows: BodyInput<typeof priceLists.import>['rows']) => refused(app, priceLists.import, { token: admin.token, body: { rows } })

  it('is made as a whole or not at all', async () => {
    const [category, product] = [name(), name()]
    const priced = await makeSku('vm.gpu', 'taken')
    const rows = [
      row({ category, product, meter: 'vm.gpu', variant: 'H100', hour: '20', month: '9000' }),
      row({ category, product, meter: 'vm.gpu', variant: 'taken' }),
    ]
    expect(await refusal(rows)).toMatchObject({ code: 96003, fields: [{ field: 'rows.1.meter' }] })
    expect((await call(app, categories.list, { token: admin.token, query: { keyword: category } })).total).toBe(0)
    expect(await bring([rows[0] ?? row({}), row({ category, product: name(), meter: 'vm.gpu', variant: 'H200', hour: null, year: '1' })])).toEqual({
      categories: 1,
      products: 2,
      skus: 2,
      prices: 3,
    })
    // At once: who looks after it has been brought in reads no second later again.
    expect((await call(app, products.list, { token: admin.token, query: { keyword: product } })).items).toMatchObject([
      { category: { name: category }, sku_count: 1, priced_sku_count: 1, created_by: admin.name },
    ])
    expect((await ask([{ meter: 'vm.gpu', variant: 'H100', quantity: 2 }], { period: 'month' })).amount).toBe('18000.00')
    // Found by name, in their own category only.
    expect(await bring([row({ category, product, meter: 'vm.gpu', variant: 'L40S' })])).toEqual({ categories: 0, products: 0, skus: 1, prices: 1 })
    expect(await refusal([row({ category: name(), product, meter: 'vm.gpu', variant: 'T4' })])).toMatchObject({
      code: 96002,
      fields: [{ field: 'rows.0.product' }],
    })
    await call(app, skus.delete, { token: admin.token, params: { id: priced.id } })
  })

  it('names each thing once, and gives each a price that can be one', async () => {
    expect((await refusal([row({}), row({ product: 'q' })])).fields).toMatchObject([{ field: 'rows.1.meter' }])
    expect((await refusal([row({ hour: null })])).fields).toMatchObject([{ field: 'rows.0.hour' }])
    expect((await refusal([row({ hour: '-1' })])).fields).toMatchObject([{ field: 'rows.0.hour' }])
    expect((await refusal([])).fields).toMatchObject([{ field: 'rows' }])
  })

  it('brought in twice at once is there once', async () => {
    const rows = [row({ category: name(), product: name() })]
    const ends = await Promise.allSettled([bring(rows), bring(rows), bring(rows)])
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await call(app, products.list, { token: admin.token, query: { keyword: rows[0]?.product ?? '' } })).items).toMatchObject([{ sku_count: 1 }])
    expect(await refusal(rows)).toMatchObject({ code: 96003 })
  })
})
