import type * as contract from '@zhisuan/contract/bill/catalogue'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'
import type { SkuService } from './sku.service.ts'

const taken = { [store.productNameRule]: ['productNameTaken', 'name'] } as const

const shape = ({ category_id, category_name, created_by_name, ...row }: store.ShownProduct): contract.Product => ({
  ...row,
  category: { id: category_id, name: category_name },
  created_by: created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})

/** What SKUs belong to, and discounts may be of. */
export function createProducts({ db, now }: Pick<Platform, 'db' | 'now'>, parts: { skus: Pick<SkuService, 'ofProduct'> }) {
  const get = async (id: string) => shape(found(await store.getProduct(db, now(), id)))

  return {
    list: (query: QueryOf<typeof contract.products.list>) => shapedPage(store.listProducts(db, now(), query), shape),
    get,
    async create(actor: Actor, body: BodyOf<typeof contract.products.create>): Promise<contract.Product> {
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        if ((await store.lockCategory(tx, body.category_id)) === undefined) throw new Refusal('notFound', { field: 'category_id' })
        await refusing(taken, () => store.insertProduct(tx, { id, ...body, ...authoredBy(actor) }))
      })
      return get(id)
    },
    async update(id: string, body: BodyOf<typeof contract.products.update>): Promise<contract.Product> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockProduct(tx, id))
        if ((await store.lockCategory(tx, body.category_id)) === undefined) throw new Refusal('notFound', { field: 'category_id' })
        await refusing(taken, () => store.updateProduct(tx, id, body))
      })
      return get(id)
    },
    /** @throws Refusal 96005 */
    delete: (id: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        found(await store.lockProduct(tx, id))
        const { sku_count, discount_count } = found(await store.getProduct(tx, now(), id))
        if (sku_count + discount_count > 0) throw new Refusal('productInUse', { values: { skus: sku_count, discounts: discount_count } })
        await store.deleteProduct(tx, id)
      }),
    async skus(id: string): Promise<{ items: contract.Sku[] }> {
      await get(id)
      return { items: await parts.skus.ofProduct(id) }
    },
  }
}
