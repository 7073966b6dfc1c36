import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, named, plainLine } from '../validation.ts'
import { operation } from '../operation.ts'
import { inProject, onEngine, reference, sizeBetween } from '../resource.ts'
import type { VmStatus } from './vm.ts'

export const volumeStatuses = [
  'creating',
  'available',
  'attaching',
  'in_use',
  'detaching',
  'growing',
  'restoring',
  'backing_up',
  'deleting',
  'error',
  'lost',
] as const
export type VolumeStatus = (typeof volumeStatuses)[number]
export const volumeTransitional: readonly VolumeStatus[] = ['creating', 'attaching', 'detaching', 'growing', 'restoring', 'backing_up', 'deleting']

/** What may be done to a volume in which status. */
export const volumeCan = can<VolumeStatus>()({
  attach: ['available'],
  detach: ['in_use'],
  grow: ['available', 'in_use'],
  snapshot: ['available', 'in_use'],
  /** In use only where its instance is stopped, or the pool can (94155). */
  restore: ['available', 'in_use'],
  backup: ['available', 'in_use'],
  rename: ['available', 'in_use', 'error', 'lost'],
  delete: ['available', 'error', 'lost'],
})

/** In which an instance takes a volume, and lets go of one. */
export const volumeVmStatuses = {
  attach: ['running', 'stopped'],
  detach: ['running', 'stopped', 'paused', 'error', 'lost'],
} as const satisfies Readonly<Record<string, readonly VmStatus[]>>

/** `filesystem` is mounted at a path; `block` is a disk, for instances with their own kernel. */
export const volumeContents = ['filesystem', 'block'] as const

/** A disk that lives longer than the instances that use it. */
export const volume = z.object({
  ...onEngine,
  project_id: z.uuid().nullable(),
  status: z.enum(volumeStatuses),
  pool: z.string(),
  content: z.enum(volumeContents),
  size_bytes: z.int(),
  /** Null where the engine cannot tell. */
  used_bytes: z.int().nullable(),
  attached_to: z.object({ vm: reference, path: z.string().nullable() }).nullable(),
  snapshot_count: z.int(),
})
export type Volume = z.output<typeof volume>

/** Absolute, of usual characters, not the root nor what the system needs: where a volume is mounted. */
export const mountPath = z
  .string()
  .trim()
  .max(255)
  .regex(/^(\/[A-Za-z0-9._-]+)+$/, fieldTexts.mountPath)
  .refine(
    (path) => !/^\/(proc|sys|dev|run|boot|bin|sbin|lib|lib64|etc|usr)(\/|$)/.test(path) && !path.split('/').some((part) => part === '.' || part === '..'),
    fieldTexts.mountPathTaken,
  )

const poolName = z.string().trim().min(1).max(63).regex(plainLine, fieldTexts.controlCharacters)
/** A size that a volume may have: a MiB at least. */
const volumeBytes = sizeBetween(2 ** 20, undefined, fieldTexts.volumeSize)
const attachment = z.object({ vm_id: z.uuid(), path: mountPath.nullable().default(null) })
const base = '/api/nextstack/v1/volumes'
const one = { access: tenants, params: byId, status: 202, response: volume } as const

export const volumes = {
  list: defineCall({
    id: 'nextstack.volume.list',
    method: 'GET',
    path: base,
    summary: 'Volumes',
    access: tenants,
    query: listQuery(['name', 'status', 'size_bytes', 'created_at'], {
      cloud_id: z.uuid().optional(),
      vm_id: z.uuid().optional(),
      pool: poolName.optional(),
      status: z.enum(volumeStatuses).optional(),
      bp_id: z.uuid().optional(),
      keyword,
    }),
    response: listOf(volume),
  }),
  get: defineCall({ id: 'nextstack.volume.get', method: 'GET', path: `${base}/{id}`, summary: 'One volume', access: tenants, params: byId, response: volume }),
  create: defineCall({
    id: 'nextstack.volume.create',
    method: 'POST',
    path: base,
    summary: 'Make a volume, empty or from a snapshot or backup, and attach it where asked to',
    also: ({ body }) =>
      body?.attach === undefined
        ? []
        : [{ action: 'nextstack.volume.attach' }, ...actsOn('nextstack.volume.attach', { kind: 'nextstack.vm', id: body.attach.vm_id })],
    access: tenants,
    status: 202,
    body: z
      .object({
        cloud_id: z.uuid(),
        name,
        description: description.default(''),
        ...inProject,
        /** Left out: the snapshot's, else the cloud's default pool. */
        pool: poolName.optional(),
        /** Of one that is made from a snapshot or backup it is that one's, whatever is said here. */
        content: z.enum(volumeContents).default('filesystem'),
        /** At least the snapshot's or backup's. */
        size_bytes: volumeBytes,
        snapshot_id: z.uuid().optional(),
        backup_id: z.uuid().optional(),
        attach: attachment.optional(),
      })
      .refine((value) => value.snapshot_id === undefined || value.backup_id === undefined, { path: ['backup_id'], message: fieldTexts.volumeOneSource }),
    response: volume,
  }),
  update: defineCall({
    id: 'nextstack.volume.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: byId,
    body: named,
    response: volume,
  }),
  attach: defineCall({
    ...one,
    id: 'nextstack.volume.attach',
    method: 'POST',
    path: `${base}/{id}/attach`,
    summary: 'Attach to an instance, also while it runs',
    also: ({ body }) => (body === undefined ? [] : actsOn('nextstack.volume.attach', { kind: 'nextstack.vm', id: body.vm_id })),
    body: attachment,
  }),
  detach: defineCall({
    ...one,
    id: 'nextstack.volume.detach',
    method: 'POST',
    path: `${base}/{id}/detach`,
    summary: 'Detach; refused while a process in the instance uses it (94154), unless forced',
    also: ({ params }) => actsOn('nextstack.volume.detach', { kind: 'nextstack.vm', id: params.id, of: 'nextstack.volume' }),
    body: z.object({ force: z.boolean().default(false) }),
  }),
  grow: defineCall({
    ...one,
    id: 'nextstack.volume.grow',
    method: 'POST',
    path: `${base}/{id}/grow`,
    summary: 'Make it larger',
    body: z.object({ size_bytes: volumeBytes }),
  }),
  restore: defineCall({
    ...one,
    id: 'nextstack.volume.restore',
    method: 'POST',
    path: `${base}/{id}/restore`,
    summary: 'Set it back to one of its snapshots; what was written since is lost',
    body: z.object({ snapshot_id: z.uuid() }),
  }),
  delete: defineCall({ ...one, id: 'nextstack.volume.delete', method: 'DELETE', path: `${base}/{id}`, summary: 'Delete with its snapshots; backups stay' }),
  operations: defineCall({
    id: 'nextstack.volume.operations',
    method: 'GET',
    path: `${base}/{id}/operations`,
    summary: 'What was done to the volume, newest first',
    access: tenants,
    params: byId,
    query: listQuery(['created_at'], {}),
    response: listOf(operation),
  }),
} as const

export const volumeSnapshotStatuses = ['creating', 'available', 'deleting', 'error', 'lost'] as const
export type VolumeSnapshotStatus = (typeof volumeSnapshotStatuses)[number]
export const volumeSnapshotCan = can<VolumeSnapshotStatus>()({
  restore: ['available'],
  createVolume: ['available'],
  rename: ['available', 'error', 'lost'],
  delete: ['available', 'error', 'lost'],
})

export const volumeSnapshot = z.object({
  ...onEngine,
  status: z.enum(volumeSnapshotStatuses),
  volume: reference,
  /** Size of the volume when it was made. */
  size_bytes: z.int(),
})
export type VolumeSnapshot = z.output<typeof volumeSnapshot>

const snapshotsBase = '/api/nextstack/v1/volume-snapshots'

export const volumeSnapshots = {
  list: defineCall({
    id: 'nextstack.volumeSnapshot.list',
    method: 'GET',
    path: snapshotsBase,
    summary: 'Snapshots of volumes',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at'], {
      cloud_id: z.uuid().optional(),
      volume_id: z.uuid().optional(),
      status: z.enum(volumeSnapshotStatuses).optional(),
      keyword,
    }),
    response: listOf(volumeSnapshot),
  }),
  get: defineCall({
    id: 'nextstack.volumeSnapshot.get',
    method: 'GET',
    path: `${snapshotsBase}/{id}`,
    summary: 'One snapshot',
    access: tenants,
    params: byId,
    response: volumeSnapshot,
  }),
  create: defineCall({
    id: 'nextstack.volumeSnapshot.create',
    method: 'POST',
    path: snapshotsBase,
    summary: 'Keep a volume as it is now',
    also: ({ body }) => (body === undefined ? [] : actsOn('nextstack.volumeSnapshot.create', { kind: 'nextstack.volume', id: body.volume_id })),
    access: tenants,
    status: 202,
    body: z.object({ volume_id: z.uuid(), name, description: description.default('') }),
    response: volumeSnapshot,
  }),
  update: defineCall({
    id: 'nextstack.volumeSnapshot.update',
    method: 'PUT',
    path: `${snapshotsBase}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: byId,
    body: named,
    response: volumeSnapshot,
  }),
  delete: defineCall({
    id: 'nextstack.volumeSnapshot.delete',
    method: 'DELETE',
    path: `${snapshotsBase}/{id}`,
    summary: 'Delete a snapshot',
    access: tenants,
    params: byId,
    status: 202,
    response: volumeSnapshot,
  }),
} as const

export const volumeBackupStatuses = ['creating', 'available', 'deleting', 'error'] as const
export type VolumeBackupStatus = (typeof volumeBackupStatuses)[number]
export const volumeBackupCan = can<VolumeBackupStatus>()({
  restore: ['available'],
  download: ['available'],
  delete: ['available', 'error'],
})

/** A volume as a file in the platform's own store: it outlives volume, pool and cloud. */
export const volumeBackup = z.object({
  ...onEngine,
  status: z.enum(volumeBackupStatuses),
  /** Null once the volume is gone, and for uploaded ones. */
  volume: reference.nullable(),
  content: z.enum(volumeContents),
  /** Size of the volume when it was made. */
  size_bytes: z.int(),
  /** Size of the file; null until it is there. */
  file_bytes: z.int().nullable(),
  /** Of the file, hex; null until it is there. */
  sha256: z.string().nullable(),
})
export type VolumeBackup = z.output<typeof volumeBackup>

const backupsBase = '/api/nextstack/v1/volume-backups'

export const volumeBackups = {
  list: defineCall({
    id: 'nextstack.volumeBackup.list',
    method: 'GET',
    path: backupsBase,
    summary: 'Backups of volumes',
    access: tenants,
    query: listQuery(['name', 'status', 'created_at', 'file_bytes'], { cloud_id: z.uuid().optional(), volume_id: z.uuid().optional(), keyword }),
    response: listOf(volumeBackup),
  }),
  get: defineCall({
    id: 'nextstack.volumeBackup.get',
    method: 'GET',
    path: `${backupsBase}/{id}`,
    summary: 'One backup',
    access: tenants,
    params: byId,
    response: volumeBackup,
  }),
  create: defineCall({
    id: 'nextstack.volumeBackup.create',
    method: 'POST',
    path: backupsBase,
    summary: 'Write a volume to a file',
    also: ({ body }) => (body === undefined ? [] : actsOn('nextstack.volumeBackup.create', { kind: 'nextstack.volume', id: body.volume_id })),
    access: tenants,
    status: 202,
    body: z.object({ volume_id: z.uuid(), name, description: description.default('') }),
    response: volumeBackup,
  }),
  delete: defineCall({
    id: 'nextstack.volumeBackup.delete',
    method: 'DELETE',
    path: `${backupsBase}/{id}`,
    summary: 'Delete a backup and its file',
    access: tenants,
    params: byId,
    status: 202,
    response: volumeBackup,
  }),
  /** The file itself lies at `path` for as long as the link works: a browser can save it without a token. */
  download: defineCall({
    id: 'nextstack.volumeBackup.download',
    method: 'POST',
    path: `${backupsBase}/{id}/download`,
    summary: 'A link that gives the file, once it is there; it works for ten minutes',
    access: tenants,
    params: byId,
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
} as const

/** Storage of a cloud, seen by administrators; tenants see names to choose from. */
export const storagePool = z.object({
  id: z.uuid(),
  cloud_id: z.uuid(),
  name: z.string(),
  description: z.string(),
  driver: z.string(),
  shared: z.boolean(),
  status: z.string(),
  total_bytes: z.int(),
  used_bytes: z.int(),
  /** Sizes of all volumes of the platform in it: what it promised. */
  promised_bytes: z.int(),
  volume_count: z.int(),
  enforces_size: z.boolean(),
  members: z.array(z.object({ member: z.string().nullable(), total_bytes: z.int(), used_bytes: z.int() })),
  seen_at: moment,
})
export type StoragePool = z.output<typeof storagePool>

const poolsBase = '/api/nextstack/v1/storage-pools'

export const storagePools = {
  list: defineCall({
    id: 'nextstack.storagePool.list',
    method: 'GET',
    path: poolsBase,
    summary: 'Pools; tenants get names and drivers only',
    access: tenants,
    query: listQuery(['name', 'total_bytes', 'used_bytes'], { cloud_id: z.uuid().optional(), keyword }),
    response: listOf(storagePool),
  }),
  get: defineCall({
    id: 'nextstack.storagePool.get',
    method: 'GET',
    path: `${poolsBase}/{id}`,
    summary: 'One pool',
    access: ['ADMIN'],
    params: byId,
    response: storagePool,
  }),
} as const
