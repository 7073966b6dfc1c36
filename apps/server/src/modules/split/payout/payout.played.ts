import { randomUUID } from 'node:crypto'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { splitPayouts } from '@zhisuan/contract/split/payout'
import { splitCases, splitReconciliations, type CaseKind } from '@zhisuan/contract/split/reconciliation'
import { configs } from '@zhisuan/contract/sys/sys'
import { expect, vi } from 'vitest'
import { createClock, testApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { startBank, type Fate } from '../../../testing/payout-bank.ts'
import { signIn, someone } from '../../../testing/people.ts'
import { balancesOf } from '../ledger/movements.ts'
import { boundsOf, dayOf } from '../reconciliation/differences.ts'
import { reconcileJob } from '../reconciliation/reconciliation.service.ts'
import { makeOwed, runJob, setUpChannel } from '../testing.ts'
import { notifyPath } from './channel.service.ts'
import { payoutJob } from './payout.service.ts'

const merchant_id = 'm-1'
const keys = { sign_type: 'HMAC-SHA256' as const, key: 'a common secret of both', gateway_public_key: '' }
const minute = 60_000

/** What becomes of payouts in turn: the same in every run. */
const fates = [
  { ends: 'done' },
  { ends: 'done' },
  { ends: 'done' },
  { later: 'done' },
  { later: 'failed' },
  { ends: 'failed' },
  { ends: 'done', answer: 'silent' },
  { lost: true, ends: 'done' },
  { later: 'done', answer: 'silent' },
  { ends: 'done', comesBack: true },
] as const satisfies readonly (Fate & { later?: 'done' | 'failed'; lost?: boolean; comesBack?: boolean })[]

/**
 * Pays providers through a played bank whose answers are lost, late and doubled, whose payments fail late and come back, until
 * all that is owed is paid; then differences are put into its file of the day.
 */
export async function playPayouts(wish: { readonly providers: number; readonly payouts: number; readonly differences: number }): Promise<void> {
  const clock = createClock()
  const app = await testApp({ DATABASE_POOL_SIZE: '8' }, { clock })
  const bank = await startBank(keys, merchant_id, clock.now)
  try {
    const [keeper, second, admin] = [
      await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null }),
      await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null }),
      await someone(app, { kind: 1 }),
    ]
    await call(app, configs.set, { token: admin.token, body: { key: 'split_payout_approved_above', value: '999999999' } })
    // It counts a day later; and all that follows is of one day, whatever the time is.
    clock.advance(25 * 60 * minute)
    clock.advance(boundsOf(dayOf(clock.now())).to.getTime() + 2 * 60 * minute - clock.now().getTime())
    const day = dayOf(clock.now())
    for (const one of [keeper, second, admin]) Object.assign(one, await signIn(app, one))
    await setUpChannel(app, admin, second, { enabled: true, gateway: bank.url, merchant_id, sign_type: keys.sign_type, key: keys.key })
    const each = Math.floor(wish.payouts / wish.providers)
    const amountOf = (index: number): string => toDecimal(toMinor('1') * BigInt(100 + (index % 37)) + BigInt(index % 100) * 1_000_000n)
    const total = toDecimal(Array.from({ length: each }, (_, index) => toMinor(amountOf(index))).reduce((sum, one) => sum + one, 0n))
    const providers = []
    for (let made = 0; made < wish.providers; made++) providers.push((await makeOwed(app, keeper, second, total)).id)

    // What is asked for anew, since it failed or came back, is paid.
    const first = new Set<string>()
    let anew = false
    /** By the last digit of its amount, so that it is known before the id is. */
    const fateOf = (amount: string): (typeof fates)[number] | undefined => fates[Number(amount.at(-1)) % fates.length]
    bank.fate = ({ amount = '' }, times) => {
      const fate = fateOf(amount)
      if (anew || fate === undefined) return { ends: 'done' }
      if ('lost' in fate && times === 1) return { answer: 'lost' }
      return { ...('ends' in fate && { ends: fate.ends }), ...('answer' in fate && { answer: fate.answer }) }
    }
    const { db } = app.platform
    for (let index = 0; index < wish.payouts; index++) {
      const provider_id = providers[Math.floor(index / each)] ?? providers[0] ?? ''
      const amount = amountOf(index % each)
      const { id } = await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id, amount } })
      first.add(id)
    }
    const turn = () => runJob(app, payoutJob)
    const notify = async (id: string): Promise<number> =>
      (
        await app.http.inject({
          method: 'POST',
          url: notifyPath,
          payload: bank.message(id),
          remoteAddress: `10.0.${bank.asked.length % 250}.${Math.floor(Math.random() * 250)}`,
        })
      ).statusCode
    const open = async (): Promise<number> =>
      (await db.selectFrom('split_payouts').select('id').where('status', 'in', ['asked', 'claimed', 'sent']).execute()).length
    const finish = async (): Promise<void> => {
      await turn()
      for (const [id, payment] of bank.payments) {
        if (payment.status !== 'accepted') continue
        const fate = fateOf(payment.amount)
        bank.end(id, fate !== undefined && 'later' in fate ? fate.later : 'done')
        // Some are told twice, some never: those are asked about.
        for (let told = 0; told < Number(payment.amount.at(-2)) % 3; told++) await notify(id)
      }
      for (let tries = 0; tries < 12 && (await open()) > 0; tries++) {
        clock.advance(2 * minute)
        await turn()
      }
      expect(await open()).toBe(0)
    }
    await vi.waitFor(() => expect(bank.asked.length).toBeGreaterThan(0), 5_000)
    await finish()
    anew = true
    for (const id of first) {
      const fate = fateOf(bank.payments.get(id)?.amount ?? '')
      if (fate === undefined || !('comesBack' in fate)) continue
      bank.end(id, 'returned', '账户已销户')
      for (let told = 0; told < 2; told++) await notify(id)
    }
    // What failed or came back is owed again, and asked for anew.
    for (const provider_id of providers) {
      for (;;) {
        const { payable } = await balancesOf(db, provider_id)
        if (payable < toMinor('1')) break
        const amount = payable > toMinor('10000') ? toMinor('10000') : payable
        await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id, amount: toDecimal(amount) } })
      }
    }
    await finish()

    // Paid is what was owed, and nothing was paid twice.
    for (const provider_id of providers) expect(await balancesOf(db, provider_id)).toEqual({ pending: 0n, payable: 0n, transit: 0n, paid: toMinor(total) })
    const paidThere = [...bank.payments.values()].reduce((sum, { status, amount }) => (status === 'done' ? sum + toMinor(amount) : sum), 0n)
    expect(paidThere).toBe(toMinor(total) * BigInt(wish.providers))
    const keysAsked = bank.asked.filter(({ path }) => path === 'payouts').map(({ message }) => `${message['payout_id']} ${message['amount']}`)
    const ours = await db.selectFrom('split_payouts').select(['id', 'amount', 'status', 'reference']).execute()
    expect(new Set(keysAsked)).toEqual(new Set(ours.map(({ id, amount }) => `${id} ${toDecimal(BigInt(amount))}`)))
    expect(
      [...bank.payments.values()].map(({ payout_id, status, trade_id }) => `${payout_id} ${status} ${status === 'failed' ? '' : trade_id}`).toSorted(),
    ).toEqual(ours.map(({ id, status, reference }) => `${id} ${status} ${status === 'failed' ? '' : reference}`).toSorted())

    // The day is over, and its file says the same.
    clock.advance(24 * 60 * minute)
    for (const one of [keeper, second]) Object.assign(one, await signIn(app, one))
    const cases = async () => {
      const { items } = await call(app, splitCases.list, { token: keeper.token, query: { page_size: 1_000 } })
      return items.map(({ kind, payout_id, reference }) => `${kind} ${payout_id ?? reference}`).toSorted()
    }
    await runJob(app, reconcileJob)
    expect(await cases()).toEqual([])
    const { items: days } = await call(app, splitReconciliations.list, { token: keeper.token, query: {} })
    const lines = [...bank.payments.values()].flatMap(({ payout_id, trade_id, amount, ended }) =>
      ended.map(({ status, at }) => [payout_id, trade_id, amount, status, at.toISOString()] as const),
    )
    expect(days).toMatchObject([{ day, status: 'done', row_count: lines.length, case_count: 0 }])

    // Now one that says something else in so many places.
    const kinds: readonly Exclude<CaseKind, 'stuck'>[] = ['oursOnly', 'theirsOnly', 'amount', 'double', 'returned', 'state']
    const done = ours.filter(({ status }) => status === 'done').slice(0, wish.differences)
    expect(done).toHaveLength(wish.differences)
    const wrong = new Map(done.map(({ id }, index) => [id, kinds[index % kinds.length]] as const))
    const injected: string[] = []
    const file = lines.flatMap(([id, trade_id, amount, status, at]) => {
      const right = [id, trade_id, amount, status, at].join(',')
      const kind = wrong.get(id)
      if (kind === undefined) return [right]
      injected.push(`${kind} ${kind === 'theirsOnly' ? `X-${trade_id}` : id}`)
      switch (kind) {
        case 'oursOnly':
          return []
        case 'theirsOnly':
          return [right, [randomUUID(), `X-${trade_id}`, amount, 'done', at].join(',')]
        case 'amount':
          return [[id, trade_id, toDecimal(toMinor(amount) + 1_000_000n), status, at].join(',')]
        case 'double':
          return [[id, `X-${trade_id}`, amount, status, at].join(','), right]
        case 'returned':
          return [right, [id, trade_id, amount, 'returned', new Date(Date.parse(at) + minute).toISOString()].join(',')]
        case 'state':
          return [[id, trade_id, amount, 'failed', at].join(',')]
      }
    })
    bank.file = (of) => (of === day ? file : [])
    bank.partLines = 400
    for (let times = 0; times < 2; times++) {
      await call(app, splitReconciliations.create, { token: keeper.token, body: { day } })
      await runJob(app, reconcileJob)
      await vi.waitFor(async () =>
        expect((await call(app, splitReconciliations.list, { token: keeper.token, query: {} })).items).toMatchObject([{ status: 'done' }]),
      )
      expect(await cases()).toEqual(injected.toSorted())
    }
  } finally {
    await app.close()
    await bank.close()
  }
}
