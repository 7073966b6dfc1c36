import type { Tx } from '../../platform/db/database.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import { accountRoutes } from './account/account.routes.ts'
import { createAccountService } from './account/account.service.ts'
import { accountMigrations, insertAccount } from './account/account.store.ts'

export const billMigrations = accountMigrations

/** Accounts, and the ledger that their balances are the sums of. */
export const createBill = (
  platform: Platform,
): ModuleParts & {
  /** Gives an owner an account, in the transaction that makes the owner. */
  openAccount: (tx: Tx, ownerId: string) => Promise<void>
} => ({
  openAccount: insertAccount,
  handlers: accountRoutes(createAccountService(platform.db)),
})
