import type { QueryOf } from '@zhisuan/contract/define'
import type { tasks } from '@zhisuan/contract/omc/task'
import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'
import { openStatuses, type OperationRow } from '../../../platform/operations.ts'
import { atOf, microsOf, type After } from '../log/log.store.ts'

export const taskMigrations: Migrations = {
  // That one begins and that it ends is told; how far it is, whoever looks at it asks.
  '20261202_10_operations_tell': migration(`
    create trigger operations_tell_task_new after insert on operations for each row execute function tell_change('omc.task');
    create trigger operations_tell_task after update on operations for each row
      when (old.status is distinct from new.status) execute function tell_change('omc.task');
  `),
}

export type TaskRow = OperationRow & { readonly micros: string; readonly bp_name: string | null }

const shown = (on: Sql, scope: Scope) =>
  on
    .selectFrom('operations')
    .selectAll('operations')
    .select([
      microsOf(sql.ref('operations.created_at')).as('micros'),
      sql<string | null>`(select name from organisations where organisations.id = operations.bp_id)`.as('bp_name'),
    ])
    .where(within(scope, 'operations.bp_id'))

/** Newest first. */
export const readTasks = (
  on: Sql,
  scope: Scope,
  userId: string,
  { state, mine, from }: Pick<QueryOf<typeof tasks.list>, 'state' | 'mine' | 'from'>,
  after: After | null,
  limit: number,
): Promise<TaskRow[]> =>
  shown(on, scope)
    .$if(state === 'open', (q) => q.where('status', 'in', openStatuses))
    .$if(state === 'failed', (q) => q.where('status', '=', 'failed'))
    .$if(state === 'ended', (q) => q.where('status', 'not in', openStatuses))
    .$if(mine !== undefined, (q) => q.where('actor_id', mine === true ? 'is not distinct from' : 'is distinct from', userId))
    .$if(from !== undefined, (q) => q.where('created_at', '>=', new Date(from ?? 0)))
    .$if(after !== null, (q) =>
      q.where(after === null ? sql<boolean>`true` : sql<boolean>`(operations.created_at, operations.id) < (${atOf(after)}, ${after.id}::uuid)`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

export const showTask = (on: Sql, scope: Scope, id: string): Promise<TaskRow | undefined> => shown(on, scope).where('operations.id', '=', id).executeTakeFirst()
