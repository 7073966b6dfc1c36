import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import {
  computeInstances,
  instanceCan,
  instanceCanLocked,
  instanceTransitional,
  type ComputeInstance,
  type InstanceAction,
  type InstanceState,
} from '@zhisuan/contract/compute/instance'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { recycledInstances } from '@zhisuan/contract/compute/recycled'
import type { Call } from '@zhisuan/contract/define'
import { errors } from '@zhisuan/contract/errors'
import type { TFunction } from 'i18next'
import { allowed } from '../../../kit/allowed.ts'
import type { StatusTone } from '../../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../../paths.ts'

const rests: Partial<Readonly<Record<InstanceState, StatusTone>>> = {
  running: 'good',
  stopped: 'rest',
  paused: 'warning',
  suspended: 'warning',
  shelved: 'rest',
  rescued: 'warning',
  resized: 'warning',
  soft_deleted: 'rest',
  deleted: 'rest',
  create_failed: 'bad',
  error: 'bad',
}

/** How a state looks; what it is called stands under `state` in the messages. */
export const toneOf = (state: InstanceState): StatusTone => rests[state] ?? (instanceTransitional.includes(state) ? 'busy' : 'warning')

/** What section 4 of the specification calls a status code; null where it wants a dash. */
export function codeText(t: TFunction<'computeInstance'>, code: number): string | null {
  if (code >= 10 && code <= 13) return null
  const texts = [
    t('code.creating'),
    t('code.running'),
    t('code.createFailed'),
    t('code.deleting'),
    t('code.deleted'),
    t('code.deleteFailed'),
    t('code.creating'),
    t('code.createFailed'),
    t('code.deleting'),
    t('code.deleteFailed'),
  ]
  return texts[code] ?? t('code.unknown')
}

/** What is no longer true after anything was done to an instance. */
export const invalidatedByInstance: readonly Call[] = [
  computeInstances.list,
  computeInstances.get,
  computeInstances.actions,
  recycledInstances.list,
  keystoneProjects.mine,
]

/** The page of its serial console. */
export const serialConsoleOf = (id: string): string => withQuery(paths.compute.instance.detail(id), { tab: 'serial' })

/** It will be another soon. */
export const isPassing = ({ state }: Pick<ComputeInstance, 'state'>): boolean => instanceTransitional.includes(state)

type Seen = Pick<ComputeInstance, 'state' | 'locked'>

/** This only looks: a cloud in maintenance lets it. */
const looking: readonly InstanceAction[] = ['consoleLog']

/**
 * Why something cannot be done to an instance now, or null where it can. The server refuses by the same rules.
 * @param cloud null where it is not known; then it is not judged
 */
export function whyNotInstance(
  t: TFunction<'computeInstance'>,
  action: InstanceAction,
  instance: Seen,
  cloud: Pick<CloudBasic, 'status'> | null,
): string | null {
  if (cloud?.status === 'maintenance' && !looking.includes(action)) return errors.cloudMaintenance.text
  if (cloud?.status === 'offline' && !looking.includes(action)) return errors.cloudOffline.text
  const label = t(`state.${instance.state}`)
  if (isPassing(instance) && !(instanceCan[action] as readonly InstanceState[]).includes(instance.state)) return t('busy', { state: label })
  if (instance.locked && !(instanceCanLocked as readonly InstanceAction[]).includes(action)) return t('lockedWhy')
  return allowed(instanceCan, action, instance.state, label)
}
