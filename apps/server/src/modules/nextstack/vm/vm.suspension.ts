import { vmCan, vmTransitional, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { refuseUnless } from '../../../platform/errors.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Suspendable } from '../../../platform/module.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { statusDuring, type VmOperations } from './vm.operations.ts'
import * as store from './vm.store.ts'

/** Somebody paused it on the engine: it has its processors and memory all the same. */
const costing: readonly VmStatus[] = ['running', 'paused']
/** Of these it is known where they lead: nothing runs then. */
const ending: readonly VmStatus[] = [statusDuring.stop, statusDuring.delete]
const passing = vmTransitional.filter((status) => !ending.includes(status))

/** Instances, as a suspension stops and starts them. */
export function createVmSuspension(
  platform: Pick<Platform, 'operations'>,
  parts: { clouds: Pick<CloudService, 'forChange'>; operations: VmOperations },
): Suspendable {
  /** @param plan with what, and in which states, it may be begun; null where there is nothing to do */
  const begin = async <Input>(
    tx: Tx,
    id: string,
    action: 'start' | 'stop',
    definition: OperationDefinition<Input>,
    plan: (status: VmStatus) => { input: Input; allowed: readonly VmStatus[] } | null,
  ): Promise<string | null> => {
    const seen = await store.getVm(tx, platformScope, id)
    if (seen === undefined) return null
    // The cloud before the instance, as its removal does.
    await parts.clouds.forChange(tx, seen.cloud_id)
    const vm = await store.lockVm(tx, platformScope, id)
    const planned = vm === undefined ? null : plan(vm.status)
    if (vm === undefined || planned === null) return null
    refuseUnless(planned.allowed, vm)
    const operation = await platform.operations.begin(tx, definition, { resource_id: id, bp_id: vm.bp_id, actor: null, input: planned.input })
    await store.updateVm(tx, id, { status: statusDuring[action], error_text: null })
    return operation
  }
  return {
    stoppedBy: 'stop_vms',
    running: async (on, bpId) =>
      (await store.withStatuses(on, bpId, [...costing, ...passing])).map(({ id, name, status }) => ({ id, name, passing: passing.includes(status) })),
    // Who ignores a shutdown has its power cut at the second try; who is paused hears of none.
    stop: async (tx, id, again) => {
      const operation = await begin(tx, id, 'stop', parts.operations.stop, (status) => {
        if (!costing.includes(status)) return null
        return status === 'paused' ? { input: { force: true }, allowed: vmCan.forceStop } : { input: { force: again }, allowed: vmCan.stop }
      })
      return operation === null ? null : { operation_id: operation, detail: null }
    },
    start: async (tx, id) => {
      const vm = await store.getVm(tx, platformScope, id)
      if (vm === undefined || vm.status === 'lost') return 'gone'
      if (costing.includes(vm.status)) return 'running'
      const operation = await begin(tx, id, 'start', parts.operations.start, () => ({ input: {}, allowed: vmCan.start }))
      return operation === null ? 'gone' : { operation_id: operation }
    },
  }
}
