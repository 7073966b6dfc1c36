import { describe, expect, it } from 'vitest'

const styles: Readonly<Record<string, string>> = import.meta.glob('./**/*.css', { query: '?raw', import: 'default', eager: true })
const sources: Readonly<Record<string, string>> = import.meta.glob(['./**/*.{ts,tsx}', '!./**/*.test.ts', '!./locales/**'], {
  query: '?raw',
  import: 'default',
  eager: true,
})

/** What main.tsx loads before all else. */
const everywhere = ['./styles/tokens.css', './styles/base.css', './kit/classes.css']
const isKit = (file: string): boolean => file.startsWith('./kit/')

interface Rule {
  readonly file: string
  /** The media queries around it. */
  readonly within: string
  readonly selectors: readonly string[]
  readonly declarations: readonly string[]
}

function rulesOf(file: string, css: string, within = ''): readonly Rule[] {
  const found: Rule[] = []
  const text = css.replaceAll(/\/\*[\s\S]*?\*\//g, '')
  for (let at = 0, open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
    let [end, depth] = [open + 1, 1]
    for (; depth > 0; end++) depth += text[end] === '{' ? 1 : text[end] === '}' ? -1 : 0
    const [head, body] = [text.slice(at, open).trim().replaceAll(/\s+/g, ' '), text.slice(open + 1, end - 1)]
    if (head.startsWith('@media')) found.push(...rulesOf(file, body, `${within}${head}`))
    else if (!head.startsWith('@')) {
      const declarations = body.split(';').flatMap((one) => one.trim() || [])
      found.push({ file, within, selectors: head.split(/,(?![^(]*\))/).map((one) => one.trim()), declarations })
    }
    at = end
  }
  return found
}
const rules = Object.entries(styles).flatMap(([file, css]) => rulesOf(file, css))

const classesIn = (selector: string): readonly string[] => [...selector.matchAll(/\.([a-z][\w-]*)/g)].flatMap(([, name = '']) => name)
/** Those of antd and of CodeMirror are not ours. */
const isOurs = (name: string): boolean => !/^(ant-|cm-|anticon$)/.test(name)
/** The classes that a file may define: the kit's are its own, and nobody else's. */
const own = (file: string, selector: string): readonly string[] => classesIn(selector).filter((name) => isOurs(name) && name.startsWith('zs-') === isKit(file))

/** Which file a class is defined in: what comes first in a selector is, what comes after it is fitted in, or has a place only there. */
const owners = new Map<string, Set<string>>()
const places = new Map<string, Set<string>>()
for (const { file, selectors } of rules) {
  for (const selector of selectors) {
    for (const [at, name] of own(file, selector).entries()) {
      if (at === 0) owners.set(name, (owners.get(name) ?? new Set()).add(file))
      places.set(name, (places.get(name) ?? new Set()).add(file))
    }
  }
}

/** The words of all strings, and those that go on with a value, as `zs-status-${tone}`. */
function wordsOf(code: string): { readonly whole: readonly string[]; readonly begun: readonly string[] } {
  const strings = [...code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g)].map(([, one, two, three]) => one ?? two ?? three ?? '')
  const begun = strings.flatMap((one) => [...one.matchAll(/(?<![\w-])([a-z][\w-]*-)\$\{/g)].flatMap(([, name = '']) => name))
  return { whole: strings.flatMap((one) => one.split(/\s|\$\{|'|\}/)), begun }
}

/** What stands behind `className=` and `className:`, as code. */
function* classNamesIn(code: string): Generator<string> {
  for (const { 0: found, index } of code.matchAll(/\b\w*[cC]lassName(?:=\{|: |=(?="))/g)) {
    const from = index + found.length
    let [end, depth] = [from, 0]
    if (found.endsWith('{')) for (; depth >= 0; end++) depth += code[end] === '{' ? 1 : code[end] === '}' ? -1 : 0
    else end = code.indexOf('"' === code[from] ? '"' : '\n', from + 1) + 1
    yield code.slice(from, end)
  }
}

describe('styles', () => {
  it('of the kit begin with zs-, and nobody else defines such', () => {
    const foreign = rules.flatMap(({ file, selectors }) =>
      file === './styles/base.css'
        ? []
        : selectors.filter((one) => one !== ':root' && own(file, one).length === 0 && classesIn(one).some(isOurs)).map((one) => `${file}: ${one}`),
    )
    expect(owners.size).toBeGreaterThan(500)
    expect(foreign).toEqual([])
  })

  // Styles of pages stay once they are loaded: two files with one name would draw a page by where somebody was before.
  it('have names of their own', () => {
    expect([...owners].filter(([, { size }]) => size > 1).map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([])
  })

  it('are all used', () => {
    const whole = new Set<string>()
    const begun = new Set<string>()
    for (const code of Object.values(sources)) {
      const words = wordsOf(code)
      for (const one of words.whole) whole.add(one)
      for (const one of words.begun) begun.add(one)
    }
    const isUsed = (name: string): boolean => whole.has(name) || [...begun].some((one) => name.startsWith(one))
    const mentioned = new Set(rules.flatMap(({ selectors }) => selectors.flatMap(classesIn).filter(isOurs)))
    expect([...mentioned].filter((name) => !isUsed(name))).toEqual([])
  })

  // A component that is drawn on somebody else's page would have none.
  it('are brought along by each file that uses them', () => {
    const missing: string[] = []
    for (const [file, code] of Object.entries(sources)) {
      const brought = new Set(everywhere)
      for (const [, path = ''] of code.matchAll(/^import '(\.[^']+\.css)'/gm)) brought.add(`.${new URL(path, `file://${file.slice(1)}`).pathname}`)
      for (const given of classNamesIn(code)) {
        const { whole, begun } = wordsOf(given)
        for (const name of whole.filter((one) => /^[a-z]+(-\w+)+$/.test(one) && isOurs(one))) {
          if (![...(owners.get(name) ?? places.get(name) ?? [])].some((one) => brought.has(one))) missing.push(`${file}: ${name}`)
        }
        for (const prefix of begun) {
          const files = [...owners].flatMap(([name, where]) => (name.startsWith(prefix) ? [...where] : []))
          if (!files.some((one) => brought.has(one))) missing.push(`${file}: ${prefix}…`)
        }
      }
    }
    expect(missing).toEqual([])
  })

  it('say nothing twice', () => {
    const bodies = Map.groupBy(
      rules.filter(({ declarations }) => declarations.length > 2),
      ({ within, declarations }) => `${within}${declarations.toSorted().join('; ')}`,
    )
    expect(
      [...bodies]
        .filter(([, same]) => same.length > 1)
        .map(([body, same]) => `${same.map(({ file, selectors }) => `${file} ${selectors}`).join(' = ')}: ${body}`),
    ).toEqual([])
  })

  it('take their colours from the tokens', () => {
    const coloured = rules.flatMap(({ file, selectors, declarations }) =>
      file === './styles/tokens.css'
        ? []
        : declarations.filter((one) => /#[\da-f]{3,8}\b|\b(rgb|hsl|oklch)a?\(/i.test(one)).map((one) => `${file} ${selectors}: ${one}`),
    )
    expect(coloured).toEqual([])
  })

  it('take sizes of type and corners from the tokens', () => {
    const measured = rules.flatMap(({ file, selectors, declarations }) =>
      declarations.filter((one) => /^(font|font-size|border[a-z-]*-radius): .*\dpx/.test(one)).map((one) => `${file} ${selectors}: ${one}`),
    )
    expect(measured).toEqual([])
  })

  it('read tokens that there are, and each is read', () => {
    const tokens = new Set([...(styles['./styles/tokens.css'] ?? '').matchAll(/(--[\w-]+):/g)].map(([, name = '']) => name))
    const all = [...Object.values(styles), ...Object.values(sources)].join('\n')
    const read = new Set([...all.matchAll(/var\((--[\w-]+)/g)].map(([, name = '']) => name))
    expect([...read].filter((name) => !tokens.has(name) && !name.startsWith('--ant-'))).toEqual([])
    expect([...tokens].filter((name) => !read.has(name))).toEqual([])
  })
})

it('no table is measured before it is drawn: what is too wide moves within its place by styles alone', () => {
  const measured = Object.entries(sources).filter(([, text]) => /\bscroll=\{\{\s*x\b|\bfixed: '(?:start|end|left|right)'/.test(text))
  expect(measured.map(([file]) => file)).toEqual([])
})

it('what can be done about an empty place stands apart from its text, on the 404 and 403 pages too', () => {
  const apart = rules.find(({ file, selectors }) => file === './kit/panel.css' && selectors.includes('.zs-panel-note + *'))
  expect(apart?.declarations).toEqual(['margin-top: 8px'])
})
