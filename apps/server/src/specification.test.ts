import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** A row of a table of docs/specification.md. */
interface Row {
  readonly number: string
  readonly sentence: string
  readonly test: string
  readonly reason: string
}

const rows = read('docs/specification.md')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line): Row => {
    const [number = '', sentence = '', test = '', reason = ''] = line
      .slice(1)
      .split('|')
      .map((cell) => cell.trim())
    return { number, sentence, test, reason }
  })

/** Sources of tests, by the names of their files: several may have one name. */
const sources = Map.groupBy(
  globSync('{apps,packages}/*/src/**/*.test.ts', { cwd: root }).concat(globSync('tests/**/*.{spec,test}.ts', { cwd: root })),
  (file) => basename(file),
)
const named = rows.flatMap(({ number, test }) =>
  test
    .split('<br>')
    .filter((one) => one.startsWith('`'))
    .map((one) => {
      const [file = '', name = ''] = one.split(' › ')
      return { number, file: file.replaceAll('`', ''), name }
    }),
)
const isQuoted = (source: string, name: string): boolean => name !== '' && ["'", '"', '`'].some((mark) => source.includes(`${mark}${name}${mark}`))

describe('the specification, sentence by sentence', () => {
  it('has sections 2 to 9, each numbered without a gap', () => {
    const sections = Map.groupBy(rows, ({ number }) => number.split('.')[0])
    expect([...sections.keys()]).toEqual(['2', '3', '4', '5', '6', '7', '8', '9'])
    for (const [section, ofSection] of sections) expect(ofSection.map(({ number }) => number)).toEqual(ofSection.map((_, at) => `${section}.${at + 1}`))
  })

  it('names tests that there are', () => {
    expect(named.length).toBeGreaterThan(150)
    const isThere = ({ file, name }: (typeof named)[number]): boolean => (sources.get(file) ?? []).some((path) => isQuoted(read(path), name))
    expect(named.filter((one) => !isThere(one)).map(({ number, file, name }) => `${number}: ${file} › ${name}`)).toEqual([])
  })

  it('leaves no sentence open: each has its test, or the reason why not', () => {
    expect(rows.filter(({ sentence, test, reason }) => sentence === '' || (test === '' && reason === '')).map(({ number }) => number)).toEqual([])
    const isKnown = (test: string): boolean => test === '' || test.split('<br>').every((one) => /^`[\w.-]+` › ./.test(one))
    expect(rows.filter(({ test }) => !isKnown(test)).map(({ number }) => number)).toEqual([])
  })
})
