import type { Migrations, Tx } from '../../platform/db/database.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import { accountRoutes } from './account/account.routes.ts'
import { createAccountService } from './account/account.service.ts'
import { accountMigrations, insertAccount } from './account/account.store.ts'
import { catalogueMigrations } from './catalogue/catalogue.migrations.ts'
import { catalogueRoutes } from './catalogue/catalogue.routes.ts'
import { createCatalogue } from './catalogue/catalogue.service.ts'
import { consumeMigrations } from './consume/consume.migrations.ts'
import { consumeRoutes } from './consume/consume.routes.ts'
import { createConsumes } from './consume/consume.service.ts'
import { ledgerMigrations } from './ledger/ledger.store.ts'
import { meteringMigrations } from './metering/metering.migrations.ts'
import { createMetering } from './metering/metering.service.ts'
import { ratingMigrations } from './rating/rating.migrations.ts'
import { createOrderRunner, orderClockJob } from './order/order.runner.ts'
import { orderRoutes } from './order/order.routes.ts'
import { createOrders, type Delivering } from './order/order.service.ts'
import { orderMigrations } from './order/order.store.ts'
import { prepaidMigrations } from './rating/prepaid.store.ts'
import { createRating, rateUsageJob } from './rating/rating.service.ts'

export const billMigrations: Migrations = { ...accountMigrations, ...ledgerMigrations, ...catalogueMigrations, ...meteringMigrations, ...ratingMigrations, ...prepaidMigrations, ...orderMigrations, ...consumeMigrations }

/** Accounts and their ledger, what things cost, what was used, and what that cost. */
export function createBill(platform: Platform): ModuleParts & {
  /** Gives an owner an account, in the transaction that makes the owner. */
  openAccount: (tx: Tx, ownerId: string) => Promise<void>
  /** Tells who makes what is ordered, before anything is. */
  delivers: (delivering: Delivering) => void
} {
  let delivering: Delivering | null = null
  const orders = createOrders(platform, () => {
    if (delivering === null) throw new Error('nobody was told to make what is ordered')
    return delivering
  })
  const runner = createOrderRunner(platform, orders)
  const rating = createRating({ db: platform.db, now: platform.now, metering: createMetering(platform) })
  return {
    openAccount: insertAccount,
    delivers: (by) => {
      delivering = by
    },
    handlers: [...accountRoutes(createAccountService(platform.db)), ...catalogueRoutes(createCatalogue(platform)), ...consumeRoutes(createConsumes(platform)), ...orderRoutes(orders)],
    operations: [orders.deliver],
    jobs: [rateUsageJob, orderClockJob],
    jobHandlers: [rating.jobHandler, runner.jobHandler],
  }
}
