import { toMinor } from '@zhisuan/contract/bill/money'
import { splitPayouts } from '@zhisuan/contract/split/payout'
import { splitCases, splitReconciliations } from '@zhisuan/contract/split/reconciliation'
import { messages } from '@zhisuan/contract/sys/message'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { startBank, type TestBank } from '../../../testing/payout-bank.ts'
import { signIn, someone } from '../../../testing/people.ts'
import { playPayouts } from '../payout/payout.played.ts'
import { makeOwed, runJob, setUpChannel, type Somebody } from '../testing.ts'
import { boundsOf, dayOf, differencesOf, paidMore, type OurPayout } from './differences.ts'
import { reconcileJob } from './reconciliation.service.ts'

const merchant_id = 'm-1'
const keys = { sign_type: 'HMAC-SHA256' as const, key: 'a common secret of both', gateway_public_key: '' }

it('finds ten differences among thirty payouts, and nothing else', () => playPayouts({ providers: 2, payouts: 30, differences: 10 }))

describe('a file of a day', () => {
  const day = '2026-11-28'
  const at = (hour: number) => new Date(`2026-11-28T${String(hour).padStart(2, '0')}:00:00+08:00`)
  const payout = (more: Partial<OurPayout> = {}): OurPayout => ({
    id: 'a',
    amount: String(toMinor('10')),
    status: 'done',
    reference: 'T-1',
    done_at: at(10),
    ended_at: null,
    corrected: 0,
    ...more,
  })
  const line = (status: 'done' | 'failed' | 'returned', more: { amount?: string; reference?: string; hour?: number; payout_id?: string } = {}) => ({
    payout_id: more.payout_id ?? 'a',
    reference: more.reference ?? 'T-1',
    amount: toMinor(more.amount ?? '10'),
    status,
    at: at(more.hour ?? 10),
  })
  const yesterday = new Date('2026-11-27T10:00:00+08:00')
  const tomorrow = new Date('2026-11-29T00:00:00+08:00')

  it.each<[string, OurPayout[], ReturnType<typeof line>[], string[]]>([
    ['agrees', [payout()], [line('done')], []],
    ['lacks one of ours', [payout()], [], ['oursOnly 0']],
    ['names none of ours', [], [line('done')], ['theirsOnly 10']],
    ['names one that was never sent', [payout({ status: 'asked', done_at: null })], [line('done')], ['theirsOnly 10']],
    ['has another amount', [payout()], [line('done', { amount: '11' })], ['amount 1']],
    ['pays another amount, which we believe nobody', [payout({ status: 'sent', done_at: null })], [line('done', { amount: '12' })], ['amount 12']],
    ['has one twice', [payout()], [line('done', { reference: 'T-2' }), line('done')], ['double 10']],
    ['has the very same line twice', [payout()], [line('done'), line('done')], ['double 10']],
    ['says that it came back', [payout()], [line('done'), line('returned', { hour: 11 })], ['returned -10']],
    ['says that it failed', [payout()], [line('failed')], ['state -10']],
    ['says that it is paid, which we have not heard', [payout({ status: 'sent', done_at: null, reference: '' })], [line('done')], ['state 10']],
    ['is before what came back the next day', [payout({ status: 'returned', ended_at: tomorrow })], [line('done')], []],
    ['has what came back today', [payout({ status: 'returned', done_at: yesterday, ended_at: at(9) })], [line('returned', { hour: 9 })], []],
    ['lacks what came back today', [payout({ status: 'returned', done_at: yesterday, ended_at: at(9) })], [], ['oursOnly 0']],
    ['says nothing of what goes on', [payout({ status: 'sent', done_at: null })], [], []],
    ['pays by another payment', [payout()], [line('done', { reference: 'T-2' })], ['state 0']],
  ])('%s', (_, ours, rows, found) => {
    const differences = differencesOf(day, rows, new Map(ours.map((one) => [one.id, one])))
    expect(differences.map((one) => `${one.kind} ${one.kind === 'oursOnly' ? 0 : Number(paidMore(one)) / 1e8}`)).toEqual(found)
  })
})

describe('differences', () => {
  let app: TestApp
  let bank: TestBank
  let keeper: Somebody
  let second: Somebody
  let provider: Awaited<ReturnType<typeof makeOwed>>
  let day: string
  const clock = createClock()
  const list = async () => (await call(app, splitCases.list, { token: keeper.token, query: { page_size: 100 } })).items
  const at = (who: Somebody, id: string) => ({ token: who.token, params: { id } })
  const caseOf = async (kind: string) => (await list()).find((one) => one.kind === kind)?.id ?? ''
  const payouts: string[] = []

  beforeAll(async () => {
    app = await testApp({}, { clock })
    // So that all of it is of one day, whatever the time is.
    clock.advance(boundsOf(dayOf(clock.now())).to.getTime() + 2 * 3_600_000 - clock.now().getTime())
    bank = await startBank(keys, merchant_id, clock.now)
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    second = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    const admin = await someone(app, { kind: 1 })
    await setUpChannel(app, admin, second, { enabled: true, gateway: bank.url, merchant_id, sign_type: keys.sign_type, key: keys.key })
    provider = await makeOwed(app, keeper, second, '1000')
    for (let made = 0; made < 4; made++) {
      const { id } = await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id: provider.id, amount: '10' } })
      await vi.waitFor(async () => expect((await call(app, splitPayouts.get, at(keeper, id))).status).toBe('done'))
      payouts.push(id)
    }
    day = dayOf(clock.now())
    const [returned = '', amount = '', , double = ''] = payouts
    const trade = (id: string) => bank.payments.get(id)?.trade_id ?? ''
    const ended = clock.now().toISOString()
    const row = (id: string, trade_id: string, yuan: string, status = 'done') => [id, trade_id, yuan, status, ended].join(',')
    bank.end(returned, 'returned', '账户已销户')
    // The third is missing.
    bank.file = (of) =>
      of === day
        ? [
            row(returned, trade(returned), '10.00', 'returned'),
            row(amount, trade(amount), '11.00'),
            row(double, trade(double), '10.00'),
            row(double, 'T-99', '10.00'),
          ]
        : []
    clock.advance(24 * 3_600_000)
    for (const who of [keeper, second, provider.person]) Object.assign(who, await signIn(app, who))
  })
  afterAll(async () => {
    await app.close()
    await bank.close()
  })

  it('are read once the day is over, also where a server died with the file in hand, and told', async () => {
    expect(await refused(app, splitReconciliations.create, { token: keeper.token, body: { day: dayOf(clock.now()) } })).toMatchObject({ code: 98220 })
    // Somebody asked for the file and never came back.
    await sql`insert into split_reconciliations (id, channel_id, day, status, row_count, failed, tried_at) select gen_random_uuid(), id, ${day}, 'due', 0, false, ${clock.now()} from split_channel`.execute(
      app.platform.db,
    )
    await runJob(app, reconcileJob)
    expect(await list()).toEqual([])
    clock.advance(6 * 60_000)
    await runJob(app, reconcileJob)
    expect((await list()).map(({ kind }) => kind).toSorted()).toEqual(['amount', 'double', 'oursOnly', 'returned'])
    const admin = await someone(app, { kind: 1 })
    const told = async () => (await call(app, messages.list, { token: admin.token, query: {} })).items.filter(({ kind }) => kind === 'split.case')
    expect(await told()).toMatchObject([{ kind: 'split.case', about: { name: day } }])
    // The same file again changes nothing.
    await call(app, splitReconciliations.create, { token: keeper.token, body: { day } })
    await runJob(app, reconcileJob)
    expect(await list()).toHaveLength(4)
    expect(await told()).toHaveLength(1)
  })

  it('end where the channel is asked again and both agree', async () => {
    const id = await caseOf('returned')
    expect(await call(app, splitCases.ask, at(keeper, id))).toMatchObject({ status: 'closed', exit: 'settled' })
    expect(await call(app, splitPayouts.get, at(keeper, payouts[0] ?? ''))).toMatchObject({ status: 'returned' })
    expect((await call(app, splitPayouts.balance, at(keeper, provider.id))).payable).toBe('970.00')
    expect(await refused(app, splitCases.ask, at(keeper, id))).toMatchObject({ code: 90010 })
    expect(await refused(app, splitCases.ask, at(keeper, await caseOf('double')))).toMatchObject({ code: 98219 })
    // An answer does not outweigh the file: that takes two people.
    for (const kind of ['oursOnly', 'amount']) expect(await refused(app, splitCases.ask, at(keeper, await caseOf(kind)))).toMatchObject({ code: 98219 })
  })

  it('end as somebody proposes and somebody else agrees', async () => {
    const id = await caseOf('amount')
    const proposed = { exit: 'accepted' as const, reason: '通道手续费' }
    expect(await call(app, splitCases.propose, { ...at(keeper, id), body: proposed })).toMatchObject({ status: 'proposed', reason: '通道手续费' })
    expect(await refused(app, splitCases.decide, { ...at(keeper, id), body: { agree: true, password: keeper.password } })).toMatchObject({ code: 98209 })
    expect(await call(app, splitCases.decide, { ...at(second, id), body: { agree: false } })).toMatchObject({ status: 'open', exit: null })
    await call(app, splitCases.propose, { ...at(keeper, id), body: proposed })
    expect(await call(app, splitCases.decide, { ...at(second, id), body: { agree: true, password: second.password } })).toMatchObject({
      status: 'closed',
      exit: 'accepted',
    })
  })

  it('are written off by a movement, once', async () => {
    const id = await caseOf('double')
    const { paid } = await call(app, splitPayouts.balance, at(keeper, provider.id))
    await call(app, splitCases.propose, { ...at(keeper, id), body: { exit: 'writtenOff', reason: '多付的一笔由平台承担' } })
    const outcomes = await Promise.all(
      [1, 2].map(() =>
        call(app, splitCases.decide, { ...at(second, id), body: { agree: true, password: second.password } }).then(
          () => 'closed',
          () => 'refused',
        ),
      ),
    )
    expect(outcomes.toSorted()).toEqual(['closed', 'refused'])
    expect((await call(app, splitPayouts.balance, at(keeper, provider.id))).paid).toBe(`${Number(paid) + 10}.00`)
  })

  it('are nothing that a provider sees', async () => {
    for (const declared of [splitCases.list, splitReconciliations.list])
      expect(await refused(app, declared, { token: provider.person.token, query: {} })).toMatchObject({ status: 403 })
  })
})
