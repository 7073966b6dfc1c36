import { invoiceCan, type Invoice, type InvoiceLine, type invoices } from '@zhisuan/contract/bill/invoice'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { billTexts } from '@zhisuan/contract/texts'
import { authoredBy, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import { invoiceableOf, paidOf, linesOf, type Span } from './invoice.amounts.ts'
import { createInvoiceDownload } from './invoice.download.ts'
import { ownerOf } from './invoice.owner.ts'
import * as store from './invoice.store.ts'
import { createInvoiceTitles } from './title.service.ts'

type Calls = typeof invoices

export type InvoiceService = ReturnType<typeof createInvoices>

/** Invoices over what was consumed and paid: of each entry of the ledger once, and never of more than was paid in. */
export function createInvoices(platform: Pick<Platform, 'db' | 'now' | 'downloads'>, { settings }: { settings: Settings }) {
  const { db, now } = platform
  const get = async (actor: Actor, id: string): Promise<Invoice> => shape(found(await store.showInvoice(db, scopeOf(actor), id)))

  const change = (actor: Actor, id: string, allowed: readonly string[], work: (tx: Tx) => Promise<void>): Promise<Invoice> =>
    db
      .transaction()
      .execute(async (tx) => {
        refuseUnless(allowed, found(await store.lockInvoice(tx, scopeOf(actor), id)))
        await work(tx)
      })
      .then(() => get(actor, id))
  const handled = (actor: Actor) => ({ handled_by_name: actor.name, handled_at: now() })

  return {
    titles: createInvoiceTitles(platform),
    download: createInvoiceDownload(platform),
    get,

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listInvoices(db, scopeOf(actor), query), shape),

    async available(actor: Actor, span: Span): Promise<ResponseOf<Calls['available']>> {
      const owner_id = await ownerOf(db, actor)
      const [{ amount, lines }, paid] = await Promise.all([invoiceableOf(db, owner_id, span), paidOf(db, owner_id)])
      return { uninvoiced: toDecimal(amount), lines: lines.map(shapeLine), paid: toDecimal(paid) }
    },

    /** @throws Refusal 404, 96036, 96037 */
    async create(actor: Actor, { from, to, title_id, note }: BodyOf<Calls['create']>): Promise<Invoice> {
      const owner_id = await ownerOf(db, actor)
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        // Who asks holds the account: nothing is charged, paid or invoiced meanwhile.
        if (!(await lockOwner(tx, owner_id))) throw new Refusal('notFound')
        const chosen = await store.findTitle(tx, owner_id, title_id)
        if (chosen === undefined) throw new Refusal('notFound', { field: 'title_id' })
        const { kind, name, tax_number, address, phone, bank, bank_account, email } = chosen
        const title = { kind, name, tax_number, address, phone, bank, bank_account, email }
        const { amount, lines, entries } = await invoiceableOf(tx, owner_id, { from, to })
        if (amount === 0n) throw new Refusal('invoiceNothing', { field: 'from' })
        const paid = await paidOf(tx, owner_id)
        if (amount > paid) throw new Refusal('invoiceExceedsPaid', { field: 'from', values: { amount: toDecimal(amount), paid: toDecimal(paid) } })
        await store.insertInvoice(tx, {
          id,
          owner_id,
          status: 'asked',
          from,
          to,
          amount: String(amount),
          lines,
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
        await store.claimEntries(tx, entries, id)
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
  }
}

const shapeLine = ({ amount, ...line }: store.InvoiceLineRow): InvoiceLine => ({ ...line, amount: toDecimal(BigInt(amount)) })

const shape = (row: store.ShownInvoice): Invoice => ({
  id: row.id,
  owner: { id: row.owner_id, name: row.owner_name },
  status: row.status,
  from: row.from,
  to: row.to,
  amount: toDecimal(BigInt(row.amount)),
  lines: linesOf(row).map(shapeLine),
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
