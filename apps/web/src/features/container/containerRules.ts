import {
  configs,
  containerCan,
  containers,
  containerTransitional,
  deployments,
  type Container,
  type ContainerStatus,
  type Deployment,
} from '@zhisuan/contract/cis/container'
import type { Call } from '@zhisuan/contract/define'
import type { TFunction } from 'i18next'
import { allowed } from '../../kit/allowed.ts'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** How each status looks; what it is called stands under `status` in the messages. */
export const containerTones: Readonly<Record<ContainerStatus, StatusTone>> = {
  creating: 'busy',
  running: 'good',
  exited: 'rest',
  paused: 'warning',
  restarting: 'warning',
  dead: 'bad',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
  unknown: 'warning',
}
export const healthTones: Readonly<Record<NonNullable<Container['health']>, StatusTone>> = { starting: 'busy', healthy: 'good', unhealthy: 'bad' }
export const deploymentTones: Readonly<Record<Deployment['status'], StatusTone>> = {
  deploying: 'busy',
  running: 'good',
  degraded: 'warning',
  stopped: 'rest',
  deleting: 'busy',
  error: 'bad',
  lost: 'bad',
  unknown: 'warning',
}

/** What is no longer true after anything was done to a container or its deployment. */
export const invalidatedByContainer: readonly Call[] = [
  containers.list,
  containers.get,
  containers.operations,
  deployments.list,
  deployments.instances,
  configs.list,
]

/** It will look different soon. */
export const isPassing = ({ status }: { readonly status: string }): boolean =>
  status === 'deploying' || (containerTransitional as readonly string[]).includes(status)

/** Why something cannot be done to a container now, or null where it can. The server refuses by the same rules. */
export function whyNotContainer(t: TFunction<'container'>, action: keyof typeof containerCan, container: Pick<Container, 'status' | 'edge'>): string | null {
  const state = t(`status.${container.status}`)
  if (containerTransitional.includes(container.status)) return t('busy', { state })
  const refused = allowed(containerCan, action, container.status, state)
  if (refused !== null) return refused
  // What Docker has no longer needs nobody there to be taken from the list.
  return container.edge.online || (action === 'delete' && container.status === 'lost') ? null : t('nodeOffline', { name: container.edge.name })
}

const kinds = ['create', 'start', 'stop', 'restart', 'kill', 'rename', 'update', 'rebuild', 'delete'] as const
const steps = ['pull', 'make', 'start', 'act', 'switch', 'retire', 'remove'] as const
/** What people call the operations of a container, and their steps. */
export const operationTexts = (
  t: TFunction<'container'>,
): { readonly what: (kind: string) => string; readonly step: (kind: string, step: string) => string } => ({
  what: (kind) => {
    const verb = kinds.find((one) => kind === `cis.container.${one}`)
    return verb === undefined ? kind : t(`operation.kind.${verb}`)
  },
  step: (kind, step) => {
    // What takes the time is a program that does not answer the signal.
    if (step === 'act' && (kind === 'cis.container.stop' || kind === 'cis.container.restart')) return t('operation.waitForStop')
    const known = steps.find((one) => one === step)
    return known === undefined ? step : t(`operation.step.${known}`)
  },
})
