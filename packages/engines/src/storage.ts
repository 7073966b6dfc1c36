import type { Readable } from 'node:stream'
import type { CallOptions } from './compute.ts'

/** Storage of an engine: pools, and volumes that live longer than the instances that use them. */
export interface Storage {
  pools(options?: CallOptions): Promise<Pool[]>
  readonly volumes: Volumes
}

export interface Pool {
  name: string
  description: string
  /** `dir`, `zfs`, `ceph`, … */
  driver: string
  /** One for all members of a cluster, not one on each. */
  shared: boolean
  status: string
  /** Summed over members. */
  totalBytes: number
  usedBytes: number
  /** Whether the size of a volume is a limit there; false where it is only kept in mind (`dir`). */
  enforcesSize: boolean
  /** Whether a volume that a running instance uses can be set back to a snapshot. */
  restoresInUse: boolean
  /** For each member; one entry, with null, where there is no cluster or all share the pool. */
  members: readonly { member: string | null; totalBytes: number; usedBytes: number }[]
}

export interface VolumeName {
  pool: string
  /** /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/ */
  volume: string
}

export interface VolumeSpec extends VolumeName {
  /** `filesystem` is mounted at a path, `block` is a disk; containers take file systems only. */
  content: 'filesystem' | 'block'
  sizeBytes: number
  description: string
  tags: Readonly<Record<string, string>>
  /** The cluster member to put it on, in a pool that members do not share: it can be attached there only. Without, the engine chooses; a copy is where its source is. */
  host?: string
  /** Begins as a copy of this one, of the same pool; of its snapshot where one is named. */
  copyOf?: { volume: string; snapshot?: string }
}

export interface Volume extends VolumeName {
  content: 'filesystem' | 'block'
  sizeBytes: number | null
  /** Null where the driver cannot tell, and in lists, where asking for each would take long. */
  usedBytes: number | null
  description: string
  tags: Readonly<Record<string, string>>
  /** Where it is attached. */
  attached: readonly { instance: string; device: string; path: string | null }[]
  createdAt: Date | null
  location: string | null
}

export interface Snapshot {
  name: string
  createdAt: Date | null
  /** Null where the driver cannot tell. */
  sizeBytes: number | null
}

/** Mutations as {@link file://./compute.ts} promises them: to the end, idempotent, cancellable. */
export interface Volumes {
  /** Custom volumes of all pools, or of one. */
  list(pool?: string, options?: CallOptions): Promise<Volume[]>
  get(name: VolumeName, options?: CallOptions): Promise<Volume | null>
  /** One of that name with other tags throws `conflict`; a full pool `exhausted`; a copy that is smaller `invalid`. */
  create(spec: VolumeSpec, options?: CallOptions): Promise<void>
  /** Shrinking throws `invalid`. Where the driver cannot while it is in use: `busy`. */
  grow(name: VolumeName, sizeBytes: number, options?: CallOptions): Promise<void>
  /** Succeeds when there is none. Attached throws `busy`. Its snapshots go with it. */
  delete(name: VolumeName, options?: CallOptions): Promise<void>
  /**
   * Live where the instance runs. `path` for file systems: absolute, in its shortest form, not `/`.
   * Device names /^[a-z][a-z0-9-]{0,26}$/. Several instances may have a file system; a block volume
   * that another has throws `busy`. A device or path that is taken, and a volume that the instance
   * has already, throw `conflict`.
   */
  attach(name: VolumeName, to: { instance: string; device: string; path: string | null }, options?: CallOptions): Promise<void>
  /**
   * Succeeds when it is not attached. In use by a process of a running instance throws `busy` and
   * leaves it attached; unless `force`.
   */
  detach(name: VolumeName, from: { instance: string; device: string; force?: boolean }, options?: CallOptions): Promise<void>
  /** All that an instance has; nothing of one that is not there. */
  attachedTo(instance: string, options?: CallOptions): Promise<(VolumeName & { device: string; path: string | null })[]>
  readonly snapshots: {
    list(name: VolumeName, options?: CallOptions): Promise<Snapshot[]>
    /** Names as those of volumes. */
    create(name: VolumeName, snapshot: string, options?: CallOptions): Promise<void>
    /** Sets the volume back. Where the driver cannot while a running instance uses it: `busy`. */
    restore(name: VolumeName, snapshot: string, options?: CallOptions): Promise<void>
    /** Succeeds when there is none. */
    delete(name: VolumeName, snapshot: string, options?: CallOptions): Promise<void>
  }
  /**
   * A backup of the volume (not of its snapshots) as one stream, to be imported by an engine of the
   * same kind. To be read or destroyed; the signal ends it as long as it flows.
   */
  export(name: VolumeName, options?: CallOptions): Promise<Readable>
  /**
   * Makes a volume from a backup. One of that name with the same tags is taken for a former import
   * of it. What is no backup, or breaks off, throws `invalid`. The stream is read or destroyed.
   */
  import(spec: Omit<VolumeSpec, 'copyOf' | 'content' | 'sizeBytes'>, backup: Readable, options?: CallOptions): Promise<void>
}
