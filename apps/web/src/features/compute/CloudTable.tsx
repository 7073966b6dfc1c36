import { useMemo, type ReactNode } from 'react'
import type { z } from 'zod'
import { useLines, type ItemOf, type Listed, type LinesCall } from '../../api/hooks.ts'
import type { RequestInput } from '../../api/client.ts'
import { readingOf } from '../../kit/ResourceTable.tsx'
import { RowsTable, useTableState, type TableProps } from '../../kit/RowsTable.tsx'
import { arranged, type Arranging } from './arrange.ts'
import { FailedServices } from './FailedServices.tsx'

/** A list of one cloud's, which comes in lines. */
export type CloudListCall = LinesCall & { readonly params: z.ZodType<{ cloud_id: string }> }

export interface CloudTableProps<C extends CloudListCall> extends Omit<TableProps<ItemOf<C>>, 'columns'>, Arranging<ItemOf<C>> {
  readonly call: C
  /** Null while it is not known. */
  readonly cloudId: string | null
  /** `name` says what something is called that a row names by its id; the id where that is not known (yet). */
  readonly columns: (name: (id: string | null) => string) => TableProps<ItemOf<C>>['columns']
  /** Whether something is under way that will soon be over: then it is read again after seconds instead of a minute. */
  readonly busy?: (row: ItemOf<C>) => boolean
  /** Only these, where a page shows a part of the list. */
  readonly only?: (row: ItemOf<C>) => boolean
  /** Above the table, of all that was read. */
  readonly above?: (listed: Listed<ItemOf<C>>) => ReactNode
}

const busyMs = 3_000
const restMs = 60_000

/**
 * A list as the cloud tells it now: shown as it comes, sorted, filtered and paged here. What a service that failed
 * would have told is missing, and said.
 */
export function CloudTable<C extends CloudListCall>({ call, cloudId, columns, busy, only, above, ...props }: CloudTableProps<C>) {
  const table = useTableState(props)
  const { state } = table
  const result = useCloudLines(call, cloudId, busy)
  const { data } = result
  const rows = useMemo(() => {
    const all = data?.items ?? []
    return arranged(only === undefined ? all : all.filter(only), state, props)
    // The rules are written anew with each render, and say the same.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [data?.items, state.sort, JSON.stringify(state.filters)])
  const names = data?.names ?? {}
  return (
    <>
      <FailedServices failed={data?.failed ?? []} onRetry={() => void result.refetch()} />
      {data !== undefined && above?.(data)}
      <RowsTable<ItemOf<C>>
        {...props}
        columns={columns((id) => (id === null ? '' : (names[id] ?? id)))}
        list={call.id}
        table={table}
        shown={{ ...readingOf(result), rows: rows.slice((state.page - 1) * state.size, state.page * state.size), total: rows.length }}
      />
    </>
  )
}

/** The list itself, for what is no table: a choice in a form, a picture. */
export const useCloudLines = <C extends CloudListCall>(call: C, cloudId: string | null, busy?: (row: ItemOf<C>) => boolean) =>
  useLines(
    call,
    // What a list of one cloud's wants is that cloud's id; the type of C stays open here.
    { params: { cloud_id: cloudId ?? '' } } as unknown as RequestInput<C>,
    { enabled: cloudId !== null, refreshMs: (listed) => (busy !== undefined && listed?.items.some(busy) === true ? busyMs : restMs) },
  )
