import type { IdentityProvider } from '@zhisuan/contract/ums/identityProvider'
import { sql, type Generated, type Insertable, type Selectable, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { within } from '../../../platform/db/scope.ts'

interface IdentityProviderTable {
  id: string
  name: string
  enabled: boolean
  issuer: string
  client_id: string
  /** Sealed; null of a public client. */
  client_secret: string | null
  scopes: string[]
  claims: IdentityProvider['claims']
  linking: IdentityProvider['linking']
  creates_people: boolean
  bp_id: string | null
  /** Set up by {@link bp_id} for its own people. */
  by_organisation: Generated<boolean>
  role: 'TENANT' | null
  email_domains: string[]
  mfa_values: string[]
  ends_session: boolean
  created_at: Generated<Date>
  updated_at: Date
}
interface IdentityTable {
  id: string
  provider_id: string
  user_id: string
  /** `sub`: the only thing that names an account for good. */
  subject: string
  /** What the provider called it at the last use. */
  account: string
  created_at: Generated<Date>
  last_used_at: Date | null
}
/** Somebody on their way to a provider and back. */
interface SignOnFlowTable {
  /** SHA-256 of `state`. */
  state_hash: Buffer
  /** SHA-256 of the cookie of the browser that began it. */
  browser_hash: Buffer
  provider_id: string
  /** Sealed: what the provider will ask of us with the code. */
  code_verifier: string
  nonce: string
  redirect: string | null
  /** Of one who links an account to their own; null for one who signs in. */
  session_id: string | null
  expires_at: Date
}
/** Somebody whom a provider has named, before their session begins. */
interface SignOnTable {
  /** SHA-256 of a cookie. */
  ticket_hash: Buffer
  identity_id: string
  /** Whether the provider has said that it asked for a second factor. */
  second: boolean
  /** Sealed, for signing out there. */
  id_token: string
  expires_at: Date
}
interface SignOnSessionTable {
  session_id: string
  provider_id: string
  id_token: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    identity_providers: IdentityProviderTable
    identities: IdentityTable
    sign_on_flows: SignOnFlowTable
    sign_ons: SignOnTable
    sign_on_sessions: SignOnSessionTable
  }
}
export type ProviderRow = Selectable<IdentityProviderTable>
export type IdentityRow = Selectable<IdentityTable>

export const oidcMigrations: Migrations = {
  '20261123_00_62_identity_providers': migration(`
    create table identity_providers (
      id uuid primary key,
      name text not null,
      enabled boolean not null,
      issuer text not null,
      client_id text not null,
      client_secret text,
      scopes text[] not null,
      claims jsonb not null,
      linking text not null check (linking in ('nobody', 'owner', 'email')),
      creates_people boolean not null,
      bp_id uuid references organisations,
      role text,
      email_domains text[] not null,
      mfa_values text[] not null,
      ends_session boolean not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null,
      check (not creates_people or bp_id is not null)
    );
    create unique index identity_providers_name on identity_providers (lower(name));
    create table identities (
      id uuid primary key,
      provider_id uuid not null references identity_providers on delete cascade,
      user_id uuid not null references users on delete cascade,
      subject text not null,
      account text not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz
    );
    create unique index identities_subject on identities (provider_id, subject);
    create unique index identities_user on identities (user_id, provider_id);
    create table sign_on_flows (
      state_hash bytea primary key,
      browser_hash bytea not null,
      provider_id uuid not null references identity_providers on delete cascade,
      code_verifier text not null,
      nonce text not null,
      redirect text,
      session_id uuid references sessions on delete cascade,
      expires_at timestamptz not null
    );
    create index sign_on_flows_expiry on sign_on_flows (expires_at);
    create table sign_ons (
      ticket_hash bytea primary key,
      identity_id uuid not null references identities on delete cascade,
      second boolean not null,
      id_token text not null,
      expires_at timestamptz not null
    );
    create index sign_ons_expiry on sign_ons (expires_at);
    create table sign_on_sessions (
      session_id uuid primary key references sessions on delete cascade,
      provider_id uuid not null references identity_providers on delete cascade,
      id_token text not null
    );
  `),
  // What an organisation calls its provider is nothing to others. The check is what keeps it from being everybody else.
  '20261127_10_identity_providers_of_organisations': migration(`
    alter table identity_providers add column by_organisation boolean not null default false;
    alter table identity_providers add check (not by_organisation or (bp_id is not null and linking <> 'email' and mfa_values = '{}'));
    drop index identity_providers_name;
    create unique index identity_providers_name on identity_providers (lower(name)) where not by_organisation;
    create unique index identity_providers_own_name on identity_providers (bp_id, lower(name)) where by_organisation;
  `),
}

export const providerNameIndexes = { platform: 'identity_providers_name', organisation: 'identity_providers_own_name' } as const

/** The platform's administrators have all, an organisation's what it set up itself: people of it that the platform's provider makes are not its business. */
const inScope = (scope: Scope) =>
  'everything' in scope ? sql<boolean>`true` : sql<boolean>`identity_providers.by_organisation and ${within(scope, 'identity_providers.bp_id')}`

const shown = (on: Sql, scope: Scope) =>
  on
    .selectFrom('identity_providers')
    .where(inScope(scope))
    .leftJoin('organisations', 'organisations.id', 'identity_providers.bp_id')
    .selectAll('identity_providers')
    .select('organisations.name as bp_name')
    .select((select) =>
      select
        .selectFrom('identities')
        .innerJoin('users', 'users.id', 'identities.user_id')
        .select(sql<number>`count(*)`.as('people'))
        .whereRef('identities.provider_id', '=', 'identity_providers.id')
        .where('users.deleted_at', 'is', null)
        .as('people'),
    )
export type ShownProvider = ProviderRow & { bp_name: string | null; people: number | null }

export const listProviders = (on: Sql, scope: Scope): Promise<ShownProvider[]> =>
  shown(on, scope).orderBy('identity_providers.created_at').orderBy('identity_providers.id').execute()
export const showProvider = (on: Sql, scope: Scope, id: string): Promise<ShownProvider | undefined> =>
  shown(on, scope).where('identity_providers.id', '=', id).executeTakeFirst()
export const findProvider = (on: Sql, id: string): Promise<ProviderRow | undefined> =>
  on.selectFrom('identity_providers').selectAll().where('id', '=', id).executeTakeFirst()
/** For one of the scope only. */
export const findProviderOf = (on: Sql, scope: Scope, id: string): Promise<ProviderRow | undefined> =>
  on.selectFrom('identity_providers').selectAll().where(inScope(scope)).where('id', '=', id).executeTakeFirst()
/** The platform's, and those of one organisation. */
export const enabledProviders = (on: Sql, organisation: string | null) =>
  on
    .selectFrom('identity_providers')
    .select(['id', 'name', 'linking', 'by_organisation'])
    .where('enabled', '=', true)
    .where((is) => is.or([is('by_organisation', '=', false), is('bp_id', '=', organisation)]))
    .orderBy('by_organisation', 'desc')
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Kysely hands arrays and objects on as they are; jsonb wants its text. */
const stored = <T extends { claims: IdentityProvider['claims'] }>({ claims, ...row }: T) => ({
  ...row,
  claims: sql<IdentityProvider['claims']>`${JSON.stringify(claims)}::jsonb`,
})

export const insertProvider = async (on: Sql, row: Insertable<IdentityProviderTable>): Promise<void> => {
  await on.insertInto('identity_providers').values(stored(row)).execute()
}
export const updateProvider = async (
  on: Sql,
  id: string,
  changes: Updateable<IdentityProviderTable> & { claims: IdentityProvider['claims'] },
): Promise<void> => {
  await on.updateTable('identity_providers').set(stored(changes)).where('id', '=', id).execute()
}
/** Locked against other changes, and against new links to it. */
export const lockProvider = (tx: Tx, scope: Scope, id: string): Promise<ProviderRow | undefined> =>
  tx.selectFrom('identity_providers').selectAll().where(inScope(scope)).where('id', '=', id).forUpdate().executeTakeFirst()
/** Of one organisation one is set up after the other, until the transaction ends. */
export const countProvidersOf = async (tx: Tx, organisation: string): Promise<number> => {
  await tx.selectFrom('organisations').select('id').where('id', '=', organisation).forUpdate().execute()
  const { count } = await tx
    .selectFrom('identity_providers')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('by_organisation', '=', true)
    .where('bp_id', '=', organisation)
    .executeTakeFirstOrThrow()
  return Number(count)
}
/** So that it stays as it is while somebody is linked to it. */
export const holdProvider = (tx: Tx, id: string): Promise<ProviderRow | undefined> =>
  tx.selectFrom('identity_providers').selectAll().where('id', '=', id).forShare().executeTakeFirst()
export const hasIdentities = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.selectFrom('identities').select('id').where('provider_id', '=', id).limit(1).executeTakeFirst()) !== undefined
export const deleteProvider = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await on.deleteFrom('identity_providers').where(inScope(scope)).where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n
