import { errors } from '@zhisuan/contract/errors'
import type { Migrations, Tx } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Handler } from '../../platform/http/handler.ts'
import type { AnyOperation } from '../../platform/operations.ts'
import type { Platform } from '../../platform/platform.ts'
import type { CloudService } from '../cmp/cloud/cloud.service.ts'
import type { Observer } from './follow/follow.ts'
import { createHistory } from '../../platform/history.ts'
import type { QuotaCounter, QuotaService } from './quota/quota.service.ts'
import { createStoragePools } from './volume/pool.service.ts'
import { forgetPools, storagePoolMigrations } from './volume/pool.store.ts'
import { createBackupFiles } from './volume/volume-backup.files.ts'
import { createVolumeBackupOperations } from './volume/volume-backup.operations.ts'
import { createVolumeBackupService } from './volume/volume-backup.service.ts'
import { failBackupsOf, volumeBackupCounter, volumeBackupMigrations } from './volume/volume-backup.store.ts'
import { createVolumeSnapshotOperations } from './volume/volume-snapshot.operations.ts'
import { createVolumeSnapshotService } from './volume/volume-snapshot.service.ts'
import { forgetSnapshots, volumeSnapshotCounter, volumeSnapshotMigrations } from './volume/volume-snapshot.store.ts'
import { createVolumeObserver } from './volume/volume.observer.ts'
import { createVolumeOperations } from './volume/volume.operations.ts'
import { storagePoolRoutes, volumeBackupRoutes, volumeRoutes, volumeSnapshotRoutes } from './volume/volume.routes.ts'
import { createVolumeService, type VolumeService } from './volume/volume.service.ts'
import { countVolumes, forgetVolumes, volumeCounter, volumeMigrations } from './volume/volume.store.ts'

export const storageMigrations: Migrations = { ...volumeMigrations, ...volumeSnapshotMigrations, ...volumeBackupMigrations, ...storagePoolMigrations }
export const storageCounters: readonly QuotaCounter[] = [volumeCounter, volumeSnapshotCounter, volumeBackupCounter]

/** Volumes, their snapshots and backups, and the pools that they lie in. */
export function createStorage(
  platform: Pick<Platform, 'db' | 'operations' | 'downloads' | 'config' | 'now'>,
  others: { clouds: CloudService; quotas: QuotaService },
): { handlers: readonly Handler[]; operations: readonly AnyOperation[]; observers: readonly Observer[]; volumes: VolumeService } {
  const { db } = platform
  const files = createBackupFiles(platform.config.DATA_DIR)
  const parts = { db, ...others, files }
  const pools = createStoragePools({ ...platform, ...others })
  const volumes = createVolumeOperations(parts)
  const snapshots = createVolumeSnapshotOperations(parts)
  const service = createVolumeService(platform, { ...others, pools, operations: volumes })
  const backups = createVolumeBackupOperations({ ...parts, volumes })
  return {
    volumes: service,
    handlers: [
      ...volumeRoutes(service, createHistory(platform)),
      ...volumeSnapshotRoutes(createVolumeSnapshotService(platform, { ...others, operations: snapshots })),
      ...volumeBackupRoutes(createVolumeBackupService(platform, { ...parts, operations: backups })),
      ...storagePoolRoutes(pools),
    ],
    operations: [...volumes.definitions, ...Object.values(snapshots), ...Object.values(backups)],
    observers: [createVolumeObserver({ db }), pools.observer],
  }
}

/** @throws Refusal 93010 */
export async function refuseWhileVolumes(tx: Tx, cloudId: string): Promise<void> {
  const count = await countVolumes(tx, cloudId)
  if (count > 0) throw new Refusal('cloudHasVolumes', { values: { count } })
}

/** Records of a cloud that is removed; its backups stay. */
export async function forgetStorage(tx: Tx, cloudId: string): Promise<void> {
  await failBackupsOf(tx, { cloud_id: cloudId }, errors.volumeGone.text)
  await forgetSnapshots(tx, cloudId)
  await forgetVolumes(tx, cloudId)
  await forgetPools(tx, cloudId)
}
