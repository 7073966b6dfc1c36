/** What stands for a variable: `${NAME:-default}`. */
export interface Hole {
  readonly name: string
  readonly operator: '' | ':-' | '-' | ':?' | '?' | ':+' | '+'
  /** What follows the operator; may have variables itself. */
  readonly rest: string
}
type Part = string | Hole | { readonly invalid: string }

/** No text nests variables deeper. */
const deepest = 10
const nameAt = /[A-Za-z_][A-Za-z0-9_]*/y

const wordAt = (text: string, index: number): string => {
  nameAt.lastIndex = index
  return nameAt.exec(text)?.[0] ?? ''
}

/** The end of `${…}` that begins at `start`, past its brace; null where there is none. */
function endOf(text: string, start: number): number | null {
  let depth = 0
  for (let index = start; index < text.length; index++) {
    if (text.startsWith('${', index)) {
      depth++
      index++
    } else if (text[index] === '}' && --depth === 0) return index + 1
  }
  return null
}

function holeOf(inside: string): Hole | null {
  const name = wordAt(inside, 0)
  if (name === '') return null
  const rest = inside.slice(name.length)
  if (rest === '') return { name, operator: '', rest }
  const operator = ([':-', ':?', ':+', '-', '?', '+'] as const).find((one) => rest.startsWith(one))
  return operator === undefined ? null : { name, operator, rest: rest.slice(operator.length) }
}

/** A text as the Compose Specification reads it: `$$` is a dollar, `$NAME` and `${NAME}` are variables. */
function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let index = 0
  while (index < text.length) {
    const dollar = text.indexOf('$', index)
    if (dollar < 0) break
    if (dollar > index) parts.push(text.slice(index, dollar))
    if (text[dollar + 1] === '$') {
      parts.push('$')
      index = dollar + 2
    } else if (text[dollar + 1] === '{') {
      const end = endOf(text, dollar)
      const hole = end === null ? null : holeOf(text.slice(dollar + 2, end - 1))
      parts.push(hole ?? { invalid: text.slice(dollar, end ?? dollar + 20) })
      index = end ?? text.length
    } else {
      const name = wordAt(text, dollar + 1)
      parts.push(name === '' ? { invalid: text.slice(dollar, dollar + 2) } : { name, operator: '', rest: '' })
      index = dollar + 1 + name.length
    }
  }
  if (index < text.length) parts.push(text.slice(index))
  return parts
}

/** Variables that a text names, whether they have a default or not; and what looks like one and is none. */
export function variablesIn(text: string, depth = 0): { names: string[]; needed: string[]; invalid: string[] } {
  const found: ReturnType<typeof variablesIn> = { names: [], needed: [], invalid: [] }
  for (const part of partsOf(text)) {
    if (typeof part === 'string') continue
    if ('invalid' in part || depth >= deepest) {
      found.invalid.push('invalid' in part ? part.invalid : part.name)
      continue
    }
    found.names.push(part.name)
    if (part.operator === '' || part.operator.endsWith('?')) found.needed.push(part.name)
    // The text after `?` is for people.
    if (part.operator.endsWith('?')) continue
    const inner = variablesIn(part.rest, depth + 1)
    for (const key of ['names', 'needed', 'invalid'] as const) found[key].push(...inner[key])
  }
  return found
}

/**
 * A text with its variables filled in. What has neither value nor default is told to `missing`, and is empty.
 * @param missing is given the name, and what `${NAME:?text}` says of it
 */
export function fill(text: string, values: ReadonlyMap<string, string>, missing: (name: string, says: string) => void, depth = 0): string {
  if (depth > deepest) return ''
  return partsOf(text)
    .map((part) => {
      if (typeof part === 'string') return part
      if ('invalid' in part) return part.invalid
      const value = values.get(part.name)
      const given = value !== undefined && (value !== '' || !part.operator.startsWith(':'))
      const rest = () => fill(part.rest, values, missing, depth + 1)
      if (part.operator.endsWith('+')) return given ? rest() : ''
      if (given) return value
      if (part.operator.endsWith('-')) return rest()
      missing(part.name, part.rest)
      return ''
    })
    .join('')
}

/** What compose is not to read as a variable. */
export const literal = (text: string): string => text.replaceAll('$', '$$$$')
