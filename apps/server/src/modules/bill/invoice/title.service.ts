import type { InvoiceTitle, invoiceTitles } from '@zhisuan/contract/bill/invoice'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import { ownerOf } from './invoice.owner.ts'
import * as store from './invoice.store.ts'

type Calls = typeof invoiceTitles

const mostTitles = 20

/** To whom invoices are made out. */
export function createInvoiceTitles({ db, now }: Pick<Platform, 'db' | 'now'>) {
  return {
    async list(actor: Actor): Promise<ResponseOf<Calls['list']>> {
      const items = (await store.listTitles(db, await ownerOf(db, actor))).map(shapeTitle)
      return { total: items.length, items }
    },
    /** @throws Refusal 404, 96039 */
    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<InvoiceTitle> {
      const owner_id = await ownerOf(db, actor)
      const row = { ...body, id: uuidv7(), owner_id, created_at: now() }
      await db.transaction().execute(async (tx) => {
        await lockOwner(tx, owner_id)
        if ((await store.listTitles(tx, owner_id)).length >= mostTitles) throw new Refusal('invoiceTitlesTooMany', { values: { limit: mostTitles } })
        await store.insertTitle(tx, row)
      })
      return shapeTitle(row)
    },
    /** @throws Refusal 404 */
    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<InvoiceTitle> {
      const owner_id = await ownerOf(db, actor)
      await store.updateTitle(db, owner_id, id, body)
      return shapeTitle(found(await store.findTitle(db, owner_id, id)))
    },
    /** @throws Refusal 404 */
    async delete(actor: Actor, id: string): Promise<void> {
      found((await store.deleteTitle(db, await ownerOf(db, actor), id)) ? id : undefined)
    },
  }
}

const shapeTitle = ({
  id,
  kind,
  name,
  tax_number,
  address,
  phone,
  bank,
  bank_account,
  email,
  created_at,
}: Awaited<ReturnType<typeof store.listTitles>>[number]): InvoiceTitle => ({
  id,
  kind,
  name,
  tax_number,
  address,
  phone,
  bank,
  bank_account,
  email,
  created_at: iso(created_at),
})
