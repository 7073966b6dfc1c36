import type { QueryOf } from '@zhisuan/contract/define'
import { addressText } from '@zhisuan/contract/ip'
import type { EipStatus, eips } from '@zhisuan/contract/nextstack/eip'
import { sql, type Generated, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, counted, matching, pageOf } from '../../../platform/db/page.ts'
import { openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { countsRows } from '../quota/quota.counter.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import type { OnEngineTable } from '../../../platform/resource.shape.ts'

interface EipTable extends OnEngineTable {
  /** The IPv4 address as a number. */
  number: number
  pool_id: string
  project_id: string | null
  bandwidth_mbps: number | null
  /** Whether the hosts can hold it to that; where not, it is not charged for. */
  limits_bandwidth: Generated<boolean>
  status: EipStatus
  /** What it leads to, also while it is being unbound: an instance, or a NAT gateway; and the network of that. */
  vm_id: string | null
  nat_id: string | null
  vpc_id: string | null
  /** It is to lead nowhere. */
  unbinding: Generated<boolean>
  /** Which change of the network bound or unbound it. */
  changed_at_wanted: Generated<number>
  /** The instance whose NIC was really given a limit, and which one. */
  limit_vm_id: string | null
  limit_mbps: number | null
  /** The instance with which it is released: once that is gone and nothing leads there any more. */
  release_with: string | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    eips: EipTable
  }
}
export type EipRow = Selectable<EipTable>
interface Reference {
  id: string
  name: string
}
export type ShownEip = EipRow & {
  bp_name: string | null
  operation_id: string | null
  pool: Reference
  vm: Reference | null
  nat: Reference | null
  vpc: Reference | null
}

export const eipMigrations: Migrations = {
  // No cascade from instances and networks: who removes one has to say that nothing leads there.
  '20261123_00_18_eips': migration(`
    create table eips (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      number bigint not null,
      pool_id uuid not null references eip_pools,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      bandwidth_mbps integer,
      status text not null check (status in ('available', 'binding', 'bound', 'unbinding', 'error')),
      error_text text,
      vm_id uuid unique references vms,
      nat_id uuid,
      vpc_id uuid references vpcs,
      unbinding boolean not null default false,
      changed_at_wanted integer not null default 0,
      limit_vm_id uuid,
      limit_mbps integer,
      -- What the keyword filter looks through: name, address, id.
      search text generated always as (name || ' ' || host('0.0.0.0'::inet + number) || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (vm_id is null or nat_id is null)
    );
    create unique index eips_number on eips (cloud_id, number);
    create index eips_pool on eips (pool_id, number);
    create index eips_vpc on eips (vpc_id) where vpc_id is not null;
    create index eips_nat on eips (nat_id) where nat_id is not null;
    create index eips_limit_vm on eips (limit_vm_id) where limit_vm_id is not null;
    create index eips_newest on eips (cloud_id, created_at desc, id desc);
    create index eips_newest_bp on eips (bp_id, cloud_id, created_at desc, id desc);
    create index eips_status on eips (cloud_id, status, created_at desc, id desc);
    create index eips_status_bp on eips (bp_id, cloud_id, status, created_at desc, id desc);
    create index eips_search on eips using gin (search gin_trgm_ops);
    -- Instances show what leads to them.
    ${tellsChanges('eips', 'nextstack.eip', 'nextstack.vm')}
    create index eips_by_name on eips (cloud_id, name, id);
    create index eips_by_name_bp on eips (bp_id, cloud_id, name, id);
    create index eips_by_status on eips (cloud_id, status, id);
    create index eips_by_status_bp on eips (bp_id, cloud_id, status, id);
    create index eips_by_address on eips (cloud_id, number, id);
    create index eips_by_address_bp on eips (bp_id, cloud_id, number, id);
  `),
  '20261128_27_addresses_released_with_instances': migration('alter table eips add column release_with uuid'),
}

export const eipCounter = countsRows('eips', { eips: 'count(*)' })

const visible = (on: Sql, scope: Scope) => on.selectFrom('eips').where(within(scope, 'eips.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'eips', T>) =>
  query
    .leftJoin('organisations', 'organisations.id', 'eips.bp_id')
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'eips.vpc_id').on('operations.status', 'in', openStatuses))
    .selectAll('eips')
    .select((of) => [
      'organisations.name as bp_name',
      'operations.id as operation_id',
      jsonObjectFrom(of.selectFrom('eip_pools').whereRef('eip_pools.id', '=', 'eips.pool_id').select(['eip_pools.id', 'eip_pools.name']))
        .$notNull()
        .as('pool'),
      jsonObjectFrom(of.selectFrom('vms').whereRef('vms.id', '=', 'eips.vm_id').select(['vms.id', 'vms.name'])).as('vm'),
      jsonObjectFrom(of.selectFrom('nat_gateways').whereRef('nat_gateways.id', '=', 'eips.nat_id').select(['nat_gateways.id', 'nat_gateways.name'])).as('nat'),
      jsonObjectFrom(of.selectFrom('vpcs').whereRef('vpcs.id', '=', 'eips.vpc_id').select(['vpcs.id', 'vpcs.name'])).as('vpc'),
    ])

const order = {
  by: { address: 'eips.number', name: 'eips.name', status: 'eips.status', created_at: 'eips.created_at' },
  fallback: '-created_at',
  id: 'eips.id',
}

export async function listEips(on: Sql, scope: Scope, query: QueryOf<typeof eips.list>): Promise<{ total: number; rows: ShownEip[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'eips', 'cloud_id', 'pool_id', 'status', 'vpc_id'))
    .where(matching(query.keyword, 'eips.search'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('eips').where('eips.id', 'in', ids)))
}

export const getEip = (on: Sql, scope: Scope, id: string): Promise<ShownEip | undefined> =>
  shown(visible(on, scope).where('eips.id', '=', id)).executeTakeFirst()

/** Locked after its network. */
export const { insert: insertEips, update: updateEip, remove: deleteEip, lock: lockEip } = rowsOf('eips', 'updated_at')

export const eipOfVm = (on: Sql, vmId: string): Promise<EipRow | undefined> => on.selectFrom('eips').selectAll().where('vm_id', '=', vmId).executeTakeFirst()

/** An instance that may be led to, and the private network it is in, if any. */
export const vmTarget = (
  on: Sql,
  scope: Scope,
  id: string,
): Promise<{ cloud_id: string; bp_id: string | null; status: string; vpc_id: string | null } | undefined> =>
  on
    .selectFrom('vms')
    .leftJoin('vpc_addresses', 'vpc_addresses.vm_id', 'vms.id')
    .where(within(scope, 'vms.bp_id'))
    .where('vms.id', '=', id)
    .select(['vms.cloud_id', 'vms.bp_id', 'vms.status', 'vpc_addresses.vpc_id'])
    .executeTakeFirst()

/** Those of a pool with these addresses, in order. */
export const eipsByNumber = (on: Sql, scope: Scope, poolId: string, numbers: readonly number[]): Promise<ShownEip[]> =>
  shown(visible(on, scope).where('eips.pool_id', '=', poolId).where('eips.number', 'in', numbers))
    .orderBy('eips.number')
    .execute()

export const countInPool = (on: Sql, poolId: string): Promise<number> => counted(on.selectFrom('eips').where('pool_id', '=', poolId))

/** Is to lead to a target of that network, by that change of it. */
export const bindEip = (tx: Tx, id: string, to: { vpc_id: string; changed_at_wanted: number } & ({ vm_id: string } | { nat_id: string })): Promise<void> =>
  updateEip(tx, id, { ...to, status: 'binding', error_text: null, release_with: null })

/** They are to lead nowhere, by that change of their network. */
export const unbindEips = async (
  tx: Tx,
  by: { id: string } | { vm_id: string } | { nat_id: string } | { vpc_id: string },
  changedAtWanted: number,
): Promise<void> => {
  const [[column, value] = ['id', '']] = Object.entries(by)
  await tx
    .updateTable('eips')
    .set({ status: 'unbinding', unbinding: true, error_text: null, changed_at_wanted: changedAtWanted, updated_at: sql`now()` })
    .where(sql.ref(column), '=', value)
    .execute()
}

/** What failed is tried again. */
export const retryEips = async (tx: Tx, vpcId: string): Promise<void> => {
  await tx
    .updateTable('eips')
    .set({ status: sql`case when unbinding then 'unbinding' else 'binding' end`, error_text: null, updated_at: sql`now()` })
    .where('vpc_id', '=', vpcId)
    .where('status', '=', 'error')
    .execute()
}

/** Its instance is gone: the next time that it leads nowhere it goes too. */
const isToGo = sql<boolean>`release_with is not null and not exists (select from vms where vms.id = release_with)`

/** Those that go with an instance and lead nowhere any more go; the others as soon as they do. In the transaction that removes its row, after it. */
export const releaseGone = async (tx: Tx, vmId: string): Promise<void> => {
  await tx.deleteFrom('eips').where('release_with', '=', vmId).where('status', '=', 'available').execute()
}

/** The instance stays, and so does what was to go with it. */
export const keepReleased = async (tx: Tx, vmId: string): Promise<void> => {
  await tx.updateTable('eips').set({ release_with: null }).where('release_with', '=', vmId).execute()
}

/** The engine has all changes of a network up to this one: bound are those that were to be, free again those that were not. */
export async function settleEips(tx: Tx, vpcId: string, applied: number): Promise<void> {
  const changed = tx.updateTable('eips').where('vpc_id', '=', vpcId).where('changed_at_wanted', '<=', applied)
  await changed
    .set({ status: 'bound', updated_at: sql`now()` })
    .where('unbinding', '=', false)
    .where('status', '=', 'binding')
    .execute()
  await tx.deleteFrom('eips').where('vpc_id', '=', vpcId).where('changed_at_wanted', '<=', applied).where('unbinding', '=', true).where(isToGo).execute()
  await changed
    .set({ status: 'available', error_text: null, vm_id: null, nat_id: null, vpc_id: null, unbinding: false, updated_at: sql`now()` })
    .where('unbinding', '=', true)
    .execute()
}

/** What was being bound or unbound was not. */
export const failEips = async (tx: Tx, vpcId: string, text: string): Promise<void> => {
  await tx
    .updateTable('eips')
    .set({ status: 'error', error_text: text, updated_at: sql`now()` })
    .where('vpc_id', '=', vpcId)
    .where('status', 'in', ['binding', 'unbinding'])
    .execute()
}

/** Its instance is gone, and with it the limit of its NIC. */
export const detachEips = async (tx: Tx, vmId: string): Promise<void> => {
  await tx.updateTable('eips').set({ vm_id: null }).where('vm_id', '=', vmId).execute()
  await tx.updateTable('eips').set({ limit_vm_id: null, limit_mbps: null }).where('limit_vm_id', '=', vmId).execute()
}

/** Puts down how each did that was applied to the engine: those of the map by its text, the others well. Under the network's lock. */
export async function noteOutcome(tx: Tx, ids: readonly string[], failed: ReadonlyMap<string, string>): Promise<void> {
  for (const [id, text] of failed)
    await tx.updateTable('eips').set({ status: 'error', error_text: text }).where('id', '=', id).where('unbinding', '=', false).execute()
  const well = ids.filter((id) => !failed.has(id))
  if (well.length === 0) return
  await tx
    .updateTable('eips')
    .set({ status: sql`case when status = 'error' then 'binding' else status end`, error_text: null })
    .where('id', 'in', well)
    .where('unbinding', '=', false)
    .where((where) => where.or([where('status', '=', 'error'), where('error_text', 'is not', null)]))
    .execute()
}

/** Addresses of a network that could not be led to where they are to. */
export const failedEips = async (on: Sql, vpcId: string): Promise<Set<string>> =>
  new Set(
    (await on.selectFrom('eips').select('number').where('vpc_id', '=', vpcId).where('status', '=', 'error').execute()).map(({ number }) => addressText(number)),
  )

/** A limit on a NIC as it is to be and as it is; an instance that is to have none is null. */
export interface NicLimit {
  id: string
  wanted: { vm_id: string; mbps: number } | null
  given: { vm_id: string; mbps: number } | null
}

/** Addresses of a network whose limit differs from what their instance's NIC was given. */
export async function limitsToChange(on: Sql, vpcId: string): Promise<NicLimit[]> {
  const rows = await on
    .selectFrom('eips')
    .select(['id', 'vm_id', 'unbinding', 'bandwidth_mbps', 'limit_vm_id', 'limit_mbps'])
    .where('vpc_id', '=', vpcId)
    .where((where) => where.or([where('vm_id', 'is not', null), where('limit_vm_id', 'is not', null)]))
    .orderBy('number')
    .execute()
  return rows
    .map((row) => ({
      id: row.id,
      wanted: row.vm_id !== null && !row.unbinding && row.bandwidth_mbps !== null ? { vm_id: row.vm_id, mbps: row.bandwidth_mbps } : null,
      given: row.limit_vm_id !== null && row.limit_mbps !== null ? { vm_id: row.limit_vm_id, mbps: row.limit_mbps } : null,
    }))
    .filter(({ wanted, given }) => wanted?.vm_id !== given?.vm_id || wanted?.mbps !== given?.mbps)
}
