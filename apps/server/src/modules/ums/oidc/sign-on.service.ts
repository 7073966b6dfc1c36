import { randomBytes } from 'node:crypto'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { singleSignOnRefusals, type identities as identityCalls, type singleSignOn as calls } from '@zhisuan/contract/ums/identityProvider'
import * as oidc from 'openid-client'
import type { Actor } from '../../../platform/auth/actor.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { SecondFactors } from '../second-factor/second-factor.service.ts'
import type { Actors } from '../session/actors.ts'
import type { Client, Guesses } from '../session/guesses.ts'
import type { Proof } from '../session/proof.ts'
import type { SessionService, Tokens } from '../session/session.service.ts'
import { hashOf, looksLikeToken } from '../session/tokens.ts'
import * as users from '../user/user.store.ts'
import { causeOf, type OidcClients } from './oidc.client.ts'
import { AddressForbidden, ProviderUnreachable } from '../../../platform/outbound/provider.ts'
import { provesSecond, readClaims } from './people.ts'
import { identify, isOpenTo } from './identify.ts'
import { callbackPath } from './provider.service.ts'
import { enabledProviders, findProvider, type ProviderRow } from './provider.store.ts'
import * as store from './sign-on.store.ts'

type Calls = typeof calls
type IdentityCalls = typeof identityCalls

/** For signing in there: people look for their passwords. */
export const flowMs = 15 * 60_000
/** For the second factor here. */
export const ticketMs = 5 * 60_000

const secret = (): string => randomBytes(32).toString('base64url')
const placeOfVerifier = (state: Buffer): string => `ums.sign-on-flow:${state.toString('hex')}`
const placeOfTicket = (ticket: Buffer): string => `ums.sign-on:${ticket.toString('hex')}`
const placeOfSession = (id: string): string => `ums.sign-on-session:${id}`

/** On the way to a provider: where to, and what binds the browser to it. */
export interface Begun {
  readonly url: string
  readonly state: string
  readonly browser: string
}
/** On the way back: which page of the console, and what it needs. */
export type Returned = {
  readonly redirect: string | null
  /** Whether somebody linked an account to their own, rather than signed in. */
  readonly linking: boolean
  /** Whose provider it is, of an organisation's own. */
  readonly organisation: string | null
} & ({ readonly ticket: string | null } | { readonly refused: ErrorName })

export type SignOnService = ReturnType<typeof createSignOn>

/** Signing in by what an OpenID Connect provider says: authorization code flow with PKCE, state and nonce. */
export function createSignOn(
  { db, config, secrets, now, log }: Pick<Platform, 'db' | 'config' | 'secrets' | 'now' | 'log'>,
  parts: {
    clients: OidcClients
    sessions: Pick<SessionService, 'signInAs'>
    guesses: Guesses
    secondFactors: Pick<SecondFactors, 'prove'>
    actors: Pick<Actors, 'ofSession'>
    prove: Proof
  },
) {
  const { clients } = parts
  const at = (path: string): URL => {
    if (config.PUBLIC_URL === undefined) throw new Refusal('ssoUnavailable')
    return new URL(path, config.PUBLIC_URL)
  }
  /** What the provider did is for the log, in the library's words; those hold no tokens. */
  const refusalOf = (error: unknown, provider: string): Refusal => {
    if (error instanceof Refusal) return error
    const cause = causeOf(error)
    const broken = cause instanceof Error && cause.cause instanceof Response && cause.cause.status >= 500
    const unreachable = cause instanceof ProviderUnreachable || cause instanceof AddressForbidden || broken
    const { message, code } =
      cause instanceof Error ? { message: cause.message, code: 'code' in cause ? cause.code : undefined } : { message: String(cause), code: undefined }
    log.warn({ provider, message, code }, 'single sign-on failed')
    return new Refusal(unreachable ? 'ssoUnreachable' : 'ssoFailed', { cause: error })
  }
  const clientOf = async (provider: ProviderRow): Promise<oidc.Configuration> => {
    try {
      return await clients.of(provider)
    } catch (error) {
      throw refusalOf(error instanceof Refusal ? error : new ProviderUnreachable('discovery failed', { cause: error }), provider.name)
    }
  }

  const begin = async (provider: ProviderRow, of: { redirect: string | null; session_id: string | null }): Promise<Begun> => {
    const redirect_uri = at(callbackPath(provider.id)).href
    const client = await clientOf(provider)
    const [state, browser, nonce, code_verifier] = [secret(), secret(), secret(), oidc.randomPKCECodeVerifier()]
    const hash = hashOf(state)
    let url: URL
    try {
      url = oidc.buildAuthorizationUrl(client, {
        redirect_uri,
        response_type: 'code',
        scope: [...new Set(['openid', ...provider.scopes])].join(' '),
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
      })
    } catch (error) {
      throw refusalOf(error, provider.name)
    }
    await store.insertFlow(db, {
      state_hash: hash,
      browser_hash: hashOf(browser),
      provider_id: provider.id,
      code_verifier: secrets.seal(code_verifier, placeOfVerifier(hash)),
      nonce,
      expires_at: new Date(now().getTime() + flowMs),
      ...of,
    })
    return { url: url.href, state, browser }
  }

  const refuseDisabled = (provider: ProviderRow | undefined): ProviderRow => {
    if (provider?.enabled !== true) throw new Refusal('ssoDisabled')
    return provider
  }

  return {
    /** @param organisation whose sign-in address somebody came by; one that is not there has none */
    offered: async (organisation: string | null) =>
      config.PUBLIC_URL === undefined ? [] : (await enabledProviders(db, organisation)).map(({ id, name, by_organisation }) => ({ id, name, by_organisation })),

    /** @throws Refusal 91140, 91143, 91145 */
    async begin(id: string, { redirect }: BodyOf<Calls['begin']>): Promise<Begun> {
      return begin(refuseDisabled(await findProvider(db, id)), { redirect: redirect ?? null, session_id: null })
    },

    /** @throws Refusal 1120, 1136, 91125, 91140, 91143, 91145, 91150, 91152 */
    async beginLinking(actor: Actor, { provider_id, password }: BodyOf<IdentityCalls['link']>): Promise<Begun> {
      await parts.prove(actor, password)
      const provider = await findProvider(db, provider_id)
      if (provider?.enabled !== true) throw new Refusal('ssoLinkForbidden')
      if (provider.linking === 'nobody' || !isOpenTo(provider, actor)) throw new Refusal('ssoLinkForbidden')
      if ((await store.identitiesOf(db, actor.user_id)).some((one) => one.provider_id === provider_id)) throw new Refusal('ssoLinkedAlready')
      return begin(provider, { redirect: null, session_id: actor.session_id })
    },

    /**
     * What a provider led back with. Whatever is wrong is told on the page where it began.
     * @param browser the cookie of the flow that `state` names
     */
    async returned(providerId: string, query: URLSearchParams, browser: string | undefined): Promise<Returned> {
      const state = query.get('state')
      const flow =
        state !== null && looksLikeToken(state) && browser !== undefined && looksLikeToken(browser)
          ? await store.takeFlow(db, { state: hashOf(state), browser: hashOf(browser), provider: providerId }, now())
          : undefined
      if (flow === undefined || state === null) return { redirect: null, linking: false, organisation: null, refused: 'ssoExpired' }
      const asked = await findProvider(db, providerId)
      const back = { redirect: flow.redirect, linking: flow.session_id !== null, organisation: asked?.by_organisation === true ? asked.bp_id : null }
      try {
        const provider = refuseDisabled(asked)
        const linker = flow.session_id === null ? null : await parts.actors.ofSession(flow.session_id)
        if (flow.session_id !== null && linker === null) throw new Refusal('ssoExpired')
        const client = await clientOf(provider)
        const here = at(callbackPath(providerId))
        here.search = query.toString()
        // Checks iss, state, the token's signature, issuer, audience, nonce and times.
        const tokens = await oidc.authorizationCodeGrant(client, here, {
          expectedState: state,
          expectedNonce: flow.nonce,
          pkceCodeVerifier: secrets.open(flow.code_verifier, placeOfVerifier(flow.state_hash)),
          idTokenExpected: true,
        })
        const idToken = tokens.claims()
        if (idToken === undefined || tokens.id_token === undefined || idToken.sub.length > 255 || /\p{Cc}/u.test(idToken.sub)) throw new Refusal('ssoFailed')
        // What it says of the person may stand in either; the token's own word counts.
        const info = client.serverMetadata().userinfo_endpoint === undefined ? {} : await oidc.fetchUserInfo(client, tokens.access_token, idToken.sub)
        const claimed = readClaims({ ...info, ...idToken }, idToken.sub, provider.claims)
        // Of two accounts with one mailbox that come at once, one is first.
        const identity = await refusing({ [users.userIndexes.email]: 'ssoEmailTaken' }, () =>
          db.transaction().execute((tx) => identify(tx, provider, claimed, linker?.user_id ?? null)),
        )
        if (linker !== null) return { ...back, ticket: null }
        const ticket = secret()
        const hash = hashOf(ticket)
        await store.insertSignOn(db, {
          ticket_hash: hash,
          identity_id: identity.id,
          second: provesSecond(idToken, provider.mfa_values),
          id_token: secrets.seal(tokens.id_token, placeOfTicket(hash)),
          expires_at: new Date(now().getTime() + ticketMs),
        })
        return { ...back, ticket }
      } catch (error) {
        if (error instanceof oidc.AuthorizationResponseError) {
          log.info({ provider: providerId, error: error.error }, 'an identity provider refused')
          return { ...back, refused: 'ssoDenied' }
        }
        const { refusal } = refusalOf(error, providerId)
        // Ours to hear of, and nothing that the page has words for.
        if (!(singleSignOnRefusals as readonly ErrorName[]).includes(refusal))
          log.error({ refusal: errors[refusal].code }, 'single sign-on was refused unexpectedly')
        return { ...back, refused: refusal }
      }
    },

    /** @throws Refusal 1134, 1135, 1136, 91012, 91120, 91124, 91141, 91145 */
    async finish(ticket: string | undefined, { otp }: BodyOf<Calls['finish']>, client: Client): Promise<Tokens> {
      const hash = ticket !== undefined && looksLikeToken(ticket) ? hashOf(ticket) : null
      const signOn = hash === null ? undefined : await store.findSignOn(db, hash, now())
      if (hash === null || signOn === undefined) throw new Refusal('ssoExpired')
      if (!signOn.enabled) throw new Refusal('ssoDisabled')
      // A freeze counts here, too: wrong codes of a second factor are guesses.
      await parts.guesses.checkSecond(signOn.user_id, client, signOn.second ? async () => null : parts.secondFactors.prove(otp))
      const idToken = secrets.open(signOn.id_token, placeOfTicket(hash))
      return db.transaction().execute(async (tx) => {
        if (!(await store.spendSignOn(tx, hash))) throw new Refusal('ssoExpired')
        const user = await users.lockUser(tx, signOn.user_id)
        if (user === undefined) throw new Refusal('ssoUnknownPerson')
        await store.recordIdentityUse(tx, signOn.identity_id, now())
        const tokens = await parts.sessions.signInAs(tx, user, client, { by: 'oidc', second: signOn.second })
        await store.keepSessionOf(tx, hashOf(tokens.token), { provider_id: signOn.provider_id, id_token: (id) => secrets.seal(idToken, placeOfSession(id)) })
        return tokens
      })
    },

    /** Where the provider cannot be asked, one signs out here only. */
    async end(actor: Actor): Promise<ResponseOf<Calls['end']>> {
      const session = await store.findSession(db, actor.session_id)
      const provider = session === undefined ? undefined : await findProvider(db, session.provider_id)
      if (session === undefined || provider?.ends_session !== true || !provider.enabled || config.PUBLIC_URL === undefined) return { url: null }
      try {
        const client = await clients.of(provider)
        if (client.serverMetadata().end_session_endpoint === undefined) return { url: null }
        const url = oidc.buildEndSessionUrl(client, {
          post_logout_redirect_uri: at('/login').href,
          id_token_hint: secrets.open(session.id_token, placeOfSession(session.session_id)),
        })
        return { url: url.href }
      } catch (error) {
        refusalOf(error, provider.name)
        return { url: null }
      }
    },

    clean: (): Promise<void> => store.deleteSignOnsBefore(db, now()),
  }
}
