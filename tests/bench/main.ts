import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchBytes } from './bytes.ts'
import { benchCreate } from './create.ts'
import { benchList } from './list.ts'
import { benchStart } from './start.ts'

/** A figure against its floor, measured in the same run. */
export interface Figure {
  name: string
  ours: string
  floor: string
  /** Ratio or plain value, and what it is held against. */
  value: number
  bar: string
  met: boolean
}

const data = mkdtempSync(join(tmpdir(), 'zhisuan-bench-'))
const only = process.argv.slice(2)
const parts = { start: benchStart, list: benchList, create: benchCreate, bytes: benchBytes }
const figures: Figure[] = []
try {
  for (const [name, run] of Object.entries(parts)) {
    if (only.length === 0 || only.includes(name)) figures.push(...(await run(join(data, name))))
  }
} finally {
  rmSync(data, { recursive: true, force: true })
}
for (const { name, ours, floor, value, bar, met } of figures) {
  console.log(`${met ? 'met   ' : 'MISSED'} ${name}: ${ours} against ${floor} = ${value.toFixed(2)} (bar ${bar})`)
}
