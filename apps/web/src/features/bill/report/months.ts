import dayjs from 'dayjs'

/** Months of bills are those of Beijing. */
export const billMonthOf = (moment: number): string => new Date(moment + 8 * 3_600_000).toISOString().slice(0, 7)
export const isMonth = (text: string | null): text is string => text !== null && /^20\d{2}-(0[1-9]|1[0-2])$/.test(text)
export const monthPlus = (month: string, step: number): string => dayjs(`${month}-01`).add(step, 'month').format('YYYY-MM')
/** All days of a month: `2026-11-01`, … */
export const daysOf = (month: string): readonly string[] =>
  Array.from({ length: dayjs(`${month}-01`).daysInMonth() }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`)
