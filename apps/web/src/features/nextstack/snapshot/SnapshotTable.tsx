import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { snapshots, snapshotStatuses, type VmSnapshot } from '@zhisuan/contract/nextstack/snapshot'
import { vmCan, type Vm } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { allowed } from '../../../kit/allowed.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import * as format from '../../../kit/format.ts'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { StateTag } from '../storage/StateTag.tsx'
import { SnapshotCreate, SnapshotCreateAny } from './SnapshotDialogs.tsx'
import { makerOf, snapshotTones, isPassing } from './snapshotRules.ts'
import { useSnapshotActions } from './useSnapshotActions.tsx'

/** Snapshots of instances on a cloud, or those of one instance. */
export function SnapshotTable({ cloud, vm }: { readonly cloud: CloudBasic | null; readonly vm?: Vm }) {
  const { t } = useTranslation('snapshot')
  const { t: ofVm } = useTranslation('nextstack')
  const platform = useIsPlatform()
  const { actionsOf, batchActions } = useSnapshotActions(cloud)
  return (
    <>
      <ResourceTable
        name={vm === undefined ? '' : 'snapshots'}
        call={snapshots.list}
        input={{ query: vm === undefined ? { cloud_id: cloud?.cloud_id } : { vm_id: vm.id } }}
        enabled={vm !== undefined || cloud !== null}
        columns={snapshotColumns(t, { vms: vm === undefined, organisations: platform && vm === undefined })}
        filters={[filter.oneOf('status', t('filter.status'), snapshotStatuses, (value) => t(`status.${value}`)), filter.keyword(t('filter.keyword'))]}
        rowActions={actionsOf}
        batchActions={batchActions}
        passing={isPassing}
        create={{
          call: snapshots.create,
          label: t('action.create'),
          plain: vm !== undefined,
          disabledReason: vm === undefined ? null : allowed(vmCan, 'snapshot', vm.status, ofVm(`status.${vm.status}`)),
          dialog: (close) =>
            vm !== undefined ? <SnapshotCreate vm={vm} onClose={close} /> : cloud !== null && <SnapshotCreateAny cloudId={cloud.cloud_id} onClose={close} />,
        }}
        empty={{ title: vm === undefined ? t('list.empty', { cloud: cloud?.name ?? '' }) : t('list.none'), note: t('list.emptyNote') }}
      />
    </>
  )
}

/** @param show columns that only some of the lists need */
const snapshotColumns = (t: TFunction<'snapshot'>, show: { readonly vms: boolean; readonly organisations: boolean }): readonly Column<VmSnapshot>[] => [
  col.name('name', t('column.name'), (snapshot) => snapshot.name, {
    sort: true,
    to: (snapshot) => paths.nextstack.snap.detail(snapshot.id),
    note: (snapshot) => snapshot.description,
  }),
  col.custom('status', t('column.status'), (snapshot) => <SnapshotState snapshot={snapshot} />, { sort: true, width: 110 }),
  col.text<VmSnapshot>('vm', t('column.vm'), ({ vm }) => vm.name, { when: show.vms, to: ({ vm }) => paths.nextstack.vm.detail(vm.id), width: 180 }),
  col.text('size_bytes', t('column.size'), ({ size_bytes }) => (size_bytes === null ? t('sizeUnknown') : format.bytes(size_bytes)), { sort: true, width: 110 }),
  col.text('maker', t('column.maker'), (snapshot) => t(`maker.${makerOf(snapshot)}`), { width: 140, note: (snapshot) => snapshot.created_by }),
  col.organisation<VmSnapshot>(t('column.organisation'), { when: show.organisations }),
  col.date('created_at', t('column.created'), (snapshot) => snapshot.created_at, { sort: true }),
]

export function SnapshotState({ snapshot }: { readonly snapshot: Pick<VmSnapshot, 'status' | 'error'> }) {
  const { t } = useTranslation('snapshot')
  return (
    <StateTag
      tone={snapshotTones[snapshot.status]}
      text={t(`status.${snapshot.status}`)}
      reason={snapshot.error ?? (snapshot.status === 'lost' ? t('lostReason') : null)}
    />
  )
}
