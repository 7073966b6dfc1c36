import { expect, it } from 'vitest'

const files: Readonly<Record<string, string>> = import.meta.glob('../features/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })
const sources = Object.entries(files).map(([file, text]) => ({ file, text }))
/** Addresses of pages on which something is made. */
const leadsToAdd = /\.add\(\)|newVersionPath\(|stackPaths\.(?:deploy|newVersion)\(|configuration\.detail\(\)/

/** The object that a place stands in, from its brace to the one that ends it. */
function objectAround(text: string, at: number): string {
  let [from, to, depth] = [at, at, 0]
  while (from > 0 && (depth > 0 || text[from] !== '{')) {
    if (text[from] === '}') depth++
    else if (text[from] === '{') depth--
    from--
  }
  for (depth = 0; to < text.length && (depth > 0 || text[to] !== '}'); to++) {
    if (text[to] === '{') depth++
    else if (text[to] === '}') depth--
  }
  return text.slice(from, to + 1)
}

it('each button that leads to a page on which something is made names the call that makes it', () => {
  const places = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/\bhref: [^\n]+/g)].filter(([href]) => leadsToAdd.test(href)).map(({ index }) => ({ file, object: objectAround(text, index) })),
  )
  expect(places.length).toBeGreaterThan(20)
  expect(places.filter(({ object }) => !/\bcall: \w/.test(object)).map(({ file, object }) => `${file}: ${object}`)).toEqual([])
})

it('no other button leads there', () => {
  const lines = sources.flatMap(({ file, text }) => text.split('\n').map((line) => `${file}: ${line.trim()}`))
  expect(lines.filter((line) => leadsToAdd.test(line) && /onClick=.*navigate\(|zs-button/.test(line))).toEqual([])
})

it('an action that names no call makes none', () => {
  const places = sources.flatMap(({ file, text }) => [...text.matchAll(/\bcall: null\b/g)].map(({ index }) => ({ file, object: objectAround(text, index) })))
  expect(places.length).toBeGreaterThan(10)
  expect(places.filter(({ object }) => /\.mutate(?:Async)?\(/.test(object)).map(({ file, object }) => `${file}: ${object}`)).toEqual([])
})
