/** Patterns of policies: `*` for any run of characters, `?` for one, `${key}` for what the request says of itself. */

/** What a request says of itself, under keys such as `zs:SourceIp`. Absent and empty are the same. */
export type Context = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Pattern {
  matches(text: string, context: Context): boolean
  /** Whether a variable of it has no value, so that it says nothing. */
  isUnknown(context: Context): boolean
}

const any = Symbol('any')
const one = Symbol('one')
type Sign = string | typeof any | typeof one
type Part = Sign | { readonly variable: string }

/** By no more than their own names: a variable may be called as an object's inheritance is, `constructor`. */
const escapes: ReadonlySet<string> = new Set(['*', '?', '$'])

/** `${*}`, `${?}` and `${$}` stand for themselves. */
function partsOf(text: string): readonly Part[] {
  const parts: Part[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const end = character === '$' && text[at + 1] === '{' ? text.indexOf('}', at) : -1
    if (end > 0) {
      const name = text.slice(at + 2, end)
      parts.push(escapes.has(name) ? name : { variable: name })
      at = end
    } else if (character === '*') parts.push(any)
    else if (character === '?') parts.push(one)
    else parts.push(character)
  }
  return parts
}

/** Keys of the variables in it. */
export const variablesOf = (text: string): readonly string[] => partsOf(text).flatMap((part) => (typeof part === 'object' ? part.variable : []))

/** A single value; several are none, as nobody could say which is meant. */
export const singleValue = (context: Context, key: string): string | undefined => {
  const value = Object.hasOwn(context, key) ? context[key] : undefined
  return typeof value === 'string' ? value : value?.length === 1 ? value[0] : undefined
}

/** Goes back to the last `*` only, so it takes at most as many steps as both are long, multiplied. */
function fits(signs: readonly Sign[], text: string): boolean {
  let [sign, at, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    const expected = signs[sign]
    if (expected === any) {
      star = sign++
      from = at
    } else if (expected === one || expected === text[at]) {
      sign++
      at++
    } else if (star >= 0) {
      sign = star + 1
      at = ++from
    } else return false
  }
  while (signs[sign] === any) sign++
  return sign === signs.length
}

/** By what stands between its stars. */
function fitsRuns(runs: readonly string[], text: string): boolean {
  const [first = '', last] = [runs[0], runs.at(-1) ?? '']
  if (runs.length === 1) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  const end = text.length - last.length
  for (let run = 1; run < runs.length - 1; run++) {
    const wanted = runs[run] ?? ''
    const found = text.indexOf(wanted, at)
    if (found === -1 || found + wanted.length > end) return false
    at = found + wanted.length
  }
  return true
}

/** Characters and variables between stars, as strings that are joined once the variables are known. */
function runsOf(parts: readonly Part[]): readonly (readonly (string | { readonly variable: string })[])[] {
  const runs: (string | { readonly variable: string })[][] = [[]]
  for (const part of parts) {
    const run = runs.at(-1)
    if (part === any) runs.push([])
    else if (typeof part === 'string' && typeof run?.at(-1) === 'string') run.push(`${String(run.pop())}${part}`)
    else if (part !== one) run?.push(part)
  }
  return runs
}

/** @param wildcards false: `*` and `?` are characters like others */
export function compilePattern(text: string, { wildcards = true, ignoreCase = false } = {}): Pattern {
  const fold = (value: string): string => (ignoreCase ? value.toLowerCase() : value)
  const parts = partsOf(text).map((part): Part =>
    part === any && !wildcards ? '*' : part === one && !wildcards ? '?' : typeof part === 'string' ? fold(part) : part,
  )
  const variables = parts.flatMap((part) => (typeof part === 'object' ? part.variable : []))
  const isUnknown = variables.length === 0 ? () => false : (context: Context): boolean => variables.some((key) => singleValue(context, key) === undefined)
  // What stands for a variable is no pattern, whatever is in it.
  const valueOf = (part: string | { readonly variable: string }, context: Context): string =>
    typeof part === 'string' ? part : fold(singleValue(context, part.variable) ?? '')

  if (parts.includes(one)) {
    const signsFor = (context: Context): readonly Sign[] =>
      parts.flatMap((part): readonly Sign[] => (typeof part === 'object' ? valueOf(part, context).split('') : [part]))
    return { isUnknown, matches: (value, context) => !isUnknown(context) && fits(signsFor(context), fold(value)) }
  }
  const runs = runsOf(parts)
  if (variables.length === 0) {
    const known = runs.map((run) => run.join(''))
    return { isUnknown, matches: (value) => fitsRuns(known, fold(value)) }
  }
  return {
    isUnknown,
    matches: (value, context) =>
      !isUnknown(context) &&
      fitsRuns(
        runs.map((run) => run.map((part) => valueOf(part, context)).join('')),
        fold(value),
      ),
  }
}
