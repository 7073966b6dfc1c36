import fastify from 'fastify'
import pg from 'pg'

/**
 * The least that could answer a question for a list: a route that asks one statement by a pool, in a process of its own as the
 * server is. It says over its channel where it listens, and ends with it.
 */

/** As the server asks it (`pg_stat_statements` shows it), written out. */
const statement = `
  select "vms".*, "organisations"."name" as "bp_name", "operations"."id" as "operation_id",
    (select coalesce(json_agg(agg), '[]') from (
      select "model", count(*) as "count" from "host_gpus" where "host_gpus"."vm_id" = "vms"."id" group by "model" order by "model"
    ) as agg) as "gpus",
    (select count(*) as "total" from "vms" where true and ("vms"."cloud_id" = $1 and "vms"."bp_id" = $2) and ("vms"."search" ilike $3)) as "total"
  from "vms"
  left join "organisations" on "organisations"."id" = "vms"."bp_id"
  left join "operations" on "operations"."resource_id" = "vms"."id" and "operations"."status" in ('queued', 'running')
  where "vms"."id" in (
    select "vms"."id" as "id" from "vms" where true and ("vms"."cloud_id" = $1 and "vms"."bp_id" = $2) and ("vms"."search" ilike $3)
    order by "vms"."created_at" desc, "vms"."id" desc limit $4 offset $5
  )
  order by "vms"."created_at" desc, "vms"."id" desc limit $4 offset $5`

interface Question {
  readonly cloud_id: string
  readonly bp_id: string
  readonly keyword: string
  readonly page_num: string
  readonly page_size: string
}

// Of the size of the server's.
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: 12 })
const bare = fastify()
bare.get<{ Querystring: Question }>('/', async ({ query }) => {
  const size = Number(query.page_size)
  const { rows } = await pool.query(statement, [query.cloud_id, query.bp_id, `%${query.keyword}%`, size, (Number(query.page_num) - 1) * size])
  return { total: Number(rows[0]?.total ?? 0), items: rows }
})
process.send?.(await bare.listen({ port: 0, host: '127.0.0.1' }))
process.on('disconnect', () => process.exit(0))
