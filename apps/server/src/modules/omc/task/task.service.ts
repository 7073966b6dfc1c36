import { allCalls } from '@zhisuan/contract/calls'
import type { Call, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import type { Task, tasks } from '@zhisuan/contract/omc/task'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { mayAccess } from '@zhisuan/contract/roles'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { shownStatus } from '../../../platform/history.ts'
import { namesNow, tagsOf } from '../../../platform/kinds.ts'
import type { Platform } from '../../../platform/platform.ts'
import { cursorOf, readCursor, type After } from '../log/log.store.ts'
import * as store from './task.store.ts'

/** Whoever sees few of many is asked to read on, and does not wait for all to be looked at. */
const lookedAtMost = 1_000

const callsById: ReadonlyMap<string, Call> = new Map(allCalls.map((call) => [call.id, call]))

/** The call by which one of a kind is seen, or else all of them. */
export const readCallOf = (kind: Kind): Call | undefined => callsById.get(`${kind}.get`) ?? callsById.get(`${kind}.list`)

export type TaskService = ReturnType<typeof createTaskService>

/** Long work of every family, for those who may see what it works on. */
export function createTaskService({ db, kinds, operations }: Pick<Platform, 'db' | 'kinds' | 'operations'>) {
  /** Its kind and id, or those of what tells of it. */
  interface About {
    readonly kind: Kind
    readonly id: string
  }
  const aboutOf = async (rows: readonly store.TaskRow[]): Promise<ReadonlyMap<string, About>> => {
    const apart = [...Map.groupBy(rows, ({ resource_type }) => resource_type)].flatMap(([kind, of]) => {
      const parts = kinds().get(kind)
      return parts?.page === undefined ? [] : [{ parts, page: parts.page, ids: of.map(({ resource_id }) => resource_id) }]
    })
    const pages = await Promise.all(
      apart.map(async ({ parts, page, ids }) => (await namesNow(db, parts, ids)).map(({ id, page_id }) => [id, { kind: page.kind, id: page_id }] as const)),
    )
    const elsewhere = new Map(pages.flat())
    return new Map(rows.map(({ id, resource_type, resource_id }) => [id, elsewhere.get(resource_id) ?? { kind: resource_type, id: resource_id }]))
  }
  const may = async (actor: Actor, call: Call | undefined, id: string, context: Context): Promise<boolean> =>
    call !== undefined &&
    mayAccess(call.access, actor) &&
    (await decideCall(actor, call, { params: { id } }, context, (kind, of) => tagsOf(kinds(), scopeOf(actor), kind, of))).outcome === 'allowed'
  const shape = (actor: Actor, row: store.TaskRow, about: About, cancellable: boolean): Task => ({
    id: row.id,
    kind: row.kind,
    status: shownStatus(row),
    cancellable,
    step: row.step,
    steps_done: row.steps_done,
    steps_total: row.steps_total,
    error: operations.said(row).error,
    about: { ...about, name: row.resource_name },
    actor_name: row.actor_name,
    mine: row.actor_id === actor.user_id,
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    created_at: iso(row.created_at),
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.finished_at),
  })
  const shapeFor = async (actor: Actor, context: Context, row: store.TaskRow, about: About): Promise<Task> => {
    const cancellable = operations.cancellable(row) && (await may(actor, kinds().get(row.resource_type)?.cancelledBy, row.resource_id, context))
    return shape(actor, row, about, cancellable)
  }
  /** What is somebody's alone is nobody else's task. */
  const isOthers = (actor: Actor, { resource_type, actor_id }: store.TaskRow): boolean =>
    kinds().get(resource_type)?.toldTo !== undefined && actor_id !== actor.user_id
  const seen = async (actor: Actor, context: Context, row: store.TaskRow, about: About | undefined): Promise<About | null> =>
    about !== undefined && !isOthers(actor, row) && (await may(actor, readCallOf(about.kind), about.id, context)) ? about : null

  return {
    async list(
      actor: Actor,
      context: Context,
      { cursor, page_size, ...filters }: QueryOf<(typeof tasks)['list']>,
    ): Promise<ResponseOf<(typeof tasks)['list']>> {
      const items: Task[] = []
      const batch = Math.max(page_size + 1, 50)
      let after: After | null = readCursor(cursor)
      for (let looked = 0; looked < lookedAtMost; looked += batch) {
        const rows: readonly store.TaskRow[] = await store.readTasks(db, scopeOf(actor), actor.user_id, filters, after, batch)
        const abouts = await aboutOf(rows)
        for (const row of rows) {
          const about = await seen(actor, context, row, abouts.get(row.id))
          if (about !== null) {
            if (items.length === page_size) return { items, next: after === null ? null : cursorOf(after) }
            items.push(await shapeFor(actor, context, row, about))
          }
          after = row
        }
        if (rows.length < batch) return { items, next: null }
      }
      return { items, next: after === null ? null : cursorOf(after) }
    },

    /** @throws Refusal 90017, 90018 */
    async cancel(actor: Actor, context: Context, id: string): Promise<Task> {
      const row = found(await store.showTask(db, scopeOf(actor), id))
      const about = found((await seen(actor, context, row, (await aboutOf([row])).get(id))) ?? undefined)
      const call = kinds().get(row.resource_type)?.cancelledBy
      if (call === undefined) throw new Refusal(row.finished_at === null ? 'operationNotCancellable' : 'operationEnded')
      if (!(await may(actor, call, row.resource_id, context))) throw new Refusal('noPermission')
      await db.transaction().execute((tx) => operations.cancel(tx, id))
      return shapeFor(actor, context, found(await store.showTask(db, scopeOf(actor), id)), about)
    },
  }
}
