import { constants } from '@zhisuan/contract/constants'

const passingMs = 1_000

/** For `refreshMs`: lists and pages look once a second while something on them will look different soon, else as always. */
export function whilePassing<Thing extends object>(shown: Thing | readonly Thing[] | undefined, isPassing: (thing: Thing) => boolean): number {
  const all = shown === undefined ? [] : Array.isArray(shown) ? (shown as readonly Thing[]) : [shown as Thing]
  return all.some(isPassing) ? passingMs : constants.listRefreshMs
}
