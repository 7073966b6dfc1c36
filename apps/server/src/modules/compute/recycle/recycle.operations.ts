import { EngineError, isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Server } from '@zhisuan/engines/openstack/compute'
import { all } from '@zhisuan/engines/openstack/session'
import { pause } from '@zhisuan/engines/signals'
import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { AnyOperation, OperationDefinition, OperationStep, StepContext } from '../../../platform/operations.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import * as store from './recycle.store.ts'
import type { RecycledRow } from './recycle.store.ts'

const nothing = z.object({})
/** Nova cuts the power of what does not shut down within a minute. */
const stopMinutes = 5
const goneMinutes = 5
const lookEveryMs = 1_000

interface Work {
  readonly row: RecycledRow
  readonly cloud: OpenStack
}

/** The way into the recycle bin, out of it, and to the end; each step looks first, so that it may be run again. */
export function createRecycleOperations(parts: { db: Db; tenancy: Pick<Tenancy, 'inside'> }) {
  const { db, tenancy } = parts

  const step = (name: string, act: (work: Work, context: StepContext<object>) => Promise<void>): OperationStep<object> => ({
    name,
    reached: 'looks',
    run: async (context) => {
      const row = await store.recycledById(db, context.resource_id)
      if (row === undefined) throw new Refusal('instanceGone')
      await act({ row, cloud: await tenancy.inside(row.cloud_id, row.keystone_id) }, context)
    },
  })
  const there = async ({ row, cloud }: Work, signal: AbortSignal): Promise<Server | null> => {
    try {
      const server = await cloud.compute.servers.get(row.instance_id, signal)
      return server.state === 'deleted' ? null : server
    } catch (error) {
      if (isEngineError(error, 'not_found')) return null
      throw error
    }
  }
  const needed = async (work: Work, signal: AbortSignal): Promise<Server> => {
    const server = await there(work, signal)
    if (server === null) throw new Refusal('instanceGone')
    return server
  }
  /** @returns false where it never was */
  const waits = async (minutes: number, good: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> => {
    for (const end = Date.now() + minutes * 60_000; Date.now() < end; await pause(lookEveryMs, signal)) if (await good()) return true
    return false
  }

  const recycle: OperationDefinition<object> = {
    kind: 'compute.recycled.recycle',
    input: nothing,
    steps: [
      step('stop', async (work, { signal }) => {
        const before = await needed(work, signal)
        // What is paused, suspended or shelved does not run, and comes back as it is.
        if (before.state !== 'running' && before.state !== 'error' && before.state !== 'stopping') return
        if (before.state !== 'stopping') {
          try {
            await work.cloud.compute.servers.act(work.row.instance_id, 'stop', signal)
          } catch (error) {
            // What failed need not be able to stop, and does not run then.
            if (before.state !== 'error' || !(error instanceof EngineError) || error.kind === 'cancelled') throw error
            return
          }
        }
        const stopped = await waits(stopMinutes, async () => ['stopped', 'error'].includes((await needed(work, signal)).state), signal)
        if (!stopped) throw new Refusal('stopTooLong', { values: { minutes: stopMinutes } })
      }),
      step('release', async ({ row, cloud }, { signal }) => {
        const { network } = cloud
        let remembered = row.floating_ips
        if (remembered === null) {
          const ports = await all(network.ports.list({ device_id: row.instance_id }, signal))
          const lists = await Promise.all(ports.map(({ id }) => all(network.floatingIps.list({ port_id: id }, signal))))
          remembered = lists.flat().map(({ id, address, portId }) => ({ id, address, port_id: portId ?? '' }))
          await store.updateRecycled(db, row.id, { floating_ips: jsonb(remembered) })
        }
        for (const one of remembered) {
          // Somebody may have taken it meanwhile.
          const now = await ifThere(network.floatingIps.get(one.id, signal))
          if (now?.portId === one.port_id) await network.floatingIps.update(one.id, { portId: null }, signal)
        }
      }),
      step('lock', async (work, { signal }) => {
        if (!(await needed(work, signal)).locked) await work.cloud.compute.servers.act(work.row.instance_id, 'lock', signal)
      }),
    ],
    // What could not be stopped lies in the bin all the same, and says so: nobody asked to have it back.
    ended: (tx, { resource_id }, refusal) => store.updateRecycled(tx, resource_id, { status: 'recycled', error_text: refusal?.message ?? null }),
  }

  const restore: OperationDefinition<object> = {
    kind: 'compute.recycled.restore',
    input: nothing,
    steps: [
      step('unlock', async (work, { signal }) => {
        if ((await needed(work, signal)).locked) await work.cloud.compute.servers.act(work.row.instance_id, 'unlock', signal)
      }),
      step('bind', async ({ row, cloud }, { signal, log }) => {
        const { network } = cloud
        for (const one of row.floating_ips ?? []) {
          const now = await ifThere(network.floatingIps.get(one.id, signal))
          if (now?.portId === one.port_id) continue
          try {
            if (now?.portId === null) await network.floatingIps.update(one.id, { portId: one.port_id }, signal)
            else log.info({ address: one.address }, 'a floating IP is not free any more')
          } catch (error) {
            // Its port is gone, or has another by now: no reason to keep the instance in the bin.
            if (!isEngineError(error, 'not_found', 'conflict', 'busy')) throw error
            log.info({ err: error, address: one.address }, 'a floating IP cannot be given back')
          }
        }
      }),
      step('start', async (work, { signal }) => {
        if (work.row.ran && (await needed(work, signal)).state === 'stopped') await work.cloud.compute.servers.act(work.row.instance_id, 'start', signal)
      }),
    ],
    ended: (tx, { resource_id }, refusal) =>
      refusal === null ? store.deleteRecycled(tx, resource_id) : store.updateRecycled(tx, resource_id, { status: 'recycled', error_text: refusal.message }),
  }

  const purge: OperationDefinition<object> = {
    kind: 'compute.recycled.purge',
    input: nothing,
    steps: [
      step('delete', async (work, { signal }) => {
        const { servers } = work.cloud.compute
        const server = await there(work, signal)
        if (server === null || server.state === 'deleting') return
        if (server.locked) await servers.act(server.id, 'unlock', signal)
        await ifThere(servers.act(server.id, 'forceDelete', signal))
      }),
      step('wait', async (work, { signal }) => {
        if (!(await waits(goneMinutes, async () => (await there(work, signal)) === null, signal))) throw new Refusal('recycledNotNow')
      }),
    ],
    ended: (tx, { resource_id }, refusal) =>
      refusal === null ? store.deleteRecycled(tx, resource_id) : store.updateRecycled(tx, resource_id, { status: 'recycled', error_text: refusal.message }),
  }

  return { recycle, restore, purge, definitions: [recycle, restore, purge] as readonly AnyOperation[] }
}
export type RecycleOperations = ReturnType<typeof createRecycleOperations>

async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isEngineError(error, 'not_found')) return undefined
    throw error
  }
}
