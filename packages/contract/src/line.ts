import { z } from 'zod'
import { problem } from './problem.ts'

/**
 * A line of a list that comes as an engine tells it (`lines` of a call): several of them make the list, in any
 * order, and the last one says `done`. What ends without that was broken off.
 */
export const lineOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item).optional(),
    /** What things that items name by id are called: networks, images, projects … */
    names: z.record(z.string(), z.string()).optional(),
    /** A service that failed: what it would have told is missing, all else is there. */
    failed: problem.optional(),
    done: z.literal(true).optional(),
  })
