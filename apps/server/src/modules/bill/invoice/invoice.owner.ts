import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { found } from '../../../platform/errors.ts'
import { insertAccount } from '../account/account.store.ts'

/** Whose invoices somebody asks for: their organisation's, or of the platform's people their own. */
export async function ownerOf(db: Db, actor: Actor): Promise<string> {
  if (!isPlatformKind(actor.kind)) return found(actor.bp_id)
  await insertAccount(db, actor.user_id)
  return actor.user_id
}
