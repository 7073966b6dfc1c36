import { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import type { OperationDefinition } from '../../../platform/operations.ts'
import { refusedAs } from '../refusedAs.ts'
import type { BackupFiles } from './volume-backup.files.ts'
import * as store from './volume-backup.store.ts'
import type { VolumeOperations } from './volume.operations.ts'

const backup = z.object({ backup_id: z.uuid() })
const nothing = z.object({})

export type VolumeBackupOperations = ReturnType<typeof createVolumeBackupOperations>

/** The long work on backups. One is written by an operation of its volume, so that nothing else is done to that meanwhile. */
export function createVolumeBackupOperations(parts: {
  db: Db
  files: BackupFiles
  volumes: Pick<VolumeOperations, 'step' | 'observing' | 'observeAfterFailure' | 'settle'>
}) {
  const { db, files, volumes } = parts

  const create: OperationDefinition<z.output<typeof backup>> = {
    kind: 'nextstack.volumeBackup.create',
    resource_type: 'nextstack.volume',
    input: backup,
    steps: [
      volumes.step('write', 'ours', ({ engine, name }, { input, signal }) =>
        refusedAs({ exhausted: 'poolExhausted', not_found: 'volumeGone' }, async () => {
          const content = await engine.storage.volumes.export(name, { signal })
          await store.updateBackup(db, input.backup_id, await files.write(input.backup_id, content, signal))
        }),
      ),
      volumes.observing(),
    ],
    undo: async (context) => {
      // Without its input it is not known which: the file goes with the record then.
      if (context.input !== undefined) await files.remove(context.input.backup_id)
      await volumes.observeAfterFailure(context)
    },
    ended: async (tx, { resource_id, input }, refusal) => {
      if (refusal === null) await store.updateBackup(tx, input.backup_id, { status: 'available', error_text: null })
      else await store.failBackupsOf(tx, { volume_id: resource_id }, refusal.message)
      await volumes.settle(tx, resource_id, refusal)
    },
  }

  const remove: OperationDefinition<object> = {
    kind: 'nextstack.volumeBackup.delete',
    input: nothing,
    steps: [{ name: 'delete', reached: 'ours', run: ({ resource_id }) => files.remove(resource_id) }],
    ended: async (tx, { resource_id }, refusal) => {
      if (refusal === null) await store.deleteBackup(tx, resource_id)
      else await store.updateBackup(tx, resource_id, { status: 'error', error_text: refusal.message })
    },
  }

  return { create, delete: remove }
}
