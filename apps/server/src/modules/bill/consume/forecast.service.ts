import type { consumes, UsageForecast } from '@zhisuan/contract/bill/consume'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readTariff } from '../catalogue/catalogue.store.ts'
import { createTariff } from '../catalogue/tariff.ts'
import { narrowed } from './consume.scope.ts'
import * as store from './consume.store.ts'
import { foresee, type Expectation } from './forecast.ts'
import { beginOf, dayOf, monthPlus } from './months.ts'

/** So many complete days tell how much a day differs from the one before. */
const historyDays = 30
const dayMs = 86_400_000

/** What the running month and the next are expected to come to, should all that is used now go on being used. */
export function createForecast({ db, now }: Pick<Platform, 'db' | 'now'>) {
  return async (actor: Actor, { bp_id }: QueryOf<typeof consumes.forecast>): Promise<UsageForecast> => {
    const scope = narrowed(actor, bp_id)
    const at = now().getTime()
    const month = dayOf(at).slice(0, 7)
    const [tariff, used, { rows, ratedUntil }, costs] = await Promise.all([
      readTariff(db, 'hour'),
      store.totalOf(db, scope, month),
      store.inUse(db, scope),
      store.daysSince(db, scope, dayOf(at - (historyDays + 1) * dayMs)),
    ])
    // What is rated to the end of the day before is complete.
    const rated = ratedUntil === null ? at : Math.min(at, ratedUntil * 1000)
    const history = completeDays(costs, rated)
    const foreseen = foresee({
      tariff: createTariff(tariff),
      inUse: rows,
      now: Math.floor(at / 1000),
      months: [beginOf(month), beginOf(monthPlus(month, 1)), beginOf(monthPlus(month, 2))],
      used: toMinor(used),
      usedOf: costs,
      history,
    })
    return {
      month,
      next_month: monthPlus(month, 1),
      rated_until: iso(new Date(rated)),
      used,
      hourly: toDecimal(foreseen.hourly),
      current: shapeExpectation(foreseen.current),
      next: shapeExpectation(foreseen.next),
      days_known: history.length,
      days: foreseen.days.map(({ day, amount }) => ({ day, amount: toDecimal(amount) })),
      changes: foreseen.changes,
    }
  }
}

const shapeExpectation = ({ expected, low, high }: Expectation): UsageForecast['current'] => ({
  expected: toDecimal(expected),
  low: low === null ? null : toDecimal(low),
  high: high === null ? null : toDecimal(high),
})

/** The days before the one that is being rated, from the first that cost something; those between that cost nothing count. */
function completeDays(costs: ReadonlyMap<string, bigint>, rated: number): bigint[] {
  const days = Array.from({ length: historyDays }, (_, index) => costs.get(dayOf(rated - (historyDays - index) * dayMs)) ?? 0n)
  const first = days.findIndex((amount) => amount > 0n)
  return first === -1 ? [] : days.slice(first)
}
