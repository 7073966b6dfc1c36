import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { invoiceCan, type invoices } from '@zhisuan/contract/bill/invoice'
import { billingZone } from '@zhisuan/contract/bill/meter'
import type { ResponseOf } from '@zhisuan/contract/define'
import { DateTime } from 'luxon'
import { platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { found, refuseUnless } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { linesOf } from './invoice.amounts.ts'
import * as store from './invoice.store.ts'
import { invoiceTexts } from './invoice.texts.ts'

const downloadKind = 'bill.invoice'

/** Invoices as they are printed. */
export function createInvoiceDownload({ db, downloads }: Pick<Platform, 'db' | 'downloads'>) {
  downloads.offer(downloadKind, async (id) => {
    const row = await store.showInvoice(db, platformScope, id)
    if (row === undefined || row.seller === null || row.issued_at === null) return null
    const { seller, title } = row
    const issued_on = DateTime.fromJSDate(row.issued_at).setZone(billingZone).toFormat('yyyy-MM-dd')
    // With the first one: fonts and their programs are as large as all of ours.
    const { printInvoice } = await import('./invoice.pdf.ts')
    const bytes = await printInvoice({ ...row, seller, title, amount: BigInt(row.amount), lines: linesOf(row), issued_on })
    return {
      name: `${invoiceTexts.file}-${row.number}.pdf`,
      size: bytes.length,
      etag: createHash('sha256').update(bytes).digest('hex'),
      open: (range) => Readable.from([range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)], { objectMode: false }),
    }
  })

  /** @throws Refusal 404, 90010 */
  return async (actor: Actor, id: string): Promise<ResponseOf<typeof invoices.download>> => {
    refuseUnless(invoiceCan.download, found(await store.showInvoice(db, scopeOf(actor), id)))
    return downloads.link(downloadKind, id, actor)
  }
}
