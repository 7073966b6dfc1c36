import type { Outcome } from './evaluate.ts'

/**
 * A second, plain reading of the language for tests to compare with, which shares nothing with
 * the first: nothing is prepared, patterns become regular expressions, addresses bit strings.
 */

type Json = Record<string, unknown>
type Context = Readonly<Record<string, string | readonly string[] | undefined>>
interface Request {
  readonly action: string
  readonly resource: string
  readonly context: Context
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value])

const given = (context: Context, key: string): string[] => {
  const value = Object.hasOwn(context, key) ? context[key] : undefined
  return value === undefined ? [] : ([value].flat() as string[])
}

/** null: a variable without a value. */
function expression(pattern: string, context: Context, wild: boolean): RegExp | null {
  let source = ''
  let rest = pattern
  while (rest !== '') {
    const variable = /^\$\{([^}]*)\}/.exec(rest)
    if (variable !== null) {
      const key = variable[1] ?? ''
      let text = key
      if (!['*', '?', '$'].includes(key)) {
        const values = given(context, key)
        if (values.length !== 1) return null
        text = values[0] ?? ''
      }
      source += text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
      rest = rest.slice(variable[0].length)
      continue
    }
    const character = rest[0] ?? ''
    if (wild && character === '*') source += '[^]*'
    else if (wild && character === '?') source += '[^]'
    else source += character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
    rest = rest.slice(1)
  }
  return new RegExp(`^${source}$`)
}

/** An address of either family as its bits. */
function bits(text: string): string | null {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(text)) {
    const numbers = text.split('.').map(Number)
    return numbers.some((number) => number > 255) ? null : numbers.map((number) => number.toString(2).padStart(8, '0')).join('')
  }
  const halves = text.split('::')
  if (!text.includes(':') || halves.length > 2) return null
  const [left = [], right = []] = halves.map((half) => half.split(':').filter((group) => group !== ''))
  const groups = halves.length === 2 ? [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right] : left
  if (groups.length !== 8 || groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return null
  return groups.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('')
}

/** null: cannot be read. */
function holds(kind: string, value: string, wish: string, context: Context): boolean | null {
  if (kind === 'StringEquals') return expression(wish, context, false)?.test(value) ?? null
  if (kind === 'StringLike') return expression(wish, context, true)?.test(value) ?? null
  if (kind === 'StringEqualsIgnoreCase') {
    const folded = Object.fromEntries(Object.keys(context).map((key) => [key, given(context, key).map((one) => one.toLowerCase())]))
    const keys = wish.replace(/\$\{[^}]*\}|[^$]/g, (part) => (part.startsWith('${') ? part : part.toLowerCase()))
    return expression(keys, folded, false)?.test(value.toLowerCase()) ?? null
  }
  if (kind === 'Bool') return ['true', 'false'].includes(value) ? value === wish : null
  if (kind === 'IpAddress') {
    const [base = '', length] = wish.split('/')
    const [mine, theirs] = [bits(value), bits(base)]
    if (mine === null || theirs === null) return mine === null ? null : false
    const count = length === undefined ? theirs.length : Number(length)
    return mine.length === theirs.length && mine.slice(0, count) === theirs.slice(0, count)
  }
  const number = kind.startsWith('Date')
    ? (text: string) => (/^\d+$/.test(text) ? Number(text) * 1000 : new Date(text).getTime())
    : (text: string) => (text === '' ? Number.NaN : Number(text))
  const [left, right] = [number(value), number(wish)]
  if (Number.isNaN(left)) return null
  if (kind.endsWith('LessThanEquals')) return left <= right
  if (kind.endsWith('GreaterThanEquals')) return left >= right
  if (kind.endsWith('LessThan')) return left < right
  if (kind.endsWith('GreaterThan')) return left > right
  return left === right
}

function conditionMet(written: string, key: string, wishes: string[], context: Context): boolean {
  const values = given(context, key)
  if (written === 'Null') return wishes.some((wish) => (wish === 'true') === (values.length === 0))
  const set = /^(ForAnyValue|ForAllValues):/.exec(written)?.[1]
  const ifExists = written.endsWith('IfExists')
  const operator = written.replace(/^\w+:/, '').replace(/IfExists$/, '')
  const kind = operator.replace('Not', '')
  const negated = kind !== operator
  if (kind.startsWith('String') && wishes.some((wish) => expression(wish, context, true) === null)) return false
  if (values.length === 0) {
    if (ifExists || set === 'ForAllValues') return true
    return set === undefined && negated
  }
  const table = values.map((value) => wishes.map((wish) => holds(kind, value, wish, context)))
  if (table.some((row) => row.length > 0 && row.every((one) => one === null))) return false
  const perValue = table.map((row) => row.includes(true) !== negated)
  if (set === 'ForAnyValue') return perValue.includes(true)
  if (set === 'ForAllValues') return !perValue.includes(false)
  return negated ? !perValue.includes(false) : perValue.includes(true)
}

function statementApplies(statement: Json, request: Request): boolean {
  const { action, resource, context } = request
  const anyFits = (patterns: unknown, text: string): boolean =>
    asList(patterns).some((pattern) => expression(String(pattern), context, true)?.test(text) === true)
  const actions = statement['Action'] === undefined ? !anyFits(statement['NotAction'], action) : anyFits(statement['Action'], action)
  if (!actions) return false
  if (statement['Resource'] === undefined) {
    const excluded = asList(statement['NotResource'])
    if (excluded.some((pattern) => expression(String(pattern), context, true) === null) || anyFits(excluded, resource)) return false
  } else if (!anyFits(statement['Resource'], resource)) return false
  for (const [operator, keys] of Object.entries((statement['Condition'] ?? {}) as Json)) {
    for (const [key, wishes] of Object.entries(keys as Json)) {
      if (!conditionMet(operator, key, asList(wishes).map(String), context)) return false
    }
  }
  return true
}

/** @param documents of policies, and of each boundary */
export function referenceOutcome(documents: readonly Json[], boundaries: readonly Json[], request: Request): Outcome {
  const effects = (document: Json): unknown[] =>
    (document['Statement'] as Json[]).filter((statement) => statementApplies(statement, request)).map((statement) => statement['Effect'])
  if ([...documents, ...boundaries].some((document) => effects(document).includes('Deny'))) return 'explicitDeny'
  if (!documents.some((document) => effects(document).includes('Allow'))) return 'implicitDeny'
  return boundaries.every((document) => effects(document).includes('Allow')) ? 'allowed' : 'outsideBoundary'
}
