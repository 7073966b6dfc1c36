import { constants, createHmac, createPrivateKey, createPublicKey, randomBytes, sign, timingSafeEqual, verify, type KeyObject } from 'node:crypto'
import type { SignType } from '@zhisuan/contract/bill/topup'

/** What a message of a gateway, or of another outside that is agreed with, says; all of it is text, and all of it but `sign` is signed. */
export type Message = Readonly<Record<string, string>>

export interface SigningKeys {
  readonly sign_type: SignType
  /** The common secret (HMAC), or our private key as PEM (RSA). */
  readonly key: string
  /** RSA only: PEM. */
  readonly gateway_public_key: string
}

const encoded = (text: string): string => encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** What is signed: everything but the signature, by name, percent-encoded, so that no two messages read the same. */
export const canonical = (message: Message): string =>
  Object.keys(message)
    .filter((name) => name !== 'sign')
    .toSorted()
    .map((name) => `${encoded(name)}=${encoded(message[name] ?? '')}`)
    .join('&')

const rsa = (key: KeyObject) => ({ key, padding: constants.RSA_PKCS1_PADDING })
const hmac = (secret: string, text: string): Buffer => createHmac('sha256', secret).update(text).digest()

/** With moment, nonce (of an answer that of its question) and signature. */
export function signed(
  message: Message,
  { sign_type, key }: SigningKeys,
  now: Date,
  nonce: string = randomBytes(16).toString('hex'),
): Message & { nonce: string } {
  const whole = { ...message, timestamp: now.toISOString(), nonce, sign_type }
  const text = canonical(whole)
  const signature = sign_type === 'HMAC-SHA256' ? hmac(key, text) : sign('sha256', Buffer.from(text), rsa(createPrivateKey(key)))
  return { ...whole, sign: signature.toString('base64') }
}

/** Whether the gateway signed it, in the way that was agreed on: what the message says of that is not asked. */
export function isSigned(message: Message, { sign_type, key, gateway_public_key }: SigningKeys): boolean {
  const given = Buffer.from(message['sign'] ?? '', 'base64')
  const text = canonical(message)
  if (message['sign_type'] !== sign_type) return false
  if (sign_type === 'RSA-SHA256') return verify('sha256', Buffer.from(text), rsa(createPublicKey(gateway_public_key)), given)
  const right = hmac(key, text)
  return given.length === right.length && timingSafeEqual(given, right)
}

/** Which of the keys cannot be used; null where none. */
export function wrongKey({ sign_type, key, gateway_public_key }: SigningKeys): 'key' | 'gateway_public_key' | null {
  if (sign_type === 'HMAC-SHA256') return null
  if (!isRsa(() => createPrivateKey(key))) return 'key'
  return isRsa(() => createPublicKey(gateway_public_key)) ? null : 'gateway_public_key'
}

function isRsa(read: () => KeyObject): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = read()
    const { modulusLength = 0 } = asymmetricKeyDetails ?? {}
    // A longer one would keep everybody waiting each time that something is signed.
    return asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 8192
  } catch {
    return false
  }
}
