import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Availability, CallOptions, Capacity, ComputeEngine, EngineEvent, EngineInfo } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { createInstances } from './instances.ts'
import { change } from './operations.ts'
import { bytesOf, coresOf, image, instance, network, parse, shapeImage, shapeNetwork } from './parse.ts'
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
const pool = z.object({ name: z.string(), status: z.string().nullish() })
const poolResources = z.object({ space: z.object({ total: z.number(), used: z.number() }) })
const resources = z.object({ cpu: z.object({ total: z.number() }), memory: z.object({ total: z.number() }) })
const lifecycle = z.object({
  type: z.literal('lifecycle'),
  timestamp: z.string(),
  metadata: z.object({ action: z.string(), source: z.string() }),
})
const warning = z.object({ type: z.string(), last_message: z.string().nullish(), status: z.string().nullish() })

/** Silence on the event stream after which it is taken for dead. */
const pingEveryMs = 15_000

/** LXD 5 and Incus 6, which speak the same API. Nothing is asked before the first call. */
export function createLxdEngine(connection: LxdConnection): ComputeEngine {
  const transport = createTransport(connection)
  let server: Promise<z.output<typeof serverInfo>> | null = null
  let knownPool: Promise<string> | null = null

  /** Asked once; what a server can does not change while it runs. */
  const about = (options: CallOptions = {}): Promise<z.output<typeof serverInfo>> => {
    server ??= transport
      .ask('/1.0', { signal: options.signal })
      .then(({ metadata }) => {
        const info = parse(serverInfo, metadata, 'server')
        if (info.auth !== 'trusted') throw new EngineError('unauthorized', 'the server does not trust this client certificate')
        return info
      })
      .catch((error: unknown) => {
        server = null
        throw error
      })
    return server
  }
  const pools = async (options: CallOptions): Promise<string[]> => {
    const { metadata } = await transport.ask('/1.0/storage-pools', { query: { recursion: '1' }, signal: options.signal })
    return parse(z.array(pool), metadata, 'storage pools').map(({ name }) => name)
  }
  const rootPool = (options: CallOptions): Promise<string> => {
    knownPool ??= pools(options)
      .then((names) => {
        const name = names.includes('default') ? 'default' : names[0]
        if (name === undefined) throw new EngineError('exhausted', 'the server has no storage pool')
        return name
      })
      .catch((error: unknown) => {
        knownPool = null
        throw error
      })
    return knownPool
  }

  const engine: ComputeEngine = {
    kind: 'lxd',

    async info(options = {}): Promise<EngineInfo> {
      const info = await about(options)
      const drivers = info.environment?.driver ?? ''
      const driver = async (name: string): Promise<Availability> =>
        drivers.includes(name) ? { available: true } : { available: false, reason: await reasonAgainst(name, options) }
      return {
        product: info.environment?.server ?? 'lxd',
        version: info.environment?.server_version ?? '',
        hostName: info.environment?.server_name ?? '',
        instanceTypes: { vm: await driver('qemu'), container: await driver('lxc') },
        extensions: info.api_extensions ?? [],
      }
    },

    async capacity(options = {}): Promise<Capacity> {
      const info = await about(options)
      const clustered = info.environment?.server_clustered === true
      const members = clustered
        ? parse(z.array(z.object({ server_name: z.string() })), (await transport.ask('/1.0/cluster/members', { query: { recursion: '1' }, signal: options.signal })).metadata, 'members').map((member) => member.server_name)
        : [null]
      const [hosts, instances, poolNames] = await Promise.all([
        Promise.all(
          members.map(async (target) => {
            const { metadata } = await transport.ask('/1.0/resources', { ...(target !== null && { query: { target } }), signal: options.signal })
            return parse(resources, metadata, 'resources')
          }),
        ),
        transport.ask('/1.0/instances', { query: { recursion: '1' }, signal: options.signal }).then(({ metadata }) => parse(z.array(instance), metadata, 'instances')),
        pools(options),
      ])
      const spaces = await Promise.all(
        poolNames.map(async (name) => {
          const { metadata } = await transport.ask(`/1.0/storage-pools/${encodeURIComponent(name)}/resources`, { signal: options.signal })
          return parse(poolResources, metadata, 'pool').space
        }),
      )
      const cores = hosts.reduce((sum, host) => sum + host.cpu.total, 0)
      const memory = hosts.reduce((sum, host) => sum + host.memory.total, 0)
      const promised = (of: (config: Readonly<Record<string, string>>) => number | null, all: number) =>
        // No limit means all that a host has.
        instances.reduce((sum, one) => sum + (of(one.expanded_config ?? {}) ?? all / members.length), 0)
      return {
        cpuCores: { total: cores, used: promised((config) => coresOf(config['limits.cpu']), cores) },
        memoryBytes: { total: memory, used: promised((config) => bytesOf(config['limits.memory']), memory) },
        diskBytes: {
          total: spaces.reduce((sum, space) => sum + space.total, 0),
          used: spaces.reduce((sum, space) => sum + space.used, 0),
        },
        nodes: members.length,
      }
    },

    instances: createInstances(transport, {
      has: async () => {
        const extensions = new Set((await about()).api_extensions)
        return (extension) => extensions.has(extension)
      },
      rootPool,
    }),

    images: {
      async list(options = {}) {
        const { metadata } = await transport.ask('/1.0/images', { query: { recursion: '1' }, signal: options.signal })
        return parse(z.array(image), metadata, 'images').map(shapeImage)
      },
      async importFile(file, options = {}) {
        let fingerprint: string | undefined
        try {
          const properties = new URLSearchParams(file.properties ?? {}).toString()
          const done = await change(
            transport,
            '/1.0/images',
            {
              method: 'POST',
              raw: {
                content: createReadStream(file.metadataPath),
                headers: { 'content-type': 'application/octet-stream', ...(properties !== '' && { 'x-lxd-properties': properties }) },
              },
              timeoutMs: 600_000,
            },
            options,
          )
          fingerprint = z.object({ fingerprint: z.string() }).safeParse(done?.metadata).data?.fingerprint
        } catch (error) {
          // The same content has the same fingerprint, which the engine names in its refusal.
          fingerprint = isEngineError(error) ? /fingerprint "?([0-9a-f]{64})/i.exec(error.message)?.[1] : undefined
          if (fingerprint === undefined && !(isEngineError(error) && /already exists/i.test(error.message))) throw error
          fingerprint ??= (await engine.images.list(options)).find((candidate) => candidate.name === file.alias)?.fingerprint
        }
        if (fingerprint === undefined) throw new EngineError('bad_answer', 'the import named no fingerprint')
        await transport
          .ask('/1.0/images/aliases', { method: 'POST', body: { name: file.alias, target: fingerprint }, signal: options.signal })
          .catch((error: unknown) => {
            if (!isEngineError(error, 'conflict') && !(isEngineError(error) && /already exists/i.test(error.message))) throw error
          })
        return fingerprint
      },
      async delete(fingerprint, options = {}) {
        try {
          await change(transport, `/1.0/images/${encodeURIComponent(fingerprint)}`, { method: 'DELETE' }, options)
        } catch (error) {
          if (!isEngineError(error, 'not_found')) throw error
        }
      },
    },

    networks: {
      async list(options = {}) {
        const { metadata } = await transport.ask('/1.0/networks', { query: { recursion: '1' }, signal: options.signal })
        return parse(z.array(network), metadata, 'networks').map(shapeNetwork)
      },
    },

    async *events({ signal }) {
      let failures = 0
      while (!signal.aborted) {
        try {
          for await (const event of streamEvents(signal)) {
            failures = 0
            yield event
          }
        } catch {
          // Fell silent or was cut: try again, later each time, not all servers at once.
        }
        const delay = Math.min(10_000, 200 * 2 ** Math.min(failures++, 6)) * (0.5 + Math.random())
        await sleep(delay, undefined, { signal }).catch(() => undefined)
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
    let alive = true
    const end = () => {
      over = true
      wake()
    }
    socket.on('open', () => {
      queue.push({ type: 'connected', at: new Date() })
      wake()
    })
    socket.on('message', (data: Buffer) => {
      alive = true
      let event: unknown
      try {
        event = JSON.parse(data.toString('utf8'))
      } catch {
        return
      }
      const parsed = lifecycle.safeParse(event)
      const name = parsed.success ? /^\/1\.0\/(?:instances|containers|virtual-machines)\/([^/?]+)/.exec(parsed.data.metadata.source)?.[1] : undefined
      if (!parsed.success || name === undefined) return
      queue.push({ type: 'instance', name: decodeURIComponent(name), action: parsed.data.metadata.action, at: new Date(parsed.data.timestamp) })
      wake()
    })
    socket.on('pong', () => {
      alive = true
    })
    socket.on('error', end)
    socket.on('close', end)
    const ping = setInterval(() => {
      if (!alive) socket.terminate()
      alive = false
      if (socket.readyState === socket.OPEN) socket.ping()
    }, pingEveryMs).unref()
    const abort = () => socket.terminate()
    signal.addEventListener('abort', abort, { once: true })
    try {
      for (;;) {
        const next = queue.shift()
        if (next !== undefined) yield next
        else if (over || signal.aborted) return
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      clearInterval(ping)
      signal.removeEventListener('abort', abort)
      socket.terminate()
    }
  }

  /** Why the server did not load a driver, in its own words. */
  async function reasonAgainst(driver: string, options: CallOptions): Promise<string> {
    const fallback = `the ${driver} driver is not available on this host`
    try {
      const { metadata } = await transport.ask('/1.0/warnings', { query: { recursion: '1' }, signal: options.signal })
      const warnings = parse(z.array(warning), metadata, 'warnings')
      const about = warnings.find(({ type, last_message }) => /driver/i.test(type) && (last_message ?? '').toLowerCase().includes(driver))
      return about?.last_message ?? fallback
    } catch {
      return fallback
    }
  }
}
