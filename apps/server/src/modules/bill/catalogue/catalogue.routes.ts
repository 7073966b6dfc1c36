import { categories, discounts, priceLists, products, quotes, skus, unpriced } from '@zhisuan/contract/bill/catalogue'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { CatalogueService } from './catalogue.service.ts'

export const catalogueRoutes = (catalogue: CatalogueService): Handler[] => [
  handle(categories.list, ({ query }) => catalogue.categories.list(query)),
  handle(categories.create, ({ actor, body }) => catalogue.categories.create(actor, body)),
  handle(categories.update, ({ params, body }) => catalogue.categories.update(params.id, body)),
  handle(categories.delete, ({ params }) => catalogue.categories.delete(params.id)),
  handle(products.list, ({ query }) => catalogue.products.list(query)),
  handle(products.get, ({ params }) => catalogue.products.get(params.id)),
  handle(products.create, ({ actor, body }) => catalogue.products.create(actor, body)),
  handle(products.update, ({ params, body }) => catalogue.products.update(params.id, body)),
  handle(products.delete, ({ params }) => catalogue.products.delete(params.id)),
  handle(products.skus, ({ params }) => catalogue.products.skus(params.id)),
  handle(skus.list, ({ query }) => catalogue.skus.list(query)),
  handle(skus.create, ({ actor, body }) => catalogue.skus.create(actor, body)),
  handle(skus.update, ({ params, body }) => catalogue.skus.update(params.id, body)),
  handle(skus.delete, ({ params }) => catalogue.skus.delete(params.id)),
  handle(skus.prices, ({ params, query }) => catalogue.skus.prices(params.id, query)),
  handle(skus.setPrice, ({ actor, params, body }) => catalogue.skus.setPrice(actor, params.id, body)),
  handle(skus.previewPrice, ({ params, body }) => catalogue.previewPrice(params.id, body)),
  handle(discounts.list, ({ query }) => catalogue.discounts.list(query)),
  handle(discounts.create, ({ actor, body }) => catalogue.discounts.create(actor, body)),
  handle(discounts.end, ({ actor, params }) => catalogue.discounts.end(actor, params.id)),
  handle(priceLists.import, ({ actor, body }) => catalogue.importPrices(actor, body)),
  handle(unpriced.list, ({ query }) => catalogue.unpriced(query.days)),
  handle(quotes.ask, ({ actor, body }) => catalogue.quote(actor, body)),
]
