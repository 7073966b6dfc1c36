import type { QueryOf } from '@zhisuan/contract/define'
import type { eipPools } from '@zhisuan/contract/nextstack/eip'
import { sql, type Generated, type Selectable } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { replaceRows, rowsOf } from '../../../platform/db/rows.ts'

interface EipPoolTable {
  id: string
  cloud_id: string
  name: string
  description: string
  public: boolean
  /** Addresses that are not given out, as numbers. */
  excluded: number[]
  max_bandwidth_mbps: number | null
  /** As the cloud's hosts showed the last time that one was to limit something. */
  limits_bandwidth: Generated<boolean>
  /** How many may be given out: ranges without what is excluded. */
  address_count: number
  created_at: Generated<Date>
}
interface EipPoolRangeTable {
  pool_id: string
  cloud_id: string
  /** First and last address, as numbers. */
  first: number
  last: number
}
interface EipPoolOrganisationTable {
  pool_id: string
  bp_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    eip_pools: EipPoolTable
    eip_pool_ranges: EipPoolRangeTable
    eip_pool_organisations: EipPoolOrganisationTable
  }
}
export type EipPoolRow = Selectable<EipPoolTable>
export interface Range {
  first: number
  last: number
}
export type ShownEipPool = EipPoolRow & { address_used: number; ranges: Range[]; organisations: { id: string; name: string }[] }

export const poolNameIndex = 'eip_pools_name'
/** Broken by a range that overlaps another of its cloud. */
export const poolRangeRule = 'eip_pool_ranges_apart'

export const eipPoolMigrations: Migrations = {
  '20261123_00_17_eip_pools': migration(`
    create extension if not exists btree_gist;
    create table eip_pools (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      name text not null,
      description text not null,
      public boolean not null,
      excluded jsonb not null,
      max_bandwidth_mbps integer,
      address_count bigint not null,
      created_at timestamptz not null default now()
    );
    create unique index eip_pools_name on eip_pools (cloud_id, name);
    create table eip_pool_ranges (
      pool_id uuid not null references eip_pools on delete cascade,
      cloud_id uuid not null references clouds,
      first bigint not null,
      last bigint not null,
      constraint eip_pool_ranges_apart exclude using gist (cloud_id with =, int8range(first, last, '[]') with &&)
    );
    create index eip_pool_ranges_pool on eip_pool_ranges (pool_id, first);
    create table eip_pool_organisations (
      pool_id uuid not null references eip_pools on delete cascade,
      bp_id uuid not null references organisations on delete cascade,
      primary key (pool_id, bp_id)
    );
  `),
  '20261128_25_pools_limit_bandwidth': migration('alter table eip_pools add column limits_bandwidth boolean not null default true'),
}

/** Pools that the scope may take from. */
const visible = (on: Sql, scope: Scope) =>
  on.selectFrom('eip_pools').where((where) => {
    if ('everything' in scope) return where.val(true)
    if ('nothing' in scope) return where.val(false)
    const named = where.selectFrom('eip_pool_organisations').whereRef('pool_id', '=', 'eip_pools.id').where('bp_id', '=', scope.bp_id)
    return where.or([where('eip_pools.public', '=', true), where.exists(named)])
  })

const shown = (on: Sql, scope: Scope) =>
  visible(on, scope)
    .selectAll('eip_pools')
    .select((of) => [
      sql<number>`(select count(*) from eips where eips.pool_id = eip_pools.id)`.as('address_used'),
      jsonArrayFrom(of.selectFrom('eip_pool_ranges').whereRef('pool_id', '=', 'eip_pools.id').select(['first', 'last']).orderBy('first')).as('ranges'),
      jsonArrayFrom(
        of
          .selectFrom('eip_pool_organisations')
          .innerJoin('organisations', 'organisations.id', 'bp_id')
          .whereRef('pool_id', '=', 'eip_pools.id')
          .select(['organisations.id', 'organisations.name'])
          .orderBy('organisations.name'),
      ).as('organisations'),
    ])

export async function listPools(on: Sql, scope: Scope, query: QueryOf<typeof eipPools.list>): Promise<{ total: number; rows: ShownEipPool[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'eip_pools', 'cloud_id'))
    .where(matching(query.keyword, 'eip_pools.name'))
  const order = orderOf('eip_pools', 'name', 'name', 'created_at')
  return pageOf(filtered, query, order, (ids) => shown(on, scope).where('eip_pools.id', 'in', ids))
}

export const getPool = (on: Sql, scope: Scope, id: string): Promise<ShownEipPool | undefined> =>
  shown(on, scope).where('eip_pools.id', '=', id).executeTakeFirst()

/** Held against others who take from it or change it, until the transaction ends. */
export const lockPool = (tx: Tx, scope: Scope, id: string): Promise<EipPoolRow | undefined> =>
  visible(tx, scope).selectAll('eip_pools').where('eip_pools.id', '=', id).forUpdate().executeTakeFirst()

export const { insert: insertPool, update: updatePool, remove: deletePool } = rowsOf('eip_pools')

/** What a new pool of a cloud is to say of its hosts. */
export const limitsBandwidth = async (on: Sql, cloudId: string): Promise<boolean> =>
  (await on.selectFrom('eip_pools').select('id').where('cloud_id', '=', cloudId).where('limits_bandwidth', '=', false).limit(1).executeTakeFirst()) ===
  undefined

/** Of all pools of a cloud: the next to take an address is told before. */
export const setLimitsBandwidth = async (on: Sql, cloudId: string, limits: boolean): Promise<void> => {
  await on.updateTable('eip_pools').set({ limits_bandwidth: limits }).where('cloud_id', '=', cloudId).where('limits_bandwidth', '<>', limits).execute()
}

/** Exactly these. */
export async function setRanges(tx: Tx, { id, cloud_id }: { id: string; cloud_id: string }, ranges: readonly Range[]): Promise<void> {
  // One at a time: two who each insert a range that overlaps the other's would wait for each other (PostgreSQL calls it a deadlock).
  await sql`select pg_advisory_xact_lock(hashtextextended('eip ranges ' || ${cloud_id}::text, 13))`.execute(tx)
  await replaceRows(tx, 'eip_pool_ranges', { pool_id: id, cloud_id }, ranges)
}

/** Exactly these; what is no organisation is left out. */
export const setOrganisations = (tx: Tx, poolId: string, organisationIds: readonly string[]): Promise<void> =>
  replaceRows(
    tx,
    'eip_pool_organisations',
    { pool_id: poolId },
    organisationIds.map((bp_id) => ({ bp_id })),
  )

export const organisationsAmong = async (on: Sql, ids: readonly string[]): Promise<Set<string>> =>
  new Set(ids.length === 0 ? [] : (await on.selectFrom('organisations').select('id').where('id', 'in', ids).execute()).map(({ id }) => id))

/** The pool of a cloud with one of these addresses. */
export const poolWith = (on: Sql, cloudId: string, ranges: readonly Range[], except: string | null): Promise<{ name: string } | undefined> =>
  on
    .selectFrom('eip_pool_ranges')
    .innerJoin('eip_pools', 'eip_pools.id', 'pool_id')
    .select('eip_pools.name')
    .where('eip_pool_ranges.cloud_id', '=', cloudId)
    .where((where) => where.or(ranges.map((range) => where.and([where('first', '<=', range.last), where('last', '>=', range.first)]))))
    .$if(except !== null, (q) => q.where('pool_id', '<>', except))
    .limit(1)
    .executeTakeFirst()

/** What is free in a pool, in order: as many ranges as are asked for. Under the pool's lock. */
export async function freeRanges(tx: Tx, poolId: string, count: number): Promise<Range[]> {
  const { rows } = await sql<Range>`
    select lower(free) as first, upper(free) - 1 as last
    from unnest(
      (select range_agg(int8range(first, last, '[]')) from eip_pool_ranges where pool_id = ${poolId})
      - (select coalesce(range_agg(int8range(number, number, '[]')), '{}') from (
          select number from eips where pool_id = ${poolId}
          union all
          select jsonb_array_elements(excluded)::bigint from eip_pools where id = ${poolId}
        ) as taken)
    ) as free
    order by 1 limit ${count}`.execute(tx)
  return rows
}

/** Whether an address of a pool is free. Under the pool's lock. */
export async function isFree(tx: Tx, poolId: string, number: number): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select exists (select from eip_pool_ranges where pool_id = ${poolId} and ${number} between first and last)
      and not exists (select from eips where pool_id = ${poolId} and number = ${number})
      and not exists (select from eip_pools where id = ${poolId} and excluded @> to_jsonb(${number}::bigint)) as free`.execute(tx)
  return rows[0]?.free === true
}

/** One that is given out and lies outside the pool as it is now; undefined where all lie within. */
export async function givenOutside(tx: Tx, poolId: string): Promise<number | undefined> {
  const { rows } = await sql<{ number: number }>`
    select number from eips where pool_id = ${poolId} and not (
      exists (select from eip_pool_ranges where pool_id = ${poolId} and number between first and last)
      and not exists (select from eip_pools where id = ${poolId} and excluded @> to_jsonb(number))
    ) order by number limit 1`.execute(tx)
  return rows[0]?.number
}

/** Who has the addresses between two of them. */
export const holders = (on: Sql, poolId: string, range: Range): Promise<{ number: number; id: string; status: string; bp_name: string | null }[]> =>
  on
    .selectFrom('eips')
    .leftJoin('organisations', 'organisations.id', 'eips.bp_id')
    .select(['eips.number', 'eips.id', 'eips.status', 'organisations.name as bp_name'])
    .where('pool_id', '=', poolId)
    .where('number', '>=', range.first)
    .where('number', '<=', range.last)
    .execute()
