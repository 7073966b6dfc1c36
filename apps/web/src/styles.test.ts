import { expect, it } from 'vitest'

const files: Readonly<Record<string, string>> = import.meta.glob('./**/*.css', { query: '?raw', import: 'default', eager: true })

/** Styles of pages stay once they are loaded: two files with one name would draw a page by where somebody was before. */
it('styles of pages have names of their own', () => {
  const owners = new Map<string, Set<string>>()
  for (const [file, text] of Object.entries(files)) {
    // Those of the kit begin with `zs-`, and are fitted in where pages use them.
    for (const [, name = ''] of text.matchAll(/^\.((?!zs-|ant-)[a-z]+-[\w-]+)/gm)) owners.set(name, (owners.get(name) ?? new Set()).add(file))
  }
  expect(owners.size).toBeGreaterThan(100)
  expect([...owners].filter(([, { size }]) => size > 1).map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([])
})
