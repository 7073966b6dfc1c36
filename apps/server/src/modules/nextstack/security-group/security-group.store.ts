import type { QueryOf } from '@zhisuan/contract/define'
import type { SecurityRule, securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { countsRows } from '../quota/quota.counter.ts'
import { within } from '../../../platform/db/scope.ts'
import { replaceRows, rowsOf } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'

interface SecurityGroupTable extends OwnedTable {
  cloud_id: string
  project_id: string | null
  rules: SecurityRule[]
  /** Counts changes of the rules. */
  revision: Generated<number>
}
interface VmSecurityGroupTable {
  vm_id: string
  group_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    security_groups: SecurityGroupTable
    vm_security_groups: VmSecurityGroupTable
  }
}
export type SecurityGroupRow = Selectable<SecurityGroupTable>
export type ShownSecurityGroup = SecurityGroupRow & {
  bp_name: string | null
  vm_count: number
  vpc_count: number
  /** Whether a network that it guards is being applied, or failed to be. */
  applying: boolean
  failed: boolean
  error_text: string | null
}

export const groupNameIndex = 'security_groups_name'

export const securityGroupMigrations: Migrations = {
  '20261123_00_12_security_groups': migration(`
    create extension if not exists pg_trgm;
    create table security_groups (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      rules jsonb not null,
      revision integer not null default 1,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index security_groups_name on security_groups (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create index security_groups_newest on security_groups (cloud_id, created_at desc, id desc);
    create index security_groups_newest_bp on security_groups (bp_id, cloud_id, created_at desc, id desc);
    create index security_groups_search on security_groups using gin (search gin_trgm_ops);
    create table vm_security_groups (
      vm_id uuid not null references vms on delete cascade,
      group_id uuid not null references security_groups,
      primary key (vm_id, group_id)
    );
    create index vm_security_groups_group on vm_security_groups (group_id);
    ${tellsChanges('security_groups', 'nextstack.securityGroup')}
    create index security_groups_by_name on security_groups (cloud_id, name, id);
    create index security_groups_by_name_bp on security_groups (bp_id, cloud_id, name, id);
  `),
}

export const securityGroupCounter = countsRows('security_groups', { security_groups: 'count(*)' })

const visible = (on: Sql, scope: Scope) => on.selectFrom('security_groups').where(within(scope, 'security_groups.bp_id'))

/** Ids of the networks that a group guards, as a whole or by an instance in them. */
const guardedVpcs = (group: string) => sql`
  select vpc_security_groups.vpc_id from vpc_security_groups where vpc_security_groups.group_id = ${sql.ref(group)}
  union
  select vpc_addresses.vpc_id from vm_security_groups join vpc_addresses using (vm_id) where vm_security_groups.group_id = ${sql.ref(group)}`

const shown = <T>(query: SelectQueryBuilder<Tables, 'security_groups', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'security_groups.bp_id')
    .leftJoinLateral(
      (of) =>
        of
          .selectFrom('vpcs')
          .where(sql<boolean>`vpcs.id in (${guardedVpcs('security_groups.id')})`)
          .select([
            sql<boolean>`coalesce(bool_or(vpcs.status = 'applying'), false)`.as('applying'),
            sql<boolean>`coalesce(bool_or(vpcs.status = 'error'), false)`.as('failed'),
            sql<string | null>`min(vpcs.error_text) filter (where vpcs.status = 'error')`.as('error_text'),
          ])
          .as('guarded'),
      (join) => join.onTrue(),
    )
    .selectAll('security_groups')
    .select([
      'organisations.name as bp_name',
      sql<boolean>`guarded.applying`.as('applying'),
      sql<boolean>`guarded.failed`.as('failed'),
      'guarded.error_text',
      sql<number>`(select count(*) from vm_security_groups where group_id = security_groups.id)`.as('vm_count'),
      sql<number>`(select count(*) from vpc_security_groups where group_id = security_groups.id)`.as('vpc_count'),
    ])

const order = orderOf('security_groups', '-created_at', 'name', 'created_at')

export async function listGroups(on: Sql, scope: Scope, query: QueryOf<typeof securityGroups.list>): Promise<{ total: number; rows: ShownSecurityGroup[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'security_groups', 'cloud_id'))
    .$if(query.vm_id !== undefined, (q) =>
      q.where('security_groups.id', 'in', (of) =>
        of
          .selectFrom('vm_security_groups')
          .select('group_id')
          .where('vm_id', '=', query.vm_id ?? ''),
      ),
    )
    .$if(query.vpc_id !== undefined, (q) =>
      q.where('security_groups.id', 'in', (of) =>
        of
          .selectFrom('vpc_security_groups')
          .select('group_id')
          .where('vpc_id', '=', query.vpc_id ?? ''),
      ),
    )
    .where(matching(query.keyword, 'security_groups.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('security_groups').where('security_groups.id', 'in', ids)))
}

export const getGroup = (on: Sql, scope: Scope, id: string): Promise<ShownSecurityGroup | undefined> =>
  shown(visible(on, scope).where('security_groups.id', '=', id)).executeTakeFirst()

/** Locked against other changes, and against being given to anything. */
export const { insert: insertGroup, update: updateGroup, remove: deleteGroup, lock: lockGroup } = rowsOf('security_groups', 'updated_at')

/** Those of an organisation on a cloud, held against changes of their rules while they are given to something. Before the network's lock. */
export const shareGroups = async (tx: Tx, of: { cloud_id: string; bp_id: string | null }, ids: readonly string[]): Promise<string[]> =>
  ids.length === 0
    ? []
    : (
        await tx
          .selectFrom('security_groups')
          .select('id')
          .where('id', 'in', ids)
          .where('cloud_id', '=', of.cloud_id)
          .where('bp_id', 'is not distinct from', of.bp_id)
          .orderBy('id')
          .forShare()
          .execute()
      ).map(({ id }) => id)

/** The networks that a group guards, as a whole or by an instance in them. */
export const vpcsGuardedBy = async (on: Sql, id: string): Promise<string[]> =>
  (
    await on
      .selectFrom('security_groups')
      .innerJoin('vpcs', (join) => join.on(sql<boolean>`vpcs.id in (${guardedVpcs('security_groups.id')})`))
      .where('security_groups.id', '=', id)
      .select('vpcs.id')
      .execute()
  ).map((row) => row.id)

/** What it guards, by name. */
export async function guardedBy(on: Sql, id: string): Promise<{ vms: { id: string; name: string }[]; vpcs: { id: string; name: string }[] }> {
  return {
    vms: await on
      .selectFrom('vm_security_groups')
      .innerJoin('vms', 'vms.id', 'vm_id')
      .where('group_id', '=', id)
      .select(['vms.id', 'vms.name'])
      .orderBy('vms.name')
      .execute(),
    vpcs: await on
      .selectFrom('vpc_security_groups')
      .innerJoin('vpcs', 'vpcs.id', 'vpc_id')
      .where('group_id', '=', id)
      .select(['vpcs.id', 'vpcs.name'])
      .orderBy('vpcs.name')
      .execute(),
  }
}

/** The groups of an instance: exactly these. */
export const setGroupsOfVm = (tx: Tx, vmId: string, groupIds: readonly string[]): Promise<void> =>
  replaceRows(
    tx,
    'vm_security_groups',
    { vm_id: vmId },
    groupIds.map((group_id) => ({ group_id })),
  )

export const isGuarded = async (on: Sql, vmId: string): Promise<boolean> =>
  (await on.selectFrom('vm_security_groups').select('vm_id').where('vm_id', '=', vmId).limit(1).executeTakeFirst()) !== undefined
