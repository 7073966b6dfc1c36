import { constants } from '@zhisuan/contract/constants'
import { useMemo, type ReactNode } from 'react'
import { useLines, type ItemOf, type Listed, type LinesCall } from '../api/hooks.ts'
import type { RequestInput } from '../api/client.ts'
import { arranged, type Arranging } from './arrange.ts'
import type { Column } from './columns.tsx'
import { FailedServices } from './FailedServices.tsx'
import { readingOf } from './ResourceTable.tsx'
import { RowsTable, useTableState, type AnyRowKey, type RowKey, type TableParts } from './RowsTable.tsx'

export interface LinesParts<C extends LinesCall> extends Omit<TableParts<ItemOf<C>>, 'columns'>, Arranging<ItemOf<C>> {
  readonly call: C
  /** What is asked for; null while it is not known. */
  readonly input: RequestInput<C> | null
  /** `name` says what something is called that a row names by its id; the id where that is not known (yet). */
  readonly columns: (name: (id: string | null) => string) => readonly Column<ItemOf<C>>[]
  /** Only these, where a page shows a part of the list. */
  readonly only?: (row: ItemOf<C>) => boolean
  /** Above the table, of all that was read. */
  readonly above?: (listed: Listed<ItemOf<C>>) => ReactNode
}

const busyMs = 3_000
/** What a form offers is looked at when it is opened: it changes seldom, and there is much of it. */
const choicesMs = 60_000

/**
 * A list that comes in lines, as an engine tells it now: shown as it comes, sorted, filtered and paged here. What a
 * service that failed would have told is missing, and said.
 */
export function LinesTable<C extends LinesCall>(table: RowKey<ItemOf<C>> & LinesParts<C>) {
  const { call, input, columns: columnsOf, passing, only, above, ...props }: AnyRowKey<ItemOf<C>> & LinesParts<C> = table
  const stands = useTableState(props)
  const { state } = stands
  const result = useFollowedLines(call, input, passing)
  const { data } = result
  const names = data?.names ?? {}
  const columns = columnsOf((id) => (id === null ? '' : (names[id] ?? id)))
  const rows = useMemo(() => {
    const all = data?.items ?? []
    const sortBy = { ...Object.fromEntries(columns.flatMap(({ key, by }) => (by === undefined ? [] : [[key, by]]))), ...props.sortBy }
    return arranged(only === undefined ? all : all.filter(only), state, { ...props, sortBy })
    // The rules are written anew with each render, and say the same.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [data?.items, state.sort, JSON.stringify(state.filters)])
  return (
    <>
      <FailedServices failed={data?.failed ?? []} onRetry={() => void result.refetch()} />
      {data !== undefined && above?.(data)}
      <RowsTable<ItemOf<C>>
        {...props}
        columns={columns}
        list={call.id}
        table={stands}
        shown={{ ...readingOf(result), rows: rows.slice((state.page - 1) * state.size, state.page * state.size), total: rows.length }}
      />
    </>
  )
}

/** The list itself, for what is no table: a picture, or what a thing is connected to. */
export const useFollowedLines = <C extends LinesCall>(call: C, input: RequestInput<C> | null, busy?: (row: ItemOf<C>) => boolean) =>
  // Nothing is asked without an input.
  useLines(call, input ?? ({} as RequestInput<C>), {
    enabled: input !== null,
    refreshMs: (listed) => (busy !== undefined && listed?.items.some(busy) === true ? busyMs : constants.listRefreshMs),
  })

/** The same for what a form offers. */
export const useChoiceLines = <C extends LinesCall>(call: C, input: RequestInput<C> | null) =>
  useLines(call, input ?? ({} as RequestInput<C>), { enabled: input !== null, refreshMs: () => choicesMs })
