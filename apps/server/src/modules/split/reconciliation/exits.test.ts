import { toMinor } from '@zhisuan/contract/bill/money'
import { splitRuns } from '@zhisuan/contract/split/contract'
import { splitPayouts } from '@zhisuan/contract/split/payout'
import { splitCases, type CaseKind, type SplitCase } from '@zhisuan/contract/split/reconciliation'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { startBank, type BankPayment, type Fate, type TestBank } from '../../../testing/payout-bank.ts'
import { signIn, someone } from '../../../testing/people.ts'
import { payoutJob, stuckMs } from '../payout/payout.service.ts'
import { makeOwed, runJob, setUpChannel, waitingJobs, type Somebody } from '../testing.ts'
import { boundsOf, dayOf } from './differences.ts'
import { effectsOf } from './exits.ts'
import { reconcileJob } from './reconciliation.service.ts'

const merchant_id = 'm-1'
const keys = { sign_type: 'HMAC-SHA256' as const, key: 'a common secret of both', gateway_public_key: '' }

describe('an exit', () => {
  const yuan = (text: string | null) => (text === null ? null : toMinor(text))
  const side = (text: string | null) => {
    const [amount = '', status = ''] = text?.split(' ') ?? []
    return text === null ? null : { amount: yuan(amount) ?? 0n, status }
  }
  it.each<[string, CaseKind, string | null, string | null, string | null]>([
    ['ours failed, theirs is done', 'state', '10 failed', '10 done', 'writtenOff paid 10 difference -10 | wasPaid→done payable -10 paid 10'],
    ['ours goes on, theirs is done', 'state', '10 sent', '10 done', 'writtenOff paid 10 difference -10 | wasPaid→done transit -10 paid 10'],
    ['ours is done, theirs failed', 'state', '10 done', '10 failed', 'writtenOff paid -10 difference 10 | wasNotPaid→failed paid -10 payable 10'],
    ['ours goes on, theirs paid more', 'amount', '10 sent', '12 done', 'writtenOff paid 12 difference -12 | wasPaid→done transit -10 payable -2 paid 12'],
    ['ours is done, theirs paid less', 'amount', '10 done', '9 done', 'writtenOff paid -1 difference 1 | wasPaid→done paid -1 payable 1'],
    ['less came back', 'amount', '10 done', '9 returned', 'writtenOff paid -10 difference 10 | wasNotPaid→returned paid -10 payable 10 paid 1 difference -1'],
    ['it came back', 'returned', '10 done', '10 returned', 'writtenOff paid -10 difference 10 | wasNotPaid→returned paid -10 payable 10'],
    ['theirs has none of it', 'oursOnly', '10 done', null, 'writtenOff paid -10 difference 10 | wasNotPaid→failed paid -10 payable 10'],
    ['paid twice', 'double', '10 done', '10 done', 'writtenOff paid 10 difference -10'],
    ['none of ours', 'theirsOnly', null, '10 done', 'writtenOff paid 10 difference -10'],
    ['it never ended', 'stuck', '10 sent', null, 'wasNotPaid→failed transit -10 payable 10'],
  ])('where %s', (_, kind, ours, theirs, possible) => {
    const payout = side(ours)
    const effects = effectsOf(
      { kind, reference: 'T-1', ours: payout, theirs: side(theirs) },
      payout === null ? undefined : { amount: String(payout.amount), status: payout.status as 'sent', reference: '' },
    )
    // What stays as it is may always.
    expect(effects[0]).toEqual({ exit: 'accepted', entries: [], payout: null })
    for (const { entries } of effects) expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
    const texts = effects
      .slice(1)
      .map(({ exit, entries, payout: becomes }) =>
        [`${exit}${becomes === null ? '' : `→${becomes.status}`}`, ...entries.map(({ account, amount }) => `${account} ${Number(amount) / 1e8}`)].join(' '),
      )
    expect(texts.join(' | ')).toBe(possible)
  })
})

describe('what two people agree on', () => {
  let app: TestApp
  let bank: TestBank
  let keeper: Somebody
  let second: Somebody
  const clock = createClock()
  const at = (who: Somebody, id: string) => ({ token: who.token, params: { id } })
  const get = (id: string) => call(app, splitPayouts.get, at(keeper, id))
  const turn = async (): Promise<void> => {
    await vi.waitFor(async () => expect(await waitingJobs(app, payoutJob)).toBe(0))
    await runJob(app, payoutJob)
  }
  const caseOf = async (payoutId: string): Promise<SplitCase> => {
    const { items } = await call(app, splitCases.list, { token: keeper.token, query: { page_size: 100 } })
    const one = items.find(({ payout_id }) => payout_id === payoutId)
    if (one === undefined) throw new Error(`no case of ${payoutId}`)
    return one
  }
  const propose = (id: string, exit: 'wasPaid' | 'wasNotPaid') => ({ ...at(keeper, id), body: { exit, reason: '已与银行核实' } })
  const agree = async (id: string, exit: 'wasPaid' | 'wasNotPaid'): Promise<SplitCase> => {
    await call(app, splitCases.propose, propose(id, exit))
    return call(app, splitCases.decide, { ...at(second, id), body: { agree: true, password: second.password } })
  }
  /** A provider that is owed 100, of which 10 are asked for. */
  const asks = async (fate: Fate, amount = '10') => {
    bank.fate = () => fate
    const provider = await makeOwed(app, keeper, second, '100')
    const payout = await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id: provider.id, amount } })
    // Until the bank has decided over it, so that nobody else's fate is its.
    await vi.waitFor(async () => {
      expect(bank.asked.some(({ message }) => message['payout_id'] === payout.id)).toBe(true)
      expect((await get(payout.id)).status).toBe(fate.answer === 'lost' ? 'claimed' : (fate.ends ?? 'sent'))
    })
    const balances = async () => {
      const { payable, transit, paid } = await call(app, splitPayouts.balance, at(keeper, provider.id))
      return { payable, transit, paid }
    }
    const run = async () => (await call(app, splitRuns.get, at(keeper, provider.runs[0] ?? ''))).status
    return { id: payout.id, balances, run }
  }
  /** As the bank has it by now, whatever it said. */
  const otherwise = (id: string, changes: Partial<BankPayment>, ended: 'done' | 'failed'): void => {
    const payment = bank.payments.get(id)
    if (payment === undefined) throw new Error(`the bank knows no ${id}`)
    const now = clock.now()
    Object.assign(payment, { status: ended, at: now, ...changes })
    payment.ended.splice(0, Infinity, { status: ended, at: now })
  }
  let failed: Awaited<ReturnType<typeof asks>>
  let done: Awaited<ReturnType<typeof asks>>
  let more: Awaited<ReturnType<typeof asks>>
  let less: Awaited<ReturnType<typeof asks>>
  let late: Awaited<ReturnType<typeof asks>>
  let lost: Awaited<ReturnType<typeof asks>>
  let held: Awaited<ReturnType<typeof asks>>
  const signInAgain = async (): Promise<void> => {
    for (const who of [keeper, second]) Object.assign(who, await signIn(app, who))
  }

  beforeAll(async () => {
    app = await testApp({}, { clock })
    bank = await startBank(keys, merchant_id, clock.now)
    // So that all of it is of one day, whatever the time is.
    clock.advance(boundsOf(dayOf(clock.now())).to.getTime() + 2 * 3_600_000 - clock.now().getTime())
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    second = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    const admin = await someone(app, { kind: 1 })
    await setUpChannel(app, admin, second, { enabled: true, gateway: bank.url, merchant_id, sign_type: keys.sign_type, key: keys.key })
    failed = await asks({ ends: 'failed' })
    done = await asks({ ends: 'done' }, '100')
    more = await asks({}, '100')
    less = await asks({ ends: 'done' }, '100')
    late = await asks({})
    lost = await asks({ answer: 'lost' })
    held = await asks({})
    await turn()
    otherwise(failed.id, {}, 'done')
    otherwise(done.id, { reason: '收款行退票' }, 'failed')
    otherwise(more.id, { amount: '112.00' }, 'done')
    otherwise(less.id, { amount: '95.00' }, 'done')
    clock.advance(24 * 3_600_000)
    await signInAgain()
    await runJob(app, reconcileJob)
  })
  afterAll(async () => {
    await app.close()
    await bank.close()
  })

  it('says a failed payout was paid: it is owed no more', async () => {
    expect(await failed.balances()).toEqual({ payable: '100.00', transit: '0.00', paid: '0.00' })
    const one = await caseOf(failed.id)
    expect(one).toMatchObject({ kind: 'state', ours: { status: 'failed' }, theirs: { status: 'done' } })
    expect(one.exits.find(({ exit }) => exit === 'wasPaid')).toEqual({
      exit: 'wasPaid',
      status: 'done',
      moves: [
        { account: 'payable', amount: '-10.00' },
        { account: 'paid', amount: '10.00' },
      ],
    })
    expect(await refused(app, splitCases.propose, propose(one.id, 'wasNotPaid'))).toMatchObject({ code: 98221 })
    await call(app, splitCases.propose, propose(one.id, 'wasPaid'))
    expect(await refused(app, splitCases.decide, { ...at(keeper, one.id), body: { agree: true, password: keeper.password } })).toMatchObject({ code: 98209 })
    const outcomes = await Promise.all(
      [1, 2].map(() =>
        call(app, splitCases.decide, { ...at(second, one.id), body: { agree: true, password: second.password } }).then(
          () => 'closed',
          () => 'refused',
        ),
      ),
    )
    expect(outcomes.toSorted()).toEqual(['closed', 'refused'])
    expect(await failed.balances()).toEqual({ payable: '90.00', transit: '0.00', paid: '10.00' })
    expect(await get(failed.id)).toMatchObject({ status: 'done', reference: bank.payments.get(failed.id)?.trade_id })
  })

  it('says a paid payout was not: it is owed again, and so is its statement', async () => {
    expect([await done.run(), await done.balances()]).toEqual(['paid', { payable: '0.00', transit: '0.00', paid: '100.00' }])
    const { id } = await caseOf(done.id)
    // The channel cannot take back by an answer what it said before.
    expect(await refused(app, splitCases.ask, at(keeper, id))).toMatchObject({ code: 98217 })
    expect(await agree(id, 'wasNotPaid')).toMatchObject({ status: 'closed', exit: 'wasNotPaid', exits: [] })
    expect([await done.run(), await done.balances()]).toEqual(['confirmed', { payable: '100.00', transit: '0.00', paid: '0.00' }])
    expect(await get(done.id)).toMatchObject({ status: 'failed', done_at: null, reason: '已与银行核实' })
  })

  it('takes another amount for what it is', async () => {
    expect(await more.balances()).toEqual({ payable: '0.00', transit: '100.00', paid: '0.00' })
    expect(await agree((await caseOf(more.id)).id, 'wasPaid')).toMatchObject({ kind: 'amount', status: 'closed' })
    // What was paid too much is set off against what is owed later.
    expect([await more.run(), await more.balances()]).toEqual(['paid', { payable: '-12.00', transit: '0.00', paid: '112.00' }])
    expect((await get(more.id)).amount).toBe('112.00')
    expect(await agree((await caseOf(less.id)).id, 'wasPaid')).toMatchObject({ kind: 'amount', status: 'closed' })
    expect([await less.run(), await less.balances()]).toEqual(['confirmed', { payable: '5.00', transit: '0.00', paid: '95.00' }])
    expect((await get(less.id)).runs.map(({ amount }) => amount)).toEqual(['95.00'])
  })

  it('leaves nothing to say when the file is read again', async () => {
    const before = (await call(app, splitCases.list, { token: keeper.token, query: {} })).total
    await runJob(app, reconcileJob)
    expect((await call(app, splitCases.list, { token: keeper.token, query: {} })).total).toBe(before)
  })

  it('is asked for where a payout ends into a day that was compared already', async () => {
    const day = new Date(clock.now().getTime() - 24 * 3_600_000)
    const payment = bank.payments.get(late.id)
    // Of a time at which it cannot have ended nothing is believed.
    for (const wrong of ['2020-01-01T10:00:00+08:00', '2099-01-01T10:00:00+08:00']) {
      Object.assign(payment ?? {}, { status: 'done', at: new Date(wrong) })
      expect(await refused(app, splitPayouts.query, at(keeper, late.id))).toMatchObject({ code: 98216 })
      expect((await get(late.id)).status).toBe('sent')
    }
    Object.assign(payment ?? {}, { status: 'done', at: day })
    await call(app, splitPayouts.query, at(keeper, late.id))
    expect((await get(late.id)).status).toBe('done')
    await runJob(app, reconcileJob)
    expect(await caseOf(late.id)).toMatchObject({ kind: 'oursOnly', day: dayOf(day) })
  })

  it('ends what the channel never heard of, after days, and nothing that it has', async () => {
    clock.advance(stuckMs)
    await signInAgain()
    const sent = bank.asked.filter(({ path }) => path === 'payouts').length
    await turn()
    // It is sent no more: nothing is on its way while people decide.
    expect(bank.asked.filter(({ path }) => path === 'payouts')).toHaveLength(sent)
    await runJob(app, reconcileJob)
    const [never, has] = [await caseOf(lost.id), await caseOf(held.id)]
    expect([never.kind, has.kind]).toEqual(['stuck', 'stuck'])
    expect(await refused(app, splitCases.propose, propose(has.id, 'wasNotPaid'))).toMatchObject({ code: 98223 })
    await call(app, splitCases.propose, propose(never.id, 'wasNotPaid'))
    // Before the second person agrees, it takes it after all.
    const take = bank.take(lost.id, '10.00')
    expect(await refused(app, splitCases.decide, { ...at(second, never.id), body: { agree: true, password: second.password } })).toMatchObject({ code: 98223 })
    bank.payments.delete(take.payout_id)
    await call(app, splitCases.decide, { ...at(second, never.id), body: { agree: true, password: second.password } })
    expect([(await get(lost.id)).status, await lost.balances()]).toEqual(['failed', { payable: '100.00', transit: '0.00', paid: '0.00' }])
    bank.end(held.id, 'done')
    await call(app, splitCases.ask, at(keeper, has.id))
    expect(await caseOf(held.id)).toMatchObject({ status: 'closed', exit: 'settled' })
  })
})
