import type { preheats } from '@zhisuan/contract/ims/preheat'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Db, Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import '../ims.migrations.ts'

export type PreheatRow = Selectable<Tables['preheats']>
export type TargetRow = Selectable<Tables['preheat_targets']>
export type ShownPreheat = PreheatRow & {
  registry_name: string | null
  third_registry_name: string | null
  node_count: number
  done_count: number
  failed_count: number
  away_count: number
}
export type ShownTarget = TargetRow & { node_name: string }

const order = orderOf('preheats', '-created_at', 'created_at', 'starts_at')
/** So many nodes of which all, or any, targets are so. */
const nodes = (condition: 'all' | 'any', ...states: TargetRow['state'][]) => {
  const so = sql`t.state = any(${states}::text[])`
  return sql<number>`(select count(*) from (select 1 from preheat_targets as t where t.preheat_id = preheats.id group by t.edge_id having ${
    condition === 'all' ? sql`bool_and(${so})` : sql`bool_or(${so})`
  }) as n)`
}
const shown = <T>(query: SelectQueryBuilder<Tables, 'preheats', T>) =>
  query
    .selectAll('preheats')
    .select([
      sql<string | null>`(select name from registries where registries.id = preheats.registry_id)`.as('registry_name'),
      sql<string | null>`(select name from third_registries where third_registries.id = preheats.third_registry_id)`.as('third_registry_name'),
      sql<number>`(select count(distinct t.edge_id) from preheat_targets as t where t.preheat_id = preheats.id)`.as('node_count'),
      nodes('all', 'done', 'there').as('done_count'),
      nodes('any', 'failed').as('failed_count'),
      nodes('any', 'away').as('away_count'),
    ])

const visible = (on: Sql, scope: Scope) => on.selectFrom('preheats').where(within(scope, 'preheats.bp_id'))

export async function listPreheats(on: Sql, scope: Scope, query: QueryOf<typeof preheats.list>): Promise<{ total: number; rows: ShownPreheat[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'preheats', 'status', 'registry_id'))
    .where(matching(query.keyword, sql<string>`array_to_string(preheats.images, ' ')`))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const showPreheat = (on: Sql, scope: Scope, id: string): Promise<ShownPreheat | undefined> =>
  shown(visible(on, scope).where('preheats.id', '=', id)).executeTakeFirst()
export const targetsOf = (on: Sql, id: string): Promise<ShownTarget[]> =>
  on
    .selectFrom('preheat_targets')
    .innerJoin('edges', 'edges.id', 'preheat_targets.edge_id')
    .where('preheat_id', '=', id)
    .selectAll('preheat_targets')
    .select('edges.name as node_name')
    .orderBy('edges.name')
    .orderBy('preheat_targets.image')
    .execute()

export const { insert: insertPreheat, update: updatePreheat, remove: deletePreheat, lock: lockPreheat, lockAny: lockAnyPreheat } = rowsOf('preheats')
export const insertTargets = insertsInto('preheat_targets')

/** Where images can be brought to: nodes that are agreed with, whether they are there now or not. */
export const nodesFor = (on: Sql, scope: Scope) => on.selectFrom('edges').where(within(scope, 'edges.bp_id')).where('edges.binding', '=', 'bound')

const openStates: TargetRow['state'][] = ['waiting', 'pulling', 'away']

/** Those that have something to do now. */
export const duePreheats = (on: Sql, now: Date): Promise<PreheatRow[]> =>
  on.selectFrom('preheats').selectAll().where('status', 'in', ['waiting', 'running']).where('starts_at', '<=', now).orderBy('created_at').execute()

/**
 * Takes a target of one of these nodes, so that no more nodes than wanted are at it at once; those of nodes that are away
 * are said to be.
 * @returns null where none is to be done now
 */
export const claimTarget = (db: Db, id: string, connected: (edgeId: string) => boolean, now: Date, until: Date): Promise<TargetRow | null> =>
  db.transaction().execute(async (tx) => {
    const row = await lockAnyPreheat(tx, id)
    if (row === undefined || (row.status !== 'waiting' && row.status !== 'running')) return null
    if (row.status === 'waiting') await updatePreheat(tx, id, { status: 'running', started_at: now })
    await tx
      .updateTable('preheat_targets')
      .set({ state: 'away' })
      .where('preheat_id', '=', id)
      .where('state', '=', 'waiting')
      .where('edge_id', 'in', (eb) => eb.selectFrom('edges').select('id').where('status', '<>', 'online'))
      .execute()
    const open = await tx
      .selectFrom('preheat_targets')
      .selectAll()
      .where('preheat_id', '=', id)
      .where('state', 'in', openStates)
      .orderBy('attempts')
      .orderBy('id')
      .execute()
    const isHeld = ({ claimed_until }: TargetRow): boolean => claimed_until !== null && claimed_until > now
    const busy = new Set(open.filter(isHeld).map(({ edge_id }) => edge_id))
    if (busy.size >= row.at_once) return null
    const next = open.find((one) => !isHeld(one) && !busy.has(one.edge_id) && (one.next_at === null || one.next_at <= now) && connected(one.edge_id))
    if (next === undefined) return null
    await tx
      .updateTable('preheat_targets')
      .set({ state: 'pulling', claimed_until: until, next_at: null, error: null, attempts: next.attempts + 1 })
      .where('id', '=', next.id)
      .execute()
    return { ...next, attempts: next.attempts + 1 }
  })

/** How far it is. @returns false where it was cancelled meanwhile, or is somebody else's */
export async function noteProgress(
  on: Sql,
  id: string,
  progress: { layers: string; done_bytes: number; total_bytes: number | null; claimed_until: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await on.updateTable('preheat_targets').set(progress).where('id', '=', id).where('state', '=', 'pulling').executeTakeFirst()
  return numUpdatedRows > 0n
}

/** What became of one; and of the whole, where that was the last of it. */
export const endTarget = (
  db: Db,
  { id, preheat_id }: Pick<TargetRow, 'id' | 'preheat_id'>,
  changes: Partial<Pick<TargetRow, 'state' | 'error' | 'next_at' | 'ended_at'>>,
  now: Date,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await lockAnyPreheat(tx, preheat_id)
    await tx
      .updateTable('preheat_targets')
      .set({ ...changes, claimed_until: null })
      .where('id', '=', id)
      .where('state', '=', 'pulling')
      .execute()
    await settle(tx, preheat_id, now)
  })

/** Ended where all of it is. */
export async function settle(tx: Tx, id: string, now: Date): Promise<void> {
  const states = (await tx.selectFrom('preheat_targets').select('state').where('preheat_id', '=', id).execute()).map(({ state }) => state)
  if (states.some((state) => openStates.includes(state))) return
  const good = states.filter((state) => state === 'done' || state === 'there').length
  const status = good === states.length ? 'succeeded' : good > 0 ? 'partial' : 'failed'
  await tx.updateTable('preheats').set({ status, ended_at: now }).where('id', '=', id).where('status', 'in', ['waiting', 'running']).execute()
}

/** Nothing of it is begun any more, and what is under way is let go of. */
export async function cancel(tx: Tx, id: string, now: Date): Promise<void> {
  await updatePreheat(tx, id, { status: 'cancelled', ended_at: now })
  await tx
    .updateTable('preheat_targets')
    .set({ state: 'cancelled', claimed_until: null, ended_at: now })
    .where('preheat_id', '=', id)
    .where('state', 'in', openStates)
    .execute()
}

/** Once more, by the rights of who says so. */
export async function retry(tx: Tx, id: string, orderedBy: string, now: Date): Promise<void> {
  await updatePreheat(tx, id, { status: 'running', started_at: now, ended_at: null, ordered_by: orderedBy })
  await tx
    .updateTable('preheat_targets')
    .set({ state: 'waiting', error: null, next_at: null, claimed_until: null, ended_at: null, attempts: 0 })
    .where('preheat_id', '=', id)
    .where('state', 'in', ['failed', 'cancelled'])
    .execute()
}
