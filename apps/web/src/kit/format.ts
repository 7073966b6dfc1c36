import dayjs from 'dayjs'

/** What stands where there is nothing to say. */
export const nothing = '—'

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** Under 1024 as B, then KB, MB, GB and on; at most two decimals, floored. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing
  let rest = Math.abs(value)
  let unit = 0
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024
    unit++
  }
  const text = unit === 0 ? String(Math.floor(rest)) : trimZeros(floorText(rest, 2))
  return `${value < 0 ? '-' : ''}${text} ${units[unit]}`
}

export const bytesPerSecond = (value: number | null | undefined): string => (value === null || value === undefined ? nothing : `${bytes(value)}/s`)

const trimZeros = (text: string): string => text.replace(/\.?0+$/, '')

/** Truncates the shortest decimal text of the number: 1.15 stays 1.15, which multiplying by 100 would not keep. */
function floorText(value: number, decimals: number): string {
  const text = Number.isInteger(value) ? String(value) : value.toFixed(10)
  const [whole = '0', fraction = ''] = text.split('.')
  return decimals === 0 ? whole : `${whole}.${fraction.slice(0, decimals).padEnd(decimals, '0')}`
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

/** Before what somebody types as an amount; what is shown comes with it. */
export const yuanSign = '¥'

/**
 * Money as the wire carries it (a decimal string in yuan), with its sign, at least two decimals, grouped. Floored means
 * towards minus infinity: a debt of 0.001 is shown as a debt.
 * @param most decimals; those behind the second only as far as they say something
 */
function yuan(amount: string | null | undefined, most: number): string {
  if (amount === null || amount === undefined || !/^-?\d+(\.\d+)?$/.test(amount)) return nothing
  const negative = amount.startsWith('-')
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const one = 10n ** BigInt(most)
  let minor = BigInt(whole) * one + BigInt(fraction.slice(0, most).padEnd(most, '0'))
  if (negative && /[1-9]/.test(fraction.slice(most))) minor += 1n
  const decimals = String(minor % one).padStart(most, '0')
  const text = `${yuanSign}${grouped(String(minor / one))}.${decimals.slice(0, 2)}${decimals.slice(2).replace(/0+$/, '')}`
  return negative && minor > 0n ? `-${text}` : text
}

/**
 * A balance or a sum: with two decimals. What such a sum is made of (a charge, a line, a share) is {@link exactMoney}, wherever
 * it stands, so that one charge is one amount and parts add up. Files have plain numbers instead, and the unit in their heading.
 */
export const money = (amount: string | null | undefined): string => yuan(amount, 2)

/** What is owed: as much as the balance that it makes, so that paying it is enough. */
export const owedMoney = (amount: string | null | undefined): string =>
  yuan(amount === null || amount === undefined ? amount : `-${amount}`, 2).replace('-', '')

/** Money of an hour, which is so little that two decimals would say nothing: as many as it has, up to six. */
export const rate = (amount: string | null | undefined): string => yuan(amount, 6)

/** All of it, with as many decimals as it needs: prices as they were set, and all that is part of a sum. */
export const exactMoney = (amount: string | null | undefined): string => yuan(amount, Math.max(2, amount?.split('.')[1]?.length ?? 0))

/** How many decimals {@link exactMoney} shows of that amount which has the most. */
export const decimalsOf = (amounts: readonly (string | null | undefined)[]): number =>
  Math.max(0, ...amounts.map((amount) => exactMoney(amount).split('.')[1]?.length ?? 0))

/** A number floored to at most two decimals, thousands grouped. */
export function number(value: number | null | undefined, decimals = 2): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return nothing
  const factor = 10 ** decimals
  const floored = Math.floor(Number((value * factor).toPrecision(15))) / factor
  const [whole = '0', fraction] = String(Math.abs(floored)).split('.')
  return `${floored < 0 ? '-' : ''}${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`
}

/** 0 to 1 as 12.34%. */
export const percent = (value: number | null | undefined): string => (value === null || value === undefined ? nothing : `${number(value * 100)}%`)

/** In the person's own zone. */
export const dateTime = (moment: string | number | null | undefined): string =>
  moment === null || moment === undefined ? nothing : dayjs(moment).format('YYYY-MM-DD HH:mm:ss')

export const date = (moment: string | number | null | undefined): string =>
  moment === null || moment === undefined ? nothing : dayjs(moment).format('YYYY-MM-DD')

export const time = (moment: string | number): string => dayjs(moment).format('HH:mm:ss')

/** 90 s as 1 分 30 秒. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || ms < 0) return nothing
  if (ms < 1000) return `${Math.round(ms)} 毫秒`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${seconds} 秒`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} 分` : `${minutes} 分 ${seconds % 60} 秒`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours} 小时 ${minutes % 60} 分` : `${Math.floor(hours / 24)} 天 ${hours % 24} 小时`
}
