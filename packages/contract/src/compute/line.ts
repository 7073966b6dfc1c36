import { z } from 'zod'
import { problem } from '../problem.ts'

/**
 * A line of a list that comes as the cloud tells it (`lines` of a call): several of them make the list, in any
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

/** Everything of a cloud is named within it; ids are the cloud's own, mostly UUIDs. */
export const cloudId = z.object({ cloud_id: z.uuid() })
/** No word that an address of the cloud reads as something else: `..` leads out of a list, `detail` and `summary` are views of it. */
export const engineId = z.string().regex(/^(?!(?:\.{1,2}|detail|summary)$)[\w.:-]{1,255}$/)
export const inCloud = cloudId.extend({ id: engineId })
