import type { OverviewEvent } from '@zhisuan/contract/nextstack/overview'
import type { TFunction } from 'i18next'
import type { StatusTone } from '../../kit/StatusTag.tsx'
import type messages from '../../locales/zh/overview.ts'
import { paths } from '../../paths.ts'

type Verb = keyof (typeof messages)['events']['verb']
type Noun = keyof (typeof messages)['kind']

export const eventTones: Readonly<Record<OverviewEvent['status'], StatusTone>> = {
  queued: 'busy',
  running: 'busy',
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
const nouns: readonly string[] = [
  'vm',
  'snapshot',
  'volume',
  'volumeSnapshot',
  'volumeBackup',
  'image',
  'vpc',
  'eip',
  'host',
  'edge',
  'container',
  'stack',
] satisfies Noun[]

/** What a person reads of `nextstack.vm.start`: 启动云主机. */
export function eventText(t: TFunction<'overview'>, kind: string): string {
  const [, noun = '', verb = ''] = kind.split('.')
  // Both are checked by the lists above.
  const what = nouns.includes(noun) ? t(`kind.${noun as Noun}`) : ''
  return t(`events.verb.${verbs.includes(verb) ? (verb as Verb) : 'other'}`, { what })
}

/** The page of what an operation was on; null where there is none, or no longer. */
export function eventPath({
  resource,
  resource_id: id,
  resource_name: name,
  exists,
}: Pick<OverviewEvent, 'resource' | 'resource_id' | 'resource_name' | 'exists'>): string | null {
  if (!exists) return null
  switch (resource) {
    case 'vm':
      return paths.nextstack.vm.detail(id)
    case 'snapshot':
      return paths.nextstack.snap.detail(id)
    case 'volume':
      return paths.nextstack.volume.detail(id)
    case 'volumeSnapshot':
      return paths.nextstack.volumeSnap.detail(id)
    case 'vpc':
      return paths.nextstack.vpc.detail(id)
    case 'host':
      return paths.nextstack.hypervisorNode.detail(id)
    case 'image':
      return paths.nextstack.privateImage.detail(id)
    case 'edge':
    case 'edge_image_pull':
      return paths.container.node.detail(id)
    case 'container':
      return paths.container.deployment.containerDetail(id)
    case 'stack':
      return paths.container.application.services(id, name)
    case 'volumeBackup':
    case 'eip':
    case null:
      return null
  }
}
