import { BackupTable } from './BackupTable.tsx'
import { StoragePage } from './StoragePage.tsx'

/** Backups of volumes of the chosen cloud. */
export default function BackupList() {
  return <StoragePage>{(cloud) => <BackupTable cloud={cloud} />}</StoragePage>
}
