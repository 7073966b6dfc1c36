import type pg from 'pg'

/** Tables of all schemas, those of the queue too, in which a text stands anywhere: to say that a secret is in none. */
export async function tablesWith(pool: pg.Pool, text: string): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(nspname) || '.' || quote_ident(relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rowCount } = await pool.query(`select from ${name} as t where strpos(t::text, $1) > 0 limit 1`, [text])
    if (rowCount !== 0) found.push(name.replace(/^public\./, ''))
  }
  return found.sort()
}
