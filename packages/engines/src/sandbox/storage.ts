import { Readable } from 'node:stream'
import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError } from '../errors.ts'
import { untilAborted } from '../signals.ts'
import { checkAttachment, checkCopy, checkNewVolume, checkSize, checkSnapshotName } from '../storage.checks.ts'
import type { Storage, Volume, VolumeName } from '../storage.ts'
import { bytesOn, copyOf, disk, diskOf, emptyDisk, entriesOf, kept, mountedAt, withFile, without, type Disk } from './disk.ts'
import { openJournal } from './journal.ts'
import type { Parts } from './parts.ts'
import { pack, unpack } from './tar.ts'

const gib = 2 ** 30
const pool = 'default'
/** No backup of the sandbox's comes near it. */
const backupLimit = 64 * 2 ** 20

const texts = z.record(z.string(), z.string())
const stored = disk.extend({
  volume: z.string(),
  content: z.enum(['filesystem', 'block']),
  sizeBytes: z.number(),
  description: z.string(),
  tags: texts,
  createdAt: z.number(),
  snapshots: z.record(z.string(), kept),
})
type Stored = z.output<typeof stored>
const index = z.object({ content: stored.shape.content, sizeBytes: z.number() })

/** Disk devices of an instance but its root, by name. */
export const attachments = z.record(z.string(), z.object({ pool: z.string(), volume: z.string(), path: z.string().nullable() }))
export type Attachments = z.output<typeof attachments>

/** What volumes are attached to. */
export interface Machines {
  get(name: string): { type: 'vm' | 'container'; power: 'running' | 'stopped'; volumes: Attachments } | undefined
  attached(): Iterable<[name: string, volumes: Attachments]>
  attach(name: string, volumes: Attachments): void
  /** Promised to their root disks. */
  diskBytes(): number
}

export interface SandboxStorage extends Storage {
  readonly totalBytes: number
  usedBytes(): number
  /** A root disk with what is mounted in it. */
  seen(root: Disk, volumes: Attachments): Disk
  /** Writes to the volume that is mounted there; false where none is. */
  write(volumes: Attachments, path: string, content: Buffer, attributes: string): boolean
}

/** One pool, in which volumes are what was written to them. Nothing runs on them, so none is ever busy but with a running instance. */
export function createSandboxStorage({ directory, enter, work, tell }: Parts, now: () => Date, machines: Machines): SandboxStorage {
  const { objects, journal } = openJournal<Stored>(directory, (value) => stored.safeParse(value).data ?? null, 'volumes')
  // Below 2^53, so that it is exact wherever it goes.
  const totalBytes = 8_000_000 * gib
  const usedBytes = () => machines.diskBytes() + [...objects.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const mustFit = (bytes: number): void => {
    if (usedBytes() + bytes > totalBytes) throw new EngineError('exhausted', `no ${bytes} bytes left in ${pool}`)
  }

  const find = (name: VolumeName): Stored | undefined => (name.pool === pool ? objects.get(name.volume) : undefined)
  const must = (name: VolumeName): Stored => {
    const one = find(name)
    if (one === undefined) throw new EngineError('not_found', `no volume ${name.volume} in ${name.pool}`)
    return one
  }
  const mustHave = (one: Stored, snapshot: string): z.output<typeof kept> => {
    const then = one.snapshots[snapshot]
    if (then === undefined) throw new EngineError('not_found', `no snapshot ${snapshot} of ${one.volume}`)
    return then
  }
  const put = (one: Stored, action: string): void => {
    journal.put(one.volume, one)
    tell('volume', one.volume, `storage-volume-${action}`, pool)
  }

  /** By volume. */
  const attached = (): Map<string, { instance: string; device: string; path: string | null }[]> => {
    const found = new Map<string, { instance: string; device: string; path: string | null }[]>()
    for (const [instance, volumes] of machines.attached()) {
      for (const [device, { volume, path }] of Object.entries(volumes)) found.set(volume, [...(found.get(volume) ?? []), { instance, device, path }])
    }
    return found
  }
  const shape = (one: Stored, at: ReturnType<typeof attached>): Volume => ({
    pool,
    volume: one.volume,
    content: one.content,
    sizeBytes: one.sizeBytes,
    usedBytes: bytesOn(one),
    description: one.description,
    tags: one.tags,
    attached: at.get(one.volume) ?? [],
    createdAt: new Date(one.createdAt),
    location: null,
  })

  /** Whether it is there already; another's throws. */
  const isMade = (spec: VolumeName & { tags: Readonly<Record<string, string>> }): boolean => {
    if (spec.pool !== pool) throw new EngineError('not_found', `no pool ${spec.pool}`)
    const former = objects.get(spec.volume)
    if (former === undefined) return false
    if (JSON.stringify(Object.entries(former.tags).sort()) === JSON.stringify(Object.entries(spec.tags).sort())) return true
    throw new EngineError('conflict', `${spec.volume} exists and is not ours`)
  }
  const make = (spec: Pick<Stored, 'volume' | 'content' | 'sizeBytes' | 'description' | 'tags'>, on: Disk): void => {
    const { volume, content, sizeBytes, description, tags } = spec
    mustFit(sizeBytes)
    put({ volume, content, sizeBytes, description, tags: { ...tags }, createdAt: now().getTime(), snapshots: {}, ...copyOf(on) }, 'created')
  }
  const mountOf = (volumes: Attachments, path: string) =>
    Object.values(volumes)
      .filter((one) => one.path !== null && path.startsWith(`${one.path}/`))
      .sort((one, other) => (other.path?.length ?? 0) - (one.path?.length ?? 0))[0]

  return {
    totalBytes,
    usedBytes,
    seen: (root, volumes) =>
      Object.values(volumes)
        .sort((one, other) => (one.path?.length ?? 0) - (other.path?.length ?? 0))
        .reduce((below, { volume, path }) => {
          const one = objects.get(volume)
          if (one === undefined || path === null) return below
          const [rest, mounted] = [without(below, path), mountedAt(one, path)]
          return { files: { ...rest.files, ...mounted.files }, attributes: { ...rest.attributes, ...mounted.attributes } }
        }, root),
    write(volumes, path, content, attributes) {
      const mount = mountOf(volumes, path)
      const one = mount === undefined ? undefined : objects.get(mount.volume)
      if (mount === undefined || one === undefined) return false
      const next = withFile(one, path.slice(mount.path?.length), content, attributes)
      if (bytesOn(next) > one.sizeBytes) throw new EngineError('exhausted', `no space left on ${one.volume}`)
      journal.put(one.volume, { ...one, ...next })
      return true
    },

    async pools(call) {
      await enter(call)
      const used = usedBytes()
      return [
        {
          name: pool,
          description: '',
          driver: 'sandbox',
          shared: true,
          status: 'Created',
          totalBytes,
          usedBytes: used,
          enforcesSize: true,
          restoresInUse: false,
          members: [{ member: null, totalBytes, usedBytes: used }],
        },
      ]
    },

    volumes: {
      async list(only, call) {
        await enter(call)
        if (only !== undefined && only !== pool) throw new EngineError('not_found', `no pool ${only}`)
        const at = attached()
        return [...objects.values()].map((one) => shape(one, at))
      },
      async get(name, call) {
        await enter(call)
        const one = find(name)
        return one === undefined ? null : shape(one, attached())
      },
      async create(spec, call) {
        await work(call)
        checkNewVolume(spec)
        checkSize(spec.sizeBytes)
        if (isMade(spec)) return
        if (spec.copyOf === undefined) return make(spec, emptyDisk)
        const source = must({ pool: spec.pool, volume: spec.copyOf.volume })
        const then = spec.copyOf.snapshot === undefined ? source : mustHave(source, spec.copyOf.snapshot)
        checkCopy({ content: source.content, sizeBytes: then.sizeBytes }, spec)
        make(spec, then)
      },
      async grow(name, sizeBytes, call) {
        await work(call)
        checkSize(sizeBytes)
        const one = must(name)
        if (sizeBytes === one.sizeBytes) return
        if (sizeBytes < one.sizeBytes) throw new EngineError('invalid', 'a volume cannot shrink')
        mustFit(sizeBytes - one.sizeBytes)
        put({ ...one, sizeBytes }, 'updated')
      },
      async delete(name, call) {
        await work(call)
        const one = find(name)
        if (one === undefined) return
        if (attached().has(one.volume)) throw new EngineError('busy', `${one.volume} is attached`)
        journal.remove(one.volume)
        tell('volume', one.volume, 'storage-volume-deleted', pool)
      },
      async attach(name, to, call) {
        await work(call)
        const one = must(name)
        const machine = machines.get(to.instance)
        if (machine === undefined) throw new EngineError('not_found', `no instance ${to.instance}`)
        const former = machine.volumes[to.device]
        if (former !== undefined && former.volume === one.volume && former.path === to.path) return
        const devices = [
          { device: 'root', path: '/' },
          { device: 'eth0', path: null },
          ...Object.entries(machine.volumes).map(([device, { path }]) => ({ device, path })),
        ]
        checkAttachment(shape(one, attached()), to, { type: machine.type, devices })
        machines.attach(to.instance, { ...machine.volumes, [to.device]: { pool, volume: one.volume, path: to.path } })
      },
      async attachedTo(instance, call) {
        await enter(call)
        return Object.entries(machines.get(instance)?.volumes ?? {}).map(([device, { pool: of, volume, path }]) => ({ pool: of, volume, device, path }))
      },
      async detach(name, from, call) {
        await work(call)
        const volumes = machines.get(from.instance)?.volumes
        const { [from.device]: gone, ...rest } = volumes ?? {}
        if (gone !== undefined && gone.pool === name.pool && gone.volume === name.volume) machines.attach(from.instance, rest)
      },
      snapshots: {
        async list(name, call) {
          await enter(call)
          return Object.entries(must(name).snapshots).map(([each, then]) => ({ name: each, createdAt: new Date(then.createdAt), sizeBytes: bytesOn(then) }))
        },
        async create(name, snapshot, call) {
          await work(call)
          checkSnapshotName(snapshot)
          const one = must(name)
          if (one.snapshots[snapshot] !== undefined) return
          const then = { ...copyOf(one), createdAt: now().getTime(), sizeBytes: one.sizeBytes }
          journal.put(one.volume, { ...one, snapshots: { ...one.snapshots, [snapshot]: then } })
          tell('volume-snapshot', snapshot, 'storage-volume-snapshot-created', `${pool}/${one.volume}`)
        },
        async restore(name, snapshot, call) {
          await work(call)
          const one = must(name)
          const then = mustHave(one, snapshot)
          if ((attached().get(one.volume) ?? []).some(({ instance }) => machines.get(instance)?.power === 'running')) {
            throw new EngineError('busy', `a running instance uses ${one.volume}`)
          }
          put({ ...one, ...copyOf(then) }, 'restored')
        },
        async delete(name, snapshot, call) {
          await work(call)
          const one = find(name)
          if (one?.snapshots[snapshot] === undefined) return
          const { [snapshot]: _, ...rest } = one.snapshots
          journal.put(one.volume, { ...one, snapshots: rest })
          tell('volume-snapshot', snapshot, 'storage-volume-snapshot-deleted', `${pool}/${one.volume}`)
        },
      },
      async export(name, call) {
        await work(call)
        const one = must(name)
        const about = { path: 'index.json', content: Buffer.from(JSON.stringify(index.parse(one))), mode: 0o644, uid: 0, gid: 0 }
        return flow(pack([about, ...entriesOf(one, 'volume')]), enter, call)
      },
      async import(spec, content, call) {
        // It may break off before it is read, and nobody else listens.
        content.on('error', () => undefined)
        try {
          await work(call)
          checkNewVolume(spec)
          if (isMade(spec)) return
          const entries = unpack(await untilAborted(gather(content), call?.signal)) ?? []
          const about = index.safeParse(jsonOf(entries.find(({ path }) => path === 'index.json')?.content)).data
          if (about === undefined) throw new EngineError('invalid', 'not a backup of the sandbox')
          if (!isMade(spec)) make({ ...spec, ...about }, diskOf(entries, 'volume'))
        } finally {
          content.destroy()
        }
      },
    },
  }
}

/** As a real engine sends it: in pieces, which end where the caller ends them. */
export function flow(content: Buffer, enter: Parts['enter'], call: CallOptions | undefined): Readable {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < content.length; at += 65_536) {
      await enter(call)
      yield content.subarray(at, at + 65_536)
    }
  }
  return Readable.from(pieces(), { objectMode: false })
}

async function gather(content: Readable): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of content as AsyncIterable<Buffer>) {
      size += part.length
      if (size > backupLimit) throw new EngineError('invalid', 'not a backup of the sandbox')
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw new EngineError('invalid', `what was to be sent broke off: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
  return Buffer.concat(parts)
}

function jsonOf(content: Buffer | undefined): unknown {
  try {
    return JSON.parse(content?.toString('utf8') ?? '')
  } catch {
    return undefined
  }
}
