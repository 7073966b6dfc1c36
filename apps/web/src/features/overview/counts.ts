import type { Cloud, CloudBasic } from '@zhisuan/contract/cmp/cloud'
import type { OverviewCounts } from '@zhisuan/contract/nextstack/overview'
import type { StatusTone } from '../../kit/StatusTag.tsx'

/** What needs somebody comes after what is in order and what passes by itself. */
const toneOrder = ['good', 'busy', 'rest', 'warning', 'bad'] as const satisfies readonly StatusTone[]

/** Of all kinds together: a status has the same name wherever it means the same. What is not named here passes by itself. */
const tones: Readonly<Record<string, StatusTone>> = {
  running: 'good',
  available: 'good',
  active: 'good',
  in_use: 'good',
  bound: 'good',
  stopped: 'rest',
  paused: 'warning',
  error: 'bad',
  lost: 'bad',
}
export const toneOf = (kind: OverviewCounts['kind'], status: string): StatusTone =>
  // An address that leads nowhere waits for its use; a volume, too, but it holds something.
  kind === 'nextstack.eip' && status === 'available' ? 'rest' : (tones[status] ?? 'busy')

/** How many there are of each tone, of those that there are any of, in order. */
export function byTone({ kind, statuses }: Pick<OverviewCounts, 'kind' | 'statuses'>): readonly { readonly tone: StatusTone; readonly count: number }[] {
  return toneOrder.flatMap((tone) => {
    const count = statuses.reduce((sum, one) => sum + (toneOf(kind, one.status) === tone ? one.count : 0), 0)
    return count > 0 ? [{ tone, count }] : []
  })
}

const isBroken = (cloud: Pick<CloudBasic, 'health'>): boolean =>
  cloud.health === 'unreachable' || cloud.health === 'unauthorised' || cloud.health === 'degraded'

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
