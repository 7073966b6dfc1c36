import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import readWorkbook from 'read-excel-file/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { textsOfPdf } from '../../testing/pdf.ts'
import { someStatements, type ReadStatement } from './statement.testing.ts'

const checking = fileURLToPath(new URL('../../../../../docs/check-statements.mjs', import.meta.url))
/** Where the base stands in files, and the shares behind it. */
const base = 10
const parties = 4
const amountsIn = <T>(row: readonly T[]): readonly T[] => row.slice(base, base + 1 + parties)

describe('a statement', () => {
  let app: TestApp
  let statements: readonly [ReadStatement, ReadStatement]
  beforeAll(async () => {
    app = await testApp()
    statements = await someStatements(app)
  })
  afterAll(() => app.close())

  it('has something of each kind, and is its shares', () => {
    expect(new Set(statements.flatMap(({ lines }) => lines.map(({ kind }) => kind)))).toEqual(new Set(['use', 'late', 'refund', 'adjustment']))
    for (const { run, lines } of statements) {
      const sums = [run.base, ...run.shares.map(({ amount }) => amount)].map((_, place) =>
        toDecimal(lines.reduce((sum, line) => sum + toMinor([line.base, ...line.amounts][place] ?? ''), 0n)),
      )
      expect(sums).toEqual([run.base, ...run.shares.map(({ amount }) => amount)])
    }
  })

  it('says the same to the last digit as page, CSV, XLSX and PDF', async () => {
    for (const { run, lines, files } of statements) {
      const shown = lines.map((line) => [line.base, ...line.amounts])
      // No cell before the amounts has a comma but one, in quotes.
      const csv = files.csv
        .toString()
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((line) => line.replace('"A100, 80G"', 'A100').split(','))
      expect(csv.map(([id]) => id)).toEqual(lines.map(({ id }) => id))
      expect(csv.map(amountsIn)).toEqual(shown)

      const [sheet] = await readWorkbook(files.xlsx, {})
      const cells = (sheet?.data ?? [])
        .slice(1)
        .map((row) => amountsIn(row).map((cell) => (typeof cell === 'number' ? toDecimal(toMinor(cell.toFixed(8))) : cell)))
      expect(cells.slice(0, -1)).toEqual(shown)
      expect(cells.at(-1)).toEqual([run.base, ...run.shares.map(({ amount }) => amount)])

      const printed = textsOfPdf(files.pdf)
      for (const amount of [`：${run.base}　`, ...run.shares.map(({ amount }) => `：${amount}`)]) expect(printed.join('\n')).toContain(amount)
      let at = 0
      for (const line of lines) {
        at = printed.indexOf(line.id, at)
        expect(at, `line ${line.id} of the PDF`).toBeGreaterThan(0)
        const row = printed.slice(at, at + 12)
        expect(row).toContain(line.base)
        expect(row.join('')).toContain(run.shares.map(({ party }, place) => `${party.name} ${line.amounts[place]}`).join('　'))
      }
    }
  })

  it('is one of a chain that the script of the documentation checks, and finds a changed digit in', () => {
    const folder = mkdtempSync(join(tmpdir(), 'statements-'))
    try {
      const paths = statements.map(({ run, files }) => {
        const path = join(folder, `${run.period}.csv`)
        writeFileSync(path, files.csv)
        return path
      })
      const said = (of: readonly string[]) =>
        execFileSync(process.execPath, [checking, ...of], { encoding: 'utf8' })
          .trimEnd()
          .split('\n')
          .map((line) => line.split(' ')[1])
      expect(said(paths)).toEqual(statements.map(({ run }) => run.hash))
      expect(said(['--after', statements[0].run.hash, paths[1] ?? ''])).toEqual([statements[1].run.hash])
      // A name: the hash is another, and that of all that come after.
      writeFileSync(paths[0] ?? '', statements[0].files.csv.toString().replace('A100', 'A800'))
      for (const [index, hash] of said(paths).entries()) expect(hash).not.toBe(statements[index]?.run.hash)
      // A digit: its line does not add up.
      writeFileSync(paths[0] ?? '', statements[0].files.csv.toString().replace(',0.645,', ',0.646,'))
      const { status, stderr } = spawnSync(process.execPath, [checking, ...paths], { encoding: 'utf8' })
      expect(status).toBe(1)
      expect(stderr).toContain(`the shares of line ${statements[0].lines[0]?.id} are not its base`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
