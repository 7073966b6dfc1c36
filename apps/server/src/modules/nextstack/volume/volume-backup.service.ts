import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { volumeBackupCan, volumeCan, type VolumeBackup, type volumeBackups } from '@zhisuan/contract/nextstack/volume'
import { authoredBy, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import type { BackupFiles } from './volume-backup.files.ts'
import type { VolumeBackupOperations } from './volume-backup.operations.ts'
import * as store from './volume-backup.store.ts'
import type { ShownVolumeBackup } from './volume-backup.store.ts'
import { refuseWhileBusy } from './volume-snapshot.store.ts'
import * as volumes from './volume.store.ts'

type Calls = typeof volumeBackups
/** What links to files of backups are for. */
const downloads = 'nextstack.volumeBackup'

export type VolumeBackupService = ReturnType<typeof createVolumeBackupService>

export function createVolumeBackupService(
  platform: Pick<Platform, 'db' | 'operations' | 'downloads'>,
  parts: { clouds: Pick<CloudService, 'forChange'>; quotas: QuotaService; operations: VolumeBackupOperations; files: BackupFiles },
) {
  const { db } = platform
  const { clouds, quotas, operations, files } = parts

  platform.downloads.offer(downloads, async (id) => {
    const backup = await store.getBackupRow(db, id)
    if (backup?.status !== 'available' || backup.sha256 === null) return null
    return files.download(id, backup.name, backup.sha256)
  })

  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<VolumeBackup> => shape(found(await store.getBackup(tx, scopeOf(actor), id)))

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listBackups(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<VolumeBackup> {
      return shape(found(await store.getBackup(db, scopeOf(actor), id)))
    },

    create: (actor: Actor, body: BodyOf<Calls['create']>): Promise<VolumeBackup> =>
      db.transaction().execute(async (tx) => {
        const seen = await volumes.getVolume(tx, scopeOf(actor), body.volume_id)
        if (seen === undefined) throw new Refusal('notFound', { field: 'volume_id' })
        await clouds.forChange(tx, seen.cloud_id)
        const volume = found(await volumes.lockVolume(tx, scopeOf(actor), body.volume_id))
        refuseUnless(volumeCan.backup, volume, 'volume_id')
        await refuseWhileBusy(tx, volume.id)
        const { cloud_id, bp_id, project_id, content, size_bytes } = volume
        await quotas.take(tx, volume, { backup_bytes: size_bytes })
        const id = uuidv7()
        await store.insertBackup(tx, {
          id,
          cloud_id,
          volume_id: volume.id,
          bp_id,
          project_id,
          name: body.name,
          description: body.description,
          content,
          size_bytes,
          status: 'creating',
          ...authoredBy(actor),
        })
        await platform.operations.begin(tx, operations.create, {
          resource_id: volume.id,
          of: { id: volume.id, part: body.name },
          bp_id,
          actor,
          input: { backup_id: id },
        })
        await volumes.updateVolume(tx, volume.id, { status: 'backing_up', error_text: null })
        return shownNow(tx, actor, id)
      }),

    /** Also of clouds that are gone: the file is the platform's own. */
    delete: (actor: Actor, id: string): Promise<VolumeBackup> =>
      db.transaction().execute(async (tx) => {
        const backup = found(await store.lockBackup(tx, scopeOf(actor), id))
        refuseUnless(volumeBackupCan.delete, backup)
        if (await volumes.isBeingCopied(tx, { backup_id: id })) throw new Refusal('operationRunning')
        // Its volume may be gone.
        const of = backup.volume_id === null ? {} : { of: { id: backup.volume_id, part: backup.name } }
        await platform.operations.begin(tx, operations.delete, { resource_id: id, ...of, bp_id: backup.bp_id, actor, input: {} })
        await store.updateBackup(tx, id, { status: 'deleting', error_text: null })
        return shownNow(tx, actor, id)
      }),

    async download(actor: Actor, id: string): Promise<ResponseOf<Calls['download']>> {
      refuseUnless(volumeBackupCan.download, found(await store.getBackup(db, scopeOf(actor), id)))
      return platform.downloads.link(downloads, id, actor)
    },
  }
}

const shape = (row: ShownVolumeBackup): VolumeBackup => ({
  ...shapeOnEngine(row),
  status: row.status,
  volume: row.volume,
  content: row.content,
  size_bytes: row.size_bytes,
  file_bytes: row.file_bytes,
  sha256: row.sha256,
})
