import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import type { QueryOf } from '@zhisuan/contract/define'
import type { accessKeys, AccessKeyScheme, AccessKeyStatus } from '@zhisuan/contract/ums/access-key'
import type { Insertable, Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import { rolesGiven, rolesWithBases } from '../../../platform/auth/held-roles.ts'
import { asked, counted, matching, orderOf, paged, pageWithTotal } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'

interface AccessKeyTable {
  id: string
  user_id: string
  name: string
  scheme: AccessKeyScheme
  status: AccessKeyStatus
  networks: string[]
  document: PolicyDocument | null
  expires_at: Date | null
  last_used_at: Date | null
  last_used_ip: string | null
  created_at: Date
}
/** Of a key one that is in force, and perhaps one before that is good for a while. */
interface SecretTable {
  id: string
  access_key_id: string
  /** SHA-256 of a bearer token, which is nowhere: nobody can guess one, so a plain hash is enough. */
  hash: Buffer | null
  /** What requests are signed with, sealed. */
  sealed: string | null
  hint: string
  created_at: Date
  /** Null: in force. */
  ends_at: Date | null
}
/** What a signed request was known by, so that it is not taken again, by whichever server. */
interface NonceTable {
  access_key_id: string
  /** SHA-256. */
  hash: Buffer
  created_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    access_keys: AccessKeyTable
    access_key_secrets: SecretTable
    access_key_nonces: NonceTable
  }
}

export const accessKeyMigrations: Migrations = {
  '20261123_00_64_access_keys': migration(`
    create table access_keys (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      name text not null,
      scheme text not null check (scheme in ('bearer', 'hmac')),
      status text not null check (status in ('active', 'disabled', 'blocked')),
      networks text[] not null,
      document jsonb,
      expires_at timestamptz,
      last_used_at timestamptz,
      last_used_ip text,
      created_at timestamptz not null
    );
    create index access_keys_user on access_keys (user_id);
    create table access_key_secrets (
      id uuid primary key,
      access_key_id uuid not null references access_keys on delete cascade,
      hash bytea unique,
      sealed text,
      hint text not null,
      created_at timestamptz not null,
      ends_at timestamptz,
      check ((hash is null) <> (sealed is null))
    );
    create index access_key_secrets_key on access_key_secrets (access_key_id);
    create unique index access_key_secrets_in_force on access_key_secrets (access_key_id) where ends_at is null;
    create table access_key_nonces (
      access_key_id uuid not null,
      hash bytea not null,
      created_at timestamptz not null,
      primary key (access_key_id, hash)
    );
    create index access_key_nonces_created on access_key_nonces (created_at);
  `),
}

const shown = (on: Sql, now: Date) =>
  on
    .selectFrom('access_keys')
    .innerJoin('access_key_secrets', (join) =>
      join.onRef('access_key_secrets.access_key_id', '=', 'access_keys.id').on('access_key_secrets.ends_at', 'is', null),
    )
    .selectAll('access_keys')
    .select(['access_key_secrets.hint', 'access_key_secrets.created_at as rotated_at'])
    .select((from) =>
      from
        .selectFrom('access_key_secrets as previous')
        .select((select) => select.fn.max('previous.ends_at').as('until'))
        .whereRef('previous.access_key_id', '=', 'access_keys.id')
        .where('previous.ends_at', '>', now)
        .as('previous_until'),
    )

export type ShownAccessKey = NonNullable<Awaited<ReturnType<typeof getAccessKey>>>

/** Newest first. */
export const accessKeysOf = (on: Sql, userId: string, now: Date) =>
  shown(on, now).where('access_keys.user_id', '=', userId).orderBy('access_keys.id', 'desc').execute()
export const getAccessKey = (on: Sql, userId: string, id: string, now: Date) =>
  shown(on, now).where('access_keys.user_id', '=', userId).where('access_keys.id', '=', id).executeTakeFirst()

/** Those of the people whom the scope shows. */
export function listAccessKeys(on: Sql, scope: Scope, query: QueryOf<(typeof accessKeys)['all']>, now: Date) {
  const all = shown(on, now)
    .innerJoin('users', 'users.id', 'access_keys.user_id')
    .select(['users.name as user_name', 'users.nickname as user_nickname'])
    .where('users.deleted_at', 'is', null)
    .where(within(scope, 'users.bp_id'))
    .where(asked(query, 'access_keys', 'user_id', 'status'))
    .where(matching(query.keyword, 'access_keys.name', 'users.name', 'users.nickname'))
  return pageWithTotal(paged(all, query, orderOf('access_keys', '-created_at', 'name', 'created_at', 'expires_at', 'last_used_at')), all, query)
}

/** One of somebody's, held against other changes until the transaction ends. */
export const lockAccessKey = (tx: Tx, userId: string, id: string) =>
  tx.selectFrom('access_keys').selectAll().where('id', '=', id).where('user_id', '=', userId).forUpdate().executeTakeFirst()

export const countAccessKeys = (on: Sql, userId: string): Promise<number> => counted(on.selectFrom('access_keys').where('user_id', '=', userId))

export const insertAccessKey = async (tx: Tx, { document, ...row }: Insertable<AccessKeyTable>): Promise<void> => {
  await tx
    .insertInto('access_keys')
    .values({ ...row, document: document == null ? null : jsonb(document) })
    .execute()
}
export const updateAccessKey = async (tx: Tx, id: string, { document, ...changes }: Updateable<AccessKeyTable>): Promise<void> => {
  await tx
    .updateTable('access_keys')
    .set({ ...changes, ...(document !== undefined && { document: document === null ? null : jsonb(document) }) })
    .where('id', '=', id)
    .execute()
}
export const { remove: deleteAccessKey } = rowsOf('access_keys')

export const insertSecret = insertsInto('access_key_secrets')
/** The one in force goes on until then; those before it are gone. */
export async function endSecrets(tx: Tx, accessKeyId: string, until: Date | null): Promise<void> {
  const before = tx.deleteFrom('access_key_secrets').where('access_key_id', '=', accessKeyId)
  await (until === null ? before : before.where('ends_at', 'is not', null)).execute()
  if (until !== null) await tx.updateTable('access_key_secrets').set({ ends_at: until }).where('access_key_id', '=', accessKeyId).execute()
}

/** Keys with whose they are: whether they may sign in is for who asks to say. */
const held = (on: Sql) =>
  on
    .selectFrom('access_keys')
    .innerJoin('users', 'users.id', 'access_keys.user_id')
    .leftJoin('organisations', 'organisations.id', 'users.bp_id')
    .select(['access_keys.id', 'access_keys.name as key_name', 'access_keys.status', 'access_keys.networks', 'access_keys.document', 'access_keys.expires_at'])
    .select(['users.id as user_id', 'users.name', 'users.kind', 'users.bp_id', 'users.status as user_status', 'organisations.status as bp_status'])
    .select([rolesGiven('users.id').as('built_in_roles'), rolesWithBases('users.id').as('roles')])
    .where('users.deleted_at', 'is', null)
export type HeldAccessKey = NonNullable<Awaited<ReturnType<typeof findById>>>

/** By a bearer token; with the end of the token, which may be past. */
export const findByHash = (on: Sql, hash: Buffer) =>
  held(on)
    .innerJoin('access_key_secrets', 'access_key_secrets.access_key_id', 'access_keys.id')
    .select(['access_key_secrets.created_at as secret_at', 'access_key_secrets.ends_at'])
    .where('access_key_secrets.hash', '=', hash)
    .executeTakeFirst()
export const findById = (on: Sql, id: string) => held(on).where('access_keys.id', '=', id).executeTakeFirst()

/** What requests of a key may be signed with, the newest first. */
export const signingSecrets = (on: Sql, accessKeyId: string) =>
  on
    .selectFrom('access_key_secrets')
    .select(['id', 'sealed', 'created_at', 'ends_at'])
    .where('access_key_id', '=', accessKeyId)
    .where('sealed', 'is not', null)
    .orderBy('created_at', 'desc')
    .execute()

/** @returns false where it was there already */
export const spendNonce = async (on: Sql, row: Insertable<NonceTable>): Promise<boolean> =>
  (
    await on
      .insertInto('access_key_nonces')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
  ).numInsertedOrUpdatedRows !== 0n

/** Nothing where somebody, or another server, noted it later than `before`. */
export const noteUse = async (on: Sql, id: string, at: Date, ip: string, before: Date): Promise<void> => {
  await on
    .updateTable('access_keys')
    .set({ last_used_at: at, last_used_ip: ip })
    .where('id', '=', id)
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<=', before)]))
    .execute()
}

/** Keys that are no good any more because of whose they are. */
export const stoppedKeys = async (on: Sql, of: { readonly user: string } | { readonly organisation: string }): Promise<string[]> =>
  (
    await on
      .selectFrom('access_keys')
      .innerJoin('users', 'users.id', 'access_keys.user_id')
      .leftJoin('organisations', 'organisations.id', 'users.bp_id')
      .select('access_keys.id')
      .where((where) => ('user' in of ? where('users.id', '=', of.user) : where('users.bp_id', '=', of.organisation)))
      .where((where) =>
        where.or([where('users.status', '<>', 'active'), where('users.deleted_at', 'is not', null), where('organisations.status', '<>', 'active')]),
      )
      .execute()
  ).map(({ id }) => id)

/** Secrets that ended, keys of who was deleted, and nonces of requests that are too old to be taken again. */
export async function clean(on: Sql, now: Date, noncesBefore: Date): Promise<void> {
  await on.deleteFrom('access_key_nonces').where('created_at', '<', noncesBefore).execute()
  await on.deleteFrom('access_key_secrets').where('ends_at', '<=', now).execute()
  await on
    .deleteFrom('access_keys')
    .where('user_id', 'in', (select) => select.selectFrom('users').select('id').where('deleted_at', 'is not', null))
    .execute()
}
