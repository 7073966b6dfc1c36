import { categories, discounts, products, quotes, skus } from '@zhisuan/contract/bill/catalogue'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { CatalogueService } from './catalogue.service.ts'

export const catalogueRoutes = (catalogue: CatalogueService): Handler[] => [
  handle(categories.list, ({ query }) => catalogue.categories.list(query)),
  handle(categories.create, ({ body }) => catalogue.categories.create(body)),
  handle(categories.update, ({ params, body }) => catalogue.categories.update(params.id, body)),
  handle(categories.delete, ({ params }) => catalogue.categories.delete(params.id)),
  handle(products.list, ({ query }) => catalogue.products.list(query)),
  handle(products.get, ({ params }) => catalogue.products.get(params.id)),
  handle(products.create, ({ body }) => catalogue.products.create(body)),
  handle(products.update, ({ params, body }) => catalogue.products.update(params.id, body)),
  handle(products.delete, ({ params }) => catalogue.products.delete(params.id)),
  handle(products.skus, ({ params }) => catalogue.products.skus(params.id)),
  handle(skus.create, ({ body }) => catalogue.skus.create(body)),
  handle(skus.delete, ({ params }) => catalogue.skus.delete(params.id)),
  handle(skus.prices, ({ params, query }) => catalogue.skus.prices(params.id, query)),
  handle(skus.setPrice, ({ actor, params, body }) => catalogue.skus.setPrice(actor, params.id, body)),
  handle(discounts.list, ({ query }) => catalogue.discounts.list(query)),
  handle(discounts.create, ({ actor, body }) => catalogue.discounts.create(actor, body)),
  handle(discounts.end, ({ params }) => catalogue.discounts.end(params.id)),
  handle(quotes.ask, ({ actor, body }) => catalogue.quote(actor, body)),
]
