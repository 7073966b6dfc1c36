import type { Call } from '@zhisuan/contract/define'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { z } from 'zod'
import type { Handler, HandlerInput } from '../../../platform/http/handler.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { createProjectLook } from '../tenancy/project.look.ts'
import type { Telling } from '../tenancy/project.problems.ts'
import { meteredKinds, seenServer, type MeteredList, type Seen } from './metering.rules.ts'
import * as store from './metering.store.ts'
import { resizedMeanwhile } from './resizes.ts'

/** Each minute. What fails is not tried again: the next minute looks anew. One that takes longer keeps no other cloud waiting. */
export const lookAtUsageJob = defineJob({ name: 'compute.usage.look', input: z.object({}), concurrency: 2, retries: 0, schedule: '* * * * *' })

/** After a change through us: what was asked for has begun by then, and what is asked for next is seen by the same look. */
const soonMs = 3_000
/** A look keeps a cloud busy for as long as its lists are: of a large one there are fewer, at most this part of the time. */
const share = 1 / 5
const inCloud = z.object({ cloud_id: z.uuid() })
/** What changes nothing of these costs nothing: networks and their rules are free. */
const costs = /^compute\.(instance|volume|volumeSnapshot|volumeBackup|volumeTransfer|floatingIp|image|recycled|project)\./

/**
 * Tells the meter what an instance uses just before it ends through us: no look sees it any more, and one that was
 * resized since the look before would never be paid at its size.
 */
export async function meterBeforeEnd(
  { db, now, log }: Pick<Platform, 'db' | 'now' | 'log'>,
  cloudId: string,
  administrator: OpenStack,
  id: string,
): Promise<void> {
  try {
    const seen = [seenServer(await administrator.compute.servers.get(id))]
    const moment = now()
    await db.transaction().execute((tx) => store.recordLook(tx, { cloudId, type: 'compute.instance', began: moment, now: moment, seen, partial: true }))
  } catch (error) {
    // It ends all the same: who deletes something pays no more for it.
    log.info({ err: error, cloud: cloudId, instance: id }, 'what an instance used before it ended could not be read')
  }
}

export type UsageLooks = ReturnType<typeof createUsageLooks>

/**
 * What is used on clouds of this family. The cloud is the record, also of that, so it is read: all projects at once,
 * one list for each kind, and what differs from the look before is told to billing.
 */
export function createUsageLooks(
  parts: Pick<Platform, 'db' | 'now'> & Telling & { clouds: Pick<CloudService, 'all' | 'openStack'>; soonMs?: number; confirmMs?: number },
) {
  const { db, now, log, clouds } = parts
  const lookAtProjects = createProjectLook(parts)
  const stopping = new AbortController()
  const underWay = new Map<string, Promise<void>>()
  const soon = new Map<string, NodeJS.Timeout>()
  /** Until when a cloud is left alone. */
  const resting = new Map<string, number>()

  /** Only a list that was read whole says what is not there any more. */
  const lookAtKind = async (cloudId: string, cloud: OpenStack, type: string, began: Date, list: MeteredList): Promise<void> => {
    try {
      // A page may tell again what moved on to it meanwhile.
      const seen = new Map((await all(list(cloud, stopping.signal))).map((one: Seen) => [one.id, one]))
      const meanwhile = type === 'compute.instance' ? await resizedMeanwhile({ db, log }, cloudId, cloud, seen, stopping.signal) : []
      await db.transaction().execute((tx) => store.recordLook(tx, { cloudId, type, began, now: now(), seen: [...seen.values()], meanwhile }))
    } catch (error) {
      // Whatever stands in its way: it stays as it was seen last.
      if (!stopping.signal.aborted) log.info({ err: error, cloud: cloudId, type }, 'what a cloud uses could not be read')
    }
  }
  const look = async (cloudId: string): Promise<void> => {
    const began = now()
    try {
      const cloud = await clouds.openStack(cloudId)
      // Who lost that role is shown empty lists by some services, and not refused.
      const { roles } = await cloud.session.whoami(stopping.signal)
      if (!roles.some((role) => /admin/i.test(role))) throw new Error('its account is no administrator')
      // First: what lies in a project that is not there any more is metered no more.
      await lookAtProjects(cloudId, cloud, stopping.signal)
      await Promise.all(Object.entries(meteredKinds).map(([type, list]) => lookAtKind(cloudId, cloud, type, began, list)))
    } catch (error) {
      if (!stopping.signal.aborted) log.info({ err: error, cloud: cloudId }, 'what a cloud uses could not be read')
    }
  }
  /** One at a time of each cloud on this server; others may look at the same time. */
  const once = (cloudId: string): Promise<void> => {
    const known = underWay.get(cloudId)
    if (known !== undefined || stopping.signal.aborted) return known ?? Promise.resolve()
    const began = performance.now()
    const mine = look(cloudId).finally(() => {
      underWay.delete(cloudId)
      const ended = performance.now()
      resting.set(cloudId, ended + (ended - began) * (1 / share - 1))
    })
    underWay.set(cloudId, mine)
    return mine
  }
  const rest = (cloudId: string): number => (resting.get(cloudId) ?? 0) - performance.now()
  const lookSoon = (cloudId: string): void => {
    if (soon.has(cloudId) || stopping.signal.aborted) return
    const delay = Math.max(parts.soonMs ?? soonMs, rest(cloudId))
    const timer = setTimeout(() => {
      soon.delete(cloudId)
      // One that began before the change may not have seen it.
      void (underWay.get(cloudId) ?? Promise.resolve()).then(() => once(cloudId))
    }, delay)
    soon.set(cloudId, timer.unref())
  }

  return {
    /** Reads what is used on a cloud; what could not be read is in the log, and stays as it was. */
    look: once,

    /** The same, with all that was so before it was asked for: one that is under way may have read before. */
    lookAnew: async (cloudId: string): Promise<void> => {
      await underWay.get(cloudId)
      await once(cloudId)
    },

    /** A call with what answers it: what it changed on its cloud is seen soon. */
    afterChange: (handler: Handler): Handler => {
      if (handler.shared || handler.lines === true || handler.call.method === 'GET' || !costs.test(handler.call.id)) return handler
      return {
        ...handler,
        async run(input: HandlerInput<Call>) {
          const answer = await handler.run(input)
          const { success, data } = inCloud.safeParse(input.params)
          if (success) lookSoon(data.cloud_id)
          return answer
        },
      }
    },

    job: lookAtUsageJob,
    jobHandler: handleJob(lookAtUsageJob, async () => {
      const known = await clouds.all()
      await Promise.all(known.filter(({ id, product, status }) => product !== 'nextstack' && status !== 'offline' && rest(id) <= 0).map(({ id }) => once(id)))
    }),

    async stop(): Promise<void> {
      stopping.abort()
      for (const timer of soon.values()) clearTimeout(timer)
      await Promise.all(underWay.values())
    },
  }
}
