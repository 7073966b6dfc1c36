import { z } from 'zod'
import { moment } from './define.ts'

/** What lists are saved as: text that every program reads, and a workbook with numbers and dates as such. */
export const exportFormats = ['csv', 'xlsx'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** Leads to the file; a browser saves it without a token. */
export const exportLink = z.object({ path: z.string(), expires_at: moment })
export type ExportLink = z.output<typeof exportLink>
