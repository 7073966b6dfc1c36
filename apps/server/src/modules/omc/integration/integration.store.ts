import type { integrations, MonitorComponent } from '@zhisuan/contract/omc/monitor'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable, type SelectQueryBuilder, type Updateable } from 'kysely'
import type { Sql, Tables } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import '../omc.migrations.ts'

export type IntegrationRow = Selectable<Tables['monitor_integrations']>
export type ShownIntegration = IntegrationRow & { node_name: string | null; operation_id: string | null }

const shown = <T>(query: SelectQueryBuilder<Tables, 'monitor_integrations', T>) =>
  query
    .selectAll('monitor_integrations')
    .select([
      sql<string | null>`(select name from edges where edges.id = monitor_integrations.node_id)`.as('node_name'),
      sql<
        string | null
      >`(select id from operations where resource_type = 'omc.integration' and resource_id = monitor_integrations.id and status in ('queued', 'running', 'undoing') limit 1)`.as(
        'operation_id',
      ),
    ])

const order = orderOf('monitor_integrations', '-created_at', 'name', 'created_at')

type Filters = Omit<QueryOf<typeof integrations.list>, 'component' | 'origin'> & Partial<Pick<QueryOf<typeof integrations.list>, 'component' | 'origin'>>

/** @param usable only those that are there, and are asked */
export async function listIntegrations(on: Sql, query: Filters, usable = false): Promise<{ total: number; rows: ShownIntegration[] }> {
  const filtered = on
    .selectFrom('monitor_integrations')
    .where(asked(query, 'monitor_integrations', 'component', 'origin', 'status'))
    .where(matching(query.keyword, 'monitor_integrations.name', 'monitor_integrations.description'))
    .$if(usable, (all) => all.where('status', 'in', ['active', 'changing']))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}

export const getIntegration = (on: Sql, id: string): Promise<IntegrationRow | undefined> =>
  on.selectFrom('monitor_integrations').selectAll().where('id', '=', id).executeTakeFirst()
export const showIntegration = (on: Sql, id: string): Promise<ShownIntegration | undefined> =>
  shown(on.selectFrom('monitor_integrations').where('monitor_integrations.id', '=', id)).executeTakeFirst()
export const integrationsOf = (on: Sql, component: MonitorComponent): Promise<IntegrationRow[]> =>
  on.selectFrom('monitor_integrations').selectAll().where('component', '=', component).orderBy('created_at').execute()
/** What runs on a node, of one kind. */
export const integrationOnNode = (on: Sql, nodeId: string, component: MonitorComponent): Promise<IntegrationRow | undefined> =>
  on.selectFrom('monitor_integrations').selectAll().where('node_id', '=', nodeId).where('component', '=', component).executeTakeFirst()

export const {
  insert: insertIntegration,
  update: updateIntegration,
  remove: removeIntegration,
  lockAny: lockIntegration,
} = rowsOf('monitor_integrations', 'updated_at')

/** What a look found: nothing of one that is reached otherwise meanwhile. */
export const recordIntegration = async (
  on: Sql,
  row: Pick<IntegrationRow, 'id' | 'connection'>,
  changes: Updateable<Tables['monitor_integrations']>,
): Promise<IntegrationRow | undefined> => {
  await on.updateTable('monitor_integrations').set(changes).where('id', '=', row.id).where('connection', '=', row.connection).execute()
  return getIntegration(on, row.id)
}
