import { containerCan, containerStatusCodes, type Container, type ContainerStatus } from '@zhisuan/contract/cis/container'
import { Refusal } from '../../../platform/errors.ts'

/** @throws Refusal 90010, or 95003 where the node is away, 95022 where its Docker is */
export function refuseUnlessContainerAllows(
  container: { shown_status: ContainerStatus; edge: { name: string; online: boolean } },
  action: keyof typeof containerCan,
): void {
  const allowed: readonly ContainerStatus[] = containerCan[action]
  if (allowed.includes(container.shown_status)) return
  if (container.shown_status === 'unknown')
    throw new Refusal(container.edge.online ? 'dockerUnavailable' : 'edgeOffline', { values: { name: container.edge.name } })
  throw new Refusal('stateForbids')
}

/** Specification section 4; what it has no number for shows as a dash there: 10 to 13. */
const codes: Readonly<Record<ContainerStatus, number>> = {
  creating: containerStatusCodes.creating,
  running: containerStatusCodes.running,
  restarting: containerStatusCodes.running,
  paused: containerStatusCodes.running,
  error: containerStatusCodes.creationFailed,
  deleting: containerStatusCodes.deleting,
  exited: 10,
  dead: 11,
  lost: 12,
  unknown: 13,
}
export const statusCodeOf = (status: Container['status']): number => codes[status]
