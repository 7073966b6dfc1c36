import { kindText } from '@zhisuan/contract/kindTexts'
import type { OverviewEvent } from '@zhisuan/contract/nextstack/overview'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import type messages from '../../locales/zh/overview.ts'
import { pageOf } from '../../kinds.ts'

type Verb = keyof (typeof messages)['events']['verb']

export const eventTones: Readonly<Record<OverviewEvent['status'], StatusTone>> = {
  queued: 'busy',
  running: 'busy',
  unknown: 'warning',
  cancelling: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'rest',
}

const verbs: readonly string[] = [
  'create',
  'start',
  'stop',
  'restart',
  'resize',
  'rebuild',
  'delete',
  'apply',
  'evacuate',
  'restore',
  'attach',
  'detach',
  'grow',
  'upload',
  'fetch',
  'fromVm',
  'update',
  'upgrade',
  'pullImage',
  'kill',
  'rename',
  'rollback',
  'scale',
] satisfies Verb[]
/** What a person reads of `nextstack.vm.start`: 启动云主机. */
export function eventText(t: TFunction<'overview'>, kind: string): string {
  const [, , verb = ''] = kind.split('.')
  // It is checked by the list above.
  return t(`events.verb.${verbs.includes(verb) ? (verb as Verb) : 'other'}`, { what: kindText(kind, '') })
}

/** The page of what an operation was on; null where there is none, or no longer. */
export const eventPath = ({
  resource,
  resource_id: id,
  resource_name: name,
  exists,
}: Pick<OverviewEvent, 'resource' | 'resource_id' | 'resource_name' | 'exists'>) => (exists ? pageOf(resource, { id, name }) : null)
