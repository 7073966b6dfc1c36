import { z } from 'zod'
import { defineCall } from './define.ts'
import { kind } from './kind.ts'
import { tenants } from './roles.ts'
import { fieldTexts } from './texts.ts'
import { plainLine } from './validation.ts'

export const changes = {
  /**
   * Waits until something changes that the user may see, or some 25 seconds. Without `after`, or
   * with one that this server does not know any more, it answers at once with all kinds.
   */
  wait: defineCall({
    id: 'sys.change.wait',
    method: 'GET',
    path: '/api/sys/v1/changes',
    summary: 'Which kinds of things changed since',
    access: tenants,
    query: z.object({ after: z.string().max(64).regex(plainLine, fieldTexts.controlCharacters).optional() }),
    response: z.object({ cursor: z.string(), kinds: z.array(kind) }),
  }),
} as const
