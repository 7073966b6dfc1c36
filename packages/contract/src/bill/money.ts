import { z } from 'zod'

/**
 * Money is yuan, exact. In code and database it is an integer of minor units, of which 10^8 are
 * one yuan: fine enough that an hour of the cheapest gigabyte is many of them. On the wire it is
 * a decimal string. It never is a number, and it is rounded at one place: where a line of usage
 * gets its amount.
 */
export const moneyScale = 8
const unit = 10n ** BigInt(moneyScale)

/** Decimal text as minor units. @throws RangeError where it is none, or finer than {@link moneyScale} */
export function toMinor(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,8}))?$/.exec(text) ?? []
  if (whole === undefined) throw new RangeError(`no amount of money: ${text}`)
  const minor = BigInt(whole) * unit + BigInt(fraction.padEnd(moneyScale, '0'))
  return sign === '-' ? -minor : minor
}

/** Exact, with at least two decimals: `12.00`, `0.0001`. */
export function toDecimal(minor: bigint): string {
  const [sign, size] = minor < 0n ? ['-', -minor] : ['', minor]
  const fraction = String(size % unit)
    .padStart(moneyScale, '0')
    .replace(/0{1,6}$/, '')
  return `${sign}${size / unit}.${fraction}`
}

/** As people are shown it: floored to two decimals (section 9), so that nobody is shown more than they have. */
export function floored(text: string): string {
  const cent = unit / 100n
  const minor = toMinor(text)
  const cents = minor / cent - (minor < 0n && minor % cent !== 0n ? 1n : 0n)
  return toDecimal(cents * cent)
}

/** What is owed, as people are shown it and asked for it: as much as the balance below 0 that it makes, so that paying it is enough. */
export const owed = (text: string): string => toDecimal(-toMinor(floored(toDecimal(-toMinor(text)))))

/** What the server answers: see {@link toDecimal}. */
export const money = z.string().regex(/^-?\d+\.\d{2,8}$/)

/** What people give: up to a hundred billion yuan, with as many decimals at most. Whether it may be below 0 is the call's to say. */
export const amountGiven = (decimals: number) =>
  z
    .string()
    .trim()
    .regex(new RegExp(`^-?\\d{1,12}(\\.\\d{1,${decimals}})?$`))
