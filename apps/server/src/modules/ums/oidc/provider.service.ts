import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import {
  providersOfOrganisationMax,
  type IdentityProvider,
  type identityProviders as calls,
  type providerProblems,
} from '@zhisuan/contract/ums/identityProvider'
import * as oidc from 'openid-client'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../../iam/rules/limits.ts'
import { defaultProject } from '../user/keep.store.ts'
import { discover, causeOf, placeOfSecret, type OidcClients } from './oidc.client.ts'
import { AddressForbidden, isProviderAddress, ProviderUnreachable } from '../../../platform/outbound/provider.ts'
import * as store from './provider.store.ts'

type Calls = typeof calls
type Problem = (typeof providerProblems)[number]

/** Where a provider leads back to. Each has a path of its own, so that no other can answer for it. */
export const callbackPath = (id: string): string => `/api/ums/v1/auth/sso/providers/${id}/callback`

/** As it is compared: the same address may be written with and without its last slash. */
const sameIssuer = (one: string, other: string): boolean => new URL(one).href === new URL(other).href

export type ProviderService = ReturnType<typeof createProviders>

/** What sets an organisation's own apart. */
type Owned = Pick<BodyOf<Calls['create']>, 'linking' | 'mfa_values' | 'issuer' | 'role' | 'creates_people'> & { readonly bp_id: string }

/** Identity providers as administrators set them up: the platform's, and those of organisations. */
export function createProviders(
  { db, config, secrets, now, log }: Pick<Platform, 'db' | 'config' | 'secrets' | 'now' | 'log'>,
  { clients, limits }: { clients: OidcClients; limits: Pick<Limits, 'ownerOf' | 'refuseToWelcome' | 'refuseUnknownOrganisation'> },
) {
  const at = (path: string): string | null => (config.PUBLIC_URL === undefined ? null : new URL(path, config.PUBLIC_URL).href)

  const shape = ({ client_secret, people, created_at, updated_at, ...row }: store.ShownProvider): IdentityProvider => ({
    ...row,
    has_secret: client_secret !== null,
    people: people ?? 0,
    sign_in_address: row.by_organisation && row.bp_id !== null ? at(`/login?organisation=${row.bp_id}`) : null,
    redirect_uri: at(callbackPath(row.id)),
    post_logout_redirect_uri: at('/login'),
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  })
  const get = async (actor: Actor, id: string): Promise<IdentityProvider> => shape(found(await store.showProvider(db, scopeOf(actor), id)))

  const refuseInsecure = (issuer: string): void => {
    if (!isProviderAddress(new URL(issuer), clients.development)) throw new Refusal('providerIssuerInsecure', { field: 'issuer' })
  }
  const sealed = (id: string, secret: string | undefined): string | null =>
    secret === undefined || secret === '' ? null : secrets.seal(secret, placeOfSecret(id))

  const taken = {
    [store.providerNameIndexes.platform]: ['providerNameTaken', 'name'],
    [store.providerNameIndexes.organisation]: ['providerNameTaken', 'name'],
  } as const

  /**
   * An organisation's administrators have the word of their provider in hand: it names nobody who did not link it
   * themselves, spares nobody their second factor, and makes nobody who has more than whoever sets it up could give.
   * @throws Refusal 91106, 91107, 91157, 91159
   */
  const refuseMoreThanOwn = async (tx: Tx, actor: Actor, body: Owned): Promise<void> => {
    if (body.linking === 'email') throw new Refusal('providerForPlatform', { field: 'linking' })
    if (body.mfa_values.length > 0) throw new Refusal('providerForPlatform', { field: 'mfa_values' })
    try {
      clients.guard.checkLiteral(new URL(body.issuer))
    } catch (cause) {
      throw cause instanceof Refusal ? new Refusal('providerIssuerPrivate', { field: 'issuer', cause }) : cause
    }
    if (!body.creates_people) return
    const roles = body.role === null ? [] : [body.role]
    await limits.refuseToWelcome(tx, actor, { roles, role_ids: [], bp_id: body.bp_id, project: await defaultProject(tx, body.bp_id) })
  }

  return {
    async list(actor: Actor): Promise<ResponseOf<Calls['list']>> {
      const items = (await store.listProviders(db, scopeOf(actor))).map(shape)
      return { total: items.length, items }
    },
    get,

    /** @throws Refusal 90006, 91106, 91107, 91153, 91155, 91157, 91158, 91159 */
    async create(actor: Actor, { client_secret, ...body }: BodyOf<Calls['create']>): Promise<IdentityProvider> {
      refuseInsecure(body.issuer)
      const id = uuidv7()
      const by_organisation = !isPlatformKind(actor.kind)
      const bp_id = limits.ownerOf(actor, body.bp_id)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          if (by_organisation) {
            if (bp_id === null) throw new Refusal('noPermission')
            if ((await store.countProvidersOf(tx, bp_id)) >= providersOfOrganisationMax)
              throw new Refusal('providersFull', { values: { limit: providersOfOrganisationMax } })
            await refuseMoreThanOwn(tx, actor, { ...body, bp_id })
          } else await limits.refuseUnknownOrganisation(tx, bp_id)
          await store.insertProvider(tx, { ...body, id, bp_id, by_organisation, client_secret: sealed(id, client_secret), updated_at: now() })
        }),
      )
      return get(actor, id)
    },

    /** @throws Refusal 90006, 91106, 91107, 91153 to 91157, 91159 */
    async update(actor: Actor, id: string, { client_secret, ...asked }: BodyOf<Calls['update']>): Promise<IdentityProvider> {
      refuseInsecure(asked.issuer)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const before = found(await store.lockProvider(tx, scopeOf(actor), id))
          // Whose people it names stays, whoever of the platform turns it off or on.
          const bp_id = before.by_organisation ? before.bp_id : asked.bp_id
          const body = { ...asked, bp_id }
          if (!before.by_organisation) await limits.refuseUnknownOrganisation(tx, bp_id)
          else if (asked.bp_id !== null && asked.bp_id !== bp_id) throw new Refusal('notFound', { field: 'bp_id' })
          else if (bp_id !== null) await refuseMoreThanOwn(tx, actor, { ...body, bp_id })
          if (!sameIssuer(before.issuer, body.issuer)) {
            // Another issuer's accounts may have the same names, and be other people's.
            if (await store.hasIdentities(tx, id)) throw new Refusal('providerIssuerInUse', { field: 'issuer' })
            // What was told to one issuer is not sent to another.
            if (before.client_secret !== null && client_secret === undefined) throw new Refusal('providerSecretNeeded', { field: 'client_secret' })
          }
          await store.updateProvider(tx, id, { ...body, ...(client_secret !== undefined && { client_secret: sealed(id, client_secret) }), updated_at: now() })
        }),
      )
      return get(actor, id)
    },

    async delete(actor: Actor, id: string): Promise<void> {
      found((await store.deleteProvider(db, scopeOf(actor), id)) ? id : undefined)
    },

    /** Looks in the order in which a sign-in would, and tells the first thing that is wrong. */
    async test(actor: Actor, { id, issuer, client_id, client_secret }: BodyOf<Calls['test']>): Promise<ResponseOf<Calls['test']>> {
      const kept = id === undefined ? undefined : found(await store.findProviderOf(db, scopeOf(actor), id))
      const guard = kept?.by_organisation === true || !isPlatformKind(actor.kind) ? clients.guard : undefined
      const secret = client_secret ?? (kept !== undefined && sameIssuer(kept.issuer, issuer) ? (clients.secretOf(kept) ?? undefined) : undefined)
      const problem = (what: Problem, error?: unknown): ResponseOf<Calls['test']> => ({
        problem: what,
        // An organisation learns nothing of the own network, not even which of its names there are.
        detail: error instanceof Error && (guard === undefined || !isOfNetwork(error)) ? error.message.slice(0, 300) : null,
        ends_session: false,
      })
      let client: oidc.Configuration
      try {
        client = await discover({ issuer, client_id, client_secret: secret === undefined || secret === '' ? null : secret }, clients.development, guard)
      } catch (error) {
        log.info({ issuer, error: error instanceof Error ? error.message : String(error) }, 'an identity provider could not be tested')
        if (error instanceof AddressForbidden) return problem('address', error)
        if (error instanceof ProviderUnreachable) return problem('unreachable', error)
        return problem(error instanceof Error && 'code' in error && error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' ? 'issuer' : 'answer', error)
      }
      const server = client.serverMetadata()
      const codeFlow =
        server.authorization_endpoint !== undefined && server.token_endpoint !== undefined && server.response_types_supported?.includes('code') !== false
      if (!codeFlow) return problem('codeFlow')
      if (server.code_challenge_methods_supported?.includes('S256') === false) return problem('pkce')
      try {
        if (!(await hasKeys(client))) return problem('keys')
      } catch (error) {
        return problem('keys', causeOf(error))
      }
      const redirect = at(callbackPath(id ?? uuidv7())) ?? 'http://localhost/'
      try {
        // Of a code that nobody gave a provider says only whose it is not, once it knows who asks.
        await oidc.genericGrantRequest(client, 'authorization_code', {
          code: 'connection-test',
          redirect_uri: redirect,
          code_verifier: oidc.randomPKCECodeVerifier(),
        })
      } catch (error) {
        if (error instanceof oidc.ResponseBodyError && (error.error === 'invalid_client' || error.error === 'unauthorized_client'))
          return problem('client', error)
        if (error instanceof oidc.WWWAuthenticateChallengeError) return problem('client', error)
        const cause = causeOf(error)
        if (cause instanceof AddressForbidden || cause instanceof ProviderUnreachable) return problem('unreachable', cause)
      }
      return { problem: null, detail: null, ends_session: server.end_session_endpoint !== undefined }
    },
  }
}

const isOfNetwork = (error: Error): boolean => error instanceof AddressForbidden || error instanceof ProviderUnreachable

async function hasKeys(client: oidc.Configuration): Promise<boolean> {
  const { jwks_uri } = client.serverMetadata()
  if (jwks_uri === undefined) return false
  const answer = await client[oidc.customFetch]?.(jwks_uri, { method: 'GET', headers: { accept: 'application/json' }, body: null, redirect: 'manual' })
  if (answer?.ok !== true) return false
  const set: unknown = await answer.json()
  return typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys) && set.keys.length > 0
}
