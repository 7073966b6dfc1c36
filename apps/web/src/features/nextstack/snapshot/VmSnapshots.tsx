import type { Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useCloud } from '../../../session/cloud.ts'
import { ScheduleTable } from './ScheduleTable.tsx'
import { SnapshotTable } from './SnapshotTable.tsx'

/** Snapshots of one instance, and the schedules that make some of them. */
export function VmSnapshots({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('snapshot')
  const cloud = useCloud(vm.cloud_id)
  return (
    <div className="zs-parts">
      <section>
        <SnapshotTable cloud={cloud} vm={vm} />
      </section>
      <section>
        <h2 className="zs-heading">{t('schedule.heading')}</h2>
        <p className="zs-soft">{t('schedule.headingNote')}</p>
        <ScheduleTable cloud={cloud} vm={vm} />
      </section>
    </div>
  )
}
