import { categories, discounts, products, skus, unpriced } from '@zhisuan/contract/bill/catalogue'

/** Whose answers are old once something of the catalogue has changed. */
export const invalidatedByCatalogue = [
  categories.list,
  products.list,
  products.get,
  products.skus,
  skus.list,
  skus.prices,
  skus.previewPrice,
  discounts.list,
  unpriced.list,
] as const
