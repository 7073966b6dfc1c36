import {
  nodeStacks,
  services,
  stackCan,
  stackConfigs,
  stackDeployments,
  stacks,
  stackTransitional,
  templates,
  type Stack,
  type StackStatus,
} from '@zhisuan/contract/aos/stack'
import { configs, containers } from '@zhisuan/contract/cis/container'
import type { Call } from '@zhisuan/contract/define'
import type { TFunction } from 'i18next'
import { allowed } from '../../kit/allowed.ts'
import type { GoneProps } from '../../kit/Gone.tsx'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'

/** How each status looks; what it is called stands under `status` in the messages. */
export const stackTones: Readonly<Record<StackStatus, StatusTone>> = {
  deploying: 'busy',
  running: 'good',
  degraded: 'warning',
  stopped: 'rest',
  updating: 'busy',
  rolling_back: 'busy',
  deleting: 'busy',
  error: 'bad',
  unknown: 'warning',
}

/** What is no longer true after anything was done to a stack, a service or an application. */
export const invalidatedByStack: readonly Call[] = [
  stacks.list,
  stacks.composeConfig,
  stacks.operations,
  nodeStacks.get,
  services.list,
  services.instances,
  stackDeployments.list,
  stackDeployments.get,
  stackDeployments.stacks,
  stackConfigs.list,
  configs.list,
  containers.list,
  containers.get,
]
export const invalidatedByTemplate: readonly Call[] = [templates.list, templates.get, templates.versions]

/** It will look different soon. */
export const isPassing = ({ status }: { readonly status: StackStatus }): boolean => stackTransitional.includes(status)

/** What the rules look at. */
type Judged = Pick<Stack, 'status' | 'edge'>

/** Why something cannot be done to a stack now, or null where it can. The server refuses by the same rules. */
export function whyNotStack(t: TFunction<'application'>, action: keyof typeof stackCan, { status, edge }: Judged): string | null {
  const state = t(`status.${status}`)
  if (isPassing({ status })) return t('busy', { state })
  // Of a node that was sent away the record can be deleted: whether it was, only the server knows.
  if (action === 'delete') return null
  return edge.online ? allowed(stackCan, action, status, state) : t('nodeOffline', { name: edge.name })
}

/** As many as it has can be changed only where the newest revision runs. */
export const whyNotScaled = (t: TFunction<'application'>, stack: Judged & Pick<Stack, 'revision' | 'deployed_revision'>): string | null =>
  whyNotStack(t, 'update', stack) ?? (stack.deployed_revision === stack.revision ? null : t('scale.notDeployed'))

/** What a value of a variable is called where its name is all that is known of it. */
export const looksSecret = (name: string): boolean => /pass|pwd|secret|token|credential|private|api_?key/i.test(name)

/** What people call the operations of a stack, and their steps. */
export function operationTexts(t: TFunction<'application'>): {
  readonly what: (kind: string) => string
  readonly step: (kind: string, step: string) => string
} {
  return {
    what: (kind) => {
      const verb = kinds.find((one) => kind === `aos.stack.${one}`)
      return verb === undefined ? kind : t(`operation.kind.${verb}`)
    },
    step: (kind, step) => {
      // What takes the time is a program that does not answer the signal.
      const waits = waiting.find((one) => kind === `aos.stack.${one}`)
      if (waits !== undefined && (step === 'compose' || step === 'act')) return t(`operation.waiting.${step}`)
      const known = steps.find((one) => one === step)
      return known === undefined ? step : t(`operation.step.${known}`)
    },
  }
}
const kinds = ['create', 'update', 'rollback', 'scale', 'start', 'stop', 'restart', 'delete'] as const
/** In which containers that ran are stopped first. */
const waiting = ['update', 'rollback', 'scale', 'stop', 'restart'] as const
const steps = ['compose', 'look', 'act', 'down'] as const

/** In the place of a page about an application, or a stack of one, that is not there. */
export const applicationGone = (t: TFunction<'application'>): GoneProps => ({
  title: t('application.gone'),
  note: t('application.goneNote'),
  to: paths.container.application.list(),
  back: t('application.back'),
})

/** In the place of a page about a version of a template that is not there. */
export const templateGone = (t: TFunction<'application'>): GoneProps => ({
  title: t('template.gone'),
  note: t('template.goneNote'),
  to: paths.container.template.list(),
  back: t('template.back'),
})
