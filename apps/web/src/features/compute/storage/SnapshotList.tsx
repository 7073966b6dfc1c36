import { SnapshotTable } from './SnapshotTable.tsx'
import { StoragePage } from './StoragePage.tsx'

/** Snapshots of volumes of the chosen cloud. */
export default function SnapshotList() {
  return <StoragePage>{(cloud) => <SnapshotTable cloud={cloud} />}</StoragePage>
}
