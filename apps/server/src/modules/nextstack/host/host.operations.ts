import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { Observer } from '../follow/follow.ts'
import * as store from './host.store.ts'

const nothing = z.object({})
/** Which status each leads to. */
const endsAs = { evacuate: 'evacuated', restore: 'online' } as const

/** @param parts.instances the observer of instances: they have moved, and not every engine tells of it */
export function createHostOperations(parts: { db: Db; clouds: Pick<CloudService, 'engine'>; instances: Pick<Observer, 'look'> }) {
  const { db, clouds, instances } = parts

  const open = async ({ resource_id }: StepContext<unknown>) => {
    const host = await store.getHost(db, resource_id)
    // Its cloud was removed by force while the operation waited.
    if (host === undefined) throw new Refusal('notFound')
    return { host, engine: await clouds.engine(host.cloud_id) }
  }
  const lookAgain = async (context: StepContext<unknown>): Promise<void> => {
    const { host, engine } = await open(context)
    await instances.look({ id: host.cloud_id, engine, signal: context.signal }, null)
  }

  const move = (action: 'evacuate' | 'restore'): OperationDefinition<object> => ({
    kind: `nextstack.host.${action}`,
    input: nothing,
    steps: [
      {
        name: action,
        reached: async (context) => {
          const { host, engine } = await open(context)
          return (await engine.hosts.list({ signal: context.signal })).some(({ name, status }) => name === host.name && status === endsAs[action])
        },
        run: async (context) => {
          const { host, engine } = await open(context)
          await engine.hosts[action](host.name, { signal: context.signal })
        },
      },
      { name: 'instances', reached: 'ours', run: lookAgain },
    ],
    look: async (context) => {
      const { host, engine } = await open(context)
      try {
        const found = (await engine.hosts.list({ signal: context.signal })).find(({ name }) => name === host.name)
        await store.updateHost(db, host.id, { observed: found?.status ?? 'gone' })
        await lookAgain(context)
      } catch (error) {
        if (context.signal.aborted || !isEngineError(error)) throw error
        context.log.warn({ err: error }, 'the engine does not say how the host is')
      }
    },
    ended: async (tx, { resource_id }, refusal) => {
      const host = await store.lockHost(tx, resource_id)
      if (host === undefined) return
      await store.updateHost(
        tx,
        host.id,
        refusal === null ? { status: endsAs[action], observed: endsAs[action], error_text: null } : { status: host.observed, error_text: refusal.message },
      )
    },
  })

  return { evacuate: move('evacuate'), restore: move('restore') }
}

export type HostOperations = ReturnType<typeof createHostOperations>
