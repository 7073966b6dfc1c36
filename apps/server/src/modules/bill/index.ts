import { accounts } from '@zhisuan/contract/bill/account'
import { isPlatformKind } from '@zhisuan/contract/roles'
import type { Tx } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import { accountMigrations, balanceOf, insertAccount } from './account/account.store.ts'

export const billMigrations = accountMigrations

/** Accounts, and the ledger that their balances are the sums of. */
export function createBill(platform: Platform): ModuleParts & {
  /** Gives an owner an account, in the transaction that makes the owner. */
  openAccount: (tx: Tx, ownerId: string) => Promise<void>
} {
  return {
    openAccount: insertAccount,
    handlers: [
      handle(accounts.get, async ({ actor, params }) => {
        const own = params.id === actor.user_id || params.id === actor.bp_id
        if (!own && !isPlatformKind(actor.kind)) throw new Refusal('notFound')
        return { id: params.id, balance: await balanceOf(platform.db, params.id) }
      }),
    ],
  }
}
