import { errors } from '@zhisuan/contract/errors'
import { identities, identityProviders, singleSignOn } from '@zhisuan/contract/ums/identityProvider'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Config } from '../../../platform/config.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { clientOf, type HandTokens } from '../session/session.routes.ts'
import type { IdentityService } from './identity.service.ts'
import { callbackPath, type ProviderService } from './provider.service.ts'
import { flowMs, ticketMs, type Begun, type SignOnService } from './sign-on.service.ts'

const path = '/api/ums/v1/auth/sso'
const ticketCookie = 'zs_sign_on'
/** One for each flow: in two tabs one may be on their way twice. */
const flowCookie = (state: string): string => `zs_sign_on_${state.slice(0, 12)}`

/** Lax: it has to come with the browser that a provider leads back, which is another site. */
const flowCookieOf = (config: Config) =>
  ({ path: `${path}/providers`, httpOnly: true, sameSite: 'lax', secure: config.PUBLIC_URL?.startsWith('https:') === true }) as const
const ticketCookieOf = (config: Config) => ({ path, httpOnly: true, sameSite: 'strict', secure: config.PUBLIC_URL?.startsWith('https:') === true }) as const

export function oidcRoutes(config: Config, providers: ProviderService, linked: IdentityService, signOn: SignOnService, hand: HandTokens): Handler[] {
  const leave = ({ url, state, browser }: Begun, reply: FastifyReply): { url: string } => {
    reply.header('cache-control', 'no-store')
    reply.setCookie(flowCookie(state), browser, { ...flowCookieOf(config), maxAge: flowMs / 1000 })
    return { url }
  }
  return [
    handle(identityProviders.list, ({ actor }) => providers.list(actor)),
    handle(identityProviders.get, ({ actor, params }) => providers.get(actor, params.id)),
    handle(identityProviders.create, ({ actor, body }) => providers.create(actor, body)),
    handle(identityProviders.update, ({ actor, params, body }) => providers.update(actor, params.id, body)),
    handle(identityProviders.delete, ({ actor, params }) => providers.delete(actor, params.id)),
    handle(identityProviders.test, ({ actor, body }) => providers.test(actor, body)),
    handle(identities.list, ({ actor }) => linked.list(actor)),
    handle(identities.link, async ({ actor, body, reply }) => leave(await signOn.beginLinking(actor, body), reply)),
    handle(identities.unlink, ({ actor, params }) => linked.unlink(actor, params.id)),
    handle(singleSignOn.begin, async ({ params, body, reply }) => leave(await signOn.begin(params.id, body), reply)),
    handle(singleSignOn.finish, async ({ body, request, reply }) => {
      const tokens = await signOn.finish(request.cookies[ticketCookie], body, clientOf(request))
      reply.clearCookie(ticketCookie, ticketCookieOf(config))
      return hand(tokens, reply)
    }),
    handle(singleSignOn.end, ({ actor }) => signOn.end(actor)),
  ]
}

const params = z.object({ id: z.uuid() })

/** Where providers lead back. It is no call: a browser comes, and is led on to a page of the console, whatever happened. */
export function serveSignOn(http: FastifyInstance, config: Config, signOn: SignOnService): void {
  http.get(callbackPath(':id'), { exposeHeadRoute: false, config: { rateLimit: { max: 60, timeWindow: 60_000 } } }, async (request, reply) => {
    const parsed = params.safeParse(request.params)
    const query = new URL(request.url, 'http://localhost').searchParams
    const name = flowCookie(query.get('state') ?? '')
    const back = parsed.success
      ? await signOn.returned(parsed.data.id, query, request.cookies[name])
      : ({ redirect: null, linking: false, organisation: null, refused: 'ssoExpired' } as const)
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
    // A state of its own length only: whatever else stands there is no name of a cookie of ours.
    if (/^zs_sign_on_[\w-]{12}$/.test(name)) reply.clearCookie(name, flowCookieOf(config))
    const told = new URLSearchParams({ sso: 'refused' in back ? String(errors[back.refused].code) : 'done' })
    if (!back.linking && back.redirect !== null) told.set('redirect', back.redirect)
    // The page offers the way that somebody came by once more.
    if (!back.linking && back.organisation !== null) told.set('organisation', back.organisation)
    if ('ticket' in back && back.ticket !== null) reply.setCookie(ticketCookie, back.ticket, { ...ticketCookieOf(config), maxAge: ticketMs / 1000 })
    return reply.redirect(back.linking ? `/userMsg?${told}#linkedAccounts` : `/login?${told}`, 303)
  })
}
