import { constants } from '@zhisuan/contract/constants'

/** Where a list stands: in the address, so that it can be shared and survives going back. */
export interface TableState {
  readonly page: number
  readonly size: number
  /** A column name, descending with a leading minus. */
  readonly sort: string | null
  readonly filters: Readonly<Record<string, string>>
}

const pageSizes: readonly number[] = constants.pageSizes

const whole = (text: string | null): number | null => (text !== null && /^\d{1,7}$/.test(text) ? Number(text) : null)

/** @param prefix sets the lists of one page apart. */
export function readTableState(search: URLSearchParams, filterKeys: readonly string[], prefix = ''): TableState {
  const size = whole(search.get(`${prefix}page_size`))
  const filters: Record<string, string> = {}
  for (const key of filterKeys) {
    const value = search.get(prefix + key)
    if (value !== null && value !== '') filters[key] = value
  }
  return {
    page: Math.max(1, whole(search.get(`${prefix}page`)) ?? 1),
    size: size !== null && pageSizes.includes(size) ? size : constants.defaultPageSize,
    sort: search.get(`${prefix}sort`) || null,
    filters,
  }
}

/** The address with the change; what is as by default stays out of it. */
export function writeTableState(search: URLSearchParams, change: Partial<TableState>, prefix = ''): URLSearchParams {
  const next = new URLSearchParams(search)
  const set = (key: string, value: string | null): void => {
    if (value === null || value === '') next.delete(prefix + key)
    else next.set(prefix + key, value)
  }
  if (change.page !== undefined) set('page', change.page === 1 ? null : String(change.page))
  if (change.size !== undefined) set('page_size', change.size === constants.defaultPageSize ? null : String(change.size))
  if (change.sort !== undefined) set('sort', change.sort)
  for (const [key, value] of Object.entries(change.filters ?? {})) set(key, value)
  return next
}
