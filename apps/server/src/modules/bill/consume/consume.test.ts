import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { consumes } from '@zhisuan/contract/bill/consume'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createMetering } from '../metering/metering.service.ts'
import { recordEvent } from '../metering/metering.store.ts'
import { createRating } from '../rating/rating.service.ts'

const gib = 2 ** 30
const hour = 3_600_000

let app: TestApp
let admin: Person & SignedIn
let tenant: Person & SignedIn
let product: { id: string; name: string }
/** The first moment of a month of Beijing, when the prices begin. */
let begin: number
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  const category = await call(app, categories.create, { token: admin.token, body: { name: 'computing' } })
  product = await call(app, products.create, { token: admin.token, body: { name: 'instances', category_id: category.id } })
  const today = new Date(app.clock.now().getTime() + 8 * hour)
  begin = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1) - 8 * hour
  for (const [meter, price] of [['vm.vcpu', '0.1'], ['vm.memory', '0.05']] as const) {
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: meter, meter } })
    await call(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'hour', tiers: [{ above: 0, price }], effective_from: new Date(begin).toISOString() } })
  }
  // The month is over.
  app.clock.advance(begin - app.clock.now().getTime() + 32 * 24 * hour)
  // People sign in after that: nobody's session lasts so long.
  admin = await someone(app, { kind: 1 })
  tenant = await someone(app)
})
afterAll(() => app.close())

const uses = (bp_id: string | null, resource_id: string, at: number, usage: Record<string, number>) =>
  recordEvent(app.platform.db, { id: randomUUID(), resource_type: 'vm', resource_id, resource_name: `vm-${resource_id.slice(0, 4)}`, bp_id: bp_id ?? '', project_id: null, at: at / 1000, revision: 1, usage })
const rating = () => createRating({ db: app.platform.db, now: app.platform.now, metering: createMetering(app.platform) })
const monthOf = (at: number): string => new Date(at + 8 * hour).toISOString().slice(0, 7)
const summary = (token: string, query: { month: string; bp_id?: string }) => call(app, consumes.summary, { token, query })

describe('consumption', () => {
  it('is told by day, product, project and resource, and to the hour with the formula of each amount', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    await uses(tenant.bp_id, first, begin + hour / 2, { 'vm.vcpu': 2, 'vm.memory': 4 * gib })
    await uses(tenant.bp_id, first, begin + 3 * hour, {})
    await uses(tenant.bp_id, second, begin, { 'vm.vcpu': 1, 'vm.disk': 10 * gib })
    await uses(tenant.bp_id, second, begin + 1000, {})
    await rating().run()
    const month = monthOf(begin)
    const overview = await summary(tenant.token, { month })
    // 2.5 hours of 2 × 0.1 + 4 × 0.05, and a second of 0.1, which is 0.0000277… of an hour.
    expect(overview).toMatchObject({ month, total: '1.00002778', previous_total: '0.00', products: [{ id: product.id, name: 'instances', amount: '1.00002778' }], projects: [{ id: null, amount: '1.00002778' }], resource_count: 2 })
    expect(overview.resources.map(({ id, type, amount }) => [id, type, amount])).toEqual([[first, 'vm', '1.00'], [second, 'vm', '0.00002778']])
    expect((await call(app, consumes.monthly, { token: tenant.token })).items).toContainEqual({ month, amount: '1.00002778' })
    const { items } = await call(app, consumes.list, { token: tenant.token, query: { resource_id: first, sort: 'from', page_size: 100 } })
    expect(items).toHaveLength(6)
    expect(items[0]).toMatchObject({ resource: { id: first, type: 'vm' }, product: { name: 'instances' }, from: new Date(begin + hour / 2).toISOString(), seconds: 1800, amount: '0.10', formula: { seconds: 1800, fraction: '1.00' } })
    expect(items.map(({ meter, amount, formula }) => [meter, amount, formula.parts[0]?.units])).toEqual(expect.arrayContaining([['vm.vcpu', '0.20', '2'], ['vm.memory', '0.20', '4']]))
    expect((await call(app, consumes.list, { token: tenant.token, query: { month } })).total).toBe(7)
    expect(await call(app, accounts.wallet, { token: tenant.token, params: { id: tenant.bp_id ?? '' } })).toMatchObject({ arrears: '1.00002778', balance: '-1.00002778', available: '0.00' })
  })

  it('that is told late is settled to what it would have been, and the ledger with it', async () => {
    const [owner, resource] = [await makeOrganisation(app), randomUUID()]
    const balance = async () => (await call(app, accounts.get, { token: admin.token, params: { id: owner } })).balance
    await uses(owner, resource, begin, { 'vm.vcpu': 10 })
    await uses(owner, resource, begin + 40 * hour, {})
    await rating().run()
    expect(await balance()).toBe('-40.00')
    // Nothing new, nothing happens.
    await rating().run()
    expect(await balance()).toBe('-40.00')
    // It was stopped in between, and nobody had heard.
    await uses(owner, resource, begin + 10 * hour, {})
    await rating().run()
    expect(await balance()).toBe('-10.00')
    expect((await summary(admin.token, { month: monthOf(begin), bp_id: owner })).total).toBe('10.00')
    await uses(owner, resource, begin + 39 * hour, { 'vm.vcpu': 5 })
    await rating().run()
    expect(await balance()).toBe('-10.50')
    const { items } = await call(app, accounts.entries, { token: admin.token, params: { id: owner }, query: { account: 'receivable' } })
    expect(items.map(({ kind, amount }) => [kind, amount])).toEqual([['usage', '-0.50'], ['usageCorrection', '30.00'], ['usage', '-40.00']])
    await expect(app.platform.database.pool.query('update usage_lines set amount = 0 where bp_id = $1', [owner])).rejects.toThrow('only voided')
  })

  it('of another organisation does not exist', async () => {
    const other = await someone(app)
    const month = monthOf(begin)
    for (const declared of [consumes.summary, consumes.monthly, consumes.list]) {
      expect(await refused(app, declared, { token: other.token, query: { month, bp_id: tenant.bp_id ?? '' } }), declared.id).toMatchObject({ status: 404 })
    }
    expect(await summary(other.token, { month })).toMatchObject({ total: '0.00', days: [], resources: [], resource_count: 0 })
    expect((await call(app, consumes.list, { token: other.token, query: { month } })).total).toBe(0)
    expect((await summary(admin.token, { month })).resource_count).toBeGreaterThanOrEqual(2)
  })
})

describe('the rating job', () => {
  it('whose connections are cut off again and again ends at the same bill, beside another', async () => {
    const owner = await makeOrganisation(app)
    const many = Array.from({ length: 60 }, () => randomUUID())
    for (const [index, resource] of many.entries()) {
      await uses(owner, resource, begin + index * 1000, { 'vm.vcpu': 1 + (index % 4) })
      await uses(owner, resource, begin + 100 * hour, {})
    }
    const seconds = many.reduce((sum, _, index) => sum + (360_000 - index) * (1 + (index % 4)), 0)
    const killer = new pg.Client({ connectionString: app.databaseUrl })
    await killer.connect()
    const state = { working: true, cut: 0 }
    const killing = (async () => {
      while (state.working && state.cut < 12) {
        const { rowCount } = await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'zhisuan' and (query ilike '%usage_lines%' or query ilike '%metered_resources%') and state <> 'idle' limit 1`)
        state.cut += rowCount ?? 0
      }
    })()
    const run = async (): Promise<void> => {
      for (;;) {
        try {
          return await rating().run()
        } catch {
          // Whoever was cut off comes back.
        }
      }
    }
    await Promise.all([run(), run()])
    state.working = false
    await killing
    await killer.end()
    await rating().run()
    // Each hour's line is rounded by itself: to the nearest unit, so the sum is within a unit for each.
    const { rows } = await app.platform.database.pool.query<{ total: string; lines: number; twice: number }>(
      `select sum(amount) as total, count(*)::int as lines, (count(*) - count(distinct (resource_id, "from")))::int as twice from usage_lines where bp_id = $1 and voided_at is null`,
      [owner],
    )
    expect(rows[0]).toMatchObject({ lines: 60 * 100, twice: 0 })
    expect(Math.abs(Number(rows[0]?.total) - (seconds * 1e7) / 3600)).toBeLessThan(6_000)
    const { rows: posted } = await app.platform.database.pool.query<{ revenue: string }>(`select balance as revenue from ledger_accounts where owner_id = $1 and account = 'revenue'`, [owner])
    expect(posted[0]?.revenue).toBe(rows[0]?.total)
  })
})
