import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { volumeBackupCan, volumeCan, volumeSnapshotCan, type Volume, type VolumeStatus, type volumes } from '@zhisuan/contract/nextstack/volume'
import { authoredBy, platformScope, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import { holdVm } from '../vpc/address.store.ts'
import type { StoragePools } from './pool.service.ts'
import { findPool, type StoragePoolRow } from './pool.store.ts'
import * as backups from './volume-backup.store.ts'
import * as snapshots from './volume-snapshot.store.ts'
import { placeFor, refuseUnlessReleased, type Release } from './volume.attachments.ts'
import { engineNameOf } from './volume.facts.ts'
import type { VolumeOperations } from './volume.operations.ts'
import * as store from './volume.store.ts'
import type { ShownVolume, VolumeRow } from './volume.store.ts'

type Calls = typeof volumes

export type VolumeService = ReturnType<typeof createVolumeService>

export function createVolumeService(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: { clouds: CloudService; quotas: QuotaService; pools: Pick<StoragePools, 'choose'>; operations: VolumeOperations },
) {
  const { db } = platform
  const { clouds, quotas, pools, operations } = parts

  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<Volume> => shape(found(await store.getVolume(tx, scopeOf(actor), id)))

  /**
   * Begins an operation: the row locked, the state checked, the status passing, the operation
   * recorded and enqueued, all in one transaction.
   * @param hold holds what comes before the volume: its instance
   * @param prepare what the row says meanwhile, and what the operation is told
   */
  const begin = <Input, Held>(
    actor: Actor,
    id: string,
    action: keyof typeof volumeCan,
    definition: OperationDefinition<Input>,
    status: VolumeStatus,
    hold: (tx: Tx, volume: ShownVolume) => Promise<Held>,
    prepare: (tx: Tx, volume: VolumeRow, held: Held) => Promise<{ input: Input; changes?: Parameters<typeof store.updateVolume>[2] }>,
  ): Promise<Volume> =>
    db.transaction().execute(async (tx) => {
      const seen = found(await store.getVolume(tx, scopeOf(actor), id))
      // The cloud first, then the instance, then the volume, as whoever removes one of them does.
      await clouds.forChange(tx, seen.cloud_id)
      const held = await hold(tx, seen)
      const volume = found(await store.lockVolume(tx, scopeOf(actor), id))
      refuseUnless(volumeCan[action], volume)
      await snapshots.refuseWhileBusy(tx, id)
      const { input, changes } = await prepare(tx, volume, held)
      await platform.operations.begin(tx, definition, { resource_id: id, bp_id: volume.bp_id, actor, input })
      await store.updateVolume(tx, id, { ...changes, status, error_text: null })
      // As it is now: once this commits, the operation may end before anybody looks.
      return shownNow(tx, actor, id)
    })

  /** What a volume is made of, held until it is known to be made of it. */
  const sourceOf = async (
    tx: Tx,
    scope: Scope,
    body: BodyOf<Calls['create']>,
  ): Promise<{ content: Volume['content']; size_bytes: number; pool?: string; node: string | null } | null> => {
    if (body.snapshot_id !== undefined) {
      const seen = await snapshots.getSnapshot(tx, scope, body.snapshot_id)
      if (seen === undefined || seen.cloud_id !== body.cloud_id) throw new Refusal('notFound', { field: 'snapshot_id' })
      const volume = found(await store.lockVolume(tx, scope, seen.volume_id))
      const snapshot = await snapshots.lockSnapshot(tx, scope, body.snapshot_id)
      if (snapshot === undefined) throw new Refusal('notFound', { field: 'snapshot_id' })
      refuseUnless(volumeSnapshotCan.createVolume, snapshot, 'snapshot_id')
      if (!['available', 'in_use'].includes(volume.status)) throw new Refusal('operationRunning', { field: 'snapshot_id' })
      return { content: volume.content, size_bytes: snapshot.size_bytes, pool: volume.pool, node: volume.node }
    }
    if (body.backup_id === undefined) return null
    const backup = await backups.lockBackup(tx, scope, body.backup_id)
    if (backup === undefined) throw new Refusal('notFound', { field: 'backup_id' })
    refuseUnless(volumeBackupCan.restore, backup, 'backup_id')
    return { content: backup.content, size_bytes: backup.size_bytes, node: null }
  }

  /** With its instance. What something is made of, or being done to, stays. */
  const release: Release = async (tx, { id, bp_id }, by) => {
    if (await store.isBeingCopied(tx, { volume_id: id })) return
    if (await snapshots.isBusy(tx, id)) return
    await platform.operations.begin(tx, operations.delete, { resource_id: id, bp_id, actor: by, input: {} })
    await store.updateVolume(tx, id, { status: 'deleting', error_text: null })
  }

  return {
    release,

    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listVolumes(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<Volume> {
      return shape(found(await store.getVolume(db, scopeOf(actor), id)))
    },

    /** For the platform, in a transaction of its own. */
    async find(on: Sql, scope: Scope, id: string): Promise<Volume | undefined> {
      const row = await store.getVolume(on, scope, id)
      return row === undefined ? undefined : shape(row)
    },

    /** @param also in the same transaction: where it throws, nothing was made */
    async create(actor: Actor, body: BodyOf<Calls['create']>, also: (tx: Tx, made: Volume) => Promise<void> = async () => undefined): Promise<Volume> {
      refuseOwnerless(scopeOf(actor))
      const id = uuidv7()
      const chosen = body.snapshot_id === undefined || body.pool !== undefined ? await unrecorded(() => pools.choose(body.cloud_id, body.pool)) : null
      return asNamed('attach.path', () =>
        db.transaction().execute(async (tx) => {
          const cloud = await clouds.forChange(tx, body.cloud_id)
          if (cloud.product !== 'nextstack') throw new Refusal('cloudProductUnsupported', { field: 'cloud_id' })
          const owner = await quotas.ownerOf(tx, actor, body.project_id)
          // The instance before what the volume is made of.
          if (body.attach !== undefined) await holdVm(tx, body.attach.vm_id)
          const source = await sourceOf(tx, scopeOf(actor), body)
          const content = source?.content ?? body.content
          const place =
            body.attach === undefined
              ? null
              : await placeFor(tx, scopeOf(actor), { cloud_id: body.cloud_id, bp_id: owner.bp_id, content, node: source?.node ?? null }, body.attach, 'attach.')
          if (source !== null && source.size_bytes > body.size_bytes)
            throw new Refusal('volumeBelowSource', { field: 'size_bytes', values: { size: gibibytes(source.size_bytes) } })
          if (source?.pool !== undefined && chosen !== null && chosen.name !== source.pool)
            throw new Refusal('volumePoolOfSource', { field: 'pool', values: { name: source.pool } })
          if (chosen !== null) refuseUnlessFits(chosen, body.size_bytes)
          await quotas.take(tx, owner, { volumes: 1, volume_bytes: body.size_bytes })
          await store.insertVolume(tx, {
            id,
            cloud_id: body.cloud_id,
            ...owner,
            name: body.name,
            description: body.description,
            pool: chosen?.name ?? source?.pool ?? '',
            content,
            engine_name: engineNameOf(id),
            size_bytes: body.size_bytes,
            status: 'creating',
            vm_id: place?.vm_id ?? null,
            path: place?.path ?? null,
            source_snapshot_id: body.snapshot_id ?? null,
            source_backup_id: body.backup_id ?? null,
            ...authoredBy(actor),
          })
          await platform.operations.begin(tx, operations.create, { resource_id: id, bp_id: owner.bp_id, actor, input: { attach: place } })
          const made = await shownNow(tx, actor, id)
          await also(tx, made)
          return made
        }),
      )
    },

    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<Volume> {
      return asNamed('path', () =>
        db.transaction().execute(async (tx) => {
          refuseUnless(volumeCan.rename, found(await store.lockVolume(tx, scopeOf(actor), id)))
          await store.updateVolume(tx, id, { name: body.name, description: body.description })
          return shownNow(tx, actor, id)
        }),
      )
    },

    attach: (actor: Actor, id: string, body: BodyOf<Calls['attach']>): Promise<Volume> =>
      asNamed('path', () =>
        begin(
          actor,
          id,
          'attach',
          operations.attach,
          'attaching',
          (tx, volume) => placeFor(tx, scopeOf(actor), volume, body, ''),
          async (_, __, place) => ({ input: {}, changes: place }),
        ),
      ),

    detach: (actor: Actor, id: string, force: boolean) =>
      begin(actor, id, 'detach', operations.detach, 'detaching', alone, async (tx, volume) => {
        await refuseUnlessReleased(tx, volume)
        return { input: { force } }
      }),

    grow: (actor: Actor, id: string, size_bytes: number) =>
      begin(actor, id, 'grow', operations.grow, 'growing', alone, async (tx, volume) => {
        if (size_bytes === volume.size_bytes) throw new Refusal('volumeSizeUnchanged', { field: 'size_bytes' })
        if (size_bytes < volume.size_bytes) throw new Refusal('volumeShrink', { field: 'size_bytes' })
        const pool = await findPool(tx, volume.cloud_id, volume.pool)
        if (pool !== undefined) refuseUnlessFits(pool, size_bytes)
        await quotas.take(tx, volume, { volume_bytes: size_bytes - volume.size_bytes })
        return { input: { size_bytes }, changes: { growing_to: size_bytes } }
      }),

    restore: (actor: Actor, id: string, snapshotId: string) =>
      begin(actor, id, 'restore', operations.restore, 'restoring', alone, async (tx, volume) => {
        const snapshot = await snapshots.lockSnapshot(tx, scopeOf(actor), snapshotId)
        if (snapshot === undefined || snapshot.volume_id !== id) throw new Refusal('notFound', { field: 'snapshot_id' })
        refuseUnless(volumeSnapshotCan.restore, snapshot, 'snapshot_id')
        if (volume.status === 'in_use' && !(await mayRestoreInUse(tx, volume))) throw new Refusal('volumeInUse')
        return { input: { snapshot: snapshot.engine_name } }
      }),

    delete: (actor: Actor, id: string) =>
      db.transaction().execute(async (tx) => {
        const { cloud_id } = found(await store.getVolume(tx, scopeOf(actor), id))
        await clouds.forChange(tx, cloud_id)
        const volume = found(await store.lockVolume(tx, scopeOf(actor), id))
        if (volume.status === 'in_use') throw new Refusal('volumeAttached')
        refuseUnless(volumeCan.delete, volume)
        await snapshots.refuseWhileBusy(tx, id)
        if (await store.isBeingCopied(tx, { volume_id: id })) throw new Refusal('operationRunning')
        await platform.operations.begin(tx, operations.delete, { resource_id: id, bp_id: volume.bp_id, actor, input: {} })
        await store.updateVolume(tx, id, { status: 'deleting', error_text: null })
        return shownNow(tx, actor, id)
      }),
  }

  /** Where nothing runs on it, or the pool can under what runs. */
  async function mayRestoreInUse(tx: Tx, volume: VolumeRow): Promise<boolean> {
    const vm = volume.vm_id === null ? undefined : await store.getVmOf(tx, platformScope, volume.vm_id)
    return vm?.status === 'stopped' || (await findPool(tx, volume.cloud_id, volume.pool))?.restores_in_use === true
  }
}

/** What holds nothing else. */
const alone = async (): Promise<void> => undefined

/** A name or a path that another has, as what it is to the person. */
const asNamed = <T>(pathField: string, act: () => Promise<T>): Promise<T> =>
  refusing({ [store.volumeNameIndex]: ['volumeNameTaken', 'name'], [store.volumePathRule]: ['volumePathTaken', pathField] }, act)

/** More than the pool has altogether never fits; how much of it is free only the engine can say at the moment. */
function refuseUnlessFits(pool: Pick<StoragePoolRow, 'total_bytes'>, sizeBytes: number): void {
  if (pool.total_bytes > 0 && sizeBytes > pool.total_bytes) throw new Refusal('poolExhausted', { field: 'size_bytes' })
}

const gibibytes = (bytes: number): number => Math.round((bytes / 2 ** 30) * 100) / 100

const shape = (row: ShownVolume): Volume => ({
  ...shapeOnEngine(row),
  project_id: row.project_id,
  status: row.status,
  pool: row.pool,
  content: row.content,
  size_bytes: row.size_bytes,
  used_bytes: row.used_bytes,
  attached_to: row.vm === null ? null : { vm: row.vm, path: row.path },
  snapshot_count: row.snapshot_count,
})
