import type { ErrorName } from '@zhisuan/contract/errors'
import { Refusal } from '../../../platform/errors.ts'

/** Whether something failed by this refusal, or because of it. */
export function isRefusalOf(error: unknown, name: ErrorName): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof Refusal && at.refusal === name) return true
  return false
}
