import type { TableState } from './tableState.ts'

/** How rows that are all here are looked through and put in order. */
export interface Arranging<Row> {
  /** What the keyword is looked for in. */
  readonly textOf: (row: Row) => string
  /** Whether a row fits the value of a filter, by the filter's key; `keyword`, and a filter by a field of the rows, are known by themselves. */
  readonly matches?: Readonly<Record<string, (row: Row, value: string) => boolean>>
  /** What rows are compared by, by the column's key; in a table by what a column shows where it is left out. */
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

/** Of a filter whose key is no field of the row nothing is known, and it keeps none away. */
const holds = (row: object, key: string, value: string): boolean => !(key in row) || String(Reflect.get(row, key)) === value

/** The rows that fit the filters, in the order that was chosen. */
export function arranged<Row extends object>(
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
    return words.every((word) => text.includes(word)) && Object.entries(others).every(([key, value]) => matches[key]?.(row, value) ?? holds(row, key, value))
  }
  const kept = rows.filter(fits)
  const sort = state.sort ?? sortFirst ?? null
  const key = sort?.replace(/^-/, '')
  const by = key === undefined ? undefined : sortBy[key]
  return by === undefined ? kept : kept.toSorted((a, b) => compare(by(a), by(b), sort?.startsWith('-') === true ? -1 : 1))
}
