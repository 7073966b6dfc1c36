import { sql, type RawBuilder } from 'kysely'
import type { Tables, Tx } from './database.ts'

/** Rows of a table that are held in memory at once; some hold half a megabyte. */
const atOnce = 50

/**
 * For migrations: writes rows of a table anew, however many there are. Nobody is told of them, and nothing refuses it: the things are the same.
 * @param rows what is needed of each
 * @param anew the statement that writes one
 */
export async function rewriteRows<Row>(tx: Tx, table: keyof Tables, rows: RawBuilder<Row>, anew: (row: Row) => RawBuilder<unknown>): Promise<void> {
  await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx)
  await sql`declare rewritten no scroll cursor for ${rows}`.execute(tx)
  for (;;) {
    const { rows: some } = await sql<Row>`fetch ${sql.lit(atOnce)} from rewritten`.execute(tx)
    for (const row of some) await anew(row).execute(tx)
    if (some.length < atOnce) break
  }
  await sql`close rewritten`.execute(tx)
  await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx)
}

/**
 * Makes the files of a table anew: what its rows were before, and columns that went, lies in the old ones until something is written over it.
 * @param column one of its texts
 */
export async function layOutAnew(tx: Tx, table: keyof Tables, column: string): Promise<void> {
  // Unlike `cluster`, this leaves behind also what was live when the transaction began; without the `||` nothing would be done.
  await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type text using ${sql.ref(column)} || ''`.execute(tx)
}
