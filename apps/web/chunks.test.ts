import { expect, it } from 'vitest'
import { chunks } from './chunks.ts'
import type { NeededPage } from './needs.ts'

/** What each module of a console needs: a frame, and thirty pages of which each has parts with others, and half have forms. */
const graph = new Map<string, { readonly needs: readonly string[]; readonly bytes: number }>([
  ['/index.html', { needs: ['react'], bytes: 0 }],
  ['react', { needs: [], bytes: 100_000 }],
  ['frame', { needs: ['react', 'part 0'], bytes: 100_000 }],
  ['forms', { needs: ['react'], bytes: 100_000 }],
])
const parts = Array.from({ length: 40 }, (_, part) => part)
for (const part of parts) graph.set(`part ${part}`, { needs: part % 7 === 0 ? [] : [`part ${part - 1}`], bytes: 1_000 + part })
const pages = Array.from({ length: 30 }, (_, page): NeededPage => {
  const own = `page ${page}`
  const needs = parts.filter((part) => (part * 5 + page) % 3 === 0 || part % (page + 2) === 0).map((part) => `part ${part}`)
  graph.set(own, { needs: page % 2 === 0 ? ['forms', ...needs] : needs, bytes: 500 })
  return { path: own, pattern: /./, inside: true, frame: ['frame'], own: [own] }
})

const { groups } = chunks('/', pages)
const modules = {
  getModuleInfo: (id: string) => {
    const known = graph.get(id)
    return known === undefined ? null : { importedIds: known.needs, code: ' '.repeat(known.bytes) }
  },
} as unknown as Parameters<Exclude<(typeof groups)[number]['name'], string>>[1]
const ranks = groups.slice(2).flatMap(({ name }) => (typeof name === 'function' ? name : []))
const fileOf = (id: string): string | null => ranks.map((name) => name(id, modules)).find((name) => name !== null) ?? null
const rankOf = (id: string): number => ranks.findIndex((name) => name(id, modules) !== null)
const neededBy = (...ids: readonly string[]): ReadonlySet<string> => {
  const found = new Set(ids)
  for (const id of found) for (const needed of graph.get(id)?.needs ?? []) found.add(needed)
  return found
}
/** With all that is in the same files, and what that needs. */
function loadedBy(page: string): ReadonlySet<string> {
  const found = new Set(neededBy('frame', page))
  for (const id of found) {
    const file = fileOf(id)
    if (file !== null) for (const other of graph.keys()) if (fileOf(other) === file) for (const needed of neededBy(other)) found.add(needed)
  }
  return found
}
const filesOf = (page: string): ReadonlySet<string> => new Set([...loadedBy(page)].flatMap((id) => fileOf(id) ?? []))

it('no page loads more than fifteen files, with the four of the first', () => {
  expect(Math.max(...pages.map(({ path }) => filesOf(path).size))).toBeLessThanOrEqual(11)
})

it('what is large and not needed is not loaded: lists do without forms', () => {
  expect(pages.filter(({ path }) => loadedBy(path).has('forms')).map(({ path }) => path)).toEqual(
    pages.filter((_, page) => page % 2 === 0).map(({ path }) => path),
  )
})

it('what a file needs of others has been put before it, so that none needs another in a ring', () => {
  for (const [id, { needs }] of graph) {
    for (const needed of needs)
      if (fileOf(needed) !== null && fileOf(needed) !== fileOf(id)) expect(rankOf(needed), `${id} needs ${needed}`).toBeLessThan(rankOf(id))
  }
})

it('what the first script has stays in it', () => {
  expect(fileOf('react')).toBeNull()
})
