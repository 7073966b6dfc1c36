import { LRUCache } from 'lru-cache'
import * as oidc from 'openid-client'
import type { Config } from '../../../platform/config.ts'
import { createOutboundGuard, type OutboundGuard } from '../../../platform/outbound/guard.ts'
import type { Secrets } from '../../../platform/secrets.ts'
import { AddressForbidden, createProviderFetch, isProviderAddress, ProviderUnreachable } from '../../../platform/outbound/provider.ts'
import type { ProviderRow } from './provider.store.ts'

/** How long what a provider says of itself is believed; its keys are asked for anew whenever one is unknown. */
const discoveredMs = 10 * 60_000
const timeoutSeconds = 10

export const placeOfSecret = (id: string): string => `ums.identity-provider:${id}`

/** What is needed to speak to a provider. */
export interface ProviderAddress {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret: string | null
}

/** Whatever went wrong below the library, found again in what it throws. */
export function causeOf(error: unknown): unknown {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof AddressForbidden || at instanceof ProviderUnreachable) return at
  }
  return error
}

/**
 * Reads what the provider says of itself, and makes a client of it.
 * @param guard of one that an organisation set up
 * @throws AddressForbidden, ProviderUnreachable, and what the library says of a wrong document
 */
export async function discover(
  { issuer, client_id, client_secret }: ProviderAddress,
  development: boolean,
  guard?: OutboundGuard,
): Promise<oidc.Configuration> {
  const server = new URL(issuer)
  if (!isProviderAddress(server, development)) throw new AddressForbidden(issuer)
  const fetch = createProviderFetch(server, development, guard)
  const insecure = server.protocol === 'http:' ? [oidc.allowInsecureRequests] : []
  try {
    const found = await oidc.discovery(server, client_id, undefined, oidc.None(), { execute: insecure, timeout: timeoutSeconds, [oidc.customFetch]: fetch })
    const metadata = found.serverMetadata()
    const posts = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_basic') === false
    const authentication = client_secret === null ? oidc.None() : posts ? oidc.ClientSecretPost(client_secret) : oidc.ClientSecretBasic(client_secret)
    const client = new oidc.Configuration(metadata, client_id, {}, authentication)
    client[oidc.customFetch] = fetch
    client.timeout = timeoutSeconds
    for (const allow of insecure) allow(client)
    // Without this the library trusts the connection that a token came over, and reads no signature.
    oidc.enableNonRepudiationChecks(client)
    return client
  } catch (error) {
    throw causeOf(error)
  }
}

export type OidcClients = ReturnType<typeof createOidcClients>

/** Clients of providers, remembered for a while: of each version of their settings one. */
export function createOidcClients({ config, secrets }: { config: Pick<Config, 'ZHISUAN_ENV' | 'SSO_ALLOW' | 'PUBLIC_URL'>; secrets: Secrets }) {
  const development = config.ZHISUAN_ENV !== 'production'
  const guard = createOutboundGuard({ allow: config.SSO_ALLOW, publicUrl: config.PUBLIC_URL })
  const remembered = new LRUCache<string, Promise<oidc.Configuration>>({ max: 100, ttl: discoveredMs })
  const secretOf = (row: Pick<ProviderRow, 'id' | 'client_secret'>): string | null =>
    row.client_secret === null ? null : secrets.open(row.client_secret, placeOfSecret(row.id))
  return {
    development,
    /** Where those of organisations may be. */
    guard,
    secretOf,
    of(row: ProviderRow): Promise<oidc.Configuration> {
      const key = `${row.id} ${row.updated_at.getTime()}`
      const known = remembered.get(key)
      if (known !== undefined) return known
      const found = discover(
        { issuer: row.issuer, client_id: row.client_id, client_secret: secretOf(row) },
        development,
        row.by_organisation ? guard : undefined,
      )
      remembered.set(key, found)
      // What failed is tried again at once.
      found.catch(() => remembered.delete(key))
      return found
    },
  }
}
