import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { volumeSnapshots, volumeSnapshotStatuses, type Volume, type VolumeSnapshot } from '@zhisuan/contract/nextstack/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { KeepAny, VolumeKeep } from './NameDialogs.tsx'
import { StateTag } from './StateTag.tsx'
import { snapshotTones, whyNotVolume, isPassing } from './storageRules.ts'
import { useSnapshotActions } from './useSnapshotActions.tsx'

/** Snapshots of volumes on a cloud, or those of one volume. */
export function SnapshotTable({ cloud, volume }: { readonly cloud: CloudBasic | null; readonly volume?: Volume }) {
  const { t } = useTranslation('storage')
  const platform = useIsPlatform()
  const { actionsOf, batchActions } = useSnapshotActions(cloud)
  const refused = volume === undefined ? null : whyNotVolume(t, 'snapshot', volume, cloud)
  return (
    <ResourceTable
      name={volume === undefined ? '' : 'snapshots'}
      call={volumeSnapshots.list}
      input={{ query: volume === undefined ? { cloud_id: cloud?.cloud_id } : { volume_id: volume.id } }}
      enabled={volume !== undefined || cloud !== null}
      columns={snapshotColumns(t, { volumes: volume === undefined, organisations: platform && volume === undefined })}
      filters={[
        filter.oneOf('status', t('filter.status'), volumeSnapshotStatuses, (value) => t(`snapshot.status.${value}`)),
        filter.keyword(t('filter.keyword')),
      ]}
      rowActions={actionsOf}
      batchActions={batchActions}
      passing={isPassing}
      create={{
        call: volumeSnapshots.create,
        label: t('keep.ok.snapshot'),
        plain: volume !== undefined,
        disabledReason: refused,
        dialog: (close) =>
          volume !== undefined ? (
            <VolumeKeep volume={volume} kind="snapshot" onClose={close} />
          ) : (
            cloud !== null && <KeepAny cloudId={cloud.cloud_id} kind="snapshot" onClose={close} />
          ),
      }}
      empty={{ title: volume === undefined ? t('snapshot.empty', { cloud: cloud?.name ?? '' }) : t('snapshot.none'), note: t('snapshot.emptyNote') }}
    />
  )
}

/** @param show columns that only some of the lists need */
const snapshotColumns = (t: TFunction<'storage'>, show: { readonly volumes: boolean; readonly organisations: boolean }): readonly Column<VolumeSnapshot>[] => [
  col.name('name', t('column.name'), (snapshot) => snapshot.name, {
    sort: true,
    to: (snapshot) => paths.nextstack.volumeSnap.detail(snapshot.id),
    note: (snapshot) => snapshot.description,
  }),
  col.custom('status', t('column.status'), (snapshot) => <SnapshotState snapshot={snapshot} />, { sort: true, width: 110 }),
  col.text<VolumeSnapshot>('volume', t('column.volume'), ({ volume }) => volume.name, {
    when: show.volumes,
    to: ({ volume }) => paths.nextstack.volume.detail(volume.id),
    width: 180,
  }),
  col.bytes('size_bytes', t('column.volumeSize'), (snapshot) => snapshot.size_bytes, { width: 110 }),
  col.organisation<VolumeSnapshot>(t('column.organisation'), { when: show.organisations }),
  col.text('creator', t('column.creator'), (snapshot) => snapshot.created_by, { width: 120 }),
  col.date('created_at', t('column.created'), (snapshot) => snapshot.created_at, { sort: true }),
]

export function SnapshotState({ snapshot }: { readonly snapshot: Pick<VolumeSnapshot, 'status' | 'error'> }) {
  const { t } = useTranslation('storage')
  return (
    <StateTag
      tone={snapshotTones[snapshot.status]}
      text={t(`snapshot.status.${snapshot.status}`)}
      reason={snapshot.error ?? (snapshot.status === 'lost' ? t('snapshot.lostReason') : null)}
    />
  )
}
