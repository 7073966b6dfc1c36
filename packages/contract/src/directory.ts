import { z } from 'zod'
import { moment } from './define.ts'
import { fieldTexts } from './texts.ts'
import { plainLine } from './validation.ts'

/** Absolute, of a file or directory of a machine. */
export const machinePath = z
  .string()
  .max(1_024)
  .regex(/^\/[^\0]*$/, fieldTexts.containerPath)

/** The same where it is kept and shown. */
export const plainMachinePath = machinePath.regex(plainLine, fieldTexts.controlCharacters)

/** What is in a directory of a machine. */
export const directoryEntry = z.object({
  name: z.string(),
  kind: z.enum(['file', 'directory', 'link', 'other']),
  size_bytes: z.number(),
  mode: z.string(),
  modified_at: moment.nullable(),
  target: z.string().nullable(),
})
export type DirectoryEntry = z.output<typeof directoryEntry>
