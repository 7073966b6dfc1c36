import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { IdentityProvider, identityProviders as calls, providerProblems } from '@zhisuan/contract/ums/identityProvider'
import * as oidc from 'openid-client'
import { iso } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../../iam/rules/limits.ts'
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

/** Identity providers as administrators set them up. */
export function createProviders(
  { db, config, secrets, now, log }: Pick<Platform, 'db' | 'config' | 'secrets' | 'now' | 'log'>,
  { clients, limits }: { clients: OidcClients; limits: Pick<Limits, 'refuseUnknownOrganisation'> },
) {
  const at = (path: string): string | null => (config.PUBLIC_URL === undefined ? null : new URL(path, config.PUBLIC_URL).href)

  const shape = ({ client_secret, people, created_at, updated_at, ...row }: store.ShownProvider): IdentityProvider => ({
    ...row,
    has_secret: client_secret !== null,
    people: people ?? 0,
    redirect_uri: at(callbackPath(row.id)),
    post_logout_redirect_uri: at('/login'),
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  })
  const get = async (id: string): Promise<IdentityProvider> => shape(found(await store.showProvider(db, id)))

  const refuseInsecure = (issuer: string): void => {
    if (!isProviderAddress(new URL(issuer), clients.development)) throw new Refusal('providerIssuerInsecure', { field: 'issuer' })
  }
  const sealed = (id: string, secret: string | undefined): string | null =>
    secret === undefined || secret === '' ? null : secrets.seal(secret, placeOfSecret(id))

  const taken = { [store.providerNameIndex]: ['providerNameTaken', 'name'] } as const

  return {
    async list(): Promise<ResponseOf<Calls['list']>> {
      const items = (await store.listProviders(db)).map(shape)
      return { total: items.length, items }
    },
    get,

    /** @throws Refusal 90006, 91153, 91155 */
    async create({ client_secret, ...body }: BodyOf<Calls['create']>): Promise<IdentityProvider> {
      refuseInsecure(body.issuer)
      await limits.refuseUnknownOrganisation(db, body.bp_id)
      const id = uuidv7()
      await refusing(taken, () => store.insertProvider(db, { ...body, id, client_secret: sealed(id, client_secret), updated_at: now() }))
      return get(id)
    },

    /** @throws Refusal 90006, 91153, 91154, 91155, 91156 */
    async update(id: string, { client_secret, ...body }: BodyOf<Calls['update']>): Promise<IdentityProvider> {
      refuseInsecure(body.issuer)
      await limits.refuseUnknownOrganisation(db, body.bp_id)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const before = found(await store.lockProvider(tx, id))
          if (!sameIssuer(before.issuer, body.issuer)) {
            // Another issuer's accounts may have the same names, and be other people's.
            if (await store.hasIdentities(tx, id)) throw new Refusal('providerIssuerInUse', { field: 'issuer' })
            // What was told to one issuer is not sent to another.
            if (before.client_secret !== null && client_secret === undefined) throw new Refusal('providerSecretNeeded', { field: 'client_secret' })
          }
          await store.updateProvider(tx, id, { ...body, ...(client_secret !== undefined && { client_secret: sealed(id, client_secret) }), updated_at: now() })
        }),
      )
      return get(id)
    },

    async delete(id: string): Promise<void> {
      found((await store.deleteProvider(db, id)) ? id : undefined)
    },

    /** Looks in the order in which a sign-in would, and tells the first thing that is wrong. */
    async test({ id, issuer, client_id, client_secret }: BodyOf<Calls['test']>): Promise<ResponseOf<Calls['test']>> {
      const kept = id === undefined ? undefined : found(await store.findProvider(db, id))
      const secret = client_secret ?? (kept !== undefined && sameIssuer(kept.issuer, issuer) ? (clients.secretOf(kept) ?? undefined) : undefined)
      const problem = (what: Problem, error?: unknown): ResponseOf<Calls['test']> => ({
        problem: what,
        detail: error instanceof Error ? error.message.slice(0, 300) : null,
        ends_session: false,
      })
      let client: oidc.Configuration
      try {
        client = await discover({ issuer, client_id, client_secret: secret === undefined || secret === '' ? null : secret }, clients.development)
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

async function hasKeys(client: oidc.Configuration): Promise<boolean> {
  const { jwks_uri } = client.serverMetadata()
  if (jwks_uri === undefined) return false
  const answer = await client[oidc.customFetch]?.(jwks_uri, { method: 'GET', headers: { accept: 'application/json' }, body: null, redirect: 'manual' })
  if (answer?.ok !== true) return false
  const set: unknown = await answer.json()
  return typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys) && set.keys.length > 0
}
