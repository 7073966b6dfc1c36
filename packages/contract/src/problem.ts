import { z } from 'zod'

/** The body of every answer that is not a success. */
export const problem = z.object({
  code: z.int(),
  /** Chinese text from the catalogue. */
  message: z.string(),
  request_id: z.string(),
  /** Which fields were refused and why, for forms. `field` is a path such as `labels.0.label`. */
  fields: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  /** What an engine said, in its own words, where the message does not say it all. */
  detail: z.string().optional(),
})
export type Problem = z.output<typeof problem>
