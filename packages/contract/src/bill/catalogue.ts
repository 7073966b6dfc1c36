import { z } from 'zod'
import { byId, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { admins, tenants } from '../roles.ts'
import { billTexts } from '../texts.ts'
import { keyword, name, named } from '../validation.ts'
import { meterNames, variant } from './meter.ts'
import { amountGiven, money } from './money.ts'

const base = '/api/bill/v1'

/** What one pays for: an hour of use, or a month or year in advance. */
export const billingPeriods = ['hour', 'day', 'week', 'month', 'year'] as const
export type BillingPeriod = (typeof billingPeriods)[number]
/** What most things are priced for; by days and weeks only machines of the market are. */
export const usualPeriods = ['hour', 'month', 'year'] as const satisfies readonly BillingPeriod[]

/** Who made it; empty where the platform's own records do not know. */
const author = { created_by: z.string() }

export const category = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  product_count: z.int(),
  ...author,
  created_at: moment,
  updated_at: moment,
})
export type Category = z.output<typeof category>

export const product = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  category: z.object({ id: z.uuid(), name: z.string() }),
  sku_count: z.int(),
  /** Those with a price that holds now, of whatever period. */
  priced_sku_count: z.int(),
  /** Granted for this product alone, ended ones too: with them it cannot be deleted. */
  discount_count: z.int(),
  ...author,
  created_at: moment,
  updated_at: moment,
})
export type Product = z.output<typeof product>

/**
 * Graduated: what goes beyond `above` units costs `price` for each unit, up to where the next
 * tier begins. The first begins at 0, so that every quantity has a price.
 */
const tiersOf = <P extends z.ZodType>(price: P) =>
  z
    .array(z.object({ above: z.int().min(0).max(1_000_000_000), price }))
    .min(1)
    .max(20)
    .refine((all) => all.every(({ above }, at) => (at === 0 ? above === 0 : above > (all[at - 1]?.above ?? 0))), billTexts.tiers)

export const price = z.object({
  id: z.uuid(),
  sku_id: z.uuid(),
  period: z.enum(billingPeriods),
  tiers: z.array(z.object({ above: z.int(), price: money })),
  effective_from: moment,
  /** Null holds until another price begins. */
  effective_to: moment.nullable(),
  /** When one that was made later takes, or took, its place. */
  replaced_at: moment.nullable(),
  /** `superseded`: another one, made later, holds in its place. */
  status: z.enum(['planned', 'current', 'superseded', 'ended']),
  created_by: z.string(),
  created_at: moment,
})
export type Price = z.output<typeof price>

export const sku = z.object({
  id: z.uuid(),
  product_id: z.uuid(),
  name: z.string(),
  meter: z.enum(meterNames),
  /** Of a meter that varies; empty: every kind without a SKU of its own. */
  variant: z.string(),
  /** What holds now, for each period that is priced. */
  prices: z.array(price),
  /** Some are still to begin. */
  planned_count: z.int(),
  /** A price was set at some time: it cannot be deleted. */
  ever_priced: z.boolean(),
  /** What uses it by the hour, as of the last rating. */
  used_by: z.object({ organisations: z.int(), resources: z.int() }),
  ...author,
  created_at: moment,
})
export type Sku = z.output<typeof sku>

/** A share of the price that is paid: `0.85` takes 15 % off. Kept with four decimals. */
const fraction = z.string().regex(/^[01]\.\d{2,4}$/)

export const discountStates = ['planned', 'current', 'ended'] as const

export const discount = z.object({
  id: z.uuid(),
  name: z.string(),
  fraction,
  /** Null: every organisation, every product, every billing period. */
  organisation: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  product: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  period: z.enum(billingPeriods).nullable(),
  effective_from: moment,
  effective_to: moment.nullable(),
  status: z.enum(discountStates),
  created_by: z.string(),
  created_at: moment,
  /** By whom and when it was ended before its time. */
  ended: z.object({ by: z.string(), at: moment }).nullable(),
})
export type Discount = z.output<typeof discount>

/** Hours of a month wherever prices by the hour are compared by it, as in {@link pricePreview}: 30 days, as a bill's day has 24 hours. */
export const previewHours = 720

/** What 30 days of what is in use now cost before and after a price; `before` is 0 for what has none. */
const effect = { resources: z.int(), before: money, after: money }
export const pricePreview = z.object({
  organisation_count: z.int(),
  ...effect,
  /** Those for whom it changes most. */
  organisations: z.array(z.object({ id: z.uuid(), name: z.string(), ...effect })),
})
export type PricePreview = z.output<typeof pricePreview>

const priceGiven = amountGiven(8).refine((text) => !text.startsWith('-'), billTexts.priceNegative)

export const categories = {
  list: defineCall({
    id: 'bill.category.list',
    method: 'GET',
    path: `${base}/categories`,
    summary: 'Categories of products',
    access: admins,
    query: listQuery(['name', 'product_count', 'created_at'], { keyword }),
    response: listOf(category),
  }),
  /** Refused with 96001. */
  create: defineCall({
    id: 'bill.category.create',
    method: 'POST',
    path: `${base}/categories`,
    summary: 'Make a category',
    access: admins,
    status: 201,
    body: named,
    response: category,
  }),
  /** Refused with 96001. */
  update: defineCall({
    id: 'bill.category.update',
    method: 'PUT',
    path: `${base}/categories/{id}`,
    summary: 'Rename or describe a category',
    access: admins,
    params: byId,
    body: named,
    response: category,
  }),
  /** Refused with 96004. */
  delete: defineCall({
    id: 'bill.category.delete',
    method: 'DELETE',
    path: `${base}/categories/{id}`,
    summary: 'Delete a category without products',
    access: admins,
    params: byId,
    response: empty,
  }),
} as const

export const products = {
  list: defineCall({
    id: 'bill.product.list',
    method: 'GET',
    path: `${base}/products`,
    summary: 'Products',
    access: admins,
    query: listQuery(['name', 'sku_count', 'created_at'], { keyword, category_id: z.uuid().optional(), priced: z.enum(['all', 'some', 'none']).optional() }),
    response: listOf(product),
  }),
  get: defineCall({
    id: 'bill.product.get',
    method: 'GET',
    path: `${base}/products/{id}`,
    summary: 'One product',
    access: admins,
    params: byId,
    response: product,
  }),
  /** Refused with 96002. */
  create: defineCall({
    id: 'bill.product.create',
    method: 'POST',
    path: `${base}/products`,
    summary: 'Make a product',
    access: admins,
    status: 201,
    body: named.extend({ category_id: z.uuid() }),
    response: product,
  }),
  /** Refused with 96002. */
  update: defineCall({
    id: 'bill.product.update',
    method: 'PUT',
    path: `${base}/products/{id}`,
    summary: 'Change a product',
    access: admins,
    params: byId,
    body: named.extend({ category_id: z.uuid() }),
    response: product,
  }),
  /** Refused with 96005. */
  delete: defineCall({
    id: 'bill.product.delete',
    method: 'DELETE',
    path: `${base}/products/{id}`,
    summary: 'Delete a product without SKUs and discounts',
    access: admins,
    params: byId,
    response: empty,
  }),
  skus: defineCall({
    id: 'bill.product.skus',
    method: 'GET',
    path: `${base}/products/{id}/skus`,
    summary: 'What of a product is measured and priced',
    access: admins,
    params: byId,
    response: z.object({ items: z.array(sku) }),
  }),
} as const

/** Where a meter, or one variant of it, is priced. */
export const skuPlace = z.object({
  id: z.uuid(),
  name: z.string(),
  meter: z.enum(meterNames),
  variant: z.string(),
  product: z.object({ id: z.uuid(), name: z.string() }),
})
export type SkuPlace = z.output<typeof skuPlace>

export const skus = {
  list: defineCall({
    id: 'bill.sku.list',
    method: 'GET',
    path: `${base}/skus`,
    summary: 'What is measured, and in which product it is priced',
    access: admins,
    query: z.object({ meter: z.enum(meterNames).optional() }),
    response: z.object({ total: z.int(), items: z.array(skuPlace) }),
  }),
  /** Refused with 96003: what is measured is priced in one place. */
  create: defineCall({
    id: 'bill.sku.create',
    method: 'POST',
    path: `${base}/skus`,
    summary: 'Add a SKU to a product',
    access: admins,
    status: 201,
    body: z.object({ product_id: z.uuid(), name, meter: z.enum(meterNames), variant: variant.default('') }),
    response: sku,
  }),
  /** Lines and orders show the new name, too. */
  update: defineCall({
    id: 'bill.sku.update',
    method: 'PUT',
    path: `${base}/skus/{id}`,
    summary: 'Rename a SKU',
    access: admins,
    params: byId,
    body: z.object({ name }),
    response: sku,
  }),
  /** Refused with 96006. */
  delete: defineCall({
    id: 'bill.sku.delete',
    method: 'DELETE',
    path: `${base}/skus/{id}`,
    summary: 'Delete a SKU that never had a price',
    access: admins,
    params: byId,
    response: empty,
  }),
  prices: defineCall({
    id: 'bill.sku.prices',
    method: 'GET',
    path: `${base}/skus/{id}/prices`,
    summary: 'All prices that a SKU had, has and is to have',
    access: admins,
    params: byId,
    query: listQuery(['effective_from'], { period: z.enum(billingPeriods).optional() }),
    response: listOf(price),
  }),
  /** Prices are added, never changed. Refused with 96007. */
  setPrice: defineCall({
    id: 'bill.sku.setPrice',
    method: 'POST',
    path: `${base}/skus/{id}/prices`,
    summary: 'Price a SKU from now or from later on',
    access: admins,
    status: 201,
    params: byId,
    body: z.object({
      period: z.enum(billingPeriods),
      tiers: tiersOf(priceGiven),
      effective_from: moment.optional(),
      effective_to: moment.nullable().default(null),
    }),
    response: price,
  }),
  /**
   * What a price for an hour would mean for what is in use, as of the last rating and at the
   * discounts that will hold. Refused with 96007.
   */
  previewPrice: defineCall({
    id: 'bill.sku.previewPrice',
    method: 'POST',
    path: `${base}/skus/{id}/price-preview`,
    summary: 'What a price would mean for those who use it now',
    access: admins,
    audit: false,
    params: byId,
    body: z.object({ tiers: tiersOf(priceGiven), effective_from: moment.optional() }),
    response: pricePreview,
  }),
} as const

export const discounts = {
  list: defineCall({
    id: 'bill.discount.list',
    method: 'GET',
    path: `${base}/discounts`,
    summary: 'Discounts',
    access: admins,
    query: listQuery(['name', 'fraction', 'effective_from', 'created_at'], {
      keyword,
      status: z.enum(discountStates).optional(),
      period: z.enum(billingPeriods).optional(),
      bp_id: z.uuid().optional(),
      product_id: z.uuid().optional(),
    }),
    response: listOf(discount),
  }),
  /** Where several hold, the lowest fraction does. Refused with 24008, 96007. */
  create: defineCall({
    id: 'bill.discount.create',
    method: 'POST',
    path: `${base}/discounts`,
    summary: 'Grant a discount',
    access: admins,
    status: 201,
    body: z.object({
      name,
      /** Above 0, at most 1, up to four decimals: others answer 24008. */
      fraction: z
        .string()
        .trim()
        .max(20)
        .regex(/^-?\d+(\.\d+)?$/),
      bp_id: z.uuid().nullable().default(null),
      product_id: z.uuid().nullable().default(null),
      period: z.enum(billingPeriods).nullable().default(null),
      effective_from: moment.optional(),
      effective_to: moment.nullable().default(null),
    }),
    response: discount,
  }),
  /** Ends it now; what it took off stays off. Refused with 96008. */
  end: defineCall({
    id: 'bill.discount.end',
    method: 'DELETE',
    path: `${base}/discounts/{id}`,
    summary: 'End a discount',
    access: admins,
    params: byId,
    response: discount,
  }),
} as const

/** What was used by the hour while nothing priced it: it was free, and stays so. */
export const unpricedUse = z.object({
  /** Meter and variant: what makes it one. */
  id: z.string(),
  meter: z.enum(meterNames),
  variant: z.string(),
  organisation_count: z.int(),
  resource_count: z.int(),
  /** Units × hours, such as GiB for an hour. */
  unit_hours: z.number(),
  first_at: moment,
  /** Null: it goes on. */
  last_at: moment.nullable(),
  /** Where it is to be priced, if there is a place for it. */
  sku: skuPlace.nullable(),
})
export type UnpricedUse = z.output<typeof unpricedUse>

export const unpriced = {
  list: defineCall({
    id: 'bill.unpriced.list',
    method: 'GET',
    path: `${base}/unpriced-usage`,
    summary: 'What was used in the last days while it had no price',
    access: admins,
    query: z.object({ days: z.coerce.number().int().min(1).max(90).default(7) }),
    response: z.object({ total: z.int(), items: z.array(unpricedUse) }),
  }),
} as const

const listedPrice = priceGiven.nullable().default(null)
const priceListRow = z
  .object({
    category: name,
    product: name,
    sku: name,
    meter: z.enum(meterNames),
    variant: variant.default(''),
    hour: listedPrice,
    month: listedPrice,
    year: listedPrice,
    day: listedPrice,
    week: listedPrice,
  })
  .refine((row) => billingPeriods.some((period) => row[period] !== null), { path: ['hour'], error: billTexts.priceRequired })

export const priceLists = {
  /**
   * A whole list at once, or nothing of it; prices hold from now on. Categories and products are
   * found by their names, or made. Refused with 96002 where a product is in another
   * category, with 96003, and with 96060 where somebody does the same at the same time.
   */
  import: defineCall({
    id: 'bill.priceList.import',
    method: 'POST',
    path: `${base}/price-lists`,
    summary: 'Make categories, products, SKUs and prices of a list',
    access: admins,
    perMinute: 30,
    status: 201,
    body: z.object({
      rows: z
        .array(priceListRow)
        .min(1)
        .max(200)
        .superRefine((rows, { addIssue }) => {
          const seen = new Set<string>()
          for (const [at, { meter, variant: kind }] of rows.entries()) {
            if (seen.has(`${meter}/${kind}`)) addIssue({ code: 'custom', path: [at, 'meter'], message: billTexts.meterTwice })
            seen.add(`${meter}/${kind}`)
          }
        }),
    }),
    response: z.object({ categories: z.int(), products: z.int(), skus: z.int(), prices: z.int() }),
  }),
} as const

/** A part of the price: so many units at so much. */
export const formulaPart = z.object({ units: z.string(), price: money })

export const quoteLine = z.object({
  meter: z.enum(meterNames),
  variant: z.string(),
  sku: z.object({ id: z.uuid(), name: z.string() }),
  /** In the meter's base unit, as it was asked for. */
  quantity: z.int(),
  parts: z.array(formulaPart),
  fraction,
  /** Without and with the discount. */
  list_amount: money,
  amount: money,
})

export const quotes = {
  /** Refused with 24007, naming the item, unless a part of it is enough. */
  ask: defineCall({
    id: 'bill.quote.ask',
    method: 'POST',
    path: `${base}/quotes`,
    summary: 'What something costs in a period, at what holds now',
    access: tenants,
    audit: false,
    body: z.object({
      /** For whom; administrators may ask for any organisation. */
      bp_id: z.uuid().nullable().default(null),
      period: z.enum(billingPeriods),
      /** So many periods. */
      count: z.int().min(1).max(120).default(1),
      /** What has no price is left out and named, as forms show it. */
      partial: z.boolean().default(false),
      items: z
        .array(
          z.object({
            meter: z.enum(meterNames),
            variant: variant.default(''),
            quantity: z
              .int()
              .min(0)
              .max(2 ** 52),
          }),
        )
        .min(1)
        .max(50),
    }),
    response: z.object({
      period: z.enum(billingPeriods),
      count: z.int(),
      list_amount: money,
      amount: money,
      lines: z.array(quoteLine),
      unpriced: z.array(z.int()),
    }),
  }),
} as const
