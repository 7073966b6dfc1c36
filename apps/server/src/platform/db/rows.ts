import { sql, type Insertable, type Kysely, type RawBuilder, type Selectable, type Updateable } from 'kysely'
import type { Scope } from '../auth/actor.ts'
import type { Sql, Tables, Tx } from './database.ts'
import { within } from './scope.ts'

/** Columns that every change sets. A row's revision counts them, so that an older observation cannot overwrite a newer state. */
const stamps = { revision: sql`revision + 1`, updated_at: sql`now()` } as const satisfies Record<string, RawBuilder<unknown>>

/** Tables of rows with an id. */
type Identified = { [T in keyof Tables]: Tables[T] extends { id: string } ? T : never }[keyof Tables]

/** Kysely cannot follow a table that is a type parameter. So it is told of one here, and what is known of its columns is in the signatures. */
const one = <T extends keyof Tables>(on: Sql, table: T) => ({ on: on as unknown as Kysely<{ one: { id: string } }>, table: table as string as 'one' })

/** Writes rows into a table. */
export const insertsInto =
  <T extends keyof Tables>(into: T) =>
  async (db: Sql, rows: Insertable<Tables[T]> | readonly Insertable<Tables[T]>[]): Promise<void> => {
    const { on, table } = one(db, into)
    await on
      .insertInto(table)
      .values(rows as never)
      .execute()
  }

/**
 * Makes these all the rows of a table that belong to something.
 * @param owner first the column that says to what, by which those that there were go; then others that they share
 */
export async function replaceRows<T extends keyof Tables, Shared extends Partial<Insertable<Tables[T]>>>(
  tx: Tx,
  into: T,
  owner: Shared,
  rows: readonly Omit<Insertable<Tables[T]>, keyof Shared>[],
): Promise<void> {
  const { on, table } = one(tx, into)
  const [[column, id] = ['', '']] = Object.entries(owner)
  await on.deleteFrom(table).where(sql.ref(column), '=', id).execute()
  if (rows.length > 0) await insertsInto(into)(tx, rows.map((row) => ({ ...row, ...owner })) as never)
}

/**
 * What every store does with the rows of its table.
 * @param stamped columns that every change sets
 */
export function rowsOf<T extends Identified>(of: T, ...stamped: readonly (keyof typeof stamps & keyof Tables[T])[]) {
  const stamp = Object.fromEntries(stamped.map((column) => [column, stamps[column]]))
  return {
    insert: insertsInto(of),
    update: async (db: Sql, id: string, changes: Updateable<Tables[T]>): Promise<void> => {
      const { on, table } = one(db, of)
      await on
        .updateTable(table)
        .set({ ...(changes as object), ...stamp } as never)
        .where('id', '=', id)
        .execute()
    },
    remove: async (db: Sql, id: string): Promise<void> => {
      const { on, table } = one(db, of)
      await on.deleteFrom(table).where('id', '=', id).execute()
    },
    /** One of the scope's, held against other changes until the transaction ends. */
    lock: (tx: Tx, scope: Scope, id: string): Promise<Selectable<Tables[T]> | undefined> => held(tx, of, id, within(scope, `${of}.bp_id`)),
    /** The same of whomever it is. */
    lockAny: (tx: Tx, id: string): Promise<Selectable<Tables[T]> | undefined> => held(tx, of, id, sql<boolean>`true`),
  }
}

async function held<T extends Identified>(tx: Tx, of: T, id: string, which: RawBuilder<boolean>): Promise<Selectable<Tables[T]> | undefined> {
  const { on, table } = one(tx, of)
  const row = await on.selectFrom(table).selectAll().where(which).where('id', '=', id).forUpdate().executeTakeFirst()
  return row as Selectable<Tables[T]> | undefined
}
