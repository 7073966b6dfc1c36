import { PassThrough, Readable } from 'node:stream'
import { z } from 'zod'
import { EngineError, isEngineError } from '../errors.ts'
import { framesTaken, jsonLines, unframed } from './frames.ts'
import { detail, shapeDetail, shapeStats, shapeSummary, stats, summary } from './parse.ts'
import { parsed, through, wholeOf, type DockerAsker } from './transport.ts'
import type { Containers, ContainerSpec, LogOptions, OutputStream } from './types.ts'

const created = z.object({ Id: z.string(), Warnings: z.array(z.string()).nullish() })
const waited = z.object({ StatusCode: z.number() })
const pathStat = z.object({ name: z.string(), size: z.number(), mode: z.number(), mtime: z.string().nullish(), linkTarget: z.string().nullish() })
/** Go's `os.ModeDir`. */
const directoryBit = 0x80000000
const defaultGraceSeconds = 10
/** Creating, starting and removing wait for disks. */
const slowMs = 120_000

const at = (id: string): string => `/containers/${encodeURIComponent(id)}`

export function createContainers(asker: DockerAsker): Containers {
  const inspect: Containers['inspect'] = async (id, options = {}) => shapeDetail(await asker.json(detail, { path: `${at(id)}/json`, ...signalOf(options) }))
  const act = (
    id: string,
    what: string,
    options: { signal?: AbortSignal | undefined },
    query: Record<string, string> = {},
    timeoutMs = slowMs,
  ): Promise<void> => asker.done({ method: 'POST', path: withQuery(`${at(id)}/${what}`, query), timeoutMs, ...signalOf(options) })

  return {
    async list(options = {}) {
      const filters = { ...(options.labels !== undefined && { label: options.labels }), ...(options.ids !== undefined && { id: options.ids }) }
      const path = withQuery('/containers/json', { all: options.all === false ? '0' : '1', filters: JSON.stringify(filters) })
      return (await asker.json(z.array(summary), { path, ...signalOf(options) })).map(shapeSummary)
    },
    inspect,
    async create(name, spec, options = {}) {
      const { Id, Warnings } = await asker.json(created, {
        method: 'POST',
        path: withQuery('/containers/create', { name }),
        body: bodyOf(spec),
        timeoutMs: slowMs,
        ...signalOf(options),
      })
      return { id: Id, warnings: Warnings ?? [] }
    },
    start: (id, options = {}) => act(id, 'start', options),
    stop: (id, { graceSeconds = defaultGraceSeconds, ...options } = {}) => act(id, 'stop', options, { t: String(graceSeconds) }, graceSeconds * 1_000 + slowMs),
    restart: (id, { graceSeconds = defaultGraceSeconds, ...options } = {}) =>
      act(id, 'restart', options, { t: String(graceSeconds) }, graceSeconds * 1_000 + slowMs),
    kill: (id, options = {}) => act(id, 'kill', options, { signal: options.with ?? 'SIGKILL' }),
    pause: (id, options = {}) => act(id, 'pause', options),
    unpause: (id, options = {}) => act(id, 'unpause', options),
    rename: (id, name, options = {}) => act(id, 'rename', options, { name }),
    update: (id, changes, options = {}) =>
      asker.done({
        method: 'POST',
        path: `${at(id)}/update`,
        body: { ...limitsOf(changes), ...(changes.restart !== undefined && { RestartPolicy: { Name: changes.restart } }) },
        ...signalOf(options),
      }),
    async remove(id, options = {}) {
      await asker
        .done({
          method: 'DELETE',
          path: withQuery(at(id), { force: String(options.force === true), v: String(options.volumes === true) }),
          timeoutMs: slowMs,
          ...signalOf(options),
        })
        .catch(unless('not_found'))
    },
    async wait(id, options = {}) {
      const { StatusCode } = await asker.json(waited, { method: 'POST', path: `${at(id)}/wait`, timeoutMs: 2 ** 31 - 1, changes: false, ...signalOf(options) })
      return { exitCode: StatusCode }
    },
    stats: async (id, options = {}) => shapeStats(await asker.json(stats, { path: `${at(id)}/stats?stream=false`, ...signalOf(options) })),
    async *statsFollowed(id, options = {}) {
      const path = `${at(id)}/stats?stream=true`
      const { stream } = await asker.open({ path, ...signalOf(options) })
      for await (const one of through(path, stream, jsonLines(path), options.signal)) {
        const raw = stats.safeParse(one)
        // Of one that has ended there are no figures.
        if (!raw.success || raw.data.read.startsWith('0001-')) return
        yield shapeStats(raw.data)
      }
    },
    async logs(id, options = {}) {
      const { tty } = await inspect(id, options)
      const path = withQuery(`${at(id)}/logs`, logQuery(options))
      const { stream } = await asker.open({ path, ...signalOf(options) })
      // Node's types know no streams of objects: what comes out are frames, not buffers.
      return through(path, stream, tty ? unframed() : framesTaken(), options.signal) as unknown as OutputStream
    },
    async stat(id, path, options = {}) {
      // A body that never comes has no complaint in it: only the status tells.
      const { headers, stream } = await asker.open({ method: 'HEAD', path: withQuery(`${at(id)}/archive`, { path }), ...signalOf(options) })
      stream.destroy()
      const text = Buffer.from(String(headers['x-docker-container-path-stat'] ?? ''), 'base64').toString('utf8')
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch (error) {
        throw new EngineError('bad_answer', `${path}: no stat`, { cause: error })
      }
      const raw = parsed(pathStat, value, path)
      const modified = new Date(raw.mtime ?? Number.NaN)
      return {
        name: raw.name,
        sizeBytes: raw.size,
        mode: raw.mode,
        directory: Math.floor(raw.mode / directoryBit) % 2 === 1,
        modifiedAt: Number.isNaN(modified.getTime()) ? null : modified,
        linkTarget: raw.linkTarget ?? '',
      }
    },
    async get(id, path, options = {}) {
      const asked = withQuery(`${at(id)}/archive`, { path })
      const { stream } = await asker.open({ path: asked, timeoutMs: slowMs, ...signalOf(options) })
      return through(asked, stream, new PassThrough({ highWaterMark: 256 * 1024 }), options.signal)
    },
    put: (id, directory, tar, options = {}) =>
      sendTar(asker, withQuery(`${at(id)}/archive`, { path: directory, noOverwriteDirNonDir: 'true' }), 'PUT', tar, options),
  }
}

/** Nothing is too long for an upload: silence is told by whoever sends. */
async function sendTar(
  asker: DockerAsker,
  path: string,
  method: 'PUT' | 'POST',
  tar: Readable | Buffer,
  options: { signal?: AbortSignal | undefined },
): Promise<void> {
  const { stream } = await asker.open({
    method,
    path,
    headers: { 'content-type': 'application/x-tar' },
    body: tar,
    timeoutMs: 2 ** 31 - 1,
    ...signalOf(options),
  })
  await wholeOf(path, stream, options.signal)
}

export const signalOf = ({ signal }: { signal?: AbortSignal | undefined }): { signal?: AbortSignal } => (signal === undefined ? {} : { signal })

export function withQuery(path: string, query: Readonly<Record<string, string | readonly string[]>>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of typeof value === 'string' ? [value] : value) params.append(name, one)
  return `${path}?${params}`
}

/** For what is so already. */
export const unless =
  (...kinds: Parameters<typeof isEngineError>[1][]) =>
  (error: unknown): void => {
    if (!isEngineError(error, ...kinds)) throw error
  }

/** Seconds with nanoseconds: Docker takes fractions. */
const secondsOf = (date: Date): string => (date.getTime() / 1_000).toFixed(3)
function logQuery({ follow, tail, since, until, timestamps, stdout, stderr }: LogOptions): Record<string, string> {
  return {
    stdout: String(stdout !== false),
    stderr: String(stderr !== false),
    follow: String(follow === true),
    timestamps: String(timestamps === true),
    tail: tail === undefined ? 'all' : String(tail),
    ...(since !== undefined && { since: secondsOf(since) }),
    ...(until !== undefined && { until: secondsOf(until) }),
  }
}

/** Without a limit it is 0; swap is no way around it. */
const limitsOf = ({ cpuLimit, memoryLimitBytes }: Pick<ContainerSpec, 'cpuLimit' | 'memoryLimitBytes'>) => ({
  ...(cpuLimit !== undefined && { NanoCpus: Math.round((cpuLimit ?? 0) * 1e9) }),
  ...(memoryLimitBytes !== undefined && { Memory: memoryLimitBytes ?? 0, MemorySwap: memoryLimitBytes ?? 0 }),
})

/** The body of `POST /containers/create`. */
export function bodyOf(spec: ContainerSpec): Record<string, unknown> {
  const ports = spec.ports ?? []
  const key = ({ containerPort, protocol }: (typeof ports)[number]): string => `${containerPort}/${protocol}`
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const port of ports) (bindings[key(port)] ??= []).push({ HostIp: port.address ?? '', HostPort: String(port.hostPort) })
  const filled = (list: readonly string[] | undefined): readonly string[] | undefined => (list === undefined || list.length === 0 ? undefined : list)
  return {
    Image: spec.image,
    Cmd: filled(spec.command),
    Entrypoint: filled(spec.entrypoint),
    Env: Object.entries(spec.env ?? {}).map(([name, value]) => `${name}=${value}`),
    WorkingDir: spec.workingDir ?? undefined,
    User: spec.user,
    Hostname: spec.hostName,
    Labels: spec.labels ?? {},
    Tty: spec.tty === true,
    OpenStdin: spec.stdin === true,
    ExposedPorts: Object.fromEntries(ports.map((port) => [key(port), {}])),
    ...(spec.health !== null &&
      spec.health !== undefined && {
        Healthcheck: {
          Test: ['CMD-SHELL', spec.health.command],
          Interval: spec.health.intervalMs * 1e6,
          Timeout: spec.health.timeoutMs * 1e6,
          Retries: spec.health.retries,
        },
      }),
    HostConfig: {
      PortBindings: bindings,
      Mounts: (spec.mounts ?? []).map(({ type, source, path, readOnly }) => ({ Type: type, Source: source, Target: path, ReadOnly: readOnly === true })),
      RestartPolicy: { Name: spec.restart ?? 'no' },
      ...limitsOf(spec),
      DeviceRequests: gpusOf(spec.gpus),
      NetworkMode: spec.network,
    },
  }
}

const gpusOf = (gpus: ContainerSpec['gpus'] = 0) => {
  if (gpus === 0 || (typeof gpus !== 'number' && gpus.length === 0)) return []
  return [{ Driver: '', Capabilities: [['gpu']], ...(typeof gpus === 'number' ? { Count: gpus } : { DeviceIDs: gpus }) }]
}
