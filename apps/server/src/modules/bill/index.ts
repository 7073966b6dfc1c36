import type { Migrations, Tx } from '../../platform/db/database.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import { accountRoutes } from './account/account.routes.ts'
import { createAccountService } from './account/account.service.ts'
import { accountMigrations, insertAccount } from './account/account.store.ts'
import { catalogueMigrations } from './catalogue/catalogue.migrations.ts'
import { catalogueRoutes } from './catalogue/catalogue.routes.ts'
import { createCatalogue } from './catalogue/catalogue.service.ts'
import { consumeRoutes } from './consume/consume.routes.ts'
import { createConsumes } from './consume/consume.service.ts'
import { ledgerMigrations } from './ledger/ledger.store.ts'
import { meteringMigrations } from './metering/metering.migrations.ts'
import { createMetering } from './metering/metering.service.ts'
import { ratingMigrations } from './rating/rating.migrations.ts'
import { createRating, rateUsageJob } from './rating/rating.service.ts'

export const billMigrations: Migrations = { ...accountMigrations, ...ledgerMigrations, ...catalogueMigrations, ...meteringMigrations, ...ratingMigrations }

/** Accounts and their ledger, what things cost, what was used, and what that cost. */
export function createBill(platform: Platform): ModuleParts & {
  /** Gives an owner an account, in the transaction that makes the owner. */
  openAccount: (tx: Tx, ownerId: string) => Promise<void>
} {
  const rating = createRating({ db: platform.db, now: platform.now, metering: createMetering(platform) })
  return {
    openAccount: insertAccount,
    handlers: [...accountRoutes(createAccountService(platform.db)), ...catalogueRoutes(createCatalogue(platform)), ...consumeRoutes(createConsumes(platform.db))],
    jobs: [rateUsageJob],
    jobHandlers: [rating.jobHandler],
  }
}
