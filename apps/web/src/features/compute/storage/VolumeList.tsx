import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeVolumes, computeVolumeStatuses, computeVolumeTransfers, type ComputeVolume, type ComputeVolumeTransfer } from '@zhisuan/contract/compute/volume'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { filter } from '../../../kit/filters.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { CloudTable, useCloudLines } from '../CloudTable.tsx'
import { QuotaCard } from '../tenancy/QuotaCard.tsx'
import { StoragePage, useZones } from './StoragePage.tsx'
import { isBusy, stateOf, titleOf, invalidatedByStorage } from './storageRules.ts'
import { AttachedTo } from './StorageParts.tsx'
import { AcceptDialog } from './TransferDialogs.tsx'
import { useVolumeActions } from './useVolumeActions.tsx'

/** Volumes of the chosen cloud, and those that are offered to others. */
export default function VolumeList() {
  const { t } = useTranslation('computeStorage')
  return (
    <StoragePage>
      {(cloud) => (
        <DetailTabs
          tabs={[
            { key: 'volumes', label: t('tab.volumes'), content: <Volumes cloud={cloud} /> },
            { key: 'transfers', label: t('tab.transfers'), content: <Transfers cloud={cloud} /> },
          ]}
        />
      )}
    </StoragePage>
  )
}

function Volumes({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('computeStorage')
  const platform = useIsPlatform()
  const cloudId = cloud?.cloud_id ?? null
  const zones = useZones().data?.items ?? []
  const { data } = useCloudLines(computeVolumes.list, cloudId, isBusy)
  const { actionsOf, batchActions } = useVolumeActions(cloud, (id) => data?.names[id] ?? id)
  // What volumes have, and nothing else: nothing is found by others.
  const types = [...new Set((data?.items ?? []).flatMap(({ type }) => (type === null ? [] : [type])))].toSorted()
  return (
    <>
      <QuotaCard cloudId={cloudId} about={['volumes', 'volume_bytes', 'snapshots', 'backup_bytes']} />
      <CloudTable
        call={computeVolumes.list}
        cloudId={cloudId}
        passing={isBusy}
        columns={(name) => volumeColumns(t, name, platform)}
        filters={[
          filter.oneOf('status', t('column.status'), computeVolumeStatuses, (value) => t(`status.${value}`)),
          ...(types.length > 1 ? [filter.oneOf('type', t('column.type'), types)] : []),
          ...(zones.length > 1
            ? [
                filter.select(
                  'zone',
                  t('column.zone'),
                  zones.map(({ name }) => ({ value: name, label: name })),
                ),
              ]
            : []),
          filter.keyword(t('keyword')),
        ]}
        textOf={(volume) => `${volume.name} ${volume.id} ${volume.description}`}
        matches={{
          status: (volume, value) => volume.status === value,
          type: (volume, value) => volume.type === value,
          zone: (volume, value) => volume.zone === value,
        }}
        sortBy={{
          name: titleOf,
          status: (volume) => t(`status.${volume.status}`),
          size: ({ size_bytes }) => size_bytes,
          created: ({ created_at }) => created_at,
        }}
        sortFirst="-created"
        nameOf={titleOf}
        rowActions={actionsOf}
        batchActions={batchActions}
        create={{ call: computeVolumes.create, label: t('create'), href: paths.compute.volume.add() }}
        empty={{ title: t('volume.empty'), note: t('volume.emptyNote') }}
      />
    </>
  )
}

/** @param platform whether rows of several organisations meet here */
const volumeColumns = (t: TFunction<'computeStorage'>, name: (id: string | null) => string, platform: boolean): readonly Column<ComputeVolume>[] => [
  col.name('name', t('column.name'), (one) => titleOf(one), {
    sort: true,
    to: ({ id }) => paths.compute.volume.detail(id),
    note: ({ description }) => description,
  }),
  col.status('status', t('column.status'), (volume) => stateOf(t, volume), { sort: true, width: 108 }),
  col.custom('attached', t('column.attached'), (volume) => <AttachedTo attachments={volume.attachments} nameOf={name} />, { width: 140 }),
  col.bytes('size', t('column.size'), ({ size_bytes }) => size_bytes, { sort: true, width: 96 }),
  col.text('type', t('column.type'), ({ type }) => type, { width: 112 }),
  col.text('bootable', t('column.bootable'), ({ bootable }) => t(bootable ? 'yes' : 'no'), { width: 84 }),
  col.text('zone', t('column.zone'), ({ zone }) => zone, { width: 110, off: true }),
  col.text('project', t('column.project'), ({ keystone_project_id }) => name(keystone_project_id), { when: platform, width: 116 }),
  col.code('id', t('column.id'), ({ id }) => id, { width: 280, off: true }),
  col.date('created', t('column.created'), ({ created_at }) => created_at, { sort: true }),
]

function Transfers({ cloud }: { readonly cloud: CloudBasic | null }) {
  const { t } = useTranslation('computeStorage')
  const cancel = useChange(computeVolumeTransfers.delete, { invalidates: invalidatedByStorage })
  const cloudId = cloud?.cloud_id ?? null
  return (
    <CloudTable
      call={computeVolumeTransfers.list}
      cloudId={cloudId}
      name="transfers"
      columns={(name) => transferColumns(t, name)}
      filters={[filter.keyword(t('keyword'))]}
      textOf={(transfer) => `${transfer.name} ${transfer.id} ${transfer.volume_id}`}
      sortBy={{ name: titleOf, created: ({ created_at }) => created_at }}
      sortFirst="-created"
      nameOf={titleOf}
      rowActions={(transfer) => [
        {
          key: 'cancel',
          call: computeVolumeTransfers.delete,
          label: t('action.cancel'),
          danger: true,
          doneText: t('done.cancel'),
          confirm: { title: t('transfer.cancelTitle', { name: titleOf(transfer) }), body: t('transfer.cancelBody') },
          run: () => cancel.mutateAsync({ params: { cloud_id: cloudId ?? '', id: transfer.id } }),
        },
      ]}
      create={{
        call: computeVolumeTransfers.accept,
        label: t('transfer.accept'),
        dialog: (close) => cloudId !== null && <AcceptDialog cloudId={cloudId} onClose={close} />,
        plain: true,
      }}
      empty={{ title: t('transfer.empty'), note: t('transfer.emptyNote') }}
    />
  )
}

const transferColumns = (t: TFunction<'computeStorage'>, name: (id: string | null) => string): readonly Column<ComputeVolumeTransfer>[] => [
  col.name('name', t('column.name'), (one) => titleOf(one), { sort: true }),
  col.text('volume', t('tab.volumes'), ({ volume_id }) => name(volume_id), { to: ({ volume_id }) => paths.compute.volume.detail(volume_id), width: 200 }),
  col.code('id', t('transfer.id'), ({ id }) => id, { width: 300 }),
  col.date('created', t('column.created'), ({ created_at }) => created_at, { sort: true }),
]
