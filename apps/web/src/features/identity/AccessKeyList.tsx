import { AccessKeyTable } from './AccessKeyTable.tsx'

/** What programs of an organisation's people come with. */
export default function AccessKeyList() {
  return <AccessKeyTable />
}
