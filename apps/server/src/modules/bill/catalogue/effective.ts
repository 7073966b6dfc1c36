import { Refusal } from '../../../platform/errors.ts'

type Period = { effective_from?: string | undefined; effective_to: string | null }

/** Usage is counted in whole seconds: what begins within one begins with the next. */
export const wholeSecond = (moment: number): Date => new Date(Math.ceil(moment / 1000) * 1000)

/** From when until when a price or a discount is to hold. @throws Refusal 96007 */
export function effective({ effective_from, effective_to }: Period, now: Date): { effective_from: Date; effective_to: Date | null } {
  const at = now.getTime()
  const begin = effective_from === undefined ? at : Date.parse(effective_from)
  // The clocks of people differ a little.
  if (begin < at - 60_000) throw new Refusal('effectiveInPast', { field: 'effective_from' })
  // Never before now, so that nothing that was ever rated can change.
  const period = { effective_from: wholeSecond(Math.max(begin, at)), effective_to: effective_to === null ? null : wholeSecond(Date.parse(effective_to)) }
  if (period.effective_to !== null && period.effective_to <= period.effective_from) throw new Refusal('effectiveInPast', { field: 'effective_to' })
  return period
}
