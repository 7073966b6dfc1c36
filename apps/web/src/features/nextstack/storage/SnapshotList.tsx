import { PageStatus } from '../../../kit/PageHead.tsx'
import { NoCloud } from '../../../kit/NoCloud.tsx'
import { useClouds } from '../../../session/cloud.ts'
import { CloudNotice, SandboxTag } from '../CloudNotice.tsx'
import '../nextstack.css'
import { SnapshotTable } from './SnapshotTable.tsx'

/** Snapshots of volumes on the chosen cloud. */
export default function SnapshotList() {
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
      <SnapshotTable cloud={cloud} />
    </>
  )
}
