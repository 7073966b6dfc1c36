import Button from 'antd/es/button'
import Pagination from 'antd/es/pagination'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { useState, type Key, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router'
import { constants } from '@zhisuan/contract/constants'
import type { Call, QueryInput, ResponseOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import type { RequestInput } from '../api/client.ts'
import { useCall } from '../api/hooks.ts'
import { ActionMenu, type Action } from './actions.tsx'
import { BatchBar, type BatchAction } from './BatchBar.tsx'
import type { Column } from './columns.tsx'
import { useShownColumns } from './columnSettings.ts'
import { EmptyState } from './EmptyState.tsx'
import { ErrorPanel } from './ErrorPanel.tsx'
import * as format from './format.ts'
import type { Filter } from './filters.ts'
import { TableToolbar } from './TableToolbar.tsx'
import { readTableState, writeTableState, type TableState } from './tableState.ts'

/** A call that answers how many there are. */
export type ListCall = Call<z.ZodType, z.ZodType, z.ZodType, z.ZodType<{ total: number }>>

/** What the one array of a list's response holds. */
export type RowOf<C extends Call> = Extract<ResponseOf<C>[keyof ResponseOf<C>], readonly object[]>[number]

/** What stays the same whatever page, sort and filters the person chooses. */
export interface TableInput<C extends Call> {
  readonly params?: z.input<C['params']>
  readonly query?: Partial<QueryInput<C>>
}

export interface ResourceTableProps<C extends ListCall> {
  readonly call: C
  readonly input?: TableInput<C>
  readonly rows: (response: ResponseOf<C>) => readonly RowOf<C>[]
  readonly rowKey: keyof RowOf<C> & string
  readonly columns: readonly Column<RowOf<C>>[]
  readonly filters?: readonly Filter[]
  readonly rowActions?: (row: RowOf<C>) => readonly Action[]
  readonly batchActions?: readonly BatchAction<RowOf<C>>[]
  /** What a row is called in a batch's summary. */
  readonly nameOf?: (row: RowOf<C>) => ReactNode
  readonly toolbar?: ReactNode
  /** What stands here while there is nothing at all (not: while nothing matches the filters). */
  readonly empty?: ReactNode
  /** 5,000 ms; false for what does not change by itself; a function decides by what was read last. */
  readonly refreshMs?: number | false | ((response: ResponseOf<C> | undefined) => number | false)
  /** Sets the lists of one page apart in the address. */
  readonly name?: string
  /** Until something else is there, such as the chosen cloud. */
  readonly enabled?: boolean
}

/**
 * A list of what a call answers: paging, sort and filters in the address, column settings, refresh,
 * selection and batch actions, empty, error and loading states. Calls without `page_num` are paged here.
 */
export function ResourceTable<C extends ListCall>(props: ResourceTableProps<C>) {
  type Row = RowOf<C>
  const { call, rowKey, filters = [], batchActions = [], name = '' } = props
  const { t } = useTranslation('kit')
  const prefix = name === '' ? '' : `${name}.`
  const [search, setSearch] = useSearchParams()
  const state = readTableState(
    search,
    filters.map((filter) => filter.key),
    prefix,
  )
  const change = (next: Partial<TableState>): void => setSearch((now) => writeTableState(now, next, prefix), { replace: next.page === undefined })
  const [selected, setSelected] = useState<ReadonlyMap<Key, Row>>(new Map())
  const [shownColumns, columnSettings] = useShownColumns<Row>(
    `${call.id}${prefix}`,
    // NoInfer<Row> is Row, but antd's conditional types cannot see that while it is open.
    props.columns as readonly Column<Row>[],
  )

  const paged = call.query instanceof z.ZodObject && 'page_num' in call.query.shape
  const query = {
    ...props.input?.query,
    ...state.filters,
    ...(paged && { page_num: state.page, page_size: state.size }),
    ...(paged && state.sort !== null && { sort: state.sort }),
  }
  const refreshMs = props.refreshMs ?? constants.listRefreshMs
  const result = useCall(
    call,
    // Assembled from the address: the server judges what is in it.
    { ...props.input, query } as unknown as RequestInput<C>,
    { ...(refreshMs !== false && { refreshMs }), enabled: props.enabled ?? true },
  )

  const all = result.data === undefined ? [] : props.rows(result.data)
  // Type parameters hide from the compiler that every ListCall's response has a total.
  const total = (result.data as { total: number } | undefined)?.total ?? 0
  const rows = paged ? all : all.slice((state.page - 1) * state.size, state.page * state.size)
  const clearFilters = (): void => change({ page: 1, filters: Object.fromEntries(filters.map((filter) => [filter.key, ''])) })
  const filtered = Object.keys(state.filters).length > 0
  const first = result.data === undefined && result.error === null
  const lastPage = Math.max(1, Math.ceil(total / state.size))
  const beyond = !first && result.error === null && rows.length === 0 && total > 0 && state.page > lastPage

  const columns: Column<Row>[] = shownColumns.map((column) => ({
    ...column,
    // On a phone a row is a card, and each cell says itself what it is. React's types know data- attributes in JSX only.
    onCell: () => ({ 'data-label': column.title }) as object,
    ...(column.sorter === true && {
      sortOrder: state.sort === column.key ? ('ascend' as const) : state.sort === `-${column.key}` ? ('descend' as const) : null,
    }),
  }))
  if (props.rowActions !== undefined) {
    const { rowActions } = props
    columns.push({
      key: '@actions',
      title: t('table.actions'),
      className: 'zs-cell-actions',
      fixed: 'end',
      width: 136,
      render: (_, row) => <ActionMenu actions={rowActions(row)} />,
    })
  }

  // A deleted row must not stay selected; what was selected on other pages stays.
  const current = new Map(selected)
  for (const row of rows) {
    const key = row[rowKey] as Key
    if (current.has(key)) current.set(key, row)
  }
  const textOf = (row: Row): string => String('name' in row ? row.name : row[rowKey])
  const nameOf = props.nameOf ?? textOf

  const placeholder =
    result.error !== null ? (
      <ErrorPanel error={result.error} onRetry={() => void result.refetch()} />
    ) : beyond ? (
      <EmptyState title={t('table.beyond')} action={<Button onClick={() => change({ page: lastPage })}>{t('table.toLast')}</Button>} />
    ) : filtered ? (
      <EmptyState title={t('table.noMatch')} action={<Button onClick={clearFilters}>{t('table.clearFilters')}</Button>}>
        {t('table.noMatchNote')}
      </EmptyState>
    ) : (
      (props.empty ?? <EmptyState title={t('table.empty')} />)
    )

  return (
    <section className="zs-table" aria-busy={result.isFetching}>
      <TableToolbar
        list={call.id}
        filters={filters}
        values={state.filters}
        onFilter={(values) => change({ page: 1, filters: values })}
        onClear={clearFilters}
        onRefresh={() => void result.refetch()}
        refreshing={result.isFetching}
        staleSince={result.error !== null && result.data !== undefined ? result.dataUpdatedAt : null}
        columnSettings={columnSettings}
      >
        {props.toolbar}
      </TableToolbar>
      {current.size > 0 && <BatchBar rows={[...current.values()]} nameOf={nameOf} actions={batchActions} onClear={() => setSelected(new Map())} />}
      <Table<Row>
        size="small"
        rowKey={rowKey}
        columns={columns}
        dataSource={first ? [] : [...rows]}
        pagination={false}
        scroll={{ x: 'max-content' }}
        locale={{ emptyText: first ? <Skeleton active title={false} paragraph={{ rows: 6, width: '100%' }} /> : placeholder }}
        onChange={(_page, _filters, sorter) => {
          const one = Array.isArray(sorter) ? sorter[0] : sorter
          const key = one?.columnKey
          change({ page: 1, sort: one?.order == null || key === undefined ? null : one.order === 'descend' ? `-${String(key)}` : String(key) })
        }}
        {...(batchActions.length > 0 && {
          rowSelection: {
            getTitleCheckboxProps: () => ({ 'aria-label': t('table.selectAll') }),
            getCheckboxProps: (row: Row) => ({ 'aria-label': t('table.select', { name: textOf(row) }) }),
            selectedRowKeys: [...current.keys()],
            preserveSelectedRowKeys: true,
            onChange: (_keys: Key[], chosen: (Row | undefined)[]) => {
              const next = new Map<Key, Row>()
              for (const key of _keys) {
                const row = chosen.find((one) => one !== undefined && one[rowKey] === key) ?? current.get(key)
                if (row !== undefined) next.set(key, row)
              }
              setSelected(next)
            },
          },
        })}
      />
      {total > 0 && (
        <div className="zs-table-foot">
          <Pagination
            size="small"
            current={state.page}
            pageSize={state.size}
            total={total}
            showSizeChanger
            pageSizeOptions={[...constants.pageSizes]}
            showTotal={(count) => t('table.total', { total: format.number(count) })}
            onChange={(page, size) => change(size === state.size ? { page } : { page: 1, size })}
          />
        </div>
      )}
    </section>
  )
}
