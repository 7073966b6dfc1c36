import { randomUUID } from 'node:crypto'
import type { CallOptions, Capacity, ComputeEngine, EngineInfo } from '@zhisuan/engines/compute'
import { EngineError, type EngineErrorKind } from '@zhisuan/engines/errors'
import { createSandboxEngine } from '@zhisuan/engines/sandbox/engine'
import type { ComputeConnection } from '../modules/cmp/cloud/cloud.engines.ts'

/** Method of an engine as it is written: `instances.start`, `capacity`. */
type Method = string

/**
 * An engine in the hand of a test: the sandbox behind a door that can be shut. A test file puts
 * {@link openTestEngine} in the place of `openEngine`; what the server then reaches by the socket
 * path is this.
 */
export interface TestEngine {
  readonly connection: Extract<ComputeConnection, { type: 'lxd-socket' }>
  /** The engine itself, for what somebody does on it behind our back. */
  readonly direct: ComputeEngine
  /** What `info` and `capacity` say, to be changed. */
  readonly says: { info: EngineInfo; capacity: Capacity }
  /** What the server asked for, in order. */
  readonly asked: { method: Method; args: readonly unknown[] }[]
  /** From now on the method (or everything) fails like this; `times` at most. What is `unanswered` does as it was told, and the answer is lost. */
  fail(kind: EngineErrorKind, options?: { method?: Method; times?: number; message?: string }): void
  /** Answers again, and lets everybody in. */
  recover(): void
  /** Holds calls of a method at the door until opened. */
  hold(method: Method): { reached: Promise<void>; open: () => void }
}

interface Fault {
  kind: EngineErrorKind
  method: Method | undefined
  left: number
  message: string
}
interface Gate {
  method: Method
  reached: () => void
  opened: Promise<void>
  open: () => void
}

const running = new Map<string, ComputeEngine>()
const gib = 2 ** 30

/** @param host `members`: how many hosts it really has; more than one are a cluster. The others: what its capacity says */
export function startTestEngine(host: { nodes?: number; cores?: number; members?: number } = {}): TestEngine {
  const socket_path = `/engines/${randomUUID()}`
  const direct = createSandboxEngine({ directory: null, hosts: host.members ?? 1 })
  const cores = host.cores ?? 64
  const says: TestEngine['says'] = {
    info: { product: 'lxd', version: '5.0.2', hostName: 'host', instanceTypes: { vm: { available: true }, container: { available: true } }, extensions: [] },
    capacity: {
      cpuCores: { total: cores, used: 0 },
      memoryBytes: { total: 256 * gib, used: 0 },
      diskBytes: { total: 1024 * gib, used: 0 },
      nodes: host.nodes ?? 1,
    },
  }
  const asked: TestEngine['asked'] = []
  let faults: Fault[] = []
  const gates = new Set<Gate>()

  /** @returns what is thrown once it has done so */
  const enter: Enter = async (method, args) => {
    asked.push({ method, args })
    for (const gate of gates) {
      if (gate.method !== method) continue
      gate.reached()
      await orAborted(gate.opened, args)
    }
    const fault = faults.find((one) => one.left > 0 && (one.method === undefined || one.method === method))
    if (fault === undefined) return null
    fault.left -= 1
    const error = new EngineError(fault.kind, fault.message)
    if (fault.kind !== 'unanswered') throw error
    return error
  }

  const engine: ComputeEngine = {
    ...guarded(direct, '', enter),
    kind: 'lxd',
    info: async () => {
      await enter('info', [])
      return says.info
    },
    capacity: async () => {
      await enter('capacity', [])
      return says.capacity
    },
    events: (options) => direct.events(options),
    // The host goes on when a client hangs up.
    close: async () => undefined,
  }
  running.set(socket_path, engine)

  return {
    connection: { type: 'lxd-socket', socket_path },
    direct,
    says,
    asked,
    fail: (kind, options = {}) => {
      faults.push({ kind, method: options.method, left: options.times ?? Infinity, message: options.message ?? `${kind} by test` })
    },
    recover: () => {
      faults = []
      for (const gate of gates) gate.open()
    },
    hold(method) {
      const [arrival, opening] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const gate: Gate = {
        method,
        reached: arrival.resolve,
        opened: opening.promise,
        open: () => {
          gates.delete(gate)
          opening.resolve()
        },
      }
      gates.add(gate)
      return { reached: arrival.promise, open: gate.open }
    },
  }
}

/** Stands in for `openEngine`: leads to what {@link startTestEngine} started; where nothing runs, nothing answers. */
export function openTestEngine(connection: ComputeConnection): ComputeEngine {
  if (connection.type === 'sandbox') return createSandboxEngine({ directory: null })
  const address = connection.type === 'lxd-socket' ? connection.socket_path : new URL(connection.url).pathname
  const engine = running.get(address)
  if (engine !== undefined) return engine
  const nobody = guarded(createSandboxEngine({ directory: null }), '', async () => {
    throw new EngineError('unreachable', `connect ENOENT ${address}`)
  })
  return { ...nobody, async *events() {}, close: async () => undefined }
}

type Enter = (method: Method, args: readonly unknown[]) => Promise<EngineError | null>

/** The same object with every method behind the door. */
function guarded<T extends object>(target: T, prefix: string, enter: Enter): T {
  const entries = Object.entries(target).map(([name, value]: [string, unknown]) => {
    const method = `${prefix}${name}`
    if (typeof value === 'function') {
      const behind = async (...args: unknown[]): Promise<unknown> => {
        const lost = await enter(method, args)
        const answer = await (value as (...args: unknown[]) => unknown)(...args)
        if (lost !== null) throw lost
        return answer
      }
      return [name, behind]
    }
    return [name, typeof value === 'object' && value !== null ? guarded(value, `${method}.`, enter) : value]
  })
  // Each entry kept its name and its kind.
  return Object.fromEntries(entries) as T
}

/** Like an engine's client: whoever waits at the door leaves when their signal says so. */
async function orAborted(opened: Promise<void>, args: readonly unknown[]): Promise<void> {
  const options = args.at(-1) as CallOptions | undefined
  const signal = typeof options === 'object' && options !== null && 'signal' in options ? options.signal : undefined
  if (signal === undefined) return opened
  await new Promise<void>((resolve, reject) => {
    const leave = () => reject(new EngineError('cancelled', 'cancelled'))
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    void opened.then(resolve)
  })
}
