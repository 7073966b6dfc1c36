import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { accessKeyLimits } from '@zhisuan/contract/ums/access-key'
import { signatureTexts } from '@zhisuan/contract/texts'
import { fillText } from '@zhisuan/contract/errors'
import { isInnerList, parseDictionary, serializeInnerList, serializeItem, type Dictionary, type InnerList, type Parameters } from 'structured-headers'
import { Refusal } from '../errors.ts'

/** HTTP Message Signatures (RFC 9421) of requests, by a shared secret; digests of their bodies (RFC 9530). */

/** A request as signatures speak of it. */
export interface SignedMessage {
  readonly method: string
  /** `http` or `https`, as the client sees it. */
  readonly scheme: string
  /** Host, with the port where it is not the scheme's own. */
  readonly authority: string
  /** Path and query, as they were sent. */
  readonly target: string
  /** Names and values by turns, as they were sent. */
  readonly rawHeaders: readonly string[]
}

export interface RequestSignature {
  readonly keyId: string
  /** Seconds since 1970, of the client's clock. */
  readonly created: number
  readonly expires: number | null
  readonly nonce: string
  /** What was signed. */
  readonly base: string
  readonly signature: Uint8Array
  /** The covered `Content-Digest`; null where the request has none. */
  readonly digest: string | null
}

const invalid = (reason: keyof typeof signatureTexts, values?: Record<string, string>): Refusal =>
  new Refusal('signatureInvalid', { values: { reason: fillText(signatureTexts[reason], values) } })

/** All values of a field, as RFC 9421 section 2.1 joins them; null where it is not there. */
function fieldOf({ rawHeaders }: SignedMessage, name: string): string | null {
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
  return values.length === 0 ? null : values.map((value) => value.trim()).join(', ')
}

/** Section 2.2. */
function derived({ method, scheme, authority, target }: SignedMessage, name: string): string | null {
  const host = authority.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '')
  const [path = '', query] = target.split(/\?(.*)/s)
  switch (name) {
    case '@method':
      return method
    case '@target-uri':
      return `${scheme}://${host}${target}`
    case '@authority':
      return host
    case '@scheme':
      return scheme
    case '@request-target':
      return target
    case '@path':
      return path
    case '@query':
      return `?${query ?? ''}`
    default:
      return null
  }
}

/**
 * What is signed: a line for each covered component, and one of the signature's parameters. No
 * component may have parameters of its own: those that there are sign less than the whole field.
 * @throws Refusal 91207
 */
export function signatureBase(message: SignedMessage, input: InnerList): string {
  const seen = new Set<string>()
  const lines = input[0].map((item) => {
    const [name, parameters] = item
    const written = serializeItem(item)
    if (typeof name !== 'string' || name !== name.toLowerCase() || parameters.size > 0) throw invalid('component', { name: written })
    if (seen.has(name)) throw invalid('componentTwice', { name })
    seen.add(name)
    const value = name.startsWith('@') ? derived(message, name) : fieldOf(message, name)
    if (value === null) throw name.startsWith('@') ? invalid('component', { name }) : invalid('fieldMissing', { name })
    return `${written}: ${value}`
  })
  return [...lines, `"@signature-params": ${serializeInnerList(input)}`].join('\n')
}

function parsed(text: string): Dictionary {
  try {
    return parseDictionary(text)
  } catch {
    throw invalid('malformed')
  }
}

const known = new Set(['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'])

function readParameters(parameters: Parameters): Pick<RequestSignature, 'keyId' | 'created' | 'expires' | 'nonce'> {
  const unknown = [...parameters.keys()].find((name) => !known.has(name))
  if (unknown !== undefined) throw invalid('parameterUnknown', { name: unknown })
  const wrong = (name: string): Refusal => invalid('parameter', { name })
  const [created, expires, nonce, keyId, alg] = ['created', 'expires', 'nonce', 'keyid', 'alg'].map((name) => parameters.get(name))
  if (typeof created !== 'number' || !Number.isInteger(created)) throw wrong('created')
  if (expires !== undefined && (typeof expires !== 'number' || !Number.isInteger(expires))) throw wrong('expires')
  if (typeof nonce !== 'string' || nonce === '' || nonce.length > accessKeyLimits.nonce) throw wrong('nonce')
  if (typeof keyId !== 'string') throw wrong('keyid')
  if (alg !== undefined && alg !== 'hmac-sha256') throw wrong('alg')
  return { created, expires: expires ?? null, nonce, keyId }
}

/**
 * The one signature of a request, which has to cover whatever makes the request what it is: method,
 * target, and the digest of its body. Whether it is right is for who knows the key: {@link isSignedBy}.
 * @throws Refusal 91207
 */
export function readSignature(message: SignedMessage): RequestSignature {
  // What is sent to a proxy names another place than the one that is routed.
  if (!message.target.startsWith('/')) throw invalid('target')
  const [inputs, signatures] = [fieldOf(message, 'signature-input'), fieldOf(message, 'signature')]
  if (inputs === null || signatures === null) throw invalid('incomplete')
  const [input, signature] = [parsed(inputs), parsed(signatures)]
  const [label, ...more] = input.keys()
  if (label === undefined || more.length > 0 || signature.size !== 1) throw invalid('one')
  const [covering, bytes] = [input.get(label), signature.get(label)]
  if (covering === undefined || bytes === undefined || !isInnerList(covering) || !(bytes[0] instanceof ArrayBuffer)) throw invalid('malformed')

  const names = new Set(covering[0].map(([name]) => name))
  if (!names.has('@method')) throw invalid('uncovered', { name: '@method' })
  if (!names.has('@target-uri') && !(names.has('@path') && names.has('@query'))) throw invalid('uncoveredTarget')
  const digest = fieldOf(message, 'content-digest')
  if (digest !== null && !names.has('content-digest')) throw invalid('uncovered', { name: 'content-digest' })
  return { ...readParameters(covering[1]), base: signatureBase(message, covering), signature: new Uint8Array(bytes[0]), digest }
}

/** The refusal of a wrong signature, which tells nothing of whether the key is there. */
export const signatureMismatch = (): Refusal => invalid('mismatch')
export const signatureBesideToken = (): Refusal => invalid('two')
export const signatureUnsupported = (): Refusal => invalid('unsupported')

/** In a time that tells nothing of how much of it is right. */
export function isSignedBy({ base, signature }: Pick<RequestSignature, 'base' | 'signature'>, secret: string | Uint8Array): boolean {
  // As its bytes were sent.
  const right = createHmac('sha256', secret).update(base, 'latin1').digest()
  return signature.length === right.length && timingSafeEqual(signature, right)
}

const digests = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * Whether a body is the one that was signed.
 * @param digest `Content-Digest`: of those that it tells one has to be known, and all that are known right
 * @throws Refusal 91207, 91210
 */
export function checkDigest(digest: string | null, body: Uint8Array): void {
  if (digest === null) {
    if (body.length > 0) throw invalid('digestMissing')
    return
  }
  const told = parsed(digest)
  const checked = Object.entries(digests).flatMap(([name, algorithm]) => {
    const item = told.get(name)
    return item === undefined ? [] : [item[0] instanceof ArrayBuffer && hash(algorithm, body, 'buffer').equals(new Uint8Array(item[0]))]
  })
  if (checked.length === 0 || checked.includes(false)) throw new Refusal('contentDigestMismatch')
}
