import Select from 'antd/es/select'
import { volumeBackups, volumes, volumeSnapshots } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { Field } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { fromBackup, fromSnapshot, type VolumeSource, type VolumeValues } from './volumeForm.ts'

/** What the chosen snapshot or backup is; undefined while that is read, and where a volume begins empty. */
export function useSource({ source, snapshot_id = '', backup_id = '' }: Pick<VolumeValues, 'source' | 'snapshot_id' | 'backup_id'>): VolumeSource | undefined {
  const [wantsSnapshot, wantsBackup] = [source === 'snapshot' && snapshot_id !== '', source === 'backup' && backup_id !== '']
  const snapshot = useCall(volumeSnapshots.get, { params: { id: snapshot_id } }, { enabled: wantsSnapshot, silent: true }).data
  const of = useCall(volumes.get, { params: { id: snapshot?.volume.id ?? '' } }, { enabled: wantsSnapshot && snapshot !== undefined, silent: true }).data
  const backup = useCall(volumeBackups.get, { params: { id: backup_id } }, { enabled: wantsBackup, silent: true }).data
  // What was read last stays while the next is on its way: it is another's.
  if (wantsSnapshot && snapshot?.id === snapshot_id) return fromSnapshot(snapshot, of?.id === snapshot.volume.id ? of : undefined)
  return wantsBackup && backup?.id === backup_id ? fromBackup(backup) : undefined
}

/** The snapshot or the backup that a volume begins as. */
export function SourceFields({ source, cloudId }: { readonly source: VolumeValues['source']; readonly cloudId: string | undefined }) {
  const { t } = useTranslation('storage')
  const query = { cloud_id: cloudId, page_size: 1000, sort: '-created_at' } as const
  const snapshots = useCall(volumeSnapshots.list, { query: { ...query, status: 'available' } }, { enabled: source === 'snapshot' && cloudId !== undefined })
  const backups = useCall(volumeBackups.list, { query }, { enabled: source === 'backup' && cloudId !== undefined })
  if (source === 'empty') return null
  const [key, list] = source === 'snapshot' ? (['snapshot_id', snapshots] as const) : (['backup_id', backups] as const)
  const options = (list.data?.items ?? [])
    .filter(({ status }) => status === 'available')
    .map(({ id, name, volume, created_at, size_bytes }) => ({
      value: id,
      title: `${name} ${volume?.name ?? ''}`,
      label: t('add.sourceOption', { name, volume: volume?.name ?? t('backup.volumeGone'), size: format.bytes(size_bytes), at: format.dateTime(created_at) }),
    }))
  return (
    <Field name={key} label={t(`field.${source}`)} extra={t(`add.sourceNote.${source}`)} missing={t(`field.${source}Required`)}>
      <Select
        showSearch={{ optionFilterProp: 'title' }}
        loading={list.isPending}
        notFoundContent={list.isPending ? null : t(`add.noSource.${source}`)}
        options={options}
      />
    </Field>
  )
}
