import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query'
import type { Call, ResponseOf } from '@zhisuan/contract/define'
import type { Problem } from '@zhisuan/contract/problem'
import { useEffect, useRef, useState } from 'react'
import type { z } from 'zod'
import { randomUuid } from '../kit/uuid.ts'
import { noAnswer, ApiError, request, requestLines, type RequestInput } from './client.ts'

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

/** Reads one thing for its own page: the page says what failed, and once the thing is gone nobody asks for it again. */
export function useOne<C extends Call>(call: C, input: RequestInput<C>, options: Omit<CallOptions<C>, 'silent'> = {}): UseQueryResult<ResponseOf<C>, ApiError> {
  const [gone, setGone] = useState(false)
  const query = useCall(call, input, { ...options, silent: true, enabled: (options.enabled ?? true) && !gone })
  const missing = query.error?.status === 404
  useEffect(() => setGone(missing), [missing])
  return query
}

export interface ChangeOptions<C extends Call> {
  readonly onDone?: (response: ResponseOf<C>, input: RequestInput<C>) => void
  /** Calls whose answers are no longer true. */
  readonly invalidates?: readonly Call[]
  /** No toast: who asks says what failed, as forms, actions and batches do. */
  readonly silent?: boolean
}

/**
 * Makes a call that changes something. Errors are toasted, except refused fields, which forms show.
 * While it runs, asking for the very same again is the same: a second click sends nothing.
 */
export function useChange<C extends Call>(call: C, options: ChangeOptions<C> = {}): UseMutationResult<ResponseOf<C>, ApiError, RequestInput<C>> {
  const client = useQueryClient()
  const running = useRef(new Map<string, Promise<ResponseOf<C>>>())
  const keys = useRef(new Map<string, string>())
  const mutation = useMutation<ResponseOf<C>, ApiError, RequestInput<C>>({
    mutationKey: [call.id],
    mutationFn: async (input) => {
      if (!call.keyed) return request(call, input)
      // Whatever became of it: the same wish, asked again, is the same until it is known to be done.
      const wish = JSON.stringify(input)
      const key = keys.current.get(wish) ?? randomUuid()
      keys.current.set(wish, key)
      const answer = await request(call, { ...input, key })
      keys.current.delete(wish)
      return answer
    },
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

/** A list that comes in lines: packages/contract/src/line.ts. */
export type LinesCall = Call<z.ZodType, z.ZodType, z.ZodType, z.ZodType<LineLike>>
interface LineLike {
  readonly items?: readonly unknown[] | undefined
  readonly names?: Readonly<Record<string, string>> | undefined
  readonly failed?: Problem | undefined
  readonly done?: true | undefined
}
export type ItemOf<C extends Call> = Extract<NonNullable<Extract<ResponseOf<C>, LineLike>['items']>[number], object>

export interface Listed<Item> {
  readonly items: readonly Item[]
  /** What things that items name by id are called. */
  readonly names: Readonly<Record<string, string>>
  readonly failed: readonly Problem[]
  /** All of it is there. */
  readonly done: boolean
}

/**
 * Reads a list that comes in lines. The first time it is shown as it comes; when it is read again, what was shown
 * stays until the new list is whole.
 */
export function useLines<C extends LinesCall>(
  call: C,
  input: RequestInput<C>,
  options: { readonly refreshMs?: (listed: Listed<ItemOf<C>> | undefined) => number | false; readonly enabled?: boolean; readonly silent?: boolean } = {},
): UseQueryResult<Listed<ItemOf<C>>, ApiError> {
  const client = useQueryClient()
  const queryKey = [call.id, input]
  const { refreshMs } = options
  return useQuery<Listed<ItemOf<C>>, ApiError>({
    queryKey,
    queryFn: async ({ signal }) => {
      const fresh = client.getQueryData<Listed<ItemOf<C>>>(queryKey)?.done !== true
      let listed: Listed<ItemOf<C>> = { items: [], names: {}, failed: [], done: false }
      await requestLines(call, { ...input, signal }, (read) => {
        // What ResponseOf is here stays open, though every LinesCall has it.
        const line = read as LineLike
        listed = {
          items: line.items === undefined ? listed.items : [...listed.items, ...(line.items as ItemOf<C>[])],
          names: line.names === undefined ? listed.names : { ...listed.names, ...line.names },
          failed: line.failed === undefined ? listed.failed : [...listed.failed, line.failed],
          done: line.done ?? listed.done,
        }
        // Names alone are no list yet: it would look like an empty one.
        if (fresh && !signal.aborted && !listed.done && listed.items.length > 0) client.setQueryData(queryKey, listed)
      })
      if (!listed.done) throw brokenOff(call, listed.failed.at(-1))
      return listed
    },
    enabled: options.enabled ?? true,
    refetchInterval: refreshMs === undefined ? false : (query) => refreshMs(query.state.data),
    meta: { silent: options.silent ?? false },
  })
}

/** What ended a list in the middle: what the server said last, else that the answer broke off. */
const brokenOff = (call: Call, why: Problem | undefined): ApiError =>
  why === undefined
    ? new ApiError({ method: call.method, path: call.path, status: 0, code: noAnswer.offline, message: '' })
    : new ApiError({
        method: call.method,
        path: call.path,
        status: 502,
        code: why.code,
        message: why.message,
        requestId: why.request_id,
        engine: why.engine ?? null,
        detail: why.detail ?? null,
      })
