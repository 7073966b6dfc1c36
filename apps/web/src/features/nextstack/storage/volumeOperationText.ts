import type { TFunction } from 'i18next'
import type messages from '../../../locales/zh/storage.ts'
import type { OperationTexts } from '../../../kit/OperationTable.tsx'

type Texts = (typeof messages)['operation']

/** What is done to the volume's snapshots and backups, and not to the volume. */
const ofParts: Readonly<Record<string, 'snapshot' | 'snapshotDelete' | 'backup' | 'backupDelete'>> = {
  'nextstack.volumeSnapshot.create': 'snapshot',
  'nextstack.volumeSnapshot.delete': 'snapshotDelete',
  'nextstack.volumeBackup.create': 'backup',
  'nextstack.volumeBackup.delete': 'backupDelete',
}

/** Of `nextstack.volume.attach`: 挂载; others than these are only said to be something. */
export const volumeOperationTexts = (t: TFunction<'storage'>): OperationTexts => ({
  what(kind) {
    const own = ofParts[kind]
    if (own !== undefined) return t(`operation.part.${own}`)
    const verb = kind.split('.').at(-1) ?? ''
    const known: readonly string[] = ['create', 'attach', 'detach', 'grow', 'restore', 'delete'] satisfies (keyof Texts['kind'])[]
    // Checked by the line above.
    return t(`operation.kind.${known.includes(verb) ? (verb as keyof Texts['kind']) : 'other'}`)
  },
  step(kind, step) {
    const own = ofParts[kind]
    if (own !== undefined && step !== 'observe') return t(`operation.part.${own}`)
    const known: readonly string[] = ['create', 'attach', 'detach', 'grow', 'restore', 'observe', 'delete'] satisfies (keyof Texts['step'])[]
    return t(`operation.step.${known.includes(step) ? (step as keyof Texts['step']) : 'other'}`)
  },
})
