import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../platform/config.ts'
import { Failure } from './command.ts'

/** What a backup says about itself. */
export const manifest = z.object({
  product: z.literal('zhisuan'),
  format: z.literal(1),
  /** Of the program that made it. */
  version: z.string(),
  /** When it was begun; it holds everything until it was done. */
  created_at: z.iso.datetime(),
  database: z.discriminatedUnion('kind', [
    /** The files of the embedded PostgreSQL. */
    z.object({ kind: z.literal('embedded'), postgres: z.string(), from_lsn: z.string() }),
    /** pg_dump's custom format. */
    z.object({ kind: z.literal('dump'), postgres: z.string() }),
  ]),
  /** The key that secrets are sealed with: in the backup, or only in the environment; null before the first start. */
  secret_key: z.object({ source: z.enum(['file', 'environment']), fingerprint: z.string() }).nullable(),
})
export type Manifest = z.output<typeof manifest>

/** @throws Failure */
export function parseManifest(text: string, path: string): Manifest {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Failure(`${path} is no backup: its manifest is not JSON`, { cause: error })
  }
  const head = z.object({ product: z.literal('zhisuan'), format: z.int() }).safeParse(json)
  if (head.success && head.data.format !== 1) throw new Failure(`${path} has format ${head.data.format}, this program reads format 1`)
  const parsed = manifest.safeParse(json)
  if (!parsed.success)
    throw new Failure(`${path} is no backup: ${parsed.error.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`).join('; ')}`)
  return parsed.data
}

/** Which key this configuration has, without telling it. */
export function secretKeyOf(config: Pick<Config, 'SECRET_KEY' | 'DATA_DIR'>): Manifest['secret_key'] {
  const file = join(config.DATA_DIR, 'secret.key')
  const source = config.SECRET_KEY !== undefined ? 'environment' : 'file'
  const key = config.SECRET_KEY ?? (existsSync(file) ? readFileSync(file, 'utf8').trim() : null)
  if (key === null) return null
  return { source, fingerprint: createHash('sha256').update('zhisuan secret key').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 16) }
}
