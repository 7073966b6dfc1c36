import type { consumes, MonthOverview } from '@zhisuan/contract/bill/consume'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import { narrowed } from './consume.scope.ts'
import * as store from './consume.store.ts'
import { monthPlus } from './months.ts'

type Calls = typeof consumes

/** So many resources are named in an overview, and so many of everything else. */
const topResources = 10
const mostShares = 1_000

/** What months cost, and by what of it: day, product, project, resource. From the sums that lines keep. */
export function createCostOverviews({ db }: Pick<Platform, 'db'>) {
  return {
    async summary(actor: Actor, { month, bp_id }: QueryOf<Calls['summary']>): Promise<MonthOverview> {
      const scope = narrowed(actor, bp_id)
      const shares = (dimension: store.Dimension, limit = mostShares) => store.sharesOf(db, scope, month, dimension, limit)
      const [total, previous_total, prepaid, days, products, byDay, projects, resources, resource_count] = await Promise.all([
        store.totalOf(db, scope, month),
        store.totalOf(db, scope, monthPlus(month, -1)),
        store.prepaidIn(db, scope, month),
        shares('day'),
        shares('product'),
        shares('dayProduct', 31 * mostShares),
        shares('project'),
        'bp_id' in scope ? store.greatest(db, scope.bp_id, month, topResources) : shares('resource', topResources),
        store.countResources(db, scope, month),
      ])
      const [productNames, projectNames, resourceNames] = await Promise.all([
        store.productNames(
          db,
          products.map(({ key }) => key),
        ),
        store.projectNames(
          db,
          projects.map(({ key }) => key).filter((key) => key !== ''),
        ),
        store.resourceNames(
          db,
          resources.map(({ key }) => key),
        ),
      ])
      return {
        month,
        total,
        previous_total,
        prepaid: toDecimal(prepaid),
        days: days.map(({ key, amount }) => ({ day: key, amount })),
        products: products.map(({ key, amount }) => ({ id: key, name: productNames.get(key)?.name ?? '', amount })),
        products_by_day: byDay.map(({ key, amount }) => ({ day: key.slice(0, 10), product_id: key.slice(11), amount })),
        projects: projects.map(({ key, amount }) => ({ id: key === '' ? null : key, name: projectNames.get(key)?.name ?? '', amount })),
        resources: resources.map(({ key, amount }) => ({
          id: key,
          name: resourceNames.get(key)?.name ?? '',
          type: resourceNames.get(key)?.type ?? '',
          amount,
        })),
        resource_count,
      }
    },

    monthly: async (actor: Actor, query: QueryOf<Calls['monthly']>): Promise<ResponseOf<Calls['monthly']>> => ({
      items: await store.months(db, narrowed(actor, query.bp_id), query.months),
    }),
  }
}
