import type * as contract from '@zhisuan/contract/bill/catalogue'
import type { QueryOf } from '@zhisuan/contract/define'
import { authoredBy, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './catalogue.store.ts'

type Named = { name: string; description: string }

const taken = { [store.categoryNameRule]: ['categoryNameTaken', 'name'] } as const

const shape = ({ created_by_name, ...row }: NonNullable<Awaited<ReturnType<typeof store.getCategory>>>): contract.Category => ({
  ...row,
  created_by: created_by_name,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
})

/** What products are sorted into. */
export function createCategories({ db }: Pick<Platform, 'db'>) {
  const get = async (id: string) => shape(found(await store.getCategory(db, id)))

  return {
    list: (query: QueryOf<typeof contract.categories.list>) => shapedPage(store.listCategories(db, query), shape),
    async create(actor: Actor, body: Named): Promise<contract.Category> {
      const id = uuidv7()
      await refusing(taken, () => store.insertCategory(db, { id, ...body, ...authoredBy(actor) }))
      return get(id)
    },
    async update(id: string, body: Named): Promise<contract.Category> {
      await get(id)
      await refusing(taken, () => store.updateCategory(db, id, body))
      return get(id)
    },
    /** @throws Refusal 96004 */
    delete: (id: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        found(await store.lockCategory(tx, id))
        const { count, first } = await store.productsOf(tx, id)
        if (count > 0) throw new Refusal('categoryInUse', { values: { count, product: first ?? '' } })
        await store.deleteCategory(tx, id)
      }),
  }
}
