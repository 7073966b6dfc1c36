/** So many months later, or earlier. */
export const monthPlus = (month: string, step: number): string =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + step)).toISOString().slice(0, 7)
/** A day of Beijing, where it is eight hours later than in UTC. */
export const dayOf = (moment: number): string => new Date(moment + 8 * 3_600_000).toISOString().slice(0, 10)
/** Seconds since 1970. */
export const beginOf = (month: string): number => Date.parse(`${month}-01T00:00:00+08:00`) / 1000
