import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicKeyText } from '@zhisuan/contract/agent/tunnel'
import { z } from 'zod'

/** What an agent keeps of itself, in its data directory, readable by nobody else. */
const kept = z.object({
  /** PKCS 8, PEM. Made on this machine; never leaves it. */
  private_key: z.string(),
  /** Who it is, and where; null until then. */
  enrolled: z.object({ edge_id: z.uuid(), server: z.object({ url: z.url(), public_key: publicKeyText, via: z.string().nullable().default(null) }) }).nullable(),
})
export type Kept = z.output<typeof kept>

const fileName = 'agent.json'

/** @returns null where there is none; @throws where it cannot be read */
export function readKept(directory: string): Kept | null {
  try {
    return kept.parse(JSON.parse(readFileSync(join(directory, fileName), 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Whole or not at all. */
export function keep(directory: string, what: Kept): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, fileName)
  writeFileSync(`${path}.new`, JSON.stringify(what, null, 2), { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}

export const newPrivateKey = (): string => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string

/** SPKI DER, base64url. */
export const publicKeyOf = (privateKey: string): string =>
  createPublicKey(createPrivateKey(privateKey)).export({ format: 'der', type: 'spki' }).toString('base64url')

/** What the console shows of this agent's key: whoever lets it in compares the two. */
export const fingerprintOf = (privateKey: string): string =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(publicKeyOf(privateKey), 'base64url'))
    .digest('base64')
    .replace(/=+$/, '')}`

export const signText = (privateKey: string, text: string): string => sign(null, Buffer.from(text), createPrivateKey(privateKey)).toString('base64url')

export function verifyText(publicKey: string, text: string, signature: string): boolean {
  const key: KeyObject = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))
}
