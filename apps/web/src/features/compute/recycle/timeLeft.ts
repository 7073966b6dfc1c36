const minute = 60_000

/** How long something is kept yet, in the two largest units. `none`: nobody here decides. */
export type TimeLeft =
  | { readonly unit: 'days'; readonly days: number; readonly hours: number }
  | { readonly unit: 'hours'; readonly hours: number; readonly minutes: number }
  | { readonly unit: 'minutes'; readonly minutes: number }
  | { readonly unit: 'soon' | 'over' | 'none' }

/** @param until ISO 8601 @param now milliseconds */
export function timeLeft(until: string | null, now: number): TimeLeft {
  if (until === null) return { unit: 'none' }
  const left = new Date(until).getTime() - now
  if (left <= 0) return { unit: 'over' }
  const minutes = Math.floor(left / minute)
  const hours = Math.floor(minutes / 60)
  if (hours >= 24) return { unit: 'days', days: Math.floor(hours / 24), hours: hours % 24 }
  if (hours >= 1) return { unit: 'hours', hours, minutes: minutes % 60 }
  return minutes >= 1 ? { unit: 'minutes', minutes } : { unit: 'soon' }
}
