import { floored, toDecimal } from '@zhisuan/contract/bill/money'
import Nzh from 'nzh'
import { paper } from '../../../platform/pdf.ts'
import { invoiceTexts as texts } from './invoice.texts.ts'
import type { InvoiceLineRow, InvoiceRow, Seller } from './invoice.store.ts'

export interface PrintedInvoice extends Pick<InvoiceRow, 'title' | 'number' | 'note' | 'status'> {
  readonly lines: readonly InvoiceLineRow[]
  /** Whole cents, in minor units, with tax. */
  readonly amount: bigint
  readonly seller: Seller
  /** A day of Beijing. */
  readonly issued_on: string
}

/** Of an amount with tax what is tax, rounded half up to cents. Both in minor units. */
export function taxOf(amount: bigint, ratePercent: number): bigint {
  if (amount < 0n) return -taxOf(-amount, ratePercent)
  const cent = 1_000_000n
  const [cents, rate] = [amount / cent, BigInt(ratePercent)]
  return ((2n * cents * rate + 100n + rate) / (2n * (100n + rate))) * cent
}

const yuan = (minor: bigint): string => `¥${floored(toDecimal(minor))}`

const [left, right, top] = [48, 547, 56]

/** An invoice as a PDF, the same bytes at each time. */
export async function printInvoice(invoice: PrintedInvoice): Promise<Buffer> {
  const { title, seller, amount, lines } = invoice
  const issued = new Date(`${invoice.issued_on}T00:00:00+08:00`)
  const { pdf, bytes } = await paper({ title: `${texts.heading} ${invoice.number}`, author: seller.name, at: issued })

  pdf.fontSize(20).text(texts.heading, left, top, { width: right - left, align: 'center' })
  pdf.fontSize(9)
  let y = top + 44
  pdf.text(`${texts.number}：${invoice.number}`, left, y)
  pdf.text(`${texts.issued}：${invoice.issued_on}`, left, y, { width: right - left, align: 'right' })
  y += 22

  const parties = [
    [
      texts.buyer,
      [
        [texts.name, title.name],
        [texts.taxNumber, title.tax_number],
        [texts.address, [title.address, title.phone].filter((part) => part !== '').join(' ')],
        [texts.bank, [title.bank, title.bank_account].filter((part) => part !== '').join(' ')],
      ],
    ],
    [
      texts.seller,
      [
        [texts.name, seller.name],
        [texts.taxNumber, seller.tax_number],
        [texts.bank, [seller.bank, seller.bank_account].filter((part) => part !== '').join(' ')],
      ],
    ],
  ] as const
  for (const [who, lines] of parties) {
    const from = y
    y += 8
    for (const [label, value] of lines) {
      const text = `${label}：${value === '' ? texts.none : value}`
      pdf.text(text, left + 72, y, { width: right - left - 84 })
      y = pdf.y + 4
    }
    y += 4
    pdf.text(who, left + 16, (from + y) / 2 - 6)
    box(pdf, from, y)
    pdf
      .moveTo(left + 60, from)
      .lineTo(left + 60, y)
      .stroke()
  }

  const columns = [
    { label: texts.item, x: left + 8, width: 176, align: 'left' as const },
    { label: texts.span, x: left + 188, width: 130, align: 'left' as const },
    { label: texts.net, x: left + 318, width: 76, align: 'right' as const },
    { label: texts.rate, x: left + 396, width: 34, align: 'right' as const },
    { label: texts.tax, x: left + 432, width: 60, align: 'right' as const },
  ]
  const tax = taxOf(amount, seller.tax_rate)
  // What each line's tax is rounded to is made up for in the first: they add up to that of the whole.
  const taxes = lines.map((line) => taxOf(BigInt(line.amount), seller.tax_rate))
  const first = tax - taxes.slice(1).reduce((sum, one) => sum + one, 0n)
  const rows = [
    columns.map(({ label }) => label),
    ...lines.map((line, at) => {
      const own = at === 0 ? first : (taxes[at] ?? 0n)
      const name = line.late ? `*${texts.service}（${texts.late}）` : `*${texts.service}`
      return [name, `${line.from} ~ ${line.to}`, yuan(BigInt(line.amount) - own), `${seller.tax_rate}%`, yuan(own)]
    }),
    [texts.sum, '', yuan(amount - tax), '', yuan(tax)],
  ]
  const table = y
  for (const cells of rows) {
    for (const [at, { x, width, align }] of columns.entries()) pdf.text(cells[at] ?? '', x, y + 8, { width, align })
    y += 30
  }
  box(pdf, table, y)
  pdf
    .moveTo(left, table + 30)
    .lineTo(right, table + 30)
    .stroke()

  const capitals = Nzh.cn.toMoney(floored(toDecimal(amount)), { outSymbol: false, forceZheng: true })
  pdf.text(`${texts.total}：${capitals}`, left + 8, y + 10, { width: 340 })
  pdf.text(`${texts.inFigures}${yuan(amount)}`, left + 352, y + 10, { width: right - left - 360, align: 'right' })
  box(pdf, y, y + 34)
  y += 34
  pdf.text(`${texts.note}：${invoice.note === '' ? texts.none : invoice.note}`, left + 8, y + 10, { width: right - left - 16 })
  box(pdf, y, Math.max(pdf.y + 10, y + 48))

  if (invoice.status === 'voided') {
    pdf.rotate(-24, { origin: [300, 280] })
    pdf
      .fontSize(72)
      .fillColor('#c0392b', 0.35)
      .text(texts.voided, left, 230, { width: right - left, align: 'center' })
  }
  return bytes()
}

const box = (pdf: PDFKit.PDFDocument, from: number, to: number): void => {
  pdf
    .lineWidth(0.6)
    .rect(left, from, right - left, to - from)
    .stroke('#444')
}
