import { z } from 'zod'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { insertAccount } from '../account/account.store.ts'
import { readTariff } from '../catalogue/catalogue.store.ts'
import { createTariff, wholeFraction, type Tariff } from '../catalogue/tariff.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import type { Metering } from '../metering/metering.service.ts'
import { createAmounts, linesOf, type Line } from './lines.ts'
import { uncovered } from './prepaid.ts'
import { spansWithin } from './prepaid.store.ts'
import * as store from './rating.store.ts'

const hour = 3_600
/** So many resources in a transaction, and so much of their time: what is behind by a month does not come at once. */
const resourcesAtOnce = 500
const secondsAtOnce = 24 * hour
const inParallel = 2
/** Prices and events of an hour are written by then, also by a transaction that took its time. */
const graceSeconds = 180

export const rateUsageJob = defineJob({ name: 'bill.usage.rate', input: z.object({}), concurrency: 1, schedule: '5 * * * *' })

export type Rating = ReturnType<typeof createRating>

export function createRating({ db, now, metering }: Pick<Platform, 'db' | 'now'> & { metering: Pick<Metering, 'settle'> }) {
  /**
   * One batch, in one transaction: killed, it never was.
   * @param closed seconds since 1970: hours before it are rated
   */
  const rateSome = (tariff: Tariff, closed: number, amountFor: ReturnType<typeof createAmounts>): Promise<number> =>
    db.transaction().execute(async (tx) => {
      const claimed = await store.claimResources(tx, closed, resourcesAtOnce)
      if (claimed.length === 0) return 0
      const windows = claimed.map(({ id, rated_until, again }) => ({ id, again, from: rated_until, to: Math.min(closed, rated_until + secondsAtOnce) }))
      const repeated = windows.filter(({ again }) => again)
      await store.lockLines(tx, repeated.length > 0)
      const intervals = await store.intervalsWithin(tx, windows)
      const spans = await spansWithin(tx, windows)
      const wanted = windows.flatMap(({ id, from, to }) => linesOf(tariff, id, uncovered(intervals.get(id) ?? [], spans.get(id) ?? []), from, to, amountFor))
      const { obsolete, missing } = repeated.length === 0 ? { obsolete: [], missing: wanted } : compare(await store.validLines(tx, repeated), wanted)
      await store.voidLines(tx, obsolete)
      await store.insertLines(tx, missing, fractionOf)
      await store.setRated(tx, windows)
      return claimed.length
    })

  /**
   * Brings the ledger up to what days cost by now: bills and invoices are of the hours in which something was used,
   * not of those in which it was charged. What comes back is first, so that what only moves from day to day is no debt meanwhile.
   */
  const post = (bpId: string, days: readonly string[]): Promise<void> =>
    db.transaction().execute(async (tx) => {
      await insertAccount(tx, bpId)
      // Whoever posts holds it: the second finds nothing left to post.
      await lockOwner(tx, bpId)
      const postings = await store.postingsOf(tx, bpId, days)
      for (const { day, rated, posted } of postings.toSorted((one, other) => Number(one.rated - one.posted > 0n) - Number(other.rated - other.posted > 0n))) {
        if (rated === posted) continue
        await ledger.chargeUsage(tx, { owner_id: bpId, amount: rated - posted, key: uuidv7(), note: day, used_on: day })
        await store.setPosted(tx, bpId, day, rated)
      }
    })

  const rating = {
    /** Settles, rates and posts what was used in hours that are over. Interrupted anywhere, the next run goes on. */
    async run(signal?: AbortSignal): Promise<void> {
      const closed = Math.floor((now().getTime() / 1000 - graceSeconds) / hour) * hour
      await metering.settle(signal)
      await rating.rate(closed, signal)
      await rating.post(signal)
    },

    /** @param closed seconds since 1970, an even hour */
    async rate(closed: number, signal?: AbortSignal): Promise<void> {
      // Read after the hour was over: what is made later begins later.
      const tariff = createTariff(await readTariff(db, 'hour'))
      const amountFor = createAmounts()
      const rateAll = async (): Promise<void> => {
        for (;;) if (signal?.aborted === true || (await rateSome(tariff, closed, amountFor)) === 0) return
      }
      // What one that failed held is left over; who comes back must not find another still at work.
      const ends = await Promise.allSettled(Array.from({ length: inParallel }, rateAll))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },

    async post(signal?: AbortSignal): Promise<void> {
      for (const [bpId, days] of Map.groupBy(await store.unpostedDays(db), ({ bp_id }) => bp_id)) {
        if (signal?.aborted === true) return
        await post(
          bpId,
          days.map(({ day }) => day),
        )
      }
    },
  }
  return { ...rating, jobHandler: handleJob(rateUsageJob, (_, { signal }) => rating.run(signal)) satisfies JobHandler }
}

const fractionOf = ({ terms }: Line): number => terms.discount?.fraction ?? wholeFraction

/** Which lines that there are have to go, and which are missing. */
function compare(valid: Awaited<ReturnType<typeof store.validLines>>, wanted: readonly Line[]): { obsolete: number[]; missing: Line[] } {
  const there = new Map(
    valid.map((line) => [
      [
        line.resource_id,
        line.meter,
        line.variant,
        line.from,
        line.seconds,
        line.quantity,
        line.bp_id,
        line.project_id,
        line.price_id,
        line.discount_id,
        line.amount,
        line.attributes,
      ].join(' '),
      line.id,
    ]),
  )
  const missing = wanted.filter((line) => {
    const { interval, terms } = line
    const { meter, variant, quantity, bp_id, project_id, attributes } = interval
    return !there.delete(
      [
        line.resource_id,
        meter,
        variant,
        line.from,
        line.seconds,
        quantity,
        bp_id,
        project_id,
        terms.price.id,
        terms.discount?.id ?? null,
        line.amount,
        attributes,
      ].join(' '),
    )
  })
  return { obsolete: [...there.values()], missing }
}
