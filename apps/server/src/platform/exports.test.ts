import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import readWorkbook from 'read-excel-file/node'
import { expect, it } from 'vitest'
import { csvFile, csvLine, xlsxFile, type ExportColumn } from './exports.ts'

interface Row {
  name: string
  units: number | null
  amount: string
  at: Date
}
const at = new Date('2026-11-30T16:00:00Z')
const columns: readonly ExportColumn<Row>[] = [
  { title: '名称', cell: ({ name }) => name },
  { title: '数量', cell: ({ units }) => units },
  { title: '金额', cell: ({ amount }) => ({ amount }) },
  { title: '时间', cell: (row) => ({ moment: row.at }) },
]
const row = (name: string, more: Partial<Row> = {}): Row => ({ name, units: 1.5, amount: '0.10', at, ...more })
async function* pagesOf(...pages: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  yield* pages
}
/** So many pages, and how many of them were read and whether reading came to an end. */
function manyPages(count: number, size: number) {
  const state = { read: 0, ended: false }
  async function* pages(): AsyncGenerator<readonly Row[]> {
    try {
      for (; state.read < count; state.read++) yield Array.from({ length: size }, (_, index) => row(`vm-${state.read}-${index}`))
    } finally {
      state.ended = true
    }
  }
  return { state, pages: pages() }
}

const nasty = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', 'a,b', 'say "hi"', 'two\nlines', '<&>', '名', ' space ', '']

it('is text that a spreadsheet reads right and computes nothing of', async () => {
  const written = await text(csvFile(columns, pagesOf([row('=HYPERLINK("x")', { amount: '-0.00000001', units: null })], [row('数据, "1"')])))
  expect(written).toBe('\uFEFF名称,数量,金额,时间\r\n"\'=HYPERLINK(""x"")",,-0.00000001,2026-12-01 00:00:00\r\n"数据, ""1""",1.5,0.10,2026-12-01 00:00:00\r\n')
  // A number may be below 0, a text that looks like one may be a formula.
  expect(csvLine([-1, { amount: '-1.00' }, '-1'])).toBe("-1,-1.00,'-1\r\n")
  // Full-width ones are read as formulas too, and so is what begins behind blanks.
  expect(csvLine(['＝1', '＋1', '－1', '＠A1', '　=1', ' -1', 'a=1'])).toBe("'＝1,'＋1,'－1,'＠A1,'　=1,' -1,a=1\r\n")
})

it('is a workbook with numbers, dates and text as such', async () => {
  const [sheet] = await readWorkbook(
    await buffer(
      xlsxFile(
        columns,
        pagesOf(
          nasty.map((name) => row(name)),
          [row('control\u0000\u0001', { units: null, amount: '-1234567.12345678' })],
        ),
      ),
    ),
    { trim: false },
  )
  const read = sheet?.data ?? []
  expect(read[0]).toEqual(['名称', '数量', '金额', '时间'])
  expect(read.slice(1, -1).map(([name]) => name ?? '')).toEqual(nasty)
  expect(read[1]?.slice(1)).toEqual([1.5, 0.1, new Date('2026-12-01T00:00:00Z')])
  expect(read.at(-1)?.slice(0, 3)).toEqual(['control', null, -1234567.12345678])
})

it('keeps an amount exact that no number of a spreadsheet can', async () => {
  const [sheet] = await readWorkbook(await buffer(xlsxFile(columns, pagesOf([row('many', { amount: '12345678901.12345678' })]))), {})
  expect(sheet?.data[1]?.[2]).toBe('12345678901.12345678')
})

it.each([
  ['csv', csvFile],
  ['xlsx', xlsxFile],
] as const)('reads on only as far as somebody takes it, and lets go when they leave: %s', async (_, open) => {
  const { state, pages } = manyPages(10_000, 500)
  const file: Readable = open(columns, pages)
  for await (const chunk of file) if ((chunk as { length: number }).length > 0 && state.read > 3) break
  expect(file.destroyed).toBe(true)
  await expect.poll(() => state.ended).toBe(true)
  expect(state.read).toBeLessThan(1_000)
})

it.each([
  ['csv', csvFile],
  ['xlsx', xlsxFile],
] as const)('breaks off where its rows fail, rather than look whole: %s', async (_, open) => {
  async function* failing(): AsyncGenerator<readonly Row[]> {
    yield [row('first')]
    throw new Error('the database is gone')
  }
  await expect(buffer(open(columns, failing()))).rejects.toThrow('the database is gone')
})
