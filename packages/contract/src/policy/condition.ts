import ipaddr from 'ipaddr.js'
import { listed, operatorParts, type ConditionOperator, type OperatorParts, type PolicyStatement } from './document.ts'
import { compilePattern, type Context } from './pattern.ts'

/** One key of one operator of a statement. */
export interface Condition {
  /** As it is written: `ForAnyValue:StringLike`. */
  readonly operator: string
  readonly key: string
  isMet(context: Context): boolean
}

interface Test {
  /** Whether one value of a request is among those that are written; null where it cannot be read as what the operator compares. */
  fits(value: string, context: Context): boolean | null
  /** Whether a variable has no value. */
  isUnknown(context: Context): boolean
}

export type Reader<T> = (text: string) => T | null

/** Decimal, with sign and exponent. */
export const readNumber: Reader<number> = (text) => (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : null)

/** ISO 8601 (a day begins at midnight UTC), or seconds since 1970; as milliseconds. */
export const readDate: Reader<number> = (text) => {
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

export const readBoolean: Reader<boolean> = (text) => (text === 'true' ? true : text === 'false' ? false : null)

type Address = ipaddr.IPv4 | ipaddr.IPv6
/** An address and how many of its bits count. */
type Range = readonly [Address, number]

/** Four decimal numbers, or IPv6; an IPv4 address within IPv6 is the IPv4 address. */
const readAddress: Reader<Address> = (text) => (ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : null)

/** An address is a range of one. IPv4 ranges written within IPv6 are none. */
export const readRange: Reader<Range> = (text) => {
  const [written = '', bits, more] = text.split('/')
  const address = readAddress(written)
  if (address === null || more !== undefined) return null
  const longest = address.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [address, longest]
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > longest || (longest === 32 && written.includes(':'))) return null
  return [address, Number(bits)]
}

const within = (address: Address, [base, bits]: Range): boolean => address.kind() === base.kind() && address.match(base as ipaddr.IPv4, bits)

const comparisons: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  Equals: (left, right) => left === right,
  LessThan: (left, right) => left < right,
  LessThanEquals: (left, right) => left <= right,
  GreaterThan: (left, right) => left > right,
  GreaterThanEquals: (left, right) => left >= right,
}

/** A wish that cannot be read is a problem of the document (problems.ts), and fits nothing. */
const among = <T, W>(read: Reader<T>, wishes: readonly string[], readWish: Reader<W>, fits: (value: T, wish: W) => boolean): Test => {
  const all = wishes.flatMap((wish) => {
    const one = readWish(wish)
    return one === null ? [] : [{ one }]
  })
  return {
    isUnknown: () => false,
    fits: (text) => {
      const value = read(text)
      return value === null ? null : all.some(({ one }) => fits(value, one))
    },
  }
}

/** By the operator without its `Not`. */
function testOf(operator: ConditionOperator, wishes: readonly string[]): Test {
  const plain = operator.replace('Not', '')
  if (plain.startsWith('String')) {
    const patterns = wishes.map((wish) => compilePattern(wish, { wildcards: plain === 'StringLike', ignoreCase: plain === 'StringEqualsIgnoreCase' }))
    return {
      isUnknown: (context) => patterns.some((pattern) => pattern.isUnknown(context)),
      fits: (value, context) => patterns.some((pattern) => pattern.matches(value, context)),
    }
  }
  if (plain === 'IpAddress') return among(readAddress, wishes, readRange, within)
  if (plain === 'Bool') return among(readBoolean, wishes, readBoolean, (value, wish) => value === wish)
  const read = plain.startsWith('Date') ? readDate : readNumber
  return among(read, wishes, read, comparisons[plain.replace(/^(Date|Numeric)/, '')] ?? (() => false))
}

/** Values of a key; of one that is absent none. */
function valuesOf(context: Context, key: string): readonly string[] {
  const value = Object.hasOwn(context, key) ? context[key] : undefined
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/**
 * A key that a request lacks meets no condition but `…Not…`, `…IfExists`, `ForAllValues:` and
 * `Null`. Of several values one has to fit, or with `…Not…` all; the set prefixes say which. What
 * cannot be read, and a variable without a value, meets nothing.
 */
function isMet({ operator, set, ifExists }: OperatorParts, test: Test, values: readonly string[], context: Context): boolean {
  if (test.isUnknown(context)) return false
  const negated = operator.includes('Not')
  const every = set === 'ForAllValues' || (set === null && negated)
  if (values.length === 0) return every || ifExists
  const results = values.map((value) => test.fits(value, context))
  if (results.includes(null)) return false
  return every ? results.every((fits) => fits !== negated) : results.some((fits) => fits !== negated)
}

export function compileConditions(conditions: PolicyStatement['Condition']): readonly Condition[] {
  return Object.entries(conditions ?? {}).flatMap(([operator, keys]) => {
    const parts = operatorParts(operator)
    if (parts === undefined) throw new Error(`${operator} is no operator`)
    return Object.entries(keys).map(([key, wanted]): Condition => {
      const values = listed(wanted).map(String)
      if (parts.operator === 'Null') {
        return { operator, key, isMet: (context) => values.some((value) => readBoolean(value) === (valuesOf(context, key).length === 0)) }
      }
      const test = testOf(parts.operator, values)
      return { operator, key, isMet: (context) => isMet(parts, test, valuesOf(context, key), context) }
    })
  })
}
