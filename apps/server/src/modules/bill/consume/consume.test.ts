import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { consumes } from '@zhisuan/contract/bill/consume'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import pg from 'pg'
import readWorkbook from 'read-excel-file/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createMetering } from '../metering/metering.service.ts'
import { lockResources, recordEvent } from '../metering/metering.store.ts'
import { createRating } from '../rating/rating.service.ts'
import { dayOf } from './months.ts'

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
  for (const [meter, price] of [
    ['vm.vcpu', '0.1'],
    ['vm.memory', '0.05'],
  ] as const) {
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: meter, meter } })
    await call(app, skus.setPrice, {
      token: admin.token,
      params: { id: sku.id },
      body: { period: 'hour', tiers: [{ above: 0, price }], effective_from: new Date(begin).toISOString() },
    })
  }
  // The month is over.
  app.clock.advance(begin - app.clock.now().getTime() + 32 * 24 * hour)
  // People sign in after that: nobody's session lasts so long.
  admin = await someone(app, { kind: 1 })
  tenant = await someone(app)
})
afterAll(() => app.close())

const uses = (bp_id: string | null, resource_id: string, at: number, usage: Record<string, number>) =>
  recordEvent(app.platform.db, {
    id: randomUUID(),
    resource_type: 'nextstack.vm',
    resource_id,
    resource_name: `vm-${resource_id.slice(0, 4)}`,
    bp_id: bp_id ?? '',
    project_id: null,
    at: at / 1000,
    revision: 1,
    usage,
  })
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
    expect(overview).toMatchObject({
      month,
      total: '1.00002778',
      previous_total: '0.00',
      products: [{ id: product.id, name: 'instances', amount: '1.00002778' }],
      projects: [{ id: null, amount: '1.00002778' }],
      resource_count: 2,
    })
    expect(overview.resources.map(({ id, type, amount }) => [id, type, amount])).toEqual([
      [first, 'nextstack.vm', '1.00'],
      [second, 'nextstack.vm', '0.00002778'],
    ])
    expect((await call(app, consumes.monthly, { token: tenant.token })).items).toContainEqual({ month, amount: '1.00002778' })
    expect(overview.days).toEqual([{ day: `${month}-01`, amount: '1.00002778' }])
    expect(overview.products_by_day).toEqual([{ day: `${month}-01`, product_id: product.id, amount: '1.00002778' }])
    const { items } = await call(app, consumes.list, { token: tenant.token, query: { resource_id: first } })
    expect(items).toHaveLength(6)
    expect(items.at(-1)).toMatchObject({
      resource: { id: first, type: 'nextstack.vm' },
      product: { name: 'instances' },
      from: new Date(begin + hour / 2).toISOString(),
      seconds: 1800,
      amount: '0.10',
      formula: { seconds: 1800, fraction: '1.00' },
    })
    expect(items.map(({ meter, amount, formula }) => [meter, amount, formula.parts[0]?.units])).toEqual(
      expect.arrayContaining([
        ['vm.vcpu', '0.20', '2'],
        ['vm.memory', '0.20', '4'],
      ]),
    )
    expect(items[0]).toMatchObject({ price: { effective_from: new Date(begin).toISOString(), effective_to: null }, discount: null })
    expect(await call(app, consumes.list, { token: tenant.token, query: { month } })).toMatchObject({ next: null, amount: '1.00002778' })
    expect(
      (await call(app, consumes.resources, { token: tenant.token, query: { month } })).items.map(({ id, amount, previous_amount }) => [
        id,
        amount,
        previous_amount,
      ]),
    ).toEqual([
      [first, '1.00', '0.00'],
      [second, '0.00002778', '0.00'],
    ])
    expect(await call(app, consumes.resources, { token: tenant.token, query: { month, keyword: `vm-${first.slice(0, 4)}` } })).toMatchObject({
      total: 1,
      items: [{ id: first }],
    })
    const one = await call(app, consumes.resource, { token: tenant.token, params: { id: first }, query: { month } })
    expect(one).toMatchObject({ resource: { id: first, type: 'nextstack.vm' }, total: '1.00', previous_total: '0.00' })
    expect(one.meters.map(({ meter, seconds, amount, hours }) => [meter, seconds, amount, hours.map((each) => each.amount)])).toEqual([
      ['vm.memory', 9000, '0.50', ['0.10', '0.20', '0.20']],
      ['vm.vcpu', 9000, '0.50', ['0.10', '0.20', '0.20']],
    ])
    expect(one.meters[0]?.hours[0]?.from).toBe(new Date(begin).toISOString())
    expect(await call(app, accounts.wallet, { token: tenant.token, params: { id: tenant.bp_id ?? '' } })).toMatchObject({
      arrears: '1.00002778',
      balance: '-1.00002778',
      available: '0.00',
    })
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
    expect(items.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['usage', '-0.50'],
      ['usageCorrection', '16.00'],
      ['usageCorrection', '14.00'],
      ['usage', '-16.00'],
      ['usage', '-24.00'],
    ])
    // Each movement is of a day: of that in which something was used, whenever it was charged.
    const { rows } = await app.platform.database.pool.query<{ used_on: string; amount: string }>(
      `select used_on::text, sum(amount)::text as amount from ledger_transactions as movement join ledger_entries as entry on entry.transaction_id = movement.id
       where movement.owner_id = $1 and account = 'revenue' group by 1 order by 1`,
      [owner],
    )
    expect(rows).toEqual([
      { used_on: dayOf(begin), amount: String(toMinor('10')) },
      { used_on: dayOf(begin + 24 * hour), amount: String(toMinor('0.5')) },
    ])
    await expect(app.platform.database.pool.query('update usage_lines set amount = 0 where bp_id = $1', [owner])).rejects.toThrow('only voided')
  })

  it('of another organisation does not exist', async () => {
    const other = await someone(app)
    const month = monthOf(begin)
    for (const declared of [consumes.summary, consumes.monthly, consumes.list]) {
      expect(await refused(app, declared, { token: other.token, query: { month, bp_id: tenant.bp_id ?? '' } }), declared.id).toMatchObject({ status: 404 })
    }
    expect(await summary(other.token, { month })).toMatchObject({ total: '0.00', days: [], resources: [], resource_count: 0 })
    expect(await call(app, consumes.list, { token: other.token, query: { month } })).toEqual({ items: [], next: null, amount: '0.00' })
    for (const declared of [consumes.export, consumes.exportMonth]) {
      expect(await refused(app, declared, { token: other.token, body: { month, format: 'csv', bp_id: tenant.bp_id } }), declared.id).toMatchObject({
        status: 404,
      })
    }
    for (const declared of [consumes.forecast, consumes.resources]) {
      expect(await refused(app, declared, { token: other.token, query: { month, bp_id: tenant.bp_id ?? '' } }), declared.id).toMatchObject({ status: 404 })
    }
    const [used] = (await call(app, consumes.resources, { token: tenant.token, query: { month } })).items
    expect(await refused(app, consumes.resource, { token: other.token, params: { id: used?.id ?? '' }, query: { month } })).toMatchObject({ status: 404 })
    expect(await refused(app, consumes.resource, { token: admin.token, params: { id: randomUUID() }, query: { month } })).toMatchObject({ status: 404 })
    expect((await summary(admin.token, { month })).resource_count).toBeGreaterThanOrEqual(2)
  })
})

describe('a charge that no cent can tell', () => {
  it('is one amount in wallet, bill and each of its parts, and the parts add up to it', async () => {
    const owner = await someone(app)
    const bp_id = owner.bp_id ?? ''
    const [id, month] = [randomUUID(), monthOf(begin)]
    await call(app, accounts.adjust, { token: admin.token, params: { id: bp_id }, body: { amount: '10', note: 'test' } })
    // 3 hours and 3 minutes of 0.1: 0.305.
    await uses(bp_id, id, begin, { 'vm.vcpu': 1 })
    await uses(bp_id, id, begin + 3.05 * hour, {})
    await rating().run()
    const { token } = owner
    const entries = (await call(app, accounts.entries, { token, params: { id: bp_id }, query: { kind: 'usage', account: 'wallet' } })).items
    const { items: lines } = await call(app, consumes.list, { token, query: { month } })
    const overview = await summary(token, { month })
    const one = await call(app, consumes.resource, { token, params: { id }, query: { month } })
    const charge = '0.305'
    const sum = (amounts: readonly string[]) => toDecimal(amounts.map(toMinor).reduce((a, b) => a + b, 0n))
    expect({
      wallet: sum(entries.map(({ amount }) => amount)),
      left: (await call(app, accounts.wallet, { token, params: { id: bp_id } })).balance,
      month: overview.total,
      products: sum(overview.products.map(({ amount }) => amount)),
      days: sum(overview.days.map(({ amount }) => amount)),
      resource: one.total,
      hours: sum(one.meters.flatMap(({ hours }) => hours.map(({ amount }) => amount))),
      lines: sum(lines.map(({ amount }) => amount)),
    }).toEqual({
      wallet: `-${charge}`,
      left: '9.695',
      month: charge,
      products: charge,
      days: charge,
      resource: charge,
      hours: charge,
      lines: charge,
    })
  })
})

describe('a resource that another organisation has by now', () => {
  it('tells its former owner what it cost them, and nothing of who has it', async () => {
    const [former, present] = [await someone(app), await someone(app)]
    const [id, month] = [randomUUID(), monthOf(begin)]
    await uses(former.bp_id, id, begin, { 'vm.vcpu': 1 })
    await uses(present.bp_id, id, begin + 2 * hour, { 'vm.vcpu': 1 })
    await uses(present.bp_id, id, begin + 5 * hour, {})
    const { cloud_id } = await call(app, clouds.create, {
      token: admin.token,
      body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: { type: 'sandbox' } },
    })
    await app.platform.db
      .insertInto('cloud_usage')
      .values({
        cloud_id,
        id,
        type: 'compute.instance',
        name: 'n',
        keystone_id: null,
        bp_id: present.bp_id ?? '',
        project_id: null,
        usage: {},
        since: new Date(begin),
      })
      .execute()
    await rating().run()
    const asked = (token: string) => call(app, consumes.resource, { token, params: { id }, query: { month } })
    const nameOf = async (bp_id: string | null) =>
      (
        await app.platform.db
          .selectFrom('organisations')
          .select('name')
          .where('id', '=', bp_id ?? '')
          .executeTakeFirstOrThrow()
      ).name
    expect(await asked(former.token)).toMatchObject({
      resource: { id, cloud_id: null },
      organisation: { id: former.bp_id, name: await nameOf(former.bp_id) },
      total: '0.20',
    })
    expect(await asked(present.token)).toMatchObject({ resource: { id, cloud_id }, organisation: { id: present.bp_id }, total: '0.30' })
    expect(await asked(admin.token)).toMatchObject({
      resource: { id, cloud_id },
      organisation: { id: present.bp_id, name: await nameOf(present.bp_id) },
      total: '0.50',
    })
  })
})

describe('lines', () => {
  let owner: string
  let resources: string[]
  beforeAll(async () => {
    owner = await makeOrganisation(app)
    resources = Array.from({ length: 3 }, () => randomUUID())
    for (const resource of resources) {
      await uses(owner, resource, begin, { 'vm.vcpu': 1, 'vm.memory': gib })
      await uses(owner, resource, begin + 30 * hour, {})
    }
    await rating().run()
  })

  it('are read on from the last one seen, each once, the newest first', async () => {
    const seen: number[] = []
    const times: string[] = []
    let after: string | undefined
    do {
      const { items, next } = await call(app, consumes.list, { token: admin.token, query: { bp_id: owner, limit: 50, ...(after !== undefined && { after }) } })
      seen.push(...items.map(({ id }) => id))
      times.push(...items.map(({ from }) => from))
      after = next ?? undefined
    } while (after !== undefined)
    expect(new Set(seen).size).toBe(3 * 2 * 30)
    expect(seen).toHaveLength(3 * 2 * 30)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  it('of all organisations are read together', async () => {
    const all = await call(app, consumes.list, { token: admin.token, query: { limit: 1000 } })
    expect(new Set(all.items.map(({ organisation }) => organisation.id))).toEqual(new Set(await payers()))
    expect(all.items.map(({ from }) => from)).toEqual(
      all.items
        .map(({ from }) => from)
        .toSorted()
        .toReversed(),
    )
    const { next } = await call(app, consumes.list, { token: admin.token, query: { limit: 7 } })
    const rest = await call(app, consumes.list, { token: admin.token, query: { limit: 1000, after: next ?? '' } })
    expect(rest.items[0]).toEqual(all.items[7])
  })

  it('are filtered, with the sum where it is known', async () => {
    const day = `${monthOf(begin)}-02`
    const of = (query: Partial<Record<string, string>>) => call(app, consumes.list, { token: admin.token, query: { bp_id: owner, limit: 1000, ...query } })
    const summed = ({ items }: Awaited<ReturnType<typeof of>>) => items.reduce((sum, { amount }) => sum + toMinor(amount), 0n)
    for (const [query, count] of [
      [{}, 180],
      [{ day }, 36],
      [{ resource_id: resources[0] ?? '' }, 60],
      [{ product_id: product.id }, 180],
      [{ day, product_id: product.id }, 36],
      [{ month: monthOf(begin), project_id: 'none' }, 180],
    ] as const) {
      const answer = await of(query)
      expect(answer.items, JSON.stringify(query)).toHaveLength(count)
      expect(toMinor(answer.amount ?? ''), JSON.stringify(query)).toBe(summed(answer))
    }
    expect(await of({ meter: 'vm.memory' })).toMatchObject({ amount: null, items: { length: 90 } })
    expect(await of({ product_id: randomUUID() })).toEqual({ items: [], next: null, amount: '0.00' })
    expect(await of({ month: monthOf(begin - 40 * 24 * hour) })).toEqual({ items: [], next: null, amount: '0.00' })
    expect(await refused(app, consumes.list, { token: admin.token, query: { after: 'x' } })).toMatchObject({ status: 400 })
    expect(await refused(app, consumes.list, { token: admin.token, query: { day: '0000-01-01' } })).toMatchObject({ fields: [{ field: 'day' }] })
  })

  it.each(['csv', 'xlsx'] as const)('are saved as a file whose amounts add up to the bill, without those of others: %s', async (format) => {
    const { path } = await call(app, consumes.export, { token: admin.token, body: { format, bp_id: owner } })
    const rows = await fileAt(path, format)
    expect(rows).toHaveLength(1 + 180)
    expect(rows[0]?.[0]).toBe('开始时间')
    const amounts = rows.slice(1).map((row) => toMinor(Number(row.at(-1)).toFixed(8)))
    expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(toMinor('13.5'))
    expect(new Set(rows.slice(1).map((row) => row[2])).size).toBe(1)
    expect(rows[1]?.at(-2)).toBe('1 × 0.05 × 3600 ÷ 3600 × 1.00')
    const all = await fileAt((await call(app, consumes.export, { token: admin.token, body: { format, month: monthOf(begin) } })).path, format)
    expect(new Set(all.slice(1).map((row) => row[2])).size).toBe((await payers()).length)
    const own = await fileAt((await call(app, consumes.export, { token: tenant.token, body: { format } })).path, format)
    expect(own).toHaveLength(1 + 7)
  })

  it('of a month are saved as sums', async () => {
    const month = monthOf(begin)
    const rows = await fileAt((await call(app, consumes.exportMonth, { token: admin.token, body: { format: 'xlsx', month, bp_id: owner } })).path, 'xlsx')
    expect(rows.slice(1).map((row) => [row[0], row[2], row.at(-1)])).toEqual([
      ['合计', null, 13.5],
      ['日期', `${month}-01`, 10.8],
      ['日期', `${month}-02`, 2.7],
      ['产品', 'instances', 13.5],
      ['项目', '未归入项目', 13.5],
      ...resources.toSorted().map((id) => ['资源', `vm-${id.slice(0, 4)}`, 4.5]),
    ])
  })

  const payers = async (): Promise<string[]> =>
    (await app.platform.database.pool.query<{ bp_id: string }>('select distinct bp_id from usage_lines where voided_at is null')).rows.map(({ bp_id }) => bp_id)
  const fileAt = async (path: string, format: 'csv' | 'xlsx'): Promise<(string | number | null)[][]> => {
    const { rawPayload, statusCode, headers } = await app.http.inject({ url: path })
    expect([statusCode, headers['content-disposition']]).toEqual([200, expect.stringContaining(`.${format}`)])
    if (format === 'xlsx') return ((await readWorkbook(rawPayload, {}))[0]?.data ?? []) as (string | number | null)[][]
    const text = rawPayload.toString('utf8')
    expect(text.startsWith('\uFEFF')).toBe(true)
    return text
      .slice(1)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','))
  }
})

describe('the forecast', () => {
  it('is what was used and what is used now at the prices to come', async () => {
    const owner = await makeOrganisation(app)
    const at = Math.floor(app.clock.now().getTime() / hour) * hour
    // It began ten hours ago; the last of them may not be rated yet.
    await uses(owner, randomUUID(), at - 10 * hour, { 'vm.vcpu': 10 })
    await rating().run()
    const { month, used, hourly, current, next, rated_until, days, days_known, changes } = await call(app, consumes.forecast, {
      token: admin.token,
      query: { bp_id: owner },
    })
    expect(hourly).toBe('1.00')
    expect(Date.parse(rated_until)).toBeLessThanOrEqual(app.clock.now().getTime())
    const [year = 0, number = 0] = month.split('-').map(Number)
    // In the first hour of a month what is rated is all of the month before.
    const begin = Math.max(Date.parse(rated_until), Date.UTC(year, number - 1) - 8 * hour)
    const ends = [0, 1].map((step) => Date.UTC(year, number + step) - 8 * hour)
    expect(toMinor(current.expected)).toBe(toMinor(used) + toMinor(String(((ends[0] ?? 0) - begin) / hour)))
    expect(next).toEqual({ expected: toDecimal(toMinor(String(((ends[1] ?? 0) - (ends[0] ?? 0)) / hour))), low: null, high: null })
    expect(days.at(-1)).toMatchObject({ amount: '24.00' })
    expect([days_known <= 1, changes]).toEqual([true, []])
    // What is paid in advance is not paid by the hour, and goes on so where it renews itself.
    const prepaid = randomUUID()
    await uses(owner, prepaid, at - 10 * hour, { 'vm.vcpu': 10, 'vm.memory': 4 * gib })
    const { pool } = app.platform.database
    await pool.query(
      `insert into prepaid_spans (order_id, resource_id, "from", "to", usage) values (gen_random_uuid(), $1, to_timestamp($2), to_timestamp($3), '{"vm.vcpu": 8, "vm.memory": 4294967296}')`,
      [prepaid, (at - 10 * hour) / 1000, (at + 24 * hour) / 1000],
    )
    await pool.query(
      `insert into prepaid_resources (resource_id, resource_type, resource_name, bp_id, auto_renew, period, count, renew_at) values ($1, 'nextstack.vm', 'vm', $2, true, 'month', 1, now())`,
      [prepaid, owner],
    )
    await rating().run()
    const both = await call(app, consumes.forecast, { token: admin.token, query: { bp_id: owner } })
    expect([both.hourly, both.days.at(-1)?.amount]).toEqual(['1.20', '28.80'])
    await pool.query('update prepaid_resources set auto_renew = false, renew_at = null where resource_id = $1', [prepaid])
    const ending = await call(app, consumes.forecast, { token: admin.token, query: { bp_id: owner } })
    expect([ending.hourly, ending.days.at(-1)?.amount]).toEqual(['1.20', '52.80'])
    // What was bought in advance is known before its first use is settled.
    const [buyer, fresh] = [await makeOrganisation(app), randomUUID()]
    await uses(buyer, fresh, app.clock.now().getTime() - 2 * hour, { 'vm.vcpu': 1 })
    await app.platform.db.transaction().execute((tx) => lockResources(tx, [fresh]))
    expect(await call(app, consumes.forecast, { token: admin.token, query: { bp_id: buyer } })).toMatchObject({ used: '0.00', hourly: '0.00', days: [] })
    const nobody = await call(app, consumes.forecast, { token: admin.token, query: { bp_id: await makeOrganisation(app) } })
    expect(nobody).toMatchObject({ hourly: '0.00', used: '0.00', current: { expected: '0.00' }, days: [] })
    expect(toMinor((await call(app, consumes.forecast, { token: admin.token })).hourly)).toBeGreaterThanOrEqual(toMinor('1'))
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
        const { rowCount } = await killer.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'zhisuan' and (query ilike '%usage_lines%' or query ilike '%metered_resources%') and state <> 'idle' limit 1`,
        )
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
    const { rows: posted } = await app.platform.database.pool.query<{ revenue: string }>(
      `select balance as revenue from ledger_accounts where owner_id = $1 and account = 'revenue'`,
      [owner],
    )
    expect(posted[0]?.revenue).toBe(rows[0]?.total)
  })
})
