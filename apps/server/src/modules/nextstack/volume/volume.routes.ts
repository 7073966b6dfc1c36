import { storagePools as poolCalls, volumeBackups as backupCalls, volumes as calls, volumeSnapshots as snapshotCalls } from '@zhisuan/contract/nextstack/volume'
import { handle, handleShared, type Handler } from '../../../platform/http/handler.ts'
import type { History } from '../../../platform/history.ts'
import type { StoragePools } from './pool.service.ts'
import type { VolumeBackupService } from './volume-backup.service.ts'
import type { VolumeSnapshotService } from './volume-snapshot.service.ts'
import type { VolumeService } from './volume.service.ts'

export const volumeRoutes = (volumes: VolumeService, history: History): Handler[] => [
  handleShared(calls.list, ({ scope, query }) => volumes.list(scope, query)),
  handle(calls.get, ({ actor, params }) => volumes.get(actor, params.id)),
  handle(calls.create, ({ actor, body }) => volumes.create(actor, body)),
  handle(calls.update, ({ actor, params, body }) => volumes.update(actor, params.id, body)),
  handle(calls.attach, ({ actor, params, body }) => volumes.attach(actor, params.id, body)),
  handle(calls.detach, ({ actor, params, body }) => volumes.detach(actor, params.id, body.force)),
  handle(calls.grow, ({ actor, params, body }) => volumes.grow(actor, params.id, body.size_bytes)),
  handle(calls.restore, ({ actor, params, body }) => volumes.restore(actor, params.id, body.snapshot_id)),
  handle(calls.delete, ({ actor, params }) => volumes.delete(actor, params.id)),
  handle(calls.operations, async ({ actor, params, query }) => {
    await volumes.get(actor, params.id)
    return history.list(params.id, query)
  }),
]

export const volumeSnapshotRoutes = (snapshots: VolumeSnapshotService): Handler[] => [
  handleShared(snapshotCalls.list, ({ scope, query }) => snapshots.list(scope, query)),
  handle(snapshotCalls.get, ({ actor, params }) => snapshots.get(actor, params.id)),
  handle(snapshotCalls.create, ({ actor, body }) => snapshots.create(actor, body)),
  handle(snapshotCalls.update, ({ actor, params, body }) => snapshots.update(actor, params.id, body)),
  handle(snapshotCalls.delete, ({ actor, params }) => snapshots.delete(actor, params.id)),
]

export const volumeBackupRoutes = (backups: VolumeBackupService): Handler[] => [
  handleShared(backupCalls.list, ({ scope, query }) => backups.list(scope, query)),
  handle(backupCalls.get, ({ actor, params }) => backups.get(actor, params.id)),
  handle(backupCalls.create, ({ actor, body }) => backups.create(actor, body)),
  handle(backupCalls.delete, ({ actor, params }) => backups.delete(actor, params.id)),
  handle(backupCalls.download, ({ actor, params }) => backups.download(actor, params.id)),
]

export const storagePoolRoutes = (pools: StoragePools): Handler[] => [
  handleShared(poolCalls.list, ({ scope, query }) => pools.list(scope, query)),
  handle(poolCalls.get, ({ params }) => pools.get(params.id)),
]
