import type { Column, ColumnOptions } from '../../../kit/columns.tsx'
import { col } from '../../../kit/columns.tsx'
import * as format from '../../../kit/format.ts'
import './fund.css'

/**
 * Floored to two decimals, exact on hover.
 * @param part it is part of a sum, and exact
 * @param signed whether what comes in says so; what moves is part of a balance
 */
export function Amount({ value, signed = false, part = signed }: { readonly value: string | null; readonly signed?: boolean; readonly part?: boolean }) {
  if (value === null) return <>{format.nothing}</>
  const incoming = signed && !value.startsWith('-')
  return (
    <span className={`zs-number${incoming ? ' bf-in' : ''}`} title={format.exactMoney(value)}>
      {incoming && '+'}
      {part ? format.exactMoney(value) : format.money(value)}
    </span>
  )
}

/** A column of amounts, aligned right. */
export const amountColumn = <Row,>(
  key: string,
  title: string,
  value: (row: Row) => string | null,
  options: ColumnOptions & { readonly signed?: boolean; readonly part?: boolean } = {},
): Column<Row> => ({
  ...col.custom<Row>(
    key,
    title,
    (row) => <Amount value={value(row)} signed={options.signed ?? false} part={options.part ?? options.signed ?? false} />,
    options,
  ),
  align: 'right',
  className: 'zs-number',
})
