import type { ColumnType } from 'antd/es/table'
import Tag from 'antd/es/tag'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import * as format from './format.ts'
import { StatusTag, type StatusTone } from './StatusTag.tsx'
import './table.css'

/** An antd column that the column settings can name and hide. */
export interface Column<Row> extends ColumnType<Row> {
  readonly key: string
  readonly title: string
  /** Hidden until the person turns it on. */
  readonly off?: boolean
  /** Cannot be turned off. */
  readonly fixedShown?: boolean
  /** Whether this list has it at all; it has where this is left out. */
  readonly when?: boolean
  /** What rows are put in order by where they are all here; null where a row has none. */
  readonly by?: (row: Row) => string | number | null
}

export interface ColumnOptions {
  readonly width?: number
  /** The server sorts by the key, or by the column named here. */
  readonly sort?: boolean | string
  readonly off?: boolean
  /** Only where this holds, such as for administrators, or on a page of its own. */
  readonly when?: boolean
}

const base = <Row,>(
  key: string,
  title: string,
  options: ColumnOptions,
  render: (row: Row) => ReactNode,
  value?: (row: Row) => string | number | null | undefined,
): Column<Row> => ({
  key: typeof options.sort === 'string' ? options.sort : key,
  title,
  render: (_, row) => render(row),
  ...(options.sort !== undefined && options.sort !== false && { sorter: true }),
  ...(options.width !== undefined && { width: options.width }),
  ...(options.off !== undefined && { off: options.off }),
  ...(options.when !== undefined && { when: options.when }),
  ...(value !== undefined && { by: (row) => value(row) ?? null }),
})

const right = { align: 'right', className: 'zs-number' } as const

const shown = (text: string | null | undefined): string => (text === null || text === undefined || text === '' ? format.nothing : text)

/**
 * Cuts what is wider than its column; the whole is in the title and in the accessible text.
 * @param width in pixels; null where the style sheet knows
 */
const cut = (text: string, width: number | null = 280) => (
  <span className="zs-cut" title={text} {...(width !== null && { style: { maxWidth: width } })}>
    {text}
  </span>
)

type Text = string | null | undefined

/** Plain functions that answer antd columns: `columns={[col.name('name', t('name'), (vm) => vm.name, …)]}`. */
export const col = {
  /** What the row is called; leads to its page, with a second line below where there is one. */
  name: <Row,>(
    key: string,
    title: string,
    value: (row: Row) => string,
    options: ColumnOptions & { readonly to?: (row: Row) => string; readonly note?: (row: Row) => ReactNode } = {},
  ): Column<Row> => ({
    ...base<Row>(
      key,
      title,
      { width: 180, ...options },
      (row) => {
        const note = options.note?.(row) ?? ''
        const name = cut(value(row), null)
        return (
          <>
            {options.to === undefined ? name : <Link to={options.to(row)}>{name}</Link>}
            {note !== '' && <div className="zs-name-note">{typeof note === 'string' ? cut(note, null) : note}</div>}
          </>
        )
      },
      value,
    ),
    className: 'zs-cell-name',
    fixedShown: true,
  }),
  /** Text, with a second line below where there is one; leads to what it names where that has a page (`to` answers null where not). */
  text: <Row,>(
    key: string,
    title: string,
    value: (row: Row) => Text,
    options: ColumnOptions & { readonly to?: (row: Row) => string | null; readonly note?: (row: Row) => string } = {},
  ): Column<Row> =>
    base<Row>(
      key,
      title,
      options,
      (row) => {
        const text = cut(shown(value(row)), options.width)
        const target = options.to?.(row) ?? null
        const note = options.note?.(row) ?? ''
        return (
          <>
            {target === null ? text : <Link to={target}>{text}</Link>}
            {note !== '' && <div className="zs-name-note">{cut(note, options.width)}</div>}
          </>
        )
      },
      value,
    ),
  /** Whose it is; only where rows of several organisations meet: `col.organisation(t('column.organisation'), { when: platform })`. */
  organisation: <Row extends { readonly bp_name: string | null }>(title: string, options: ColumnOptions & { readonly when: boolean }): Column<Row> =>
    col.text<Row>('bp', title, ({ bp_name }) => bp_name, { width: 120, ...options }),
  /** Identifiers, addresses, fingerprints. */
  code: <Row,>(key: string, title: string, value: (row: Row) => Text, options: ColumnOptions = {}): Column<Row> =>
    base<Row>(key, title, options, (row) => <span className="zs-code">{cut(shown(value(row)), options.width)}</span>, value),
  status: <Row,>(
    key: string,
    title: string,
    value: (row: Row) => { readonly tone: StatusTone; readonly text: string; readonly note?: string | null },
    options: ColumnOptions = {},
  ): Column<Row> =>
    base<Row>(
      key,
      title,
      { width: 120, ...options },
      (row) => {
        const { tone, text, note } = value(row)
        return (
          <>
            <StatusTag tone={tone}>{text}</StatusTag>
            {note !== null && note !== undefined && note !== '' && <div className="zs-name-note">{cut(note, options.width)}</div>}
          </>
        )
      },
      (row) => value(row).text,
    ),
  number: <Row,>(key: string, title: string, value: (row: Row) => number | null | undefined, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.number(value(row)), value),
    ...right,
  }),
  bytes: <Row,>(key: string, title: string, value: (row: Row) => number | null | undefined, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.bytes(value(row)), value),
    ...right,
  }),
  percent: <Row,>(key: string, title: string, value: (row: Row) => number | null | undefined, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.percent(value(row)), value),
    ...right,
  }),
  /** Decimal strings in yuan. */
  money: <Row,>(key: string, title: string, value: (row: Row) => Text, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.money(value(row))),
    ...right,
  }),
  /**
   * What is charged, or part of a sum: with all its decimals, and a second line below where there is one. `decimals`: the most that
   * a row of the table has; then their points stand below each other.
   */
  charge: <Row,>(
    key: string,
    title: string,
    value: (row: Row) => Text,
    { decimals = 0, note, ...options }: ColumnOptions & { readonly decimals?: number; readonly note?: (row: Row) => string } = {},
  ): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => {
      const amount = value(row)
      const room = decimals - format.decimalsOf([amount])
      const below = note?.(row) ?? ''
      return (
        <>
          <span {...(room > 0 && { style: { paddingInlineEnd: `${room}ch` } })}>{format.exactMoney(amount)}</span>
          {below !== '' && <div className="zs-name-note">{below}</div>}
        </>
      )
    }),
    ...right,
  }),
  /** The day, and the time below it: half as wide as on one line. */
  date: <Row,>(key: string, title: string, value: (row: Row) => string | number | null | undefined, options: ColumnOptions = {}): Column<Row> =>
    base<Row>(
      key,
      title,
      { width: 104, ...options },
      (row) => {
        const moment = value(row)
        return (
          <div className="zs-number">
            {format.date(moment)}
            {moment !== null && moment !== undefined && <div className="zs-name-note">{format.time(moment)}</div>}
          </div>
        )
      },
      value,
    ),
  tags: <Row,>(key: string, title: string, value: (row: Row) => readonly string[], options: ColumnOptions = {}): Column<Row> =>
    base<Row>(key, title, options, (row) => {
      const tags = value(row)
      return tags.length === 0 ? (
        format.nothing
      ) : (
        <span className="zs-tags">
          {tags.map((tag) => (
            <Tag key={tag}>{cut(tag, options.width === undefined ? undefined : options.width - 32)}</Tag>
          ))}
        </span>
      )
    }),
  /** Anything else. */
  custom: <Row,>(key: string, title: string, render: (row: Row) => ReactNode, options: ColumnOptions = {}): Column<Row> =>
    base<Row>(key, title, options, render),
}
