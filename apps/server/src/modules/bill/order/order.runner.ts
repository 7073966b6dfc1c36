import { z } from 'zod'
import { toRefusal } from '../../../platform/http/problems.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Renewals } from './renewal.ts'

/** How many are renewed by one look. */
const atOnce = 500

export const orderClockJob = defineJob({ name: 'bill.order.clock', input: z.object({}), concurrency: 1, schedule: '* * * * *' })

/** Expires what nobody paid, and renews by itself what is about to end. */
export function createOrderRunner({ log }: Pick<Platform, 'log'>, renewals: Renewals) {
  const renew = async (resourceId: string): Promise<void> => {
    let order: string | null = null
    try {
      order = await renewals.orderRenewal(resourceId)
      if (order !== null) await renewals.payRenewal(order)
    } catch (error) {
      const refusal = toRefusal(error)
      log[refusal.refusal === 'unknown' ? 'error' : 'info']({ err: error, resource: resourceId }, 'something was not renewed')
      await renewals.renewalFailed(resourceId, order, refusal.message)
    }
  }
  const run = async (signal?: AbortSignal): Promise<void> => {
    await renewals.expire()
    for (const { resource_id } of await renewals.due(atOnce)) {
      if (signal?.aborted === true) return
      await renew(resource_id)
    }
  }
  return { run, jobHandler: handleJob(orderClockJob, (_, { signal }) => run(signal)) }
}
