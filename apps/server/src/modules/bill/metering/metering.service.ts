import { z } from 'zod'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { followUse } from '../order/order.store.ts'
import * as store from './metering.store.ts'
import { intervalsOf } from './timeline.ts'

const batch = 500
const hour = 3_600

/** What is new shows in orders and forecasts within a minute; it is rated by the hour. */
export const settleUsageJob = defineJob({ name: 'bill.usage.settle', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

export type Metering = ReturnType<typeof createMetering>

/** What was used, from the events that tell of it. */
export function createMetering({ db }: Pick<Platform, 'db'>) {
  /** Answers how many resources were settled. */
  const settleSome = async (): Promise<number> => {
    const waiting = (await store.waitingResources(db, batch)).map(({ resource_id }) => resource_id)
    if (waiting.length === 0) return 0
    await db.transaction().execute(async (tx) => {
      await store.lockResources(tx, waiting)
      const resources = (await store.eventsOf(tx, waiting)).flatMap(({ events, ...resource }) => {
        const fresh = events.filter(({ settled }) => !settled)
        // Another server was faster.
        if (fresh.length === 0) return []
        const intervals = intervalsOf(events)
        const from = Math.min(...fresh.map(({ at }) => Math.floor(at / hour) * hour))
        const to = intervals.reduce<number | null>((last, interval) => (last === null || interval.to === null ? null : Math.max(last, interval.to)), from)
        const began = events.find(({ usage }) => Object.keys(usage).length > 0)
        return [{ settled: { ...resource, intervals, from, to }, began, events: fresh.map(({ id }) => id) }]
      })
      await store.settleResources(
        tx,
        resources.map(({ settled }) => settled),
        resources.flatMap(({ events }) => events),
      )
      await followUse(
        tx,
        resources.flatMap(({ settled, began }) => (began === undefined ? [] : [{ ...settled, began }])),
      )
    })
    return waiting.length
  }

  /** Brings intervals up to all events that there are. */
  const settle = async (signal?: AbortSignal): Promise<void> => {
    for (;;) if (signal?.aborted === true || (await settleSome()) === 0) return
  }
  return { settle, jobHandler: handleJob(settleUsageJob, (_, { signal }) => settle(signal)) }
}
