import { NextStackPage, useNextStackCloud } from '../NextStackPage.tsx'
import { SnapshotTable } from './SnapshotTable.tsx'

/** Snapshots of volumes on the chosen cloud. */
export default function SnapshotList() {
  const cloud = useNextStackCloud()
  return (
    <NextStackPage>
      <SnapshotTable cloud={cloud} />
    </NextStackPage>
  )
}
