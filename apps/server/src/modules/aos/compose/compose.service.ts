import { isMapping, type Mapping } from './compose.parse.ts'

/** As Compose writes ports, mounts and labels: in a short and a long way. Each has one shape here. */

export interface PublishedPort {
  readonly container_port: number
  /** Null: Docker takes any. */
  readonly host_port: number | null
  readonly protocol: string
}
export interface ComposeMount {
  readonly type: 'volume' | 'bind' | 'tmpfs'
  /** A volume's name or a path; null of what has none. */
  readonly source: string | null
  readonly target: string
  readonly readOnly: boolean
  /** Written in a way that says no more than this. */
  readonly plain: boolean
}
/** What a service of a file comes to. */
export interface ComposeService {
  readonly name: string
  readonly image: string
  readonly replicas: number
  readonly ports: readonly PublishedPort[]
}

const portsMax = 100
const shortPort = /^(?:(?:\[[0-9A-Fa-f:.]+\]|\d{1,3}(?:\.\d{1,3}){3}):)?(?:(\d{1,5}(?:-\d{1,5})?)?:)?(\d{1,5}(?:-\d{1,5})?)(?:\/(tcp|udp))?$/

function rangeOf(text: string): number[] | null {
  const [first = Number.NaN, last = first] = text.split('-').map(Number)
  if (!(first >= 1 && last <= 65_535 && last >= first && last - first < portsMax)) return null
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** Null where it is no port. */
export function portsOf(value: unknown): PublishedPort[] | null {
  if (isMapping(value)) {
    const { target, published, protocol = 'tcp' } = value
    return protocol === 'tcp' || protocol === 'udp'
      ? pair(String(target ?? ''), published === undefined || published === null || published === '' ? undefined : String(published), protocol)
      : null
  }
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const found = shortPort.exec(String(value))
  return found === null ? null : pair(found[2] ?? '', found[1], found[3] ?? 'tcp')
}

function pair(target: string, published: string | undefined, protocol: string): PublishedPort[] | null {
  if (!/^\d{1,5}(-\d{1,5})?$/.test(target) || (published !== undefined && !/^\d{1,5}(-\d{1,5})?$/.test(published))) return null
  const inside = rangeOf(target)
  const outside = published === undefined ? undefined : rangeOf(published)
  if (inside === null || outside === null) return null
  // One port inside may have any of a range outside: which, Docker says.
  if (outside !== undefined && outside.length !== inside.length)
    return inside.length === 1 ? inside.map((container_port) => ({ container_port, host_port: null, protocol })) : null
  return inside.map((container_port, index) => ({ container_port, host_port: outside?.[index] ?? null, protocol }))
}

const isPath = (source: string): boolean => /^[./~]/.test(source)
const plainKeys = new Set(['type', 'source', 'target', 'read_only'])
const modes = new Set(['ro', 'rw', 'z', 'Z', 'nocopy', 'cached', 'delegated', 'consistent'])

/** Null where it is no mount. */
export function mountOf(value: unknown): ComposeMount | null {
  if (typeof value === 'string') {
    const parts = value.split(':')
    const [first = '', second, third = ''] = parts
    if (parts.length > 3 || !third.split(',').every((mode) => mode === '' || modes.has(mode))) return null
    if (second === undefined) return isTarget(first) ? { type: 'volume', source: null, target: first, readOnly: false, plain: true } : null
    if (first === '' || !isTarget(second)) return null
    return {
      type: isPath(first) ? 'bind' : 'volume',
      source: first,
      target: second,
      readOnly: third.split(',').includes('ro'),
      plain: /^(ro|rw)?$/.test(third),
    }
  }
  if (!isMapping(value)) return null
  const { type = 'volume', source = null, target, read_only = false } = value
  if (type !== 'volume' && type !== 'bind' && type !== 'tmpfs') return null
  if (typeof target !== 'string' || !isTarget(target) || typeof read_only !== 'boolean' || (source !== null && typeof source !== 'string')) return null
  if (type === 'bind' && (source === null || !isPath(source))) return null
  return { type, source: type === 'tmpfs' ? null : source, target, readOnly: read_only, plain: Object.keys(value).every((key) => plainKeys.has(key)) }
}
const isTarget = (path: string): boolean => path.startsWith('/') && path.length > 1 && !path.split('/').includes('..')

/** `./a/b` and `a/b` as the path of a file beside the compose file. */
export const besides = (path: string): string => path.replace(/^(\.\/+)+/, '')

/** Of a mapping or of `key=value` texts. */
export function keyed(value: unknown): [string, string][] {
  if (isMapping(value)) return Object.entries(value).map(([key, one]) => [key, one === null || one === undefined ? '' : String(one)])
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) => {
    const text = String(one)
    const border = text.indexOf('=')
    return border < 0 ? [text, ''] : [text.slice(0, border), text.slice(border + 1)]
  })
}

export const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value])

/** Null where it is no number of replicas. */
export function replicasOf(service: Mapping): number | null {
  const deployed = isMapping(service['deploy']) ? service['deploy']['replicas'] : undefined
  const said = deployed ?? service['scale'] ?? 1
  const count = typeof said === 'number' || (typeof said === 'string' && /^\d{1,4}$/.test(said)) ? Number(said) : Number.NaN
  return Number.isInteger(count) && count >= 0 && count <= 100 ? count : null
}

/** Of a file that the rules have let pass. */
export const servicesOf = (root: Mapping): ComposeService[] =>
  Object.entries(isMapping(root['services']) ? root['services'] : {}).map(([name, service]) => {
    const of = isMapping(service) ? service : {}
    return { name, image: String(of['image'] ?? ''), replicas: replicasOf(of) ?? 1, ports: listed(of['ports']).flatMap((port) => portsOf(port) ?? []) }
  })
