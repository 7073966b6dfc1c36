import type { Operation } from '@zhisuan/contract/operation'
import { iso, isoOrNull, type Sql } from './db/database.ts'
import { shapedPage, pageWithTotal, paged, type PageQuery } from './db/page.ts'
import { found } from './errors.ts'
import type { OperationRow } from './operations.ts'
import type { Platform } from './platform.ts'

/** What was done to a thing, as people are told of it. Whether somebody may see the thing, the caller has asked. */
export function createHistory({ db, operations }: Pick<Platform, 'db' | 'operations'>) {
  const shape = (row: OperationRow, resourceId: string): Operation => ({
    id: row.id,
    kind: row.kind,
    part: row.of_id === resourceId ? row.of_part : null,
    status: shownStatus(row),
    // What is done to a part is cancelled there.
    cancellable: row.resource_id === resourceId && operations.cancellable(row),
    step: row.step,
    steps_done: row.steps_done,
    steps_total: row.steps_total,
    ...operations.said(row),
    actor_name: row.actor_name,
    created_at: iso(row.created_at),
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.finished_at),
  })

  return {
    async list(resourceId: string, query: PageQuery): Promise<{ total: number; items: Operation[] }> {
      const filtered = db.selectFrom('operations').where((where) => where.or([where('resource_id', '=', resourceId), where('of_id', '=', resourceId)]))
      const page = paged(filtered.selectAll(), query, { by: { created_at: 'created_at' }, fallback: '-created_at', id: 'id' })
      return shapedPage(pageWithTotal(page, filtered, query), (row) => shape(row, resourceId))
    },

    /**
     * What it did so far is taken back; answers at once.
     * @throws Refusal 90017, 90018
     */
    async cancel(resourceId: string, id: string): Promise<Operation> {
      return db.transaction().execute(async (tx) => {
        const { id: known } = found(await operationOf(tx, resourceId, id))
        await operations.cancel(tx, known)
        return shape(found(await operationOf(tx, resourceId, known)), resourceId)
      })
    },
  }
}
export type History = ReturnType<typeof createHistory>

const operationOf = (on: Sql, resourceId: string, id: string): Promise<OperationRow | undefined> =>
  on.selectFrom('operations').selectAll().where('resource_id', '=', resourceId).where('id', '=', id).executeTakeFirst()

/** Undoing is how it runs on after it failed, or was cancelled. Nobody knows whether what was not answered happened. */
export function shownStatus({ status, error }: Pick<OperationRow, 'status' | 'error'>): Operation['status'] {
  if (error === 'outcomeUnknown') return 'unknown'
  if (status !== 'undoing') return status
  return error === 'operationCancelled' ? 'cancelling' : 'running'
}
