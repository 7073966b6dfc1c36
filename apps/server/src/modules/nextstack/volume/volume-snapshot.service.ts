import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { volumeCan, volumeSnapshotCan, type VolumeSnapshot, type volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { authoredBy, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import type { QuotaService } from '../quota/quota.service.ts'
import { shapeOnEngine } from '../../../platform/resource.shape.ts'
import type { VolumeSnapshotOperations } from './volume-snapshot.operations.ts'
import * as store from './volume-snapshot.store.ts'
import type { ShownVolumeSnapshot } from './volume-snapshot.store.ts'
import { engineNameOf } from './volume.facts.ts'
import * as volumes from './volume.store.ts'

type Calls = typeof volumeSnapshots

export type VolumeSnapshotService = ReturnType<typeof createVolumeSnapshotService>

export function createVolumeSnapshotService(
  platform: Pick<Platform, 'db' | 'operations'>,
  parts: { clouds: Pick<CloudService, 'forChange'>; quotas: QuotaService; operations: VolumeSnapshotOperations },
) {
  const { db } = platform
  const { clouds, quotas, operations } = parts

  const shownNow = async (tx: Tx, actor: Actor, id: string): Promise<VolumeSnapshot> => shape(found(await store.getSnapshot(tx, scopeOf(actor), id)))

  return {
    list: (scope: Scope, query: QueryOf<Calls['list']>) => shapedPage(store.listSnapshots(db, scope, query), shape),

    async get(actor: Actor, id: string): Promise<VolumeSnapshot> {
      return shape(found(await store.getSnapshot(db, scopeOf(actor), id)))
    },

    create: (actor: Actor, body: BodyOf<Calls['create']>): Promise<VolumeSnapshot> =>
      asNamed(() =>
        db.transaction().execute(async (tx) => {
          const seen = await volumes.getVolume(tx, scopeOf(actor), body.volume_id)
          if (seen === undefined) throw new Refusal('notFound', { field: 'volume_id' })
          await clouds.forChange(tx, seen.cloud_id)
          const volume = found(await volumes.lockVolume(tx, scopeOf(actor), body.volume_id))
          refuseUnless(volumeCan.snapshot, volume, 'volume_id')
          await quotas.take(tx, volume, { volume_snapshots: 1 })
          const id = uuidv7()
          const { cloud_id, bp_id, project_id, size_bytes } = volume
          await store.insertSnapshot(tx, {
            id,
            volume_id: volume.id,
            cloud_id,
            bp_id,
            project_id,
            name: body.name,
            description: body.description,
            engine_name: engineNameOf(id),
            size_bytes,
            status: 'creating',
            ...authoredBy(actor),
          })
          await platform.operations.begin(tx, operations.create, { resource_id: id, of: { id: volume.id, part: body.name }, bp_id, actor, input: {} })
          return shownNow(tx, actor, id)
        }),
      ),

    update: (actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<VolumeSnapshot> =>
      asNamed(() =>
        db.transaction().execute(async (tx) => {
          refuseUnless(volumeSnapshotCan.rename, found(await store.lockSnapshot(tx, scopeOf(actor), id)))
          await store.updateSnapshot(tx, id, { name: body.name, description: body.description })
          return shownNow(tx, actor, id)
        }),
      ),

    delete: (actor: Actor, id: string): Promise<VolumeSnapshot> =>
      db.transaction().execute(async (tx) => {
        const seen = found(await store.getSnapshot(tx, scopeOf(actor), id))
        await clouds.forChange(tx, seen.cloud_id)
        const volume = found(await volumes.lockVolume(tx, scopeOf(actor), seen.volume_id))
        const snapshot = found(await store.lockSnapshot(tx, scopeOf(actor), id))
        refuseUnless(volumeSnapshotCan.delete, snapshot)
        // The volume is being set back to it, or goes with all of them.
        if (volume.status === 'restoring' || volume.status === 'deleting' || (await volumes.isBeingCopied(tx, { snapshot_id: id })))
          throw new Refusal('operationRunning')
        await platform.operations.begin(tx, operations.delete, {
          resource_id: id,
          of: { id: volume.id, part: snapshot.name },
          bp_id: snapshot.bp_id,
          actor,
          input: {},
        })
        await store.updateSnapshot(tx, id, { status: 'deleting', error_text: null })
        return shownNow(tx, actor, id)
      }),
  }
}

const asNamed = <T>(act: () => Promise<T>): Promise<T> => refusing({ [store.snapshotNameIndex]: ['volumeSnapshotNameTaken', 'name'] }, act)

const shape = (row: ShownVolumeSnapshot): VolumeSnapshot => ({
  ...shapeOnEngine(row),
  status: row.status,
  volume: row.volume,
  size_bytes: row.size_bytes,
})
