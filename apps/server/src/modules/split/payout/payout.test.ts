import { randomUUID } from 'node:crypto'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { splitBankDetails } from '@zhisuan/contract/split/bank'
import { splitRuns } from '@zhisuan/contract/split/contract'
import { splitChannel, splitPayouts } from '@zhisuan/contract/split/payout'
import { splitProviders } from '@zhisuan/contract/split/provider'
import { messages } from '@zhisuan/contract/sys/message'
import { configs } from '@zhisuan/contract/sys/sys'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { startBank, type TestBank } from '../../../testing/payout-bank.ts'
import { someone } from '../../../testing/people.ts'
import { signed, type Message } from '../../../platform/outbound/signed-messages.ts'
import { balancesOf, post } from '../ledger/movements.ts'
import { makeOwed, makeProvider, runJob, waitingJobs, type Somebody } from '../testing.ts'
import { notifyPath } from './channel.service.ts'
import { allotted, payoutJob } from './payout.service.ts'

const merchant_id = 'm-1'
const keys = { sign_type: 'HMAC-SHA256' as const, key: 'a common secret of both', gateway_public_key: '' }

describe('payouts', () => {
  let app: TestApp
  let keeper: Somebody
  let second: Somebody
  let admin: Somebody
  let bank: TestBank
  const clock = createClock()

  const owed = (...amounts: readonly string[]) => makeOwed(app, keeper, second, ...amounts)
  const ask = (provider_id: string, amount: string, by = keeper) => call(app, splitPayouts.create, { token: by.token, body: { provider_id, amount } })
  /** What the clock does each minute, which here it does not: once whoever asked for something has been answered. */
  const turn = async (): Promise<void> => {
    await vi.waitFor(async () => expect(await waitingJobs(app, payoutJob)).toBe(0))
    await runJob(app, payoutJob)
  }
  const get = (id: string) => call(app, splitPayouts.get, { token: keeper.token, params: { id } })
  const runOf = (id: string) => call(app, splitRuns.get, { token: keeper.token, params: { id } })
  const balances = async (id: string) =>
    Object.fromEntries(Object.entries(await balancesOf(app.platform.db, id)).map(([account, amount]: [string, bigint]) => [account, toDecimal(amount)]))
  const notify = async (message: Message): Promise<number> => (await app.http.inject({ method: 'POST', url: notifyPath, payload: message })).statusCode

  beforeAll(async () => {
    app = await testApp({ PUBLIC_URL: 'https://console.example.com' }, { clock })
    bank = await startBank(keys, merchant_id, clock.now)
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    second = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    admin = await someone(app, { kind: 1 })
  })
  afterAll(async () => {
    await app.close()
    await bank.close()
  })
  beforeEach(() => {
    bank.fate = () => ({ ends: 'done' })
    bank.answer = null
  })

  it('need a channel, which nobody reads the key of', async () => {
    const { id } = await owed('100')
    expect(await refused(app, splitPayouts.create, { token: keeper.token, body: { provider_id: id, amount: '1' } })).toMatchObject({ code: 98214 })
    const body = { enabled: true, gateway: bank.url, merchant_id, sign_type: keys.sign_type }
    expect(await refused(app, splitChannel.set, { token: admin.token, body })).toMatchObject({ code: 96035, fields: [{ field: 'key' }] })
    expect(await refused(app, splitChannel.set, { token: admin.token, body: { ...body, key: keys.key, gateway: 'http://bank.example.com' } })).toMatchObject({
      code: 96038,
    })
    // Who leads all money somewhere does not do so alone.
    const { channel: none, waiting } = await call(app, splitChannel.set, { token: admin.token, body: { ...body, key: keys.key } })
    expect([none, waiting]).toMatchObject([null, { gateway: bank.url, asked_by: admin.name }])
    const approve = (by: Somebody) => ({ token: by.token, params: { id: waiting?.id ?? '' }, body: {} })
    expect(await refused(app, splitChannel.approve, approve(admin))).toMatchObject({ code: 98209 })
    expect((await call(app, messages.list, { token: second.token, query: {} })).items.map(({ kind }) => kind)).toContain('split.channel')
    const outcomes = await Promise.all(
      [keeper, second].map((by) =>
        call(app, splitChannel.approve, approve(by)).then(
          () => 'approved',
          () => 'refused',
        ),
      ),
    )
    expect(outcomes.toSorted()).toEqual(['approved', 'refused'])
    const { channel } = await call(app, splitChannel.get, { token: keeper.token })
    expect(channel).toMatchObject({ enabled: true, open_count: 0, notify_url: `https://console.example.com${notifyPath}` })
    expect(JSON.stringify(await call(app, splitChannel.get, { token: admin.token }))).not.toContain(keys.key)
    // Whether anything is sent at all one person decides, at once.
    for (const enabled of [false, true]) {
      const state = await call(app, splitChannel.set, { token: admin.token, body: { ...body, enabled } })
      expect(state).toMatchObject({ channel: { enabled }, waiting: null })
    }
    const key = await call(app, splitChannel.set, { token: admin.token, body: { ...body, key: 'another secret of both sides' } })
    expect(key.waiting).not.toBeNull()
    expect(await call(app, splitChannel.withdraw, { token: second.token, params: { id: key.waiting?.id ?? '' } })).toMatchObject({ waiting: null })
  })

  it('are paid once, and their statements follow', async () => {
    const { id, person, runs } = await owed('100.12345678', '50')
    const { least, most, payable } = await call(app, splitPayouts.balance, { token: person.token, params: { id } })
    expect([least, most, payable]).toEqual(['1.00', '1000000.00', '150.12345678'])
    const payout = await ask(id, '120.12')
    expect(payout.runs.map(({ amount }) => amount)).toEqual(['100.12345678', '19.99654322'])
    await turn()
    expect(await get(payout.id)).toMatchObject({ status: 'done', reference: bank.payments.get(payout.id)?.trade_id, account: '工商银行 **** 2222' })
    expect(bank.payments.get(payout.id)).toMatchObject({ amount: '120.12', holder: '东数算力', account: '6222000011112222' })
    expect(await balances(id)).toMatchObject({ payable: '30.00345678', transit: '0.00', paid: '120.12' })
    expect(await runOf(runs[0] ?? '')).toMatchObject({ status: 'paid', paid_reference: bank.payments.get(payout.id)?.trade_id })
    expect((await runOf(runs[1] ?? '')).status).toBe('confirmed')
    // What is less than a fen stays owed, and the statement is paid all the same.
    await ask(id, '30.00')
    await turn()
    expect((await runOf(runs[1] ?? '')).status).toBe('paid')
    expect(await balances(id)).toMatchObject({ payable: '0.00345678', paid: '150.12' })
    expect((await call(app, splitProviders.get, { token: keeper.token, params: { id } })).paid).toBe('150.12')
    expect((await call(app, messages.list, { token: person.token, query: {} })).items.filter(({ kind }) => kind === 'split.payout')).toHaveLength(2)
  })

  it('are of no more than is owed, however many ask at once, and within limits', async () => {
    const { id } = await owed('100')
    const wish = (amount: string) => refused(app, splitPayouts.create, { token: keeper.token, body: { provider_id: id, amount } })
    expect(await wish('100.01')).toMatchObject({ code: 98210, fields: [{ field: 'amount' }], message: expect.stringContaining('100.00') as string })
    expect(await wish('0.99')).toMatchObject({ code: 98211 })
    expect(await wish('1000000.01')).toMatchObject({ code: 98211 })
    expect(await wish('-5')).toMatchObject({ code: 98211 })
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () =>
        ask(id, '60').then(
          () => 'asked',
          () => 'refused',
        ),
      ),
    )
    expect(outcomes.toSorted()).toEqual(['asked', 'refused', 'refused', 'refused'])
    expect(await balances(id)).toMatchObject({ payable: '40.00' })
    const other = await makeProvider(app, keeper)
    expect(await refused(app, splitPayouts.create, { token: keeper.token, body: { provider_id: other.id, amount: '1' } })).toMatchObject({ code: 98212 })
  })

  it('above an amount wait for somebody else than who asked', async () => {
    const { id } = await owed('20000')
    const payout = await ask(id, '10000.01')
    expect(payout).toMatchObject({ status: 'asked', needs_approval: true })
    await turn()
    expect((await get(payout.id)).status).toBe('asked')
    expect(await refused(app, splitPayouts.approve, { token: keeper.token, params: { id: payout.id }, body: {} })).toMatchObject({ code: 98209 })
    expect(await call(app, splitPayouts.approve, { token: second.token, params: { id: payout.id }, body: {} })).toMatchObject({ approved_by: second.name })
    await turn()
    await vi.waitFor(async () => expect((await get(payout.id)).status).toBe('done'))
    const next = await ask(id, '9999')
    await vi.waitFor(async () => expect((await get(next.id)).status).toBe('done'))
    expect(await refused(app, splitPayouts.withdraw, { token: keeper.token, params: { id: next.id } })).toMatchObject({ code: 90010 })
  })

  it('are what one person may decide by the lowest limit of a day', async () => {
    const { id } = await owed('20000')
    await call(app, configs.set, { token: admin.token, body: { key: 'split_payout_approved_above', value: '15000' } })
    const above = async () => (await call(app, splitPayouts.balance, { token: keeper.token, params: { id } })).approved_above
    expect(await above()).toBe('10000.00')
    await call(app, configs.set, { token: admin.token, body: { key: 'split_payout_approved_above', value: '500' } })
    expect(await above()).toBe('500.00')
    await call(app, configs.reset, { token: admin.token, query: { key: 'split_payout_approved_above' } })
    expect(await above()).toBe('500.00')
    await app.platform.db.deleteFrom('config_changes').where('key', '=', 'split_payout_approved_above').execute()
  })

  it('are owed again where they were withdrawn, failed or came back', async () => {
    const { id, runs, person } = await owed('20000')
    const withdrawn = await ask(id, '15000')
    expect(await balances(id)).toMatchObject({ payable: '5000.00', transit: '15000.00' })
    await call(app, splitPayouts.withdraw, { token: keeper.token, params: { id: withdrawn.id } })
    expect(await balances(id)).toMatchObject({ payable: '20000.00', transit: '0.00' })
    bank.fate = () => ({})
    const late = await ask(id, '9000')
    await turn()
    await vi.waitFor(async () => expect((await get(late.id)).status).toBe('sent'))
    bank.end(late.id, 'failed', '户名不符')
    expect(await notify(bank.message(late.id))).toBe(200)
    expect(await get(late.id)).toMatchObject({ status: 'failed', reason: '户名不符' })
    expect(await balances(id)).toMatchObject({ payable: '20000.00', transit: '0.00' })
    bank.fate = () => ({ ends: 'done' })
    await ask(id, '10000')
    // Of a week all that one person alone decided counts together.
    const second10 = await ask(id, '10000')
    expect(second10.needs_approval).toBe(true)
    await call(app, splitPayouts.approve, { token: second.token, params: { id: second10.id }, body: { password: second.password } })
    await turn()
    await vi.waitFor(async () => expect((await runOf(runs[0] ?? '')).status).toBe('paid'))
    const { items } = await call(app, splitPayouts.list, { token: person.token, query: { status: 'done' } })
    bank.end(items[0]?.id ?? '', 'returned', '账户已销户')
    expect(await notify(bank.message(items[0]?.id ?? ''))).toBe(200)
    expect(await get(items[0]?.id ?? '')).toMatchObject({ status: 'returned', reason: '账户已销户' })
    expect(await balances(id)).toMatchObject({ payable: '10000.00', paid: '10000.00' })
    expect(await runOf(runs[0] ?? '')).toMatchObject({ status: 'confirmed', paid_at: null })
    // What is left is noted by somebody else than who split it, where it was paid otherwise.
    await call(app, splitRuns.pay, { token: admin.token, params: { id: runs[0] ?? '' }, body: { reference: 'B-0001', password: admin.password } })
    expect(await balances(id)).toMatchObject({ payable: '0.00', paid: '20000.00' })
  })

  it('are asked about where no answer came, and never sent under another key', async () => {
    const { id } = await owed('100')
    bank.fate = (_, times) => (times === 1 ? { answer: 'lost' } : { ends: 'done', answer: 'silent' })
    const lost = await ask(id, '10')
    await vi.waitFor(async () => expect((await get(lost.id)).status).toBe('claimed'))
    await vi.waitFor(() => expect(bank.asked.some(({ message }) => message['payout_id'] === lost.id)).toBe(true))
    await turn()
    // It is too young to be asked about.
    expect(bank.payments.has(lost.id)).toBe(false)
    clock.advance(61_000)
    // Unknown there, so the same is sent again, and taken; that answer is lost, too.
    await turn()
    expect(bank.payments.get(lost.id)?.status).toBe('done')
    expect((await get(lost.id)).status).toBe('claimed')
    clock.advance(61_000)
    await turn()
    expect(await get(lost.id)).toMatchObject({ status: 'done', reference: bank.payments.get(lost.id)?.trade_id })
    const asked = bank.asked.filter(({ message }) => message['payout_id'] === lost.id).map(({ path }) => path)
    expect(asked).toEqual(['payouts', 'query', 'payouts', 'query'])
    expect(await balances(id)).toMatchObject({ payable: '90.00', transit: '0.00', paid: '10.00' })
  })

  it('go on where a server was killed: claimed and not sent, sent and not answered, answered and not recorded', async () => {
    const { id } = await owed('100')
    const { db } = app.platform
    const bankId = (await db.selectFrom('split_bank_details').select('id').where('provider_id', '=', id).executeTakeFirstOrThrow()).id
    // As a server leaves them that dies behind its claim: nothing does what would come next.
    const rows = ['never sent', 'sent', 'answered'].map((what) => ({ what, id: randomUUID() }))
    for (const row of rows) {
      await db
        .insertInto('split_payouts')
        .values({
          id: row.id,
          provider_id: id,
          amount: String(toMinor('10')),
          status: 'claimed',
          four_eyes: false,
          approved_by: null,
          approved_by_name: null,
          bank_id: bankId,
          reference: '',
          reason: '',
          asked_by: keeper.id,
          asked_by_name: keeper.name,
          created_at: clock.now(),
          claimed_at: clock.now(),
          sent_at: null,
          done_at: null,
          ended_at: null,
          queried_at: null,
        })
        .execute()
      await db.transaction().execute((tx) =>
        post(tx, { provider_id: id, kind: 'asked', key: `asked ${row.id}`, run_id: null, note: '', by: '' }, [
          { account: 'payable', amount: -toMinor('10'), party: 1 },
          { account: 'transit', amount: toMinor('10'), party: 1 },
        ]),
      )
    }
    for (const { id: sent } of rows.slice(1)) bank.take(sent, '10.00')
    bank.end(rows[2]?.id ?? '', 'done')
    clock.advance(61_000)
    await turn()
    expect(await Promise.all(rows.map(async ({ id: one }) => (await get(one)).status))).toEqual(['done', 'sent', 'done'])
    bank.end(rows[1]?.id ?? '', 'done')
    clock.advance(120_000)
    await turn()
    expect((await get(rows[1]?.id ?? '')).status).toBe('done')
    expect(await balances(id)).toMatchObject({ transit: '0.00', paid: '30.00' })
  })

  it('believe nobody else, nothing twice, and nothing that does not fit', async () => {
    const { id } = await owed('100')
    bank.fate = () => ({})
    const payout = await ask(id, '10')
    await vi.waitFor(async () => expect((await get(payout.id)).status).toBe('sent'))
    bank.end(payout.id, 'done')
    const { merchant_id: _, ...right } = bank.message(payout.id)
    const foreign = { ...keys, key: 'the secret of somebody else' }
    const { timestamp: _1, nonce: _2, sign: _3, sign_type: _4, ...fields } = right
    const said = (more: Message, by = keys, at = clock.now()) => signed({ merchant_id, ...fields, ...more }, by, at)
    expect(await notify(said({}, foreign))).toBe(400)
    expect(await notify({ ...said({}), amount: '20.00' })).toBe(400)
    expect(await notify(said({ amount: '20.00' }))).toBe(400)
    expect(await notify(said({ merchant_id: 'm-2' }))).toBe(400)
    expect(await notify(said({ payout_id: randomUUID() }))).toBe(400)
    expect(await notify(said({}, keys, new Date(clock.now().getTime() - 16 * 60_000)))).toBe(400)
    expect((await get(payout.id)).status).toBe('sent')
    const once = said({})
    expect(await notify(once)).toBe(200)
    // The same message again is somebody's copy; the same said anew is a success and changes nothing.
    expect(await notify(once)).toBe(400)
    expect(await notify(said({}))).toBe(200)
    expect(await notify(said({ trade_id: 'T-other' }))).toBe(400)
    expect(await notify(said({ status: 'failed' }))).toBe(400)
    expect(await balances(id)).toMatchObject({ payable: '90.00', paid: '10.00' })
    // A liar's answers to our own questions count no more.
    const next = await ask(id, '10')
    bank.answer = (_path, question) => ({ ...said({ payout_id: next.id }), nonce: question['nonce'] })
    clock.advance(61_000)
    await turn()
    expect(['claimed', 'sent']).toContain((await get(next.id)).status)
    bank.answer = null
    // Another channel would know nothing of what this one has.
    expect(
      await refused(app, splitChannel.set, {
        token: admin.token,
        body: { enabled: true, gateway: bank.url, merchant_id: 'm-2', sign_type: keys.sign_type, password: admin.password },
      }),
    ).toMatchObject({ code: 98215 })
  })

  it('go where those who decided saw that they go, or nowhere', async () => {
    const { id } = await owed('100')
    const payout = await ask(id, '10')
    await vi.waitFor(async () => expect((await get(payout.id)).status).toBe('done'))
    const { db } = app.platform
    await db.updateTable('split_channel').set({ enabled: false }).execute()
    const { rows } = await sql<{ id: string }>`
      insert into split_payouts (id, provider_id, amount, status, four_eyes, bank_id, reference, reason, asked_by, asked_by_name, created_at)
      select gen_random_uuid(), provider_id, amount, 'asked', false, bank_id, '', '', asked_by, '', now() from split_payouts where id = ${payout.id} returning id
    `.execute(db)
    const waiting = rows[0]?.id ?? ''
    const { id: other } = await call(app, splitBankDetails.create, {
      token: keeper.token,
      params: { id },
      body: { holder: '别人', bank: '工商银行', account: '6222000099999999', password: keeper.password },
    })
    await call(app, splitBankDetails.approve, { token: second.token, params: { id: other }, body: { password: second.password } })
    await db.updateTable('split_channel').set({ enabled: true }).execute()
    await turn()
    expect(await get(waiting)).toMatchObject({ status: 'asked', account: '工商银行 **** 2222' })
    expect(bank.payments.has(waiting)).toBe(false)
    await db.deleteFrom('split_payouts').where('id', '=', waiting).execute()
    // Who alone said where the money goes does not alone send it there.
    const alone = await makeOwed(app, keeper, second, '100')
    await db.updateTable('split_bank_details').set({ approved_by: null, counts_from: clock.now() }).where('provider_id', '=', alone.id).execute()
    expect(await ask(alone.id, '10')).toMatchObject({ needs_approval: true })
    expect(await ask(alone.id, '10', second)).toMatchObject({ needs_approval: false })
  })

  it('of another provider are not there, and figures tell nothing of them', async () => {
    const [mine, theirs] = [await owed('10'), await owed('100')]
    const payout = await ask(theirs.id, '50')
    const { token } = mine.person
    expect(await refused(app, splitPayouts.get, { token, params: { id: payout.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, splitPayouts.balance, { token, params: { id: theirs.id } })).toMatchObject({ status: 404 })
    expect(await call(app, splitPayouts.list, { token, query: {} })).toMatchObject({ total: 0 })
    expect(await call(app, splitPayouts.list, { token, query: { provider_id: theirs.id } })).toMatchObject({ total: 0 })
    expect((await call(app, splitPayouts.balance, { token, params: { id: mine.id } })).payable).toBe('10.00')
    for (const declared of [splitPayouts.create, splitPayouts.withdraw, splitPayouts.query, splitChannel.get])
      expect(await refused(app, declared, { token, params: { id: payout.id }, body: { provider_id: mine.id, amount: '1' } } as never)).toMatchObject({
        status: 403,
      })
  })

  it.each<[string, string, readonly string[], readonly string[]]>([
    ['the oldest first', '15', ['10', '10'], ['10.00', '5.00']],
    ['what is to be taken back is set off', '15', ['10', '-5', '20'], ['10.00', '-5.00', '10.00']],
    ['all that is owed', '25', ['10', '-5', '20'], ['10.00', '-5.00', '20.00']],
    ['nothing of what is paid', '5', ['0', '10'], ['5.00']],
  ])('pay statements: %s', (_, amount, open, parts) => {
    const runs = open.map((one, index) => ({ id: String(index), open: [0n, toMinor(one)] }))
    expect(allotted(toMinor(amount), runs).map((part) => toDecimal(part.amount))).toEqual(parts)
  })
})
