import { sql, type SelectQueryBuilder } from 'kysely'

/** What every list query carries: see listQuery in the contract. */
export interface PageQuery {
  page_num: number
  page_size: number
  sort?: string | undefined
}

/** How a list may be sorted: a column for each sort name of the contract. */
export interface Order {
  by: Readonly<Record<string, string>>
  /** Sort name where none is asked for, such as `-created_at`. */
  fallback: string
  /** Column that makes the order whole, so that no row shows on two pages. */
  id: string
}

/** Sorts a query and cuts out the page that was asked for. */
export function paged<DB, T extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, T, Row>,
  wish: PageQuery,
  order: Order,
): SelectQueryBuilder<DB, T, Row> {
  const sort = wish.sort ?? order.fallback
  const descending = sort.startsWith('-')
  const column = order.by[descending ? sort.slice(1) : sort]
  if (column === undefined) throw new Error(`no sort column for ${sort}`)
  const direction = descending ? 'desc' : 'asc'
  return query
    .orderBy(sql.ref(column), direction)
    .orderBy(sql.ref(order.id), direction)
    .limit(wish.page_size)
    .offset((wish.page_num - 1) * wish.page_size)
}

/** `%text%` for LIKE, with the wildcards in the text taken literally. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`
