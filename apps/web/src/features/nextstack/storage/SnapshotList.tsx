import { PageStatus } from '../../../kit/PageHead.tsx'
import { useClouds } from '../../../session/cloud.ts'
import { CloudNotice, NoCloud, SandboxTag } from '../CloudNotice.tsx'
import '../nextstack.css'
import { SnapshotTable } from './SnapshotTable.tsx'

/** Snapshots of volumes on the chosen cloud. */
export default function SnapshotList() {
  const { selected: cloud, loading } = useClouds()
  if (!loading && (cloud === null || cloud.product !== 'nextstack')) return <NoCloud other={cloud} />
  return (
    <>
      {cloud?.sandbox === true && <PageStatus><SandboxTag /></PageStatus>}
      {cloud !== null && <CloudNotice cloud={cloud} />}
      <SnapshotTable cloud={cloud} />
    </>
  )
}
