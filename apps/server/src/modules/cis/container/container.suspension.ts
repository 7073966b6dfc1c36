import { platformScope } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Suspendable } from '../../../platform/module.ts'
import type { ContainerOperations } from './container.operations.ts'
import { refuseUnlessContainerAllows } from './container.state.ts'
import * as store from './container.store.ts'
import type { ShownContainer } from './container.store.ts'

/** As long as people give one that they stop without saying. */
const graceSeconds = 10

/** Containers that people deployed, as a suspension stops and starts them; those of stacks are their stack's. */
export function createContainerSuspension(platform: Pick<Platform, 'operations'>, { operations }: { operations: ContainerOperations }): Suspendable {
  const refuseAway = ({ edge }: ShownContainer): void => {
    if (!edge.online) throw new Refusal('edgeOffline', { values: { name: edge.name } })
  }
  return {
    stoppedBy: 'stop_containers',
    running: async (on, bpId) =>
      (await store.withStatuses(on, bpId, ['running', 'restarting', 'creating'])).map(({ id, name, status }) => ({ id, name, passing: status === 'creating' })),
    stop: async (tx, id) => {
      const row = await store.lockContainer(tx, platformScope, id)
      if (row === undefined) return null
      refuseAway(row)
      if (row.shown_status !== 'running' && row.shown_status !== 'restarting') return null
      const operation_id = await platform.operations.begin(tx, operations.stop, {
        resource_id: id,
        bp_id: row.bp_id,
        actor: null,
        input: { action: 'stop', timeout_seconds: graceSeconds },
      })
      await store.updateContainer(tx, id, { error_text: null })
      return { operation_id, detail: null }
    },
    start: async (tx, id) => {
      const row = await store.lockContainer(tx, platformScope, id)
      if (row === undefined || row.shown_status === 'lost' || row.shown_status === 'dead') return 'gone'
      refuseAway(row)
      if (row.shown_status === 'running') return 'running'
      refuseUnlessContainerAllows(row, 'start')
      const operation_id = await platform.operations.begin(tx, operations.start, { resource_id: id, bp_id: row.bp_id, actor: null, input: { action: 'start' } })
      await store.updateContainer(tx, id, { error_text: null })
      return { operation_id }
    },
  }
}
