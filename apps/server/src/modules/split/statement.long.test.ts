import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toMinor } from '@zhisuan/contract/bill/money'
import readWorkbook from 'read-excel-file/node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { someStatements } from './statement.testing.ts'

let app: TestApp
let folder: string
beforeAll(async () => {
  app = await testApp()
  folder = mkdtempSync(join(tmpdir(), 'recomputed-'))
  // It computes all formulas as it opens a workbook, whatever is stored of them.
  mkdirSync(join(folder, 'profile', 'user'), { recursive: true })
  writeFileSync(
    join(folder, 'profile', 'user', 'registrymodifications.xcu'),
    `<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>`,
  )
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

it('a statement that LibreOffice has computed anew says the same to the last digit, its sums too', async () => {
  for (const { run, lines, files } of await someStatements(app)) {
    const path = join(folder, `${run.period}.xlsx`)
    writeFileSync(path, files.xlsx)
    execFileSync('soffice', ['--headless', `-env:UserInstallation=file://${folder}/profile`, '--convert-to', 'fods', '--outdir', folder, path], {
      stdio: 'ignore',
    })
    const text = readFileSync(join(folder, `${run.period}.fods`), 'utf8')
    // Each cell with what it computes, and what came of that.
    const rows = [...text.matchAll(/<table:table-row[^>]*>([^]*?)<\/table:table-row>/g)].map(([, row = '']) =>
      [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>([^]*?)<\/table:table-cell>)/g)].flatMap(([, attributes = '', inner = '']) => {
        const value = /office:value="([^"]*)"/.exec(attributes)?.[1] ?? /<text:p>([^<]*)/.exec(inner)?.[1] ?? ''
        const cell = { formula: attributes.includes('table:formula'), value }
        return Array.from({ length: Number(/number-columns-repeated="(\d+)"/.exec(attributes)?.[1] ?? 1) }, () => cell).slice(0, 30)
      }),
    )
    const minor = (value: string): bigint => toMinor(value.includes('e') || value.includes('E') ? Number(value).toFixed(8) : value)
    const amounts = rows.slice(1, 2 + lines.length).map((row) => row.slice(10, 15))
    expect(amounts.slice(0, -1).map((row) => row.map(({ value }) => minor(value)))).toEqual(
      lines.map((line) => [line.base, ...line.amounts].map((amount) => toMinor(amount))),
    )
    const total = amounts.at(-1) ?? []
    expect(total.map(({ value }) => minor(value))).toEqual([run.base, ...run.shares.map(({ amount }) => amount)].map((amount) => toMinor(amount)))
    // Where all are numbers they are sums, and no copies.
    if (run.period === '2026-01') expect(total.map(({ formula }) => formula)).toEqual([true, true, true, true, true])
    const [sheet] = await readWorkbook(files.xlsx, {})
    expect(sheet?.data).toHaveLength(lines.length + 2)
  }
})
