import type { TableState } from './tableState.ts'

/** How rows that are all here are looked through and put in order. */
export interface Arranging<Row> {
  /** What the keyword is looked for in. */
  readonly textOf: (row: Row) => string
  /** Whether a row fits the value of a filter, by the filter's key; `keyword` is known by itself. */
  readonly matches?: Readonly<Record<string, (row: Row, value: string) => boolean>>
  /** What rows are compared by, by the column's key. */
  readonly sortBy?: Readonly<Record<string, (row: Row) => string | number | null>>
  /** The order where none is chosen: as a column's key, descending with a leading minus. */
  readonly sortFirst?: string
}

/** As people count: `vm-9` before `vm-10`. */
const collator = new Intl.Collator('zh', { numeric: true, sensitivity: 'base' })

/** What has no value comes last, whichever way. */
function compare(a: string | number | null, b: string | number | null, direction: 1 | -1): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return direction * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b)))
}

/** The rows that fit the filters, in the order that was chosen. */
export function arranged<Row>(
  rows: readonly Row[],
  state: Pick<TableState, 'filters' | 'sort'>,
  { textOf, matches = {}, sortBy = {}, sortFirst }: Arranging<Row>,
): readonly Row[] {
  const { keyword, ...others } = state.filters
  const words = (keyword ?? '')
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const fits = (row: Row): boolean => {
    const text = words.length === 0 ? '' : textOf(row).toLowerCase()
    return words.every((word) => text.includes(word)) && Object.entries(others).every(([key, value]) => matches[key]?.(row, value) ?? true)
  }
  const kept = rows.filter(fits)
  const sort = state.sort ?? sortFirst ?? null
  const key = sort?.replace(/^-/, '')
  const by = key === undefined ? undefined : sortBy[key]
  return by === undefined ? kept : kept.toSorted((a, b) => compare(by(a), by(b), sort?.startsWith('-') === true ? -1 : 1))
}
