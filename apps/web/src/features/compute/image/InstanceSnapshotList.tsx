import { ComputePage } from '../ComputePage.tsx'
import { ImageTable } from './ImageTable.tsx'

/** Images that were made from instances of the chosen cloud. */
export default function InstanceSnapshotList() {
  return <ComputePage>{(cloud) => <ImageTable cloud={cloud} snapshots />}</ComputePage>
}
