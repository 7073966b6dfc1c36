import { ImageTable } from './ImageTable.tsx'

/** Images that everybody may use; administrators keep them. */
export default function PublicImageList() {
  return <ImageTable key="public" visibility="public" />
}
