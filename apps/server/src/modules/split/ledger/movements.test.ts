import { toMinor } from '@zhisuan/contract/bill/money'
import { splitRuns } from '@zhisuan/contract/split/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { confirmRun, makeProvider, signContract, splitMonth, useMachine, type Somebody } from '../testing.ts'
import { balancesOf, movementMigrations, post, type SplitAccount } from './movements.ts'

describe('movements of splits', () => {
  let app: TestApp
  let keeper: Somebody
  let admin: Somebody
  const yuan = (amount: bigint): number => Number(amount) / 1e8
  const balances = async (providerId: string) =>
    Object.fromEntries(Object.entries(await balancesOf(app.platform.db, providerId)).map(([account, amount]: [string, bigint]) => [account, yuan(amount)]))
  /** Of all parties of a provider's contracts. */
  const sums = async (providerId: string) => {
    const { rows } = await sql<{ account: SplitAccount; party: number | null; yuan: number }>`
      select account, party, sum(amount)::float8 / 1e8 as yuan from split_entries where provider_id = ${providerId} group by 1, 2 having sum(amount) <> 0 order by 1, 2
    `.execute(app.platform.db)
    return rows.map(({ account, party, yuan: of }) => `${account}${party ?? ''} ${of}`)
  }

  beforeAll(async () => {
    app = await testApp()
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    admin = await someone(app, { kind: 1 })
  })
  afterAll(() => app.close())

  it('follow a statement: what is stated waits, what is confirmed is owed, what is noted as paid is paid', async () => {
    const { id, person } = await makeProvider(app, keeper)
    const contract = await signContract(app, keeper, id, '2026-01', [300_000, 600_000, 100_000])
    await useMachine(app, id, '2026-01-10T00:00:00+08:00', '100')
    const run = await splitMonth(app, keeper, contract, '2026-01')
    expect(await sums(id)).toEqual(['consumption -100', 'pending1 60', 'pending2 10', 'platform 30'])
    await confirmRun(app, person, run.id)
    expect(await balances(id)).toEqual({ pending: 0, payable: 60, transit: 0, paid: 0 })
    await call(app, splitRuns.pay, { token: admin.token, params: { id: run.id }, body: { reference: 'B-0001' } })
    expect(await sums(id)).toEqual(['consumption -100', 'paid1 60', 'paid2 10', 'platform 30'])
    // What is split without anything moves nothing.
    await splitMonth(app, keeper, contract, '2026-02')
    expect(await sums(id)).toHaveLength(4)
  })

  it('are 0 together, once each, and never change: the database says so', async () => {
    const { id } = await makeProvider(app, keeper)
    const { db } = app.platform
    const moved = (key: string, amounts: readonly bigint[]) =>
      db.transaction().execute((tx) =>
        post(
          tx,
          { provider_id: id, kind: 'asked', key, run_id: null, note: '', by: '' },
          amounts.map((amount) => ({ account: 'payable', party: 1, amount })),
        ),
      )
    await expect(moved(`asked ${uuidv7()}`, [1n, -2n])).rejects.toThrow('does not balance')
    await expect(moved(`asked ${uuidv7()}`, [1n])).rejects.toThrow('does not balance')
    const key = `asked ${uuidv7()}`
    await moved(key, [toMinor('1'), -toMinor('1')])
    await expect(moved(key, [1n, -1n])).rejects.toThrow('split_movements_key')
    await expect(sql`update split_entries set amount = 1`.execute(db)).rejects.toThrow('append-only')
    await expect(sql`delete from split_movements`.execute(db)).rejects.toThrow('append-only')
    const late = sql`insert into split_entries (movement_id, account, amount) select id, account, amount from split_movements, (values ('payable', 1), ('paid', -1)) as more (account, amount) where key = ${key}`
    await expect(late.execute(db)).rejects.toThrow('is closed')
  })

  it('are made up for what was split before they were kept', async () => {
    const { id, person } = await makeProvider(app, keeper)
    const contract = await signContract(app, keeper, id, '2026-01', [300_000, 600_000, 100_000])
    for (const [month, amount] of [
      ['01', '100'],
      ['02', '10'],
      ['03', '1'],
    ] as const) {
      await useMachine(app, id, `2026-${month}-10T00:00:00+08:00`, amount)
      const run = await splitMonth(app, keeper, contract, `2026-${month}`)
      if (month !== '03') await confirmRun(app, person, run.id)
      if (month === '01') await call(app, splitRuns.pay, { token: admin.token, params: { id: run.id }, body: { reference: 'B-0001' } })
    }
    const before = await sums(id)
    expect(before).toEqual(['consumption -111', 'paid1 60', 'paid2 10', 'payable1 6', 'payable2 1', 'pending1 0.6', 'pending2 0.1', 'platform 33.3'])
    await sql`drop table split_entries, split_movements cascade; drop function split_movement_balances, split_movements_are_append_only`.execute(
      app.platform.db,
    )
    for (const migrate of Object.values(movementMigrations)) await app.platform.db.transaction().execute(migrate)
    expect(await sums(id)).toEqual(before)
  })
})
