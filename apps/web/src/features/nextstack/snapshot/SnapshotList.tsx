import { useTranslation } from '../../../i18n.ts'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { ScheduleTable } from './ScheduleTable.tsx'
import { SnapshotTable } from './SnapshotTable.tsx'

/** Snapshots of instances on the chosen cloud, and the schedules that make some of them. */
export default function SnapshotList() {
  const { t } = useTranslation('snapshot')
  const cloud = useNextStackCloud()
  return (
    <NextStackPage>
      <DetailTabs
        tabs={[
          { key: 'snapshots', label: t('tab.snapshots'), content: <SnapshotTable cloud={cloud} /> },
          { key: 'schedules', label: t('tab.schedules'), content: <ScheduleTable cloud={cloud} /> },
        ]}
      />
    </NextStackPage>
  )
}
