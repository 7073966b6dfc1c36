import { ImageTable } from './ImageTable.tsx'

/** Images of the organisation, and those that others share with it. */
export default function PrivateImageList() {
  return <ImageTable key="private" visibility="private" />
}
