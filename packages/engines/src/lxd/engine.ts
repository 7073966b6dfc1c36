import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Availability, CallOptions, Capacity, ComputeEngine, EngineEvent, EngineInfo } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { refuseAborted, untilAborted } from '../signals.ts'
import { eventsOf } from './events.ts'
import { createHosts } from './hosts.ts'
import { createImages } from './images.ts'
import { createInstances } from './instances.ts'
import { createNetworks } from './networks.ts'
import { createNics } from './nics.ts'
import { bytesOf, coresOf, instance, parse } from './parse.ts'
import { createPools } from './pools.ts'
import type { Server as Asked } from './server.ts'
import { createStorage } from './storage.ts'
import { createTransport, type LxdConnection } from './transport.ts'

/** LXD REST API `GET /1.0`. */
const serverInfo = z.object({
  auth: z.string(),
  api_extensions: z.array(z.string()).nullish(),
  environment: z
    .object({
      server: z.string().nullish(),
      server_name: z.string().nullish(),
      server_version: z.string().nullish(),
      server_clustered: z.boolean().nullish(),
      driver: z.string().nullish(),
    })
    .nullish(),
})
type Server = z.output<typeof serverInfo>
/** Without these nothing here works: LXD before 4.0. */
const needed = ['instances', 'event_lifecycle', 'resources']

const resources = z.object({ cpu: z.object({ total: z.number() }), memory: z.object({ total: z.number() }) })
const warning = z.object({ type: z.string(), last_message: z.string().nullish(), status: z.string().nullish() })

/** LXD 5 and Incus 6, which speak the same API. Nothing is asked before the first call. */
export function createLxdEngine(connection: LxdConnection): ComputeEngine {
  const transport = createTransport(connection)
  let known: Promise<Server> | null = null
  let knownPool: Promise<string> | null = null

  const ask = async (): Promise<Server> => {
    const info = parse(serverInfo, (await transport.ask('/1.0')).metadata, 'server')
    if (info.auth !== 'trusted') throw new EngineError('unauthorized', 'the server does not trust this client certificate')
    const has = new Set(info.api_extensions)
    const missing = needed.filter((extension) => !has.has(extension))
    if (missing.length === 0) return info
    const { server, server_version } = info.environment ?? {}
    throw new EngineError('unsupported', `${server ?? 'the server'} ${server_version ?? ''} lacks the API extensions ${missing.join(', ')}`.replace('  ', ' '))
  }
  /** Asked once, for all who want to know at a time. */
  const about = (options: CallOptions = {}): Promise<Server> => {
    known ??= ask().catch((error: unknown) => {
      known = null
      throw error
    })
    return untilAborted(known, options.signal)
  }
  const rootPool = (options: CallOptions): Promise<string> => {
    knownPool ??= pools
      .usable({})
      .then((all) => {
        const { name } = all.find((one) => one.name === 'default') ?? all[0] ?? {}
        if (name === undefined) throw new EngineError('exhausted', 'the server has no storage pool')
        return name
      })
      .catch((error: unknown) => {
        knownPool = null
        throw error
      })
    return untilAborted(knownPool, options.signal)
  }

  /** One that is null where there is no cluster. */
  const memberNames = async (options: CallOptions): Promise<readonly (string | null)[]> => {
    if ((await about(options)).environment?.server_clustered !== true) return [null]
    const { metadata } = await transport.ask('/1.0/cluster/members', { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(z.object({ server_name: z.string() })), metadata, 'members').map((member) => member.server_name)
  }
  const server: Asked = {
    async needs(extensions, options) {
      const has = new Set((await about(options)).api_extensions)
      const missing = extensions.filter((extension) => !has.has(extension))
      if (missing.length > 0) throw new EngineError('unsupported', `the server lacks the API extensions ${missing.join(', ')}`)
    },
    members: memberNames,
  }
  const networks = createNetworks(transport, server)
  const pools = createPools(transport, memberNames)

  const engine: ComputeEngine = {
    kind: 'lxd',

    async info(options = {}): Promise<EngineInfo> {
      refuseAborted(options.signal)
      // Asked afresh: the server may have been restarted, with another version or another driver.
      known = null
      const info = await about(options)
      const loaded = info.environment?.driver ?? ''
      const driver = async (name: 'qemu' | 'lxc'): Promise<Availability> =>
        loaded.includes(name) ? { available: true } : { available: false, reason: await reasonAgainst(name, loaded, options) }
      const extensions = info.api_extensions ?? []
      return {
        product: info.environment?.server ?? 'lxd',
        version: info.environment?.server_version ?? '',
        hostName: info.environment?.server_name ?? '',
        instanceTypes: {
          vm: extensions.includes('virtual-machines')
            ? await driver('qemu')
            : { available: false, reason: 'the server lacks the API extension virtual-machines' },
          container: await driver('lxc'),
        },
        extensions,
      }
    },

    async capacity(options = {}): Promise<Capacity> {
      const members = await memberNames(options)
      const on = (target: string | null) => (target === null ? {} : { query: { target } })
      const [hosts, instances, usable] = await Promise.all([
        Promise.all(
          members.map(async (target) => {
            const { metadata } = await transport.ask('/1.0/resources', { ...on(target), signal: options.signal })
            return parse(resources, metadata, 'resources')
          }),
        ),
        transport
          .ask('/1.0/instances', { query: { recursion: '1' }, signal: options.signal })
          .then(({ metadata }) => parse(z.array(instance), metadata, 'instances')),
        pools.usable(options),
      ])
      const spaces = (await Promise.all(usable.map((pool) => pools.spaces(pool, options)))).flat()
      const cores = hosts.reduce((sum, host) => sum + host.cpu.total, 0)
      const memory = hosts.reduce((sum, host) => sum + host.memory.total, 0)
      const promised = (of: (config: Readonly<Record<string, string>>) => number | null, all: number) =>
        // No limit means all that a host has.
        instances.reduce((sum, one) => sum + (of(one.expanded_config ?? {}) ?? all / members.length), 0)
      return {
        cpuCores: { total: cores, used: promised((config) => coresOf(config['limits.cpu']), cores) },
        memoryBytes: { total: memory, used: promised((config) => bytesOf(config['limits.memory']), memory) },
        diskBytes: {
          total: spaces.reduce((sum, { totalBytes }) => sum + totalBytes, 0),
          used: spaces.reduce((sum, { usedBytes }) => sum + usedBytes, 0),
        },
        nodes: members.length,
      }
    },

    instances: createInstances(transport, {
      has: async (options) => {
        const extensions = new Set((await about(options)).api_extensions)
        return (extension) => extensions.has(extension)
      },
      rootPool,
      instanceTypes: async (options) => (await engine.info(options)).instanceTypes,
      nics: createNics(transport, networks),
    }),

    images: createImages(transport),

    networks,
    storage: createStorage(transport, pools),
    hosts: createHosts(transport, server),

    async *events({ signal }) {
      const stop = AbortSignal.any([signal, transport.closed])
      let failures = 0
      while (!stop.aborted) {
        try {
          for await (const event of streamEvents(stop)) {
            failures = 0
            yield event
          }
        } catch {
          // Fell silent or was cut: try again, later each time, not all servers at once.
        }
        const delay = Math.min(10_000, 200 * 2 ** Math.min(failures++, 6)) * (0.5 + Math.random())
        await sleep(delay, undefined, { signal: stop }).catch(() => undefined)
      }
    },

    close: () => transport.close(),
  }
  return engine

  async function* streamEvents(signal: AbortSignal): AsyncGenerator<EngineEvent> {
    const socket = transport.socket('/1.0/events', { type: 'lifecycle' })
    const queue: EngineEvent[] = []
    let wake: () => void = () => undefined
    let over = false
    const end = () => {
      over = true
      wake()
    }
    socket.on('open', () => {
      queue.push({ type: 'connected', at: new Date() })
      wake()
    })
    socket.on('message', (data: Buffer) => {
      queue.push(...eventsOf(data.toString('utf8')))
      wake()
    })
    socket.on('close', end)
    signal.addEventListener('abort', end, { once: true })
    try {
      for (;;) {
        if (signal.aborted) return
        const next = queue.shift()
        if (next !== undefined) yield next
        else if (over) return
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      signal.removeEventListener('abort', end)
      socket.terminate()
    }
  }

  /** Why the server did not load a driver, in its own words. */
  async function reasonAgainst(driver: 'qemu' | 'lxc', loaded: string, options: CallOptions): Promise<string> {
    const fallback = loaded === '' ? 'the server loaded no instance driver' : `the server loaded only the driver ${loaded}, not ${driver}`
    try {
      const { metadata } = await transport.ask('/1.0/warnings', { query: { recursion: '1' }, signal: options.signal })
      const said = parse(z.array(warning), metadata, 'warnings')
        .filter(({ type, status }) => /instance type not operational|driver/i.test(type) && status !== 'resolved')
        .map(({ last_message }) => last_message ?? '')
        .filter((message) => message !== '')
      // A message seldom names its driver; where only one is missing, every message is about that one.
      const ofQemu = (message: string) => /qemu|kvm|vsock|vhost|ovmf|edk2|firmware|virtiofsd/i.test(message)
      const about = loaded === '' ? said.filter((message) => ofQemu(message) === (driver === 'qemu')) : said
      return about.length === 0 ? fallback : about.join('; ')
    } catch (error) {
      if (isEngineError(error, 'cancelled')) throw error
      return fallback
    }
  }
}
