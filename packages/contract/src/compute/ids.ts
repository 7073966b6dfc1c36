import { z } from 'zod'

/** Everything of a cloud is named within it; ids are the cloud's own, mostly UUIDs. */
export const cloudId = z.object({ cloud_id: z.uuid() })
/** No word that an address of the cloud reads as something else: `..` leads out of a list, `detail` and `summary` are views of it. */
export const engineId = z.string().regex(/^(?!(?:\.{1,2}|detail|summary)$)[\w.:-]{1,255}$/)
export const inCloud = cloudId.extend({ id: engineId })
