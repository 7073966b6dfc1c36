import { GatewayTable } from './GatewayTable.tsx'

/** Nodes by which the others of their site reach the platform. */
export default function GatewayList() {
  return <GatewayTable />
}
