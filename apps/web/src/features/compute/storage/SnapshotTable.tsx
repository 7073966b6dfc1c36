import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeSnapshotStatuses, computeVolumeSnapshots, type ComputeVolume, type ComputeVolumeSnapshot } from '@zhisuan/contract/compute/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable } from '../CloudTable.tsx'
import { KeepDialog } from './KeepDialog.tsx'
import { isBusy, stateOf, titleOf, whyNotVolume } from './storageRules.ts'
import { useSnapshotActions } from './useSnapshotActions.tsx'

/** Snapshots on a cloud, or those of one volume. */
export function SnapshotTable({ cloud, volume }: { readonly cloud: CloudBasic | null; readonly volume?: ComputeVolume }) {
  const { t } = useTranslation('computeStorage')
  const platform = useIsPlatform()
  const { actionsOf, batchActions } = useSnapshotActions(cloud)
  const refused = volume === undefined ? null : whyNotVolume(t, 'snapshot', volume, cloud)
  return (
    <CloudTable
      call={computeVolumeSnapshots.list}
      cloudId={cloud?.cloud_id ?? null}
      name={volume === undefined ? '' : 'snapshots'}
      passing={isBusy}
      only={(one) => volume === undefined || one.volume_id === volume.id}
      columns={(name) => snapshotColumns(t, name, { volumes: volume === undefined, projects: platform && volume === undefined })}
      filters={[filter.oneOf('status', t('column.status'), computeSnapshotStatuses, (value) => t(`status.${value}`)), filter.keyword(t('keyword'))]}
      textOf={(snapshot) => `${snapshot.name} ${snapshot.id} ${snapshot.description} ${snapshot.volume_id}`}
      matches={{ status: (snapshot, value) => snapshot.status === value }}
      sortBy={{ name: titleOf, status: ({ status }) => t(`status.${status}`), size: ({ size_bytes }) => size_bytes, created: ({ created_at }) => created_at }}
      sortFirst="-created"
      nameOf={titleOf}
      rowActions={actionsOf}
      batchActions={batchActions}
      create={{
        call: computeVolumeSnapshots.create,
        label: t('keep.okSnapshot'),
        plain: volume !== undefined,
        disabledReason: refused,
        dialog: (close) => cloud !== null && <KeepDialog cloudId={cloud.cloud_id} kind="snapshot" volume={volume} onClose={close} />,
      }}
      empty={{ title: volume === undefined ? t('snapshot.empty') : t('snapshot.none'), note: t('snapshot.emptyNote') }}
    />
  )
}

/** What state it is in, and how far what is under way has come. */
export const snapshotState = (t: TFunction<'computeStorage'>, snapshot: ComputeVolumeSnapshot) => {
  const state = stateOf(t, snapshot)
  return snapshot.status === 'creating' && snapshot.progress !== null ? { ...state, note: format.percent(snapshot.progress) } : state
}

/** @param show columns that only some of the lists need */
const snapshotColumns = (
  t: TFunction<'computeStorage'>,
  name: (id: string | null) => string,
  show: { readonly volumes: boolean; readonly projects: boolean },
): readonly Column<ComputeVolumeSnapshot>[] => [
  col.name('name', t('column.name'), (one) => titleOf(one), {
    sort: true,
    to: ({ id }) => paths.compute.snapshot.detail(id),
    note: ({ description }) => description,
  }),
  col.status('status', t('column.status'), (snapshot) => snapshotState(t, snapshot), { sort: true, width: 124 }),
  col.text('volume', t('column.volume'), ({ volume_id }) => name(volume_id), {
    when: show.volumes,
    to: ({ volume_id }) => paths.compute.volume.detail(volume_id),
    width: 180,
  }),
  col.bytes('size', t('column.volumeSize'), ({ size_bytes }) => size_bytes, { sort: true, width: 110 }),
  col.text('project', t('column.project'), ({ keystone_project_id }) => name(keystone_project_id), { when: show.projects, width: 140 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
  col.date('created', t('column.created'), ({ created_at }) => created_at, { sort: true }),
]
