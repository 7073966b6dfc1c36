import { randomUUID } from 'node:crypto'
import { meters, type Meter } from '@zhisuan/contract/bill/meter'
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openDatabase, type Db } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { createLog } from '../../../platform/log.ts'
import { Refusal } from '../../../platform/errors.ts'
import { freshDatabase } from '../../../testing/database.ts'
import { insertAccount } from '../account/account.store.ts'
import { balanceOf, ledger } from '../ledger/ledger.service.ts'
import { createMetering } from '../metering/metering.service.ts'
import { recordEvent } from '../metering/metering.store.ts'
import { refundOf } from '../order/terms.ts'
import { cutSpan, insertSpan } from './prepaid.store.ts'
import { createRating } from './rating.service.ts'

/*
 * The bill, a second time: plain, slow, in fractions, and sharing nothing with the code under
 * test but the table of meters.
 */

interface Fraction {
  n: bigint
  d: bigint
}
const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b))
const fraction = (n: bigint, d: bigint): Fraction => {
  const by = gcd(n < 0n ? -n : n, d)
  return by === 0n ? { n: 0n, d: 1n } : { n: n / by, d: d / by }
}
const times = (a: Fraction, b: Fraction) => fraction(a.n * b.n, a.d * b.d)
const plus = (a: Fraction, b: Fraction) => fraction(a.n * b.d + b.n * a.d, a.d * b.d)
/** Half up. */
const rounded = ({ n, d }: Fraction): bigint => {
  const whole = n / d
  return 2n * (n - whole * d) >= d ? whole + 1n : whole
}

const floored = ({ n, d }: Fraction): bigint => n / d

interface Event {
  id: string
  resource: number
  /** Milliseconds since the month began. */
  at: number
  revision: number
  project: number
  usage: Partial<Record<string, number>>
}
interface Price {
  id: string
  sku: number
  made: number
  tiers: { above: number; price: bigint }[]
  from: number
  to: number | null
}
interface Discount {
  id: string
  fraction: number
  organisation: number | null
  product: number | null
  from: number
  to: number | null
}
/** What of a resource is paid in advance, from and to; less far where it was given back then. */
interface Prepaid {
  id: string
  resource: number
  from: number
  to: number
  back: number | null
  usage: Record<string, number>
  paid: bigint
}
interface Month {
  prepaid: Prepaid[]
  events: Event[]
  prices: Price[]
  discounts: Discount[]
}

const skus = [
  { meter: 'vm.vcpu', variant: '', product: 0 },
  { meter: 'vm.memory', variant: '', product: 0 },
  { meter: 'vm.gpu', variant: '', product: 1 },
  { meter: 'vm.gpu', variant: 'A100', product: 2 },
  { meter: 'eip.bandwidth', variant: '', product: 3 },
] as const satisfies { meter: Meter; variant: string; product: number }[]
const usageKeys = ['vm.vcpu', 'vm.memory', 'vm.gpu/A100', 'vm.gpu/V100', 'eip.bandwidth', 'vm.disk'] as const
const organisations = 2
const resources = 4
const organisationOf = (resource: number): number => resource % organisations
const days = 31
const end = days * 86_400
/** A month of Beijing. */
const start = Date.parse('2026-10-01T00:00:00+08:00') / 1000
const moment = (at: number) => new Date((start + at) * 1000)

interface BilledLine {
  resource: number
  key: string
  from: number
  seconds: number
  product: number
  project: number
  amount: bigint
}

function billOf({ events, prices, discounts, prepaid }: Month): BilledLine[] {
  const lines: BilledLine[] = []
  for (let resource = 0; resource < resources; resource++) {
    const own = [...new Map(events.filter((event) => event.resource === resource).map((event) => [event.id, event])).values()]
    const stateAt = (second: number): Event | undefined =>
      own
        .filter(({ at }) => Math.floor(at / 1000) <= second)
        .reduce<Event | undefined>(
          (last, one) => (last === undefined || one.at > last.at || (one.at === last.at && one.revision > last.revision) ? one : last),
          undefined,
        )
    const eventSeconds = own.map(({ at }) => Math.floor(at / 1000))
    const limits = [...prices, ...discounts].flatMap(({ from, to }) => (to === null ? [from] : [from, to]))
    const hours = Array.from({ length: days * 24 + 1 }, (_, index) => index * 3_600)
    const covers = prepaid.filter((one) => one.resource === resource).map(({ from, to, back, usage }) => ({ from, to: back ?? to, usage }))
    const cuts = [...new Set([...eventSeconds, ...limits, ...hours, ...covers.flatMap(({ from, to }) => [from, to])])]
      .filter((second) => second >= 0 && second <= end)
      .sort((a, b) => a - b)
    const states = cuts.map(stateAt)
    for (const key of usageKeys) {
      const [meter = '', variant = ''] = key.split('/')
      const candidates = skus
        .flatMap((sku, index) => (sku.meter === meter && (sku.variant === variant || sku.variant === '') ? [{ ...sku, index }] : []))
        .sort((a, b) => b.variant.length - a.variant.length)
      const open: { line: BilledLine; same: string; rate: Fraction }[] = []
      const close = () => {
        for (const { line, rate } of open.splice(0)) lines.push({ ...line, amount: rounded(times(rate, fraction(BigInt(line.seconds), 3_600n))) })
      }
      for (const [index, from] of cuts.entries()) {
        const to = cuts[index + 1]
        if (from % 3_600 === 0) close()
        if (to === undefined) break
        const state = states[index]
        const covered = covers.filter((one) => one.from <= from && from < one.to).reduce((sum, one) => sum + (one.usage[key] ?? 0), 0)
        const quantity = Math.max(0, (state?.usage[key] ?? 0) - covered)
        const chosen = candidates
          .map((sku) => {
            const begun = prices.filter((price) => price.sku === sku.index && price.from <= from).sort((a, b) => a.from - b.from || a.made - b.made)
            return { sku, price: begun.at(-1) }
          })
          .find(({ price }) => price !== undefined && (price.to === null || price.to > from))
        if (state === undefined || quantity === 0 || chosen?.price === undefined) {
          close()
          continue
        }
        const { sku, price } = chosen
        const fitting = discounts.filter(
          (one) =>
            (one.organisation === null || one.organisation === organisationOf(resource)) &&
            (one.product === null || one.product === sku.product) &&
            one.from <= from &&
            (one.to === null || one.to > from),
        )
        const discount = fitting.sort((a, b) => a.fraction - b.fraction || (a.id < b.id ? -1 : 1))[0]
        const same = [quantity, state.project, price.id, discount?.id].join(' ')
        const [run] = open
        if (run?.same === same) {
          run.line.seconds += to - from
          continue
        }
        close()
        const units = fraction(BigInt(quantity), BigInt(meters[sku.meter].perUnit))
        const rate = price.tiers.reduce<Fraction>(
          (sum, tier, at) => {
            const [above, next] = [fraction(BigInt(tier.above), 1n), price.tiers[at + 1]]
            const upTo = next === undefined || units.n < BigInt(next.above) * units.d ? units : fraction(BigInt(next.above), 1n)
            const part = plus(upTo, { n: -above.n, d: above.d })
            return part.n <= 0n ? sum : plus(sum, times(part, fraction(tier.price, 1n)))
          },
          fraction(0n, 1n),
        )
        open.push({
          line: { resource, key, from, seconds: to - from, product: sku.product, project: state.project, amount: 0n },
          same,
          rate: times(rate, fraction(BigInt(discount?.fraction ?? 10_000), 10_000n)),
        })
      }
      close()
    }
  }
  return lines
}

/* What happens in a month. */

const second = fc.integer({ min: 0, max: end - 1 })
const gib = 2 ** 30
const usage = fc.record(
  {
    'vm.vcpu': fc.integer({ min: 0, max: 16 }),
    'vm.memory': fc.integer({ min: 1, max: 64 * 1024 }).map((mib) => mib * 2 ** 20),
    'vm.gpu/A100': fc.integer({ min: 1, max: 4 }),
    'vm.gpu/V100': fc.integer({ min: 1, max: 4 }),
    'eip.bandwidth': fc.integer({ min: 1, max: 300 }),
    'vm.disk': fc.constant(100 * gib),
  },
  { requiredKeys: [] },
)
const events = fc
  .array(
    fc.record({
      resource: fc.integer({ min: 0, max: resources - 1 }),
      second,
      ms: fc.constantFrom(0, 0, 1, 500, 999),
      project: fc.integer({ min: 0, max: 2 }),
      usage,
      again: fc.boolean(),
      later: fc.option(usage, { freq: 4 }),
    }),
    { minLength: 10, maxLength: 60 },
  )
  .map((all) =>
    all.flatMap(({ resource, second: at, ms, project, usage: used, again, later }, index): Event[] => {
      const event = (part: number, what: Event['usage'], shift: number): Event => ({
        id: randomUUID(),
        resource,
        at: at * 1000 + ms + shift,
        revision: index * 2 + part,
        project,
        usage: what,
      })
      const first = event(0, used, 0)
      // Twice the same; another of the very same moment; another within the same second or the next.
      return [first, ...(again ? [first] : []), ...(later === null ? [] : [event(1, later, index % 2)])]
    }),
  )
const period = fc
  .record({ from: second, length: fc.option(fc.integer({ min: 1, max: end }), { nil: null }) })
  .map(({ from, length }) => ({ from, to: length === null ? null : from + length }))
const minor = fc.bigInt(0n, 10n ** 9n)
const prices = fc
  .array(
    fc.record({
      sku: fc.integer({ min: 0, max: skus.length - 1 }),
      period,
      steps: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
      amounts: fc.array(minor, { minLength: 4, maxLength: 4 }),
      early: fc.boolean(),
    }),
    { minLength: 4, maxLength: 25 },
  )
  .map((all) =>
    all.map(({ sku, period: { from, to }, steps, amounts, early }, made): Price => {
      const aboves = [0, ...steps].map((_, index) => steps.slice(0, index).reduce((sum, step) => sum + step, 0))
      // Some hold before the month begins.
      return { id: randomUUID(), sku, made, tiers: aboves.map((above, index) => ({ above, price: amounts[index] ?? 0n })), from: early ? -10 : from, to }
    }),
  )
const discounts = fc
  .array(
    fc.record({
      fraction: fc.integer({ min: 1, max: 10_000 }),
      organisation: fc.option(fc.integer({ min: 0, max: organisations - 1 }), { nil: null }),
      product: fc.option(fc.integer({ min: 0, max: 3 }), { nil: null }),
      period,
    }),
    { maxLength: 10 },
  )
  .map((all) => all.map(({ period: { from, to }, ...discount }): Discount => ({ id: randomUUID(), ...discount, from, to })))
/** For each resource one after the other; some are given back before, within or after their time. */
const prepaid = fc
  .array(
    fc.record({
      resource: fc.integer({ min: 0, max: resources - 1 }),
      gap: fc.integer({ min: 0, max: 4 * 86_400 }),
      length: fc.integer({ min: 1, max: 12 * 86_400 }),
      back: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 2 }),
      used: usage,
      paid: fc.bigInt(1n, 10n ** 11n),
    }),
    { maxLength: 12 },
  )
  .map((all) => {
    const ends = new Map<number, number>()
    return all.map(({ resource, gap, length, back, used, paid }): Prepaid => {
      const from = (ends.get(resource) ?? 0) + gap
      ends.set(resource, from + length)
      const quantities = Object.fromEntries(Object.entries(used).flatMap(([key, quantity]) => (quantity === undefined ? [] : [[key, quantity]])))
      return { id: randomUUID(), resource, from, to: from + length, back: back === null ? null : from + Math.floor(length * back), usage: quantities, paid }
    })
  })
const payments = fc.array(fc.record({ organisation: fc.integer({ min: 0, max: organisations - 1 }), amount: fc.bigInt(1n, 10n ** 12n) }), { maxLength: 8 })
/** How what happens is told: in which order, in how many parts, and where the clock is after each. */
const delivery = fc.record({
  order: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
  parts: fc.array(fc.integer({ min: 0, max: days * 24 }), { minLength: 1, maxLength: 6 }),
  kills: fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
})

class Killed extends Error {}

/** A database whose transactions are now and then abandoned when all their work is done. */
function mortal(db: Db, dies: () => boolean): Db {
  return new Proxy(db, {
    get(target, property) {
      if (property !== 'transaction') {
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      }
      return () => ({
        execute: (work: Parameters<ReturnType<Db['transaction']>['execute']>[0]) =>
          target.transaction().execute(async (tx) => {
            const done = await work(tx)
            if (dies()) throw new Killed()
            return done
          }),
      })
    },
  })
}

/** Until it is done, as whoever is killed comes back. */
async function insist(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
  }
}

describe('a month of whatever happens', () => {
  it('is billed to the last unit as plain arithmetic has it, in whatever order and however often killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ events, prices, discounts, prepaid }), payments, delivery, async (month, paid, how) => {
        const fresh = await freshDatabase()
        const database = openDatabase(fresh.url, { poolSize: 6, log: createLog({ LOG_LEVEL: 'silent' }) })
        try {
          const { db } = database
          const some = (count: number): string[] => Array.from({ length: count }, () => randomUUID())
          const ids = {
            organisations: some(organisations),
            resources: some(resources),
            products: some(4),
            skus: some(skus.length),
            projects: [null, ...some(2)],
          }
          await makeCatalogue(db, ids, month)
          for (const id of ids.organisations) {
            await insertAccount(db, id)
            await db.transaction().execute((tx) => ledger.setCreditLimit(tx, id, 10n ** 10n))
          }

          const kills = how.kills[Symbol.iterator]()
          let died = false
          // Never twice in a row: whoever always dies gets nothing done.
          const dying = mortal(db, () => (died = !died && kills.next().value === 0))
          const metering = createMetering({ db: dying })
          const rating = createRating({ db: dying, now: () => new Date(), metering })
          const order = how.order[Symbol.iterator]()
          const shuffled = month.events.map((event) => ({ event, key: Number(order.next().value) })).sort((a, b) => a.key - b.key)
          /** What came in, of each organisation: told by those who pay once it is there, not by the ledger. */
          const received = ids.organisations.map(() => 0n)
          const came = (organisation: number, amount: bigint): void => void (received[organisation] = (received[organisation] ?? 0n) + amount)
          // One more than there are deliveries, so that whatever is given back is.
          const rounds = [...how.parts, days * 24, days * 24]
          for (const [round, closed] of rounds.entries()) {
            const share = shuffled.filter((_, index) => index % rounds.length === round)
            for (const { event } of share) {
              const { resource, project, at, usage: used, ...rest } = event
              await recordEvent(db, {
                ...rest,
                at: start + at / 1000,
                usage: Object.fromEntries(Object.entries(used).flatMap(([key, quantity]) => (quantity === undefined ? [] : [[key, quantity]]))),
                resource_type: 'nextstack.vm',
                resource_id: ids.resources[resource] ?? '',
                resource_name: `vm-${resource}`,
                bp_id: ids.organisations[organisationOf(resource)] ?? '',
                project_id: ids.projects[project] ?? null,
              })
            }
            for (const [index, { organisation, amount }] of paid.entries()) {
              if (index % rounds.length !== round) continue
              await insist(() =>
                dying.transaction().execute((tx) => ledger.topUp(tx, { owner_id: ids.organisations[organisation] ?? '', amount, key: `payment ${index}` })),
              )
              came(organisation, amount)
            }
            for (const [index, one] of month.prepaid.entries()) {
              const owner_id = ids.organisations[organisationOf(one.resource)] ?? ''
              const span = { order_id: one.id, resource_id: ids.resources[one.resource] ?? '', from: moment(one.from), to: moment(one.to), usage: one.usage }
              // Paid in one round; given back in the next, or later in the same.
              if (index % rounds.length === round) {
                let more = 0n
                await insist(() =>
                  dying.transaction().execute(async (tx) => {
                    more = 0n
                    await ledger.topUp(tx, { owner_id, amount: one.paid, key: `for ${one.id}` })
                    const hold_id = await ledger.hold(tx, { owner_id, amount: one.paid, key: `order ${one.id}` }).catch(async (error: unknown) => {
                      // It went to what was owed before.
                      if (!(error instanceof Refusal && error.refusal === 'balanceInsufficient')) throw error
                      const debt = await ledger.standing(tx, owner_id)
                      more = one.paid - balanceOf(debt) + 1n
                      await ledger.topUp(tx, { owner_id, amount: more, key: `more for ${one.id}` })
                      return ledger.hold(tx, { owner_id, amount: one.paid, key: `order ${one.id}` })
                    })
                    await ledger.capture(tx, { owner_id, hold_id })
                    await insertSpan(tx, span)
                  }),
                )
                came(organisationOf(one.resource), one.paid + more)
              }
              if (one.back !== null && Math.min((index % rounds.length) + (index % 2), rounds.length - 1) === round) {
                const back = one.back
                await insist(() =>
                  dying.transaction().execute(async (tx) => {
                    const amount = refundOf(one.paid, { unused: one.to - back, total: one.to - one.from })
                    await cutSpan(tx, span, moment(back))
                    if (amount > 0n) await ledger.refund(tx, { owner_id, amount, key: `order ${one.id} refund` })
                  }),
                )
              }
            }
            await insist(() => metering.settle())
            await insist(() => rating.rate(start + closed * 3_600))
            await insist(() => rating.post())
          }

          const expected = billOf(month)
          const { rows } = await sql<{
            resource_id: string
            meter: string
            variant: string
            from: number
            seconds: number
            product_id: string
            project_id: string | null
            amount: string
          }>`
            select resource_id, meter, variant, extract(epoch from "from")::bigint - ${start} as "from", seconds, product_id, project_id, amount from usage_lines where voided_at is null
          `.execute(db)
          const textOf = (line: BilledLine) => [line.resource, line.key, line.from, line.seconds, line.product, line.project, line.amount].join(' ')
          const billed = rows.map((row) =>
            [
              ids.resources.indexOf(row.resource_id),
              row.variant === '' ? row.meter : `${row.meter}/${row.variant}`,
              row.from,
              row.seconds,
              ids.products.indexOf(row.product_id),
              ids.projects.indexOf(row.project_id),
              row.amount,
            ].join(' '),
          )
          const [one, other] = [new Set(billed), new Set(expected.map(textOf))]
          expect({ count: billed.length, tooMuch: [...one.difference(other)].slice(0, 5), missing: [...other.difference(one)].slice(0, 5) }).toEqual({
            count: expected.length,
            tooMuch: [],
            missing: [],
          })

          for (const [organisation, bp_id] of ids.organisations.entries()) {
            const own = expected.filter(({ resource }) => organisationOf(resource) === organisation)
            const total = own.reduce((sum, { amount }) => sum + amount, 0n)
            // Sums, by each of their dimensions.
            const keysOf: Record<string, (line: BilledLine) => string> = {
              month: () => '',
              day: ({ from }) => `2026-10-${String(Math.floor(from / 86_400) + 1).padStart(2, '0')}`,
              product: ({ product }) => ids.products[product] ?? '',
              project: ({ project }) => ids.projects[project] ?? '',
              resource: ({ resource }) => ids.resources[resource] ?? '',
            }
            for (const [dimension, keyOf] of Object.entries(keysOf)) {
              const sums = new Map<string, bigint>()
              for (const line of own) sums.set(keyOf(line), (sums.get(keyOf(line)) ?? 0n) + line.amount)
              const kept = await sql<{
                key: string
                amount: string
              }>`select key, amount from usage_sums where bp_id = ${bp_id} and dimension = ${dimension} and amount <> 0`.execute(db)
              expect(Object.fromEntries(kept.rows.map(({ key, amount }) => [key, amount])), dimension).toEqual(
                Object.fromEntries([...sums].flatMap(([key, amount]) => (amount === 0n ? [] : [[key, String(amount)]]))),
              )
            }
            // The ledger.
            const standing = await ledger.standing(db, bp_id)
            const orders = month.prepaid.filter(({ resource }) => organisationOf(resource) === organisation)
            const advance = orders.reduce((sum, one) => sum + one.paid, 0n)
            // The share of what was not used, in fractions, and down.
            const returned = orders.reduce(
              (sum, one) =>
                sum + (one.back === null ? 0n : floored(times(fraction(one.paid, 1n), fraction(BigInt(one.to - one.back), BigInt(one.to - one.from))))),
              0n,
            )
            expect(standing.balances.revenue ?? 0n).toBe(total + advance)
            expect(standing.balances.held ?? 0n).toBe(0n)
            expect(standing.balances.refunds ?? 0n).toBe(-returned)
            expect(standing.balances.funds ?? 0n).toBe(-(received[organisation] ?? 0n))
            expect(balanceOf(standing)).toBe((received[organisation] ?? 0n) + returned - total - advance)
            expect(Object.values(standing.balances).reduce((sum, amount) => sum + amount, 0n)).toBe(0n)
          }
        } finally {
          await database.close()
          await fresh.drop()
        }
      }),
      { numRuns: 6, endOnFailure: true },
    )
  })
})

async function makeCatalogue(db: Db, ids: { organisations: string[]; products: string[]; skus: string[] }, month: Month): Promise<void> {
  const category_id = randomUUID()
  const author = { created_by: null, created_by_name: '' }
  await db.insertInto('bill_categories').values({ id: category_id, name: 'c', description: '' }).execute()
  await db
    .insertInto('bill_products')
    .values(ids.products.map((id, index) => ({ id, category_id, name: `p-${index}`, description: '' })))
    .execute()
  await db
    .insertInto('bill_skus')
    .values(
      skus.map(({ meter, variant, product }, index) => ({
        id: ids.skus[index] ?? '',
        product_id: ids.products[product] ?? '',
        name: `s-${index}`,
        meter,
        variant,
      })),
    )
    .execute()
  // One after the other: what was made later holds where two begin together.
  for (const { id, sku, tiers, from, to } of month.prices) {
    await db
      .insertInto('bill_prices')
      .values({
        id,
        sku_id: ids.skus[sku] ?? '',
        period: 'hour',
        tiers: jsonb(tiers.map(({ above, price }) => ({ above, price: String(price) }))),
        effective_from: moment(from),
        effective_to: to === null ? null : moment(to),
        ...author,
      })
      .execute()
  }
  for (const { id, fraction: share, organisation, product, from, to } of month.discounts) {
    await db
      .insertInto('bill_discounts')
      .values({
        id,
        name: id,
        fraction: share,
        bp_id: organisation === null ? null : (ids.organisations[organisation] ?? ''),
        product_id: product === null ? null : (ids.products[product] ?? ''),
        period: null,
        effective_from: moment(from),
        effective_to: to === null ? null : moment(to),
        ...author,
      })
      .execute()
  }
}
