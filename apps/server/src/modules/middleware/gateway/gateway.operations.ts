import type { PortSpec } from '@zhisuan/contract/middleware/gateway'
import { z } from 'zod'
import type { Tx } from '../../../platform/db/database.ts'
import type { Refusal } from '../../../platform/errors.ts'
import type { Kept } from '../../../platform/kept/kept.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import * as store from './gateway.store.ts'

const nothing = z.object({})
type Nothing = z.output<typeof nothing>
const updateInput = z.object({ connections_most: z.int(), drain_minutes: z.int() })
/** Which port, and what it is to be. The contract has read it. */
const portInput = z.object({ port_id: z.uuid(), named: z.object({ name: z.string(), description: z.string() }), spec: z.custom<PortSpec>() })
type PortInput = z.output<typeof portInput>
const portGone = z.object({ port_id: z.uuid() })

export type GatewayOperations = ReturnType<typeof createGatewayOperations>

/**
 * Gateways that are made, told to work otherwise, taken away; and their ports, which are all of one configuration: so what is
 * done to a port is done to its gateway, one thing after the other, and counts once the gateway serves it.
 */
export function createGatewayOperations({ kept }: { kept: Kept }) {
  const own = ({ resource_id }: { resource_id: string }): string => resource_id
  const settle = async (tx: Tx, id: string, refusal: Refusal | null, failed: 'active' | 'error'): Promise<void> => {
    await kept.settle(tx, id, refusal)
    const version = / (\d+\.\d+\S*)/.exec((await kept.get(tx, id))?.program_version ?? '')?.[1]
    await store.updateGateway(tx, id, {
      status: refusal === null ? 'active' : failed,
      error: refusal?.message ?? null,
      ...(refusal === null && { health: 'reachable', health_message: null, ...(version !== undefined && { version }) }),
    })
  }
  /** What was asked of a port does not count, and says why. */
  const portFailed = async (tx: Tx, id: string, refusal: Refusal): Promise<void> => {
    const port = await store.lockPort(tx, id)
    if (port !== undefined) await store.updatePort(tx, id, { status: port.served ? 'active' : 'error', error: refusal.message })
  }
  const portSettled = async (tx: Tx, { resource_id, input }: { resource_id: string; input: PortInput }, refusal: Refusal | null): Promise<void> => {
    await settle(tx, resource_id, refusal === null ? null : refusal, 'active')
    if (refusal !== null) {
      await store.updateGateway(tx, resource_id, { error: null })
      return portFailed(tx, input.port_id, refusal)
    }
    const { spec, named } = input
    const port = await store.lockPort(tx, input.port_id)
    if (port === undefined) return
    await store.updatePort(tx, input.port_id, {
      ...named,
      port: spec.port,
      protocol: spec.protocol,
      spec: JSON.stringify(spec),
      served: true,
      status: 'active',
      error: null,
      revision: port.revision + 1,
    })
  }

  const create: OperationDefinition<Nothing> = {
    kind: 'middleware.gateway.create',
    input: nothing,
    steps: kept.steps.install<Nothing>(own),
    undo: kept.undoInstall(own),
    ended: (tx, { resource_id }, refusal) => settle(tx, resource_id, refusal, 'error'),
  }
  const update: OperationDefinition<z.output<typeof updateInput>> = {
    kind: 'middleware.gateway.update',
    input: updateInput,
    steps: kept.steps.change(own),
    ended: async (tx, { resource_id, input }, refusal) => {
      if (refusal === null) await store.updateGateway(tx, resource_id, input)
      await settle(tx, resource_id, refusal, 'active')
    },
  }
  const remove: OperationDefinition<Nothing> = {
    kind: 'middleware.gateway.delete',
    input: nothing,
    steps: kept.steps.uninstall(own, { data: true }),
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal !== null) return settle(tx, resource_id, refusal, 'error')
      await kept.settle(tx, resource_id, null)
      await store.removeGateway(tx, resource_id)
    },
  }
  const createPort: OperationDefinition<PortInput> = {
    kind: 'middleware.port.create',
    resource_type: 'middleware.gateway',
    input: portInput,
    steps: kept.steps.change(own),
    ended: portSettled,
  }
  const updatePort: OperationDefinition<PortInput> = { ...createPort, kind: 'middleware.port.update' }
  const deletePort: OperationDefinition<z.output<typeof portGone>> = {
    kind: 'middleware.port.delete',
    resource_type: 'middleware.gateway',
    input: portGone,
    steps: kept.steps.change(own),
    ended: async (tx, { resource_id, input }, refusal) => {
      await settle(tx, resource_id, refusal, 'active')
      if (refusal === null) return store.removePort(tx, input.port_id)
      await store.updateGateway(tx, resource_id, { error: null })
      await portFailed(tx, input.port_id, refusal)
    },
  }
  return { create, update, remove, createPort, updatePort, deletePort }
}
