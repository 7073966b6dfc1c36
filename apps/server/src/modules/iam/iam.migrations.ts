import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { roles, type Role } from '@zhisuan/contract/roles'
import type { ColumnType, Generated } from 'kysely'
import { migration, type Migrations } from '../../platform/db/database.ts'

interface PolicyTable {
  id: string
  /** Of a ready-made one the key of its definition; null of all others. */
  system_key: string | null
  /** Null: the platform's. */
  bp_id: string | null
  name: string
  description: string
  default_version: number
  /** Of the newest version that there ever was: numbers are not used again. */
  last_version: number
  created_by: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface PolicyVersionTable {
  policy_id: string
  version: number
  document: ColumnType<PolicyDocument, PolicyDocument, never>
  created_by: string
  created_at: Generated<Date>
}
interface RoleTable {
  id: string
  /** As of policies. */
  system_key: string | null
  bp_id: string | null
  name: string
  description: string
  built_in: boolean
  base: Role
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface RoleMemberTable {
  role_id: string
  user_id: string
}
interface PolicyGrantTable {
  id: string
  policy_id: string
  user_id: string | null
  role_id: string | null
  project_id: string | null
  created_by: string
  created_at: Generated<Date>
}
interface BoundaryTable {
  id: string
  policy_id: string
  user_id: string | null
  bp_id: string | null
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    policies: PolicyTable
    policy_versions: PolicyVersionTable
    roles: RoleTable
    role_members: RoleMemberTable
    policy_grants: PolicyGrantTable
    policy_boundaries: BoundaryTable
  }
}

/** The built-in roles have the same ids everywhere. */
export const builtInRoleId = (role: Role): string => `00000000-0000-7000-8000-${String(roles.indexOf(role) + 1).padStart(12, '0')}`

export const iamMigrations: Migrations = {
  '20261123_00_59_iam': migration(`
    create table policies (
      id uuid primary key,
      bp_id uuid references organisations,
      name text not null,
      description text not null,
      default_version integer not null,
      last_version integer not null,
      search text generated always as (name || ' ' || description) stored,
      created_by text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index policies_name on policies (bp_id, lower(name)) nulls not distinct;
    create index policies_updated on policies (updated_at desc, id desc);
    create index policies_search on policies using gin (search gin_trgm_ops);
    create table policy_versions (
      policy_id uuid not null references policies on delete cascade,
      version integer not null,
      document jsonb not null,
      created_by text not null,
      created_at timestamptz not null default now(),
      primary key (policy_id, version)
    );
    create table roles (
      id uuid primary key,
      bp_id uuid references organisations,
      name text not null,
      description text not null,
      built_in boolean not null default false,
      base text not null,
      search text generated always as (name || ' ' || description) stored,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index roles_name on roles (bp_id, lower(name)) nulls not distinct;
    create index roles_search on roles using gin (search gin_trgm_ops);
    insert into roles (id, bp_id, name, description, built_in, base) values
      ${roles.map((role) => `('${builtInRoleId(role)}', null, '${role}', '', true, '${role}')`).join(',\n      ')};
    create table role_members (
      role_id uuid not null references roles,
      user_id uuid not null references users on delete cascade,
      primary key (role_id, user_id)
    );
    create index role_members_user on role_members (user_id);
    create table policy_grants (
      id uuid primary key,
      policy_id uuid not null references policies,
      user_id uuid references users on delete cascade,
      role_id uuid references roles on delete cascade,
      project_id uuid references projects on delete cascade,
      created_by text not null,
      created_at timestamptz not null default now(),
      check (num_nonnulls(user_id, role_id, project_id) = 1)
    );
    create unique index policy_grants_holder on policy_grants (policy_id, user_id, role_id, project_id) nulls not distinct;
    create index policy_grants_user on policy_grants (user_id) where user_id is not null;
    create index policy_grants_role on policy_grants (role_id) where role_id is not null;
    create index policy_grants_project on policy_grants (project_id) where project_id is not null;
    create table policy_boundaries (
      id uuid primary key,
      policy_id uuid not null references policies,
      user_id uuid unique references users on delete cascade,
      bp_id uuid unique references organisations on delete cascade,
      check (num_nonnulls(user_id, bp_id) = 1)
    );
    create index policy_boundaries_policy on policy_boundaries (policy_id);
  `),
  // Names are the organisation's own business: what is ready for all takes none away, whoever had it before.
  '20261126_84_ready_made': migration(`
    alter table policies add column system_key text unique;
    alter table roles add column system_key text unique;
    drop index policies_name;
    create unique index policies_name on policies (bp_id, lower(name)) nulls not distinct where system_key is null;
    drop index roles_name;
    create unique index roles_name on roles (bp_id, lower(name)) nulls not distinct where system_key is null;
  `),
}
