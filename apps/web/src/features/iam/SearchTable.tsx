import Input from 'antd/es/input'
import Table from 'antd/es/table'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../../i18n.ts'
import type { Column } from '../../kit/columns.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import './iam.css'
import '../../kit/table.css'

/** A list that is known as a whole: searched here, and not paged. */
export function SearchTable<Row extends object>({
  label,
  rows,
  rowKey,
  textOf,
  columns,
  countText,
  toolbar,
}: {
  /** What the search asks for. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly rowKey: keyof Row & string
  /** What a search looks into. */
  readonly textOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly countText: (count: number) => ReactNode
  readonly toolbar?: ReactNode
}) {
  const { t } = useTranslation('iam')
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const found = rows.filter((row) => textOf(row).toLowerCase().includes(wanted))
  return (
    <section className="zs-table">
      <div className="zs-toolbar">
        <Input.Search
          allowClear
          className="ia-filter"
          aria-label={label}
          placeholder={label}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        <span className="zs-soft" role="status">
          {countText(found.length)}
        </span>
        {toolbar !== undefined && <span className="ia-push" />}
        {toolbar}
      </div>
      <Table<Row>
        size="small"
        rowKey={rowKey}
        dataSource={found}
        pagination={false}
        locale={{ emptyText: <EmptyState title={t('noMatch')} /> }}
        // On a phone a row is a card, and each cell says itself what it is.
        columns={columns.map((column) => ({ ...column, onCell: () => ({ 'data-label': column.title }) as object }))}
      />
    </section>
  )
}
