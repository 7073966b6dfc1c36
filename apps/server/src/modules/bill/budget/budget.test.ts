import { randomUUID } from 'node:crypto'
import { budgets } from '@zhisuan/contract/bill/budget'
import { categories, products } from '@zhisuan/contract/bill/catalogue'
import { consumes } from '@zhisuan/contract/bill/consume'
import { notices } from '@zhisuan/contract/bill/notice'
import { toMinor } from '@zhisuan/contract/bill/money'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tx } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { ledger } from '../ledger/ledger.service.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

type Who = Person & SignedIn
/** As rating would: so much more in this month, and the ledger told of it. */
async function use(who: Who, amount: string, project: string | null = null): Promise<void> {
  const day = new Date(app.clock.now().getTime() + 8 * 3_600_000).toISOString().slice(0, 10)
  for (const [dimension, key] of [['month', ''], ...(project === null ? [] : [['project', project]])]) {
    await app.platform.database.pool.query(
      `insert into usage_sums as sums (bp_id, month, dimension, key, amount) values ($1, date_trunc('month', $2::date), $3, $4, $5) on conflict (bp_id, month, dimension, key) do update set amount = sums.amount + excluded.amount`,
      [who.bp_id, day, dimension, key, String(toMinor(amount))],
    )
  }
  await app.platform.db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: who.bp_id ?? '', amount: toMinor(amount), key: uuidv7() }))
}
const list = async (who: Who) => (await call(app, budgets.list, { token: who.token })).items
const told = async (who: Who) => (await call(app, notices.list, { token: who.token, query: { kind: 'budget' } })).items.map(({ text }) => text).toReversed()
const create = (
  who: Who,
  body: Partial<{ name: string; amount: string; thresholds: number[]; project_id: string; product_id: string; bp_id: string }> = {},
) => ({ token: who.token, body: { name: `b-${randomUUID()}`, amount: '100', ...body } })

describe('a budget', () => {
  it('tells each threshold once in a month, of several at once the highest', async () => {
    const tenant = await someone(app)
    const made = await call(app, budgets.create, create(tenant, { name: '每月', thresholds: [100, 50, 80] }))
    expect(made).toMatchObject({ amount: '100.00', spent: '0.00', percent: 0, thresholds: [50, 80, 100], reached: [], project: null, product: null })
    await use(tenant, '49.99999999')
    await use(tenant, '0.00000001')
    await expect.poll(() => told(tenant), { interval: 30 }).toEqual([expect.stringContaining('预算“每月”本月已用50.00元，达到预算100.00元的50%')])
    await use(tenant, '60')
    await expect.poll(async () => (await told(tenant)).length, { interval: 30 }).toBe(2)
    expect((await told(tenant))[1]).toContain('达到预算100.00元的100%')
    expect((await list(tenant))[0]).toMatchObject({ spent: '110.00', percent: 110, reached: [{ percent: 50 }, { percent: 80 }, { percent: 100 }] })
    // Another amount is another budget: it is told anew, at once.
    await call(app, budgets.update, { token: tenant.token, params: { id: made.id }, body: { name: '每月', amount: '200', thresholds: [50] } })
    expect((await told(tenant))[2]).toContain('达到预算200.00元的50%')
    expect((await list(tenant))[0]).toMatchObject({ percent: 55, reached: [{ percent: 50 }] })
  })

  it('may be of one project, and counts nothing else', async () => {
    const tenant = await someone(app)
    const { projects } = await call(app, budgets.scopes, { token: tenant.token })
    const project = projects[0]?.id ?? ''
    await call(app, budgets.create, create(tenant, { project_id: project }))
    await use(tenant, '70')
    await use(tenant, '30', project)
    expect(await list(tenant)).toMatchObject([{ spent: '30.00', percent: 30, project: { id: project } }])
  })

  it('of everything counts what was paid in advance, as the month’s overview does, once it is delivered', async () => {
    const [tenant, other] = [await someone(app), await someone(app)]
    const owner_id = tenant.bp_id ?? ''
    const project_id = (await call(app, budgets.scopes, { token: tenant.token })).projects[0]?.id ?? ''
    await call(app, budgets.create, create(tenant, { name: 'all', thresholds: [50] }))
    await call(app, budgets.create, create(tenant, { name: 'part', project_id }))
    const month = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 7)
    const overview = async (who: Who, of = month) => {
      const { total, prepaid } = await call(app, consumes.summary, { token: who.token, query: { month: of } })
      return { total, prepaid }
    }
    const spent = async () => Object.fromEntries((await list(tenant)).map((one) => [one.name, one.spent]))
    const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => app.platform.db.transaction().execute(work)
    const payment = (amount: string) => ({ owner_id, amount: toMinor(amount), key: uuidv7() })
    await within((tx) => ledger.topUp(tx, payment('500')))
    await use(tenant, '10')
    const [delivered, failed, waiting] = [
      await within((tx) => ledger.hold(tx, payment('60'))),
      await within((tx) => ledger.hold(tx, payment('70'))),
      await within((tx) => ledger.hold(tx, payment('80'))),
    ]
    expect(waiting).not.toBe(failed)
    expect(await overview(tenant)).toEqual({ total: '10.00', prepaid: '0.00' })
    await within((tx) => ledger.capture(tx, { owner_id, hold_id: delivered }))
    await within((tx) => ledger.release(tx, { owner_id, hold_id: failed }))
    expect(await overview(tenant)).toEqual({ total: '10.00', prepaid: '60.00' })
    expect(await spent()).toEqual({ all: '70.00', part: '0.00' })
    await expect.poll(() => told(tenant), { interval: 30 }).toEqual([expect.stringContaining('预算“all”本月已用70.00元，达到预算100.00元的50%')])
    await within((tx) => ledger.refund(tx, payment('12.5')))
    expect(await overview(tenant)).toEqual({ total: '10.00', prepaid: '47.50' })
    expect(await spent()).toEqual({ all: '57.50', part: '0.00' })
    expect(await overview(other)).toEqual({ total: '0.00', prepaid: '0.00' })
    expect(await overview(tenant, '2026-01')).toEqual({ total: '0.00', prepaid: '0.00' })
    expect(await overview(await someone(app, { kind: 1 }))).toMatchObject({ prepaid: '47.50' })
    // What the month is expected to come to has it too.
    await call(app, budgets.create, create(tenant, { name: 'later' }))
    await expect.poll(async () => (await list(tenant)).find(({ name }) => name === 'later')?.forecast?.amount, { interval: 30 }).toBe('57.50')
  })

  it('is offered the products of its organisation’s months and budgets, not the whole catalogue', async () => {
    const [tenant, admin] = [await someone(app), await someone(app, { kind: 1 })]
    const category = await call(app, categories.create, { token: admin.token, body: { name: randomUUID().slice(0, 20) } })
    const product = async () =>
      (await call(app, products.create, { token: admin.token, body: { name: randomUUID().slice(0, 20), category_id: category.id } })).id
    const [used, planned] = [await product(), await product()]
    const offered = async (token: string, bp_id?: string) => (await call(app, budgets.scopes, { token, query: { bp_id } })).products.map(({ id }) => id)
    expect(await offered(tenant.token)).toEqual([])
    await app.platform.database.pool.query(`insert into usage_sums (bp_id, month, dimension, key, amount) values ($1, '2026-01-01', 'product', $2, 5)`, [
      tenant.bp_id,
      used,
    ])
    expect(await offered(tenant.token)).toEqual([used])
    expect(await offered(admin.token, tenant.bp_id ?? '')).toEqual([used])
    await call(app, budgets.create, create(tenant, { product_id: planned }))
    expect(new Set(await offered(tenant.token))).toEqual(new Set([used, planned]))
    expect(await offered((await someone(app)).token)).toEqual([])
  })

  it('of another organisation does not exist, and names what is wrong', async () => {
    const [tenant, other, admin, member] = [await someone(app), await someone(app), await someone(app, { kind: 1 }), await someone(app, { kind: 3 })]
    const made = await call(app, budgets.create, create(tenant, { name: 'one' }))
    const body = { name: 'two', amount: '1' }
    expect(await refused(app, budgets.update, { token: other.token, params: { id: made.id }, body })).toMatchObject({ status: 404 })
    expect(await refused(app, budgets.delete, { token: other.token, params: { id: made.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, budgets.create, create(other, { bp_id: tenant.bp_id ?? '' }))).toMatchObject({ status: 404 })
    expect(await refused(app, budgets.create, create(admin))).toMatchObject({ status: 404 })
    expect(await refused(app, budgets.list, { token: other.token, query: { bp_id: tenant.bp_id ?? '' } })).toMatchObject({ status: 404 })
    expect(await refused(app, budgets.create, create(member))).toMatchObject({ code: 3000 })
    expect(await refused(app, budgets.create, create(tenant, { name: 'one' }))).toMatchObject({ code: 96040, fields: [{ field: 'name' }] })
    expect(await refused(app, budgets.create, create(tenant, { product_id: randomUUID() }))).toMatchObject({ code: 96041, fields: [{ field: 'product_id' }] })
    const theirs = (await call(app, budgets.scopes, { token: other.token })).projects[0]?.id ?? ''
    expect(await refused(app, budgets.create, create(tenant, { project_id: theirs }))).toMatchObject({ code: 96041, fields: [{ field: 'project_id' }] })
    for (const amount of ['0', '-1', '0.00', '1.001'])
      expect((await refused(app, budgets.create, create(tenant, { amount }))).fields, amount).toMatchObject([{ field: 'amount' }])
    for (const thresholds of [[], [0], [50, 50], [1.5]])
      expect((await refused(app, budgets.create, create(tenant, { thresholds }))).code, String(thresholds)).toBe(90001)
    expect(await call(app, budgets.create, create(admin, { bp_id: tenant.bp_id ?? '' }))).toMatchObject({ organisation: { id: tenant.bp_id } })
    await call(app, budgets.delete, { token: tenant.token, params: { id: made.id } })
    expect((await list(tenant)).map(({ name }) => name)).not.toContain('one')
  })
})
