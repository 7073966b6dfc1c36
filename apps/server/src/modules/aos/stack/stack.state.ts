import { stackCan, stackTransitional, type StackDeployment, type StackStatus } from '@zhisuan/contract/aos/stack'
import { Refusal } from '../../../platform/errors.ts'
import type { ShownService } from './service.store.ts'
import type { ShownStack } from './stack.store.ts'

/** @throws Refusal 90010, or 95003 where the node is away, 95022 where its Docker is */
export function refuseUnlessStackAllows({ shown_status, edge, edge_gone }: ShownStack, action: keyof typeof stackCan): void {
  const allowed: readonly StackStatus[] = stackCan[action]
  // A node that was sent away leaves only what is known of it to delete.
  if (!edge.online && !(edge_gone && action === 'delete')) throw new Refusal('edgeOffline', { values: { name: edge.name } })
  if (allowed.includes(shown_status)) return
  throw shown_status === 'unknown' ? new Refusal('dockerUnavailable', { values: { name: edge.name } }) : new Refusal('stateForbids')
}

export function serviceStatus(
  stack: Pick<ShownStack, 'shown_status' | 'edge'>,
  { running, replicas }: Pick<ShownService, 'running' | 'replicas'>,
): StackStatus {
  if (stackTransitional.includes(stack.shown_status)) return stack.shown_status
  if (!stack.edge.online || stack.shown_status === 'unknown') return 'unknown'
  if (running === 0) return stack.shown_status === 'error' && replicas > 0 ? 'error' : 'stopped'
  return running >= replicas ? 'running' : 'degraded'
}

/** Of all its stacks. */
export function deploymentStatus(statuses: readonly StackStatus[]): StackDeployment['status'] {
  const passing = stackTransitional.find((status) => statuses.includes(status))
  if (passing !== undefined) return passing
  const [first] = statuses
  if (first !== undefined && statuses.every((status) => status === first)) return first
  return 'degraded'
}
