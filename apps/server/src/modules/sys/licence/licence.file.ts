import { createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'

/**
 * A licence file: what was granted, as compact JSON, and its Ed25519 signature (RFC 8032), both
 * base64, between two lines that people recognise. Shared by the server and `scripts/licence`.
 */
export const licencePayload = z
  .object({
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
  .refine((licence) => licence.start_timestamp < licence.end_timestamp, { path: ['end_timestamp'], message: 'has to be after start_timestamp' })
export type LicencePayload = z.output<typeof licencePayload>

const begin = '-----BEGIN ZHISUAN LICENCE-----'
const end = '-----END ZHISUAN LICENCE-----'

/** @throws ZodError where the payload is none */
export function issueLicence(payload: LicencePayload, privateKeyPem: string): string {
  const body = Buffer.from(JSON.stringify(licencePayload.parse(payload)))
  const signature = sign(null, body, privateKeyPem)
  const text = `${body.toString('base64')}.${signature.toString('base64')}`
  return `${begin}\n${(text.match(/.{1,76}/g) ?? []).join('\n')}\n${end}\n`
}

/** Signed by whom, nobody has asked yet. */
interface Opened {
  body: Buffer
  signature: Buffer
}

function open(text: string): Opened | null {
  const inner = text.trim()
  if (!inner.startsWith(begin) || !inner.endsWith(end)) return null
  const parts = inner.slice(begin.length, -end.length).replace(/\s/g, '').split('.')
  const [body, signature] = parts
  if (parts.length !== 2 || body === undefined || signature === undefined) return null
  const [opened, seal] = [decode(body), decode(signature)]
  return opened === null || seal === null ? null : { body: opened, signature: seal }
}

/** Base64 in its one form only: Node's decoder skips what it does not know, and bits that mean nothing. */
function decode(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

function parse(body: Buffer): LicencePayload | null {
  try {
    return licencePayload.parse(JSON.parse(body.toString('utf8')))
  } catch {
    return null
  }
}

export type LicenceReading = { ok: true; payload: LicencePayload } | { ok: false; reason: 'malformed' | 'signature' }

/** What a file grants, if it was signed with that key. */
export function readLicence(text: string, publicKey: KeyObject): LicenceReading {
  const opened = open(text)
  if (opened === null) return { ok: false, reason: 'malformed' }
  if (!verify(null, opened.body, publicKey, opened.signature)) return { ok: false, reason: 'signature' }
  const payload = parse(opened.body)
  return payload === null ? { ok: false, reason: 'malformed' } : { ok: true, payload }
}

/** What a file says, whoever signed it: to look at, not to believe. */
export function showLicence(text: string): LicencePayload | null {
  const opened = open(text)
  return opened === null ? null : parse(opened.body)
}

/** @throws Error where the text is not the public key of an Ed25519 pair */
export function readPublicKey(pem: string): KeyObject {
  const key = createPublicKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`an Ed25519 key is wanted, this is ${key.asymmetricKeyType ?? 'none'}`)
  return key
}

/** A pair to sign and to check licences with: PKCS #8 and SPKI, both PEM. */
export const makeKeyPair = (): { publicKey: string; privateKey: string } =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
