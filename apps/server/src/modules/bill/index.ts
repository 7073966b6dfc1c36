import type { FastifyInstance } from 'fastify'
import type { Migrations, Tx } from '../../platform/db/database.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { accountRoutes } from './account/account.routes.ts'
import { createAccountService } from './account/account.service.ts'
import { accountMigrations, insertAccount } from './account/account.store.ts'
import { arrearsMigrations } from './arrears/arrears.migrations.ts'
import { arrearsRoutes } from './arrears/arrears.routes.ts'
import { createStandings, type StandingService } from './arrears/standing.service.ts'
import type { Suspendable } from './arrears/suspension.ts'
import { budgetRoutes } from './budget/budget.routes.ts'
import { createBudgets, forecastBudgetsJob } from './budget/budget.service.ts'
import { budgetMigrations } from './budget/budget.store.ts'
import { catalogueMigrations } from './catalogue/catalogue.migrations.ts'
import { catalogueRoutes } from './catalogue/catalogue.routes.ts'
import { createCatalogue } from './catalogue/catalogue.service.ts'
import { consumeMigrations } from './consume/consume.migrations.ts'
import { consumeRoutes } from './consume/consume.routes.ts'
import { createConsumes } from './consume/consume.service.ts'
import { invoiceRoutes } from './invoice/invoice.routes.ts'
import { createInvoices } from './invoice/invoice.service.ts'
import { invoiceMigrations } from './invoice/invoice.store.ts'
import { ledgerMigrations } from './ledger/ledger.store.ts'
import { meteringMigrations } from './metering/metering.migrations.ts'
import { createMetering, settleUsageJob } from './metering/metering.service.ts'
import { noticeRoutes } from './notice/notice.routes.ts'
import { createNotices, type NoticeSender, type NoticeValues } from './notice/notice.service.ts'
import { noticeMigrations } from './notice/notice.store.ts'
import { ratingMigrations } from './rating/rating.migrations.ts'
import { createOrderExport } from './order/order.export.ts'
import { createOrderRunner, orderClockJob } from './order/order.runner.ts'
import { orderRoutes } from './order/order.routes.ts'
import { createOrders, type Delivering } from './order/order.service.ts'
import { orderMigrations } from './order/order.store.ts'
import { prepaidMigrations } from './rating/prepaid.store.ts'
import { createRating, rateUsageJob } from './rating/rating.service.ts'
import { createChannels } from './topup/channel.service.ts'
import { createTopupExport } from './topup/topup.export.ts'
import { servePayments, topupRoutes } from './topup/topup.routes.ts'
import { askPaymentsJob, createTopups } from './topup/topup.service.ts'
import { topupMigrations } from './topup/topup.store.ts'

export const billMigrations: Migrations = {
  ...accountMigrations,
  ...ledgerMigrations,
  ...catalogueMigrations,
  ...meteringMigrations,
  ...ratingMigrations,
  ...prepaidMigrations,
  ...orderMigrations,
  ...consumeMigrations,
  ...arrearsMigrations,
  ...noticeMigrations,
  ...budgetMigrations,
  ...topupMigrations,
  ...invoiceMigrations,
}

export type { NoticeSender, NoticeValues, Suspendable }

/** Accounts and their ledger, what things cost, what was used, and what that cost. */
export function createBill(
  platform: Platform,
  { settings }: { settings: Settings },
): ModuleParts & {
  /** Gives an owner an account, in the transaction that makes the owner. */
  openAccount: (tx: Tx, ownerId: string) => Promise<void>
  /** Tells who makes what is ordered, before anything is. */
  delivers: (delivering: Delivering) => void
  /** Whether something may be made for an organisation. @throws Refusal 24011, 24018 */
  mayMake: StandingService['mayMake']
  /** Whether an operation may be begun. @throws Refusal 24011, 24018 */
  mayBegin: StandingService['mayBegin']
  /** Names what a suspension stops. */
  suspends: (of: Suspendable) => void
  deliversNoticesBy: (by: NoticeSender) => void
  /** Where payment gateways tell what was paid. */
  servePayments: (http: FastifyInstance) => void
} {
  let delivering: Delivering | null = null
  const orders = createOrders(platform, () => {
    if (delivering === null) throw new Error('nobody was told to make what is ordered')
    return delivering
  })
  const runner = createOrderRunner(platform, orders)
  const metering = createMetering(platform)
  const rating = createRating({ db: platform.db, now: platform.now, metering })
  const notices = createNotices(platform)
  const budgets = createBudgets(platform, { notices })
  const standings = createStandings(platform, { notices, used: budgets.used })
  const channels = createChannels(platform)
  const topups = createTopups(platform, { channels, settings })
  return {
    mayMake: standings.mayMake,
    mayBegin: standings.mayBegin,
    suspends: standings.suspends,
    deliversNoticesBy: notices.deliversBy,
    openAccount: insertAccount,
    delivers: (by) => {
      delivering = by
    },
    operations: [orders.deliver],
    handlers: [
      ...catalogueRoutes(createCatalogue(platform)),
      ...consumeRoutes(createConsumes(platform)),
      ...orderRoutes(orders, createOrderExport(platform)),
      ...arrearsRoutes(standings),
      ...noticeRoutes(notices),
      ...budgetRoutes(budgets),
      ...topupRoutes(topups, channels, createTopupExport(platform)),
      ...invoiceRoutes(createInvoices(platform, { settings })),
      ...accountRoutes(createAccountService(platform)),
    ],
    jobs: [settleUsageJob, rateUsageJob, orderClockJob, notices.job, askPaymentsJob, forecastBudgetsJob],
    jobHandlers: [metering.jobHandler, rating.jobHandler, runner.jobHandler, notices.jobHandler, topups.jobHandler, budgets.jobHandler],
    start: async () => standings.start(),
    stop: () => standings.stop(),
    servePayments: (http) => servePayments(http, topups),
  }
}
