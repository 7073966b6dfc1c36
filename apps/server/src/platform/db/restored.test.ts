import fs from 'node:fs'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { beginRestore, decideRestore, finishRestore } from './restored.ts'

/** What the process that restores is killed before: the n-th thing that it changes. */
let killedBefore = Infinity
const { renameSync, mkdirSync: makeFolder, writeFileSync: writeFile, rmSync: remove } = fs
beforeAll(() => {
  const mortal =
    <A extends unknown[], R>(change: (...args: A) => R) =>
    (...args: A): R => {
      if (killedBefore-- <= 0) throw new Error('killed')
      return change(...args)
    }
  Object.assign(fs, { renameSync: mortal(renameSync), mkdirSync: mortal(makeFolder), writeFileSync: mortal(writeFile), rmSync: mortal(remove) })
  // What others imported of it by name is these from now on.
  syncBuiltinESMExports()
})
afterAll(() => {
  Object.assign(fs, { renameSync, mkdirSync: makeFolder, writeFileSync: writeFile, rmSync: remove })
  syncBuiltinESMExports()
})

const now = new Date('2026-11-21T08:00:00.123Z')
const aside = 'before-restore-20261121T080000Z'
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zhisuan-restored-'))
})
afterEach(() => {
  killedBefore = Infinity
  rmSync(directory, { recursive: true })
})

/** A data directory with data of one kind, of which only the new has sandboxes, and only the old a licence. */
function lay(folder: string, kind: 'old' | 'new'): void {
  for (const name of ['database', kind === 'old' ? 'licence' : 'sandbox']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'content'), kind)
  }
  writeFileSync(join(folder, 'secret.key'), kind)
}
const seen = (folder: string) => {
  const content = (name: string) => readFileSync(name === 'secret.key' ? join(folder, name) : join(folder, name, 'content'), 'utf8')
  return Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.startsWith('before-restore-') && name !== '.restore' && name !== 'lock')
      .map((name) => [name, content(name)]),
  )
}
const old = { database: 'old', licence: 'old', 'secret.key': 'old' }
const fresh = { database: 'new', sandbox: 'new', 'secret.key': 'new' }

it('puts the new in force and the old aside', () => {
  lay(directory, 'old')
  writeFileSync(join(directory, 'lock'), '')
  lay(beginRestore(directory), 'new')
  expect(seen(directory)).toEqual(old)
  expect(decideRestore(directory, now)).toBe(join(directory, aside))
  expect(seen(directory)).toEqual(fresh)
  expect(seen(join(directory, aside))).toEqual(old)
  expect(readdirSync(directory)).toContain('lock')
  expect(readdirSync(directory)).not.toContain('.restore')
  finishRestore(directory)
  expect(seen(directory)).toEqual(fresh)
})

it('starts again where another was killed while it laid out', () => {
  lay(directory, 'old')
  writeFileSync(join(beginRestore(directory), 'rubbish'), '')
  finishRestore(directory)
  expect(seen(directory)).toEqual(old)
  expect(readdirSync(beginRestore(directory))).toEqual([])
})

it('leaves the old or the new, wherever it is killed', () => {
  const outcomes: string[] = []
  for (let step = 0; outcomes.at(-1) !== 'done'; step++) {
    const place = mkdtempSync(join(directory, 'try-'))
    lay(place, 'old')
    lay(beginRestore(place), 'new')
    let done = true
    try {
      killedBefore = step
      decideRestore(place, now)
    } catch (error) {
      expect(error).toMatchObject({ message: 'killed' })
      done = false
    }
    // Who goes on may be killed at its first step as well, and again.
    if (!done) {
      killedBefore = 1
      try {
        finishRestore(place)
      } catch (error) {
        expect(error).toMatchObject({ message: 'killed' })
      }
    }
    killedBefore = Infinity
    finishRestore(place)
    const state = seen(place)
    const isNew = state['database'] === 'new'
    expect(state, `killed before step ${step}`).toEqual(isNew ? fresh : old)
    if (isNew) expect(seen(join(place, aside)), `killed before step ${step}`).toEqual(old)
    outcomes.push(done ? 'done' : isNew ? 'new' : 'old')
  }
  expect(outcomes).toEqual(['old', 'old', ...Array<string>(outcomes.length - 3).fill('new'), 'done'])
  expect(outcomes.length).toBeGreaterThan(10)
})
