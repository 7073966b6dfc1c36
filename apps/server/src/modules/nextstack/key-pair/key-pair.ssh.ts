import { createHash, ECDH, generateKeyPair, randomBytes, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** A public key as SSH writes it on the wire (RFC 4253 section 6.6), looked through. */
export interface PublicKey {
  algorithm: string
  blob: Buffer
  comment: string
}

export const generatedAlgorithms = ['ssh-ed25519', 'ssh-rsa'] as const
type GeneratedAlgorithm = (typeof generatedAlgorithms)[number]

/** Weaker ones are refused by today's servers, or by tomorrow's. */
const rsaLeastBits = 2048
/** More than any program makes, and as much as OpenSSH takes. */
const rsaMostBits = 16_384
const rsaGeneratedBits = 3072

/** Reads what RFC 4251 section 5 writes: each text with its length in front. */
class Wire {
  #rest: Buffer
  constructor(bytes: Buffer) {
    this.#rest = bytes
  }
  string(): Buffer {
    if (this.#rest.length < 4) throw new Error('cut off')
    const length = this.#rest.readUInt32BE(0)
    if (this.#rest.length < 4 + length) throw new Error('cut off')
    const value = this.#rest.subarray(4, 4 + length)
    this.#rest = this.#rest.subarray(4 + length)
    return value
  }
  /** A positive number in its one right form, without needless zeros. */
  number(): Buffer {
    const value = this.string()
    const [first = 0, second = 0] = value
    if (value.length === 0 || first >= 0x80 || (first === 0 && second < 0x80)) throw new Error('no positive number')
    return first === 0 ? value.subarray(1) : value
  }
  end(): void {
    if (this.#rest.length > 0) throw new Error('more than a key')
  }
}

const bitsOf = (number: Buffer): number => number.length * 8 - Math.clz32(number[0] ?? 0) + 24

const curves: Readonly<Record<string, string>> = { nistp256: 'prime256v1', nistp384: 'secp384r1', nistp521: 'secp521r1' }
/** A point that lies on its curve, uncompressed. */
function readPoint(wire: Wire, curve: string): void {
  if (wire.string().toString('latin1') !== curve) throw new Error('another curve')
  const point = wire.string()
  if (point[0] !== 4) throw new Error('compressed')
  ECDH.convertKey(point, curves[curve] ?? '')
}

/** What follows the algorithm's name. @throws where it is not that */
const readers: Readonly<Record<string, (wire: Wire) => void>> = {
  'ssh-ed25519': (wire) => {
    if (wire.string().length !== 32) throw new Error('length')
  },
  'ssh-rsa': (wire) => {
    const [exponent, modulus] = [wire.number(), wire.number()]
    const bits = bitsOf(modulus)
    if (bits < rsaLeastBits || bits > rsaMostBits) throw new Error('length')
    const odd = (number: Buffer): boolean => (number.at(-1) ?? 0) % 2 === 1
    if (!odd(modulus) || !odd(exponent) || bitsOf(exponent) < 2 || bitsOf(exponent) > bits) throw new Error('no RSA key')
  },
  ...Object.fromEntries(Object.keys(curves).map((curve) => [`ecdsa-sha2-${curve}`, (wire: Wire) => readPoint(wire, curve)])),
  'sk-ssh-ed25519@openssh.com': (wire) => {
    if (wire.string().length !== 32) throw new Error('length')
    if (wire.string().length === 0) throw new Error('no application')
  },
  'sk-ecdsa-sha2-nistp256@openssh.com': (wire) => {
    readPoint(wire, 'nistp256')
    if (wire.string().length === 0) throw new Error('no application')
  },
}

/** Reads a line of OpenSSH's authorized_keys without options. Null where it is no key, says another algorithm outside than inside, or is too weak. */
export function parsePublicKey(line: string): PublicKey | null {
  const [, algorithm = '', base64 = '', comment = ''] = /^(\S+) +([A-Za-z0-9+/]+={0,3})(?: +(.*))?$/.exec(line.trim()) ?? []
  const read = readers[algorithm]
  if (read === undefined) return null
  const blob = Buffer.from(base64, 'base64')
  try {
    const wire = new Wire(blob)
    if (wire.string().toString('latin1') !== algorithm) return null
    read(wire)
    wire.end()
    return { algorithm, blob, comment: comment.trim() }
  } catch {
    return null
  }
}

export const publicLine = ({ algorithm, blob, comment }: PublicKey): string => `${algorithm} ${blob.toString('base64')}${comment === '' ? '' : ` ${comment}`}`

/** As `ssh-keygen -l` shows them. */
export const fingerprintsOf = (blob: Buffer): { sha256: string; md5: string } => ({
  sha256: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
  md5: createHash('md5')
    .update(blob)
    .digest('hex')
    .replace(/(..)(?!$)/g, '$1:'),
})

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const string = (value: Buffer | string): Buffer => {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([uint32(bytes.length), bytes])
}
/** A positive number, of a JWK's base64url. */
const mpint = (part: string | undefined): Buffer => {
  let bytes = Buffer.from(part ?? '', 'base64url')
  while (bytes[0] === 0) bytes = bytes.subarray(1)
  return string((bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}
const raw = (part: string | undefined): Buffer => Buffer.from(part ?? '', 'base64url')

/** The parts of a key, as its public blob has them and as openssh-key-v1 has them. */
function partsOf(algorithm: GeneratedAlgorithm, key: KeyObject): { open: Buffer; secret: Buffer } {
  const jwk = key.export({ format: 'jwk' })
  if (algorithm === 'ssh-ed25519') {
    const open = raw(jwk.x)
    return { open: string(open), secret: Buffer.concat([string(open), string(Buffer.concat([raw(jwk.d), open]))]) }
  }
  return {
    open: Buffer.concat([mpint(jwk.e), mpint(jwk.n)]),
    secret: Buffer.concat([jwk.n, jwk.e, jwk.d, jwk.qi, jwk.p, jwk.q].map(mpint)),
  }
}

/**
 * A private key in OpenSSH's own format (PROTOCOL.key of OpenSSH), without a passphrase, with its
 * public half. Node writes PKCS#8 and SEC1 only, and OpenSSH reads Ed25519 in no format but this.
 */
export function encodeKey(algorithm: GeneratedAlgorithm, key: KeyObject, comment: string): { open: PublicKey; secret: string } {
  const parts = partsOf(algorithm, key)
  const blob = Buffer.concat([string(algorithm), parts.open])
  // Twice the same number: a wrong passphrase, were there one, would show.
  const check = randomBytes(4)
  const plain = Buffer.concat([check, check, string(algorithm), parts.secret, string(comment)])
  const padding = Buffer.from(Array.from({ length: (8 - (plain.length % 8)) % 8 }, (_, index) => index + 1))
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    string('none'),
    string('none'),
    string(''),
    uint32(1),
    string(blob),
    string(Buffer.concat([plain, padding])),
  ])
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? []
  return {
    open: { algorithm, blob, comment },
    secret: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
  }
}

const generate = promisify(generateKeyPair)

export async function generateKey(algorithm: GeneratedAlgorithm, comment: string): Promise<{ open: PublicKey; secret: string }> {
  // Its types know each kind by a signature of its own.
  const { privateKey } = algorithm === 'ssh-ed25519' ? await generate('ed25519') : await generate('rsa', { modulusLength: rsaGeneratedBits })
  return encodeKey(algorithm, privateKey, comment)
}
