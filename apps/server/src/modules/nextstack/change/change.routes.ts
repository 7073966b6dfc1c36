import { changes as calls } from '@zhisuan/contract/nextstack/change'
import { scopeOf } from '../../../platform/auth/actor.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { ChangeService } from './change.service.ts'

export const changeRoutes = (changes: ChangeService): Handler[] => [
  handle(calls.wait, async ({ actor, query, reply }) => {
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    return changes.wait(scopeOf(actor), query.after, gone.signal)
  }),
]
