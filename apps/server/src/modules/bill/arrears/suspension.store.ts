import type { SuspendedResource, standings as calls } from '@zhisuan/contract/bill/arrears'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Updateable } from 'kysely'
import { iso, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { asked, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { openStatuses, type Operations, type OperationStatus } from '../../../platform/operations.ts'
import type { SuspendedRow, SuspensionRow } from './arrears.migrations.ts'

type Key = Pick<SuspendedRow, 'suspension_id' | 'kind' | 'resource_id'>

export const { insert: insertSuspension, update: updateSuspension } = rowsOf('suspensions')

/** What was looked at; nothing where somebody turned it round meanwhile. */
export const settleSuspension = async (
  on: Sql,
  { id, phase }: Pick<SuspensionRow, 'id' | 'phase'>,
  changes: Updateable<Tables['suspensions']>,
): Promise<void> => {
  await on.updateTable('suspensions').set(changes).where('id', '=', id).where('phase', '=', phase).execute()
}

export const suspensionsToLookAt = (on: Sql, now: Date, limit: number): Promise<SuspensionRow[]> =>
  on.selectFrom('suspensions').selectAll().where('phase', '<>', 'ended').where('look_at', '<=', now).orderBy('look_at').limit(limit).execute()

/** Each with how its last operation went; null where there was none, or nobody knows any more. */
export type WorkedOn = SuspendedRow & { operation_status: OperationStatus | null; operation_error: string | null }

/** @param said opens what is said of its failure, which is sealed */
export async function resourcesOf(on: Sql, said: Operations['said'], suspensionId: string): Promise<WorkedOn[]> {
  const rows = await on
    .selectFrom('suspended_resources as one')
    .leftJoin('operations', 'operations.id', 'one.operation_id')
    .selectAll('one')
    .select(['operations.id', 'operations.status', 'operations.error', 'operations.error_text as said_text', 'operations.error_detail'])
    .where('one.suspension_id', '=', suspensionId)
    .where('one.state', 'in', ['stopping', 'stopped', 'starting'])
    .execute()
  return rows.map(({ id, status, error, said_text, error_detail, ...one }) => ({
    ...one,
    operation_status: status,
    operation_error: id === null ? null : said({ id, error, error_text: said_text, error_detail }).error,
  }))
}

export const isOpen = (status: OperationStatus | null): boolean => status !== null && (openStatuses as readonly OperationStatus[]).includes(status)

/** Held, so that no other server begins the same. */
export const lockResource = (tx: Tx, key: Key): Promise<SuspendedRow | undefined> =>
  tx
    .selectFrom('suspended_resources')
    .selectAll()
    .where('suspension_id', '=', key.suspension_id)
    .where('kind', '=', key.kind)
    .where('resource_id', '=', key.resource_id)
    .forUpdate()
    .executeTakeFirst()

export async function putResource(on: Sql, { detail, ...row }: SuspendedRow): Promise<void> {
  const values = { ...row, detail: detail === null ? null : jsonb(detail) }
  const { suspension_id: _, kind: __, resource_id: ___, ...changes } = values
  await on
    .insertInto('suspended_resources')
    .values(values)
    .onConflict((conflict) => conflict.columns(['suspension_id', 'kind', 'resource_id']).doUpdateSet(changes))
    .execute()
}

/** Only what still is as it was seen. */
export const updateResource = async (
  on: Sql,
  seen: Key & Pick<SuspendedRow, 'state' | 'operation_id'>,
  changes: Updateable<Tables['suspended_resources']>,
): Promise<void> => {
  await on
    .updateTable('suspended_resources')
    .set(changes)
    .where('suspension_id', '=', seen.suspension_id)
    .where('kind', '=', seen.kind)
    .where('resource_id', '=', seen.resource_id)
    .where('state', '=', seen.state)
    .where('operation_id', 'is not distinct from', seen.operation_id)
    .execute()
}

export const deleteResource = async (on: Sql, key: Key): Promise<void> => {
  await on
    .deleteFrom('suspended_resources')
    .where('suspension_id', '=', key.suspension_id)
    .where('kind', '=', key.kind)
    .where('resource_id', '=', key.resource_id)
    .execute()
}

/** Whether somebody started or stopped it after the operation of that id: then what it does is theirs. */
export async function wasTouched(on: Sql, resourceId: string, operationId: string | null): Promise<boolean> {
  const { rows } = await sql<{ touched: boolean }>`
    select exists (
      select from operations
      where resource_id = ${resourceId} and actor_id is not null and kind ~ '\\.(start|stop|restart|kill|scale|update|rollback)$'
        and created_at > (select created_at from operations as ours where ours.id = ${operationId})
    ) as touched
  `.execute(on)
  return rows[0]?.touched === true
}

export async function listResources(on: Sql, ownerId: string, query: QueryOf<typeof calls.resources>): Promise<{ total: number; items: SuspendedResource[] }> {
  const last = on.selectFrom('suspensions').select('id').where('owner_id', '=', ownerId).orderBy('began_at', 'desc').limit(1)
  const filtered = on
    .selectFrom('suspended_resources')
    .where('suspension_id', '=', last)
    .where(asked(query, 'suspended_resources', 'state'))
  const { total, rows } = await pageWithTotal(
    paged(filtered.selectAll(), query, { by: { name: 'name', updated_at: 'updated_at' }, fallback: 'name', id: 'resource_id' }),
    filtered,
    query,
  )
  return {
    total,
    items: rows.map(({ kind, resource_id, name, state, tries, error_text, updated_at }) => ({
      kind,
      id: resource_id,
      name,
      state,
      tries,
      error: error_text,
      updated_at: iso(updated_at),
    })),
  }
}
