import type { consumes, MonthOverview, UsageLineShape } from '@zhisuan/contract/bill/consume'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, type Db } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { fractionText } from '../catalogue/catalogue.service.ts'
import { formulaOf } from '../catalogue/tariff.ts'
import * as store from './consume.store.ts'

/** So many resources are named in an overview, and so many of everything else. */
const topResources = 10
const mostShares = 1_000

/** What of his scope somebody asks about. @throws Refusal 404 for another organisation */
function narrowed(actor: Actor, bpId: string | undefined): Scope {
  const scope = scopeOf(actor)
  if (bpId === undefined) return scope
  if ('everything' in scope || ('bp_id' in scope && scope.bp_id === bpId)) return { bp_id: bpId }
  throw new Refusal('notFound', { field: 'bp_id' })
}

const monthBefore = (month: string): string => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return number === 1 ? `${year - 1}-12` : `${year}-${String(number - 1).padStart(2, '0')}`
}

export type ConsumeService = ReturnType<typeof createConsumes>

/** What was used and what it cost, from the sums that its lines keep. */
export const createConsumes = (db: Db) => ({
  async summary(actor: Actor, { month, bp_id }: QueryOf<typeof consumes.summary>): Promise<MonthOverview> {
    const scope = narrowed(actor, bp_id)
    const shares = (dimension: 'day' | 'product' | 'project' | 'resource', limit = mostShares) => store.sharesOf(db, scope, month, dimension, limit)
    const [total, previous_total, days, products, projects, resources, resource_count] = await Promise.all([
      store.totalOf(db, scope, month),
      store.totalOf(db, scope, monthBefore(month)),
      shares('day'),
      shares('product'),
      shares('project'),
      'bp_id' in scope ? store.greatest(db, scope.bp_id, month, topResources) : shares('resource', topResources),
      store.countResources(db, scope, month),
    ])
    const [productNames, projectNames, resourceNames] = await Promise.all([
      store.productNames(db, products.map(({ key }) => key)),
      store.projectNames(db, projects.map(({ key }) => key).filter((key) => key !== '')),
      store.resourceNames(db, resources.map(({ key }) => key)),
    ])
    return {
      month,
      total,
      previous_total,
      days: days.map(({ key, amount }) => ({ day: key, amount })),
      products: products.map(({ key, amount }) => ({ id: key, name: productNames.get(key)?.name ?? '', amount })),
      projects: projects.map(({ key, amount }) => ({ id: key === '' ? null : key, name: projectNames.get(key)?.name ?? '', amount })),
      resources: resources.map(({ key, amount }) => ({ id: key, name: resourceNames.get(key)?.name ?? '', type: resourceNames.get(key)?.type ?? '', amount })),
      resource_count,
    }
  },

  monthly: async (actor: Actor, query: QueryOf<typeof consumes.monthly>): Promise<ResponseOf<typeof consumes.monthly>> => ({ items: await store.months(db, narrowed(actor, query.bp_id), query.months) }),

  async list(actor: Actor, query: QueryOf<typeof consumes.list>): Promise<ResponseOf<typeof consumes.list>> {
    const { total, rows } = await store.listLines(db, narrowed(actor, query.bp_id), query)
    return { total, items: rows.map(shape) }
  },
})

const shape = (row: store.ShownLine): UsageLineShape => ({
  id: row.id,
  bp_id: row.bp_id,
  resource: { id: row.resource_id, type: row.resource_type, name: row.resource_name },
  project: row.project_id === null ? null : { id: row.project_id, name: row.project_name ?? '' },
  product: { id: row.product_id, name: row.product_name },
  sku: { id: row.sku_id, name: row.sku_name },
  meter: row.meter,
  variant: row.variant,
  from: iso(row.from),
  seconds: row.seconds,
  quantity: row.quantity,
  price_id: row.price_id,
  discount_id: row.discount_id,
  formula: { parts: formulaOf(row.meter, row.tiers.map(({ above, price }) => ({ above, price: BigInt(price) })), row.quantity), seconds: row.seconds, fraction: fractionText(row.fraction) },
  amount: toDecimal(BigInt(row.amount)),
})
