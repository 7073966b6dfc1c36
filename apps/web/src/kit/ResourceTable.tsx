import type { UseQueryResult } from '@tanstack/react-query'
import { constants } from '@zhisuan/contract/constants'
import type { Call, QueryInput, ResponseOf } from '@zhisuan/contract/define'
import type { z } from 'zod'
import type { ApiError, RequestInput } from '../api/client.ts'
import { useCall } from '../api/hooks.ts'
import { whilePassing } from './whilePassing.ts'
import { RowsTable, useTableState, type AnyRowKey, type RowKey, type ShownRows, type TableParts } from './RowsTable.tsx'

/** A call that answers how many there are. */
export type ListCall = Call<z.ZodType, z.ZodType, z.ZodType, z.ZodType<{ total: number }>>

/** What the one array of a list's response holds. */
export type RowOf<C extends Call> = Extract<ResponseOf<C>[keyof ResponseOf<C>], readonly object[]>[number]

/** What stays the same whatever page, sort and filters the person chooses. */
export interface TableInput<C extends Call> {
  readonly params?: z.input<C['params']>
  readonly query?: Partial<QueryInput<C>>
}

/** Where an answer has its rows. */
interface AnyRows<C extends ListCall> {
  readonly rows?: (response: ResponseOf<C>) => readonly RowOf<C>[]
}

/** Left out where the answer calls them `items`. */
type Rows<C extends ListCall> = AnyRows<C> & ([ResponseOf<C>] extends [{ readonly items: readonly RowOf<C>[] }] ? unknown : { readonly rows: unknown })

interface Asked<C extends ListCall> extends TableParts<RowOf<C>> {
  readonly call: C
  readonly input?: TableInput<C>
  /** 5,000 ms, 1,000 while a row is `passing`; false for what does not change by itself; a function decides by what was read last. */
  readonly refreshMs?: number | false | ((response: ResponseOf<C> | undefined) => number | false)
  /** Until something else is there, such as the chosen cloud. */
  readonly enabled?: boolean
}

/**
 * A list of what a call answers: paging, sort and filters in the address, column settings, refresh,
 * selection and batch actions, empty, error and loading states. What comes whole is paged here.
 */
export function ResourceTable<C extends ListCall>(table: RowKey<RowOf<C>> & Rows<C> & Asked<C>) {
  const {
    call,
    input,
    // That an answer without `rows` has `items` is known to the types of each table.
    rows: rowsOf = (response) => (response as { readonly items: readonly RowOf<C>[] }).items,
    refreshMs = constants.listRefreshMs,
    enabled = true,
    ...props
  }: AnyRowKey<RowOf<C>> & AnyRows<C> & Asked<C> = table
  const { passing } = props
  const stands = useTableState(props)
  const { state } = stands
  const { paged } = call
  const query = {
    ...input?.query,
    ...state.filters,
    ...(paged && { page_num: state.page, page_size: state.size }),
    ...(paged && state.sort !== null && { sort: state.sort }),
  }
  const how =
    passing === undefined ? refreshMs : (response: ResponseOf<C> | undefined) => whilePassing(response === undefined ? undefined : rowsOf(response), passing)
  const result = useCall(
    call,
    // Assembled from the address: the server judges what is in it.
    { ...input, query } as unknown as RequestInput<C>,
    { ...(how !== false && { refreshMs: how }), enabled },
  )
  const all = result.data === undefined ? [] : rowsOf(result.data)
  return (
    <RowsTable<RowOf<C>>
      {...props}
      list={call.id}
      table={stands}
      shown={{
        ...readingOf(result),
        rows: paged ? all : all.slice((state.page - 1) * state.size, state.page * state.size),
        // Type parameters hide from the compiler that every ListCall's response has a total.
        total: (result.data as { total: number } | undefined)?.total ?? 0,
      }}
    />
  )
}

/** How reading stands, as a table shows it. */
export const readingOf = (result: UseQueryResult<unknown, ApiError>): Omit<ShownRows<never>, 'rows' | 'total'> => ({
  first: result.data === undefined && result.error === null,
  error: result.error,
  reading: result.isFetching,
  staleSince: result.error !== null && result.data !== undefined ? result.dataUpdatedAt : null,
  again: () => void result.refetch(),
})
