import { z } from 'zod'
import { createContainers, signalOf, unless, withQuery } from './containers.ts'
import { createExecs } from './execs.ts'
import { jsonLines } from './frames.ts'
import { createImages } from './images.ts'
import { event, listedImage, shapeEvent, shapeImage, shapeVolume, volume } from './parse.ts'
import { createAsker, parsed, through, type DockerTransport } from './transport.ts'
import type { Docker } from './types.ts'

const version = z.object({ Version: z.string(), ApiVersion: z.string() })
const info = z.object({
  Name: z.string(),
  ServerVersion: z.string(),
  Driver: z.string(),
  DockerRootDir: z.string(),
  OperatingSystem: z.string(),
  KernelVersion: z.string(),
  Architecture: z.string(),
  NCPU: z.number(),
  MemTotal: z.number(),
  Containers: z.number(),
  Images: z.number(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
})
const usage = z.object({
  LayersSize: z.number().nullish(),
  Images: z.array(listedImage).nullish(),
  Volumes: z.array(volume).nullish(),
  Containers: z.array(z.object({ Id: z.string(), SizeRw: z.number().nullish() })).nullish(),
})

/** A client of the Docker Engine API from 1.41 on. Every error is an EngineError. */
export function createDocker(transport: DockerTransport): Docker {
  const asker = createAsker(transport)
  return {
    containers: createContainers(asker),
    execs: createExecs(asker),
    images: createImages(asker),
    volumes: {
      async list(options = {}) {
        const path = withQuery('/volumes', { filters: JSON.stringify(options.labels === undefined ? {} : { label: options.labels }) })
        return ((await asker.json(z.object({ Volumes: z.array(volume).nullish() }), { path, ...signalOf(options) })).Volumes ?? []).map(shapeVolume)
      },
      create: async (name, options = {}) =>
        shapeVolume(
          await asker.json(volume, { method: 'POST', path: '/volumes/create', body: { Name: name, Labels: options.labels ?? {} }, ...signalOf(options) }),
        ),
      remove: (name, options = {}) =>
        asker
          .done({ method: 'DELETE', path: withQuery(`/volumes/${encodeURIComponent(name)}`, { force: String(options.force === true) }), ...signalOf(options) })
          .catch(unless('not_found')),
    },
    networks: {
      create: (name, options = {}) =>
        asker
          .done({ method: 'POST', path: '/networks/create', body: { Name: name, CheckDuplicate: true, Driver: 'bridge' }, ...signalOf(options) })
          .catch(unless('conflict')),
    },
    ping: (options = {}) => asker.done({ path: '/_ping', timeoutMs: 10_000, ...signalOf(options) }),
    async version(options = {}) {
      const { Version, ApiVersion } = await asker.json(version, { path: '/version', ...signalOf(options) })
      return { version: Version, apiVersion: ApiVersion }
    },
    async info(options = {}) {
      const raw = await asker.json(info, { path: '/info', ...signalOf(options) })
      return {
        name: raw.Name,
        version: raw.ServerVersion,
        storageDriver: raw.Driver,
        root: raw.DockerRootDir,
        operatingSystem: raw.OperatingSystem,
        kernel: raw.KernelVersion,
        architecture: raw.Architecture,
        cpus: raw.NCPU,
        memoryBytes: raw.MemTotal,
        containers: raw.Containers,
        images: raw.Images,
        runtimes: Object.keys(raw.Runtimes ?? {}),
      }
    },
    async *events(options = {}) {
      const filters = { ...(options.types !== undefined && { type: options.types }), ...(options.labels !== undefined && { label: options.labels }) }
      const path = withQuery('/events', { filters: JSON.stringify(filters), ...(options.since !== undefined && { since: String(options.since) }) })
      const { stream } = await asker.open({ path, ...signalOf(options) })
      options.onOpen?.()
      for await (const line of through(path, stream, jsonLines(path), options.signal)) yield shapeEvent(parsed(event, line, path))
    },
    async diskUsage(options = {}) {
      const raw = await asker.json(usage, { path: '/system/df', timeoutMs: 300_000, ...signalOf(options) })
      return {
        layersBytes: raw.LayersSize ?? 0,
        images: (raw.Images ?? []).map(shapeImage),
        volumes: (raw.Volumes ?? []).map(shapeVolume),
        containers: (raw.Containers ?? []).map(({ Id, SizeRw }) => ({ id: Id, writtenBytes: SizeRw ?? 0 })),
      }
    },
  }
}
