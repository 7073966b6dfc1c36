import type { Duplex, Readable } from 'node:stream'
import type { Output } from './frames.ts'

/** Docker's own words for how a container is. */
export type ContainerState = 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'

export interface Port {
  readonly address: string | null
  readonly containerPort: number
  /** Null where it leads out of the container nowhere. */
  readonly hostPort: number | null
  readonly protocol: string
}
export interface Mount {
  /** `bind`, `volume`, `tmpfs` … */
  readonly type: string
  readonly name: string | null
  readonly source: string
  readonly path: string
  readonly readOnly: boolean
}

export interface ContainerSummary {
  readonly id: string
  readonly name: string
  readonly image: string
  readonly imageId: string
  readonly createdAt: Date
  readonly state: ContainerState
  /** `Up 3 minutes (healthy)`. */
  readonly status: string
  readonly labels: Readonly<Record<string, string>>
  readonly ports: readonly Port[]
  readonly mounts: readonly Mount[]
}

export interface ContainerDetail extends Omit<ContainerSummary, 'status'> {
  readonly pid: number
  readonly exitCode: number
  readonly error: string
  readonly outOfMemory: boolean
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly health: 'starting' | 'healthy' | 'unhealthy' | null
  readonly restartCount: number
  readonly restart: string
  readonly tty: boolean
  /** `NAME=value`. */
  readonly env: readonly string[]
  readonly command: readonly string[]
  readonly entrypoint: readonly string[]
  readonly workingDir: string
  readonly user: string
  readonly networks: readonly { readonly name: string; readonly address: string; readonly mac: string }[]
  /** Processors; null without a limit. */
  readonly cpuLimit: number | null
  readonly memoryLimitBytes: number | null
}

export interface HealthCheck {
  /** Run by the container's shell. */
  readonly command: string
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly retries: number
}

export interface ContainerSpec {
  readonly image: string
  /** Left out or empty: the image's own. */
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly workingDir?: string | null
  readonly user?: string
  readonly hostName?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly tty?: boolean
  readonly stdin?: boolean
  readonly ports?: readonly { readonly containerPort: number; readonly hostPort: number; readonly protocol: string; readonly address?: string }[]
  readonly mounts?: readonly { readonly type: 'bind' | 'volume'; readonly source: string; readonly path: string; readonly readOnly?: boolean }[]
  readonly restart?: 'no' | 'always' | 'unless-stopped' | 'on-failure'
  /** Processors. */
  readonly cpuLimit?: number | null
  readonly memoryLimitBytes?: number | null
  /** How many of any, or which. */
  readonly gpus?: number | readonly string[]
  readonly health?: HealthCheck | null
  readonly network?: string
}

export interface ContainerStats {
  readonly at: Date
  /** Processors in use; null at the first look. */
  readonly cpu: number | null
  readonly cpuSeconds: number
  readonly memoryBytes: number
  readonly memoryLimitBytes: number
  /** These four since it started. */
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly readBytes: number
  readonly writtenBytes: number
  readonly pids: number
}

export interface LogOptions {
  readonly follow?: boolean
  /** Lines from the end; left out: all. */
  readonly tail?: number
  readonly since?: Date
  readonly until?: Date
  /** Before each line its time, RFC 3339 with nanoseconds. */
  readonly timestamps?: boolean
  readonly stdout?: boolean
  readonly stderr?: boolean
  readonly signal?: AbortSignal | undefined
}

/** A stream in object mode that gives these. */
export type OutputStream = Readable & AsyncIterable<Output>

/** A file, directory or link in a container. */
export interface PathStat {
  readonly name: string
  readonly sizeBytes: number
  /** Go's `os.FileMode`, whose low nine bits are those of Unix. */
  readonly mode: number
  readonly directory: boolean
  readonly modifiedAt: Date | null
  /** Where a link leads. */
  readonly linkTarget: string
}

export interface Signalled {
  readonly signal?: AbortSignal | undefined
}

export interface Containers {
  /** @param options.labels `key` or `key=value`, all of which hold */
  list(
    options?: Signalled & { readonly all?: boolean; readonly labels?: readonly string[]; readonly ids?: readonly string[] },
  ): Promise<readonly ContainerSummary[]>
  inspect(id: string, options?: Signalled): Promise<ContainerDetail>
  /** @returns Docker's id. @throws EngineError `conflict` where the name is taken, `not_found` where the image is not there */
  create(name: string, spec: ContainerSpec, options?: Signalled): Promise<{ readonly id: string; readonly warnings: readonly string[] }>
  start(id: string, options?: Signalled): Promise<void>
  /** @param options.graceSeconds before it is killed; default 10 */
  stop(id: string, options?: Signalled & { readonly graceSeconds?: number }): Promise<void>
  restart(id: string, options?: Signalled & { readonly graceSeconds?: number }): Promise<void>
  kill(id: string, options?: Signalled & { readonly with?: string }): Promise<void>
  pause(id: string, options?: Signalled): Promise<void>
  unpause(id: string, options?: Signalled): Promise<void>
  rename(id: string, name: string, options?: Signalled): Promise<void>
  update(id: string, changes: Pick<ContainerSpec, 'cpuLimit' | 'memoryLimitBytes' | 'restart'>, options?: Signalled): Promise<void>
  /** One that is gone is removed. */
  remove(id: string, options?: Signalled & { readonly force?: boolean; readonly volumes?: boolean }): Promise<void>
  /** Waits until it has ended. */
  wait(id: string, options?: Signalled): Promise<{ readonly exitCode: number }>
  /** With what Docker needs to tell the share of processors: it takes a second or two. */
  stats(id: string, options?: Signalled): Promise<ContainerStats>
  /** One each second, until the signal or the end of the container. */
  statsFollowed(id: string, options?: Signalled): AsyncIterable<ContainerStats>
  logs(id: string, options?: LogOptions): Promise<OutputStream>
  /** @throws EngineError `not_found` */
  stat(id: string, path: string, options?: Signalled): Promise<PathStat>
  /** A tar of a file or directory; to be read or destroyed. */
  get(id: string, path: string, options?: Signalled): Promise<Readable>
  /** Unpacks a tar into a directory that is there. */
  put(id: string, directory: string, tar: Readable | Buffer, options?: Signalled): Promise<void>
}

export interface ExecSpec {
  readonly command: readonly string[]
  readonly tty?: boolean
  readonly stdin?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string
  readonly workingDir?: string
}
export interface Execs {
  /** @returns its id; nothing runs before it is attached */
  create(containerId: string, spec: ExecSpec, options?: Signalled): Promise<string>
  /** Starts it. A terminal's stream is raw; any other's output is multiplexed: see `framesTaken`. Destroying the stream hangs up. */
  attach(execId: string, options: Signalled & { readonly tty: boolean }): Promise<Duplex>
  resize(execId: string, size: { readonly columns: number; readonly rows: number }, options?: Signalled): Promise<void>
  /** @returns the exit code null as long as it runs */
  inspect(execId: string, options?: Signalled): Promise<{ readonly running: boolean; readonly exitCode: number | null; readonly pid: number }>
  /** Runs to its end. @throws EngineError `bad_answer` where it says more than `limitBytes`, default 1 MiB */
  run(
    containerId: string,
    spec: Omit<ExecSpec, 'tty' | 'stdin'>,
    options?: Signalled & { readonly limitBytes?: number },
  ): Promise<{ readonly exitCode: number; readonly stdout: Buffer; readonly stderr: Buffer }>
}

export interface Image {
  readonly id: string
  readonly tags: readonly string[]
  readonly digests: readonly string[]
  readonly createdAt: Date
  readonly sizeBytes: number
  readonly labels: Readonly<Record<string, string>>
}
export interface ImageDetail extends Omit<Image, 'createdAt'> {
  /** Null where the image does not say. */
  readonly createdAt: Date | null
  readonly os: string
  readonly architecture: string
  readonly command: readonly string[]
  readonly entrypoint: readonly string[]
  readonly env: readonly string[]
  /** `80/tcp`. */
  readonly exposedPorts: readonly string[]
}
export interface PullProgress {
  /** The layer, or the tag. */
  readonly id: string | null
  readonly status: string
  readonly currentBytes: number | null
  readonly totalBytes: number | null
}
/** Of the registry that an image comes from. */
export interface RegistryAuth {
  readonly username: string
  readonly password: string
  readonly serverAddress?: string
}
export interface Images {
  list(options?: Signalled): Promise<readonly Image[]>
  inspect(name: string, options?: Signalled): Promise<ImageDetail>
  /** Whether its registry has it for whoever is nobody in particular. @throws EngineError where it cannot be asked */
  inRegistry(name: string, options?: Signalled): Promise<boolean>
  /** Ends when the image is there. @throws EngineError `not_found`, `unauthorized`, `failed`, also in the middle */
  pull(name: string, options?: Signalled & { readonly auth?: RegistryAuth }): AsyncIterable<PullProgress>
  /** An image of one layer from a tar of its root file system. @param options.changes such as `CMD ["sh"]` */
  import(name: string, tar: Readable | Buffer, options?: Signalled & { readonly changes?: readonly string[] }): Promise<void>
  tag(name: string, as: string, options?: Signalled): Promise<void>
  remove(name: string, options?: Signalled & { readonly force?: boolean }): Promise<void>
  /** @param options.all also those with a name that nothing uses */
  prune(options?: Signalled & { readonly all?: boolean }): Promise<{ readonly deleted: readonly string[]; readonly freedBytes: number }>
}

export interface Volume {
  readonly name: string
  readonly driver: string
  readonly path: string
  readonly createdAt: Date | null
  readonly labels: Readonly<Record<string, string>>
  /** Known from `diskUsage` only. */
  readonly sizeBytes: number | null
}
export interface Volumes {
  list(options?: Signalled & { readonly labels?: readonly string[] }): Promise<readonly Volume[]>
  /** The same again is the same. */
  create(name: string, options?: Signalled & { readonly labels?: Readonly<Record<string, string>> }): Promise<Volume>
  /** One that is gone is removed. */
  remove(name: string, options?: Signalled & { readonly force?: boolean }): Promise<void>
}

export interface Networks {
  /** A bridge of its own, which leads out and to no other network; the same again is the same. */
  create(name: string, options?: Signalled): Promise<void>
}

export interface DockerEvent {
  /** `container`, `image`, `volume`, `network` … */
  readonly type: string
  /** `start`, `die`, `destroy`, `health_status` … */
  readonly action: string
  /** Such as `healthy`. */
  readonly detail: string
  readonly id: string
  readonly attributes: Readonly<Record<string, string>>
  readonly at: Date
  /** By the node's clock, for `since`. */
  readonly timeSeconds: number
}

export interface DockerInfo {
  readonly name: string
  readonly version: string
  readonly storageDriver: string
  readonly root: string
  readonly operatingSystem: string
  readonly kernel: string
  readonly architecture: string
  readonly cpus: number
  readonly memoryBytes: number
  readonly containers: number
  readonly images: number
  /** Such as `runc`, `nvidia`. */
  readonly runtimes: readonly string[]
}

export interface Docker {
  readonly containers: Containers
  readonly execs: Execs
  readonly images: Images
  readonly volumes: Volumes
  readonly networks: Networks
  ping(options?: Signalled): Promise<void>
  version(options?: Signalled): Promise<{ readonly version: string; readonly apiVersion: string }>
  info(options?: Signalled): Promise<DockerInfo>
  /**
   * Until the signal. Connected when `onOpen` is called: what happens from then on is told.
   * @param options.since seconds, by the node's clock
   * @param options.types such as `container`
   */
  events(
    options?: Signalled & { readonly since?: number; readonly types?: readonly string[]; readonly labels?: readonly string[]; readonly onOpen?: () => void },
  ): AsyncIterable<DockerEvent>
  diskUsage(options?: Signalled): Promise<{
    readonly layersBytes: number
    readonly images: readonly Image[]
    readonly volumes: readonly Volume[]
    readonly containers: readonly { readonly id: string; readonly writtenBytes: number }[]
  }>
}
