import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { z } from 'zod'

/**
 * A licence file: what was granted, as canonical JSON, and its Ed25519 signature (RFC 8032), both
 * base64, between two lines that people recognise. Shared by the server and `scripts/licence`.
 */
export const licencePayload = z.object({
  id: z.string().min(1).max(64),
  customer: z.string().min(1).max(128),
  /** What the licence is for; null fits every installation. */
  installation_id: z.uuid().nullable(),
  /** Unix milliseconds. */
  start_timestamp: z.int().positive(),
  end_timestamp: z.int().positive(),
  /** Greatest numbers over all clouds; null is without limit. */
  nodes: z.int().positive().nullable(),
  cores: z.int().positive().nullable(),
})
export type LicencePayload = z.output<typeof licencePayload>

const begin = '-----BEGIN ZHISUAN LICENCE-----'
const end = '-----END ZHISUAN LICENCE-----'

export function issueLicence(payload: LicencePayload, privateKeyPem: string): string {
  const body = Buffer.from(JSON.stringify(licencePayload.parse(payload)))
  const signature = sign(null, body, privateKeyPem)
  const text = `${body.toString('base64')}.${signature.toString('base64')}`
  return `${begin}\n${(text.match(/.{1,76}/g) ?? []).join('\n')}\n${end}\n`
}

export type LicenceReading = { ok: true; payload: LicencePayload } | { ok: false; reason: 'malformed' | 'signature' }

export function readLicence(text: string, publicKeyPem: string): LicenceReading {
  const inner = text.trim()
  if (!inner.startsWith(begin) || !inner.endsWith(end)) return { ok: false, reason: 'malformed' }
  const [body, signature, rest] = inner.slice(begin.length, -end.length).replace(/\s/g, '').split('.')
  if (body === undefined || signature === undefined || rest !== undefined) return { ok: false, reason: 'malformed' }
  const bytes = Buffer.from(body, 'base64')
  if (!verify(null, bytes, createPublicKey(publicKeyPem), Buffer.from(signature, 'base64'))) return { ok: false, reason: 'signature' }
  try {
    return { ok: true, payload: licencePayload.parse(JSON.parse(bytes.toString('utf8'))) }
  } catch {
    return { ok: false, reason: 'malformed' }
  }
}

export function makeKeyPair(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}
