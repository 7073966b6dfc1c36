import type { Readable } from 'node:stream'
import type { Hosts } from './hosts.ts'
import type { Networks } from './network.ts'
import type { Snapshot, Storage } from './storage.ts'

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
  /** Fingerprint of an image that the engine holds. Not looked at where the instance is a copy. */
  imageFingerprint: string
  /**
   * Begins as a copy of the root disk of this one of the same engine and type, or of its snapshot;
   * without one of what it holds now, which of a running instance is as after a power cut. It is
   * another machine: new hardware addresses and cloud-init instance id, and nothing but what this
   * specification says; the source's tags, user data, volumes and snapshots stay with the source.
   * A disk smaller than the source's throws `invalid`.
   */
  copyOf?: { instance: string; snapshot: string | null }
  cpuCores: number
  memoryBytes: number
  diskBytes: number
  /** Name of a managed network; one NIC, `eth0`. */
  network: string
  /** Static IPv4 address on that network; without, it takes the one it is given. Taken throws `conflict`. */
  address?: string
  /** Nothing is heard of it under another hardware or IPv4 address than its own. */
  guarded?: boolean
  /** PCI addresses of GPUs of the host, such as 0000:01:00.0. */
  gpus?: readonly string[]
  /** The cluster member to put it on; without, the engine chooses. One that does not exist throws `not_found`. */
  host?: string
  /** Kept on the instance; how the caller recognises its own. Keys /^[a-z_]+$/. */
  tags: Readonly<Record<string, string>>
  /** cloud-init user data, for images that run cloud-init. */
  userData?: string
  /** What the guest calls itself from its first start on (RFC 1123), as far as its image lets that be said; what the user data says counts for more. Default: its name. */
  hostname?: string
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
  /** Its `eth0`; null where it has none. */
  nic: InstanceNic | null
  /** PCI addresses of those it was given. */
  gpus: readonly string[]
  location: string | null
  createdAt: Date | null
}

export interface InstanceNic {
  network: string | null
  /** The static one. */
  address: string | null
  mac: string | null
}

/** How an instance's `eth0` is to be. */
export interface Nic {
  /** Name of a managed network. */
  network: string
  /** Static IPv4 address on it; null takes the one it is given. */
  address: string | null
  /** Nothing is heard of the instance under another hardware or IPv4 address than its own. */
  guarded: boolean
  /** Of what it receives, and of what it sends; null without a limit. */
  ingressBitsPerSecond: number | null
  egressBitsPerSecond: number | null
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
  /** Given by whoever imported or published it; how the caller recognises its own. */
  tags: Readonly<Record<string, string>>
}

export interface ExecRequest {
  command: readonly [string, ...string[]]
  env?: Readonly<Record<string, string>>
  cwd?: string
}
/** What a command says as it runs, as it comes and to its end. */
export type OnOutput = (stream: 'stdout' | 'stderr', data: Buffer) => void
export interface ExecResult {
  exitCode: number
  stdout: Buffer
  stderr: Buffer
}

/** A pseudo-terminal in an instance. */
export interface TerminalSession {
  /** Terminal output, raw bytes; ends when the process ends or the connection is lost. */
  readonly output: AsyncIterable<Buffer>
  /** @returns where more has to wait until the other side has taken it */
  write(data: Buffer): void | Promise<void>
  resize(columns: number, rows: number): void
  /** Exit code, or null when the connection was lost before the process ended. May fail with EngineError where it is known why. */
  readonly exit: Promise<number | null>
  /** Hangs up: the process gets SIGHUP, and is killed if it stays. */
  close(): void
}

export type EngineEvent =
  /** An instance was created, changed, started, stopped, renamed or deleted, by whomever. */
  | { type: 'instance'; name: string; action: string; at: Date }
  /**
   * Another object was created, changed or deleted. `within` says of what it is a part: a forward
   * of its network, a volume of its pool, a volume's snapshot of `pool/volume`, an instance's
   * snapshot of its instance; null of the others. An image's name is its fingerprint. A cluster
   * may tell of one change more than once, and an engine of some not at all (LXD 5.0: an evacuated
   * member, a network made in a cluster).
   */
  | { type: 'object'; kind: ObjectKind; name: string; within: string | null; action: string; at: Date }
  /** The event stream was (re)connected: whatever happened before is unknown, read everything. */
  | { type: 'connected'; at: Date }

export type ObjectKind = 'network' | 'acl' | 'forward' | 'volume' | 'volume-snapshot' | 'instance-snapshot' | 'image' | 'pool' | 'profile' | 'member'

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
   * Replaces the root disk by a fresh copy of the image, the user data, and what the guest calls itself; keeps name, tags,
   * limits, network and, where it can, addresses. An instance that is not stopped, or has
   * snapshots, throws `invalid`.
   */
  rebuild(name: string, image: { imageFingerprint: string; userData?: string; hostname?: string }, options?: CallOptions): Promise<void>
  /**
   * Makes `eth0` so, live where the instance runs; its hardware address stays. A guest learns of
   * another address when it asks again. A taken address throws `conflict`, what the host cannot do
   * (limit, guard) `unsupported`, and the former NIC is as it was; of a stopped instance such a
   * host shows only at its start, which throws it then.
   */
  connect(name: string, nic: Nic, options?: CallOptions): Promise<void>
  /** What the engine's operators read beside its name. */
  describe(name: string, description: string, options?: CallOptions): Promise<void>
  /** Kills it if it runs, deletes it, its root disk and its snapshots. Succeeds when there is none. */
  delete(name: string, options?: CallOptions): Promise<void>
  readonly snapshots: InstanceSnapshots
  /**
   * Runs to the end; output capped at 1 MiB for each stream. `input` goes to standard input.
   * Aborted, the process is killed with all that it started, and it throws `cancelled`; where that
   * cannot be made sure of, something else.
   */
  exec(name: string, request: ExecRequest & { input?: Buffer; onOutput?: OnOutput }, options?: CallOptions): Promise<ExecResult>
  /** The bytes of a file as they come, so many as it had when it was opened; whoever asks reads or destroys them. Where there is none it throws `not_found`. */
  readFile(name: string, path: string, options?: CallOptions): Promise<{ content: Readable; sizeBytes: number }>
  /** A stream is read to its end or destroyed, whatever becomes of it. */
  writeFile(name: string, file: { path: string; content: Buffer | Readable; mode: number; uid?: number; gid?: number }, options?: CallOptions): Promise<void>
  /** All running instances, in as few calls as the engine needs. */
  usage(options?: CallOptions): Promise<InstanceUsage[]>
  /** What the console printed since start, at most the last 1 MiB. Of a virtual machine it may be handed out only once: what was told before is not told again. */
  consoleLog(name: string, options?: CallOptions): Promise<string>
  /** The signal is for the opening only. */
  terminal(name: string, request: ExecRequest & { columns: number; rows: number }, options?: CallOptions): Promise<TerminalSession>
}

/** Of root disks. What is attached besides has snapshots of its own. */
export interface InstanceSnapshots {
  list(instance: string, options?: CallOptions): Promise<Snapshot[]>
  /** Names as those of instances. Of a running instance it holds what is on the disk, as after a power cut. */
  create(instance: string, snapshot: string, options?: CallOptions): Promise<void>
  /**
   * Sets the root disk back; limits, tags, network and attached volumes stay as they are today. An
   * instance that runs is killed before, as what it does is to be undone, and started afterwards.
   */
  restore(instance: string, snapshot: string, options?: CallOptions): Promise<void>
  /** Succeeds when there is none. */
  delete(instance: string, snapshot: string, options?: CallOptions): Promise<void>
}

/** The files that an image consists of, to be imported by an engine of the same kind. */
export interface ImageExport {
  /** Of all files together. */
  sizeBytes: number
  /**
   * One unified file, or metadata and then root file system. Asked of the engine when it is begun
   * to be read; each is to be read or destroyed before the next comes, and whoever stops, stops the
   * engine. The last ends with `bad_answer` if what came has not the image's fingerprint.
   */
  files: AsyncGenerator<{ role: 'unified' | 'metadata' | 'rootfs'; name: string; content: Readable }>
}

export interface Images {
  list(options?: CallOptions): Promise<Image[]>
  /**
   * Imports an image from local files: a unified one, or a split one of metadata and root file
   * system. Resolves to the fingerprint; importing the same again changes nothing but the alias,
   * which names what was imported under it last. A file that cannot be read throws `invalid`; with
   * tags, an image that is there with others `conflict`. Tags that the file brings are dropped.
   */
  importFile?(
    image: { alias: string; metadataPath: string; rootfsPath?: string; properties?: Readonly<Record<string, string>>; tags?: Readonly<Record<string, string>> },
    options?: CallOptions,
  ): Promise<string>
  /** Succeeds when there is none. Instances made from it stay. */
  delete?(fingerprint: string, options?: CallOptions): Promise<void>
  /**
   * Makes an image of a stopped instance (one that runs throws `invalid`) or of a snapshot; resolves
   * to the fingerprint. It has the properties of the image that the instance came from, and over
   * them these. One of that alias and these tags is the same one, another's alias throws `conflict`.
   */
  publish?(
    from: { instance: string; snapshot: string | null },
    image: { alias: string; description: string; properties?: Readonly<Record<string, string>>; tags: Readonly<Record<string, string>> },
    options?: CallOptions,
  ): Promise<string>
  /**
   * Fingerprints of what {@link Images.publish} made under this alias and with these tags: more than
   * one where it was left and asked for again. Waits for what an engine that cannot leave off makes.
   */
  published?(image: { alias: string; tags: Readonly<Record<string, string>> }, options?: CallOptions): Promise<string[]>
  /** Sets these properties and leaves the others; an empty one is taken away. Tags stay. */
  setProperties?(fingerprint: string, properties: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>
  export?(fingerprint: string, options?: CallOptions): Promise<ImageExport>
}

export interface ComputeEngine {
  readonly kind: 'lxd' | 'sandbox'
  info(options?: CallOptions): Promise<EngineInfo>
  capacity(options?: CallOptions): Promise<Capacity>
  readonly instances: Instances
  readonly images: Images
  readonly networks: Networks
  readonly storage: Storage
  readonly hosts: Hosts
  /** Never throws: reconnects with back-off until the signal is aborted or the engine closed, then ends. */
  events(options: { signal: AbortSignal }): AsyncIterable<EngineEvent>
  /** Closes all connections. Running calls, and those that come after, fail with `cancelled`. */
  close(): Promise<void>
}
