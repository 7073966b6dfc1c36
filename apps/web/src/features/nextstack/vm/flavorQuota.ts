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

type Size = Pick<Flavor, 'cpu_cores' | 'memory_bytes' | 'gpu'>
const takenBy = (vms: number, { cpu_cores, memory_bytes, gpu }: Size): Readonly<Record<Counted, number>> => ({
  vms,
  cpu_cores,
  memory_bytes,
  gpus: gpu?.count ?? 0,
})

/** What so many instances of a size would take too much of, first of all; null where they fit. */
export function beyondQuota(flavor: Size, count: number, left: QuotaLeft): QuotaLeft[number] | null {
  const wanted = takenBy(1, flavor)
  return left.find((line) => wanted[line.resource] * count > line.left) ?? null
}

/** The same of an instance that gets another size, and gives its own back. */
export function resizeBeyondQuota(from: Omit<Size, 'gpu'>, to: Size, left: QuotaLeft): QuotaLeft[number] | null {
  // Its cards stay as they are.
  const [held, wanted] = [takenBy(0, { ...from, gpu: null }), takenBy(0, { ...to, gpu: null })]
  return left.find(({ resource, left: rest }) => wanted[resource] > held[resource] && wanted[resource] - held[resource] > rest) ?? null
}
