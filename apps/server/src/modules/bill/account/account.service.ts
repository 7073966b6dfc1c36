import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { balanceOf, insertAccount } from './account.store.ts'

export type AccountService = ReturnType<typeof createAccountService>

export const createAccountService = (db: Db) => ({
  /**
   * Tenants have the account of their organisation, the platform's own people one each, opened
   * when they first look; administrators see every account there is.
   * @throws Refusal notFound for what is another's as for what is nobody's
   */
  async get(actor: Actor, id: string): Promise<{ id: string; balance: string }> {
    if (!isPlatformKind(actor.kind) && id !== actor.bp_id) throw new Refusal('notFound')
    const balance = await balanceOf(db, id)
    if (balance !== undefined) return { id, balance }
    if (id !== actor.user_id) throw new Refusal('notFound')
    await insertAccount(db, id)
    return { id, balance: found(await balanceOf(db, id)) }
  },
})
