import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()

/** What an answer says other than it should. */
export interface Lie {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  /** The person was there, but the device did not ask who it is. */
  readonly unverified?: boolean
  readonly crossOrigin?: boolean
  readonly userHandle?: string
  /** Signs instead of its own. */
  readonly key?: KeyObject
  readonly counter?: number
}

interface Asked {
  readonly challenge: string
}

/** A device with one passkey, as WebAuthn describes it: ES256, and whatever lies a test has it tell. */
export function createAuthenticator(origin: string, options: { counts?: boolean; id?: Buffer } = {}) {
  const id = options.id ?? randomBytes(32)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  let counter = 0
  let userHandle = url(randomBytes(16))

  const clientData = (type: string, { challenge }: Asked, lie: Lie): Buffer =>
    Buffer.from(
      JSON.stringify({ type: lie.type ?? type, challenge: lie.challenge ?? challenge, origin: lie.origin ?? origin, crossOrigin: lie.crossOrigin ?? false }),
    )
  const head = (rpId: string, flags: number, lie: Lie): Buffer => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(lie.counter ?? counter)
    return Buffer.concat([sha256(lie.rpId ?? rpId), Buffer.from([lie.unverified === true ? flags & ~0x04 : flags]), count])
  }
  const credential = <T>(response: T) => ({ id: url(id), rawId: url(id), type: 'public-key' as const, response })

  return {
    id: url(id),
    privateKey,
    /** Answers what `ums.passkey.begin` asked. @param statement of an attestation; absent: none */
    make(asked: Asked & { rp: { id: string }; user: { id: string } }, lie: Lie = {}, statement?: { fmt: string; attStmt: Map<string, unknown> }) {
      userHandle = asked.user.id
      const key = isoCBOR.encode(
        new Map<number, number | Uint8Array>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, new Uint8Array(Buffer.from(jwk.x ?? '', 'base64url'))],
          [-3, new Uint8Array(Buffer.from(jwk.y ?? '', 'base64url'))],
        ]),
      )
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const authData = Buffer.concat([head(asked.rp.id, 0x45, lie), Buffer.alloc(16), length, id, key])
      const attestationObject = isoCBOR.encode(
        // The library's type of CBOR knows no unknown values; a test says any.
        new Map<string, never>([
          ['fmt', (statement?.fmt ?? 'none') as never],
          ['attStmt', (statement?.attStmt ?? new Map()) as never],
          ['authData', new Uint8Array(authData) as never],
        ]),
      )
      return credential({ clientDataJSON: url(clientData('webauthn.create', asked, lie)), attestationObject: url(attestationObject) })
    },
    /** Answers what `ums.passkey.challenge` asked. */
    use(asked: Asked & { rpId: string }, lie: Lie = {}) {
      if (options.counts === true) counter++
      const data = clientData('webauthn.get', asked, lie)
      const authData = head(asked.rpId, 0x05, lie)
      const signature = createSign('sha256')
        .update(Buffer.concat([authData, sha256(data)]))
        .sign(lie.key ?? privateKey)
      return credential({ clientDataJSON: url(data), authenticatorData: url(authData), signature: url(signature), userHandle: lie.userHandle ?? userHandle })
    },
  }
}
