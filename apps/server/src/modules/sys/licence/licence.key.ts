import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../../../platform/config.ts'
import { makeKeyPair, readPublicKey } from './licence.file.ts'

/**
 * The key that licences are checked with: the configured one, else that of a pair made at the
 * first start in `DATA_DIR/licence`, with which this installation's owner issues licences themselves
 * (`scripts/licence`). Servers that do not share a data directory have to be configured.
 * @throws Error that names the file, where it holds no such key
 */
export function readLicenceKey(config: Pick<Config, 'LICENCE_PUBLIC_KEY_FILE' | 'DATA_DIR'>): { pem: string; key: KeyObject } {
  const path = config.LICENCE_PUBLIC_KEY_FILE ?? madeKey(config.DATA_DIR)
  try {
    const pem = readFileSync(path, 'utf8')
    return { pem, key: readPublicKey(pem) }
  } catch (cause) {
    throw new Error(`${path} holds no licence key: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function madeKey(dataDirectory: string): string {
  const folder = join(dataDirectory, 'licence')
  mkdirSync(dataDirectory, { recursive: true })
  const unfinished = mkdtempSync(`${folder}.`)
  const { privateKey, publicKey } = makeKeyPair()
  writeFileSync(join(unfinished, 'private.pem'), privateKey, { mode: 0o600 })
  writeFileSync(join(unfinished, 'public.pem'), publicKey)
  try {
    // A folder is not renamed over another that holds something: so the first pair stays, whole.
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
  return join(folder, 'public.pem')
}
