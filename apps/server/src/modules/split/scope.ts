import { isPlatformKind } from '@zhisuan/contract/roles'
import { sql, type RawBuilder } from 'kysely'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Sql } from '../../platform/db/database.ts'

/** Whose splits somebody sees: everybody's, or one provider's. Null: nobody's. */
export type SplitScope = { readonly everything: true } | { readonly provider_id: string } | null

/** Rows of whom somebody sees, by the column of their provider. */
export const ofProvider = (scope: SplitScope, column: string): RawBuilder<boolean> => {
  if (scope === null) return sql<boolean>`false`
  return 'everything' in scope ? sql<boolean>`true` : sql<boolean>`${sql.ref(column)} = ${scope.provider_id}`
}

/** Whose person somebody is; null: nobody's. */
export const providerOf = async (on: Sql, userId: string): Promise<string | null> =>
  (await on.selectFrom('split_accounts').select('provider_id').where('user_id', '=', userId).executeTakeFirst())?.provider_id ?? null

/** Who settles sees everything, a provider's person what is of the provider that their account is bound to. */
export const scopeFor = async (on: Sql, actor: Actor): Promise<SplitScope> => {
  if (isPlatformKind(actor.kind) || actor.roles.includes('ADMIN') || actor.roles.includes('OPERATION_SUPPORTER')) return { everything: true }
  const provider_id = await providerOf(on, actor.user_id)
  return provider_id === null ? null : { provider_id }
}
/** Whether it is a provider that somebody sees. */
export const sees = (scope: SplitScope, providerId: string): boolean => scope !== null && ('everything' in scope || scope.provider_id === providerId)
