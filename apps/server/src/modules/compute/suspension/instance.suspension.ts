import { isEngineError } from '@zhisuan/engines/errors'
import type { OpenStack } from '@zhisuan/engines/openstack/cloud'
import type { Server } from '@zhisuan/engines/openstack/compute'
import type { ServerState } from '@zhisuan/engines/openstack/states'
import { pause } from '@zhisuan/engines/signals'
import { z } from 'zod'
import { Refusal } from '../../../platform/errors.ts'
import type { AnyOperation, OperationDefinition, StepContext } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Suspendable } from '../../../platform/module.ts'
import { isRunning, meteredInstance, runningInstances, setStoppedBySuspension } from '../metering/metering.store.ts'
import type { UsageLooks } from '../metering/metering.service.ts'
import { isRecycled } from '../recycle/recycle.store.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'

const where = z.object({ cloud_id: z.uuid(), keystone_id: z.string() })
type Where = z.output<typeof where>

/** Nova cuts the power of what does not shut down within a minute. */
const patienceMs = 300_000
const lookEveryMs = 1_000

/**
 * Instances of the second family, as a suspension stops and starts them. What runs is what is metered as running;
 * each operation ends with a look at its cloud, so that this is known when it is over.
 */
export function createInstanceSuspension(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: { tenancy: Pick<Tenancy, 'inside'>; usage: Pick<UsageLooks, 'lookAnew'>; lookEveryMs?: number },
): { suspendable: Suspendable; operations: readonly AnyOperation[] } {
  const { db } = platform
  const { tenancy, usage } = parts

  const there = async ({ compute }: OpenStack, { resource_id, signal }: StepContext<Where>): Promise<Server | null> => {
    try {
      const server = await compute.servers.get(resource_id, signal)
      return server.state === 'deleted' || server.state === 'soft_deleted' ? null : server
    } catch (error) {
      if (isEngineError(error, 'not_found')) return null
      throw error
    }
  }
  /** What is gone meanwhile does not run either. @throws Refusal `instanceNotNow` where it does not come to that */
  const comesTo = async (cloud: OpenStack, context: StepContext<Where>, states: readonly ServerState[]): Promise<void> => {
    for (const end = Date.now() + patienceMs; ; await pause(parts.lookEveryMs ?? lookEveryMs, context.signal)) {
      const server = await there(cloud, context)
      if (server === null || states.includes(server.state)) return
      if (server.state === 'error' || Date.now() > end) throw new Refusal('instanceNotNow')
    }
  }
  const act = async (cloud: OpenStack, { resource_id, signal }: StepContext<Where>, action: 'start' | 'stop' | 'unpause' | 'unrescue'): Promise<void> => {
    try {
      await cloud.compute.servers.act(resource_id, action, signal)
    } catch (error) {
      if (!isEngineError(error, 'not_found')) throw error
    }
  }
  const step = (name: string, run: (cloud: OpenStack, context: StepContext<Where>) => Promise<void>) => ({
    name,
    reached: 'looks' as const,
    run: async (context: StepContext<Where>) => run(await tenancy.inside(context.input.cloud_id, context.input.keystone_id), context),
  })
  const definition = (action: 'stop' | 'start', steps: OperationDefinition<Where>['steps']): OperationDefinition<Where> => ({
    kind: `compute.instance.${action}`,
    input: where,
    steps,
    ended: async () => undefined,
  })

  const stop = definition('stop', [
    step('stop', async (cloud, context) => {
      const server = await there(cloud, context)
      if (server === null || ['stopped', 'shelved', 'suspended'].includes(server.state)) return
      // What was metered last is some seconds old: who stopped it themselves meanwhile has it stay so.
      if (server.state !== 'stopping') await setStoppedBySuspension(db, context.resource_id, true)
      // Nova stops what is active, and nothing else that runs.
      if (server.state === 'paused' || server.state === 'rescued') {
        await act(cloud, context, server.state === 'paused' ? 'unpause' : 'unrescue')
        await comesTo(cloud, context, ['running'])
      }
      if (server.state !== 'stopping') await act(cloud, context, 'stop')
      await comesTo(cloud, context, ['stopped'])
    }),
    step('look', async (_, { input: { cloud_id }, resource_id }) => {
      await usage.lookAnew(cloud_id)
      const row = await meteredInstance(db, resource_id)
      // Nobody is told that it stands before it is known: the cloud could not be read just now.
      if (row !== undefined && isRunning(row)) throw new Refusal('instanceNotNow')
    }),
  ])
  const start = definition('start', [
    step('start', async (cloud, context) => {
      if (await isRecycled(db, context.input.cloud_id, context.resource_id)) return
      // What is not simply off is somebody's doing since.
      if ((await there(cloud, context))?.state !== 'stopped') return
      await act(cloud, context, 'start')
      await comesTo(cloud, context, ['running'])
    }),
    step('look', (_, { input: { cloud_id } }) => usage.lookAnew(cloud_id)),
  ])

  return {
    operations: [stop, start] as readonly AnyOperation[],
    suspendable: {
      stoppedBy: 'stop_vms',
      running: async (on, bpId) => (await runningInstances(on, bpId)).map(({ id, name }) => ({ id, name, passing: false })),
      stop: async (tx, id, again) => {
        const row = await meteredInstance(tx, id)
        if (row === undefined || row.keystone_id === null || !isRunning(row)) return null
        const { cloud_id, keystone_id, bp_id } = row
        if (!again) await setStoppedBySuspension(tx, id, false)
        return {
          operation_id: await platform.operations.begin(tx, stop, { resource_id: id, bp_id, actor: null, input: { cloud_id, keystone_id } }),
          detail: null,
        }
      },
      start: async (tx, id) => {
        const row = await meteredInstance(tx, id)
        if (row === undefined || row.keystone_id === null || (await isRecycled(tx, row.cloud_id, id))) return 'gone'
        if (isRunning(row)) return 'running'
        if (!row.stopped_by_suspension) return 'gone'
        const { cloud_id, keystone_id, bp_id } = row
        return { operation_id: await platform.operations.begin(tx, start, { resource_id: id, bp_id, actor: null, input: { cloud_id, keystone_id } }) }
      },
    },
  }
}
