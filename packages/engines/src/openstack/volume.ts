import { z } from 'zod'
import { limitSet, quotaSet, type Quota } from './compute.ts'
import type { Query, Session } from './session.ts'
import { below } from './versions.ts'

const text = z.string().nullish()
// Cinder tells times without saying that they are UTC.
const time = text.transform((value) => (value === null || value === undefined ? null : new Date(/Z|[+-]\d\d:?\d\d$/.test(value) ? value : `${value}Z`)))
const strings = z.record(z.string(), z.string()).nullish()
const bootable = z.union([z.boolean(), z.string().transform((value) => value === 'true')]).nullish()

/**
 * What Cinder makes for itself while it backs up something that is in use, and takes away again. It says so since 3.65
 * (`consumes_quota`); before, only by the name that it gives (cinder/volume/manager.py).
 */
const isTemporary = (
  raw: { readonly name?: string | null | undefined; readonly consumes_quota?: boolean | null | undefined },
  prefix: 'backup-vol-' | 'backup-snap-',
): boolean => raw.consumes_quota === false || (raw.consumes_quota !== true && raw.name?.startsWith(prefix) === true && uuid.test(raw.name.slice(prefix.length)))
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Block Storage API v3, "Volumes". */
const volume = z
  .object({
    id: z.string(),
    name: text,
    description: text,
    status: z.string(),
    size: z.number(),
    volume_type: text,
    bootable,
    multiattach: z.boolean().nullish(),
    encrypted: z.boolean().nullish(),
    availability_zone: text,
    snapshot_id: text,
    source_volid: text,
    metadata: strings,
    volume_image_metadata: strings,
    consumes_quota: z.boolean().nullish(),
    attachments: z.array(z.object({ server_id: z.string(), device: text, attachment_id: text, attached_at: time })).nullish(),
    created_at: time,
    updated_at: time,
    'os-vol-tenant-attr:tenant_id': text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    /** Cinder's word: `creating`, `available`, `in-use`, `error_deleting` … */
    status: raw.status,
    sizeGib: raw.size,
    type: raw.volume_type ?? null,
    bootable: raw.bootable === true,
    temporary: isTemporary(raw, 'backup-vol-'),
    multiattach: raw.multiattach === true,
    encrypted: raw.encrypted === true,
    zone: raw.availability_zone ?? '',
    snapshotId: raw.snapshot_id ?? null,
    sourceVolumeId: raw.source_volid ?? null,
    imageId: raw.volume_image_metadata?.['image_id'] ?? null,
    imageName: raw.volume_image_metadata?.['image_name'] ?? null,
    metadata: raw.metadata ?? {},
    attachments: (raw.attachments ?? []).map((one) => ({ serverId: one.server_id, device: one.device ?? '', attachedAt: one.attached_at })),
    projectId: raw['os-vol-tenant-attr:tenant_id'] ?? null,
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  }))
export type Volume = z.output<typeof volume>

/** `42%`. */
const share = (progress: string | null | undefined): number | null => {
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(progress ?? '') ?? []
  return percent === undefined ? null : Number(percent) / 100
}

const snapshot = z
  .object({
    id: z.string(),
    name: text,
    description: text,
    status: z.string(),
    size: z.number(),
    volume_id: z.string(),
    created_at: time,
    updated_at: time,
    metadata: strings,
    consumes_quota: z.boolean().nullish(),
    'os-extended-snapshot-attributes:progress': text,
    'os-extended-snapshot-attributes:project_id': text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    status: raw.status,
    sizeGib: raw.size,
    volumeId: raw.volume_id,
    metadata: raw.metadata ?? {},
    temporary: isTemporary(raw, 'backup-snap-'),
    /** From 0 to 1; null where it does not tell. */
    progress: share(raw['os-extended-snapshot-attributes:progress']),
    projectId: raw['os-extended-snapshot-attributes:project_id'] ?? null,
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  }))
export type VolumeSnapshot = z.output<typeof snapshot>

const backup = z
  .object({
    id: z.string(),
    name: text,
    description: text,
    status: z.string(),
    size: z.number().nullish(),
    volume_id: z.string(),
    snapshot_id: text,
    is_incremental: z.boolean().nullish(),
    has_dependent_backups: z.boolean().nullish(),
    fail_reason: text,
    data_timestamp: time,
    created_at: time,
    updated_at: time,
    'os-backup-project-attr:project_id': text,
  })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name ?? '',
    description: raw.description ?? '',
    status: raw.status,
    sizeGib: raw.size ?? 0,
    volumeId: raw.volume_id,
    snapshotId: raw.snapshot_id ?? null,
    incremental: raw.is_incremental === true,
    /** It cannot be deleted before those that build on it. */
    hasDependents: raw.has_dependent_backups === true,
    failure: raw.fail_reason === '' ? null : (raw.fail_reason ?? null),
    /** Told to the cloud's administrators only. */
    projectId: raw['os-backup-project-attr:project_id'] ?? null,
    /** The moment that it shows. */
    dataAt: raw.data_timestamp,
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  }))
export type Backup = z.output<typeof backup>

const volumeType = z
  .object({ id: z.string(), name: z.string(), description: text, is_public: z.boolean().nullish(), extra_specs: z.record(z.string(), z.string()).nullish() })
  .transform((raw) => ({
    id: raw.id,
    name: raw.name,
    description: raw.description ?? '',
    public: raw.is_public !== false,
    multiattach: raw.extra_specs?.['multiattach'] === '<is> True',
    extraSpecs: raw.extra_specs ?? {},
  }))
export type VolumeType = z.output<typeof volumeType>

const transfer = z
  .object({ id: z.string(), name: text, volume_id: z.string(), auth_key: text, created_at: time })
  .transform((raw) => ({ id: raw.id, name: raw.name ?? '', volumeId: raw.volume_id, authKey: raw.auth_key ?? null, createdAt: raw.created_at }))
export type VolumeTransfer = z.output<typeof transfer>

/** Block Storage API v3, "Messages": what people are told about something that failed. */
const message = z
  .object({ id: z.string(), user_message: text, request_id: text, created_at: time })
  .transform((raw) => ({ id: raw.id, text: raw.user_message ?? '', requestId: raw.request_id ?? null, createdAt: raw.created_at }))
export type VolumeMessage = z.output<typeof message>

const zone = z.object({ zoneName: z.string(), zoneState: z.object({ available: z.boolean() }) })

export interface VolumeWish {
  readonly name: string
  readonly sizeGib: number
  readonly description?: string
  readonly type?: string
  readonly zone?: string
  readonly from?: { readonly imageId: string } | { readonly snapshotId: string } | { readonly volumeId: string } | { readonly backupId: string }
  readonly metadata?: Readonly<Record<string, string>>
}

const named = z.object({ id: z.string(), name: text }).transform((raw) => ({ id: raw.id, name: raw.name ?? '' }))

const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join('/')}`
/** Since microversion 3.55: with pages, and volumes with their snapshots. */
const newTransfers = '/volume-transfers'
const sourceOf = (from: VolumeWish['from']) => {
  if (from === undefined) return {}
  if ('imageId' in from) return { imageRef: from.imageId }
  if ('snapshotId' in from) return { snapshot_id: from.snapshotId }
  return 'volumeId' in from ? { source_volid: from.volumeId } : { backup_id: from.backupId }
}

/** Cinder (Block Storage API v3, https://docs.openstack.org/api-ref/block-storage/v3/). What is begun is not done when a call returns: look at the status. */
export function createVolumes(session: Session) {
  const act = (id: string, body: object, signal?: AbortSignal) => session.done('volume', { method: 'POST', path: path('volumes', id, 'action'), body, signal })
  const transfersAt = async (signal: AbortSignal | undefined): Promise<string> =>
    below(await session.version('volume', signal), [3, 55]) ? '/os-volume-transfer' : newTransfers
  return {
    volumes: {
      /** @param query filters: `name`, `status`, `all_tenants` … */
      list: (query: Query = {}, signal?: AbortSignal) => session.pages('volume', { path: '/volumes/detail', key: 'volumes', schema: volume, query, signal }),
      /** Ids and names only. */
      names: (query: Query = {}, signal?: AbortSignal) =>
        session.pages('volume', { path: '/volumes', key: 'volumes', schema: named, query, pageSize: 1000, signal }),
      async get(id: string, signal?: AbortSignal): Promise<Volume> {
        return (await session.json('volume', z.object({ volume }), { path: path('volumes', id), signal })).volume
      },
      async create(wish: VolumeWish, signal?: AbortSignal): Promise<Volume> {
        const body = {
          volume: {
            name: wish.name,
            size: wish.sizeGib,
            ...sourceOf(wish.from),
            ...(wish.description !== undefined && { description: wish.description }),
            ...(wish.type !== undefined && { volume_type: wish.type }),
            ...(wish.zone !== undefined && { availability_zone: wish.zone }),
            ...(wish.metadata !== undefined && { metadata: wish.metadata }),
          },
        }
        return (await session.json('volume', z.object({ volume }), { method: 'POST', path: '/volumes', body, signal })).volume
      },
      async update(id: string, changes: { name?: string; description?: string }, signal?: AbortSignal): Promise<Volume> {
        return (await session.json('volume', z.object({ volume }), { method: 'PUT', path: path('volumes', id), body: { volume: changes }, signal })).volume
      },
      /** @param cascade with its snapshots @throws OpenStackError `busy` of one in use */
      delete: (id: string, cascade = false, signal?: AbortSignal) =>
        session.done('volume', { method: 'DELETE', path: path('volumes', id), query: { cascade: cascade || undefined }, signal }),
      extend: (id: string, sizeGib: number, signal?: AbortSignal) => act(id, { 'os-extend': { new_size: sizeGib } }, signal),
      setBootable: (id: string, value: boolean, signal?: AbortSignal) => act(id, { 'os-set_bootable': { bootable: value } }, signal),
      retype: (id: string, type: string, migrate: boolean, signal?: AbortSignal) =>
        act(id, { 'os-retype': { new_type: type, migration_policy: migrate ? 'on-demand' : 'never' } }, signal),
      /** For administrators: what Cinder says of it, not what it is. */
      resetStatus: (id: string, status: string, signal?: AbortSignal) => act(id, { 'os-reset_status': { status } }, signal),
      /** @returns the id of the image that is being made of it */
      async toImage(id: string, wish: { name: string; diskFormat?: 'raw' | 'qcow2'; force?: boolean }, signal?: AbortSignal): Promise<string> {
        const body = {
          'os-volume_upload_image': { image_name: wish.name, disk_format: wish.diskFormat ?? 'raw', container_format: 'bare', force: wish.force === true },
        }
        const answer = await session.json('volume', z.object({ 'os-volume_upload_image': z.object({ image_id: z.string() }) }), {
          method: 'POST',
          path: path('volumes', id, 'action'),
          body,
          signal,
        })
        return answer['os-volume_upload_image'].image_id
      },
    },
    types: {
      list: (query: Query = {}, signal?: AbortSignal) => session.pages('volume', { path: '/types', key: 'volume_types', schema: volumeType, query, signal }),
      async create(wish: { name: string; description?: string; extraSpecs?: Readonly<Record<string, string>> }, signal?: AbortSignal): Promise<VolumeType> {
        const body = {
          volume_type: {
            name: wish.name,
            ...(wish.description !== undefined && { description: wish.description }),
            ...(wish.extraSpecs !== undefined && { extra_specs: wish.extraSpecs }),
          },
        }
        return (await session.json('volume', z.object({ volume_type: volumeType }), { method: 'POST', path: '/types', body, signal })).volume_type
      },
      delete: (id: string, signal?: AbortSignal) => session.done('volume', { method: 'DELETE', path: path('types', id), signal }),
    },
    snapshots: {
      list: (query: Query = {}, signal?: AbortSignal) =>
        session.pages('volume', { path: '/snapshots/detail', key: 'snapshots', schema: snapshot, query, signal }),
      async get(id: string, signal?: AbortSignal): Promise<VolumeSnapshot> {
        return (await session.json('volume', z.object({ snapshot }), { path: path('snapshots', id), signal })).snapshot
      },
      /** @param wish.force also of a volume in use: what the guest had not written yet is missing. Newer Cinders allow that always */
      async create(wish: { volumeId: string; name: string; description?: string; force?: boolean }, signal?: AbortSignal): Promise<VolumeSnapshot> {
        const body = {
          snapshot: {
            volume_id: wish.volumeId,
            name: wish.name,
            ...(wish.force === true && { force: true }),
            ...(wish.description !== undefined && { description: wish.description }),
          },
        }
        return (await session.json('volume', z.object({ snapshot }), { method: 'POST', path: '/snapshots', body, signal })).snapshot
      },
      async update(id: string, changes: { name?: string; description?: string }, signal?: AbortSignal): Promise<VolumeSnapshot> {
        return (await session.json('volume', z.object({ snapshot }), { method: 'PUT', path: path('snapshots', id), body: { snapshot: changes }, signal }))
          .snapshot
      },
      delete: (id: string, signal?: AbortSignal) => session.done('volume', { method: 'DELETE', path: path('snapshots', id), signal }),
      /** For administrators: what Cinder says of it, not what it is. */
      resetStatus: (id: string, status: string, signal?: AbortSignal) =>
        session.done('volume', { method: 'POST', path: path('snapshots', id, 'action'), body: { 'os-reset_status': { status } }, signal }),
    },
    backups: {
      /** For administrators: what Cinder says of it, not what it is. */
      resetStatus: (id: string, status: string, signal?: AbortSignal) =>
        session.done('volume', { method: 'POST', path: path('backups', id, 'action'), body: { 'os-reset_status': { status } }, signal }),
      list: (query: Query = {}, signal?: AbortSignal) => session.pages('volume', { path: '/backups/detail', key: 'backups', schema: backup, query, signal }),
      async get(id: string, signal?: AbortSignal): Promise<Backup> {
        return (await session.json('volume', z.object({ backup }), { path: path('backups', id), signal })).backup
      },
      /** @returns the id of the backup. @param wish.incremental only what changed since the last one, which there has to be */
      async create(
        wish: { volumeId: string; name: string; description?: string; incremental?: boolean; force?: boolean; snapshotId?: string },
        signal?: AbortSignal,
      ): Promise<string> {
        const body = {
          backup: {
            volume_id: wish.volumeId,
            name: wish.name,
            incremental: wish.incremental === true,
            force: wish.force === true,
            ...(wish.description !== undefined && { description: wish.description }),
            ...(wish.snapshotId !== undefined && { snapshot_id: wish.snapshotId }),
          },
        }
        return (await session.json('volume', z.object({ backup: z.object({ id: z.string() }) }), { method: 'POST', path: '/backups', body, signal })).backup.id
      },
      update: (id: string, changes: { name?: string; description?: string }, signal?: AbortSignal) =>
        session.done('volume', { method: 'PUT', path: path('backups', id), body: { backup: changes }, signal }),
      /** Into a volume, all of which is overwritten, or into a new one. @returns the id of the volume */
      async restore(id: string, into: { volumeId: string } | { name: string }, signal?: AbortSignal): Promise<string> {
        const restore = 'volumeId' in into ? { volume_id: into.volumeId } : { name: into.name }
        return (
          await session.json('volume', z.object({ restore: z.object({ volume_id: z.string() }) }), {
            method: 'POST',
            path: path('backups', id, 'restore'),
            body: { restore },
            signal,
          })
        ).restore.volume_id
      },
      delete: (id: string, signal?: AbortSignal) => session.done('volume', { method: 'DELETE', path: path('backups', id), signal }),
    },
    transfers: {
      async *list(query: Query = {}, signal?: AbortSignal): AsyncGenerator<VolumeTransfer[], void, void> {
        const at = await transfersAt(signal)
        if (at === newTransfers) return yield* session.pages('volume', { path: `${at}/detail`, key: 'transfers', schema: transfer, query, signal })
        // It takes the size of a page for a filter.
        const { transfers } = await session.json('volume', z.object({ transfers: z.array(transfer) }), { path: `${at}/detail`, query, signal })
        if (transfers.length > 0) yield transfers
      },
      /** With its snapshots. @returns with the key that the other project needs: it is told this once */
      async create(wish: { volumeId: string; name: string }, signal?: AbortSignal): Promise<VolumeTransfer> {
        return (
          await session.json('volume', z.object({ transfer }), {
            method: 'POST',
            path: await transfersAt(signal),
            body: { transfer: { volume_id: wish.volumeId, name: wish.name } },
            signal,
          })
        ).transfer
      },
      async get(id: string, signal?: AbortSignal): Promise<VolumeTransfer> {
        return (await session.json('volume', z.object({ transfer }), { path: `${await transfersAt(signal)}${path(id)}`, signal })).transfer
      },
      /** By the project that takes it. @returns the id of the volume */
      async accept(id: string, authKey: string, signal?: AbortSignal): Promise<string> {
        const { transfer: taken } = await session.json('volume', z.object({ transfer: z.object({ volume_id: z.string() }) }), {
          method: 'POST',
          path: `${await transfersAt(signal)}${path(id, 'accept')}`,
          body: { accept: { auth_key: authKey } },
          signal,
        })
        return taken.volume_id
      },
      delete: async (id: string, signal?: AbortSignal) => session.done('volume', { method: 'DELETE', path: `${await transfersAt(signal)}${path(id)}`, signal }),
    },
    /** What the cloud tells people about one volume, snapshot or backup that something failed with. */
    messages: (resourceId: string, signal?: AbortSignal) =>
      session.pages('volume', { path: '/messages', key: 'messages', schema: message, query: { resource_uuid: resourceId }, signal }),
    async zones(signal?: AbortSignal): Promise<{ name: string; available: boolean }[]> {
      const { availabilityZoneInfo } = await session.json('volume', z.object({ availabilityZoneInfo: z.array(zone) }), {
        path: '/os-availability-zone',
        signal,
      })
      return availabilityZoneInfo.map(({ zoneName, zoneState }) => ({ name: zoneName, available: zoneState.available }))
    },
    quotas: {
      /** `volumes`, `gigabytes`, `snapshots`, `backups` and others, also by type. */
      async get(projectId: string, signal?: AbortSignal): Promise<Record<string, Quota>> {
        return (await session.json('volume', z.object({ quota_set: quotaSet }), { path: path('os-quota-sets', projectId), query: { usage: true }, signal }))
          .quota_set
      },
      /** What those have at most that nothing was set for; any project's id asks for them. */
      async defaults(projectId: string, signal?: AbortSignal): Promise<Record<string, number | null>> {
        return (await session.json('volume', z.object({ quota_set: limitSet }), { path: path('os-quota-sets', projectId, 'defaults'), signal })).quota_set
      },
      set: (projectId: string, limits: Readonly<Record<string, number>>, signal?: AbortSignal) =>
        session.done('volume', { method: 'PUT', path: path('os-quota-sets', projectId), body: { quota_set: limits }, signal }),
    },
  }
}
export type Volumes = ReturnType<typeof createVolumes>
