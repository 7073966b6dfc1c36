import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import { vmCan, vms, vmTransitional, type Vm, type VmAction, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `status` in the messages. */
export const vmTones: Readonly<Record<VmStatus, StatusTone>> = {
  running: 'good',
  stopped: 'rest',
  paused: 'warning',
  error: 'bad',
  lost: 'bad',
  creating: 'busy',
  starting: 'busy',
  stopping: 'busy',
  restarting: 'busy',
  resizing: 'busy',
  rebuilding: 'busy',
  restoring: 'busy',
  deleting: 'busy',
}

/** What people may do to an instance: the contract's rule behind it, and whether it asks the cloud to change something. */
export const vmActions = {
  start: { rule: 'start', changes: true },
  stop: { rule: 'stop', changes: true },
  restart: { rule: 'restart', changes: true },
  forceStop: { rule: 'forceStop', changes: true },
  forceRestart: { rule: 'restart', changes: true },
  terminal: { rule: 'terminal', changes: false },
  rename: { rule: 'rename', changes: false },
  resize: { rule: 'resize', changes: true },
  snapshot: { rule: 'snapshot', changes: true },
  rebuild: { rule: 'rebuild', changes: true },
  groups: { rule: 'setSecurityGroups', changes: true },
  delete: { rule: 'delete', changes: true },
} as const satisfies Record<string, { rule: VmAction; changes: boolean }>
export type VmActionName = keyof typeof vmActions

/** What is no longer true after anything was done to an instance. */
export const invalidatedByVm: readonly Call[] = [vms.list, vms.get, vms.operations]

type Seen = Pick<Vm, 'status' | 'operation_id'>

/** It will look different soon. */
export const isPassing = (vm: Pick<Vm, 'status'>): boolean => vmTransitional.includes(vm.status)

/** Something is done to it. */
export const isChanging = (vm: Seen): boolean => isPassing(vm) || vm.operation_id !== null

/** Changes that are no operation: they may be made beside one. */
const besideOperations: readonly VmActionName[] = ['groups']

/**
 * Why something cannot be done to an instance now, or null where it can. The server refuses by the
 * same rules.
 * @param cloud null where it is not known; then it is not judged
 */
export function whyNotVm(t: TFunction<'nextstack'>, action: VmActionName, vm: Seen, cloud: Pick<CloudBasic, 'status'> | null): string | null {
  const { rule, changes } = vmActions[action]
  if (isPassing(vm)) return t('busy', { state: t(`status.${vm.status}`) })
  if (cloud?.status === 'maintenance' && changes) return errors.cloudMaintenance.text
  if (cloud?.status === 'offline' && (changes || action === 'terminal')) return errors.cloudOffline.text
  // Such as making a snapshot, during which the instance is used as always.
  if (vm.operation_id !== null && changes && !besideOperations.includes(action)) return errors.operationRunning.text
  return allowed(vmCan, rule, vm.status, t(`status.${vm.status}`))
}
