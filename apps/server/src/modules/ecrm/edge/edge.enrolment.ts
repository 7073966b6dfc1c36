import { createHash, createPublicKey, randomBytes } from 'node:crypto'
import type { Enrolment } from '@zhisuan/contract/ecrm/edge'
import { iso } from '../../../platform/db/database.ts'

const validMs = 24 * 60 * 60_000

/** What is kept of a token. It is random itself: a plain hash cannot be guessed back. */
export const tokenHash = (token: string): string => createHash('sha256').update(token).digest('hex')

/** A token, good once and for a day; who registers the node is told it now, and nobody ever again. */
export function newToken(now: Date): { token: string; columns: { token_hash: string; token_expires_at: Date } } {
  // Hex: one that began with a hyphen would be taken for an option by the command.
  const token = randomBytes(24).toString('hex')
  return { token, columns: { token_hash: tokenHash(token), token_expires_at: new Date(now.getTime() + validMs) } }
}

/** @param server the address that the node reaches the platform at */
export function enrolmentOf(parts: { token: string; expires: Date; server: string; publicKey: string }): Enrolment {
  const { token, server, publicKey } = parts
  return {
    token,
    // `echo` is the shell's own: no process is called with the token.
    command: `{ echo "ZHISUAN_TOKEN='${token}'"; curl -fsSL '${server}/agent/install.sh'; } | sudo sh -s -- --server '${server}' --key '${publicKey}'`,
    url: `zhisuan://enrol?${new URLSearchParams({ server, token, key: publicKey })}`,
    expires_at: iso(parts.expires),
  }
}

/** Whether a text is a public key of Ed25519: SPKI DER in base64url. */
export function isEd25519(text: string): boolean {
  try {
    return createPublicKey({ key: Buffer.from(text, 'base64url'), format: 'der', type: 'spki' }).asymmetricKeyType === 'ed25519'
  } catch {
    return false
  }
}

/** What somebody compares with what the node itself prints, before they let it in. */
export const fingerprintOf = (publicKey: string): string =>
  `SHA256:${createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('base64').replace(/=+$/, '')}`
