import { z } from 'zod'
import { defineCall } from '../define.ts'
import { plainLine } from '../validation.ts'

export const terms = {
  /** The console adds a time parameter so that nothing on the way answers from a cache. */
  get: defineCall({
    id: 'root.terms.get',
    method: 'GET',
    path: '/terms/terms.json',
    summary: 'Terms of service',
    access: 'public',
    always: true,
    query: z.object({ time: z.string().max(32).regex(plainLine).optional() }),
    response: z.object({
      title: z.string(),
      updated_at: z.iso.date(),
      sections: z.array(z.object({ heading: z.string(), paragraphs: z.array(z.string()) })),
    }),
  }),
} as const
