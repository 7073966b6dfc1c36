import { isIP } from 'node:net'
import type { Config } from '../../../platform/config.ts'

/** Whom passkeys are made for. */
export interface RelyingParty {
  /** The host of the public address, without its port. */
  readonly id: string
  readonly origin: string
}

/**
 * Of the configured public address, never of what a request says. Null where browsers give no
 * passkeys: without such an address, for a bare IP address, and over plain HTTP but for this machine.
 */
export function relyingPartyOf({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): RelyingParty | null {
  if (PUBLIC_URL === undefined) return null
  const { hostname, origin, protocol } = new URL(PUBLIC_URL)
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return null
  const local = hostname === 'localhost' || hostname.endsWith('.localhost')
  return protocol === 'https:' || local ? { id: hostname, origin } : null
}
