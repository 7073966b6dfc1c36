import { sql } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface InstallationTable {
  id: string
  installed_at: Date
}
interface LicenceTable {
  id: string
  /** The file as it was imported; read and checked anew each time. */
  file: string
  imported_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    installation: InstallationTable
    licences: LicenceTable
  }
}
export const licenceMigrations: Migrations = {
  '20261123_00_04_licences': migration(`
    create table installation (id uuid primary key, installed_at timestamptz not null);
    create unique index installation_one on installation ((true));
    create table licences (id uuid primary key, file text not null, imported_at timestamptz not null default now());
  `),
}

export const getInstallation = (on: Sql): Promise<InstallationTable> => on.selectFrom('installation').selectAll().executeTakeFirstOrThrow()

/** At the first start; of servers that start at once, one does. */
export const insertInstallation = async (on: Sql, row: InstallationTable): Promise<void> => {
  await on
    .insertInto('installation')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The newest first. */
export const importedLicences = (on: Sql): Promise<{ id: string; file: string }[]> =>
  on.selectFrom('licences').select(['id', 'file']).orderBy('imported_at', 'desc').orderBy('id', 'desc').execute()

export const insertLicence = insertsInto('licences')

/** Holds others who would use more of the licence until the transaction ends. */
export const lockLicence = async (tx: Tx): Promise<void> => {
  await sql`select pg_advisory_xact_lock(7140802)`.execute(tx)
}
