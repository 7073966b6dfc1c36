import { randomUUID } from 'node:crypto'
import { toMinor } from '@zhisuan/contract/bill/money'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { makeOrganisation } from '../../../testing/people.ts'
import { availableOf, balanceOf, ledger } from './ledger.service.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ DATABASE_POOL_SIZE: '30' })
})
afterAll(() => app.close())

const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => app.platform.db.transaction().execute(work)
const yuan = (text: string) => toMinor(text)
const payment = (owner_id: string, amount: string, key: string = uuidv7()) => ({ owner_id, amount: yuan(amount), key })
const standing = (owner: string) => ledger.standing(app.platform.db, owner)
/** What every account of an owner has. */
const balances = async (owner: string) =>
  Object.fromEntries(Object.entries((await standing(owner)).balances).map(([account, minor]) => [account, Number(minor) / 1e8]))
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Refusal ? error.refusal : error),
  )

describe('spending', () => {
  it('takes funds first, then credit, and is refused beyond', async () => {
    const owner = await makeOrganisation(app)
    await within((tx) => ledger.setCreditLimit(tx, owner, yuan('5')))
    await within((tx) => ledger.topUp(tx, payment(owner, '10')))
    await within((tx) => ledger.pay(tx, payment(owner, '12')))
    expect(await balances(owner)).toEqual({ wallet: 0, credit: -2, revenue: 12, funds: -10 })
    expect(await codeOf(within((tx) => ledger.pay(tx, payment(owner, '3.00000001'))))).toBe('balanceInsufficient')
    await within((tx) => ledger.pay(tx, payment(owner, '3')))
    expect(await balances(owner)).toEqual({ wallet: 0, credit: -5, revenue: 15, funds: -10 })
  })

  it('of usage, which has happened, leaves arrears, and what comes in pays them first', async () => {
    const owner = await makeOrganisation(app)
    await within((tx) => ledger.setCreditLimit(tx, owner, yuan('1')))
    await within((tx) => ledger.chargeUsage(tx, payment(owner, '4')))
    expect(await balances(owner)).toEqual({ credit: -1, receivable: -3, revenue: 4 })
    expect(await codeOf(within((tx) => ledger.pay(tx, payment(owner, '0.01'))))).toBe('balanceInsufficient')
    await within((tx) => ledger.topUp(tx, payment(owner, '3.5')))
    expect(await balances(owner)).toEqual({ credit: -0.5, receivable: 0, revenue: 4, funds: -3.5 })
    // What was charged too much comes back in the same order.
    await within((tx) => ledger.chargeUsage(tx, payment(owner, '-2')))
    expect(await balances(owner)).toEqual({ credit: 0, wallet: 1.5, receivable: 0, revenue: 2, funds: -3.5 })
  })

  it('on credit takes over from arrears what a raised limit has room for', async () => {
    const owner = await makeOrganisation(app)
    const limit = (to: string) => within((tx) => ledger.setCreditLimit(tx, owner, yuan(to)))
    await limit('1')
    await within((tx) => ledger.chargeUsage(tx, payment(owner, '6')))
    expect(await balances(owner)).toEqual({ credit: -1, receivable: -5, revenue: 6 })
    await limit('4')
    expect(await balances(owner)).toEqual({ credit: -4, receivable: -2, revenue: 6 })
    expect(availableOf(await standing(owner))).toBe(0n)
    expect(await codeOf(limit('3.99'))).toBe('creditLimitTooLow')
    await limit('10')
    expect(await balances(owner)).toEqual({ credit: -6, receivable: 0, revenue: 6 })
    expect(availableOf(await standing(owner))).toBe(yuan('4'))
    expect(balanceOf(await standing(owner))).toBe(yuan('-6'))
    // Nothing is owed otherwise any more: more room moves nothing.
    const movements = () => app.platform.db.selectFrom('ledger_transactions').select('kind').where('owner_id', '=', owner).orderBy('id').execute()
    await limit('20')
    expect((await movements()).map(({ kind }) => kind)).toEqual(['usage', 'adjustment', 'adjustment'])
  })

  it('sets aside, and takes or gives back what was set aside, once', async () => {
    const owner = await makeOrganisation(app)
    await within((tx) => ledger.topUp(tx, payment(owner, '10')))
    const [first, second] = [await within((tx) => ledger.hold(tx, payment(owner, '4'))), await within((tx) => ledger.hold(tx, payment(owner, '6')))]
    expect(availableOf(await standing(owner))).toBe(0n)
    const ends = await Promise.all(
      Array.from({ length: 6 }, (_, at) => codeOf(within((tx) => ledger[at % 2 === 0 ? 'capture' : 'release'](tx, { owner_id: owner, hold_id: first })))),
    )
    // The same end again is that end; the other one is refused.
    expect(ends.filter((code) => code === null)).toHaveLength(3)
    expect(ends.filter((code) => code === 'holdEnded')).toHaveLength(3)
    await within((tx) => ledger.release(tx, { owner_id: owner, hold_id: second }))
    const { wallet = 0, held, revenue = 0 } = await balances(owner)
    expect({ held, sum: wallet + revenue }).toEqual({ held: 0, sum: 10 })
    expect([0, 4]).toContain(revenue)
    for (const hold_id of [randomUUID(), second])
      expect(await codeOf(within((tx) => ledger.capture(tx, { owner_id: owner, hold_id })))).toBe(hold_id === second ? 'holdEnded' : 'notFound')
    const other = await makeOrganisation(app)
    expect(await codeOf(within((tx) => ledger.release(tx, { owner_id: other, hold_id: second })))).toBe('notFound')
  })

  it('happens once for each key, however often and together it is asked for', async () => {
    const owner = await makeOrganisation(app)
    await within((tx) => ledger.topUp(tx, payment(owner, '10')))
    const ids = await Promise.all(Array.from({ length: 10 }, () => within((tx) => ledger.pay(tx, payment(owner, '3', 'one')))))
    expect(new Set(ids).size).toBe(1)
    expect(balanceOf(await standing(owner))).toBe(yuan('7'))
    expect(await codeOf(within((tx) => ledger.pay(tx, payment(owner, '4', 'one'))))).toBe('paymentKeyReused')
    expect(await codeOf(within((tx) => ledger.refund(tx, payment(owner, '3', 'one'))))).toBe('paymentKeyReused')
    expect(await codeOf(within((tx) => ledger.refund(tx, payment(owner, '0'))))).toBe('amountZero')
    expect(await codeOf(within((tx) => ledger.refund(tx, payment(randomUUID(), '1'))))).toBe('notFound')
  })
})

describe('fifty who pay at once', () => {
  it('spend nothing twice, nothing below the credit limit, and the ledger adds up to zero at every moment', async () => {
    const owners = await Promise.all(Array.from({ length: 3 }, () => makeOrganisation(app)))
    for (const owner of owners) {
      await within((tx) => ledger.setCreditLimit(tx, owner, yuan('20')))
      await within((tx) => ledger.topUp(tx, payment(owner, '100')))
    }
    const state = { paying: true, moments: 0 }
    const wrong: unknown[] = []
    const watch = (async () => {
      while (state.paying) {
        const { rows } = await sql<{ total: string; off: number; low: number }>`
          select
            (select coalesce(sum(amount), 0) from ledger_entries) as total,
            (select count(*) from ledger_accounts where balance <> (select coalesce(sum(amount), 0) from ledger_entries where ledger_entries.owner_id = ledger_accounts.owner_id and ledger_entries.account = ledger_accounts.account)) as off,
            (select count(*) from ledger_accounts where balance < lowest or balance > highest) as low
        `.execute(app.platform.db)
        state.moments++
        if (rows[0]?.total !== '0' || rows[0].off !== 0 || rows[0].low !== 0) wrong.push(rows[0])
      }
    })()
    // Fifty that each pay 3 of 120: forty can.
    const paid = await Promise.all(
      owners.flatMap((owner) =>
        Array.from({ length: 50 }, async (_, at) => {
          const outcome = await codeOf(
            within(async (tx) => {
              if (at % 3 === 1) return ledger.hold(tx, payment(owner, '3'))
              await ledger.pay(tx, payment(owner, '3'))
              // One that thinks better of it has paid nothing.
              if (at % 10 === 0) throw new Refusal('operationCancelled')
              return null
            }),
          )
          return { owner, outcome }
        }),
      ),
    )
    state.paying = false
    await watch
    expect(wrong).toEqual([])
    expect(state.moments).toBeGreaterThan(0)
    for (const owner of owners) {
      const outcomes = paid.filter((one) => one.owner === owner).map(({ outcome }) => outcome)
      const succeeded = outcomes.filter((outcome) => outcome === null).length
      expect(new Set(outcomes)).toEqual(
        new Set(outcomes.filter((outcome) => outcome === null || outcome === 'balanceInsufficient' || outcome === 'operationCancelled')),
      )
      // Each holds the account to its end, so whoever thinks better of it takes nobody's place.
      expect(succeeded).toBe(40)
      expect(availableOf(await standing(owner))).toBe(yuan('120') - BigInt(succeeded) * yuan('3'))
    }
  })
})

describe('the ledger', () => {
  const entries = (owner_id: string, rows: readonly { account: 'wallet' | 'funds'; amount: string }[], transaction_id = uuidv7()) =>
    within(async (tx) => {
      await tx
        .insertInto('ledger_transactions')
        .values({
          id: transaction_id,
          owner_id,
          kind: 'adjustment',
          key: transaction_id,
          request: '',
          note: '',
          ends: null,
          created_by: null,
          created_by_name: '',
        })
        .execute()
      for (const row of rows)
        await tx
          .insertInto('ledger_entries')
          .values({ transaction_id, owner_id, ...row })
          .execute()
      return transaction_id
    })

  it('takes no movement that does not balance, whoever writes it', async () => {
    const owner = await makeOrganisation(app)
    await expect(
      entries(owner, [
        { account: 'wallet', amount: '100' },
        { account: 'funds', amount: '-99' },
      ]),
    ).rejects.toThrow('does not balance')
    await expect(entries(owner, [])).rejects.toThrow('does not balance')
    await expect(
      entries(owner, [
        { account: 'wallet', amount: '0' },
        { account: 'funds', amount: '0' },
      ]),
    ).rejects.toThrow('amount')
    await expect(
      entries(owner, [
        { account: 'wallet', amount: '-1' },
        { account: 'funds', amount: '1' },
      ]),
    ).rejects.toThrow('ledger_accounts_bounds')
    await expect(
      entries(randomUUID(), [
        { account: 'wallet', amount: '1' },
        { account: 'funds', amount: '-1' },
      ]),
    ).rejects.toThrow('foreign key')
    expect(await balances(owner)).toEqual({})
    const made = await entries(owner, [
      { account: 'wallet', amount: '1' },
      { account: 'funds', amount: '-1' },
    ])
    // Nor more entries of one that ended, balanced or not.
    await expect(
      within((tx) => tx.insertInto('ledger_entries').values({ transaction_id: made, owner_id: owner, account: 'held', amount: '1' }).execute()),
    ).rejects.toThrow()
  })

  it('is never changed, only added to', async () => {
    const { db, database } = { db: app.platform.db, database: app.platform.database }
    const owner = await makeOrganisation(app)
    await within((tx) => ledger.topUp(tx, payment(owner, '5')))
    for (const table of ['ledger_entries', 'ledger_transactions'] as const) {
      await expect(db.deleteFrom(table).where('owner_id', '=', owner).execute()).rejects.toThrow('append-only')
      await expect(database.pool.query(`update ${table} set at = now()`)).rejects.toThrow('append-only')
      await expect(database.pool.query(`truncate ${table} cascade`)).rejects.toThrow('append-only')
    }
    await expect(database.pool.query('update ledger_accounts set balance = balance + 1')).rejects.toThrow('sum of its entries')
  })

  it('keeps every account’s balance the sum of its entries, whatever happens', async () => {
    const step = fc.record({
      what: fc.constantFrom('topUp', 'pay', 'refund', 'hold', 'chargeUsage', 'correct', 'capture', 'release', 'adjust') as fc.Arbitrary<
        'topUp' | 'pay' | 'refund' | 'hold' | 'chargeUsage' | 'correct' | 'capture' | 'release' | 'adjust'
      >,
      amount: fc.bigInt(1n, 10n ** 12n),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.bigInt(0n, 10n ** 11n), async (steps, limit) => {
        const owner = await makeOrganisation(app)
        await within((tx) => ledger.setCreditLimit(tx, owner, limit))
        let expected = 0n
        const holds: { id: string; amount: bigint }[] = []
        for (const { what, amount } of steps) {
          const [asked, hold] = [{ owner_id: owner, amount, key: uuidv7() }, holds[0]]
          const before = await standing(owner)
          const enough = amount <= availableOf(before)
          if (what === 'capture' || what === 'release') {
            if (hold === undefined) continue
            await within((tx) => ledger[what](tx, { owner_id: owner, hold_id: hold.id }))
            holds.shift()
            if (what === 'release') expected += hold.amount
            continue
          }
          const work = within((tx) => (what === 'correct' ? ledger.chargeUsage(tx, { ...asked, amount: -amount }) : ledger[what](tx, asked)))
          if ((what === 'pay' || what === 'hold') && !enough) {
            expect(await codeOf(work)).toBe('balanceInsufficient')
            continue
          }
          const id = await work
          if (what === 'hold') holds.push({ id, amount })
          expected += what === 'pay' || what === 'hold' || what === 'chargeUsage' ? -amount : amount
        }
        expect(balanceOf(await standing(owner))).toBe(expected)
        const { rows } = await sql<{
          off: number
        }>`select count(*) as off from ledger_accounts where balance <> (select coalesce(sum(amount), 0) from ledger_entries where ledger_entries.owner_id = ledger_accounts.owner_id and ledger_entries.account = ledger_accounts.account)`.execute(
          app.platform.db,
        )
        expect(rows[0]?.off).toBe(0)
      }),
      { numRuns: 15 },
    )
  })
})
