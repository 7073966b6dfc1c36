import { useInfiniteQuery } from '@tanstack/react-query'
import type { Call, QueryInput } from '@zhisuan/contract/define'
import type { ApiError } from '../../api/client.ts'
import { request, type RequestInput } from '../../api/client.ts'
import type { z } from 'zod'

/** A list that is read on by key: `next` leads to what is older. */
export type OnwardsCall<Item> = Call<z.ZodType, z.ZodType, z.ZodType, z.ZodType<{ items: Item[]; next: string | null }>>

/** Pages of it as far as somebody read, newest first. */
export function useAllPages<Item, C extends OnwardsCall<Item>>(call: C, query: Partial<QueryInput<C>>) {
  const result = useInfiniteQuery<
    { items: Item[]; next: string | null },
    ApiError,
    { pages: { items: Item[]; next: string | null }[] },
    readonly unknown[],
    string | null
  >({
    queryKey: [call.id, query],
    // Assembled from the address: the server judges what is in it.
    queryFn: ({ pageParam, signal }) =>
      request(call, { query: { ...query, ...(pageParam !== null && { cursor: pageParam }) }, signal } as unknown as RequestInput<C>) as Promise<{
        items: Item[]
        next: string | null
      }>,
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    meta: { silent: true },
  })
  return { ...result, items: result.data?.pages.flatMap(({ items }) => items) ?? [] }
}
