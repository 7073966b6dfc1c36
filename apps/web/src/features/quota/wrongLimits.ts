import { quotas, type QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { wrongWith } from '../../kit/rules.ts'
import type { LimitValues } from '../../kit/quotaLines.ts'

const limit = quotas.set.body.shape.limits.valueType.unwrap()

/** What the contract finds wrong with limits that are somebody's own. */
export function wrongLimits(values: LimitValues): Partial<Record<QuotaResource, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([resource, { mode, most }]) => {
      const why = mode === 'own' ? wrongWith(limit, most ?? undefined) : null
      return why === null ? [] : [[resource, why]]
    }),
  )
}
