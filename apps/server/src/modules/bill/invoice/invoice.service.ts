import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { invoiceCan, type Invoice, type invoices as calls, type InvoiceTitle, type invoiceTitles as titleCalls } from '@zhisuan/contract/bill/invoice'
import { billingZone } from '@zhisuan/contract/bill/meter'
import { toDecimal } from '@zhisuan/contract/bill/money'
import { billTexts } from '@zhisuan/contract/texts'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { DateTime } from 'luxon'
import { authoredBy, platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import { insertAccount } from '../account/account.store.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import { printInvoice } from './invoice.pdf.ts'
import * as store from './invoice.store.ts'
import { invoiceTexts } from './invoice.texts.ts'

type Calls = typeof calls
type TitleCalls = typeof titleCalls
interface Span {
  from: string
  to: string
}

const cent = 1_000_000n
const mostTitles = 20
const downloadKind = 'bill.invoice'

const floorToCents = (minor: bigint): bigint => (minor <= 0n ? 0n : minor - (minor % cent))
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

export type InvoiceService = ReturnType<typeof createInvoices>

/** Invoices over what was consumed and paid: of each entry of the ledger once, and never of more than was paid in. */
export function createInvoices({ db, now, downloads }: Pick<Platform, 'db' | 'now' | 'downloads'>, { settings }: { settings: Settings }) {
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
  const shape = (row: store.ShownInvoice): Invoice => ({
    id: row.id,
    owner: { id: row.owner_id, name: row.owner_name },
    status: row.status,
    from: row.from,
    to: row.to,
    amount: toDecimal(BigInt(row.amount)),
    title: row.title,
    number: row.number,
    note: row.note,
    reason: row.reason,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    handled_by: row.handled_by_name,
    handled_at: row.handled_at === null ? null : iso(row.handled_at),
    issued_at: row.issued_at === null ? null : iso(row.issued_at),
  })
  const get = async (actor: Actor, id: string): Promise<Invoice> => shape(found(await store.showInvoice(db, scopeOf(actor), id)))

  /** Whose invoices somebody asks for: their organisation's, or of the platform's people their own. */
  const ownerOf = async (actor: Actor): Promise<string> => {
    if (!isPlatformKind(actor.kind)) return found(actor.bp_id)
    await insertAccount(db, actor.user_id)
    return actor.user_id
  }

  /**
   * What may be invoiced in all. Consumed is what was charged less what was given back; what is
   * owed of it was not paid; and what was paid with gifts is no payment, so money that came in is the limit.
   */
  const paidOf = async (on: Sql, ownerId: string): Promise<bigint> => {
    const { balances } = await ledger.standing(on, ownerId)
    const { revenue = 0n, refunds = 0n, credit = 0n, receivable = 0n, funds = 0n } = balances
    return least(revenue + refunds + credit + receivable, -funds) - (await store.invoicedAmount(on, ownerId))
  }

  const change = (actor: Actor, id: string, allowed: readonly string[], work: (tx: Tx) => Promise<void>): Promise<Invoice> =>
    db
      .transaction()
      .execute(async (tx) => {
        refuseUnless(allowed, found(await store.lockInvoice(tx, scopeOf(actor), id)))
        await work(tx)
      })
      .then(() => get(actor, id))
  const handled = (actor: Actor) => ({ handled_by_name: actor.name, handled_at: now() })

  downloads.offer(downloadKind, async (id) => {
    const row = await store.showInvoice(db, platformScope, id)
    if (row === undefined || row.seller === null || row.issued_at === null) return null
    const { seller, title } = row
    const issued_on = DateTime.fromJSDate(row.issued_at).setZone(billingZone).toFormat('yyyy-MM-dd')
    const bytes = await printInvoice({ ...row, seller, title, amount: BigInt(row.amount), issued_on })
    return {
      name: `${invoiceTexts.file}-${row.number}.pdf`,
      size: bytes.length,
      etag: createHash('sha256').update(bytes).digest('hex'),
      open: (range) => Readable.from([range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)], { objectMode: false }),
    }
  })

  return {
    titles: {
      async list(actor: Actor): Promise<ResponseOf<TitleCalls['list']>> {
        const items = (await store.listTitles(db, await ownerOf(actor))).map(shapeTitle)
        return { total: items.length, items }
      },
      /** @throws Refusal 404, 96039 */
      async create(actor: Actor, body: BodyOf<TitleCalls['create']>): Promise<InvoiceTitle> {
        const owner_id = await ownerOf(actor)
        const row = { ...body, id: uuidv7(), owner_id, created_at: now() }
        await db.transaction().execute(async (tx) => {
          await lockOwner(tx, owner_id)
          if ((await store.listTitles(tx, owner_id)).length >= mostTitles) throw new Refusal('invoiceTitlesTooMany', { values: { limit: mostTitles } })
          await store.insertTitle(tx, row)
        })
        return shapeTitle(row)
      },
      /** @throws Refusal 404 */
      async update(actor: Actor, id: string, body: BodyOf<TitleCalls['update']>): Promise<InvoiceTitle> {
        const owner_id = await ownerOf(actor)
        await store.updateTitle(db, owner_id, id, body)
        return shapeTitle(found(await store.findTitle(db, owner_id, id)))
      },
      /** @throws Refusal 404 */
      async delete(actor: Actor, id: string): Promise<void> {
        found((await store.deleteTitle(db, await ownerOf(actor), id)) ? id : undefined)
      },
    },

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listInvoices(db, scopeOf(actor), query), shape),
    get,

    async available(actor: Actor, span: Span): Promise<ResponseOf<Calls['available']>> {
      const owner_id = await ownerOf(actor)
      const [uninvoiced, paid] = await Promise.all([store.uninvoicedAmount(db, owner_id, span), paidOf(db, owner_id)])
      return { uninvoiced: toDecimal(floorToCents(uninvoiced)), paid: toDecimal(floorToCents(paid)) }
    },

    /** @throws Refusal 404, 96036, 96037 */
    async create(actor: Actor, { from, to, title_id, note }: BodyOf<Calls['create']>): Promise<Invoice> {
      const owner_id = await ownerOf(actor)
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        // Who asks holds the account: nothing is charged, paid or invoiced meanwhile.
        if (!(await lockOwner(tx, owner_id))) throw new Refusal('notFound')
        const chosen = await store.findTitle(tx, owner_id, title_id)
        if (chosen === undefined) throw new Refusal('notFound', { field: 'title_id' })
        const { kind, name, tax_number, address, phone, bank, bank_account, email } = chosen
        const title = { kind, name, tax_number, address, phone, bank, bank_account, email }
        const amount = floorToCents(await store.uninvoicedAmount(tx, owner_id, { from, to }))
        if (amount === 0n) throw new Refusal('invoiceNothing', { field: 'from' })
        const paid = floorToCents(await paidOf(tx, owner_id))
        if (amount > paid) throw new Refusal('invoiceExceedsPaid', { field: 'from', values: { amount: toDecimal(amount), paid: toDecimal(paid) } })
        await store.insertInvoice(tx, {
          id,
          owner_id,
          status: 'asked',
          from,
          to,
          amount: String(amount),
          title,
          seller: null,
          number: '',
          note,
          reason: '',
          ...authoredBy(actor),
          created_at: now(),
          handled_by_name: '',
          handled_at: null,
          issued_at: null,
        })
        await store.claimEntries(tx, owner_id, { from, to }, id)
      })
      return get(actor, id)
    },

    /** @throws Refusal 404, 90010 */
    withdraw: (actor: Actor, id: string): Promise<Invoice> =>
      change(actor, id, invoiceCan.withdraw, async (tx) => {
        await store.updateInvoice(tx, id, { status: 'withdrawn', ...handled(actor) })
        await store.releaseEntries(tx, id)
      }),

    /** @throws Refusal 404, 90001, 90010, 96042 */
    async issue(actor: Actor, id: string, { number }: BodyOf<Calls['issue']>): Promise<Invoice> {
      const [name, bank, bank_account, tax_number, rate] = await Promise.all([
        settings.get('remittance_receiver'),
        settings.get('remittance_bank'),
        settings.get('remittance_account'),
        settings.get('invoice_tax_number'),
        settings.get('invoice_tax_rate'),
      ])
      return refusing(
        { [store.numberIndex]: (cause) => new Refusal('fieldsInvalid', { fields: [{ field: 'number', message: billTexts.invoiceNumberTaken }], cause }) },
        () =>
          change(actor, id, invoiceCan.issue, async (tx) => {
            if (name === '' || tax_number === '') throw new Refusal('invoiceSellerNotSetUp')
            await store.updateInvoice(tx, id, {
              status: 'issued',
              number,
              seller: { name, bank, bank_account, tax_number, tax_rate: Number(rate) },
              issued_at: now(),
              ...handled(actor),
            })
          }),
      )
    },

    /** @throws Refusal 404, 90010 */
    reject: (actor: Actor, id: string, { reason }: BodyOf<Calls['reject']>): Promise<Invoice> =>
      change(actor, id, invoiceCan.reject, async (tx) => {
        await store.updateInvoice(tx, id, { status: 'rejected', reason, ...handled(actor) })
        await store.releaseEntries(tx, id)
      }),

    /** @throws Refusal 404, 90010 */
    void: (actor: Actor, id: string, { reason }: BodyOf<Calls['void']>): Promise<Invoice> =>
      change(actor, id, invoiceCan.void, async (tx) => {
        await store.updateInvoice(tx, id, { status: 'voided', reason, ...handled(actor) })
        await store.releaseEntries(tx, id)
      }),

    /** @throws Refusal 404, 90010 */
    async download(actor: Actor, id: string): Promise<ResponseOf<Calls['download']>> {
      refuseUnless(invoiceCan.download, found(await store.showInvoice(db, scopeOf(actor), id)))
      return downloads.link(downloadKind, id)
    },
  }
}
