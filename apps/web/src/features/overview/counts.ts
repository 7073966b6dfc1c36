import type { Cloud, CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { vmStatuses, vmTransitional, type VmStatus } from '@zhisuan/contract/nextstack/vm'

export type StatusCounts = Readonly<Partial<Record<VmStatus, number>>>

export interface StatusCount {
  readonly status: VmStatus
  readonly count: number
}

/** What needs somebody comes after what is in order and what passes by itself. */
const order: readonly VmStatus[] = [
  'running',
  ...vmTransitional,
  ...vmStatuses.filter((status) => status !== 'running' && !vmTransitional.includes(status)),
]

/** How many there are of each status, from all of them. */
export function countByStatus(vms: readonly { readonly status: VmStatus }[]): StatusCounts {
  const counts: Partial<Record<VmStatus, number>> = {}
  for (const { status } of vms) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Those that there are any of, in order. */
export const statusesOf = (counts: StatusCounts): StatusCount[] =>
  order.flatMap((status) => {
    const count = counts[status] ?? 0
    return count > 0 ? [{ status, count }] : []
  })

const isBroken = (cloud: Pick<CloudBasic, 'health'>): boolean => cloud.health === 'unreachable' || cloud.health === 'unauthorised'

/** What needs looking at first: those that do not answer, then the fullest. */
export const byConcern = <C extends Pick<Cloud, 'health' | 'usage' | 'status' | 'name'>>(clouds: readonly C[]): C[] =>
  [...clouds].sort(
    (left, right) =>
      Number(left.status === 'offline') - Number(right.status === 'offline') ||
      Number(isBroken(right)) - Number(isBroken(left)) ||
      (right.usage ?? -1) - (left.usage ?? -1) ||
      left.name.localeCompare(right.name, 'zh'),
  )

/** Clouds on which something can be made now. */
export const usable = <C extends Pick<CloudBasic, 'status'>>(clouds: readonly C[]): C[] => clouds.filter((cloud) => cloud.status === 'active')
