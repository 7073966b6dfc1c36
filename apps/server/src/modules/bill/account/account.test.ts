import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

/** Moves money from one account to another, as balanced as it is told to be. */
const move = (from: string, to: string, amount: string, back = `-${amount}`) =>
  app.platform.db.transaction().execute(async (tx) => {
    const movement_id = uuidv7()
    await tx.insertInto('ledger_entries').values({ id: uuidv7(), movement_id, owner_id: from, amount: back }).execute()
    await tx.insertInto('ledger_entries').values({ id: uuidv7(), movement_id, owner_id: to, amount }).execute()
  })

describe('the balance', () => {
  it('of a tenant is that of his organisation, from the start', async () => {
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

  it('of another does not exist for a tenant, nor does one under his own user id', async () => {
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
    const [bank, id] = [await makeOrganisation(app), tenant.bp_id ?? '']
    const balance = async () => (await call(app, accounts.get, { params: { id }, token: tenant.token })).balance
    await move(bank, id, '0.1')
    await move(bank, id, '0.2')
    expect(await balance()).toBe('0.30')
    await move(bank, id, '99999999999999999.9999')
    expect(await balance()).toBe('100000000000000000.2999')
    await move(id, bank, '100000000000000001')
    expect(await balance()).toBe('-0.7001')
    await move(bank, id, '0.7001')
    expect(await balance()).toBe('0.00')
  })

  it('misses none of the movements that happen at once', async () => {
    const tenant = await someone(app)
    const [bank, id] = [await makeOrganisation(app), tenant.bp_id ?? '']
    await Promise.all(Array.from({ length: 20 }, () => move(bank, id, '0.01')))
    expect((await call(app, accounts.get, { params: { id }, token: tenant.token })).balance).toBe('0.20')
    const { rows } = await app.platform.database.pool.query<{ off: number }>(
      'select count(*)::int as off from accounts where balance <> (select coalesce(sum(amount), 0) from ledger_entries where ledger_entries.owner_id = accounts.owner_id)',
    )
    expect(rows[0]?.off).toBe(0)
  })
})

describe('the ledger', () => {
  it('takes no movement that does not balance', async () => {
    const [from, to] = [await makeOrganisation(app), await makeOrganisation(app)]
    await expect(move(from, to, '1.00', '-0.99')).rejects.toThrow('does not balance')
    await expect(move(from, to, '0')).rejects.toThrow('amount')
    await expect(move(from, randomUUID(), '1.00')).rejects.toThrow('foreign key')
    expect((await app.platform.db.selectFrom('accounts').select('balance').where('owner_id', 'in', [from, to]).execute()).map(({ balance }) => balance)).toEqual(['0.0000', '0.0000'])
  })

  it('is never changed, only added to', async () => {
    const { db } = app.platform
    const [from, to] = [await makeOrganisation(app), await makeOrganisation(app)]
    await move(from, to, '5')
    await expect(db.updateTable('ledger_entries').set({ amount: '6' }).where('owner_id', '=', to).execute()).rejects.toThrow('append-only')
    await expect(db.deleteFrom('ledger_entries').where('owner_id', '=', to).execute()).rejects.toThrow('append-only')
    await expect(app.platform.database.pool.query('truncate ledger_entries')).rejects.toThrow('append-only')
  })
})
