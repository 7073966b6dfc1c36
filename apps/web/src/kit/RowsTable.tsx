import Button from 'antd/es/button'
import Pagination from 'antd/es/pagination'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { useState, type Key, type ReactNode } from 'react'
import { useTranslation } from '../i18n.ts'
import { useSearchParams } from 'react-router'
import { constants } from '@zhisuan/contract/constants'
import type { ApiError } from '../api/client.ts'
import { ActionButton, ActionMenu, type Action } from './actions.tsx'
import { BatchBar, type BatchAction } from './BatchBar.tsx'
import type { Column } from './columns.tsx'
import { useShownColumns } from './columnSettings.ts'
import { EmptyState } from './EmptyState.tsx'
import { ErrorPanel } from './ErrorPanel.tsx'
import * as format from './format.ts'
import type { Filter } from './filters.ts'
import { TableToolbar } from './TableToolbar.tsx'
import { readTableState, writeTableState, type TableState } from './tableState.ts'
import './table.css'

/** What a list's rows are made by. */
export interface CreateAction extends Omit<Action, 'key'> {
  /** Known before anybody fills anything in. */
  readonly call: NonNullable<Action['call']>
  /** Not the page's main action, such as in a tab of something else's page. */
  readonly plain?: boolean
}

/** What stands where no rows do. */
export interface EmptyText {
  readonly title: string
  readonly note?: ReactNode
  /** How to get the first one, where that is not by `create`. */
  readonly action?: ReactNode
}

/** What a row is known by; a function where that takes more than one of its fields. */
export interface AnyRowKey<Row> {
  readonly rowKey?: (keyof Row & string) | ((row: Row) => string)
}

/** Left out where rows have an `id`. */
export type RowKey<Row> = AnyRowKey<Row> & ([Row] extends [{ readonly id: string | number }] ? unknown : { readonly rowKey: unknown })

/** What is the same in every list, wherever its rows come from. */
export interface TableParts<Row> {
  readonly columns: readonly Column<Row>[]
  readonly filters?: readonly Filter[]
  readonly rowActions?: (row: Row) => readonly Action[]
  readonly batchActions?: readonly BatchAction<Row>[]
  /** What a row is called in a batch's summary. */
  readonly nameOf?: (row: Row) => ReactNode
  /** How another one is made: a button at the head of the toolbar, and again where there is none yet. Off until the list can be asked for. */
  readonly create?: CreateAction | null
  /** Whether a row will look different soon: then the list is read again after seconds. */
  readonly passing?: (row: Row) => boolean
  /** Beside `create`. Of the filters in the address, where it needs them: the server judges what is in it. */
  readonly toolbar?: ReactNode | ((filters: Readonly<Record<string, string>>) => ReactNode)
  /** What stands here while there is nothing at all (not: while nothing matches the filters). */
  readonly empty?: EmptyText
  /** Sets the lists of one page apart in the address. */
  readonly name?: string | undefined
}

/** What there is to show of a page of rows, and how reading them stands. */
export interface ShownRows<Row> {
  /** Of this page. */
  readonly rows: readonly Row[]
  /** On all pages. */
  readonly total: number
  /** Nothing has come yet. */
  readonly first: boolean
  readonly error: ApiError | null
  readonly reading: boolean
  /** Since when what is shown is old, where reading it again failed. */
  readonly staleSince: number | null
  readonly again: () => void
}

/** Where a list stands, in the address, and how it is moved on. */
export function useTableState(props: Pick<TableParts<never>, 'filters' | 'name'>) {
  const prefix = props.name === undefined || props.name === '' ? '' : `${props.name}.`
  const [search, setSearch] = useSearchParams()
  const state = readTableState(
    search,
    (props.filters ?? []).map((filter) => filter.key),
    prefix,
  )
  const change = (next: Partial<TableState>): void => setSearch((now) => writeTableState(now, next, prefix), { replace: next.page === undefined })
  return { prefix, state, change }
}

/** The table itself: toolbar, selection and batch actions, columns, pages, and what stands there where no rows do. */
export function RowsTable<Row extends object>({
  list,
  table,
  shown,
  ...props
}: AnyRowKey<Row> &
  TableParts<Row> & {
    /** What settings of columns and recent searches are kept under. */
    readonly list: string
    readonly table: ReturnType<typeof useTableState>
    readonly shown: ShownRows<Row>
  }) {
  const { rowKey, filters = [], batchActions = [], create = null } = props
  // That rows without a `rowKey` have an `id` is known to the types of each table.
  const keyOf = (row: Row): Key => (typeof rowKey === 'function' ? rowKey(row) : (row[rowKey ?? ('id' as keyof Row)] as Key))
  const { t } = useTranslation('kit')
  const { prefix, state, change } = table
  const { rows, total, first } = shown
  const [selected, setSelected] = useState<ReadonlyMap<Key, Row>>(new Map())
  const [shownColumns, columnSettings] = useShownColumns<Row>(
    `${list}${prefix}`,
    props.columns.filter(({ when = true }) => when),
  )
  const clearFilters = (): void => change({ page: 1, filters: Object.fromEntries(filters.map((filter) => [filter.key, ''])) })
  const filtered = Object.keys(state.filters).length > 0
  const lastPage = Math.max(1, Math.ceil(total / state.size))
  const beyond = !first && shown.error === null && rows.length === 0 && total > 0 && state.page > lastPage

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
      width: 136,
      render: (_, row) => <ActionMenu actions={rowActions(row)} />,
    })
  }

  // A deleted row must not stay selected; what was selected on other pages stays.
  const current = new Map(selected)
  for (const row of rows) {
    const key = keyOf(row)
    if (current.has(key)) current.set(key, row)
  }
  const textOf = (row: Row): string => String('name' in row ? row.name : keyOf(row))
  const nameOf = props.nameOf ?? textOf

  const unasked = first && !shown.reading && shown.error === null
  const make = create !== null && <ActionButton action={{ key: 'create', ...create }} look={create.plain === true ? 'default' : 'primary'} disabled={unasked} />
  const placeholder =
    shown.error !== null ? (
      <ErrorPanel error={shown.error} onRetry={shown.again} />
    ) : beyond ? (
      <EmptyState title={t('table.beyond')} action={<Button onClick={() => change({ page: lastPage })}>{t('table.toLast')}</Button>} />
    ) : filtered ? (
      <EmptyState title={t('table.noMatch')} action={<Button onClick={clearFilters}>{t('table.clearFilters')}</Button>}>
        {t('table.noMatchNote')}
      </EmptyState>
    ) : (
      <EmptyState title={props.empty?.title ?? t('table.empty')} action={props.empty?.action ?? make}>
        {props.empty?.note}
      </EmptyState>
    )

  return (
    <section className="zs-table" aria-busy={shown.reading}>
      <TableToolbar
        list={list}
        filters={filters}
        values={state.filters}
        onFilter={(values) => change({ page: 1, filters: values })}
        onClear={clearFilters}
        onRefresh={shown.again}
        refreshing={shown.reading}
        staleSince={shown.staleSince}
        columnSettings={columnSettings}
      >
        {make}
        {typeof props.toolbar === 'function' ? props.toolbar(state.filters) : props.toolbar}
      </TableToolbar>
      {current.size > 0 && <BatchBar rows={[...current.values()]} nameOf={nameOf} actions={batchActions} onClear={() => setSelected(new Map())} />}
      <Table<Row>
        size="small"
        rowKey={keyOf}
        columns={columns}
        dataSource={first ? [] : [...rows]}
        pagination={false}
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
                const row = chosen.find((one) => one !== undefined && keyOf(one) === key) ?? current.get(key)
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
