import { useTranslation } from 'react-i18next'
import { DetailTabs } from '../../../kit/DetailPage.tsx'
import { PageStatus } from '../../../kit/PageHead.tsx'
import { NoCloud } from '../../../kit/NoCloud.tsx'
import { useClouds } from '../../../session/cloud.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import '../nextstack.css'
import { ScheduleTable } from './ScheduleTable.tsx'
import { SnapshotTable } from './SnapshotTable.tsx'

/** Snapshots of instances on the chosen cloud, and the schedules that make some of them. */
export default function SnapshotList() {
  const { t } = useTranslation('snapshot')
  const { selected: cloud, loading } = useClouds()
  if (!loading && (cloud === null || cloud.product !== 'nextstack')) return <NoCloud family="nextStack" />
  return (
    <>
      {cloud?.sandbox === true && (
        <PageStatus>
          <SandboxTag />
        </PageStatus>
      )}
      {cloud !== null && <CloudNotice cloud={cloud} />}
      <DetailTabs
        tabs={[
          { key: 'snapshots', label: t('tab.snapshots'), content: <SnapshotTable cloud={cloud} /> },
          { key: 'schedules', label: t('tab.schedules'), content: <ScheduleTable cloud={cloud} /> },
        ]}
      />
    </>
  )
}
