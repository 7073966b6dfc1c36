import type { QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { sql } from 'kysely'
import type { Tables } from '../../../platform/db/database.ts'
import type { QuotaCounter } from './quota.service.ts'

/**
 * Counts the rows of a table that has columns for who they belong to.
 * @param sums what counts, as SQL over those rows
 */
export const countsRows = (table: keyof Tables, sums: Partial<Record<QuotaResource, string>>): QuotaCounter => ({
  // Such are its keys.
  resources: Object.keys(sums) as QuotaResource[],
  async count(on, { bp_id, project_id }) {
    const columns = Object.entries(sums).map(([name, sum]) => sql`${sql.raw(sum)} as ${sql.ref(name)}`)
    const whose = Object.entries({ bp_id, project_id }).flatMap(([column, id]) => (id === null ? [] : [sql`${sql.ref(column)} = ${id}`]))
    const { rows } = await sql<Partial<Record<QuotaResource, number>>>`
      select ${sql.join(columns)} from ${sql.table(table)} where ${sql.join([sql`true`, ...whose], sql` and `)}
    `.execute(on)
    return rows[0] ?? {}
  },
})
