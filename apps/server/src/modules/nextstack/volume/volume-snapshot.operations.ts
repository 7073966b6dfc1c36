import type { ComputeEngine } from '@zhisuan/engines/compute'
import { isEngineError } from '@zhisuan/engines/errors'
import type { VolumeName } from '@zhisuan/engines/storage'
import { z } from 'zod'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { OperationDefinition, StepContext } from '../../../platform/operations.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { refusedAs } from '../refusedAs.ts'
import * as store from './volume-snapshot.store.ts'
import { getVolume } from './volume.store.ts'

const nothing = z.object({})

export type VolumeSnapshotOperations = ReturnType<typeof createVolumeSnapshotOperations>

/** The long work on snapshots of volumes. */
export function createVolumeSnapshotOperations(parts: { db: Db; clouds: Pick<CloudService, 'engine'> }) {
  const { db, clouds } = parts

  const open = async ({ resource_id }: StepContext<unknown>): Promise<{ engine: ComputeEngine; name: VolumeName; snapshot: string }> => {
    const row = await store.getSnapshot(db, platformScope, resource_id)
    const volume = row === undefined ? undefined : await getVolume(db, platformScope, row.volume_id)
    // Its cloud was removed by force while the operation waited.
    if (row === undefined || volume === undefined) throw new Refusal('volumeGone')
    return { engine: await clouds.engine(volume.cloud_id), name: { pool: volume.pool, volume: volume.engine_name }, snapshot: row.engine_name }
  }
  const removeOnEngine = async (context: StepContext<unknown>): Promise<void> => {
    const { engine, name, snapshot } = await open(context)
    try {
      await engine.storage.volumes.snapshots.delete(name, snapshot, { signal: context.signal })
    } catch (error) {
      // With its volume.
      if (!isEngineError(error, 'not_found')) throw error
    }
  }

  const create: OperationDefinition<object> = {
    kind: 'nextstack.volumeSnapshot.create',
    input: nothing,
    steps: [
      {
        name: 'snapshot',
        reached: 'partly',
        run: async (context) => {
          const { engine, name, snapshot } = await open(context)
          await refusedAs({ exhausted: 'poolExhausted', not_found: 'volumeGone' }, () =>
            engine.storage.volumes.snapshots.create(name, snapshot, { signal: context.signal }),
          )
        },
      },
    ],
    undo: removeOnEngine,
    ended: async (tx, { resource_id }, refusal) => {
      await store.updateSnapshot(tx, resource_id, { status: refusal === null ? 'available' : 'error', error_text: refusal?.message ?? null })
    },
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.volumeSnapshot.delete',
    input: nothing,
    steps: [
      {
        name: 'delete',
        reached: async (context) => {
          const { engine, name, snapshot } = await open(context)
          return (await engine.storage.volumes.snapshots.list(name, { signal: context.signal })).every((one) => one.name !== snapshot)
        },
        run: removeOnEngine,
      },
    ],
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal === null) await store.deleteSnapshot(tx, resource_id)
      // Whether it is still there, whoever looks at the engine next will say.
      else await store.updateSnapshot(tx, resource_id, { status: 'error', error_text: refusal.message })
    },
  }

  return { create, delete: remove }
}
