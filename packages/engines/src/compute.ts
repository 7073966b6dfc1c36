/**
 * What the console asks of a hypervisor engine that runs whole machines (LXD, Incus, the
 * sandbox). Small capability objects; what an engine lacks is `undefined` there, never a method
 * that throws. Engines know nothing of organisations, tables or jobs: an instance is its engine
 * name plus the tags that the caller gave it.
 *
 * Every mutation
 * - resolves when the engine has finished it, or throws an {@link EngineError};
 * - is idempotent: asked again after it happened, it succeeds without a second effect (a caller
 *   that was killed simply asks again), and if a former request for the same object is still
 *   running on the engine, it waits for that one;
 * - takes an AbortSignal, and cancels the engine's operation where the engine can.
 */

/** `vm`: own kernel under a hypervisor. `container`: a system container, 轻量实例. */
export type InstanceType = 'vm' | 'container'

export type PowerState = 'running' | 'stopped' | 'paused' | 'starting' | 'stopping' | 'error' | 'unknown'

export interface CallOptions {
  signal?: AbortSignal
  /** Told the engine's own operation id as soon as there is one, for logs and for cancelling. */
  onOperation?: (operationId: string) => void
}

export interface EngineInfo {
  /** `lxd`, `incus` or `sandbox` */
  product: string
  version: string
  hostName: string
  /** Instance types this host can run, with the engine's reason for each that it cannot. */
  instanceTypes: { vm: Availability; container: Availability }
  /** API extensions the engine names; empty where it has no such notion. */
  extensions: readonly string[]
}
export type Availability = { available: true } | { available: false; reason: string }

export interface Capacity {
  /** Physical and already promised to instances (limits of all instances; no limit counts as all). */
  cpuCores: { total: number; used: number }
  memoryBytes: { total: number; used: number }
  /** Summed over all storage pools. */
  diskBytes: { total: number; used: number }
  nodes: number
}

export interface InstanceSpec {
  /** Engine name: /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/ */
  name: string
  type: InstanceType
  /** Fingerprint of an image that the engine holds. */
  imageFingerprint: string
  cpuCores: number
  memoryBytes: number
  diskBytes: number
  /** Name of a managed network; one NIC, `eth0`. */
  network: string
  /** Kept on the instance; how the caller recognises its own. Keys /^[a-z_]+$/. */
  tags: Readonly<Record<string, string>>
  /** cloud-init user data, for images that run cloud-init. */
  userData?: string
  description?: string
}

export interface Instance {
  name: string
  type: InstanceType
  power: PowerState
  /** What the engine calls the state, for display to operators. */
  engineStatus: string
  cpuCores: number | null
  memoryBytes: number | null
  diskBytes: number | null
  tags: Readonly<Record<string, string>>
  /** Global-scope addresses, loopback left out. Empty while unknown. */
  addresses: readonly { family: 4 | 6; address: string; mac: string; interface: string; network: string | null }[]
  /** Cluster member or host name. */
  location: string | null
  createdAt: Date | null
}

/** Cumulative counters since the instance started, to be turned into rates by the reader. */
export interface InstanceUsage {
  name: string
  takenAt: Date
  cpuSeconds: number
  memoryBytes: number
  /** Bytes used on the root disk; null where the storage driver cannot tell. */
  diskBytes: number | null
  networkReceivedBytes: number
  networkSentBytes: number
  processes: number
}

export interface Image {
  fingerprint: string
  /** The first alias, or the description, or the short fingerprint. */
  name: string
  description: string
  os: string | null
  release: string | null
  architecture: string
  sizeBytes: number
  type: InstanceType
  createdAt: Date | null
  /** Image properties as the engine keeps them. `cloud-init: true` marks images that run it. */
  properties: Readonly<Record<string, string>>
}

export interface Network {
  name: string
  description: string
  managed: boolean
  kind: string
  /** CIDR such as 10.88.0.1/24, null without. */
  ipv4: string | null
  ipv6: string | null
}

export interface ExecRequest {
  command: readonly [string, ...string[]]
  env?: Readonly<Record<string, string>>
  cwd?: string
}
export interface ExecResult {
  exitCode: number
  stdout: Buffer
  stderr: Buffer
}

/** A pseudo-terminal in an instance. */
export interface TerminalSession {
  /** Terminal output, raw bytes; ends when the process ends or the connection is lost. */
  readonly output: AsyncIterable<Buffer>
  write(data: Buffer): void
  resize(columns: number, rows: number): void
  /** Exit code, or null when the connection was lost before the process ended. */
  readonly exit: Promise<number | null>
  /** Hangs up: the process gets SIGHUP, and is killed if it stays. */
  close(): void
}

export type EngineEvent =
  /** An instance was created, changed, started, stopped, renamed or deleted, by whomever. */
  | { type: 'instance'; name: string; action: string; at: Date }
  /** The event stream was (re)connected: whatever happened before is unknown, read everything. */
  | { type: 'connected'; at: Date }

export interface Instances {
  list(options?: CallOptions): Promise<Instance[]>
  /** Null when there is none. */
  get(name: string, options?: CallOptions): Promise<Instance | null>
  /**
   * Creates, does not start. If an instance of that name exists with the same tags, succeeds
   * (after waiting for its running creation); with other tags, throws `conflict`.
   */
  create(spec: InstanceSpec, options?: CallOptions): Promise<void>
  start(name: string, options?: CallOptions): Promise<void>
  /** Asks the guest to shut down and waits `timeoutSeconds` (default 30), then throws `failed`. `force` kills at once. */
  stop(name: string, options?: CallOptions & { force?: boolean; timeoutSeconds?: number }): Promise<void>
  restart(name: string, options?: CallOptions & { force?: boolean; timeoutSeconds?: number }): Promise<void>
  /** Live where the engine can. Shrinking the disk throws `invalid`. */
  resize(name: string, size: { cpuCores: number; memoryBytes: number; diskBytes: number }, options?: CallOptions): Promise<void>
  /**
   * Replaces the root disk by a fresh copy of the image, and the user data; keeps name, tags,
   * limits, network and, where it can, addresses. An instance that is not stopped throws `invalid`.
   */
  rebuild(name: string, image: { imageFingerprint: string; userData?: string }, options?: CallOptions): Promise<void>
  /** Kills it if it runs, deletes it and its root disk. Succeeds when there is none. */
  delete(name: string, options?: CallOptions): Promise<void>
  /** Runs to the end; output capped at 1 MiB for each stream. `input` goes to standard input. */
  exec(name: string, request: ExecRequest & { input?: Buffer }, options?: CallOptions): Promise<ExecResult>
  writeFile(name: string, file: { path: string; content: Buffer; mode: number; uid?: number; gid?: number }, options?: CallOptions): Promise<void>
  /** All running instances, in as few calls as the engine needs. */
  usage(options?: CallOptions): Promise<InstanceUsage[]>
  /** What the console printed since start, at most the last 1 MiB. */
  consoleLog(name: string, options?: CallOptions): Promise<string>
  /** The signal is for the opening only. */
  terminal(name: string, request: ExecRequest & { columns: number; rows: number }, options?: CallOptions): Promise<TerminalSession>
}

export interface Images {
  list(options?: CallOptions): Promise<Image[]>
  /**
   * Imports an image from local files: a unified one, or a split one of metadata and root file
   * system. Resolves to the fingerprint; importing the same again changes nothing but the alias,
   * which names what was imported under it last. A file that cannot be read throws `invalid`.
   */
  importFile?(image: { alias: string; metadataPath: string; rootfsPath?: string; properties?: Readonly<Record<string, string>> }, options?: CallOptions): Promise<string>
  /** Succeeds when there is none. Instances made from it stay. */
  delete?(fingerprint: string, options?: CallOptions): Promise<void>
}

export interface ComputeEngine {
  readonly kind: 'lxd' | 'sandbox'
  info(options?: CallOptions): Promise<EngineInfo>
  capacity(options?: CallOptions): Promise<Capacity>
  readonly instances: Instances
  readonly images: Images
  readonly networks: { list(options?: CallOptions): Promise<Network[]> }
  /** Never throws: reconnects with back-off until the signal is aborted or the engine closed, then ends. */
  events(options: { signal: AbortSignal }): AsyncIterable<EngineEvent>
  /** Closes all connections. Running calls, and those that come after, fail with `cancelled`. */
  close(): Promise<void>
}
