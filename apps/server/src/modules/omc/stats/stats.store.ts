import type { NodeFacts } from '@zhisuan/contract/agent/node'
import type { EdgeStatus } from '@zhisuan/contract/ecrm/edge'
import { countedKinds, type CountedKind } from '@zhisuan/contract/omc/stats'
import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'
import type { Kinds } from '../../../platform/kinds.ts'

export interface StatNode {
  readonly id: string
  readonly name: string
  readonly bp_id: string | null
  readonly status: EdgeStatus
  readonly region_id: string | null
  readonly region_name: string | null
  readonly facts: Pick<NodeFacts, 'cpu' | 'gpus' | 'memory_bytes'> | null
}

/** All that the scope shows, by name. */
export const statNodes = (on: Sql, scope: Scope): Promise<StatNode[]> =>
  on
    .selectFrom('edges')
    .leftJoin('sites', 'sites.id', 'edges.site_id')
    .leftJoin('regions', 'regions.id', 'sites.region_id')
    .select([
      'edges.id',
      'edges.name',
      'edges.bp_id',
      'edges.status',
      'regions.id as region_id',
      'regions.name as region_name',
      // Of cards as many as there are is all that is asked.
      sql<
        StatNode['facts']
      >`case when edges.facts is null then null else jsonb_build_object('cpu', edges.facts -> 'cpu', 'gpus', edges.facts -> 'gpus', 'memory_bytes', edges.facts -> 'memory_bytes') end`.as(
        'facts',
      ),
    ])
    .where(within(scope, 'edges.bp_id'))
    .where('edges.binding', 'in', ['bound', 'unconfirmed', 'pending'])
    .orderBy('edges.name')
    .execute()

/** One look at each table. */
export async function countStatuses(on: Sql, kinds: Kinds, scope: Scope): Promise<{ kind: CountedKind; status: string; count: number }[]> {
  const parts = countedKinds.flatMap((kind) => {
    const table = kinds.get(kind)?.table
    return table === undefined
      ? []
      : sql`select ${kind}::text as kind, status, count(*) as count from ${sql.table(table)} where ${within(scope, 'bp_id')} group by status`
  })
  return (await sql<{ kind: CountedKind; status: string; count: number }>`${sql.join(parts, sql` union all `)}`.execute(on)).rows
}
