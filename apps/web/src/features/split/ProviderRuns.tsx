import { RunTable } from './RunTable.tsx'

/** A provider's own statements, to be confirmed or disputed. */
export default function ProviderRuns() {
  return <RunTable />
}
