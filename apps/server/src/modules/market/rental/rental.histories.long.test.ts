import { randomUUID } from 'node:crypto'
import { toMinor } from '@zhisuan/contract/bill/money'
import { offers, type Offer } from '@zhisuan/contract/market/offer'
import type { RentalStatus } from '@zhisuan/contract/market/rental'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { rateUsage } from '../../bill/testing.ts'

const histories = 100_000
const atOnce = 5_000
const hour = 3_600
const gib = 2 ** 30

/** A machine at a moment, as its row has it. */
interface Moment {
  readonly id: string
  readonly rental: string
  /** Milliseconds since the beginning. */
  readonly at: number
  /** Of those of one moment the last says how it is. */
  readonly revision: number
  readonly status: RentalStatus
  readonly fault: 'host' | 'card' | null
  readonly ran: boolean
  readonly count: number
  readonly disk: number
}

let app: TestApp
let node: CardNode
let admin: Person & SignedIn
let renter: Person & SignedIn
let offer: Offer
/** The first full hour in which its prices hold, in seconds since 1970. */
let begin: number
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  renter = await someone(app)
  const owner = await someone(app)
  node = await cardNode(app, owner.token)
  await providing(app, owner, admin, [node], '华东算力')
  offer = await listed(app, owner, admin, { card_price: '7.13', disk_price: '0.00123457', stopped_disk_price: '0.00045679', disk_bytes_per_card: 33 * gib })
  begin = Math.ceil(Date.now() / 1000 / hour + 1) * hour
})
afterAll(async () => {
  node.stop()
  await app.close()
})

/** What rows would have told, by the rule of their table. */
const tell = (moments: readonly Moment[]) =>
  sql`
    insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, revision, usage, attributes)
    select told.id, 'market.rental', told.rental, 'm', ${renter.bp_id}, null, to_timestamp(${begin} + told.at / 1000.0), told.revision,
      usage_of(jsonb_populate_record(null::market_rentals, jsonb_build_object(
        'offer_id', ${offer.id}::text, 'status', told.status, 'fault', told.fault, 'running_at', case when told.ran then now() end, 'count', told.count,
        'disk_bytes', told.disk))),
      jsonb_build_object('offer_id', ${offer.id}::text, 'provider_id', ${offer.provider.id}::text)
    from jsonb_to_recordset(${JSON.stringify(moments)}::jsonb)
      as told (id uuid, rental uuid, at bigint, revision bigint, status text, fault text, ran boolean, "count" integer, disk bigint)
    on conflict do nothing
  `.execute(app.platform.db)

const graceSeconds = 600
const rated = (untilHours: number): Promise<void> => rateUsage(app.platform.db, new Date((begin + untilHours * hour + graceSeconds) * 1000))
const billed = async (): Promise<Map<string, bigint>> => {
  const { rows } = await sql<{ resource_id: string; amount: string }>`
    select resource_id, sum(amount)::text as amount from usage_lines where voided_at is null group by resource_id
  `.execute(app.platform.db)
  return new Map(rows.map(({ resource_id, amount }) => [resource_id, BigInt(amount)]))
}

/** The bill of one machine, computed again: second by second where something changes, and rounded half up for each run of an hour. */
function amountOf(moments: readonly Moment[]): bigint {
  const known = [...new Map(moments.map((one) => [one.id, one])).values()].sort((a, b) => a.at - b.at || a.revision - b.revision)
  const states = known.map((one, index) => ({
    ...one,
    from: Math.floor(one.at / 1000),
    to: Math.floor((known[index + 1]?.at ?? Number.POSITIVE_INFINITY) / 1000),
  }))
  const charges = (one: Moment): readonly bigint[] => {
    if (one.fault !== null || !one.ran) return [0n, 0n, 0n]
    if (one.status === 'running') return [BigInt(one.count), BigInt(one.disk), 0n]
    return ['stopping', 'stopped', 'starting'].includes(one.status) ? [0n, 0n, BigInt(one.disk)] : [0n, 0n, 0n]
  }
  const prices = [offer.card_price, offer.disk_price, offer.stopped_disk_price].map(toMinor)
  let sum = 0n
  for (const [meter, price] of prices.entries()) {
    const per = meter === 0 ? 1n : BigInt(gib)
    const open: { quantity: bigint; seconds: bigint; until: number }[] = []
    const close = (): void => {
      for (const { quantity, seconds } of open.splice(0)) sum += (2n * quantity * price * seconds + per * 3_600n) / (2n * per * 3_600n)
    }
    for (const state of states) {
      const quantity = charges(state)[meter] ?? 0n
      for (let from = state.from; from < Math.min(state.to, lastHour * hour);) {
        const to = Math.min(state.to, (Math.floor(from / hour) + 1) * hour)
        const [run] = open
        if (run?.quantity === quantity && run.until === from && from % hour !== 0) {
          run.seconds += BigInt(to - from)
          run.until = to
        } else {
          close()
          if (quantity > 0n) open.push({ quantity, seconds: BigInt(to - from), until: to })
        }
        from = to
      }
    }
    close()
  }
  return sum
}
const lastHour = 3

const history = fc
  .record({
    count: fc.constantFrom(1, 2, 4, 8),
    steps: fc.array(
      fc.record({
        status: fc.constantFrom<RentalStatus>('placing', 'running', 'running', 'stopping', 'stopped', 'starting', 'releasing', 'released', 'failed'),
        fault: fc.constantFrom(null, null, null, 'host' as const, 'card' as const),
        // The clock of a server may go back.
        after: fc.integer({ min: -30_000, max: 3_000_000 }),
        /** Told twice; told only after its hour was rated. None is lost: a row and what it tells are one transaction. */
        fate: fc.constantFrom('once', 'once', 'once', 'twice', 'late'),
      }),
      { minLength: 1, maxLength: 7 },
    ),
  })
  .map(({ count, steps }) => {
    const rental = randomUUID()
    let at = 0
    let ran = false
    const all = steps.map(({ status, fault, after, fate }, revision) => {
      at = Math.max(0, at + after)
      ran ||= status === 'running'
      const moment: Moment = { id: randomUUID(), rental, at, revision: revision + 1, status, fault, ran, count, disk: 33 * gib * count }
      return { moment, fate }
    })
    return all.filter(({ moment }) => moment.at < lastHour * hour * 1000)
  })

describe('what rented machines cost', () => {
  it(
    'is, of a hundred thousand histories told twice, late and out of order, what plain arithmetic has',
    async () => {
      const expected = new Map<string, bigint>()
      for (let made = 0; made < histories; made += atOnce) {
        const all = fc.sample(history, atOnce)
        for (const one of all) {
          const [first] = one
          if (first !== undefined) expected.set(first.moment.rental, amountOf(one.map(({ moment }) => moment)))
        }
        const told = all.flat()
        // In an order of their own.
        const soon = told.filter(({ fate }) => fate !== 'late').sort((a, b) => (a.moment.id < b.moment.id ? -1 : 1))
        await tell(soon.map(({ moment }) => moment))
        await tell(soon.filter(({ fate }) => fate === 'twice').map(({ moment }) => moment))
        await rated(lastHour - 1)
        await tell(told.filter(({ fate }) => fate === 'late').map(({ moment }) => moment))
      }
      await rated(lastHour)
      const lines = await billed()
      const wrong = [...expected]
        .filter(([id, amount]) => (lines.get(id) ?? 0n) !== amount)
        .map(([id, amount]) => ({ id, amount, billed: lines.get(id) ?? 0n }))
      expect({ histories: expected.size, wrong: wrong.length, first: wrong.slice(0, 3) }).toMatchObject({ wrong: 0 })
      // What the wallet lost is the same.
      const total = [...expected.values()].reduce((sum, amount) => sum + amount, 0n)
      expect(total).toBeGreaterThan(BigInt(histories) * 10n ** 8n)
      const { rows } = await sql<{ amount: string }>`select sum(amount)::text as amount from usage_postings where bp_id = ${renter.bp_id}`.execute(
        app.platform.db,
      )
      expect(BigInt(rows[0]?.amount ?? 0)).toBe(total)
    },
    20 * 60_000,
  )
})

describe('the table of what a stop costs', () => {
  it('says what days are billed', async () => {
    const { items } = await call(app, offers.browse, { query: { count: 2 } })
    const shown = items.find(({ id }) => id === offer.id)?.asked
    const [running, stopped] = [toMinor(shown?.running ?? '0'), toMinor(shown?.stopped ?? '0')]
    const day = async (...states: readonly [hours: number, status: RentalStatus][]): Promise<bigint> => {
      const rental = randomUUID()
      let at = 0
      const moments = [...states, [0, 'released'] as const].map(([hours, status], index): Moment => {
        const moment = { id: randomUUID(), rental, at: at * 1000, revision: index + 1, status, fault: null, ran: true, count: 2, disk: 66 * gib }
        at += hours * hour
        return moment
      })
      await tell(moments)
      await rated(25)
      return (await billed()).get(rental) ?? 0n
    }
    expect(await day([24, 'running'])).toBe(24n * running)
    expect(await day([24, 'stopped'])).toBe(24n * stopped)
    expect(await day([8, 'running'], [16, 'stopped'])).toBe(8n * running + 16n * stopped)
  })
})
