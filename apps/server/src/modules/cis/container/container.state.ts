import { containerCan, type Container, type ContainerStatus } from '@zhisuan/contract/cis/container'
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

/** Specification section 4, of one that people deployed and of one that a stack made; what it has no number for is 10 to 13. */
const codes: Readonly<Record<ContainerStatus, readonly [own: number, ofStack: number]>> = {
  creating: [0, 6],
  running: [1, 1],
  restarting: [1, 1],
  paused: [1, 1],
  error: [2, 7],
  deleting: [3, 8],
  exited: [10, 10],
  dead: [11, 11],
  lost: [12, 12],
  unknown: [13, 13],
}
export const statusCodeOf = (status: Container['status'], ofStack: boolean): number => codes[status][ofStack ? 1 : 0]
