import { once } from 'node:events'
import { Readable } from 'node:stream'
import { moneyScale, toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { exportFormats, type ExportFormat, type ExportLink } from '@zhisuan/contract/exports'
import { ZipFile } from 'yazl'
import { z } from 'zod'
import type { Actor, Scope } from './auth/actor.ts'
import { iso } from './db/database.ts'
import type { Downloads } from './downloads.ts'

/**
 * What stands in a cell. An `amount` is a decimal text, exact, such as `-12.00000001`; a `moment` is
 * shown in the zone of bills.
 */
export type Cell = string | number | null | { readonly amount: string } | { readonly moment: Date }

/** One column of a list: its title, as people read it, and what of a row stands there. */
export interface ExportColumn<Row> {
  readonly title: string
  readonly cell: (row: Row) => Cell
  /** Its amounts are added up below the list, by a formula where a spreadsheet's numbers are exact enough; in a workbook only. */
  readonly summed?: boolean
}

export interface Exported<Row, Wish> {
  /** Of its links: see {@link Downloads.offer}. */
  readonly kind: string
  /** What is asked for besides the format; sealed in the link. */
  readonly wish: z.ZodType<Wish>
  /** Without its ending. */
  readonly name: (wish: Wish) => string
  readonly columns: readonly ExportColumn<Row>[]
  /** Some rows at a time, in pages that are read when they are wanted: nothing is held open between two of them. */
  readonly rows: (scope: Scope, wish: Wish) => AsyncIterable<readonly Row[]>
}

const scopes = z.union([z.object({ everything: z.literal(true) }), z.object({ bp_id: z.string() }), z.object({ nothing: z.literal(true) })])

/**
 * Offers a list as a file and answers how to link to one: whose view of it, in which format, and
 * what was asked for are sealed in the link. Rows are read while they are sent, so a file of any
 * length takes no more memory than a page of it.
 */
export function offerExport<Row, Wish>(
  downloads: Downloads,
  { kind, wish, name, columns, rows }: Exported<Row, Wish>,
): (by: Pick<Actor, 'user_id'>, scope: Scope, format: ExportFormat, asked: Wish) => ExportLink {
  const sealed = z.object({ scope: scopes, format: z.enum(exportFormats), wish })
  downloads.offer(kind, async (id) => {
    const asked = sealed.parse(JSON.parse(id))
    const open = { csv: csvFile, xlsx: xlsxFile }[asked.format]
    // zod gives properties that are not readonly, which is the same.
    return { name: `${name(asked.wish)}.${asked.format}`, size: null, open: () => open(columns, rows(asked.scope as Scope, asked.wish)) }
  })
  return (by, scope, format, asked) => downloads.link(kind, JSON.stringify({ scope, format, wish: asked }), by)
}

/** Wall clock of bills, which are those of Beijing: it has no summer time. */
const zoneOffsetMs = 8 * 3_600_000
export const wallClock = (moment: Date): string =>
  iso(new Date(moment.getTime() + zoneOffsetMs))
    .slice(0, 19)
    .replace('T', ' ')
/** The day that a file's name may tell. */
export const fileDay = (moment: Date): string => wallClock(moment).slice(0, 10)

/** RFC 4180; what a spreadsheet would take for a formula is made text. */
export function csvLine(cells: readonly Cell[]): string {
  const texts = cells.map((cell) => {
    if (cell === null) return ''
    if (typeof cell === 'number') return String(cell)
    if (typeof cell === 'object') return 'amount' in cell ? cell.amount : wallClock(cell.moment)
    // Full-width ones too, and behind blanks: some read these as the same.
    const plain = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) ? `'${cell}` : cell
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
  })
  return `${texts.join(',')}\r\n`
}

/** With a byte order mark: spreadsheets read Chinese names right. */
export function csvFile<Row>(columns: readonly ExportColumn<Row>[], pages: AsyncIterable<readonly Row[]>): Readable {
  async function* text(): AsyncGenerator<string> {
    yield `\uFEFF${csvLine(columns.map(({ title }) => title))}`
    for await (const rows of pages) yield rows.map((row) => csvLine(columns.map(({ cell }) => cell(row)))).join('')
  }
  return Readable.from(text())
}

/** Without the heading. Excel reads 1,048,576 lines of a sheet; others stand on another one. */
const linesOfSheet = 1_000_000
const longestText = 32_767
/** Excel counts days from here, with the parts of a day behind the point. */
const excelEpochMs = Date.UTC(1899, 11, 30)
const dayMs = 86_400_000

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const namespace = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** The styles of cells, by their place in styles.xml. */
const style = { heading: 1, moment: 2 } as const
const styles = `${xml}<styleSheet xmlns="${namespace}">
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>
<fonts count="2"><font><sz val="11"/></font><font><b/><sz val="11"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="3"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/><xf xfId="0" numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }
/** XML has no place for most control characters, not even escaped. */
// oxlint-disable-next-line no-control-regex -- these are the ones
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(unwritable, '')
    .replaceAll(/[&<>"\r]/g, (character) => escapes[character] ?? '')

const textCell = (place: string, text: string, of = ''): string =>
  text === '' ? '' : `<c r="${place}" t="inlineStr"${of}><is><t xml:space="preserve">${escaped(text.slice(0, longestText))}</t></is></c>`
const numberCell = (place: string, number: number | string, of = ''): string => `<c r="${place}"${of}><v>${number}</v></c>`

/** @param place such as `B12`: the standard lets it out, and some programs do not read it then */
function xlsxCell(place: string, cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return numberCell(place, cell)
  if (typeof cell === 'string') return textCell(place, cell)
  if ('moment' in cell) return numberCell(place, (cell.moment.getTime() + zoneOffsetMs - excelEpochMs) / dayMs, ` s="${style.moment}"`)
  return isExact(cell.amount) ? numberCell(place, cell.amount) : textCell(place, cell.amount)
}
/** A spreadsheet's numbers have fifteen digits: what needs more is exact as text only. */
const isExact = (amount: string): boolean => amount.replaceAll(/\D/g, '').replace(/^0+/, '').length <= 15

/** A, B, … Z, AA, … */
const letters = (index: number): string => (index < 26 ? '' : letters(Math.floor(index / 26) - 1)) + String.fromCodePoint(65 + (index % 26))

/**
 * A workbook, written as it is read. Its parts come in the order in which they are known: how many sheets there are, last.
 * @param total what the line is called that adds up columns which are `summed`
 */
export function xlsxFile<Row>(columns: readonly ExportColumn<Row>[], pages: AsyncIterable<readonly Row[]>, total?: string): Readable {
  const zip = new ZipFile()
  // What yazl declares as the interface of all streams is a PassThrough.
  const file = zip.outputStream as Readable
  // Nobody is told when the reader left but by this.
  let current: Readable | null = null
  file.once('close', () => current?.destroy())
  const places = columns.map((_, index) => letters(index))
  const remaining = pages[Symbol.asyncIterator]()
  let left: readonly Row[] = []
  /** Whether there are rows that stand in no sheet yet. */
  const more = async (): Promise<boolean> => {
    while (left.length === 0) {
      const next = await remaining.next()
      if (next.done === true) return false
      left = next.value
    }
    return true
  }

  /** What each summed column comes to, and whether a spreadsheet's numbers say so, too. */
  const sums = columns.map(({ summed }) => (summed === true && total !== undefined ? { amount: 0n, exact: true } : null))
  /** The last line of each sheet. */
  const ends: number[] = []
  const count = (cells: readonly Cell[]): void => {
    for (const [index, cell] of cells.entries()) {
      const sum = sums[index] ?? null
      if (sum === null || cell === null || typeof cell !== 'object' || !('amount' in cell)) continue
      sum.amount += toMinor(cell.amount)
      sum.exact &&= isExact(cell.amount)
    }
  }
  const totalCell = (index: number, line: number): string => {
    const sum = sums[index] ?? null
    const place = `${places[index]}${line}`
    if (sum === null) return index === 0 ? textCell(place, total ?? '', ` s="${style.heading}"`) : ''
    const amount = toDecimal(sum.amount)
    if (!sum.exact || !isExact(amount)) return xlsxCell(place, { amount })
    const each = ends.map((end, at) => `SUM(${at === ends.length - 1 ? '' : `'${at + 1}'!`}${places[index]}2:${places[index]}${end})`)
    // Of binary fractions what is beyond their digits is no part of an amount.
    return `<c r="${place}"><f>ROUND(${each.join('+')},${moneyScale})</f><v>${amount}</v></c>`
  }

  async function* sheet(): AsyncGenerator<string> {
    yield `${xml}<worksheet xmlns="${namespace}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>
<sheetFormatPr defaultRowHeight="15"/><cols><col min="1" max="${columns.length}" width="20" customWidth="1"/></cols><sheetData>`
    yield `<row r="1">${columns.map(({ title }, index) => textCell(`${places[index]}1`, title, ` s="${style.heading}"`)).join('')}</row>`
    const lineOf = (row: Row, line: number): string => {
      const cells = columns.map(({ cell }) => cell(row))
      count(cells)
      return `<row r="${line}">${cells.map((cell, index) => xlsxCell(`${places[index]}${line}`, cell)).join('')}</row>`
    }
    let lines = 0
    while (lines < linesOfSheet && (await more())) {
      const [first, rows] = [lines + 2, left.slice(0, linesOfSheet - lines)]
      left = left.slice(rows.length)
      lines += rows.length
      yield rows.map((row, index) => lineOf(row, first + index)).join('')
    }
    ends.push(lines + 1)
    if (total !== undefined && lines > 0 && !(await more()))
      yield `<row r="${lines + 2}">${columns.map((_, index) => totalCell(index, lines + 2)).join('')}</row>`
    yield '</sheetData></worksheet>'
  }

  const write = async (): Promise<void> => {
    let sheets = 0
    do {
      sheets++
      current = Readable.from(sheet())
      // It ends by itself, or with the file; else it failed, and so does the file.
      current.once('error', (error) => file.destroy(error))
      zip.addReadStream(current, `xl/worksheets/sheet${sheets}.xml`, { compressionLevel: 3 })
      await once(current, 'close')
      if (file.destroyed) return
    } while (await more())
    const each = (part: (number: number) => string): string => Array.from({ length: sheets }, (_, index) => part(index + 1)).join('')
    const parts = {
      'xl/styles.xml': styles,
      'xl/workbook.xml': `${xml}<workbook xmlns="${namespace}" xmlns:r="${relations}"><sheets>${each((number) => `<sheet name="${number}" sheetId="${number}" r:id="rId${number}"/>`)}</sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': `${xml}<Relationships xmlns="${packageRelations}">
${each((number) => `<Relationship Id="rId${number}" Type="${relations}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}
<Relationship Id="styles" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
      '_rels/.rels': `${xml}<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
      '[Content_Types].xml': `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>
${each((number) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${types}.worksheet+xml"/>`)}</Types>`,
    }
    for (const [name, text] of Object.entries(parts)) zip.addBuffer(Buffer.from(text), name)
    zip.end()
  }
  write()
    .catch((error: unknown) => file.destroy(error instanceof Error ? error : new Error(String(error))))
    .finally(() => remaining.return?.())
  return file
}
