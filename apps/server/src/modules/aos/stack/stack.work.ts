import { isShared } from '@zhisuan/contract/ecrm/share'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { ServiceContainers } from '../../cis/container/service.containers.ts'
import { setStackConfigs } from './config.store.ts'
import { insertRevision } from './revision.store.ts'
import { serviceRowsOf, setReplicas, wishServices, type ShownService } from './service.store.ts'
import type { StackOperations } from './stack.operations.ts'
import { refuseUnlessStackAllows } from './stack.state.ts'
import * as store from './stack.store.ts'
import type { ShownStack } from './stack.store.ts'
import type { Wish } from './stack.wish.ts'

/** Where a stack is, as far as sharing it goes. */
export type StackNode = Parameters<ServiceContainers['takeShare']>[1]['node']
export const nodeOf = ({ edge, edge_bp_id, edge_share_limits }: Pick<ShownStack, 'edge' | 'edge_bp_id' | 'edge_share_limits'>): StackNode => ({
  id: edge.id,
  name: edge.name,
  bp_id: edge_bp_id,
  share_limits: edge_share_limits,
})
interface ServiceShare {
  readonly replicas: number
  readonly cpu: number
  readonly memory_bytes: number
}

export type StackWork = ReturnType<typeof createStackWork>

/** What is begun on a stack that is locked, in the transaction that decided it. */
export function createStackWork(
  { operations: begun, secrets }: Pick<Platform, 'operations' | 'secrets'>,
  operations: StackOperations,
  containers: Pick<ServiceContainers, 'takeShare'>,
) {
  /** What a stack may take of its node at most. */
  const take = (tx: Tx, row: { id: string; bp_id: string | null }, node: StackNode, services: readonly ServiceShare[]): Promise<void> =>
    containers.takeShare(
      tx,
      { holder: row.id, bpId: row.bp_id, node },
      {
        containers: services.reduce((sum, { replicas }) => sum + replicas, 0),
        cpu: services.reduce((sum, { replicas, cpu }) => sum + replicas * cpu, 0),
        memory_bytes: services.reduce((sum, { replicas, memory_bytes }) => sum + replicas * memory_bytes, 0),
      },
    )

  return {
    /** Makes a revision what the stack is to be, and begins to bring it there. */
    begin: async (
      tx: Tx,
      actor: Actor,
      row: { id: string; bp_id: string | null; revision: number },
      node: StackNode,
      { content, template, prepared }: Wish,
      kind: 'create' | 'update' | 'rollback',
    ): Promise<void> => {
      await insertRevision(tx, secrets, { stack_id: row.id, revision: row.revision, content, template, created_by_name: actor.name })
      await setStackConfigs(tx, row.id, content.configs)
      await take(
        tx,
        row,
        node,
        prepared.services.map(({ replicas, cpu_limit, memory_limit_bytes }) => ({ replicas, cpu: cpu_limit ?? 0, memory_bytes: memory_limit_bytes ?? 0 })),
      )
      await wishServices(tx, row.id, prepared.services, isShared(row.bp_id, node))
      await begun.begin(tx, operations[kind], { resource_id: row.id, bp_id: row.bp_id, actor, input: { revision: row.revision } })
    },

    remove: async (tx: Tx, actor: Actor, row: ShownStack): Promise<void> => {
      refuseUnlessStackAllows(row, 'delete')
      if (row.edge_gone) {
        // There is nobody to ask: only what we know of it goes.
        const own = await store.getStackRow(tx, row.id)
        if (own !== undefined) await operations.dropStack(tx, own)
        return
      }
      await begun.begin(tx, operations.delete, { resource_id: row.id, bp_id: row.bp_id, actor, input: {} })
      await store.updateStack(tx, secrets, row.id, { status: 'deleting', error_text: null })
    },

    /** Of the whole, or of one service. A restart names what it restarts as it was, so that nothing is restarted twice. */
    act: async (tx: Tx, actor: Actor, row: ShownStack, action: 'start' | 'stop' | 'restart', service: { id: string; name: string } | null): Promise<void> => {
      const started =
        service === null ? [] : await tx.selectFrom('containers').select(['docker_id', 'started_at']).where('service_id', '=', service.id).execute()
      await begun.begin(tx, operations[action], {
        resource_id: row.id,
        bp_id: row.bp_id,
        actor,
        input: {
          action,
          service: service?.name ?? null,
          services: null,
          started: Object.fromEntries(started.map(({ docker_id, started_at }) => [docker_id ?? '', started_at?.toISOString() ?? null])),
        },
      })
      await store.updateStack(tx, secrets, row.id, { status: 'updating', error_text: null })
    },

    /** Has the node brought to the number of replicas that the row says. */
    scale: async (tx: Tx, actor: Actor, stack: ShownStack, service: ShownService, replicas: number): Promise<void> => {
      refuseUnlessStackAllows(stack, 'update')
      // What compose did not take cannot be more.
      if (stack.deployed_revision !== stack.revision) throw new Refusal('stateForbids')
      const services = await serviceRowsOf(tx, stack.id)
      await take(
        tx,
        stack,
        nodeOf(stack),
        services.map((one) => ({
          replicas: one.id === service.id ? replicas : one.replicas,
          cpu: one.shared_cpu ?? 0,
          memory_bytes: Number(one.shared_memory_bytes ?? 0),
        })),
      )
      await setReplicas(tx, service.id, replicas)
      await begun.begin(tx, operations.scale, { resource_id: stack.id, bp_id: stack.bp_id, actor, input: { revision: stack.revision } })
      await store.updateStack(tx, secrets, stack.id, { status: 'updating', error_text: null })
    },
  }
}
