import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, defineCall, empty, flag, moment } from '../define.ts'
import { inProject, sizeBetween } from '../resource.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { lineOf } from '../line.ts'
import { name, named, plainLine } from '../validation.ts'
import { cloudId, engineId, inCloud } from './ids.ts'

/** Cinder's words for what a volume is in; what newer ones say beyond them is `unknown`. */
export const computeVolumeStatuses = [
  'creating',
  'downloading',
  'available',
  'reserved',
  'attaching',
  'detaching',
  'in-use',
  'extending',
  'retyping',
  'uploading',
  'backing-up',
  'restoring-backup',
  'awaiting-transfer',
  'maintenance',
  'managing',
  'unmanaging',
  'deleting',
  'error',
  'error_extending',
  'error_restoring',
  'error_backing-up',
  'error_managing',
  'error_deleting',
  'unknown',
] as const
export type ComputeVolumeStatus = (typeof computeVolumeStatuses)[number]
/** Soon over, by itself. */
export const computeVolumeTransitional: readonly ComputeVolumeStatus[] = [
  'creating',
  'downloading',
  'reserved',
  'attaching',
  'detaching',
  'extending',
  'retyping',
  'uploading',
  'backing-up',
  'restoring-backup',
  'managing',
  'unmanaging',
  'deleting',
]

const atRest = [
  'available',
  'in-use',
  'awaiting-transfer',
  'maintenance',
  'error',
  'error_extending',
  'error_restoring',
  'error_backing-up',
  'error_managing',
  'error_deleting',
  'unknown',
] as const satisfies readonly ComputeVolumeStatus[]

/** What may be done to a volume in which status. */
export const computeVolumeCan = can<ComputeVolumeStatus>()({
  /** In use only one that several instances may have (`multiattach`). */
  attach: ['available', 'in-use'],
  detach: ['in-use'],
  grow: ['available', 'in-use'],
  setBootable: ['available', 'in-use'],
  retype: ['available', 'in-use'],
  transfer: ['available'],
  /** In use only where it is asked for by `force`. */
  toImage: ['available', 'in-use'],
  snapshot: ['available', 'in-use'],
  backup: ['available', 'in-use'],
  /** Another volume is made of it. */
  copy: ['available', 'in-use'],
  /** All of it is overwritten. */
  restoreInto: ['available'],
  update: atRest,
  delete: ['available', 'error', 'error_extending', 'error_restoring', 'error_managing'],
  /** For administrators: what Cinder says of it. */
  resetStatus: [
    ...atRest,
    'creating',
    'downloading',
    'reserved',
    'attaching',
    'detaching',
    'extending',
    'retyping',
    'uploading',
    'backing-up',
    'restoring-backup',
    'managing',
    'unmanaging',
    'deleting',
  ],
})

const gib = 2 ** 30
/** Block storage comes in whole GiB. */
const volumeBytes = sizeBetween(gib, undefined, fieldTexts.computeVolumeSize).multipleOf(gib, fieldTexts.computeVolumeSize)
const plain = z.string().trim().min(1).max(255).regex(plainLine, fieldTexts.controlCharacters)

/** What the cloud tells people about something that failed. */
const message = z.object({ id: z.string(), text: z.string(), at: moment.nullable(), request_id: z.string().nullable() })
export type ComputeStorageMessage = z.output<typeof message>
/** What a page about one thing shows beside it. */
const alongside = {
  /** What those are called that it names by id. */
  names: z.record(z.string(), z.string()),
  /** Newest first. */
  messages: z.array(message),
}

/** A disk that lives longer than the instances that use it, as Cinder keeps it. */
export const computeVolume = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(computeVolumeStatuses),
  /** Cinder's word, for what has none of ours. */
  cloud_status: z.string(),
  size_bytes: z.int(),
  /** The name of its type. */
  type: z.string().nullable(),
  bootable: z.boolean(),
  multiattach: z.boolean(),
  encrypted: z.boolean(),
  zone: z.string(),
  /** What it was made from. */
  image_id: z.string().nullable(),
  image_name: z.string().nullable(),
  snapshot_id: z.string().nullable(),
  source_volume_id: z.string().nullable(),
  attachments: z.array(z.object({ server_id: z.string(), device: z.string(), attached_at: moment.nullable() })),
  keystone_project_id: z.string().nullable(),
  created_at: moment.nullable(),
  updated_at: moment.nullable(),
})
export type ComputeVolume = z.output<typeof computeVolume>

const base = '/api/compute/v1/clouds/{cloud_id}'
const volumesAt = `${base}/volumes`
const oneVolume = { access: tenants, params: inCloud, status: 202, response: computeVolume } as const

export const computeVolumes = {
  list: defineCall({
    id: 'compute.volume.list',
    method: 'GET',
    path: volumesAt,
    summary: 'Volumes of a cloud, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeVolume),
  }),
  get: defineCall({
    id: 'compute.volume.get',
    method: 'GET',
    path: `${volumesAt}/{id}`,
    summary: 'One volume, and what the cloud says of it',
    access: tenants,
    params: inCloud,
    response: computeVolume.extend(alongside),
  }),
  zones: defineCall({
    id: 'compute.volume.zones',
    method: 'GET',
    path: `${base}/volume-zones`,
    summary: 'Where volumes of a cloud can lie',
    access: tenants,
    params: cloudId,
    response: z.object({ items: z.array(z.object({ name: z.string(), available: z.boolean() })) }),
  }),
  create: defineCall({
    id: 'compute.volume.create',
    method: 'POST',
    path: volumesAt,
    summary: 'Make a volume: empty, or of an image, snapshot, volume or backup; what is made of ours lies in its project',
    access: tenants,
    params: cloudId,
    status: 202,
    body: z
      .object({
        ...named.shape,
        ...inProject,
        size_bytes: volumeBytes,
        /** By name; left out: that of what it is made of, else the cloud's default. */
        type: plain.nullable().default(null),
        zone: plain.nullable().default(null),
        image_id: engineId.nullable().default(null),
        snapshot_id: engineId.nullable().default(null),
        volume_id: engineId.nullable().default(null),
        backup_id: engineId.nullable().default(null),
        /** Instances may start from it; of one made of an image it is so by itself. */
        bootable: z.boolean().default(false),
      })
      .refine(({ image_id, snapshot_id, volume_id, backup_id }) => [image_id, snapshot_id, volume_id, backup_id].filter((id) => id !== null).length < 2, {
        path: ['source'],
        error: fieldTexts.computeVolumeSource,
      }),
    response: computeVolume,
  }),
  update: defineCall({
    id: 'compute.volume.update',
    method: 'PUT',
    path: `${volumesAt}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: inCloud,
    body: named,
    response: computeVolume,
  }),
  grow: defineCall({
    ...oneVolume,
    id: 'compute.volume.grow',
    method: 'POST',
    path: `${volumesAt}/{id}/grow`,
    summary: 'Make it larger, also while an instance uses it',
    body: z.object({ size_bytes: volumeBytes }),
  }),
  attach: defineCall({
    ...oneVolume,
    id: 'compute.volume.attach',
    method: 'POST',
    path: `${volumesAt}/{id}/attach`,
    summary: 'Give it to an instance of its project',
    also: ({ body }) => (body === undefined ? [] : [{ action: 'compute.instance.attachVolume', on: { kind: 'compute.instance', id: body.server_id } }]),
    body: z.object({ server_id: engineId }),
  }),
  detach: defineCall({
    ...oneVolume,
    id: 'compute.volume.detach',
    method: 'POST',
    path: `${volumesAt}/{id}/detach`,
    summary: 'Take it from an instance',
    also: ({ body }) => (body === undefined ? [] : [{ action: 'compute.instance.detachVolume', on: { kind: 'compute.instance', id: body.server_id } }]),
    body: z.object({ server_id: engineId }),
  }),
  setBootable: defineCall({
    ...oneVolume,
    status: 200,
    id: 'compute.volume.setBootable',
    method: 'POST',
    path: `${volumesAt}/{id}/bootable`,
    summary: 'Say whether instances may start from it',
    body: z.object({ bootable: z.boolean() }),
  }),
  retype: defineCall({
    ...oneVolume,
    id: 'compute.volume.retype',
    method: 'POST',
    path: `${volumesAt}/{id}/retype`,
    summary: 'Give it another type; `migrate` also where it has to be copied to another place for that',
    body: z.object({ type: plain, migrate: z.boolean().default(false) }),
  }),
  toImage: defineCall({
    id: 'compute.volume.toImage',
    method: 'POST',
    path: `${volumesAt}/{id}/image`,
    summary: 'Make an image of it; `force` also while it is in use',
    also: () => [{ action: 'compute.image.create' }],
    access: tenants,
    params: inCloud,
    status: 202,
    body: z.object({ name, format: z.enum(['raw', 'qcow2']).default('raw'), force: z.boolean().default(false) }),
    response: z.object({ image_id: z.string() }),
  }),
  resetStatus: defineCall({
    ...oneVolume,
    status: 200,
    access: admins,
    id: 'compute.volume.resetStatus',
    method: 'POST',
    path: `${volumesAt}/{id}/reset-status`,
    summary: 'Set what the cloud says of its state, where it is wrong; changes nothing else',
    body: z.object({ status: z.enum(['available', 'in-use', 'error']) }),
  }),
  delete: defineCall({
    id: 'compute.volume.delete',
    method: 'DELETE',
    path: `${volumesAt}/{id}`,
    summary: 'Delete; with its snapshots where `cascade` says so; backups stay',
    access: tenants,
    params: inCloud,
    status: 202,
    query: z.object({ cascade: flag.optional() }),
    response: computeVolume,
  }),
} as const

/** What a cloud offers volumes as. */
export const computeVolumeType = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  public: z.boolean(),
  /** Its volumes may be given to several instances. */
  multiattach: z.boolean(),
})
export type ComputeVolumeType = z.output<typeof computeVolumeType>

export const computeVolumeTypes = {
  list: defineCall({
    id: 'compute.volumeType.list',
    method: 'GET',
    path: `${base}/volume-types`,
    summary: 'Types that volumes of a cloud can have, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeVolumeType),
  }),
} as const

export const computeSnapshotStatuses = [
  'creating',
  'available',
  'backing-up',
  'restoring',
  'unmanaging',
  'deleting',
  'error',
  'error_deleting',
  'unknown',
] as const
export type ComputeSnapshotStatus = (typeof computeSnapshotStatuses)[number]
export const computeSnapshotTransitional: readonly ComputeSnapshotStatus[] = ['creating', 'backing-up', 'restoring', 'unmanaging', 'deleting']
export const computeSnapshotCan = can<ComputeSnapshotStatus>()({
  createVolume: ['available'],
  backup: ['available'],
  update: ['available', 'error', 'error_deleting', 'unknown'],
  delete: ['available', 'error'],
  /** For administrators: what Cinder says of it. */
  resetStatus: computeSnapshotStatuses,
})

/** A volume as it was. */
export const computeVolumeSnapshot = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(computeSnapshotStatuses),
  cloud_status: z.string(),
  /** Of the volume when it was made. */
  size_bytes: z.int(),
  volume_id: z.string(),
  /** From 0 to 1; null where the cloud does not tell. */
  progress: z.number().nullable(),
  keystone_project_id: z.string().nullable(),
  created_at: moment.nullable(),
  updated_at: moment.nullable(),
})
export type ComputeVolumeSnapshot = z.output<typeof computeVolumeSnapshot>

const snapshotsAt = `${base}/volume-snapshots`
/** What is written by its instance meanwhile may be missing in it: asked for in full knowledge. */
const force = z.boolean().default(false)

/** What the cloud may be told to say of what is kept. */
const keptStatus = z.object({ status: z.enum(['available', 'error']) })

export const computeVolumeSnapshots = {
  list: defineCall({
    id: 'compute.volumeSnapshot.list',
    method: 'GET',
    path: snapshotsAt,
    summary: 'Snapshots of volumes, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeVolumeSnapshot),
  }),
  get: defineCall({
    id: 'compute.volumeSnapshot.get',
    method: 'GET',
    path: `${snapshotsAt}/{id}`,
    summary: 'One snapshot, and what the cloud says of it',
    access: tenants,
    params: inCloud,
    response: computeVolumeSnapshot.extend(alongside),
  }),
  create: defineCall({
    id: 'compute.volumeSnapshot.create',
    method: 'POST',
    path: snapshotsAt,
    summary: 'Keep a volume as it is now; of one in use only with `force`',
    also: ({ body }) => (body === undefined ? [] : actsOn('compute.volumeSnapshot.create', { kind: 'compute.volume', id: body.volume_id })),
    access: tenants,
    params: cloudId,
    status: 202,
    body: z.object({ ...named.shape, volume_id: engineId, force }),
    response: computeVolumeSnapshot,
  }),
  update: defineCall({
    id: 'compute.volumeSnapshot.update',
    method: 'PUT',
    path: `${snapshotsAt}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: inCloud,
    body: named,
    response: computeVolumeSnapshot,
  }),
  resetStatus: defineCall({
    id: 'compute.volumeSnapshot.resetStatus',
    method: 'POST',
    path: `${snapshotsAt}/{id}/reset-status`,
    summary: 'Set what the cloud says of its state, where it is wrong; changes nothing else',
    access: admins,
    params: inCloud,
    body: keptStatus,
    response: computeVolumeSnapshot,
  }),
  delete: defineCall({
    id: 'compute.volumeSnapshot.delete',
    method: 'DELETE',
    path: `${snapshotsAt}/{id}`,
    summary: 'Delete a snapshot',
    access: tenants,
    params: inCloud,
    status: 202,
    response: computeVolumeSnapshot,
  }),
} as const

export const computeBackupStatuses = ['creating', 'available', 'restoring', 'deleting', 'error', 'error_deleting', 'unknown'] as const
export type ComputeBackupStatus = (typeof computeBackupStatuses)[number]
export const computeBackupTransitional: readonly ComputeBackupStatus[] = ['creating', 'restoring', 'deleting']
export const computeBackupCan = can<ComputeBackupStatus>()({
  restore: ['available'],
  createVolume: ['available'],
  update: ['available', 'error', 'error_deleting', 'unknown'],
  /** Not before those that build on it (`has_dependents`). */
  delete: ['available', 'error'],
  /** For administrators: what Cinder says of it. */
  resetStatus: computeBackupStatuses,
})

/** A volume in the cloud's store of backups: it outlives the volume. */
export const computeVolumeBackup = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(computeBackupStatuses),
  cloud_status: z.string(),
  /** Of the volume when it was made. */
  size_bytes: z.int(),
  volume_id: z.string(),
  snapshot_id: z.string().nullable(),
  /** Only what changed since the one before, without which it is worth nothing. */
  incremental: z.boolean(),
  has_dependents: z.boolean(),
  /** Cinder's words. */
  failure: z.string().nullable(),
  keystone_project_id: z.string().nullable(),
  /** The moment that it shows; older than `created_at` where it was made of a snapshot. */
  data_at: moment.nullable(),
  created_at: moment.nullable(),
  updated_at: moment.nullable(),
})
export type ComputeVolumeBackup = z.output<typeof computeVolumeBackup>

const backupsAt = `${base}/volume-backups`

export const computeVolumeBackups = {
  list: defineCall({
    id: 'compute.volumeBackup.list',
    method: 'GET',
    path: backupsAt,
    summary: 'Backups of volumes, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeVolumeBackup),
  }),
  get: defineCall({
    id: 'compute.volumeBackup.get',
    method: 'GET',
    path: `${backupsAt}/{id}`,
    summary: 'One backup, and what the cloud says of it',
    access: tenants,
    params: inCloud,
    response: computeVolumeBackup.extend(alongside),
  }),
  create: defineCall({
    id: 'compute.volumeBackup.create',
    method: 'POST',
    path: backupsAt,
    summary: 'Back up a volume, or one of its snapshots: whole, or what changed since the last backup; of one in use only with `force`',
    also: ({ body }) => (body === undefined ? [] : actsOn('compute.volumeBackup.create', { kind: 'compute.volume', id: body.volume_id })),
    access: tenants,
    params: cloudId,
    status: 202,
    body: z.object({ ...named.shape, volume_id: engineId, snapshot_id: engineId.nullable().default(null), incremental: z.boolean().default(false), force }),
    response: computeVolumeBackup,
  }),
  update: defineCall({
    id: 'compute.volumeBackup.update',
    method: 'PUT',
    path: `${backupsAt}/{id}`,
    summary: 'Change name and description',
    access: tenants,
    params: inCloud,
    body: named,
    response: computeVolumeBackup,
  }),
  restore: defineCall({
    id: 'compute.volumeBackup.restore',
    method: 'POST',
    path: `${backupsAt}/{id}/restore`,
    summary: 'Write it to a volume, all of which is overwritten, or to a new one',
    also: ({ body }) =>
      body === undefined
        ? []
        : body.volume_id === null
          ? [{ action: 'compute.volume.create' }]
          : actsOn('compute.volumeBackup.restore', { kind: 'compute.volume', id: body.volume_id }),
    access: tenants,
    params: inCloud,
    status: 202,
    body: z.object({
      /** Null: a new one. */
      volume_id: engineId.nullable(),
      /** Of the new one. */
      name: name.nullable().default(null),
    }),
    response: z.object({ volume_id: z.string() }),
  }),
  resetStatus: defineCall({
    id: 'compute.volumeBackup.resetStatus',
    method: 'POST',
    path: `${backupsAt}/{id}/reset-status`,
    summary: 'Set what the cloud says of its state, where it is wrong; changes nothing else',
    access: admins,
    params: inCloud,
    body: keptStatus,
    response: computeVolumeBackup,
  }),
  delete: defineCall({
    id: 'compute.volumeBackup.delete',
    method: 'DELETE',
    path: `${backupsAt}/{id}`,
    summary: 'Delete a backup that no other builds on',
    access: tenants,
    params: inCloud,
    status: 202,
    response: computeVolumeBackup,
  }),
} as const

/** A volume that is offered to whoever has the key. */
export const computeVolumeTransfer = z.object({ id: z.string(), name: z.string(), volume_id: z.string(), created_at: moment.nullable() })
export type ComputeVolumeTransfer = z.output<typeof computeVolumeTransfer>

const transfersAt = `${base}/volume-transfers`

export const computeVolumeTransfers = {
  list: defineCall({
    id: 'compute.volumeTransfer.list',
    method: 'GET',
    path: transfersAt,
    summary: 'Volumes that are offered, in lines',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeVolumeTransfer),
  }),
  create: defineCall({
    id: 'compute.volumeTransfer.create',
    method: 'POST',
    path: transfersAt,
    summary: 'Offer a volume to another project; the key is told this once',
    also: ({ body }) => (body === undefined ? [] : actsOn('compute.volumeTransfer.create', { kind: 'compute.volume', id: body.volume_id })),
    access: tenants,
    params: cloudId,
    status: 201,
    body: z.object({ volume_id: engineId, name }),
    response: computeVolumeTransfer.extend({ auth_key: z.string() }),
  }),
  accept: defineCall({
    id: 'compute.volumeTransfer.accept',
    method: 'POST',
    path: `${transfersAt}/{id}/accept`,
    summary: 'Take a volume that another project offers',
    access: tenants,
    params: inCloud,
    body: z.object({ ...inProject, auth_key: plain }),
    response: z.object({ volume_id: z.string() }),
  }),
  delete: defineCall({
    id: 'compute.volumeTransfer.delete',
    method: 'DELETE',
    path: `${transfersAt}/{id}`,
    summary: 'Take an offer back',
    access: tenants,
    params: inCloud,
    response: empty,
  }),
} as const
