import { Refusal } from '../../../platform/errors.ts'
import type { Tx } from '../../../platform/db/database.ts'
import type { UserRow } from '../user/user.store.ts'

/**
 * After one of a person's ways to sign in was taken away, within the transaction that holds their row.
 * @throws Refusal 91131 where they have no other that they can use by themselves
 */
export async function refuseLastWayIn(tx: Tx, user: Pick<UserRow, 'id' | 'password_hash'>): Promise<void> {
  if (user.password_hash !== '') return
  const passkey = await tx.selectFrom('passkeys').select('id').where('user_id', '=', user.id).limit(1).executeTakeFirst()
  if (passkey !== undefined) return
  const identity = await tx
    .selectFrom('identities')
    .innerJoin('identity_providers', 'identity_providers.id', 'identities.provider_id')
    .select('identities.id')
    .where('identities.user_id', '=', user.id)
    .where('identity_providers.enabled', '=', true)
    .limit(1)
    .executeTakeFirst()
  if (identity === undefined) throw new Refusal('lastWayIn')
}
