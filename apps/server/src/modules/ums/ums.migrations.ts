import type { Role } from '@zhisuan/contract/roles'
import type { Generated } from 'kysely'
import { migration, type Migrations } from '../../platform/db/database.ts'

export interface OrganisationTable {
  id: string
  name: string
  kind: 'company' | 'personal'
  status: 'active' | 'frozen'
  description: Generated<string>
  created_at: Generated<Date>
}
export interface UserTable {
  id: string
  /** What they sign in with; null once deleted, so that it is free again. Like phone and email. */
  name: string | null
  /** Kept for what they did. */
  former_name: string | null
  nickname: string
  description: string
  kind: number
  status: 'active' | 'pending' | 'disabled'
  bp_id: string | null
  phone: string | null
  email: string | null
  /** Empty where they have none: they came by single sign-on, or are deleted. */
  password_hash: string
  must_change_password: boolean
  last_login_at: Date | null
  created_at: Generated<Date>
  deleted_at: Date | null
}
interface UserRoleTable {
  user_id: string
  role: Role
}
interface ProjectTable {
  id: string
  key: string
  name: string
  description: Generated<string>
  bp_id: string | null
  created_at: Generated<Date>
}
interface ProjectMemberTable {
  project_id: string
  user_id: string
}
/** A secret is sealed; a step that was used is not good again. */
interface SecondFactorTable {
  user_id: string
  secret: string
  /** Null until a code of it was told. */
  confirmed_at: Date | null
  last_step: Generated<number>
  created_at: Generated<Date>
}
interface RecoveryCodeTable {
  user_id: string
  /** SHA-256: they are long enough. */
  hash: Buffer
  used_at: Date | null
}
export interface SessionTable {
  id: string
  user_id: string
  /** SHA-256 of the part that all refresh tokens of this session share; the tokens themselves are nowhere. */
  family_hash: Buffer
  /** SHA-256 of the refresh token in force. */
  refresh_hash: Buffer
  refresh_expires_at: Date
  /** The one before, good for a few seconds more: two tabs may refresh at once. */
  previous_refresh_hash: Buffer | null
  rotated_at: Date
  /** However often it is renewed. */
  ends_at: Date
  ip: string
  user_agent: string
  /** `password`, `sms`, `passkey` or `oidc`. */
  authenticated_by: Generated<string>
  /** When a second factor was proved; null where none was. */
  second_factor_at: Date | null
  created_at: Generated<Date>
}
interface AccessTokenTable {
  /** SHA-256 of the token. */
  hash: Buffer
  session_id: string
  expires_at: Date
}
export interface VerificationCodeTable {
  id: string
  purpose: string
  address: string
  /** Who asked, where somebody has to be signed in to ask; nobody else can use it. */
  user_id: string | null
  /** Keyed hash: a leaked table must not be a list of codes. */
  code_hash: Buffer
  /** Where it was asked from: an IPv4 address or an IPv6 /64, which is what one customer of a provider has. */
  origin: string
  tries: Generated<number>
  expires_at: Date
  used_at: Date | null
  created_at: Date
}
interface ConsultationTable {
  id: string
  name: string
  phone: string
  content: string
  created_at: Generated<Date>
}
interface InboxTable {
  id: string
  channel: string
  address: string
  purpose: string
  text: string
  created_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    organisations: OrganisationTable
    users: UserTable
    user_roles: UserRoleTable
    projects: ProjectTable
    project_members: ProjectMemberTable
    sessions: SessionTable
    second_factors: SecondFactorTable
    recovery_codes: RecoveryCodeTable
    access_tokens: AccessTokenTable
    verification_codes: VerificationCodeTable
    consultations: ConsultationTable
    development_inbox: InboxTable
  }
}

export const umsMigrations: Migrations = {
  '20261123_00_06_identity': migration(`
    create table organisations (
      id uuid primary key,
      name text not null,
      kind text not null check (kind in ('company', 'personal')),
      status text not null default 'active' check (status in ('active', 'frozen')),
      description text not null default '',
      created_at timestamptz not null default now()
    );
    -- A personal one is named after its user, whose name is free again when they are deleted.
    create unique index organisations_company_name on organisations (lower(name)) where kind = 'company';
    create table users (
      id uuid primary key,
      name text,
      former_name text,
      nickname text not null default '',
      description text not null default '',
      kind integer not null check (kind between 0 and 4),
      status text not null check (status in ('active', 'pending', 'disabled')),
      bp_id uuid references organisations,
      phone text,
      email text,
      password_hash text not null,
      must_change_password boolean not null default false,
      wrong_passwords integer not null default 0,
      frozen_until timestamptz,
      last_login_at timestamptz,
      created_at timestamptz not null default now(),
      deleted_at timestamptz
    );
    create unique index users_name on users (lower(name));
    create unique index users_phone on users (phone);
    create unique index users_email on users (lower(email));
    create index users_bp on users (bp_id);
    create table user_roles (
      user_id uuid not null references users on delete cascade,
      role text not null,
      primary key (user_id, role)
    );
    create table projects (
      id uuid primary key,
      key text not null,
      name text not null,
      bp_id uuid references organisations,
      description text not null default '',
      created_at timestamptz not null default now(),
      unique (bp_id, name),
      unique (bp_id, key)
    );
    create table project_members (
      project_id uuid not null references projects on delete cascade,
      user_id uuid not null references users on delete cascade,
      primary key (project_id, user_id)
    );
    create index project_members_user on project_members (user_id);
    create table sessions (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      family_hash bytea not null unique,
      refresh_hash bytea not null,
      refresh_expires_at timestamptz not null,
      previous_refresh_hash bytea,
      rotated_at timestamptz not null,
      ends_at timestamptz not null,
      ip text not null,
      user_agent text not null,
      created_at timestamptz not null default now(),
      authenticated_by text not null default 'password',
      second_factor_at timestamptz
    );
    create index sessions_user on sessions (user_id);
    create index sessions_expiry on sessions (refresh_expires_at);
    create table access_tokens (
      hash bytea primary key,
      session_id uuid not null references sessions on delete cascade,
      expires_at timestamptz not null
    );
    create index access_tokens_session on access_tokens (session_id);
    create index access_tokens_expiry on access_tokens (expires_at);
    create table verification_codes (
      id uuid primary key,
      purpose text not null,
      address text not null,
      user_id uuid references users on delete cascade,
      code_hash bytea not null,
      origin inet not null,
      tries integer not null default 0,
      expires_at timestamptz not null,
      used_at timestamptz,
      created_at timestamptz not null
    );
    create index verification_codes_address on verification_codes (address, created_at desc);
    create index verification_codes_origin on verification_codes (origin, created_at desc);
    create table consultations (
      id uuid primary key,
      name text not null,
      phone text not null,
      content text not null,
      created_at timestamptz not null default now()
    );
    create table development_inbox (
      id uuid primary key,
      channel text not null,
      address text not null,
      purpose text not null,
      text text not null,
      created_at timestamptz not null default now()
    );
    create index development_inbox_created on development_inbox (created_at desc);
    create table second_factors (
      user_id uuid primary key references users on delete cascade,
      secret text not null,
      confirmed_at timestamptz,
      last_step bigint not null default 0,
      created_at timestamptz not null default now()
    );
    create table recovery_codes (
      user_id uuid not null references users on delete cascade,
      hash bytea not null,
      used_at timestamptz,
      primary key (user_id, hash)
    );
  `),
  // Names that look the same are one name; where two people have it already, the other stays as it is.
  '20261128_72_names_alike': migration(`
    update users set name = normalize(name, NFKC)
    where name is not NFKC normalized
      and not exists (select from users other where other.id <> users.id and lower(normalize(other.name, NFKC)) = lower(normalize(users.name, NFKC)));
  `),
}
