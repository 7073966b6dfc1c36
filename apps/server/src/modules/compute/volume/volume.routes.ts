import { computeVolumeBackups, computeVolumes, computeVolumeSnapshots, computeVolumeTransfers, computeVolumeTypes } from '@zhisuan/contract/compute/volume'
import type { Db } from '../../../platform/db/database.ts'
import { handle, handleLines, type Handler } from '../../../platform/http/handler.ts'
import type { Tenancy } from '../tenancy/tenancy.service.ts'
import { createBackups, type Backups } from './backup.service.ts'
import { createSnapshots, type Snapshots } from './snapshot.service.ts'
import { createTransfers, type Transfers } from './transfer.service.ts'
import { createVolumes, type Volumes } from './volume.service.ts'

export const storageRoutes = (db: Db, tenancy: Tenancy): Handler[] => [
  ...volumeRoutes(createVolumes({ db, tenancy })),
  ...snapshotRoutes(createSnapshots(tenancy)),
  ...backupRoutes(createBackups(tenancy)),
  ...transferRoutes(createTransfers(tenancy)),
]

const volumeRoutes = (volumes: Volumes): Handler[] => [
  handleLines(computeVolumes.list, ({ actor, params, request, signal }) => volumes.list(actor, params.cloud_id, request.id, signal)),
  handle(computeVolumes.get, ({ actor, params }) => volumes.get(actor, params.cloud_id, params.id)),
  handle(computeVolumes.zones, ({ actor, params }) => volumes.zones(actor, params.cloud_id)),
  handle(computeVolumes.create, ({ actor, params, body }) => volumes.create(actor, params.cloud_id, body)),
  handle(computeVolumes.update, ({ actor, params, body }) => volumes.update(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.grow, ({ actor, params, body }) => volumes.grow(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.attach, ({ actor, params, body }) => volumes.attach(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.detach, ({ actor, params, body }) => volumes.detach(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.setBootable, ({ actor, params, body }) => volumes.setBootable(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.retype, ({ actor, params, body }) => volumes.retype(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.toImage, ({ actor, params, body }) => volumes.toImage(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.resetStatus, ({ actor, params, body }) => volumes.resetStatus(actor, params.cloud_id, params.id, body)),
  handle(computeVolumes.delete, ({ actor, params, query }) => volumes.delete(actor, params.cloud_id, params.id, query.cascade ?? false)),
  handleLines(computeVolumeTypes.list, ({ actor, params, request, signal }) => volumes.types(actor, params.cloud_id, request.id, signal)),
]

const snapshotRoutes = (snapshots: Snapshots): Handler[] => [
  handleLines(computeVolumeSnapshots.list, ({ actor, params, request, signal }) => snapshots.list(actor, params.cloud_id, request.id, signal)),
  handle(computeVolumeSnapshots.get, ({ actor, params }) => snapshots.get(actor, params.cloud_id, params.id)),
  handle(computeVolumeSnapshots.create, ({ actor, params, body }) => snapshots.create(actor, params.cloud_id, body)),
  handle(computeVolumeSnapshots.update, ({ actor, params, body }) => snapshots.update(actor, params.cloud_id, params.id, body)),
  handle(computeVolumeSnapshots.resetStatus, ({ actor, params, body }) => snapshots.resetStatus(actor, params.cloud_id, params.id, body)),
  handle(computeVolumeSnapshots.delete, ({ actor, params }) => snapshots.delete(actor, params.cloud_id, params.id)),
]

const backupRoutes = (backups: Backups): Handler[] => [
  handleLines(computeVolumeBackups.list, ({ actor, params, request, signal }) => backups.list(actor, params.cloud_id, request.id, signal)),
  handle(computeVolumeBackups.get, ({ actor, params }) => backups.get(actor, params.cloud_id, params.id)),
  handle(computeVolumeBackups.create, ({ actor, params, body }) => backups.create(actor, params.cloud_id, body)),
  handle(computeVolumeBackups.update, ({ actor, params, body }) => backups.update(actor, params.cloud_id, params.id, body)),
  handle(computeVolumeBackups.restore, ({ actor, params, body }) => backups.restore(actor, params.cloud_id, params.id, body)),
  handle(computeVolumeBackups.resetStatus, ({ actor, params, body }) => backups.resetStatus(actor, params.cloud_id, params.id, body)),
  handle(computeVolumeBackups.delete, ({ actor, params }) => backups.delete(actor, params.cloud_id, params.id)),
]

const transferRoutes = (transfers: Transfers): Handler[] => [
  handleLines(computeVolumeTransfers.list, ({ actor, params, request, signal }) => transfers.list(actor, params.cloud_id, request.id, signal)),
  handle(computeVolumeTransfers.create, ({ actor, params, body }) => transfers.create(actor, params.cloud_id, body)),
  handle(computeVolumeTransfers.accept, ({ actor, params, body }) => transfers.accept(actor, params.cloud_id, params.id, body)),
  handle(computeVolumeTransfers.delete, ({ actor, params }) => transfers.delete(actor, params.cloud_id, params.id)),
]
