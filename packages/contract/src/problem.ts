import { z } from 'zod'

/** The services of an OpenStack, by what they do. */
export const engineServices = ['identity', 'compute', 'placement', 'image', 'network', 'volume'] as const
export type EngineService = (typeof engineServices)[number]

export const engineRequest = z.object({ cloud: z.string(), service: z.enum(engineServices), request_id: z.string() })
export type EngineRequest = z.output<typeof engineRequest>

export const refusedByPolicy = z.object({
  action: z.string(),
  /** `role`: no policy was asked, as no role of theirs may ever make this call. */
  outcome: z.enum(['explicitDeny', 'outsideBoundary', 'implicitDeny', 'role']),
  by: z.object({ policy_id: z.string(), index: z.int(), sid: z.string().nullable() }).nullable(),
})
export type RefusedByPolicy = z.output<typeof refusedByPolicy>

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
  /** Why policies refused it: which action, and the statement that says so, where one does. */
  refused: refusedByPolicy.optional(),
  /** Which service of which cloud refused or failed, and the request of it that its operators can find in their logs. */
  engine: engineRequest.optional(),
})
export type Problem = z.output<typeof problem>
