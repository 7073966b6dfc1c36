import type { thirdRegistries } from '@zhisuan/contract/ims/preheat'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql, Tables, Tx } from '../../../platform/db/database.ts'
import { matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import '../ims.migrations.ts'

export type ThirdRow = Selectable<Tables['third_registries']>
export type ShownThird = ThirdRow & { bp_name: string | null }

const order = orderOf('third_registries', '-created_at', 'name', 'created_at')
/** One's own, and the platform's. */
const visible = (scope: Scope) =>
  'nothing' in scope ? sql<boolean>`false` : sql<boolean>`(${within(scope, 'third_registries.bp_id')} or third_registries.bp_id is null)`
const shown = <T>(query: SelectQueryBuilder<Tables, 'third_registries', T>) =>
  query.selectAll('third_registries').select(sql<string | null>`(select name from organisations where organisations.id = third_registries.bp_id)`.as('bp_name'))

export async function listThird(on: Sql, scope: Scope, query: QueryOf<typeof thirdRegistries.list>): Promise<{ total: number; rows: ShownThird[] }> {
  const filtered = on
    .selectFrom('third_registries')
    .where(visible(scope))
    .where(matching(query.keyword, sql<string>`third_registries.name || ' ' || third_registries.description || ' ' || third_registries.address`))
  return pageWithTotal(paged(shown(filtered), query, order), filtered, query)
}
export const getThird = (on: Sql, scope: Scope, id: string): Promise<ShownThird | undefined> =>
  shown(on.selectFrom('third_registries').where('third_registries.id', '=', id).where(visible(scope))).executeTakeFirst()
export const allThird = (on: Sql): Promise<ThirdRow[]> => on.selectFrom('third_registries').selectAll().execute()

export const { insert: insertThird, update: updateThird, remove: deleteThird } = rowsOf('third_registries', 'updated_at')

/** How many an organisation has; until the transaction ends nobody else adds one. */
export const countThird = async (tx: Tx, bpId: string): Promise<number> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('third registries ' || ${bpId}::text, 13))`.execute(tx)
  const { count } = await tx
    .selectFrom('third_registries')
    .select(sql<number>`count(*)`.as('count'))
    .where('bp_id', '=', bpId)
    .executeTakeFirstOrThrow()
  return count
}

/** What a look found: nothing of one that is reached otherwise meanwhile. */
export const noteThird = async (
  on: Sql,
  { id, connection }: Pick<ThirdRow, 'id' | 'connection'>,
  seen: Partial<Pick<ThirdRow, 'health' | 'health_message' | 'slowed_until' | 'browsable' | 'checked_at'>>,
): Promise<void> => {
  await on.updateTable('third_registries').set(seen).where('id', '=', id).where('connection', '=', connection).execute()
}
