import { sql, type RawBuilder } from 'kysely'
import type { Scope } from '../auth/actor.ts'

/** The condition that a row is the scope's, by the column that names its organisation: the only way to tenant rows. */
export function within(scope: Scope, column: string): RawBuilder<boolean> {
  if ('everything' in scope) return sql<boolean>`true`
  return 'bp_id' in scope ? sql<boolean>`${sql.ref(column)} = ${scope.bp_id}` : sql<boolean>`false`
}
