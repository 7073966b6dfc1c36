import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query'
import type { Call, ResponseOf } from '@zhisuan/contract/define'
import { useRef } from 'react'
import { request, type ApiError, type RequestInput } from './client.ts'

export interface CallOptions<C extends Call> {
  /** Reads again after so many milliseconds; a function may decide by what was read last. */
  readonly refreshMs?: number | ((data: ResponseOf<C> | undefined) => number | false)
  readonly enabled?: boolean
  /** No toast: the page says itself what failed. */
  readonly silent?: boolean
}

/** Reads a call; what was shown stays while the next page of it arrives. */
export function useCall<C extends Call>(call: C, input: RequestInput<C>, options: CallOptions<C> = {}): UseQueryResult<ResponseOf<C>, ApiError> {
  const { refreshMs } = options
  return useQuery<ResponseOf<C>, ApiError, ResponseOf<C>>({
    queryKey: [call.id, input],
    queryFn: ({ signal }) => request(call, { ...input, signal }),
    enabled: options.enabled ?? true,
    // Its overloads cannot see that ResponseOf<C> is never a function.
    placeholderData: keepPreviousData as never,
    refetchInterval: typeof refreshMs === 'function' ? (query) => refreshMs(query.state.data) : (refreshMs ?? false),
    meta: { silent: options.silent ?? false },
  })
}

export interface ChangeOptions<C extends Call> {
  readonly onDone?: (response: ResponseOf<C>, input: RequestInput<C>) => void
  /** Calls whose answers are no longer true. */
  readonly invalidates?: readonly Call[]
  readonly silent?: boolean
}

/**
 * Makes a call that changes something. Errors are toasted, except refused fields, which forms show.
 * While it runs, asking for the very same again is the same: a second click sends nothing.
 */
export function useChange<C extends Call>(call: C, options: ChangeOptions<C> = {}): UseMutationResult<ResponseOf<C>, ApiError, RequestInput<C>> {
  const client = useQueryClient()
  const running = useRef(new Map<string, Promise<ResponseOf<C>>>())
  const mutation = useMutation<ResponseOf<C>, ApiError, RequestInput<C>>({
    mutationKey: [call.id],
    mutationFn: (input) => request(call, input),
    meta: { silent: options.silent ?? false },
    onSuccess: (response, input) => options.onDone?.(response, input),
    // After a failure too: a 409 means that what is shown was old.
    onSettled: () => {
      for (const stale of options.invalidates ?? []) void client.invalidateQueries({ queryKey: [stale.id] })
    },
  })
  const mutateAsync: typeof mutation.mutateAsync = (...asked) => {
    const key = JSON.stringify(asked[0])
    const same = running.current.get(key)
    if (same !== undefined) return same
    const sent = mutation.mutateAsync(...asked).finally(() => running.current.delete(key))
    running.current.set(key, sent)
    return sent
  }
  // What failed is told by the caches and the callbacks.
  return { ...mutation, mutateAsync, mutate: (...asked) => void mutateAsync(...asked).catch(() => undefined) }
}
