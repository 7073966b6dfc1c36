import { EventEmitter, on } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import type { CallOptions, ComputeEngine, EngineEvent, Instance, InstanceSpec, InstanceUsage } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { pause, refuseAborted } from '../signals.ts'
import { changedBy, copyOf, disk, kept, withFile, type Disk } from './disk.ts'
import { createSandboxHosts } from './hosts.ts'
import { createSandboxImages } from './images.ts'
import { openJournal } from './journal.ts'
import { createSandboxNetworks, type Place } from './networks.ts'
import type { Parts } from './parts.ts'
import { openSandboxTerminal, runSandboxCommand, sleepMs } from './shell.ts'
import { createSandboxSnapshots, mustHaveSnapshot } from './snapshots.ts'
import { attachments, createSandboxStorage } from './storage.ts'

export interface SandboxOptions {
  /** Where its state is kept; null keeps it in memory. */
  directory: string | null
  /** How long each change takes, in milliseconds. Default 0. */
  latencyMs?: number
  /** How many hosts it pretends; more than one are a cluster. Default 1. */
  hosts?: number
  now?: () => Date
}

const stored = disk.extend({
  name: z.string(),
  type: z.enum(['vm', 'container']),
  power: z.enum(['running', 'stopped']),
  cpuCores: z.number(),
  memoryBytes: z.number(),
  diskBytes: z.number(),
  network: z.string(),
  /** The static one. */
  address: z.string().nullable().default(null),
  /** What it was given, the static one or another. */
  lease: z.string().nullable().default(null),
  guarded: z.boolean().default(false),
  ingressBitsPerSecond: z.number().nullable().default(null),
  egressBitsPerSecond: z.number().nullable().default(null),
  gpus: z.array(z.string()).default([]),
  host: z.string().default('sandbox'),
  /** Where it was before its host was evacuated. */
  home: z.string().nullable().default(null),
  tags: z.record(z.string(), z.string()),
  image: z.string(),
  /** Counted up; its hardware address and made-up usage come of it. */
  number: z.number(),
  createdAt: z.number(),
  startedAt: z.number(),
  /** Of the image that it came from. */
  imageProperties: z.record(z.string(), z.string()).default({}),
  /** What it calls itself. */
  hostname: z.string().nullable().default(null),
  volumes: attachments.default({}),
  snapshots: z.record(z.string(), kept).default({}),
})
type Stored = z.output<typeof stored>

const gib = 2 ** 30
const outputLimit = 2 ** 20
/** As `compute.ts` gives it. */
const instanceName = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/

/**
 * An engine that runs nothing and says so: for a first look, for fast tests, for load tests with
 * 100,000 instances. It keeps every promise of the interface that needs no real machine.
 */
export function createSandboxEngine(options: SandboxOptions): ComputeEngine {
  const now = options.now ?? (() => new Date())
  const { objects, journal } = openJournal<Stored>(options.directory, (value) => stored.safeParse(value).data ?? null)
  let nextNumber = 2
  for (const one of objects.values()) nextNumber = Math.max(nextNumber, one.number + 1)
  const bus = new EventEmitter()
  bus.setMaxListeners(0)

  const tell = (name: string, action: string) => {
    const event: EngineEvent = { type: 'instance', name, action, at: now() }
    bus.emit('event', event)
  }
  const closing = new AbortController()
  /** Every call comes in here, and can be cancelled while it is under way. */
  const enter = async (call: CallOptions = {}, ms = 0): Promise<void> => {
    const refuse = () => {
      refuseAborted(call.signal)
      refuseAborted(closing.signal)
    }
    refuse()
    if (ms === 0) await Promise.resolve()
    else await pause(ms, call.signal === undefined ? closing.signal : AbortSignal.any([call.signal, closing.signal]))
    refuse()
  }
  const work = (call: CallOptions = {}): Promise<void> => {
    call.onOperation?.('sandbox')
    return enter(call, options.latencyMs)
  }
  const told = new Map<string, number>()
  const must = (name: string): Stored => {
    const one = objects.get(name)
    if (one === undefined) throw new EngineError('not_found', `no instance ${name}`)
    return one
  }
  const mustRun = (name: string): Stored => {
    const one = must(name)
    if (one.power !== 'running') throw new EngineError('invalid', `${name} is not running`)
    return one
  }
  const setPower = async (name: string, power: Stored['power'], action: string, call?: CallOptions): Promise<void> => {
    await work(call)
    const one = must(name)
    if (one.power === power) return
    journal.put(name, { ...one, power, startedAt: now().getTime() })
    tell(name, action)
  }
  const shape = (one: Stored): Instance => ({
    name: one.name,
    type: one.type,
    power: one.power,
    engineStatus: one.power === 'running' ? 'Running' : 'Stopped',
    cpuCores: one.cpuCores,
    memoryBytes: one.memoryBytes,
    diskBytes: one.diskBytes,
    tags: one.tags,
    addresses:
      one.power === 'running' && one.lease !== null ? [{ family: 4, address: one.lease, mac: macOf(one), interface: 'eth0', network: one.network }] : [],
    nic: { network: one.network, address: one.address, mac: macOf(one) },
    gpus: one.gpus,
    location: one.host,
    createdAt: new Date(one.createdAt),
  })

  const parts: Parts = {
    directory: options.directory,
    enter,
    work,
    tell: (kind, name, action, within = null) => {
      const event: EngineEvent = { type: 'object', kind, name, within, action, at: now() }
      bus.emit('event', event)
    },
  }
  const networks = createSandboxNetworks(parts, function* () {
    for (const one of objects.values()) yield placeOf(one, now())
  })
  const hosts = createSandboxHosts(parts, options.hosts ?? 1, {
    memoryBytes: (host) => [...objects.values()].reduce((sum, one) => sum + (one.host === host && one.power === 'running' ? one.memoryBytes : 0), 0),
    moveAway(from, to) {
      for (const one of [...objects.values()].filter(({ host }) => host === from)) move(one, to(one.number), from)
    },
    moveBack(home) {
      for (const one of [...objects.values()].filter((one) => one.home === home)) move(one, home, null)
    },
  })
  const move = (one: Stored, host: string, home: string | null) => {
    journal.put(one.name, { ...one, host, home })
    tell(one.name, 'instance-updated')
  }
  for (const one of objects.values()) {
    const lease = networks.take(one.network, one.name, one.lease)
    if (lease !== one.lease) journal.put(one.name, { ...one, lease })
  }

  const storage = createSandboxStorage(parts, now, {
    get: (name) => objects.get(name),
    *attached() {
      for (const { name, volumes } of objects.values()) yield [name, volumes]
    },
    attach(name, volumes) {
      journal.put(name, { ...must(name), volumes })
      tell(name, 'instance-updated')
    },
    diskBytes: () => [...objects.values()].reduce((sum, { diskBytes }) => sum + diskBytes, 0),
  })
  const snapshots = createSandboxSnapshots(parts, now, {
    must,
    find: (name) => objects.get(name),
    keep: (name, snapshots) => journal.put(name, { ...must(name), snapshots: { ...snapshots } }),
    setBack(name, to) {
      const one = must(name)
      journal.put(name, { ...one, ...to, startedAt: one.power === 'running' ? now().getTime() : one.startedAt })
      tell(name, 'instance-restored')
    },
  })
  const images = createSandboxImages(parts, now, {
    take({ instance, snapshot }) {
      const one = must(instance)
      if (snapshot === null && one.power !== 'stopped') throw new EngineError('invalid', `${instance} is not stopped`)
      return { ...one, disk: copyOf(snapshot === null ? one : mustHaveSnapshot(instance, one.snapshots, snapshot)) }
    },
  })
  /** What an instance begins with. */
  const beginning = ({
    copyOf: of,
    imageFingerprint,
    type,
    diskBytes,
  }: InstanceSpec): { disk: Disk; image: string; imageProperties: Readonly<Record<string, string>> } => {
    if (of === undefined) {
      const { disk, properties } = images.must(imageFingerprint)
      return { disk, image: imageFingerprint, imageProperties: properties }
    }
    const source = must(of.instance)
    const then = of.snapshot === null ? { ...source, sizeBytes: source.diskBytes } : mustHaveSnapshot(of.instance, source.snapshots, of.snapshot)
    if (source.type !== type) throw new EngineError('invalid', `a copy of a ${source.type} is no ${type}`)
    if (then.sizeBytes > diskBytes) throw new EngineError('invalid', 'the disk of a copy cannot be smaller')
    return { disk: copyOf(then), image: source.image, imageProperties: source.imageProperties }
  }

  return {
    kind: 'sandbox',
    async info(call) {
      await enter(call)
      return {
        product: 'sandbox',
        version: '1',
        hostName: 'sandbox',
        instanceTypes: { vm: { available: true }, container: { available: true } },
        extensions: [],
      }
    },
    async capacity(call) {
      await enter(call)
      let cores = 0
      let memory = 0
      for (const one of objects.values()) {
        cores += one.cpuCores
        memory += one.memoryBytes
      }
      return {
        cpuCores: { total: 1_000_000, used: cores },
        memoryBytes: { total: 4_000_000 * gib, used: memory },
        diskBytes: { total: storage.totalBytes, used: storage.usedBytes() },
        nodes: hosts.count,
      }
    },
    instances: {
      async list(call) {
        await enter(call)
        return [...objects.values()].map(shape)
      },
      async get(name, call) {
        await enter(call)
        const one = objects.get(name)
        return one === undefined ? null : shape(one)
      },
      async create(spec, call) {
        await work(call)
        const former = objects.get(spec.name)
        if (former !== undefined) {
          if (JSON.stringify(Object.entries(former.tags).sort()) === JSON.stringify(Object.entries(spec.tags).sort())) return
          throw new EngineError('conflict', `${spec.name} exists and is not ours`)
        }
        if (!instanceName.test(spec.name)) throw new EngineError('invalid', `no name for an instance: ${spec.name}`)
        const { disk, image, imageProperties } = beginning(spec)
        hosts.mustHaveGpus(spec.gpus ?? [])
        const host = hosts.place(nextNumber, spec.host)
        const address = spec.address ?? null
        const lease = networks.take(spec.network, spec.name, address)
        journal.put(spec.name, {
          name: spec.name,
          type: spec.type,
          power: 'stopped',
          cpuCores: spec.cpuCores,
          memoryBytes: spec.memoryBytes,
          diskBytes: spec.diskBytes,
          network: spec.network,
          address,
          lease,
          guarded: spec.guarded ?? false,
          ingressBitsPerSecond: null,
          egressBitsPerSecond: null,
          gpus: [...(spec.gpus ?? [])],
          host,
          home: null,
          tags: { ...spec.tags },
          hostname: spec.hostname ?? null,
          image,
          imageProperties,
          number: nextNumber++,
          createdAt: now().getTime(),
          startedAt: 0,
          volumes: {},
          snapshots: {},
          ...disk,
        })
        tell(spec.name, 'instance-created')
      },
      start: (name, call) => setPower(name, 'running', 'instance-started', call),
      stop: (name, call) => setPower(name, 'stopped', 'instance-stopped', call),
      async restart(name, call) {
        await setPower(name, 'stopped', 'instance-stopped', call)
        await setPower(name, 'running', 'instance-started', call)
      },
      async resize(name, size, call) {
        await work(call)
        const one = must(name)
        if (size.diskBytes < one.diskBytes) throw new EngineError('invalid', 'a disk cannot shrink')
        journal.put(name, { ...one, ...size })
        tell(name, 'instance-updated')
      },
      async rebuild(name, { imageFingerprint, hostname }, call) {
        await work(call)
        const one = must(name)
        if (one.power !== 'stopped') throw new EngineError('invalid', `${name} is not stopped`)
        if (Object.keys(one.snapshots).length > 0) throw new EngineError('invalid', `${name} has snapshots`)
        const { disk, properties } = images.must(imageFingerprint)
        journal.put(name, { ...one, ...copyOf(disk), image: imageFingerprint, imageProperties: properties, hostname: hostname ?? one.hostname })
        tell(name, 'instance-updated')
      },
      async connect(name, nic, call) {
        await work(call)
        const one = must(name)
        const next = { ...one, ...nic }
        if ((['network', 'address', 'guarded', 'ingressBitsPerSecond', 'egressBitsPerSecond'] as const).every((key) => one[key] === next[key])) return
        // One that stays where it is, and asks for no other, keeps its address.
        const stays = one.network === nic.network && nic.address === null && one.address === null
        const lease = stays ? one.lease : networks.take(nic.network, name, nic.address)
        if (lease !== one.lease || one.network !== nic.network) networks.release(one.network, one.lease)
        journal.put(name, { ...next, lease })
        tell(name, 'instance-updated')
      },
      async describe(name, _, call) {
        await work(call)
        must(name)
      },
      async delete(name, call) {
        await work(call)
        const one = objects.get(name)
        if (one === undefined) return
        journal.remove(name)
        networks.release(one.network, one.lease)
        tell(name, 'instance-deleted')
      },
      snapshots,
      async exec(name, request, call) {
        await work(call)
        mustRun(name)
        await enter(call, sleepMs(request.command, request.input ?? Buffer.alloc(0)))
        const one = mustRun(name)
        const changed = changedBy(request.command, copyOf(one))
        if (changed !== null) {
          journal.put(name, { ...one, ...changed })
          return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
        }
        const result = runSandboxCommand(request.command, {
          hostname: one.hostname ?? name,
          ...storage.seen(copyOf(one), one.volumes),
          input: request.input ?? Buffer.alloc(0),
        })
        for (const stream of ['stdout', 'stderr'] as const) if (result[stream].length > 0) request.onOutput?.(stream, result[stream])
        return { ...result, stdout: result.stdout.subarray(0, outputLimit), stderr: result.stderr.subarray(0, outputLimit) }
      },
      async readFile(name, path, call) {
        await work(call)
        const one = mustRun(name)
        const content = storage.seen(copyOf(one), one.volumes).files[path]
        if (content === undefined) throw new EngineError('not_found', `${path}: no such file`)
        const bytes = Buffer.from(content, 'base64')
        return { content: Readable.from([bytes], { objectMode: false }), sizeBytes: bytes.length }
      },
      async writeFile(name, given, call) {
        await work(call)
        const one = must(name)
        const file = { ...given, content: Buffer.isBuffer(given.content) ? given.content : await buffer(given.content) }
        const attributes = `${(file.mode & 0o7777).toString(8)} ${file.uid ?? 0} ${file.gid ?? 0}`
        if (storage.write(one.volumes, file.path, file.content, attributes)) return
        journal.put(name, { ...one, ...withFile(copyOf(one), file.path, file.content, attributes) })
      },
      async usage(call) {
        await enter(call)
        const takenAt = now()
        return [...objects.values()].filter((one) => one.power === 'running').map((one) => usageOf(one, takenAt))
      },
      async consoleLog(name, call) {
        await enter(call)
        const one = must(name)
        // As LXD: of a machine each piece is handed out once.
        if (one.startedAt === 0 || (one.type === 'vm' && told.get(name) === one.startedAt)) return ''
        told.set(name, one.startedAt)
        return `Zhisuan sandbox: ${name} was started at ${new Date(one.startedAt).toISOString()}\n`
      },
      async terminal(name, request, call) {
        await enter(call)
        const one = mustRun(name)
        return openSandboxTerminal(one.hostname ?? name, request, storage.seen(copyOf(one), one.volumes))
      },
    },
    images,
    networks,
    storage,
    hosts,
    async *events({ signal }) {
      const stop = AbortSignal.any([signal, closing.signal])
      if (stop.aborted) return
      // Listening begins before the first event is told of, so that nothing falls between.
      const stream = on(bus, 'event', { signal: stop })
      yield { type: 'connected', at: now() }
      try {
        for await (const [event] of stream) yield event as EngineEvent
      } catch (error) {
        if (!stop.aborted) throw error
      }
    },
    async close() {
      closing.abort()
    },
  }
}

/** Of the range that LXD takes its own from. */
const macOf = ({ number }: Pick<Stored, 'number'>): string =>
  `00:16:3e:${[16, 8, 0].map((shift) => ((number >> shift) & 255).toString(16).padStart(2, '0')).join(':')}`

function placeOf(one: Stored, at: Date): Place {
  const running = one.power === 'running'
  const { networkReceivedBytes, networkSentBytes } = usageOf(one, at)
  return {
    name: one.name,
    network: one.network,
    mac: macOf(one),
    lease: one.lease,
    static: one.address !== null,
    running,
    receivedBytes: running ? networkReceivedBytes : 0,
    sentBytes: running ? networkSentBytes : 0,
  }
}

/** Made-up but steady: the same instance at the same time always says the same. */
function usageOf(one: Stored, takenAt: Date): InstanceUsage {
  const seconds = Math.max(0, (takenAt.getTime() - one.startedAt) / 1000)
  const share = ((one.number * 37) % 80) / 100
  return {
    name: one.name,
    takenAt,
    cpuSeconds: seconds * one.cpuCores * share,
    memoryBytes: Math.floor(one.memoryBytes * (0.2 + share / 2)),
    diskBytes: Math.floor(one.diskBytes * 0.1),
    networkReceivedBytes: Math.floor(seconds * 2_000 * (1 + share)),
    networkSentBytes: Math.floor(seconds * 1_000 * (1 + share)),
    processes: 10 + (one.number % 30),
  }
}
