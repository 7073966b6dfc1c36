import { toDecimal } from '@zhisuan/contract/bill/money'
import type { SplitRun } from '@zhisuan/contract/split/contract'
import { paper } from '../../platform/pdf.ts'
import { wallClock } from '../../platform/exports.ts'
import type { LineRow } from './split.store.ts'
import { splitTexts as texts } from './split.texts.ts'

const [left, right, top, bottom] = [40, 802, 40, 560]

/** A statement on paper: what each has of it, the chain that it is a part of, and its lines, to the last digit. */
export async function printStatement(run: SplitRun, lines: readonly LineRow[]): Promise<Buffer> {
  const title = `${texts.file} ${run.contract.name} ${run.period}`
  const { pdf, bytes } = await paper({ title, author: run.provider.name, at: new Date(run.created_at), landscape: true })
  let y = top
  const write = (text: string, x = left, width = right - left, align: 'left' | 'right' = 'left'): void => void pdf.text(text, x, y, { width, align })
  const next = (height: number): void => {
    y += height
    if (y + height <= bottom) return
    pdf.addPage()
    pdf.font('text').fontSize(8)
    y = top
  }

  pdf.fontSize(16)
  write(title)
  next(28)
  pdf.fontSize(9)
  for (const fact of [
    `${texts.provider}：${run.provider.name}`,
    `${texts.version}：${run.version}　${texts.count(run.line_count)}`,
    `${texts.base}：${run.base}　${texts.kinds.adjustment}：${run.adjustment}`,
    ...run.shares.map(({ party, amount }) => `${texts.share(party.name)}：${amount}`),
    `${texts.hash}：${run.hash}`,
    ...(run.previous_hash === null ? [] : [`${texts.previous}：${run.previous_hash}`]),
  ]) {
    write(fact)
    next(15)
  }
  next(8)

  pdf.fontSize(8)
  const columns = [
    [left, 50],
    [left + 54, 66],
    [left + 124, 104],
    [left + 232, 120],
    [left + 356, 150],
    [left + 510, 116],
    [left + 630, 132],
  ] as const
  const row = (cells: readonly string[]): void => {
    for (const [at, [x, width]] of columns.entries()) write(cells[at] ?? '', x, width, at === columns.length - 1 ? 'right' : 'left')
  }
  row([texts.id, texts.kind, texts.from, texts.model, texts.rental, texts.payer, texts.base])
  next(14)
  for (const line of lines) {
    row([
      String(line.line),
      texts.kinds[line.kind],
      line.from === null ? '' : wallClock(line.from),
      line.model ?? '',
      line.rental_name ?? '',
      line.payer ?? '',
      toDecimal(BigInt(line.base)),
    ])
    next(12)
    write(run.shares.map(({ party }, index) => `${party.name} ${toDecimal(BigInt(line.amounts[index] ?? 0))}`).join('　'), left + 54, right - left - 54)
    next(Math.max(14, pdf.y - y + 4))
  }
  if (lines.length < run.line_count) write(texts.rest(run.line_count - lines.length))
  return bytes()
}
