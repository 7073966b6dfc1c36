import type { BodyInput } from '@zhisuan/contract/define'
import type { Volume, VolumeBackup, volumes, VolumeSnapshot } from '@zhisuan/contract/nextstack/volume'

export const gib = 2 ** 30
export const sources = ['empty', 'snapshot', 'backup'] as const

/** The form holds the body under the body's own names, so that the server's refusals find their fields. */
export interface VolumeValues {
  cloud_id: string
  name: string
  description: string
  source: (typeof sources)[number]
  snapshot_id?: string | undefined
  backup_id?: string | undefined
  pool?: string | undefined
  content: Volume['content']
  size_bytes: number | null
  attaching: boolean
  attach?: { vm_id?: string | undefined; path?: string | undefined } | undefined
}

/** What a volume begins as: what cannot be chosen any more, and how large it is at least. */
export interface VolumeSource {
  readonly id: string
  readonly cloudId: string
  readonly sizeBytes: number
  /** Undefined while it is not known. */
  readonly content: Volume['content'] | undefined
  /** Copies stay in their pool; a backup goes anywhere. */
  readonly pool: string | undefined
}

export const fromSnapshot = (snapshot: VolumeSnapshot, of: Volume | undefined): VolumeSource => ({
  id: snapshot.id,
  cloudId: snapshot.cloud_id,
  sizeBytes: snapshot.size_bytes,
  content: of?.content,
  pool: of?.pool,
})

export const fromBackup = (backup: VolumeBackup): VolumeSource => ({
  id: backup.id,
  cloudId: backup.cloud_id,
  sizeBytes: backup.size_bytes,
  content: backup.content,
  pool: undefined,
})

/** The body of the call; what the chosen source does not ask for stays out. */
export function bodyOf(values: VolumeValues): BodyInput<typeof volumes.create> {
  const { cloud_id, name, description, source, snapshot_id, backup_id, pool, content, size_bytes, attaching, attach } = values
  return {
    cloud_id,
    name,
    description,
    content,
    // The form's rule let no empty one through.
    size_bytes: size_bytes ?? 0,
    ...(pool !== undefined && { pool }),
    ...(source === 'snapshot' && { snapshot_id }),
    ...(source === 'backup' && { backup_id }),
    ...(attaching && { attach: { vm_id: attach?.vm_id ?? '', path: pathOf(content, attach?.path) } }),
  }
}

/** File systems are mounted somewhere, disks are not. */
export const pathOf = (content: Volume['content'], path: string | undefined): string | null => (content === 'filesystem' ? (path ?? '') : null)
