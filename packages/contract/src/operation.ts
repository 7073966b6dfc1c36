import { z } from 'zod'
import { moment } from './define.ts'

/** One line of what was done to a thing. */
export const operation = z.object({
  id: z.uuid(),
  /** The call that asked for it, such as `nextstack.vm.start`. */
  kind: z.string(),
  /** What the part is called that it was done to, such as a snapshot; null where it was done to the thing itself. */
  part: z.string().nullable(),
  /** `cancelling`: what was done so far is being taken back; `unknown`: the engine did not tell what became of it, and is asked. */
  status: z.enum(['queued', 'running', 'unknown', 'cancelling', 'succeeded', 'failed', 'cancelled']),
  /** Whether it could be cancelled when this was answered. */
  cancellable: z.boolean(),
  /** Name of the step that is running or failed. */
  step: z.string().nullable(),
  steps_done: z.int(),
  steps_total: z.int(),
  error: z.string().nullable(),
  /** What the engine said, in its own words, where that may be told. */
  detail: z.string().nullable(),
  actor_name: z.string(),
  created_at: moment,
  started_at: moment.nullable(),
  finished_at: moment.nullable(),
})
export type Operation = z.output<typeof operation>
