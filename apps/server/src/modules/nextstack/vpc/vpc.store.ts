import type { QueryOf } from '@zhisuan/contract/define'
import type { VpcStatus, vpcs } from '@zhisuan/contract/nextstack/vpc'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { endOperations, openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { countsRows } from '../quota/quota.counter.ts'
import { within } from '../../../platform/db/scope.ts'
import { replaceRows, rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

interface VpcTable extends OnEngineTable {
  project_id: string | null
  /** Of the network and of the ACL on the engine; never changes and never is taken from people. */
  engine_name: string
  cidr: string
  dhcp: boolean
  dns_domain: string | null
  status: VpcStatus
  /** Counts changes of what is wanted of the network: its own, its groups', its NAT gateway's, its addresses'. */
  wanted: number
  /** Which of them the last begun apply takes up at least. */
  applying: number
  /** Which of them the engine has. */
  applied: Generated<number>
}
interface VpcSecurityGroupTable {
  vpc_id: string
  group_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    vpcs: VpcTable
    vpc_security_groups: VpcSecurityGroupTable
  }
}
export type VpcRow = Selectable<VpcTable>
interface Reference {
  id: string
  name: string
}
export type ShownVpc = VpcRow & {
  bp_name: string | null
  operation_id: string | null
  address_used: number
  vm_count: number
  security_groups: Reference[]
  nat: Reference | null
}

export const vpcNameIndex = 'vpcs_name'
/** Broken by a range that overlaps another of its cloud. */
export const vpcRangeRule = 'vpcs_range'

export const vpcMigrations: Migrations = {
  '20261123_00_14_vpcs': migration(`
    create extension if not exists btree_gist;
    create extension if not exists pg_trgm;
    create table vpcs (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      engine_name text not null,
      cidr cidr not null,
      dhcp boolean not null,
      dns_domain text,
      status text not null check (status in ('applying', 'active', 'deleting', 'error', 'lost')),
      error_text text,
      wanted integer not null,
      applying integer not null,
      applied integer not null default 0,
      -- What the keyword filter looks through: name, range, id.
      search text generated always as (name || ' ' || text(cidr) || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint vpcs_range exclude using gist (cloud_id with =, cidr inet_ops with &&)
    );
    create unique index vpcs_name on vpcs (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index vpcs_engine_name on vpcs (cloud_id, engine_name);
    create index vpcs_newest on vpcs (cloud_id, created_at desc, id desc);
    create index vpcs_newest_bp on vpcs (bp_id, cloud_id, created_at desc, id desc);
    create index vpcs_status on vpcs (cloud_id, status, created_at desc, id desc);
    create index vpcs_status_bp on vpcs (bp_id, cloud_id, status, created_at desc, id desc);
    create index vpcs_search on vpcs using gin (search gin_trgm_ops);
    create table vpc_security_groups (
      vpc_id uuid not null references vpcs on delete cascade,
      group_id uuid not null references security_groups,
      primary key (vpc_id, group_id)
    );
    create index vpc_security_groups_group on vpc_security_groups (group_id);
    -- What it comes to shows on its gateway, its groups and its instances.
    ${tellsChanges('vpcs', 'nextstack.vpc', 'nextstack.nat', 'nextstack.securityGroup', 'nextstack.vm')}
    create index vpcs_by_name on vpcs (cloud_id, name, id);
    create index vpcs_by_name_bp on vpcs (bp_id, cloud_id, name, id);
    create index vpcs_by_status on vpcs (cloud_id, status, id);
    create index vpcs_by_status_bp on vpcs (bp_id, cloud_id, status, id);
  `),
}

export const vpcCounter = countsRows('vpcs', { vpcs: 'count(*)' })

const visible = (on: Sql, scope: Scope) => on.selectFrom('vpcs').where(within(scope, 'vpcs.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'vpcs', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'vpcs.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'vpcs.id').on('operations.status', 'in', openStatuses))
    .selectAll('vpcs')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      // All but the gateway's.
      sql<number>`(select count(*) - 1 from vpc_addresses where vpc_id = vpcs.id)`.as('address_used'),
      sql<number>`(select count(vm_id) from vpc_addresses where vpc_id = vpcs.id)`.as('vm_count'),
      jsonArrayFrom(
        of
          .selectFrom('vpc_security_groups')
          .innerJoin('security_groups', 'security_groups.id', 'vpc_security_groups.group_id')
          .whereRef('vpc_security_groups.vpc_id', '=', 'vpcs.id')
          .select(['security_groups.id', 'security_groups.name'])
          .orderBy('security_groups.name'),
      ).as('security_groups'),
      jsonObjectFrom(of.selectFrom('nat_gateways').whereRef('nat_gateways.vpc_id', '=', 'vpcs.id').select(['nat_gateways.id', 'nat_gateways.name'])).as('nat'),
    ])

const order = orderOf('vpcs', '-created_at', 'name', 'status', 'created_at')

export async function listVpcs(on: Sql, scope: Scope, query: QueryOf<typeof vpcs.list>): Promise<{ total: number; rows: ShownVpc[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'vpcs', 'cloud_id', 'status', 'bp_id'))
    .where(matching(query.keyword, 'vpcs.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('vpcs').where('vpcs.id', 'in', ids)))
}

export const getVpc = (on: Sql, scope: Scope, id: string): Promise<ShownVpc | undefined> =>
  shown(visible(on, scope).where('vpcs.id', '=', id)).executeTakeFirst()

/** How far a network is on the engine. */
export const progressOf = (on: Sql, id: string): Promise<Pick<VpcRow, 'name' | 'engine_name' | 'status' | 'applied'> | undefined> =>
  on.selectFrom('vpcs').select(['name', 'engine_name', 'status', 'applied']).where('id', '=', id).executeTakeFirst()

/** Whatever changes what is wanted of a network has it locked. */
export const { insert: insertVpc, update: updateVpc, remove: deleteVpc, lock: lockVpc } = rowsOf('vpcs', 'updated_at')

/** The same of several, one after the other in one order, so that two never wait for each other. */
export const lockVpcs = (tx: Tx, ids: readonly string[]): Promise<VpcRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : tx.selectFrom('vpcs').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()

/** One at a time: two who each insert a range that overlaps the other's would wait for each other (PostgreSQL calls it a deadlock). */
export const lockRanges = async (tx: Tx, cloudId: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('vpc ranges ' || ${cloudId}::text, 13))`.execute(tx)
}

/** Notes that whatever is wanted by now is being applied. */
export const noteApplying = async (on: Sql, id: string): Promise<void> => {
  await on
    .updateTable('vpcs')
    .set({ applying: sql`wanted` })
    .where('id', '=', id)
    .whereRef('applying', '<>', 'wanted')
    .execute()
}

/** Networks of a cloud whose range overlaps this one. */
export const overlapping = (on: Sql, cloudId: string, cidr: string): Promise<Pick<VpcRow, 'name' | 'bp_id'>[]> =>
  on
    .selectFrom('vpcs')
    .select(['name', 'bp_id'])
    .where('cloud_id', '=', cloudId)
    .where(sql<boolean>`cidr && ${cidr}::cidr`)
    .orderBy('cidr')
    .execute()

export const engineNames = async (on: Sql, cloudId: string): Promise<string[]> =>
  (await on.selectFrom('vpcs').select('engine_name').where('cloud_id', '=', cloudId).execute()).map(({ engine_name }) => engine_name)

/** A network of a cloud that has one of these addresses, as numbers. */
export const inRanges = (on: Sql, cloudId: string, ranges: readonly { first: number; last: number }[]): Promise<{ name: string } | undefined> =>
  on
    .selectFrom('vpcs')
    .select('name')
    .where('cloud_id', '=', cloudId)
    .where((where) =>
      where.or(
        ranges.map(
          ({ first, last }) =>
            sql<boolean>`('0.0.0.0'::inet + ${last}::bigint >= host(cidr)::inet and '0.0.0.0'::inet + ${first}::bigint <= host(broadcast(cidr))::inet)`,
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()

/** The instances in a network, in the order of their addresses. */
export const vmsOf = (on: Sql, id: string): Promise<{ id: string; name: string; status: string }[]> =>
  on
    .selectFrom('vpc_addresses')
    .innerJoin('vms', 'vms.id', 'vpc_addresses.vm_id')
    .where('vpc_id', '=', id)
    .select(['vms.id', 'vms.name', 'vms.status'])
    .orderBy('vpc_addresses.number')
    .execute()

/** Exactly these. */
export const setGroups = (tx: Tx, vpcId: string, groupIds: readonly string[]): Promise<void> =>
  replaceRows(
    tx,
    'vpc_security_groups',
    { vpc_id: vpcId },
    groupIds.map((group_id) => ({ group_id })),
  )

/** Networks at rest of a cloud, for who compares them with the engine. */
export const restingOfCloud = (
  on: Sql,
  cloudId: string,
  engineNames: readonly string[] | null,
): Promise<Pick<VpcRow, 'id' | 'cloud_id' | 'engine_name' | 'status' | 'wanted'>[]> =>
  on
    .selectFrom('vpcs')
    .select(['id', 'cloud_id', 'engine_name', 'status', 'wanted'])
    .where('cloud_id', '=', cloudId)
    .where('status', 'in', ['active', 'lost'])
    .$if(engineNames !== null, (q) => q.where('engine_name', 'in', engineNames ?? []))
    .execute()

/** Removes the records of a cloud's networks, groups and outside addresses, and ends their open operations. Before its instances'. */
export async function forgetNetworks(tx: Tx, cloudId: string): Promise<void> {
  const vpcs = tx.selectFrom('vpcs').select('id').where('cloud_id', '=', cloudId)
  const gateways = tx.selectFrom('nat_gateways').select('id').where('cloud_id', '=', cloudId)
  const groups = tx.selectFrom('security_groups').select('id').where('cloud_id', '=', cloudId)
  await endOperations(tx, vpcs, 'vpcMissing')
  await tx.deleteFrom('nat_rules').where('nat_id', 'in', gateways).execute()
  await tx.updateTable('eips').set({ nat_id: null }).where('cloud_id', '=', cloudId).where('nat_id', 'is not', null).execute()
  await tx.deleteFrom('nat_gateways').where('cloud_id', '=', cloudId).execute()
  await tx.deleteFrom('eips').where('cloud_id', '=', cloudId).execute()
  await tx.deleteFrom('vpcs').where('cloud_id', '=', cloudId).execute()
  await tx.deleteFrom('vm_security_groups').where('group_id', 'in', groups).execute()
  await tx.deleteFrom('security_groups').where('cloud_id', '=', cloudId).execute()
  await tx.deleteFrom('eip_pools').where('cloud_id', '=', cloudId).execute()
}
