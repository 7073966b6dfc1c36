import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { checkCopy, checkNewVolume, checkSize, checkSnapshotName } from '../storage.checks.ts'
import type { Snapshot, Volume, VolumeName, Volumes, VolumeSpec } from '../storage.ts'
import { createAttachments } from './attachments.ts'
import { createBackups } from './backups.ts'
import { find } from './objects.ts'
import { change, settle } from './operations.ts'
import { bytesOf, dateOf, instance, parse, type LxdInstance } from './parse.ts'
import type { Pools } from './pools.ts'
import type { Transport } from './transport.ts'
import { createBeside, findVolume, isMade } from './volumes.beside.ts'
import {
  attachmentsOf,
  configWith,
  onMember,
  shapeVolume,
  standInPrefix,
  touchesVolume,
  volume,
  volumePath,
  volumesPath,
  type LxdVolume,
} from './volumes.parse.ts'

const state = z.object({ usage: z.object({ used: z.number().nullish() }).nullish() })
const snapshot = z.object({ name: z.string(), created_at: z.string().nullish(), config: z.record(z.string(), z.string()).nullish() })

/** Some changes LXD makes while it answers, and copies whole disks for them. */
const whileItWorks = { waits: true, timeoutMs: 3_600_000 }
/** Whom the files of a volume belong to on the host; goes with the files. */
const idmapKey = 'volatile.idmap.last'

const shapeSnapshot = (raw: z.output<typeof snapshot>): Snapshot => ({
  name: raw.name.split('/').at(-1) ?? raw.name,
  createdAt: dateOf(raw.created_at),
  sizeBytes: null,
})

export function createVolumes(transport: Transport, pools: Pools): Volumes {
  const snapshotPath = (name: VolumeName, of: string): string => `${volumePath(name)}/snapshots/${encodeURIComponent(of)}`

  const found = async (name: VolumeName, options: CallOptions): Promise<LxdVolume> => {
    const raw = await findVolume(transport, name, options)
    if (raw === null) throw new EngineError('not_found', `no volume ${name.volume} in ${name.pool}`)
    return raw
  }
  const listedAt = async (path: string, options: CallOptions) =>
    parse(z.array(snapshot), (await transport.ask(path, { query: { recursion: '1' }, signal: options.signal })).metadata, 'snapshots')
  const findSnapshot = async (name: VolumeName, of: string, options: CallOptions) =>
    (await find(transport, snapshotPath(name, of), snapshot, 'snapshot', options))?.raw ?? null

  /** The instances that a volume says it is used by. */
  const usersOf = async (raw: LxdVolume, options: CallOptions): Promise<LxdInstance[]> => {
    const paths = (raw.used_by ?? []).flatMap((path) => /^\/1\.0\/instances\/[^/?]+/.exec(path)?.[0] ?? [])
    const users = await Promise.all(paths.map((path) => find(transport, path, instance, 'instance', options)))
    return users.flatMap((user) => user?.raw ?? [])
  }

  const usedBytesOf = async (name: VolumeName, options: CallOptions): Promise<number | null> => {
    try {
      const { metadata } = await transport.ask(`${volumePath(name)}/state`, { signal: options.signal })
      // Drivers that cannot measure say so, or nothing, or 0.
      return parse(state, metadata, 'volume state').usage?.used || null
    } catch (error) {
      if (isEngineError(error, 'unsupported', 'not_found')) return null
      throw error
    }
  }

  const get = async (name: VolumeName, options: CallOptions = {}): Promise<Volume | null> => {
    const raw = await findVolume(transport, name, options)
    if (raw === null) return null
    const [users, usedBytes] = await Promise.all([usersOf(raw, options), usedBytesOf(name, options)])
    return shapeVolume(name.pool, raw, attachmentsOf(users), usedBytes)
  }

  const makeBeside = createBeside(transport)

  const createEmpty = async (spec: VolumeSpec, options: CallOptions): Promise<void> => {
    if (await isMade(transport, spec, options)) return
    const body = {
      name: spec.volume,
      content_type: spec.content,
      description: spec.description,
      config: configWith({ size: String(spec.sizeBytes) }, spec.tags),
    }
    try {
      await change(transport, volumesPath(spec.pool), { method: 'POST', query: onMember(spec.host), body, ...whileItWorks }, options)
    } catch (error) {
      if (!isEngineError(error, 'conflict') || !(await isMade(transport, spec, options))) throw error
    }
  }

  const createCopy = async (spec: VolumeSpec, of: NonNullable<VolumeSpec['copyOf']>, options: CallOptions): Promise<void> => {
    if (await isMade(transport, spec, options)) return
    const from = { pool: spec.pool, volume: of.volume }
    const source = await found(from, options)
    const config = of.snapshot === undefined ? source.config : (await findSnapshot(from, of.snapshot, options))?.config
    if (config === undefined) throw new EngineError('not_found', `no snapshot ${of.snapshot} of ${of.volume}`)
    checkCopy(
      shapeVolume(spec.pool, { ...source, config }, () => [], null),
      spec,
    )
    const make = async (standIn: VolumeName): Promise<void> => {
      const body = {
        name: standIn.volume,
        content_type: spec.content,
        description: spec.description,
        // With what tells how it is formatted and whom its files belong to.
        config: configWith({ ...config, size: String(spec.sizeBytes) }, spec.tags),
        source: { type: 'copy', pool: spec.pool, name: of.snapshot === undefined ? of.volume : `${of.volume}/${of.snapshot}`, volume_only: true },
      }
      await change(transport, volumesPath(spec.pool), { method: 'POST', query: onMember(source.location), body }, options)
    }
    await makeBeside(spec, make, options)
  }

  return {
    get,
    ...createAttachments(transport, get),
    ...createBackups(transport, makeBeside),

    async list(pool, options = {}) {
      const names = pool === undefined ? (await pools.usable(options)).map(({ name }) => name) : [pool]
      const [listed, instances] = await Promise.all([
        Promise.all(
          names.map(async (name) => {
            const { metadata } = await transport.ask(volumesPath(name), { query: { recursion: '1' }, signal: options.signal })
            return parse(z.array(volume), metadata, 'volumes').map((raw) => ({ pool: name, raw }))
          }),
        ),
        transport
          .ask('/1.0/instances', { query: { recursion: '1' }, signal: options.signal })
          .then(({ metadata }) => parse(z.array(instance), metadata, 'instances')),
      ])
      const attached = attachmentsOf(instances)
      return (
        listed
          .flat()
          // Their snapshots are listed among them.
          .filter(({ raw }) => !raw.name.startsWith(standInPrefix) && !raw.name.includes('/'))
          .map((one) => shapeVolume(one.pool, one.raw, attached, null))
      )
    },

    async create(spec, options = {}) {
      checkNewVolume(spec)
      checkSize(spec.sizeBytes)
      await (spec.copyOf === undefined ? createEmpty(spec, options) : createCopy(spec, spec.copyOf, options))
    },

    async grow(name, sizeBytes, options = {}) {
      checkSize(sizeBytes)
      const raw = await found(name, options)
      const before = bytesOf(raw.config?.['size'])
      if (before === sizeBytes) return
      if (before !== null && sizeBytes < before) throw new EngineError('invalid', 'a volume cannot shrink')
      // A patch without a description would take it away.
      const body = { description: raw.description ?? '', config: { size: String(sizeBytes) } }
      await change(transport, volumePath(name), { method: 'PATCH', body, ...whileItWorks }, options)
    },

    async delete(name, options = {}) {
      try {
        await settle(transport, name.volume, options, touchesVolume)
        await change(transport, volumePath(name), { method: 'DELETE', ...whileItWorks }, options)
      } catch (error) {
        if (!isEngineError(error, 'not_found')) throw error
      }
    },

    snapshots: {
      async list(name, options = {}) {
        const listed = await listedAt(`${volumePath(name)}/snapshots`, options)
        if (listed.length > 0) return listed.map(shapeSnapshot)
        // LXD finds none of a volume that is not there, nor those of another member's, which are listed among the volumes.
        const { location } = await found(name, options)
        if (Object.keys(onMember(location)).length === 0) return []
        const all = await listedAt(volumesPath(name.pool), options)
        return all.filter((raw) => raw.name.startsWith(`${name.volume}/`)).map(shapeSnapshot)
      },
      async create(name, of, options = {}) {
        checkSnapshotName(of)
        try {
          await change(transport, `${volumePath(name)}/snapshots`, { method: 'POST', body: { name: of } }, options)
        } catch (error) {
          if (options.signal?.aborted === true || !isEngineError(error, 'conflict', 'busy', 'failed')) throw error
          await settle(transport, name.volume, options, touchesVolume)
          if ((await findSnapshot(name, of, options)) === null) throw error
        }
      },
      async restore(name, of, options = {}) {
        const [raw, then] = await Promise.all([found(name, options), findSnapshot(name, of, options)])
        if (then === null) throw new EngineError('not_found', `no snapshot ${of} of ${name.volume}`)
        const { [idmapKey]: now, ...config } = raw.config ?? {}
        const mapped = then.config?.[idmapKey]
        // LXD sets the files back, but not what it knows of their owners.
        const known = mapped === now ? {} : { description: raw.description ?? '', config: { ...config, ...(mapped !== undefined && { [idmapKey]: mapped }) } }
        await change(transport, volumePath(name), { method: 'PUT', body: { restore: of, ...known }, ...whileItWorks }, options)
      },
      async delete(name, of, options = {}) {
        try {
          await change(transport, snapshotPath(name, of), { method: 'DELETE' }, options)
        } catch (error) {
          if (!isEngineError(error, 'not_found')) throw error
        }
      },
    },
  }
}
