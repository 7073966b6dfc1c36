import { cards as cardCalls, marketNodes } from '@zhisuan/contract/market/card'
import { offers as offerCalls } from '@zhisuan/contract/market/offer'
import { providers as providerCalls } from '@zhisuan/contract/market/provider'
import { incomes, rentals as rentalCalls, waits as waitCalls } from '@zhisuan/contract/market/rental'
import { contextOf } from '../../platform/http/bind.ts'
import { handle } from '../../platform/http/handler.ts'
import { handleJob } from '../../platform/jobs.ts'
import type { ModuleParts } from '../../platform/module.ts'
import type { Platform } from '../../platform/platform.ts'
import type { StandingService } from '../bill/arrears/standing.service.ts'
import type { CatalogueService } from '../bill/catalogue/catalogue.service.ts'
import type { ContainerService } from '../cis/container/container.service.ts'
import type { RentedContainers } from '../cis/container/rented.containers.ts'
import type { EdgeReach } from '../ecrm/edge/edge.reach.ts'
import type { RefusedByNode } from '../ecrm/edge/edge.refusals.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { createAppsProxy } from './apps/apps.proxy.ts'
import { createApps } from './apps/apps.service.ts'
import { createCards } from './card/card.service.ts'
import { isListed } from './card/card.store.ts'
import { createNodes } from './card/node.service.ts'
import { createDoor } from './door/door.ts'
import { createEntering } from './inside.ts'
import { marketMigrations } from './market.migrations.ts'
import { createHistory, historyJob } from './history/history.service.ts'
import { createListings } from './offer/listing.service.ts'
import { createOffers } from './offer/offer.service.ts'
import { createProviders } from './provider/provider.service.ts'
import { sellsRentals } from './rental/rental.selling.ts'
import { createRentals, noticeJob } from './rental/rental.service.ts'
import { createWaits } from './wait/wait.service.ts'

/** The market: cards of providers, what they are offered for, and who rents them. */
export function createMarket(
  platform: Platform,
  others: {
    edges: EdgeReach
    refusedByNode: RefusedByNode
    tell: Tell
    importPrices: CatalogueService['importInto']
    usesCards: ContainerService['usesCards']
    rented: RentedContainers
    mayMake: StandingService['mayMake']
    spendable: StandingService['spendable']
    settings: Parameters<typeof createOffers>[1]['settings']
    personOf: Parameters<typeof createDoor>[1]['personOf']
    actorOf: Parameters<typeof createAppsProxy>[1]['actorOf']
    personOfKey: Parameters<typeof createDoor>[1]['personOfKey']
    sumsOfProvider: Parameters<typeof createRentals>[1]['sumsOfProvider']
  },
): ModuleParts {
  const providers = createProviders(platform)
  const nodes = createNodes(platform, others)
  const cards = createCards(platform, { ...others, failedWith: nodes.failedWith })
  const offers = createOffers(platform, others)
  const ways = { ...others, entering: createEntering(platform) }
  const door = createDoor(platform, ways)
  const proxy = createAppsProxy(platform, ways)
  const apps = createApps(platform, { ...ways, proxy })
  const waits = createWaits(platform, others)
  const rentals = createRentals(platform, { ...others, beside: waits.look, sharesOf: cards.sharesOf, doorPort: door.port, apps: proxy.offered })
  const listings = createListings(platform)
  const history = createHistory(platform, { listed: listings.all })
  others.edges.onReport(cards.reported)
  return {
    migrations: marketMigrations,
    kinds: {
      'market.provider': { table: 'market_providers' },
      'market.node': { table: 'market_nodes' },
      'market.card': { table: 'market_cards', name: 'model', seen: cards.seen },
      'market.offer': { table: 'market_offers', name: 'card_model' },
      'market.wait': {},
      'market.rental': { table: 'market_rentals', suspendable: rentals.suspendable, sold: sellsRentals(rentals) },
    },
    reservesCards: isListed,
    nodeLeaves: nodes.leaves,
    handlers: [
      handle(providerCalls.list, ({ actor, query }) => providers.list(actor, query)),
      handle(providerCalls.get, ({ actor, params }) => providers.get(actor, params.id)),
      handle(providerCalls.create, ({ actor, body }) => providers.create(actor, body)),
      handle(providerCalls.update, ({ actor, params, body }) => providers.update(actor, params.id, body)),
      handle(providerCalls.review, ({ actor, params, body }) => providers.review(actor, params.id, body)),
      handle(cardCalls.list, ({ actor, query }) => cards.list(actor, query)),
      handle(cardCalls.clear, ({ actor, params }) => cards.clear(actor, params.id)),
      handle(marketNodes.list, ({ actor, query }) => nodes.list(actor, query)),
      handle(marketNodes.test, ({ actor, params }) => nodes.test(actor, params.id)),
      handle(marketNodes.enlist, ({ actor, params }) => nodes.enlist(actor, params.id)),
      handle(marketNodes.withdraw, ({ actor, params }) => nodes.withdraw(actor, params.id)),
      handle(offerCalls.browse, ({ query }) => listings.browse(query)),
      handle(offerCalls.history, ({ query }) => history.get(query)),
      handle(offerCalls.list, ({ actor, query }) => offers.list(actor, query)),
      handle(offerCalls.get, ({ actor, params }) => offers.get(actor, params.id)),
      handle(offerCalls.create, ({ actor, body }) => offers.create(actor, body)),
      handle(offerCalls.decide, ({ actor, params, body }) => offers.decide(actor, params.id, body)),
      handle(offerCalls.action, ({ actor, params, body }) => offers.action(actor, params.id, body)),
      handle(rentalCalls.list, ({ actor, query }) => rentals.list(actor, query)),
      handle(rentalCalls.get, ({ actor, params }) => rentals.get(actor, params.id)),
      handle(rentalCalls.create, ({ actor, body }) => rentals.create(actor, body)),
      handle(rentalCalls.stop, ({ actor, params }) => rentals.stop(actor, params.id)),
      handle(rentalCalls.start, ({ actor, params }) => rentals.start(actor, params.id)),
      handle(rentalCalls.move, ({ actor, params }) => rentals.move(actor, params.id)),
      handle(rentalCalls.limit, ({ actor, params, body }) => rentals.limit(actor, params.id, body)),
      handle(rentalCalls.open, ({ actor, params, body, request }) => apps.open(actor, params.id, body, contextOf(actor, request))),
      handle(rentalCalls.release, ({ actor, params }) => rentals.release(actor, params.id)),
      handle(waitCalls.list, ({ actor, query }) => waits.list(actor, query)),
      handle(waitCalls.create, ({ actor, body }) => waits.create(actor, body)),
      handle(waitCalls.delete, ({ actor, params }) => waits.delete(actor, params.id)),
      handle(incomes.list, ({ actor, params, query }) => rentals.incomes(actor, params.id, query)),
    ],
    jobs: [noticeJob, historyJob],
    jobHandlers: [handleJob(noticeJob, () => rentals.notify()), handleJob(historyJob, () => history.keep())],
    drain: () => {
      door.drain()
      proxy.drain()
    },
    start: async () => {
      await door.start()
      await proxy.start()
      rentals.begin()
    },
    stop: () => rentals.end(),
  }
}
