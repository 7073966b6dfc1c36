import { sql, type Expression, type RawBuilder, type SelectQueryBuilder } from 'kysely'

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

/** By columns of a table, by their own names. @param fallback the name where none is asked for, such as `-created_at` */
export const orderOf = (table: string, fallback: string, ...columns: readonly string[]): Order => ({
  by: Object.fromEntries(columns.map((column) => [column, `${table}.${column}`])),
  fallback,
  id: `${table}.id`,
})

/** Sorts a query and cuts out the page that was asked for. */
export function paged<DB, T extends keyof DB, Row>(query: SelectQueryBuilder<DB, T, Row>, wish: PageQuery, order: Order): SelectQueryBuilder<DB, T, Row> {
  const { column, direction } = sortOf(wish, order)
  return query
    .orderBy(sql.ref(column), direction)
    .orderBy(sql.ref(order.id), direction)
    .limit(wish.page_size)
    .offset((wish.page_num - 1) * wish.page_size)
}

/**
 * The ids of a page of what several queries of one table find, where no row is found by two of
 * them: each is read along an index of its own, and only as far as the page reaches, which no
 * index does for an `or` of their conditions.
 */
export function pagedTogether<DB, T extends keyof DB, Row>(
  parts: readonly SelectQueryBuilder<DB, T, Row>[],
  wish: PageQuery,
  order: Order,
): RawBuilder<string> {
  const { column, direction } = sortOf(wish, order)
  const reaching = { ...wish, page_num: 1, page_size: wish.page_num * wish.page_size }
  const firsts = parts.map((part) => paged(part.clearSelect().select([sql.ref(order.id).as('id'), sql.ref(column).as('sorted')]), reaching, order))
  const together = sql.join(
    firsts.map((first) => sql`(${first})`),
    sql` union all `,
  )
  return sql<string>`(
    select id from (${together}) as firsts
    order by sorted ${sql.raw(direction)}, id ${sql.raw(direction)}
    limit ${wish.page_size} offset ${(wish.page_num - 1) * wish.page_size}
  )`
}

function sortOf(wish: PageQuery, order: Order): { column: string; direction: 'asc' | 'desc' } {
  const sort = wish.sort ?? order.fallback
  const descending = sort.startsWith('-')
  const column = order.by[descending ? sort.slice(1) : sort]
  if (column === undefined) throw new Error(`no sort column for ${sort}`)
  return { column, direction: descending ? 'desc' : 'asc' }
}

/**
 * A page and how many there are in all, in one statement: both are of the same moment, and it
 * costs the database one question.
 * @param page its rows, from {@link paged}
 * @param all what is counted
 * @param others counted with it, without a row in common: see {@link pagedTogether}
 */
export async function pageWithTotal<DB, T extends keyof DB, Row, AllDB, A extends keyof AllDB, Of>(
  page: SelectQueryBuilder<DB, T, Row>,
  all: SelectQueryBuilder<AllDB, A, Of>,
  wish: PageQuery,
  others: readonly Expression<unknown>[] = [],
): Promise<{ total: number; rows: Row[] }> {
  // Each by itself: rows of one after the other would all be handed on, to be counted at the end.
  const counted = others.reduce<RawBuilder<number>>((sum, other) => sql<number>`${sum} + (select count(*) from ${other} as other)`, sql<number>`count(*)`)
  const count = all.clearSelect().select(counted.as('total'))
  // Type parameters hide from the compiler what is selected here.
  const rows = (await page.select(sql<number>`(${count})`.as('total')).execute()) as unknown as (Row & { total: number })[]
  const [first] = rows
  if (first !== undefined) return { total: first.total, rows: rows.map(withoutTotal) }
  if (wish.page_num === 1) return { total: 0, rows: [] }
  // Beyond the last page.
  const { total } = (await count.executeTakeFirstOrThrow()) as unknown as { total: number }
  return { total, rows: [] }
}

/**
 * A page of what was found, with its total. It is cut out before anything is joined to it or
 * counted of its rows, which is then done for the rows of the page only.
 * @param found what the list is of, with its filters
 * @param shown the rows with these ids, and all that is shown of them
 */
export function pageOf<DB, T extends keyof DB, Of, ShownDB, S extends keyof ShownDB, Row>(
  found: SelectQueryBuilder<DB, T, Of>,
  wish: PageQuery,
  order: Order,
  shown: (ids: RawBuilder<string>) => SelectQueryBuilder<ShownDB, S, Row>,
): Promise<{ total: number; rows: Row[] }> {
  const cut = paged(found.clearSelect().select(sql.ref(order.id).as('id')), wish, order)
  return pageWithTotal(paged(shown(sql<string>`(${cut})`), { ...wish, page_num: 1 }, order), found, wish)
}

/** A page of rows as payloads carry it. */
export async function shapedPage<Row, Item>(
  page: Promise<{ total: number; rows: readonly Row[] }>,
  shape: (row: Row) => Item,
): Promise<{ total: number; items: Item[] }> {
  const { total, rows } = await page
  return { total, items: rows.map((row) => shape(row)) }
}

/** How many rows a query finds. @param what as SQL, where it is less than rows: `distinct vm_id` */
export async function counted<DB, T extends keyof DB, Row>(found: SelectQueryBuilder<DB, T, Row>, what = '*'): Promise<number> {
  // Type parameters hide from the compiler what is selected here.
  const { count } = (await found.select(sql<number>`count(${sql.raw(what)})`.as('count')).executeTakeFirstOrThrow()) as unknown as { count: number }
  return count
}

function withoutTotal<Row>(row: Row & { total: number }): Row {
  const { total: _, ...own } = row
  // What is left of it is what it was before.
  return own as unknown as Row
}

/**
 * Pages of rows, each read on from the last row of the one before: so rows that come meanwhile
 * neither show twice nor push others out.
 */
export async function* readOn<Row>(read: (last: Row | null) => Promise<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  for (let rows = await read(null); ;) {
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    rows = await read(last)
  }
}

/** The same pages, where the database is at the next one while somebody is at one. */
export async function* ahead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const reading = pages[Symbol.asyncIterator]()
  const ask = (): Promise<IteratorResult<Page>> => {
    const next = reading.next()
    // Whoever comes to it hears of it; whoever left does not have to.
    next.catch(() => undefined)
    return next
  }
  try {
    for (let next = ask(); ;) {
      const { done, value } = await next
      if (done === true) return
      next = ask()
      yield value
    }
  } finally {
    await reading.return?.()
  }
}

/** `%text%` for LIKE, with the wildcards in the text taken literally. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`

/** The condition that one of these texts (a column, or what is made of some) contains a keyword, in whatever case; true of every row where none is looked for. */
export function matching(keyword: string | undefined, ...texts: readonly (string | RawBuilder<string>)[]): RawBuilder<boolean> {
  if (keyword === undefined || keyword === '') return sql<boolean>`true`
  const found = texts.map((text) => sql`${typeof text === 'string' ? sql.ref(text) : text} ilike ${containing(keyword)}`)
  return sql<boolean>`(${sql.join(found, sql` or `)})`
}

/** The condition that columns of a table are what a query asks for by the same names; where it asks for none of them, true of every row. */
export function asked<Query extends object>(query: Query, table: string, ...names: readonly (keyof Query & string)[]): RawBuilder<boolean> {
  const wanted = names.filter((name) => query[name] !== undefined)
  if (wanted.length === 0) return sql<boolean>`true`
  const same = wanted.map((name) => sql`${sql.ref(`${table}.${name}`)} = ${query[name]}`)
  return sql<boolean>`(${sql.join(same, sql` and `)})`
}

/** The condition that a column is one of these ids. */
export const among = (column: string, ids: readonly string[]): RawBuilder<boolean> => sql<boolean>`${sql.ref(column)} = any(${ids}::uuid[])`
