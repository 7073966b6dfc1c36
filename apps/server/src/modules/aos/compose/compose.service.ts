import { isIP } from 'node:net'
import { isMapping, type Mapping } from './compose.parse.ts'

/** As Compose writes ports, mounts and labels: in a short and a long way. Each has one shape here. */

export interface PublishedPort {
  readonly container_port: number
  /** Null: Docker takes any. */
  readonly host_port: number | null
  readonly protocol: string
  /** Of the node; left out: all that it has. */
  readonly address?: string
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
  /** The most that each of its containers may take; null where nothing limits it. */
  readonly cpu_limit: number | null
  readonly memory_limit_bytes: number | null
  /** When its image is pulled: `always`, `never`; null: where it is not there. */
  readonly pull: 'always' | 'never' | null
}

export const portsMax = 100
const shortPort = /^(?:(\[[0-9A-Fa-f:.]+\]|\d{1,3}(?:\.\d{1,3}){3}):)?(?:(\d{1,5}(?:-\d{1,5})?)?:)?(\d{1,5}(?:-\d{1,5})?)(?:\/([A-Za-z]+))?$/
const range = /^\d{1,5}(-\d{1,5})?$/

/** What is wrong with a port, by the name of its text. */
export type PortFault = 'port' | 'portsTooMany' | 'portProtocol'
export const isPortFault = (ports: PublishedPort[] | PortFault): ports is PortFault => typeof ports === 'string'

function rangeOf(text: string): number[] | PortFault {
  const [first = Number.NaN, last = first] = text.split('-').map(Number)
  if (!(first >= 1 && last <= 65_535 && last >= first)) return 'port'
  if (last - first >= portsMax) return 'portsTooMany'
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

interface WrittenPort {
  readonly address: string
  readonly published: string
  readonly target: string
  readonly protocol: string
}
/** Both ways of writing one. */
function written(value: unknown): WrittenPort | null {
  if (isMapping(value)) {
    const { target, published, protocol, host_ip } = value
    const [inside, outside, address] = [target, published, host_ip].map((one) => (one === undefined || one === null ? '' : String(one)))
    return { target: inside ?? '', published: outside ?? '', address: address ?? '', protocol: typeof protocol === 'string' ? protocol : 'tcp' }
  }
  const found = shortPort.exec(String(value))
  return found === null
    ? null
    : { address: (found[1] ?? '').replace(/^\[|\]$/g, ''), published: found[2] ?? '', target: found[3] ?? '', protocol: found[4] ?? 'tcp' }
}

/** The ports that one entry means, or what is wrong with it. */
export function portsOf(value: unknown): PublishedPort[] | PortFault {
  const port = written(value)
  if (port === null || !range.test(port.target) || (port.published !== '' && !range.test(port.published))) return 'port'
  if (port.address !== '' && isIP(port.address) === 0) return 'port'
  const protocol = port.protocol.toLowerCase()
  if (protocol !== 'tcp' && protocol !== 'udp') return 'portProtocol'
  const at = { protocol, ...(port.address !== '' && { address: port.address }) }
  const inside = rangeOf(port.target)
  const outside = port.published === '' ? undefined : rangeOf(port.published)
  if (typeof inside === 'string') return inside
  if (typeof outside === 'string') return outside
  // One port inside may have any of a range outside: which, Docker says.
  if (outside !== undefined && outside.length !== inside.length)
    return inside.length === 1 ? inside.map((container_port) => ({ container_port, host_port: null, ...at })) : 'port'
  return inside.map((container_port, index) => ({ container_port, host_port: outside?.[index] ?? null, ...at }))
}

/** In the short way, which every Compose has an address in. */
export function portText(value: unknown): string {
  const port = written(value)
  if (port === null) return String(value)
  const { address, published, target, protocol } = port
  const outside = address === '' ? (published === '' ? '' : `${published}:`) : `${address.includes(':') ? `[${address}]` : address}:${published}:`
  return `${outside}${target}${protocol.toLowerCase() === 'udp' ? '/udp' : ''}`
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

/** Of a mapping or of `key=value` texts; null of what is only named. */
export function named(value: unknown): [string, string | null][] {
  if (isMapping(value)) return Object.entries(value).map(([key, one]) => [key, one === null || one === undefined ? null : String(one)])
  return listed(value).map((one) => {
    const text = String(one)
    const border = text.indexOf('=')
    return border < 0 ? [text, null] : [text.slice(0, border), text.slice(border + 1)]
  })
}
/** The same, where what is only named is empty. */
export const keyed = (value: unknown): [string, string][] => named(value).map(([key, one]) => [key, one ?? ''])

/** A file with variables, as a service names it. */
export interface EnvFile {
  readonly path: string
  readonly required: boolean
  /** Values are as they are written: nothing is quoted, and nothing stands for a variable. */
  readonly raw: boolean
}
/** Null of what is none. */
export const envFilesOf = (service: Mapping): (EnvFile | null)[] =>
  (isMapping(service['env_file']) ? [service['env_file']] : listed(service['env_file'])).map((value) => {
    if (typeof value === 'string') return { path: besides(value), required: true, raw: false }
    if (!isMapping(value) || typeof value['path'] !== 'string') return null
    return { path: besides(value['path']), required: value['required'] !== false, raw: value['format'] === 'raw' }
  })

export const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value])

/** Null where it is no number of replicas. */
export function replicasOf(service: Mapping): number | null {
  const deployed = isMapping(service['deploy']) ? service['deploy']['replicas'] : undefined
  const said = deployed ?? service['scale'] ?? 1
  const count = typeof said === 'number' || (typeof said === 'string' && /^\d{1,4}$/.test(said)) ? Number(said) : Number.NaN
  return Number.isInteger(count) && count >= 0 && count <= 100 ? count : null
}

const units = ['b', 'k', 'm', 'g', 't', 'p']

/** `512m` in bytes, as Docker reads it; null of what limits nothing. */
function bytesOf(value: unknown): number | null {
  const [, amount, unit = 'b'] = /^(\d+(?:\.\d+)?)\s?([bkmgtp])?b?$/i.exec(String(value)) ?? []
  const bytes = Math.floor(Number(amount) * 1024 ** units.indexOf(unit.toLowerCase()))
  return bytes > 0 ? bytes : null
}

/** What limits the containers of a service: what is said of their deployment. Where that is there at all, Compose forgets what the older keys say. */
export function limitsOf(service: Mapping): Pick<ComposeService, 'cpu_limit' | 'memory_limit_bytes'> {
  const deploy = isMapping(service['deploy']) ? service['deploy'] : {}
  const resources = isMapping(deploy['resources']) ? deploy['resources'] : {}
  const limits = isMapping(resources['limits']) ? resources['limits'] : {}
  const cpus = Number(limits['cpus'])
  return { cpu_limit: cpus > 0 ? cpus : null, memory_limit_bytes: bytesOf(limits['memory']) }
}

/** Whether it wants a GPU of the node. */
export function wantsGpu(service: Mapping): boolean {
  const deploy = isMapping(service['deploy']) ? service['deploy'] : {}
  const resources = isMapping(deploy['resources']) ? deploy['resources'] : {}
  const reserved = isMapping(resources['reservations']) ? resources['reservations'] : {}
  return service['runtime'] === 'nvidia' || listed(reserved['devices']).length > 0 || listed(reserved['generic_resources']).length > 0
}

/** Of a file that the rules have let pass. */
export const servicesOf = (root: Mapping): ComposeService[] =>
  Object.entries(isMapping(root['services']) ? root['services'] : {}).map(([name, service]) => {
    const of = isMapping(service) ? service : {}
    return {
      name,
      image: String(of['image'] ?? ''),
      replicas: replicasOf(of) ?? 1,
      ...limitsOf(of),
      pull: of['pull_policy'] === 'always' || of['pull_policy'] === 'never' ? of['pull_policy'] : null,
      ports: listed(of['ports']).flatMap((port) => {
        const ports = portsOf(port)
        return isPortFault(ports) ? [] : ports
      }),
    }
  })
