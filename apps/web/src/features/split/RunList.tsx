import { RunTable } from './RunTable.tsx'

/** What was split, for those who settle. */
export default function RunList() {
  return <RunTable creates />
}
