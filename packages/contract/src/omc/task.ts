import { z } from 'zod'
import { byId, defineCall, flag, moment } from '../define.ts'
import { kind } from '../kind.ts'
import { operation } from '../operation.ts'
import { fieldTexts } from '../texts.ts'

const base = '/api/omc/v1/tasks'

/** `open`: has not ended. `failed` are among those that `ended`. */
export const taskStates = ['open', 'failed', 'ended'] as const

/** Long work on something, wherever it is done. */
export const task = operation.omit({ detail: true, part: true }).extend({
  /** What it works on, as it was called when it began; of what has no page of its own whose page tells of it. */
  about: z.object({ kind, id: z.uuid(), name: z.string() }),
  /** Whether whoever asks began it. */
  mine: z.boolean(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
})
export type Task = z.output<typeof task>

/** Open to everybody, as whoever may see a thing sees what is done to it: rights are asked of each. So nobody counts them, and a page may be short although `next` leads on. */
export const tasks = {
  list: defineCall({
    id: 'omc.task.list',
    method: 'GET',
    path: base,
    summary: 'Long work on what one may see, newest first',
    access: 'all',
    query: z.object({
      cursor: z
        .string()
        .max(80)
        .regex(/^\d{1,16}~[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, fieldTexts.format)
        .optional(),
      page_size: z.coerce.number().int().min(1).max(200).default(20),
      state: z.enum(taskStates).optional(),
      /** Only what one began oneself, or only what one did not. */
      mine: flag.optional(),
      from: moment.optional(),
    }),
    response: z.object({ items: z.array(task), next: z.string().nullable() }),
  }),
  /** Who may cancel work on a thing by its own call may do so here. */
  cancel: defineCall({
    id: 'omc.task.cancel',
    method: 'POST',
    path: `${base}/{id}/cancel`,
    summary: 'Take back what has not ended. 409 (90017) where it has, (90018) where it cannot be left',
    access: 'all',
    params: byId,
    status: 202,
    response: task,
  }),
} as const
