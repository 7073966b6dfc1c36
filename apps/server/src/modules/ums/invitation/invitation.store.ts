import type { QueryOf } from '@zhisuan/contract/define'
import type { invitations } from '@zhisuan/contract/ums/invitation'
import type { Role } from '@zhisuan/contract/roles'
import { sql, type ColumnType, type Generated } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'

interface InvitationTable {
  id: string
  bp_id: string
  role: Role
  /** Instead of it, where there are any: roles of the organisation and of the system. */
  role_ids: ColumnType<string[], readonly string[], never>
  note: string
  /** SHA-256 of the token, which is nowhere. */
  token_hash: Buffer
  created_by: string
  created_by_id: string
  used_by: string | null
  used_at: Date | null
  revoked_at: Date | null
  created_at: Generated<Date>
  expires_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    invitations: InvitationTable
  }
}

export const invitationMigrations: Migrations = {
  '20261123_00_60_invitations': migration(`
    create table invitations (
      id uuid primary key,
      bp_id uuid not null references organisations on delete cascade,
      role text not null,
      note text not null,
      token_hash bytea not null unique,
      created_by text not null,
      created_by_id uuid not null references users on delete cascade,
      used_by text,
      used_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index invitations_bp on invitations (bp_id, created_at desc, id desc);
  `),
  '20261126_85_invitations_to_roles': migration(`
    alter table invitations add column role_ids uuid[] not null default '{}';
  `),
}

const shown = (on: Sql) =>
  on
    .selectFrom('invitations')
    .innerJoin('organisations', 'organisations.id', 'invitations.bp_id')
    .selectAll('invitations')
    .select(['organisations.name as bp_name', 'organisations.status as bp_status'])
    .select(
      sql<{ id: string; name: string }[]>`(select coalesce(json_agg(json_build_object('id', roles.id, 'name', roles.name) order by roles.name), '[]')
        from roles where roles.id = any(invitations.role_ids))`.as('roles'),
    )

export type ShownInvitation = NonNullable<Awaited<ReturnType<typeof findByToken>>>

export async function listInvitations(on: Sql, scope: Scope, query: QueryOf<typeof invitations.list>) {
  const all = shown(on)
    .where(within(scope, 'invitations.bp_id'))
    .where(asked(query, 'invitations', 'bp_id'))
  return pageWithTotal(paged(all, query, orderOf('invitations', '-created_at', 'created_at', 'expires_at')), all, query)
}

export const findByToken = (on: Sql, hash: Buffer) => shown(on).where('invitations.token_hash', '=', hash).executeTakeFirst()
/** Held: of two who accept it at once one gets in. */
export const lockByToken = (tx: Tx, hash: Buffer) => shown(tx).where('invitations.token_hash', '=', hash).forUpdate('invitations').executeTakeFirst()
export const getInvitation = (on: Sql, scope: Scope, id: string) =>
  shown(on).where('invitations.id', '=', id).where(within(scope, 'invitations.bp_id')).executeTakeFirst()

export const insertInvitation = insertsInto('invitations')
export const markUsed = async (tx: Tx, id: string, by: string): Promise<void> => {
  await tx
    .updateTable('invitations')
    .set({ used_by: by, used_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}
/** @returns whether the scope shows one that was open */
export const revoke = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (
    await on
      .updateTable('invitations')
      .set({ revoked_at: sql`now()` })
      .where('id', '=', id)
      .where(within(scope, 'bp_id'))
      .where('used_at', 'is', null)
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
  ).numUpdatedRows > 0n
