import { isDeepStrictEqual } from 'node:util'
import { EngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import { only } from '../../../platform/lines.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import { seenServer, type Seen } from './metering.rules.ts'
import { lastLook, seenOtherwise, type Meanwhile } from './metering.store.ts'

const type = 'compute.instance'
/** Each is one question: of more the meter goes by what was seen. */
const askedAtOnce = 20
/** By how much a cloud's clock may be behind ours. */
const skewMs = 300_000

/**
 * Instances that others resized since the look before: since when each has its size, also of those that are gone by now.
 * Nova keeps of one that was deleted its last flavor, and of each when it was resized; of two resizes between two looks
 * the size between them is known to nobody. What cannot be read, and what Nova does not tell us, leaves the meter at
 * what was seen.
 * @param seen the whole list
 */
export async function resizedMeanwhile(
  { db, log }: { db: Db; log: Platform['log'] },
  cloudId: string,
  cloud: OpenStack,
  seen: ReadonlyMap<string, Seen>,
  signal: AbortSignal,
): Promise<Meanwhile[]> {
  try {
    const [before, otherwise] = await Promise.all([lastLook(db, cloudId, type), seenOtherwise(db, cloudId, type, [...seen.values()])])
    if (before === null || otherwise.length === 0) return []
    const gone = new Set(otherwise.filter((one) => one.gone).map(({ id }) => id))
    const ended = await lastSeen(cloud, gone, new Date(before.getTime() - skewMs), signal)
    const resized = otherwise.flatMap(({ id, usage }) => {
      const now = seen.get(id) ?? ended.get(id)
      const size = now?.sizes?.[usage['vm.vcpu'] === undefined ? 'stopped' : 'running']
      return size === undefined || isDeepStrictEqual(size, usage) ? [] : [{ id, before: usage, usage: size }]
    })
    if (resized.length > askedAtOnce) log.info({ cloud: cloudId, instances: resized.length }, 'more instances were resized than are asked when')
    const told = await Promise.all(
      resized.slice(0, askedAtOnce).map(async (one): Promise<Meanwhile[]> => {
        const at = await resizedAt(cloud, one.id, signal).catch(unlessFailed)
        return at === null ? [] : [{ ...one, at }]
      }),
    )
    return told.flat()
  } catch (error) {
    if (!(error instanceof EngineError) || signal.aborted) throw error
    log.info({ err: error, cloud: cloudId }, 'what became of instances between two looks could not be read')
    return []
  }
}

/** How those were that are gone, as far as Nova still tells it: one list of what was deleted since. */
async function lastSeen(cloud: OpenStack, gone: ReadonlySet<string>, since: Date, signal: AbortSignal): Promise<ReadonlyMap<string, Seen>> {
  const found = new Map<string, Seen>()
  if (gone.size === 0) return found
  const query = { all_tenants: 1, deleted: true, 'changes-since': since.toISOString() }
  for await (const page of only(cloud.compute.servers.list(query, signal), ({ id }) => gone.has(id))) {
    for (const one of page) found.set(one.id, seenServer(one))
    if (found.size === gone.size) return found
  }
  return found
}

/** When it last came to another size; null where Nova names no such action. */
async function resizedAt(cloud: OpenStack, id: string, signal: AbortSignal): Promise<Date | null> {
  // The newest are first: whoever was resized since the look before finds it on the first page.
  for await (const page of cloud.compute.servers.actions(id, signal)) {
    const done = page.filter(({ action, message }) => (action === 'resize' || action === 'revertResize') && message === null)
    const moments = done.flatMap(({ updatedAt, startedAt }) => (updatedAt ?? startedAt)?.getTime() ?? [])
    return moments.length === 0 ? null : new Date(Math.max(...moments))
  }
  return null
}

const unlessFailed = (error: unknown): null => {
  if (!(error instanceof EngineError) || error.kind === 'cancelled') throw error
  return null
}
