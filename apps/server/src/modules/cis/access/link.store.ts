import type { Selectable } from 'kysely'
import { migration, type Migrations, type Sql } from '../../../platform/db/database.ts'

/** A link that nobody has come by yet. */
interface LinkTable {
  /** SHA-256 of its token, hex. */
  token_hash: string
  how: 'follow' | 'upload' | 'log' | 'file'
  container_id: string
  path: string
  user_id: string
  session_id: string
  expires_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    container_links: LinkTable
  }
}
export type Link = Selectable<LinkTable>

export const linkMigrations: Migrations = {
  '20261123_00_46_container_links': migration(`
    create table container_links (
      token_hash text primary key,
      how text not null,
      container_id uuid not null,
      path text not null,
      user_id uuid not null,
      session_id uuid not null,
      expires_at timestamptz not null
    );
    create index container_links_expiry on container_links (expires_at);
  `),
}

/** Those that have expired go with it. */
export const insertLink = async (on: Sql, link: Link, now: Date): Promise<void> => {
  await on.deleteFrom('container_links').where('expires_at', '<', now).execute()
  await on.insertInto('container_links').values(link).execute()
}

/** Nobody gets it again. */
export const takeLink = (on: Sql, tokenHash: string, how: Link['how']): Promise<Link | undefined> =>
  on.deleteFrom('container_links').where('token_hash', '=', tokenHash).where('how', '=', how).returningAll().executeTakeFirst()
