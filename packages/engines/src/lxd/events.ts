import { z } from 'zod'
import type { EngineEvent, ObjectKind } from '../compute.ts'

/** LXD's events of the type `lifecycle`: an action and the path of what it was done to. */
const lifecycle = z.object({
  type: z.literal('lifecycle'),
  timestamp: z.string(),
  project: z.string().nullish(),
  metadata: z.object({ action: z.string(), source: z.string(), context: z.record(z.string(), z.unknown()).nullish() }),
})
type Lifecycle = z.output<typeof lifecycle>
type Subject = { type: 'instance'; name: string } | { type: 'object'; kind: ObjectKind; name: string; within: string | null }

/** What a message tells; of what was renamed, that it is gone under its former name too. */
export function eventsOf(text: string): EngineEvent[] {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return []
  }
  const { data } = lifecycle.safeParse(message)
  if (data === undefined) return []
  const subject = subjectOf(data)
  if (subject === null) return []
  const told = new Date(data.timestamp)
  const at = Number.isNaN(told.getTime()) ? new Date() : told
  const { action, context } = data.metadata
  // A snapshot's former name comes with its instance's or volume's before it.
  const former = context?.['old_name']
  const old = typeof former === 'string' ? former.split('/').at(-1) : undefined
  const names = old === undefined || old === '' || old === subject.name ? [subject.name] : [old, subject.name]
  return names.map((name) => ({ ...subject, name, action, at }))
}

function subjectOf({ project, metadata: { source, context } }: Lifecycle): Subject | null {
  const parts = partsOf(source)
  if (parts === null) return null
  const [kind, name = '', part, child = '', grandchild = '', more, last = ''] = parts
  if (name === '') return null
  switch (kind) {
    case 'instances':
    case 'containers':
    case 'virtual-machines':
      return part === 'snapshots' && child !== '' ? { type: 'object', kind: 'instance-snapshot', name: child, within: name } : { type: 'instance', name }
    case 'networks':
      return part === 'forwards' && child !== ''
        ? { type: 'object', kind: 'forward', name: child, within: name }
        : { type: 'object', kind: 'network', name, within: null }
    case 'network-acls':
      return { type: 'object', kind: 'acl', name, within: null }
    case 'storage-pools': {
      if (part === undefined) return { type: 'object', kind: 'pool', name, within: null }
      if (part !== 'volumes' || child !== 'custom' || grandchild === '') return null
      // LXD 5.0 calls them here as it does on the disk: with their project before.
      const volume = [`${project ?? 'default'}_`, 'default_'].reduce(
        (rest, prefix) => (rest === grandchild && rest.startsWith(prefix) ? rest.slice(prefix.length) : rest),
        grandchild,
      )
      return more === 'snapshots' && last !== ''
        ? { type: 'object', kind: 'volume-snapshot', name: last, within: `${name}/${volume}` }
        : { type: 'object', kind: 'volume', name: volume, within: name }
    }
    case 'images': {
      if (name !== 'aliases') return { type: 'object', kind: 'image', name, within: null }
      // An image is called by its alias: what was given one has changed.
      const target = context?.['target']
      return typeof target === 'string' ? { type: 'object', kind: 'image', name: target, within: null } : null
    }
    case 'profiles':
      return { type: 'object', kind: 'profile', name, within: null }
    case 'cluster':
      return name === 'members' && part !== undefined && part !== '' ? { type: 'object', kind: 'member', name: part, within: null } : null
    default:
      return null
  }
}

function partsOf(source: string): string[] | null {
  const path = /^\/1\.0\/([^?]+)/.exec(source)?.[1]
  if (path === undefined) return null
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return null
  }
}
