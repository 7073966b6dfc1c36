import { vmCan, vmTransitional, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { refuseUnless } from '../../../platform/errors.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Suspendable } from '../../bill/index.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { statusDuring, type VmOperations } from './vm.operations.ts'
import * as store from './vm.store.ts'

/** Of these it is known where they lead: nothing runs then. */
const ending: readonly VmStatus[] = [statusDuring.stop, statusDuring.delete]
const passing = vmTransitional.filter((status) => !ending.includes(status))

/** Instances, as a suspension stops and starts them. */
export function createVmSuspension(platform: Pick<Platform, 'operations'>, parts: { clouds: Pick<CloudService, 'forChange'>; operations: VmOperations }): Suspendable {
  /** @param plan in which states it may be begun; null where there is nothing to do */
  const begin = async <Input>(tx: Tx, id: string, action: 'start' | 'stop', definition: OperationDefinition<Input>, input: Input, plan: (status: VmStatus) => readonly VmStatus[] | null): Promise<string | null> => {
    const seen = await store.getVm(tx, platformScope, id)
    if (seen === undefined) return null
    // The cloud before the instance, as its removal does.
    await parts.clouds.forChange(tx, seen.cloud_id)
    const vm = await store.lockVm(tx, platformScope, id)
    const allowed = vm === undefined ? null : plan(vm.status)
    if (vm === undefined || allowed === null) return null
    refuseUnless(allowed, vm)
    const operation = await platform.operations.begin(tx, definition, { resource_id: id, bp_id: vm.bp_id, actor: null, input })
    await store.updateVm(tx, id, { status: statusDuring[action], error_text: null })
    return operation
  }
  return {
    kind: 'vm',
    running: async (on, bpId) => (await store.withStatuses(on, bpId, ['running', ...passing])).map(({ id, name, status }) => ({ id, name, passing: status !== 'running' })),
    // Who ignores a shutdown has its power cut at the second try.
    stop: async (tx, id, again) => {
      const operation = await begin(tx, id, 'stop', parts.operations.stop, { force: again }, (status) => (status === 'running' ? vmCan.stop : null))
      return operation === null ? null : { operation_id: operation, detail: null }
    },
    start: async (tx, id) => {
      const vm = await store.getVm(tx, platformScope, id)
      if (vm === undefined || vm.status === 'lost') return 'gone'
      if (vm.status === 'running') return 'running'
      const operation = await begin(tx, id, 'start', parts.operations.start, {}, () => vmCan.start)
      return operation === null ? 'gone' : { operation_id: operation }
    },
  }
}
