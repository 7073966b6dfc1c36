import { auth } from '@zhisuan/contract/ums/auth'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../platform/config.ts'
import { Refusal } from '../../../platform/errors.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { UserService } from '../user/user.service.ts'
import type { Actors } from './actors.ts'
import { deviceMs, type Client } from './guesses.ts'
import type { SessionService, Tokens } from './session.service.ts'
import { looksLikeToken } from './tokens.ts'

const refreshCookie = 'zs_refresh'

/** It stays when somebody signs out: it lets nobody in. */
const deviceCookie = 'zs_device'

const cookieOf = (config: Config) =>
  ({ path: '/api/ums/v1/auth', httpOnly: true, sameSite: 'strict', secure: config.PUBLIC_URL?.startsWith('https:') === true }) as const

/** Where a request comes from. */
export const clientOf = (request: FastifyRequest): Client => {
  const device = request.cookies[deviceCookie]
  return { ip: request.ip, userAgent: request.headers['user-agent'] ?? '', device: device !== undefined && looksLikeToken(device) ? device : null }
}

export type HandTokens = (tokens: Tokens, reply: FastifyReply) => Promise<Omit<Tokens, 'refresh' | 'device'>>

/** The access token goes in the body, the refresh token into a cookie that no script can read. */
export const handTokens =
  (config: Config, actors: Pick<Actors, 'given'>): HandTokens =>
  async ({ refresh, device, ...answer }, reply) => {
    // Whoever is let in is whom the audit log names.
    if (reply.request.routeOptions.config.call?.audit === true) reply.request.actor ??= await actors.given(answer.token)
    reply.header('cache-control', 'no-store')
    if (refresh !== null) reply.setCookie(refreshCookie, refresh.token, { ...cookieOf(config), expires: refresh.expires_at })
    if (device !== null) reply.setCookie(deviceCookie, device, { ...cookieOf(config), maxAge: deviceMs / 1000 })
    return answer
  }

export function sessionRoutes(config: Config, sessions: SessionService, users: UserService, hand: HandTokens): Handler[] {
  const cookie = cookieOf(config)

  return [
    handle(auth.password, async ({ body, request, reply }) => hand(await sessions.signIn(body, clientOf(request)), reply)),
    handle(auth.sms, async ({ body, request, reply }) => hand(await users.signInBySms(body, clientOf(request)), reply)),
    handle(auth.refresh, async ({ request, reply }) => {
      try {
        return await hand(await sessions.refresh(request.cookies[refreshCookie]), reply)
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
