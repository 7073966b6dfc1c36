import { auth } from '@zhisuan/contract/ums/auth'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../platform/config.ts'
import { Refusal } from '../../../platform/errors.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { UserService } from '../user/user.service.ts'
import type { SessionService, Tokens } from './session.service.ts'

const refreshCookie = 'zs_refresh'

export function sessionRoutes(config: Config, sessions: SessionService, users: UserService): Handler[] {
  const cookie = { path: '/api/ums/v1/auth', httpOnly: true, sameSite: 'strict', secure: config.PUBLIC_URL?.startsWith('https:') === true } as const
  const client = (request: FastifyRequest) => ({ ip: request.ip, userAgent: request.headers['user-agent'] ?? '' })
  /** The access token goes in the body, the refresh token into a cookie that no script can read. */
  const hand = ({ refresh, ...answer }: Tokens, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    if (refresh !== null) reply.setCookie(refreshCookie, refresh.token, { ...cookie, expires: refresh.expires_at })
    return answer
  }

  return [
    handle(auth.password, async ({ body, request, reply }) => hand(await sessions.signIn(body.username, body.password, client(request)), reply)),
    handle(auth.sms, async ({ body, request, reply }) => hand(await users.signInBySms(body, client(request)), reply)),
    handle(auth.refresh, async ({ request, reply }) => {
      try {
        return hand(await sessions.refresh(request.cookies[refreshCookie]), reply)
      } catch (error) {
        // It will never be any good again; a failure of ours says nothing about it.
        if (error instanceof Refusal) reply.clearCookie(refreshCookie, cookie)
        throw error
      }
    }),
    handle(auth.logout, async ({ actor, request, reply }) => {
      if (actor !== null) await sessions.end(actor.session_id)
      await sessions.endByRefresh(request.cookies[refreshCookie])
      reply.clearCookie(refreshCookie, cookie)
    }),
  ]
}
