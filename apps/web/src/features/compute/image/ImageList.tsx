import { ComputePage } from '../ComputePage.tsx'
import { ImageTable } from './ImageTable.tsx'

/** What instances of the chosen cloud are made from. */
export default function ImageList() {
  return <ComputePage>{(cloud) => <ImageTable cloud={cloud} snapshots={false} />}</ComputePage>
}
