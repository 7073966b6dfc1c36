import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'

/**
 * Encrypts what must not be readable in the database: AES-256-GCM, a fresh nonce each time, and
 * the place it belongs to (such as `clouds.connection:<id>`) bound as associated data, so that a
 * ciphertext copied to another row does not open there.
 */
export interface Secrets {
  seal(plain: string, place: string): string
  /** @throws where the text was altered, moved, or sealed with another key */
  open(sealed: string, place: string): string
}

/** What was altered, moved, or sealed with another key. */
export class UnreadableError extends Error {}

/** Of a row among many, whose content tells less than that it is there: what cannot be read keeps nobody from the others. */
export function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

const format = 'v1'

export function createSecrets(key: Buffer): Secrets {
  return {
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return [format, nonce.toString('base64'), cipher.getAuthTag().toString('base64'), body.toString('base64')].join('.')
    },
    open(sealed, place) {
      const [kind, nonce, tag, body] = sealed.split('.')
      if (kind !== format || nonce === undefined || tag === undefined || body === undefined) throw new UnreadableError('not a sealed text')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'), { authTagLength: 16 })
          .setAAD(Buffer.from(place))
          .setAuthTag(Buffer.from(tag, 'base64'))
        return Buffer.concat([decipher.update(Buffer.from(body, 'base64')), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new UnreadableError(`what lies in ${place.split(':')[0]} was not sealed there with this key`, { cause })
      }
    },
  }
}

/** The key from configuration, else the one in the data directory, made there at the first start (mode 0600). */
export function readSecretKey(config: Pick<Config, 'SECRET_KEY' | 'DATA_DIR'>): Buffer {
  if (config.SECRET_KEY !== undefined) return Buffer.from(config.SECRET_KEY, 'base64')
  mkdirSync(config.DATA_DIR, { recursive: true })
  const path = join(config.DATA_DIR, 'secret.key')
  try {
    // `wx`: of two that come at once, one makes the key and both read it.
    writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  if (key.length !== 32) throw new Error(`${path} does not hold a 32-byte key`)
  return key
}
