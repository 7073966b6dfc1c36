import type { Flavor } from '@zhisuan/contract/nextstack/flavor'
import type { QuotaLine } from '@zhisuan/contract/nextstack/quota'

const counted = ['vms', 'cpu_cores', 'memory_bytes', 'gpus'] as const
type Counted = (typeof counted)[number]
export type QuotaLeft = readonly { readonly resource: Counted; readonly left: number }[]

/** What of an organisation's quota is left for instances; what has no limit is left out. */
export const quotaLeft = (lines: readonly QuotaLine[]): QuotaLeft =>
  counted.flatMap((resource) => {
    const line = lines.find((one) => one.resource === resource)
    return line === undefined || line.limit === null ? [] : [{ resource, left: Math.max(0, line.limit - line.used) }]
  })

/** What so many instances of a size would take too much of, first of all; null where they fit. */
export function beyondQuota(flavor: Pick<Flavor, 'cpu_cores' | 'memory_bytes' | 'gpu'>, count: number, left: QuotaLeft): QuotaLeft[number] | null {
  const wanted: Readonly<Record<Counted, number>> = { vms: 1, cpu_cores: flavor.cpu_cores, memory_bytes: flavor.memory_bytes, gpus: flavor.gpu?.count ?? 0 }
  return left.find((line) => wanted[line.resource] * count > line.left) ?? null
}
