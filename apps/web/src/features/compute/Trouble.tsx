import type { Problem } from '@zhisuan/contract/problem'
import type { ApiError } from '../../api/client.ts'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { FailedServices } from '../../kit/FailedServices.tsx'

/** A list of a cloud's, as `useCloudLines` reads it. */
export interface Lines {
  readonly data: { readonly done: boolean; readonly failed: readonly Problem[] } | undefined
  readonly error: ApiError | null
  readonly refetch: () => unknown
}

/** It ended before all of it was there; what came until then may be there. One that was read whole before is not. */
export const isBroken = ({ data, error }: Lines): boolean => error !== null && data?.done !== true

/** Says beside a choice or a picture what of the lists behind it could not be read, and reads that again. */
export function Trouble({ of }: { readonly of: readonly Lines[] }) {
  const again = (): void => {
    for (const one of of) if (isBroken(one) || (one.data?.failed.length ?? 0) > 0) void one.refetch()
  }
  const error = of.find(isBroken)?.error ?? null
  if (error !== null) return <ErrorPanel error={error} onRetry={again} />
  return <FailedServices failed={of.flatMap(({ data }) => data?.failed ?? [])} onRetry={again} />
}
