import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { toMinor } from '@zhisuan/contract/bill/money'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { ledger } from '../ledger/ledger.service.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

/** So much more, or less where the amount is below 0. */
const adjust = (owner_id: string, amount: string) =>
  app.platform.db.transaction().execute((tx) => ledger.adjust(tx, { owner_id, amount: toMinor(amount), key: uuidv7() }))

describe('the balance', () => {
  it('of a tenant is that of their organisation, from the start', async () => {
    const tenant = await someone(app, { kind: 3 })
    const id = tenant.bp_id ?? ''
    expect(await call(app, accounts.get, { params: { id }, token: tenant.token })).toEqual({ id, balance: '0.00' })
  })

  it('of the platform’s own people is their own, and opens when they first look', async () => {
    const [admin, another] = [await someone(app, { kind: 1 }), await someone(app, { kind: 0 })]
    expect(await refused(app, accounts.get, { params: { id: admin.id }, token: another.token })).toMatchObject({ status: 404 })
    const answers = await Promise.all([1, 2, 3, 4].map(() => call(app, accounts.get, { params: { id: admin.id }, token: admin.token })))
    expect(new Set(answers.map(({ balance }) => balance))).toEqual(new Set(['0.00']))
    expect(await call(app, accounts.get, { params: { id: admin.id }, token: another.token })).toEqual({ id: admin.id, balance: '0.00' })
  })

  it('of anybody is shown to administrators, of nobody is not', async () => {
    const [admin, tenant] = [await someone(app, { kind: 1 }), await someone(app)]
    expect((await call(app, accounts.get, { params: { id: tenant.bp_id ?? '' }, token: admin.token })).balance).toBe('0.00')
    for (const id of [randomUUID(), tenant.id, 'no-id']) {
      expect(await refused(app, accounts.get, { params: { id }, token: admin.token }), id).toMatchObject({ status: 404, code: 90006 })
    }
  })

  it('of another does not exist for a tenant, nor does one under their own user id', async () => {
    const [one, other, admin] = [await someone(app), await someone(app), await someone(app, { kind: 1 })]
    await call(app, accounts.get, { params: { id: admin.id }, token: admin.token })
    for (const id of [other.bp_id ?? '', admin.id, one.id, randomUUID()]) {
      expect(await refused(app, accounts.get, { params: { id }, token: one.token }), id).toMatchObject({ status: 404, code: 90006 })
    }
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect((await refused(app, accounts.get, { params: { id: nobody.id }, token: nobody.token })).code).toBe(90006)
  })

  it('is the exact sum of the ledger, with at least two decimals', async () => {
    const tenant = await someone(app)
    const id = tenant.bp_id ?? ''
    const balance = async () => (await call(app, accounts.get, { params: { id }, token: tenant.token })).balance
    await adjust(id, '0.1')
    await adjust(id, '0.2')
    expect(await balance()).toBe('0.30')
    await adjust(id, '99999999999999999.99999999')
    expect(await balance()).toBe('100000000000000000.29999999')
    await adjust(id, '-100000000000000000.29999999')
    expect(await balance()).toBe('0.00')
  })

  it('misses none of the movements that happen at once', async () => {
    const tenant = await someone(app)
    const id = tenant.bp_id ?? ''
    await Promise.all(Array.from({ length: 20 }, () => adjust(id, '0.01')))
    expect((await call(app, accounts.get, { params: { id }, token: tenant.token })).balance).toBe('0.20')
  })
})

describe('administrators', () => {
  it('pay money in, once for each key, and never less than nothing', async () => {
    const [admin, tenant] = [await someone(app, { kind: 1 }), await someone(app)]
    const [id, key] = [tenant.bp_id ?? '', randomUUID()]
    const charge = (body: { amount: string; key?: string }) => ({ params: { id }, body, token: admin.token })
    expect(await call(app, accounts.charge, charge({ amount: '12.5', key }))).toMatchObject({
      id,
      balance: '12.50',
      funds: '12.50',
      available: '12.50',
      credit_limit: '0.00',
    })
    expect(await call(app, accounts.charge, charge({ amount: '12.50', key }))).toMatchObject({ funds: '12.50' })
    expect(await refused(app, accounts.charge, charge({ amount: '12.51', key }))).toMatchObject({ status: 409, code: 96010 })
    expect(await refused(app, accounts.charge, charge({ amount: '-0.01' }))).toMatchObject({ status: 400, code: 24014, fields: [{ field: 'amount' }] })
    expect(await refused(app, accounts.charge, charge({ amount: '0.00' }))).toMatchObject({ status: 400, code: 96012 })
    for (const amount of ['', '1.001', '1e3', 'NaN', '1,000', '9999999999999'])
      expect((await refused(app, accounts.charge, charge({ amount }))).fields, amount).toMatchObject([{ field: 'amount' }])
    expect(await refused(app, accounts.charge, { params: { id: randomUUID() }, body: { amount: '1' }, token: admin.token })).toMatchObject({ status: 404 })
    expect(await refused(app, accounts.charge, { params: { id }, body: { amount: '1' }, token: tenant.token })).toMatchObject({ code: 3000 })
    expect(await call(app, accounts.wallet, { params: { id }, token: tenant.token })).toMatchObject({ funds: '12.50' })
  })

  it('correct an account by a movement of its own, with a reason, and take no more than there is', async () => {
    const [admin, tenant] = [await someone(app, { kind: 1 }), await someone(app)]
    const [id, key] = [tenant.bp_id ?? '', randomUUID()]
    const by = (body: { amount: string; note: string; key?: string }) => ({ params: { id }, body, token: admin.token })
    await call(app, accounts.charge, { params: { id }, body: { amount: '10' }, token: admin.token })
    expect(await call(app, accounts.adjust, by({ amount: '-4.5', note: '重复入账', key }))).toMatchObject({ funds: '5.50' })
    expect(await call(app, accounts.adjust, by({ amount: '-4.50', note: '重复入账', key }))).toMatchObject({ funds: '5.50' })
    expect(await refused(app, accounts.adjust, by({ amount: '-4.51', note: '重复入账', key }))).toMatchObject({ status: 409, code: 96010 })
    expect(await refused(app, accounts.adjust, by({ amount: '-5.51', note: '多扣' }))).toMatchObject({ code: 24011 })
    expect(await refused(app, accounts.adjust, by({ amount: '0', note: '无' }))).toMatchObject({ status: 400, code: 96012 })
    expect((await refused(app, accounts.adjust, by({ amount: '1', note: '' }))).fields).toMatchObject([{ field: 'note' }])
    // What comes back pays arrears first.
    await app.platform.db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: id, amount: toMinor('8'), key: uuidv7() }))
    expect(await call(app, accounts.adjust, by({ amount: '3', note: '补偿' }))).toMatchObject({ arrears: '0.00', funds: '0.50' })
    expect((await call(app, accounts.entries, { params: { id }, token: tenant.token })).items[0]).toMatchObject({ kind: 'adjustment', note: '补偿' })
    expect(await refused(app, accounts.adjust, { ...by({ amount: '1', note: '自己' }), token: tenant.token })).toMatchObject({ code: 3000 })
    expect(await refused(app, accounts.adjust, { params: { id: randomUUID() }, body: { amount: '1', note: '无' }, token: admin.token })).toMatchObject({
      status: 404,
    })
  })

  it('see all accounts, and what each is made of', async () => {
    const admin = await someone(app, { kind: 1 })
    const id = await makeOrganisation(app, { name: `richest-${randomUUID()}` })
    await adjust(id, '900000000000000000')
    const { items, total } = await call(app, accounts.list, { query: { sort: '-balance', page_size: 1 }, token: admin.token })
    expect(items).toMatchObject([{ id, balance: '900000000000000000.00' }])
    expect(total).toBeGreaterThan(1)
    expect((await call(app, accounts.list, { query: { keyword: items[0]?.name ?? '' }, token: admin.token })).total).toBe(1)
    await adjust(id, '-900000000000000000')
  })

  it('give credit, and take back none that was used', async () => {
    const [admin, tenant] = [await someone(app, { kind: 1 }), await someone(app)]
    const id = tenant.bp_id ?? ''
    const limit = (credit_limit: string) => ({ params: { id }, body: { credit_limit }, token: admin.token })
    expect(await call(app, accounts.setCreditLimit, limit('100'))).toMatchObject({ credit_limit: '100.00', available: '100.00', balance: '0.00' })
    await adjust(id, '-30')
    expect(await refused(app, accounts.setCreditLimit, limit('29.99'))).toMatchObject({ code: 96009 })
    expect(await refused(app, accounts.setCreditLimit, limit('-1'))).toMatchObject({ code: 96009 })
    expect(await call(app, accounts.setCreditLimit, limit('30'))).toMatchObject({ credit_used: '30.00', available: '0.00', balance: '-30.00' })
    expect(await call(app, accounts.charge, { params: { id }, body: { amount: '50' }, token: admin.token })).toMatchObject({
      credit_used: '0.00',
      funds: '20.00',
    })
  })
})

describe('income and expense', () => {
  it('are told to whom they belong, the newest first', async () => {
    const [admin, tenant, other] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
    const id = tenant.bp_id ?? ''
    await call(app, accounts.charge, { params: { id }, body: { amount: '10', note: '首次充值' }, token: admin.token })
    await app.platform.db.transaction().execute((tx) => ledger.pay(tx, { owner_id: id, amount: toMinor('4'), key: 'order' }))
    const { total, items } = await call(app, accounts.entries, { params: { id }, token: tenant.token })
    expect(total).toBe(2)
    expect(items).toMatchObject([
      { kind: 'order', account: 'wallet', amount: '-4.00', balance_after: '6.00', by: '' },
      { kind: 'topup', account: 'wallet', amount: '10.00', balance_after: '10.00', note: '首次充值', by: admin.name },
    ])
    expect((await call(app, accounts.entries, { params: { id }, query: { kind: 'topup' }, token: tenant.token })).total).toBe(1)
    const movement = { transaction_id: items[0]?.transaction_id ?? '' }
    expect((await call(app, accounts.entries, { params: { id }, query: movement, token: tenant.token })).items).toEqual([items[0]])
    expect((await call(app, accounts.entries, { params: { id: other.bp_id ?? '' }, query: movement, token: other.token })).total).toBe(0)
    expect((await call(app, accounts.entries, { params: { id }, query: { to: items[1]?.at }, token: tenant.token })).total).toBe(0)
    for (const declared of [accounts.entries, accounts.wallet])
      expect(await refused(app, declared, { params: { id }, token: other.token })).toMatchObject({ status: 404 })
  })
})
