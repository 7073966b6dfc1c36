import { toDecimal } from '@zhisuan/contract/bill/money'
import type { Actor } from '../../platform/auth/actor.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tell } from '../sys/message/message.service.ts'
import type { Settings } from '../sys/settings/settings.service.ts'
import { accountRoutes } from './account/account.routes.ts'
import { createAccountService } from './account/account.service.ts'
import { balancesOfOrganisations, accountMigrations, insertAccount } from './account/account.store.ts'
import { arrearsMigrations } from './arrears/arrears.migrations.ts'
import { arrearsRoutes } from './arrears/arrears.routes.ts'
import { createStandings, type StandingService } from './arrears/standing.service.ts'
import { budgetRoutes } from './budget/budget.routes.ts'
import { createBudgets, forecastBudgetsJob } from './budget/budget.service.ts'
import { budgetMigrations } from './budget/budget.store.ts'
import { catalogueMigrations } from './catalogue/catalogue.migrations.ts'
import { catalogueRoutes } from './catalogue/catalogue.routes.ts'
import { createCatalogue, type CatalogueService } from './catalogue/catalogue.service.ts'
import { consumeRoutes } from './consume/consume.routes.ts'
import { createConsumes } from './consume/consume.service.ts'
import { invoiceRoutes } from './invoice/invoice.routes.ts'
import { createInvoices } from './invoice/invoice.service.ts'
import { invoiceMigrations } from './invoice/invoice.store.ts'
import { ledgerMigrations } from './ledger/ledger.store.ts'
import { meteringMigrations } from './metering/metering.migrations.ts'
import { createMetering, settleUsageJob } from './metering/metering.service.ts'
import { noticeRoutes } from './notice/notice.routes.ts'
import { createNotices, type NoticeSender } from './notice/notice.service.ts'
import { noticeMigrations } from './notice/notice.store.ts'
import { createOrderExport } from './order/order.export.ts'
import { createOrderRunner, orderClockJob } from './order/order.runner.ts'
import { orderRoutes } from './order/order.routes.ts'
import { createOrders } from './order/order.service.ts'
import { orderMigrations } from './order/order.store.ts'
import { prepaidMigrations } from './rating/prepaid.store.ts'
import { sumsOfProvider } from './rating/rating.store.ts'
import { createRating, rateUsageJob } from './rating/rating.service.ts'
import { createChannels } from './topup/channel.service.ts'
import { createTopupExport } from './topup/topup.export.ts'
import { servePayments, topupRoutes } from './topup/topup.routes.ts'
import { askPaymentsJob, createTopups } from './topup/topup.service.ts'
import { topupMigrations } from './topup/topup.store.ts'

/** Accounts and their ledger, what things cost, what was used, and what that cost. */
export function createBill(
  platform: Platform,
  { settings, personOf, notices: sender, tell }: { settings: Settings; personOf: (userId: string) => Promise<Actor | null>; notices: NoticeSender; tell: Tell },
): ModuleParts & {
  /** Whether something may be made for an organisation. @throws Refusal 24011, 24018 */
  mayMake: StandingService['mayMake']
  /** Whether an operation may be begun. @throws Refusal 24011, 24018 */
  mayBegin: StandingService['mayBegin']
  spendable: StandingService['spendable']
  isPriced: CatalogueService['isPriced']
  /** Makes SKUs with prices from now on, in the transaction in which what they are of comes to be. */
  importPrices: CatalogueService['importInto']
  /** What use of a provider's machines cost its users since a moment. */
  sumsOfProvider: (providerId: string, from: Date) => ReturnType<typeof sumsOfProvider>
  /** What each organisation has, in yuan. */
  balances: () => Promise<{ bp_id: string; name: string; balance: number }[]>
} {
  const orders = createOrders(platform, { personOf })
  const runner = createOrderRunner(platform, orders.renewals)
  const metering = createMetering(platform)
  const rating = createRating({ db: platform.db, now: platform.now, metering })
  const notices = createNotices(platform, sender, tell)
  const budgets = createBudgets(platform, { notices })
  const standings = createStandings(platform, { notices, used: budgets.used })
  const channels = createChannels(platform)
  const catalogue = createCatalogue(platform)
  const topups = createTopups(platform, { channels, settings })
  return {
    migrations: {
      ...accountMigrations,
      ...ledgerMigrations,
      ...catalogueMigrations,
      ...meteringMigrations,
      ...prepaidMigrations,
      ...orderMigrations,
      ...arrearsMigrations,
      ...noticeMigrations,
      ...budgetMigrations,
      ...topupMigrations,
      ...invoiceMigrations,
    },
    mayMake: standings.mayMake,
    mayBegin: standings.mayBegin,
    spendable: standings.spendable,
    isPriced: catalogue.isPriced,
    importPrices: catalogue.importInto,
    sumsOfProvider: (providerId, from) => sumsOfProvider(platform.db, providerId, from),
    balances: async () => (await balancesOfOrganisations(platform.db)).map((one) => ({ ...one, balance: Number(toDecimal(BigInt(one.balance))) })),
    organisationMade: insertAccount,
    kinds: { 'bill.order': {} },
    operations: [orders.deliver],
    handlers: [
      ...catalogueRoutes(catalogue),
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
    serve: (http) => servePayments(http, topups),
  }
}
