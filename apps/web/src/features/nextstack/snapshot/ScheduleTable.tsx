import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { snapshotSchedules, type SnapshotSchedule } from '@zhisuan/contract/nextstack/snapshot'
import type { Vm } from '@zhisuan/contract/nextstack/vm'
import type { TFunction } from 'i18next'
import { useTranslation } from '../../../i18n.ts'
import { type DrawDialog } from '../../../kit/dialogs.tsx'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import { StateTag } from '../storage/StateTag.tsx'
import { ScheduleDrawer } from './ScheduleDrawer.tsx'
import { changed } from './scheduleForm.ts'
import { invalidatedBySchedule, whenText } from './snapshotRules.ts'

/** Schedules on a cloud, or those of one instance. */
export function ScheduleTable({ cloud, vm }: { readonly cloud: CloudBasic | null; readonly vm?: Vm }) {
  const { t } = useTranslation('snapshot')
  const platform = useIsPlatform()
  const drawer =
    (schedule: SnapshotSchedule | null): DrawDialog =>
    (close) =>
      cloud !== null && <ScheduleDrawer cloudId={cloud.cloud_id} vm={schedule?.vm ?? vm ?? null} schedule={schedule} onClose={close} />
  const update = useChange(snapshotSchedules.update, { invalidates: invalidatedBySchedule })
  const remove = useChange(snapshotSchedules.delete, { invalidates: invalidatedBySchedule })
  const actionsOf = (schedule: SnapshotSchedule): readonly Action[] => {
    const { id, name, enabled } = schedule
    return [
      {
        key: 'edit',
        call: snapshotSchedules.update,
        label: t('schedule.action.edit'),
        dialog: drawer(schedule),
      },
      {
        key: 'toggle',
        call: snapshotSchedules.update,
        label: t(enabled ? 'schedule.turnOff' : 'schedule.turnOn'),
        doneText: t(enabled ? 'schedule.turnedOff' : 'schedule.turnedOn', { name }),
        run: () => update.mutateAsync({ params: { id }, body: changed(schedule, { enabled: !enabled }) }),
      },
      {
        key: 'delete',
        call: snapshotSchedules.delete,
        label: t('schedule.action.delete'),
        danger: true,
        doneText: t('schedule.deleted', { name }),
        confirm: { title: t('schedule.deleteTitle', { name }), body: t('schedule.deleteBody', { vm: schedule.vm.name }) },
        run: () => remove.mutateAsync({ params: { id } }),
      },
    ]
  }
  return (
    <>
      <ResourceTable
        name="schedules"
        call={snapshotSchedules.list}
        input={{ query: vm === undefined ? { cloud_id: cloud?.cloud_id } : { vm_id: vm.id } }}
        enabled={vm !== undefined || cloud !== null}
        columns={scheduleColumns(t, { vms: vm === undefined, organisations: platform && vm === undefined })}
        filters={[filter.keyword(t('filter.keyword'))]}
        rowActions={actionsOf}
        create={{ call: snapshotSchedules.create, label: t('schedule.create'), plain: vm !== undefined, dialog: drawer(null) }}
        empty={{ title: vm === undefined ? t('schedule.empty', { cloud: cloud?.name ?? '' }) : t('schedule.none'), note: t('schedule.emptyNote') }}
      />
    </>
  )
}

/** @param show columns that only some of the lists need */
const scheduleColumns = (t: TFunction<'snapshot'>, show: { readonly vms: boolean; readonly organisations: boolean }): readonly Column<SnapshotSchedule>[] => [
  col.name('name', t('column.name'), (schedule) => schedule.name, { sort: true, note: (schedule) => schedule.description }),
  col.custom('status', t('column.status'), (schedule) => <ScheduleState schedule={schedule} />, { width: 110 }),
  col.text<SnapshotSchedule>('vm', t('column.vm'), ({ vm }) => vm.name, { when: show.vms, to: ({ vm }) => paths.nextstack.vm.detail(vm.id), width: 160 }),
  col.text('rhythm', t('column.rhythm'), (schedule) => whenText(t, schedule), { width: 160, note: (schedule) => schedule.time_zone }),
  col.text('keep', t('column.keep'), (schedule) => t('schedule.keep', { count: schedule.keep }), { width: 110 }),
  col.organisation<SnapshotSchedule>(t('column.organisation'), { when: show.organisations }),
  col.date('next_run_at', t('column.next'), (schedule) => schedule.next_run_at, { sort: true }),
  col.date('last_run_at', t('column.last'), (schedule) => schedule.last_run_at),
]

function ScheduleState({ schedule }: { readonly schedule: SnapshotSchedule }) {
  const { t } = useTranslation('snapshot')
  const { enabled, last_error: error } = schedule
  if (!enabled) return <StateTag tone="rest" text={t('schedule.off')} reason={error} />
  return <StateTag tone={error === null ? 'good' : 'bad'} text={t(error === null ? 'schedule.on' : 'schedule.failing')} reason={error} />
}
