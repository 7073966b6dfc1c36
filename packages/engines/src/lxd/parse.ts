import { z } from 'zod'
import type { Image, Instance, InstanceNic, InstanceUsage, PowerState } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { tagsOf } from './tags.ts'

const text = z.record(z.string(), z.string())
const devices = z.record(z.string(), text)

const addressEntry = z.object({ family: z.string(), address: z.string(), scope: z.string() })
const interfaceState = z.object({
  addresses: z.array(addressEntry).nullish(),
  hwaddr: z.string().nullish(),
  host_name: z.string().nullish(),
  counters: z.object({ bytes_received: z.number(), bytes_sent: z.number() }).nullish(),
})
const instanceState = z.object({
  status: z.string(),
  status_code: z.number(),
  cpu: z.object({ usage: z.number() }).nullish(),
  memory: z.object({ usage: z.number() }).nullish(),
  disk: z.record(z.string(), z.object({ usage: z.number() })).nullish(),
  network: z.record(z.string(), interfaceState).nullish(),
  processes: z.number().nullish(),
})
export const instance = z.object({
  name: z.string(),
  type: z.string(),
  status: z.string(),
  status_code: z.number(),
  config: text.nullish(),
  devices: devices.nullish(),
  expanded_config: text.nullish(),
  expanded_devices: devices.nullish(),
  profiles: z.array(z.string()).nullish(),
  location: z.string().nullish(),
  created_at: z.string().nullish(),
  description: z.string().nullish(),
  architecture: z.string().nullish(),
  ephemeral: z.boolean().nullish(),
  snapshots: z.array(z.unknown()).nullish(),
  state: instanceState.nullish(),
})
export type LxdInstance = z.output<typeof instance>

/** On an instance that was made to take the place of another: that one's name. */
export const standInKey = 'user.zhisuan-stand-in'
export const isStandIn = (raw: LxdInstance): boolean => ![undefined, raw.name].includes(raw.config?.[standInKey])

/** LXD status codes: 101 started … 113 ready; see doc/rest-api "List of current status codes". */
const powers: Readonly<Record<number, PowerState>> = {
  101: 'running',
  102: 'stopped',
  103: 'running',
  104: 'stopping',
  106: 'starting',
  107: 'stopping',
  109: 'paused',
  110: 'paused',
  111: 'paused',
  112: 'error',
  113: 'running',
}
export const powerOf = (statusCode: number): PowerState => powers[statusCode] ?? 'unknown'

/** Parses an answer, or says which one was nonsense. */
export function parse<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new EngineError('bad_answer', `${what}: ${z.prettifyError(parsed.error)}`, { cause: parsed.error })
  return parsed.data
}

/** `10GiB`, `512MB`, `1024`: bytes. Null where there is no limit, or a share of the host (`50%`). */
export function bytesOf(size: string | undefined): number | null {
  const match = /^(\d+)\s*(B|kB|KB|MB|GB|TB|PB|KiB|MiB|GiB|TiB|PiB)?$/.exec(size ?? '')
  if (match === null) return null
  const unit = match[2] ?? 'B'
  const power = ['B', 'K', 'M', 'G', 'T', 'P'].indexOf(unit.charAt(0).toUpperCase())
  return Number(match[1]) * (unit.includes('i') ? 1024 : 1000) ** power
}

/** `limits.cpu`: a number, or a set of cores such as `0-1,3`. */
export function coresOf(limit: string | undefined): number | null {
  if (limit === undefined || limit === '') return null
  if (/^\d+$/.test(limit)) return Number(limit)
  return limit.split(',').reduce((sum, part) => {
    const [from, to] = part.split('-').map(Number)
    return sum + (to === undefined || from === undefined ? 1 : to - from + 1)
  }, 0)
}

/** The engine says year 1 for what it does not know. */
export function dateOf(text: string | null | undefined): Date | null {
  const date = new Date(text ?? Number.NaN)
  return date.getTime() > 0 ? date : null
}

/** The one NIC. */
export const nicDevice = 'eth0'

/** The device as it takes effect. */
export const nicOf = (raw: LxdInstance): Readonly<Record<string, string>> | null => {
  const own = raw.expanded_devices?.[nicDevice] ?? raw.devices?.[nicDevice]
  return own?.['type'] === 'nic' ? own : null
}

function shapeNic(raw: LxdInstance): InstanceNic | null {
  const own = nicOf(raw)
  if (own === null) return null
  return {
    network: own['network'] ?? own['parent'] ?? null,
    address: own['ipv4.address'] ?? null,
    mac: own['hwaddr'] ?? raw.config?.[`volatile.${nicDevice}.hwaddr`] ?? null,
  }
}

export function shapeInstance(raw: LxdInstance): Instance {
  const config = raw.expanded_config ?? raw.config ?? {}
  const allDevices = raw.expanded_devices ?? raw.devices ?? {}
  const root = Object.values(allDevices).find((device) => device['type'] === 'disk' && device['path'] === '/')
  const addresses = Object.entries(raw.state?.network ?? {}).flatMap(([name, state]) =>
    (state.addresses ?? [])
      .filter((entry) => entry.scope === 'global')
      .map((entry) => ({
        family: entry.family === 'inet' ? (4 as const) : (6 as const),
        address: entry.address,
        mac: state.hwaddr ?? '',
        interface: name,
        network: allDevices[name]?.['network'] ?? null,
      })),
  )
  return {
    name: raw.name,
    type: raw.type === 'virtual-machine' ? 'vm' : 'container',
    power: powerOf(raw.state?.status_code ?? raw.status_code),
    engineStatus: raw.status,
    cpuCores: coresOf(config['limits.cpu']),
    memoryBytes: bytesOf(config['limits.memory']),
    diskBytes: bytesOf(root?.['size']),
    tags: tagsOf(config),
    addresses: raw.status_code === 102 ? [] : addresses,
    nic: shapeNic(raw),
    gpus: Object.values(allDevices).flatMap(({ type, pci }) => (type === 'gpu' && pci !== undefined ? [pci] : [])),
    location: raw.location === 'none' || raw.location === undefined ? null : raw.location,
    createdAt: dateOf(raw.created_at),
  }
}

export function shapeUsage(raw: LxdInstance, takenAt: Date): InstanceUsage | null {
  const { state } = raw
  if (state === null || state === undefined || powerOf(state.status_code) !== 'running') return null
  const nics = Object.entries(state.network ?? {}).filter(([name]) => name !== 'lo')
  const root = state.disk?.['root']?.usage
  return {
    name: raw.name,
    takenAt,
    cpuSeconds: (state.cpu?.usage ?? 0) / 1e9,
    memoryBytes: state.memory?.usage ?? 0,
    // Drivers that cannot measure say 0 or -1.
    diskBytes: root === undefined || root <= 0 ? null : root,
    networkReceivedBytes: nics.reduce((sum, [, nic]) => sum + (nic.counters?.bytes_received ?? 0), 0),
    networkSentBytes: nics.reduce((sum, [, nic]) => sum + (nic.counters?.bytes_sent ?? 0), 0),
    processes: state.processes ?? 0,
  }
}

export const image = z.object({
  fingerprint: z.string(),
  aliases: z.array(z.object({ name: z.string() })).nullish(),
  properties: text.nullish(),
  architecture: z.string(),
  size: z.number(),
  type: z.string().nullish(),
  created_at: z.string().nullish(),
  uploaded_at: z.string().nullish(),
})
export type LxdImage = z.output<typeof image>

/** The property that marks an image as ours: one, so that an import overwrites the one that a file brings. */
export const imageMark = 'user.zhisuan.image'
const mark = z.object({ tags: text, published: z.string().optional() })

/** Tags, and the alias of an image that was published. */
export function markOf(raw: LxdImage): z.output<typeof mark> {
  try {
    return mark.parse(JSON.parse(raw.properties?.[imageMark] ?? ''))
  } catch {
    return { tags: {} }
  }
}

export function shapeImage(raw: LxdImage): Image {
  const { [imageMark]: _, ...properties } = raw.properties ?? {}
  return {
    fingerprint: raw.fingerprint,
    name: raw.aliases?.[0]?.name ?? properties['description'] ?? raw.fingerprint.slice(0, 12),
    description: properties['description'] ?? '',
    os: properties['os'] ?? null,
    release: properties['release'] ?? null,
    architecture: raw.architecture,
    sizeBytes: raw.size,
    type: raw.type === 'virtual-machine' ? 'vm' : 'container',
    createdAt: dateOf(raw.created_at),
    properties,
    tags: markOf(raw).tags,
  }
}
