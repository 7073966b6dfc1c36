import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Licence } from '@zhisuan/contract/sys/sys'
import { sql, type Generated } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Platform } from '../../platform/platform.ts'
import { makeKeyPair, readLicence, type LicencePayload } from './licence-file.ts'

interface InstallationTable {
  id: string
  installed_at: Date
}
interface LicenceTable {
  id: string
  /** The file as it was imported; read and checked anew each time. */
  file: string
  imported_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    installation: InstallationTable
    licences: LicenceTable
  }
}
export const licenceMigrations: Migrations = {
  '20261121_11_licences': migration(`
    create table installation (id uuid primary key, installed_at timestamptz not null);
    create unique index installation_one on installation ((true));
    create table licences (id uuid primary key, file text not null, imported_at timestamptz not null default now());
  `),
}

/** What every installation may do for its first ninety days. */
const evaluation = { days: 90, nodes: 10, cores: 1024 }
const dayMs = 24 * 60 * 60_000

export type LicenceService = ReturnType<typeof createLicence>

export function createLicence(platform: Platform) {
  const { db, config } = platform
  let usage: (on: Sql) => Promise<{ nodes: number; cores: number }> = async () => ({ nodes: 0, cores: 0 })
  let publicKey: string | null = null

  /**
   * The key that licences are checked with: the configured one, else a pair made at the first
   * start, with which this installation's owner can issue licences himself (scripts/licence).
   */
  const key = (): string => {
    if (publicKey !== null) return publicKey
    if (config.LICENCE_PUBLIC_KEY_FILE !== undefined) {
      publicKey = readFileSync(config.LICENCE_PUBLIC_KEY_FILE, 'utf8')
      return publicKey
    }
    const folder = join(config.DATA_DIR, 'licence')
    const path = join(folder, 'public.pem')
    if (!existsSync(path)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const pair = makeKeyPair()
      writeFileSync(join(folder, 'private.pem'), pair.privateKey, { mode: 0o600 })
      writeFileSync(path, pair.publicKey)
    }
    publicKey = readFileSync(path, 'utf8')
    return publicKey
  }

  const installation = async (on: Sql): Promise<InstallationTable> => {
    const row = await on.selectFrom('installation').selectAll().executeTakeFirst()
    if (row !== undefined) return row
    await on
      .insertInto('installation')
      .values({ id: uuidv7(), installed_at: platform.now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return on.selectFrom('installation').selectAll().executeTakeFirstOrThrow()
  }

  const inForce = async (on: Sql): Promise<LicencePayload & { kind: Licence['kind'] }> => {
    const { id, installed_at } = await installation(on)
    const last = await on.selectFrom('licences').select('file').orderBy('imported_at', 'desc').limit(1).executeTakeFirst()
    if (last !== undefined) {
      const reading = readLicence(last.file, key())
      if (reading.ok) return { ...reading.payload, kind: 'licensed' }
      platform.log.error({ reason: reading.reason }, 'the stored licence does not fit the configured key')
    }
    const start = installed_at.getTime()
    return {
      kind: 'evaluation',
      id: 'evaluation',
      customer: '',
      installation_id: id,
      start_timestamp: start,
      end_timestamp: start + evaluation.days * dayMs,
      nodes: evaluation.nodes,
      cores: evaluation.cores,
    }
  }

  const get = async (): Promise<Licence> => {
    const [licence, used, { id }] = await Promise.all([inForce(db), usage(db), installation(db)])
    return {
      kind: licence.kind,
      id: licence.id,
      customer: licence.customer,
      start_timestamp: licence.start_timestamp,
      end_timestamp: licence.end_timestamp,
      nodes: licence.nodes,
      cores: licence.cores,
      nodes_used: used.nodes,
      cores_used: used.cores,
      installation_id: id,
    }
  }
  const assertValid = async (): Promise<void> => {
    if ((await inForce(db)).end_timestamp < platform.now().getTime()) throw new Refusal('licenceExpired')
  }

  return {
    get,
    assertValid,
    async publicKey(): Promise<{ pubkey: string; installation_id: string }> {
      return { pubkey: key(), installation_id: (await installation(db)).id }
    },
    async import(file: string): Promise<Licence> {
      const reading = readLicence(file, key())
      if (!reading.ok) throw new Refusal(reading.reason === 'malformed' ? 'licenceMalformed' : 'licenceSignatureInvalid', { field: 'licence' })
      const { payload } = reading
      const { id } = await installation(db)
      if (payload.installation_id !== null && payload.installation_id !== id) throw new Refusal('licenceForOther', { field: 'licence' })
      if (payload.end_timestamp < platform.now().getTime()) throw new Refusal('licenceAlreadyExpired', { field: 'licence' })
      await db.insertInto('licences').values({ id: uuidv7(), file }).execute()
      return get()
    },
    /** Refuses what would go beyond the licence; held until the transaction ends, so that two at once cannot both pass. */
    async assertFits(tx: Tx, added: { nodes: number; cores: number }): Promise<void> {
      await sql`select pg_advisory_xact_lock(7140802)`.execute(tx)
      const [licence, used] = [await inForce(tx), await usage(tx)]
      if (licence.nodes !== null && used.nodes + added.nodes > licence.nodes) throw new Refusal('licenceNodesExceeded')
      if (licence.cores !== null && used.cores + added.cores > licence.cores) throw new Refusal('licenceCoresExceeded')
    },
    countsUsage(counts: typeof usage): void {
      usage = counts
    },
    async start(): Promise<void> {
      await installation(db)
    },
  }
}
