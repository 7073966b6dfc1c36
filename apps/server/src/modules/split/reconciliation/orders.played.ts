import { toMinor } from '@zhisuan/contract/bill/money'
import { splitPayouts } from '@zhisuan/contract/split/payout'
import { splitCases, type ProposedExit, type SplitCase } from '@zhisuan/contract/split/reconciliation'
import { sql } from 'kysely'
import { expect, vi } from 'vitest'
import { signed } from '../../../platform/outbound/signed-messages.ts'
import { createClock, testApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { startBank } from '../../../testing/payout-bank.ts'
import { signIn, someone } from '../../../testing/people.ts'
import { notifyPath } from '../payout/channel.service.ts'
import { makeOwed, runJob, setUpChannel, type Somebody } from '../testing.ts'
import { boundsOf, dayOf } from './differences.ts'
import { reconcileJob } from './reconciliation.service.ts'

const merchant_id = 'm-1'
const keys = { sign_type: 'HMAC-SHA256' as const, key: 'a common secret of both', gateway_public_key: '' }
const hour = 3_600_000

/** What becomes of a payment, hours after the day begins on which it is asked for; `filed`: as its file has it. */
interface Happening {
  readonly status: 'done' | 'failed' | 'returned'
  readonly hour: number
  readonly filed?: number
  /** A second payment of the same payout. */
  readonly again?: true
}
const histories: Readonly<Record<string, readonly Happening[]>> = {
  paid: [{ status: 'done', hour: 11 }],
  failed: [{ status: 'failed', hour: 11 }],
  'back on its day': [
    { status: 'done', hour: 11 },
    { status: 'returned', hour: 15 },
  ],
  'back on another day': [
    { status: 'done', hour: 11 },
    { status: 'returned', hour: 39 },
  ],
  'beside midnight': [{ status: 'done', hour: 23.999, filed: 24.001 }],
  'paid twice on its day': [
    { status: 'done', hour: 11 },
    { status: 'done', hour: 12, again: true },
  ],
  'paid twice': [
    { status: 'done', hour: 11 },
    { status: 'done', hour: 35, again: true },
  ],
  'paid twice and back': [
    { status: 'done', hour: 11 },
    { status: 'done', hour: 35, again: true },
    { status: 'returned', hour: 59, again: true },
  ],
  'back and paid again': [
    { status: 'done', hour: 11 },
    { status: 'returned', hour: 35 },
    { status: 'done', hour: 60, again: true },
  ],
  'goes on': [],
}

/**
 * Notices, answers, files and the exits that two people agree on come in any order, to payouts of each history through one honest
 * channel: what is booked is what was paid, or an open case says otherwise; and once all that can be ended is, it is what was paid.
 * @param times how many payouts there are of each history
 * @returns of how many no case was needed any more, before people ended the others
 */
export async function playOrders({ times, seed: first }: { readonly times: number; readonly seed: number }): Promise<number> {
  const clock = createClock()
  const app = await testApp({}, { clock })
  const bank = await startBank(keys, merchant_id, clock.now)
  const start = boundsOf(dayOf(clock.now())).to
  clock.advance(start.getTime() + 10 * hour - clock.now().getTime())
  const [keeper, second]: [Somebody, Somebody] = [
    await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null }),
    await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null }),
  ]
  const provider = await makeOwed(app, keeper, second, '100000')
  const of = new Map<string, { readonly history: readonly Happening[]; readonly trade: string }>()
  /** Days whose files cannot be read yet. */
  const late = new Set<string>()
  const at = (who: Somebody, id: string) => ({ token: who.token, params: { id } })
  const casesOf = async (id: string): Promise<SplitCase[]> => {
    const { items } = await call(app, splitCases.list, { token: keeper.token, query: { page_size: 1_000 } })
    return items.filter(({ payout_id }) => payout_id === id)
  }
  const openOf = async (id: string): Promise<SplitCase[]> => (await casesOf(id)).filter(({ status }) => status !== 'closed')
  const moment = (hours: number): Date => new Date(start.getTime() + hours * hour)
  const trade = ({ trade: own }: { readonly trade: string }, { again }: Happening): string => (again === true ? `${own}-2` : own)
  /** Brings the bank to what it has by now. */
  const live = (): void => {
    for (const [id, { history }] of of) {
      const now = history.filter((one) => one.again === undefined && moment(one.hour) <= clock.now()).at(-1)
      const payment = bank.payments.get(id)
      if (payment !== undefined && now !== undefined) Object.assign(payment, { status: now.status, at: moment(now.hour) })
    }
  }
  const goOn = async (hours: number): Promise<void> => {
    clock.advance(hours * hour)
    for (const who of [keeper, second]) Object.assign(who, await signIn(app, who))
    live()
  }
  const ask = async (history: readonly Happening[]): Promise<string> => {
    const { id } = await call(app, splitPayouts.create, { token: keeper.token, body: { provider_id: provider.id, amount: '10' } })
    await vi.waitFor(() => expect(bank.payments.has(id)).toBe(true))
    of.set(id, { history, trade: bank.payments.get(id)?.trade_id ?? '' })
    return id
  }
  /** What happened then, told now. */
  const tell = async (id: string, { status, hour: hours }: Happening): Promise<number> => {
    const payment = bank.payments.get(id)
    const said = { merchant_id, payout_id: id, amount: '10.00', status, trade_id: payment?.trade_id ?? '', at: moment(hours).toISOString() }
    return (await app.http.inject({ method: 'POST', url: notifyPath, payload: signed(said, keys, clock.now()) })).statusCode
  }
  const query = (id: string): Promise<unknown> => call(app, splitPayouts.query, at(keeper, id))
  const end = async (id: string, exit: ProposedExit): Promise<void> => {
    await call(app, splitCases.propose, { ...at(keeper, id), body: { exit, reason: '已与银行核实' } })
    await call(app, splitCases.decide, { ...at(second, id), body: { agree: true, password: second.password } })
  }
  const read = () => runJob(app, reconcileJob)
  /** Minor units: what all movements about a payout say that was paid. */
  const booked = async (id: string): Promise<bigint> => {
    const { rows } = await sql<{ amount: string }>`
      select coalesce(sum(entry.amount), 0)::text as amount from split_movements as movement join split_entries as entry on entry.movement_id = movement.id
      where entry.account = 'paid' and split_part(movement.key, ' ', 2) in (select id::text from split_cases where named = ${id} union all select ${id})
    `.execute(app.platform.db)
    return BigInt(rows[0]?.amount ?? '0')
  }
  const really = (id: string): bigint =>
    (of.get(id)?.history ?? []).reduce(
      (sum, one) => (moment(one.hour) > clock.now() || one.status === 'failed' ? sum : sum + (one.status === 'done' ? 1n : -1n) * toMinor('10')),
      0n,
    )

  try {
    const admin = await someone(app, { kind: 1 })
    await setUpChannel(app, admin, second, { enabled: true, gateway: bank.url, merchant_id, sign_type: keys.sign_type, key: keys.key })
    bank.fate = () => ({ answer: 'silent' })
    bank.file = (day) =>
      [...of].flatMap(([id, one]) =>
        one.history.flatMap((happening) => {
          const filed = moment(happening.filed ?? happening.hour)
          return dayOf(filed) === day ? [[id, trade(one, happening), '10.00', happening.status, filed.toISOString()].join(',')] : []
        }),
      )
    bank.answer = (path, { day = '' }) => (path === 'statements' && late.has(day) ? {} : undefined)
    let seed = first
    const random = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * most)
    }
    const ids: string[] = []
    const logs = new Map<string, string[]>()
    for (let made = 0; made < times; made++)
      for (const history of Object.values(histories)) {
        const id = await ask(history)
        ids.push(id)
        logs.set(id, [])
      }
    const act = async (id: string): Promise<void> => {
      const log = (text: string): void => void logs.get(id)?.push(text)
      const happened = (of.get(id)?.history ?? []).filter((one) => one.again === undefined && moment(one.hour) <= clock.now())
      const choice = random(3)
      const one = happened[random(happened.length)]
      if (choice === 0 && one !== undefined) log(`told ${one.status} ${await tell(id, one)}`)
      else if (choice === 1) {
        const answer = await query(id).then(
          () => 'answered',
          () => 'refused',
        )
        log(`queried ${answer}`)
      } else {
        const cases = await openOf(id)
        const which = cases[random(cases.length)]
        const exits = which?.exits.filter(({ exit }) => exit !== 'accepted') ?? []
        const exit = exits[random(exits.length)]?.exit
        if (which === undefined || exit === undefined) return
        const ended = await end(which.id, exit).then(
          () => 'ended',
          (error: unknown) => String(error).slice(0, 80),
        )
        log(`${which.day} ${which.kind} ${which.reference} by ${exit} ${ended}`)
      }
    }
    for (let step = 0; step < 6; step++) {
      await goOn(16)
      late.clear()
      // A file that comes days late is read behind those of the days after it.
      for (let day = 0; day < 4; day++) if (random(3) === 0) late.add(dayOf(moment(24 * day + 1)))
      await read()
      for (const id of ids) if (random(2) === 0) await act(id)
    }
    late.clear()
    for (let turns = 0; turns < 3; turns++) {
      await goOn(0.1)
      await read()
    }
    const { items } = await call(app, splitCases.list, { token: keeper.token, query: { page_size: 1_000 } })
    const wrong: unknown[] = []
    let right = 0
    for (const id of ids) {
      const [paid, real] = [await booked(id), really(id)]
      if (paid === real) right++
      else if (!items.some(({ payout_id, status }) => payout_id === id && status !== 'closed'))
        wrong.push({ history: of.get(id)?.history, paid: Number(paid) / 1e8, real: Number(real) / 1e8, log: logs.get(id) })
    }
    expect(wrong).toEqual([])
    // And what can be ended brings all books to what was paid.
    for (let turns = 0; turns < 4; turns++) {
      for (const id of ids)
        for (const { id: caseId, exits } of await openOf(id)) {
          const exit = exits.find((one) => one.exit !== 'accepted')?.exit
          if (exit !== undefined) await end(caseId, exit).catch(() => undefined)
        }
      for (const id of ids) await query(id).catch(() => undefined)
      await goOn(0.1)
      await read()
    }
    for (const id of ids) expect({ log: logs.get(id), booked: await booked(id) }).toEqual({ log: logs.get(id), booked: really(id) })
    return right
  } finally {
    await app.close()
    await bank.close()
  }
}
