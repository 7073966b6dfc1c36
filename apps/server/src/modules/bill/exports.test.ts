import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { consumes } from '@zhisuan/contract/bill/consume'
import { orders } from '@zhisuan/contract/bill/order'
import { topups } from '@zhisuan/contract/bill/topup'
import { toMinor } from '@zhisuan/contract/bill/money'
import readWorkbook from 'read-excel-file/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../platform/ids.ts'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'
import { ledger } from './ledger/ledger.service.ts'

type Who = Person & SignedIn

let app: TestApp
let admin: Who
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const idOf = (who: Who): string => who.bp_id ?? ''
const textAt = async (path: string): Promise<string> => {
  const { payload, statusCode, headers } = await app.http.inject({ url: path })
  expect([statusCode, headers['content-disposition']]).toEqual([200, expect.stringContaining('.csv')])
  return payload
}
/** Of files in whose cells nobody wrote commas. */
const linesAt = async (path: string): Promise<string[][]> =>
  (await textAt(path))
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','))
const workbookAt = async (path: string) => (await readWorkbook((await app.http.inject({ url: path })).rawPayload, {}))[0]?.data ?? []

/** Orders a second apart, the first of them at a moment. */
const order = async (bp_id: string, { count, from, name = 'r' }: { count: number; from: number; name?: string }): Promise<void> => {
  await app.platform.database.pool.query(
    `insert into bill_orders (id, bp_id, kind, status, resource_type, resource_id, resource_name, period, count, auto_renew, automatic, quote, usage, amount, expires_at, created_by_name, created_at)
     select gen_random_uuid(), $1, 'purchase', 'delivered', case when index % 3 = 0 then 'nextstack.volume' else 'nextstack.vm' end, gen_random_uuid(), $4 || '-' || lpad(index::text, 5, '0'), 'month', 2, false, false,
       '{"list_amount": "12.50", "amount": "10.00", "lines": []}', '{}', 1000000000, $3, '李四', $3::timestamptz + index * interval '1.0005 seconds'
     from generate_series(1, $2) as index`,
    [bp_id, count, new Date(from), name],
  )
}

describe('orders as a file', () => {
  const hour = 3_600_000
  const columns = { number: 0, organisation: 1, kind: 2, status: 3, resource: 4, type: 5, id: 6, term: 7, amount: 9 } as const

  it('are those that the list shows to whoever asked, filtered as it is', async () => {
    const [tenant, other] = [await someone(app), await someone(app)]
    const from = app.clock.now().getTime() - 5 * hour
    await order(idOf(tenant), { count: 30, from })
    await order(idOf(other), { count: 5, from })
    const saved = async (who: Who, body: object = {}) => linesAt((await call(app, orders.export, { token: who.token, body: { format: 'csv', ...body } })).path)
    const own = await saved(tenant)
    expect(own.map((row) => row[columns.resource])).toEqual(Array.from({ length: 30 }, (_, index) => `r-${String(index + 1).padStart(5, '0')}`))
    expect(own[2]).toMatchObject({
      [columns.kind]: '新购',
      [columns.status]: '已交付',
      [columns.type]: '云硬盘',
      [columns.term]: '2 个月',
      [columns.amount]: '10.00',
    })
    expect((await saved(tenant, { resource_type: 'nextstack.volume' })).length).toBe(10)
    expect((await saved(tenant, { keyword: 'r-0001' })).length).toBe(10)
    expect((await saved(tenant, { keyword: own[0]?.[columns.number], status: 'delivered', kind: 'purchase' })).length).toBe(1)
    expect(await saved(tenant, { status: 'unpaid' })).toEqual([])
    expect(await saved(tenant, { bp_id: idOf(other) })).toEqual([])
    expect((await saved(admin, { bp_id: idOf(other) })).length).toBe(5)
    expect((await saved(admin)).length).toBe(35)
    expect(await refused(app, orders.export, { token: tenant.token, body: { format: 'csv', status: 'gone' } })).toMatchObject({
      status: 400,
      fields: [{ field: 'status' }],
    })
    const [heading, first] = await workbookAt((await call(app, orders.export, { token: tenant.token, body: { format: 'xlsx' } })).path)
    expect(heading?.slice(0, 3)).toEqual(['订单号', '组织', '类型'])
    expect([first?.[columns.resource], first?.[columns.amount]]).toEqual(['r-00001', 10])
  })

  it('are asked for with as many filters as there are, however long', async () => {
    for (const keyword of ['字', '"'].map((text) => text.repeat(128))) {
      const [bp_id, resource_id] = [randomUUID(), randomUUID()]
      const { path } = await call(app, orders.export, {
        token: admin.token,
        body: { format: 'csv', keyword, status: 'cancelled', kind: 'conversion', resource_type: 'nextstack.volume', bp_id, resource_id },
      })
      expect(await linesAt(path)).toEqual([])
      const lines = await call(app, consumes.export, {
        token: admin.token,
        body: { format: 'xlsx', bp_id, month: '2026-11', day: '2026-11-01', resource_id, product_id: bp_id, project_id: bp_id, meter: 'eip.bandwidth' },
      })
      expect((await app.http.inject({ url: lines.path })).statusCode).toBe(200)
    }
  })

  it('of any number come each once and in order, whatever is ordered meanwhile', async () => {
    const tenant = await someone(app)
    const from = app.clock.now().getTime() - 48 * hour
    const count = 10_500
    await order(idOf(tenant), { count, from })
    const { path } = await call(app, orders.export, { token: tenant.token, body: { format: 'csv' } })
    const state = { reading: true, meanwhile: 0 }
    const ordering = (async () => {
      // Both before what was read and behind it.
      for (; state.reading; state.meanwhile++) {
        await order(idOf(tenant), { count: 1, from: from - hour, name: 'early' })
        await order(idOf(tenant), { count: 1, from: from + 24 * hour + state.meanwhile, name: 'late' })
      }
    })()
    const rows = await linesAt(path)
    state.reading = false
    await ordering
    expect(state.meanwhile).toBeGreaterThan(0)
    const names = rows.map((row) => row[columns.resource] ?? '')
    expect(names.filter((name) => name.startsWith('r-'))).toEqual(Array.from({ length: count }, (_, index) => `r-${String(index + 1).padStart(5, '0')}`))
    expect(new Set(rows.map((row) => row[columns.id])).size).toBe(rows.length)
  })
})

describe('income and expense as a file', () => {
  const charge = (who: Who, amount: string, note: string) =>
    call(app, accounts.charge, { token: admin.token, params: { id: idOf(who) }, body: { amount, note } })
  const link = (who: Who, of: Who, body: object = {}) =>
    call(app, accounts.exportEntries, { token: who.token, params: { id: idOf(of) }, body: { format: 'csv', ...body } })

  it('is the account’s, filtered as the list is, and another’s does not exist', async () => {
    const [tenant, other] = [await someone(app), await someone(app)]
    await charge(tenant, '10', '首次充值')
    await app.platform.db.transaction().execute((tx) => ledger.pay(tx, { owner_id: idOf(tenant), amount: toMinor('4.00000001'), key: 'order' }))
    await charge(other, '7', '')
    const entry = (kind: string, amount: string, after: string, note: string, by: string) => [
      expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      kind,
      '可用资金',
      amount,
      after,
      note,
      by,
      expect.any(String),
    ]
    const [paidIn, spent] = [entry('充值', '10.00', '10.00', '首次充值', admin.name), entry('订单支付', '-4.00000001', '5.99999999', '', '平台')]
    expect(await linesAt((await link(tenant, tenant)).path)).toEqual([paidIn, spent])
    expect(await linesAt((await link(admin, tenant, { kind: 'order' })).path)).toEqual([spent])
    expect(await linesAt((await link(tenant, tenant, { account: 'credit' })).path)).toEqual([])
    const { items } = await call(app, accounts.entries, { token: tenant.token, params: { id: idOf(tenant) } })
    expect(await linesAt((await link(tenant, tenant, { to: items[0]?.at })).path)).toEqual([paidIn])
    expect(await refused(app, accounts.exportEntries, { token: other.token, params: { id: idOf(tenant) }, body: { format: 'csv' } })).toMatchObject({
      status: 404,
    })
    expect(await refused(app, accounts.exportEntries, { token: admin.token, params: { id: randomUUID() }, body: { format: 'csv' } })).toMatchObject({
      status: 404,
    })
    expect(await workbookAt((await link(tenant, tenant, { format: 'xlsx' })).path)).toMatchObject([{ 0: '时间' }, { 3: 10 }, { 3: -4.00000001 }])
  })

  it('has no formula in a cell, whatever people wrote', async () => {
    const tenant = await someone(app)
    const notes = ['=HYPERLINK("https://example.com","点击")', '+1', '-2', '@SUM(A1)', '正常, "引号"']
    for (const note of notes) await charge(tenant, '1', note)
    const text = await textAt((await link(tenant, tenant)).path)
    for (const cell of [`"'=HYPERLINK(""https://example.com"",""点击"")"`, `,'+1,`, `,'-2,`, `,'@SUM(A1),`, `,"正常, ""引号""",`]) expect(text).toContain(cell)
    expect(text).not.toMatch(/(^|,|")[=+@]/m)
    // In a workbook what a cell is stands beside it: text is never computed.
    expect((await workbookAt((await link(tenant, tenant, { format: 'xlsx' })).path)).slice(1).map((row) => row[5])).toEqual(notes)
  })

  it('comes each once and in order, whatever is booked meanwhile', async () => {
    const tenant = await someone(app)
    const book = (count: number) =>
      app.platform.db.transaction().execute(async (tx) => {
        for (let left = count; left > 0; left--) await ledger.adjust(tx, { owner_id: idOf(tenant), amount: 1n, key: uuidv7() })
      })
    await book(1_200)
    const { path } = await link(tenant, tenant)
    const [rows] = await Promise.all([linesAt(path), book(20)])
    expect(rows.length).toBeGreaterThanOrEqual(1_200)
    // Each entry tells the balance after it.
    expect(rows.map((row) => toMinor(row[4] ?? ''))).toEqual(rows.map((_, index) => BigInt(index + 1)))
  })
})

describe('top-ups as a file', () => {
  it('are those that the list shows to whoever asked, filtered as it is', async () => {
    const [tenant, other] = [await someone(app), await someone(app)]
    for (const [who, amount] of [
      [tenant, '10'],
      [tenant, '20.5'],
      [other, '7'],
    ] as const)
      await call(app, accounts.charge, { token: admin.token, params: { id: idOf(who) }, body: { amount, note: `充值 ${amount}` } })
    const saved = async (who: Who, body: object = {}) => linesAt((await call(app, topups.export, { token: who.token, body: { format: 'csv', ...body } })).path)
    expect((await saved(tenant)).map((row) => [row[2], row[4], row[5], row[6], row[9]])).toEqual([
      ['管理员充值', '已到账', '10.00', '10.00', '充值 10'],
      ['管理员充值', '已到账', '20.50', '20.50', '充值 20.5'],
    ])
    expect(await saved(tenant, { keyword: '20.5' })).toHaveLength(1)
    expect(await saved(tenant, { method: 'online' })).toEqual([])
    expect(await saved(tenant, { owner_id: idOf(other) })).toEqual([])
    expect(await saved(admin, { owner_id: idOf(other) })).toHaveLength(1)
  })
})
