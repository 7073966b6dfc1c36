import { z } from 'zod'
import { moment } from './define.ts'

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

/** A size in bytes that people ask for, up to one PiB. */
export const sizeBytes = z
  .int()
  .min(1)
  .max(2 ** 50)

/** The project that something belongs to, and whose quota it takes from; null for none. */
export const inProject = { project_id: z.uuid().nullable().default(null) } as const
