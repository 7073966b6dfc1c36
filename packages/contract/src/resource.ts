import { z } from 'zod'
import { moment } from './define.ts'
import { fillText } from './errors.ts'
import { fieldTexts, sizeTexts } from './texts.ts'

/** What every resource of an organisation tells of itself. */
export const owned = {
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
} as const

/** What those tell that live on a cloud's engine. */
export const onEngine = {
  ...owned,
  cloud_id: z.uuid(),
  /** Chinese text of what went wrong the last time; null once something succeeded. */
  error: z.string().nullable(),
  /** The operation that is running, or null. */
  operation_id: z.uuid().nullable(),
} as const

/** Another resource, as far as a list has to name and link it. */
export const reference = z.object({ id: z.uuid(), name: z.string() })

const sizeUnits = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const
/** A size for a sentence: in the largest unit of which it is at least one, with two decimals at most; never more than it is. */
export function sizeText(bytes: number): string {
  let [rest, unit] = [bytes, 0]
  for (; rest >= 1024 && unit < sizeUnits.length - 1; unit++) rest /= 1024
  return `${Math.floor(rest * 100) / 100} ${sizeUnits[unit]}`
}

/** A size in bytes that people ask for, one PiB at most unless it is said. Its ends are told as sizes: people type none in bytes. */
export function sizeBetween(least: number, most: number = 2 ** 50, tooSmall = fillText(sizeTexts.least, { limit: sizeText(least) })) {
  const tooLarge = fillText(sizeTexts.most, { limit: sizeText(most) })
  return z
    .int({ error: ({ code }) => (code === 'too_big' ? tooLarge : undefined) })
    .min(least, tooSmall)
    .max(most, tooLarge)
}
export const sizeBytes = sizeBetween(1, undefined, fieldTexts.sizeAboveZero)

/** The project that something belongs to, and whose quota it takes from; null for none. */
export const inProject = { project_id: z.uuid().nullable().default(null) } as const
