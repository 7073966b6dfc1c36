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
}

export interface ColumnOptions {
  readonly width?: number
  /** The server sorts by the key, or by the column named here. */
  readonly sort?: boolean | string
  readonly off?: boolean
}

const base = <Row,>(key: string, title: string, options: ColumnOptions, render: (row: Row) => ReactNode): Column<Row> => ({
  key: typeof options.sort === 'string' ? options.sort : key,
  title,
  render: (_, row) => render(row),
  ...(options.sort !== undefined && options.sort !== false && { sorter: true }),
  ...(options.width !== undefined && { width: options.width }),
  ...(options.off !== undefined && { off: options.off }),
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
    ...base<Row>(key, title, { width: 180, ...options }, (row) => {
      const note = options.note?.(row) ?? ''
      const name = cut(value(row), null)
      return (
        <>
          {options.to === undefined ? name : <Link to={options.to(row)}>{name}</Link>}
          {note !== '' && <div className="zs-name-note">{typeof note === 'string' ? cut(note, null) : note}</div>}
        </>
      )
    }),
    className: 'zs-cell-name',
    fixedShown: true,
  }),
  text: <Row,>(key: string, title: string, value: (row: Row) => Text, options: ColumnOptions & { readonly note?: (row: Row) => string } = {}): Column<Row> =>
    base<Row>(key, title, options, (row) => (
      <>
        {cut(shown(value(row)), options.width)}
        {options.note !== undefined && options.note(row) !== '' && <div className="zs-name-note">{cut(options.note(row), options.width)}</div>}
      </>
    )),
  /** Whose it is; only where rows of several organisations meet: `...col.organisation<Vm>(platform, t('column.organisation'))`. */
  organisation: <Row extends { readonly bp_name: string | null }>(meet: boolean, title: string, options: ColumnOptions = {}): readonly Column<Row>[] =>
    meet ? [col.text<Row>('bp', title, ({ bp_name }) => bp_name, { width: 120, ...options })] : [],
  link: <Row,>(key: string, title: string, value: (row: Row) => Text, to: (row: Row) => string | null, options: ColumnOptions = {}): Column<Row> =>
    base<Row>(key, title, options, (row) => {
      const target = to(row)
      const text = cut(shown(value(row)), options.width)
      return target === null ? text : <Link to={target}>{text}</Link>
    }),
  /** Identifiers, addresses, fingerprints. */
  code: <Row,>(key: string, title: string, value: (row: Row) => Text, options: ColumnOptions = {}): Column<Row> =>
    base<Row>(key, title, options, (row) => <span className="zs-code">{cut(shown(value(row)), options.width)}</span>),
  status: <Row,>(
    key: string,
    title: string,
    value: (row: Row) => { readonly tone: StatusTone; readonly text: string; readonly note?: string | null },
    options: ColumnOptions = {},
  ): Column<Row> =>
    base<Row>(key, title, { width: 120, ...options }, (row) => {
      const { tone, text, note } = value(row)
      return (
        <>
          <StatusTag tone={tone}>{text}</StatusTag>
          {note !== null && note !== undefined && note !== '' && <div className="zs-name-note">{cut(note, options.width)}</div>}
        </>
      )
    }),
  number: <Row,>(key: string, title: string, value: (row: Row) => number | null | undefined, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.number(value(row))),
    ...right,
  }),
  bytes: <Row,>(key: string, title: string, value: (row: Row) => number | null | undefined, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.bytes(value(row))),
    ...right,
  }),
  percent: <Row,>(key: string, title: string, value: (row: Row) => number | null | undefined, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.percent(value(row))),
    ...right,
  }),
  /** Decimal strings in yuan. */
  money: <Row,>(key: string, title: string, value: (row: Row) => Text, options: ColumnOptions = {}): Column<Row> => ({
    ...base<Row>(key, title, options, (row) => format.money(value(row))),
    ...right,
  }),
  /** The day, and the time below it: half as wide as on one line. */
  date: <Row,>(key: string, title: string, value: (row: Row) => string | number | null | undefined, options: ColumnOptions = {}): Column<Row> =>
    base<Row>(key, title, { width: 104, ...options }, (row) => {
      const moment = value(row)
      return (
        <div className="zs-number">
          {format.date(moment)}
          {moment !== null && moment !== undefined && <div className="zs-name-note">{format.time(moment)}</div>}
        </div>
      )
    }),
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
