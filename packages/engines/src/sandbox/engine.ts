import { createHash } from 'node:crypto'
import { EventEmitter, on } from 'node:events'
import { z } from 'zod'
import type { CallOptions, ComputeEngine, EngineEvent, Image, Instance, InstanceUsage, Network } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { pause, refuseAborted } from '../signals.ts'
import { openJournal } from './journal.ts'
import { openSandboxTerminal, runSandboxCommand } from './shell.ts'

export interface SandboxOptions {
  /** Where its state is kept; null keeps it in memory. */
  directory: string | null
  /** How long each change takes, in milliseconds. Default 0. */
  latencyMs?: number
  now?: () => Date
}

const stored = z.object({
  name: z.string(),
  type: z.enum(['vm', 'container']),
  power: z.enum(['running', 'stopped']),
  cpuCores: z.number(),
  memoryBytes: z.number(),
  diskBytes: z.number(),
  network: z.string(),
  tags: z.record(z.string(), z.string()),
  image: z.string(),
  /** Number of its address, counted up. */
  number: z.number(),
  createdAt: z.number(),
  startedAt: z.number(),
  /** Base64 by path. */
  files: z.record(z.string(), z.string()),
  /** Mode, owner and group by path, as `stat` prints them. */
  attributes: z.record(z.string(), z.string()).default({}),
})
type Stored = z.output<typeof stored>

const gib = 2 ** 30
const outputLimit = 2 ** 20
/** As `compute.ts` gives it. */
const instanceName = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/

const images: readonly Image[] = (['vm', 'container'] as const).flatMap((type) =>
  ['debian-12', 'ubuntu-24.04', 'busybox'].map((name) => ({
    fingerprint: createHash('sha256').update(`sandbox ${type} ${name}`).digest('hex'),
    name,
    description: `Sandbox ${name}`,
    os: name.split('-')[0] ?? name,
    release: name.split('-')[1] ?? null,
    architecture: 'x86_64',
    sizeBytes: 100 * 2 ** 20,
    type,
    createdAt: null,
    properties: name === 'busybox' ? {} : { 'cloud-init': 'true' },
  })),
)
const networks: readonly Network[] = [{ name: 'sandbox0', description: '', managed: true, kind: 'bridge', ipv4: '10.99.0.1/16', ipv6: null }]

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
  const mustHaveImage = (fingerprint: string): void => {
    if (!images.some((image) => image.fingerprint === fingerprint)) throw new EngineError('not_found', 'no such image')
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
      one.power === 'running'
        ? [{ family: 4, address: `10.99.${(one.number >> 8) & 255}.${one.number & 255}`, mac: '', interface: 'eth0', network: one.network }]
        : [],
    location: 'sandbox',
    createdAt: new Date(one.createdAt),
  })

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
      let disk = 0
      for (const one of objects.values()) {
        cores += one.cpuCores
        memory += one.memoryBytes
        disk += one.diskBytes
      }
      return {
        cpuCores: { total: 1_000_000, used: cores },
        memoryBytes: { total: 4_000_000 * gib, used: memory },
        diskBytes: { total: 40_000_000 * gib, used: disk },
        nodes: 1,
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
        mustHaveImage(spec.imageFingerprint)
        if (!networks.some((network) => network.name === spec.network)) throw new EngineError('not_found', `no network ${spec.network}`)
        journal.put(spec.name, {
          name: spec.name,
          type: spec.type,
          power: 'stopped',
          cpuCores: spec.cpuCores,
          memoryBytes: spec.memoryBytes,
          diskBytes: spec.diskBytes,
          network: spec.network,
          tags: { ...spec.tags },
          image: spec.imageFingerprint,
          number: nextNumber++,
          createdAt: now().getTime(),
          startedAt: 0,
          files: {},
          attributes: {},
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
      async rebuild(name, { imageFingerprint }, call) {
        await work(call)
        const one = must(name)
        if (one.power !== 'stopped') throw new EngineError('invalid', `${name} is not stopped`)
        mustHaveImage(imageFingerprint)
        journal.put(name, { ...one, image: imageFingerprint, files: {}, attributes: {} })
        tell(name, 'instance-updated')
      },
      async delete(name, call) {
        await work(call)
        if (!objects.has(name)) return
        journal.remove(name)
        tell(name, 'instance-deleted')
      },
      async exec(name, request, call) {
        await work(call)
        const one = mustRun(name)
        const result = runSandboxCommand(request.command, { hostname: name, files: one.files, attributes: one.attributes, input: request.input ?? Buffer.alloc(0) })
        return { ...result, stdout: result.stdout.subarray(0, outputLimit), stderr: result.stderr.subarray(0, outputLimit) }
      },
      async writeFile(name, file, call) {
        await work(call)
        const one = must(name)
        const attributes = `${(file.mode & 0o7777).toString(8)} ${file.uid ?? 0} ${file.gid ?? 0}`
        journal.put(name, {
          ...one,
          files: { ...one.files, [file.path]: file.content.toString('base64') },
          attributes: { ...one.attributes, [file.path]: attributes },
        })
      },
      async usage(call) {
        await enter(call)
        const takenAt = now()
        return [...objects.values()].filter((one) => one.power === 'running').map((one) => usageOf(one, takenAt))
      },
      async consoleLog(name, call) {
        await enter(call)
        const one = must(name)
        return one.startedAt === 0 ? '' : `Zhisuan sandbox: ${name} was started at ${new Date(one.startedAt).toISOString()}\n`
      },
      async terminal(name, request, call) {
        await enter(call)
        const one = mustRun(name)
        return openSandboxTerminal(name, request, one)
      },
    },
    // It has its own images, and takes no others.
    images: {
      async list(call) {
        await enter(call)
        return [...images]
      },
    },
    networks: {
      async list(call) {
        await enter(call)
        return [...networks]
      },
    },
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
