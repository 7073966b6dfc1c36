import { z } from 'zod'
import type { ContainerDetail, ContainerState, ContainerStats, ContainerSummary, DockerEvent, Image, Port, PullProgress, Volume } from './types.ts'

/** What the answers of Docker say, as far as it is used; `null` stands for whatever is empty. */
const text = z.record(z.string(), z.string())
const count = z.number().nullish()

const listedPort = z.object({ IP: z.string().nullish(), PrivatePort: z.number(), PublicPort: count, Type: z.string() })
const mountPoint = z.object({ Type: z.string(), Name: z.string().nullish(), Source: z.string().nullish(), Destination: z.string(), RW: z.boolean().nullish() })

export const summary = z.object({
  Id: z.string(),
  Names: z.array(z.string()).nullish(),
  Image: z.string(),
  ImageID: z.string().nullish(),
  Created: z.number(),
  State: z.string(),
  Status: z.string().nullish(),
  Labels: text.nullish(),
  Ports: z.array(listedPort).nullish(),
  Mounts: z.array(mountPoint).nullish(),
})

const states: readonly ContainerState[] = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead']
const stateOf = (state: string): ContainerState => states.find((one) => one === state) ?? 'dead'
const mountOf = (raw: z.output<typeof mountPoint>) => ({
  type: raw.Type,
  name: raw.Name ?? null,
  source: raw.Source ?? '',
  path: raw.Destination,
  readOnly: raw.RW === false,
})

export function shapeSummary(raw: z.output<typeof summary>): ContainerSummary {
  return {
    id: raw.Id,
    // Links add names with a second slash; its own has one.
    name: (raw.Names?.find((name) => !name.includes('/', 1)) ?? raw.Names?.[0] ?? '').replace(/^\//, ''),
    image: raw.Image,
    imageId: raw.ImageID ?? '',
    createdAt: new Date(raw.Created * 1_000),
    state: stateOf(raw.State),
    status: raw.Status ?? '',
    labels: raw.Labels ?? {},
    ports: (raw.Ports ?? []).map((port) => ({
      address: port.IP ?? null,
      containerPort: port.PrivatePort,
      hostPort: port.PublicPort ?? null,
      protocol: port.Type,
    })),
    mounts: (raw.Mounts ?? []).map(mountOf),
  }
}

const bindings = z.record(z.string(), z.array(z.object({ HostIp: z.string().nullish(), HostPort: z.string().nullish() })).nullish())
export const detail = z.object({
  Id: z.string(),
  Name: z.string(),
  Created: z.string(),
  Image: z.string(),
  RestartCount: count,
  State: z.object({
    Status: z.string(),
    ExitCode: z.number(),
    Error: z.string().nullish(),
    OOMKilled: z.boolean().nullish(),
    Pid: count,
    StartedAt: z.string().nullish(),
    FinishedAt: z.string().nullish(),
    Health: z.object({ Status: z.string() }).nullish(),
  }),
  Config: z.object({
    Image: z.string(),
    Tty: z.boolean().nullish(),
    Env: z.array(z.string()).nullish(),
    Cmd: z.array(z.string()).nullish(),
    Entrypoint: z.array(z.string()).nullish(),
    WorkingDir: z.string().nullish(),
    User: z.string().nullish(),
    Labels: text.nullish(),
  }),
  HostConfig: z.object({
    NanoCpus: count,
    Memory: count,
    PortBindings: bindings.nullish(),
    RestartPolicy: z.object({ Name: z.string().nullish(), MaximumRetryCount: count }).nullish(),
  }),
  NetworkSettings: z
    .object({
      Ports: bindings.nullish(),
      Networks: z.record(z.string(), z.object({ IPAddress: z.string().nullish(), MacAddress: z.string().nullish() })).nullish(),
    })
    .nullish(),
  Mounts: z.array(mountPoint).nullish(),
})

/** Docker says year 1 for never. */
const dateOf = (value: string | null | undefined): Date | null => {
  const date = new Date(value ?? Number.NaN)
  return date.getTime() > 0 ? date : null
}

/** `80/tcp` → its bindings. */
function portsOf(raw: z.output<typeof bindings> | null | undefined): Port[] {
  return Object.entries(raw ?? {}).flatMap(([key, bound]) => {
    const [port, protocol = 'tcp'] = key.split('/')
    const containerPort = Number(port)
    if (bound === null || bound === undefined || bound.length === 0) return [{ address: null, containerPort, hostPort: null, protocol }]
    return bound.map(({ HostIp, HostPort }) => ({
      address: HostIp ?? null,
      containerPort,
      hostPort: HostPort === null || HostPort === undefined || HostPort === '' ? null : Number(HostPort),
      protocol,
    }))
  })
}

export function shapeDetail(raw: z.output<typeof detail>): ContainerDetail {
  const { State: state, Config: config, HostConfig: host } = raw
  const health = state.Health?.Status
  return {
    id: raw.Id,
    name: raw.Name.replace(/^\//, ''),
    image: config.Image,
    imageId: raw.Image,
    createdAt: new Date(raw.Created),
    state: stateOf(state.Status),
    pid: state.Pid ?? 0,
    exitCode: state.ExitCode,
    error: state.Error ?? '',
    outOfMemory: state.OOMKilled === true,
    startedAt: dateOf(state.StartedAt),
    finishedAt: dateOf(state.FinishedAt),
    health: health === 'starting' || health === 'healthy' || health === 'unhealthy' ? health : null,
    restartCount: raw.RestartCount ?? 0,
    restart: host.RestartPolicy?.Name === undefined || host.RestartPolicy.Name === null || host.RestartPolicy.Name === '' ? 'no' : host.RestartPolicy.Name,
    tty: config.Tty === true,
    env: config.Env ?? [],
    command: config.Cmd ?? [],
    entrypoint: config.Entrypoint ?? [],
    workingDir: config.WorkingDir ?? '',
    user: config.User ?? '',
    labels: config.Labels ?? {},
    // Of one that does not run there are only those that were asked for.
    ports: portsOf(Object.keys(raw.NetworkSettings?.Ports ?? {}).length > 0 ? raw.NetworkSettings?.Ports : host.PortBindings),
    mounts: (raw.Mounts ?? []).map(mountOf),
    networks: Object.entries(raw.NetworkSettings?.Networks ?? {}).map(([name, network]) => ({
      name,
      address: network.IPAddress ?? '',
      mac: network.MacAddress ?? '',
    })),
    cpuLimit: (host.NanoCpus ?? 0) > 0 ? (host.NanoCpus ?? 0) / 1e9 : null,
    memoryLimitBytes: (host.Memory ?? 0) > 0 ? (host.Memory ?? 0) : null,
  }
}

const cpu = z.object({
  cpu_usage: z.object({ total_usage: z.number(), percpu_usage: z.array(z.number()).nullish() }),
  system_cpu_usage: count,
  online_cpus: count,
})
export const stats = z.object({
  read: z.string(),
  cpu_stats: cpu,
  precpu_stats: cpu.nullish(),
  memory_stats: z.object({ usage: count, limit: count, stats: z.record(z.string(), z.number()).nullish() }).nullish(),
  networks: z.record(z.string(), z.object({ rx_bytes: z.number(), tx_bytes: z.number() })).nullish(),
  blkio_stats: z.object({ io_service_bytes_recursive: z.array(z.object({ op: z.string(), value: z.number() })).nullish() }).nullish(),
  pids_stats: z.object({ current: count }).nullish(),
})

export function shapeStats(raw: z.output<typeof stats>): ContainerStats {
  const memory = raw.memory_stats
  // As `docker stats` counts: what the kernel would give back at once is not used. cgroup 2, then 1.
  const reclaimable = memory?.stats?.['inactive_file'] ?? memory?.stats?.['total_inactive_file'] ?? memory?.stats?.['cache'] ?? 0
  const nics = Object.values(raw.networks ?? {})
  const io = (op: string): number =>
    (raw.blkio_stats?.io_service_bytes_recursive ?? []).filter((one) => one.op.toLowerCase() === op).reduce((sum, { value }) => sum + value, 0)
  return {
    at: new Date(raw.read),
    cpu: shareOf(raw),
    cpuSeconds: raw.cpu_stats.cpu_usage.total_usage / 1e9,
    memoryBytes: Math.max(0, (memory?.usage ?? 0) - reclaimable),
    memoryLimitBytes: memory?.limit ?? 0,
    receivedBytes: nics.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
    sentBytes: nics.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
    readBytes: io('read'),
    writtenBytes: io('write'),
    pids: raw.pids_stats?.current ?? 0,
  }
}

/** Processors that it used since Docker looked before: null at the first look. */
function shareOf({ cpu_stats: now, precpu_stats: before }: z.output<typeof stats>): number | null {
  const systemBefore = before?.system_cpu_usage ?? 0
  const system = (now.system_cpu_usage ?? 0) - systemBefore
  if (before === null || before === undefined || systemBefore === 0 || system <= 0) return null
  const processors = now.online_cpus ?? now.cpu_usage.percpu_usage?.length ?? 1
  return Math.max(0, ((now.cpu_usage.total_usage - before.cpu_usage.total_usage) / system) * processors)
}

export const listedImage = z.object({
  Id: z.string(),
  RepoTags: z.array(z.string()).nullish(),
  RepoDigests: z.array(z.string()).nullish(),
  Created: z.number(),
  Size: z.number(),
  Labels: text.nullish(),
})
export function shapeImage(raw: z.output<typeof listedImage>): Image {
  return {
    id: raw.Id,
    tags: (raw.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>'),
    digests: (raw.RepoDigests ?? []).filter((digest) => !digest.startsWith('<none>')),
    createdAt: new Date(raw.Created * 1_000),
    sizeBytes: raw.Size,
    labels: raw.Labels ?? {},
  }
}
export const inspectedImage = z.object({
  Id: z.string(),
  RepoTags: z.array(z.string()).nullish(),
  RepoDigests: z.array(z.string()).nullish(),
  Created: z.string().nullish(),
  Size: z.number(),
  Os: z.string().nullish(),
  Architecture: z.string().nullish(),
  Config: z
    .object({
      Labels: text.nullish(),
      Cmd: z.array(z.string()).nullish(),
      Entrypoint: z.array(z.string()).nullish(),
      Env: z.array(z.string()).nullish(),
      ExposedPorts: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
})

/** A line of a pull or an import. */
export const progress = z.object({
  id: z.string().nullish(),
  status: z.string().nullish(),
  progressDetail: z.object({ current: count, total: count }).nullish(),
  error: z.string().nullish(),
  errorDetail: z.object({ message: z.string().nullish() }).nullish(),
})
export const shapeProgress = (raw: z.output<typeof progress>): PullProgress => ({
  id: raw.id ?? null,
  status: raw.status ?? '',
  currentBytes: raw.progressDetail?.current ?? null,
  totalBytes: raw.progressDetail?.total ?? null,
})

export const volume = z.object({
  Name: z.string(),
  Driver: z.string(),
  Mountpoint: z.string(),
  CreatedAt: z.string().nullish(),
  Labels: text.nullish(),
  UsageData: z.object({ Size: z.number(), RefCount: z.number() }).nullish(),
})
export function shapeVolume(raw: z.output<typeof volume>): Volume {
  const size = raw.UsageData?.Size ?? -1
  return {
    name: raw.Name,
    driver: raw.Driver,
    path: raw.Mountpoint,
    createdAt: dateOf(raw.CreatedAt),
    labels: raw.Labels ?? {},
    sizeBytes: size < 0 ? null : size,
  }
}

export const event = z.object({
  Type: z.string(),
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: text.nullish() }),
  time: z.number(),
  timeNano: z.number().nullish(),
})
export const shapeEvent = (raw: z.output<typeof event>): DockerEvent => ({
  type: raw.Type,
  // `exec_start: sh -c …`: what is behind the colon is nobody's name.
  action: raw.Action.split(':', 1)[0] ?? raw.Action,
  detail: raw.Action.includes(': ') ? raw.Action.slice(raw.Action.indexOf(': ') + 2) : '',
  id: raw.Actor.ID,
  attributes: raw.Actor.Attributes ?? {},
  at: new Date(raw.timeNano === null || raw.timeNano === undefined ? raw.time * 1_000 : raw.timeNano / 1e6),
  timeSeconds: raw.time,
})
