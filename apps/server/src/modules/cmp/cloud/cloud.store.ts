import {
  capacitySteps,
  type Cloud,
  type CloudCapacity,
  type CloudProduct,
  type CloudServiceState,
  type CloudStatus,
  type CapacityRange,
  type CapacitySample,
} from '@zhisuan/contract/cmp/cloud'
import { sql, type Generated, type Insertable, type Selectable, type Updateable } from 'kysely'
import { iso, migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, pageWithTotal, paged, type PageQuery } from '../../../platform/db/page.ts'

/** What the engine said of itself the last time it was asked. */
export interface Observed {
  engine: string
  engine_version: string | null
  instance_types: { vm: { available: boolean; reason: string | null }; container: { available: boolean; reason: string | null } }
  /** Null where it does not tell. */
  capacity: CloudCapacity | null
}

interface CloudTable {
  id: string
  name: string
  description: string
  product: CloudProduct
  connection_type: string
  /** What may be shown of the connection. */
  address: string
  /** Sealed JSON of the whole connection, keys included. */
  connection: string
  labels: string[]
  status: CloudStatus
  health: Cloud['health']
  health_message: string | null
  usage: number | null
  observed: Observed | null
  /** Of an OpenStack. */
  services: Generated<CloudServiceState[]>
  checked_at: Date | null
  created_at: Generated<Date>
  /** Unregistered clouds are kept for what refers to them; they are nowhere shown. */
  deleted_at: Date | null
}

/** How full a cloud was. */
interface CapacitySampleTable {
  cloud_id: string
  at: Date
  cpu_total: number
  cpu_used: number
  memory_total: number
  memory_used: number
  disk_total: number
  disk_used: number
  nodes: number
  instances: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    clouds: CloudTable
    cloud_capacity_samples: CapacitySampleTable
  }
}
export type CloudRow = Selectable<CloudTable>

export const cloudMigrations: Migrations = {
  '20261123_00_07_clouds': migration(`
    create table clouds (
      id uuid primary key,
      name text not null,
      description text not null,
      product text not null check (product in ('nextstack', 'openstack', 'easystack')),
      connection_type text not null,
      address text not null,
      connection text not null,
      labels text[] not null default '{}',
      status text not null check (status in ('active', 'maintenance', 'offline')),
      health text not null check (health in ('unknown', 'reachable', 'degraded', 'unreachable', 'unauthorised')),
      health_message text,
      usage double precision,
      observed jsonb,
      services jsonb not null default '[]',
      checked_at timestamptz,
      created_at timestamptz not null default now(),
      deleted_at timestamptz
    );
    create unique index clouds_name on clouds (name) where deleted_at is null;
    create unique index clouds_address on clouds (address) where deleted_at is null and connection_type <> 'sandbox';
    create table cloud_capacity_samples (
      cloud_id uuid not null references clouds (id),
      at timestamptz not null,
      cpu_total double precision not null,
      cpu_used double precision not null,
      memory_total double precision not null,
      memory_used double precision not null,
      disk_total double precision not null,
      disk_used double precision not null,
      nodes integer not null,
      instances integer not null,
      primary key (cloud_id, at)
    );
    create index cloud_capacity_samples_at on cloud_capacity_samples (at);
  `),
}

const present = (on: Sql) => on.selectFrom('clouds').where('deleted_at', 'is', null)

export async function listClouds(
  on: Sql,
  query: PageQuery & { keyword?: string | undefined; product?: CloudProduct | undefined; status?: CloudStatus | undefined },
  show: { offline: boolean },
): Promise<{ total: number; rows: CloudRow[] }> {
  const filtered = present(on)
    .$if(!show.offline, (q) => q.where('status', '<>', 'offline'))
    .where(asked(query, 'clouds', 'product', 'status'))
    .where(matching(query.keyword, 'name'))
  const page = paged(filtered.selectAll(), query, { by: { name: 'name', created_at: 'created_at', usage: 'usage' }, fallback: 'created_at', id: 'id' })
  return pageWithTotal(page, filtered, query)
}

export const allClouds = (on: Sql): Promise<CloudRow[]> => present(on).selectAll().orderBy('created_at').execute()

export const getCloud = (on: Sql, id: string): Promise<CloudRow | undefined> => present(on).selectAll().where('id', '=', id).executeTakeFirst()

/** The same, held against changes by others until the transaction ends. */
export const lockCloud = (tx: Tx, id: string): Promise<CloudRow | undefined> => present(tx).selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** Held against removal and against changes of its status, while something is made on it. */
export const shareCloud = (tx: Tx, id: string): Promise<CloudRow | undefined> => present(tx).selectAll().where('id', '=', id).forShare().executeTakeFirst()

/** Of which products there is a cloud. */
export const productsThere = async (on: Sql): Promise<readonly CloudProduct[]> =>
  (await present(on).select('product').distinct().execute()).map(({ product }) => product)

export const anyCloudEver = async (on: Sql): Promise<boolean> => (await on.selectFrom('clouds').select('id').limit(1).executeTakeFirst()) !== undefined

export const insertCloud = (tx: Tx, row: Insertable<CloudTable>): Promise<CloudRow> =>
  tx.insertInto('clouds').values(row).returningAll().executeTakeFirstOrThrow()

export const updateCloud = (on: Sql, id: string, changes: Updateable<CloudTable>): Promise<CloudRow | undefined> =>
  on.updateTable('clouds').set(changes).where('id', '=', id).where('deleted_at', 'is', null).returningAll().executeTakeFirst()

/** What an engine answered, or that it did not: nothing to a cloud that has moved to another meanwhile. */
export const recordHealth = async (
  on: Sql,
  row: Pick<CloudRow, 'id' | 'connection'>,
  changes: Pick<Updateable<CloudTable>, 'health' | 'health_message' | 'observed' | 'services' | 'usage' | 'checked_at'>,
): Promise<CloudRow | undefined> => {
  await on.updateTable('clouds').set(changes).where('id', '=', row.id).where('connection', '=', row.connection).where('deleted_at', 'is', null).execute()
  return getCloud(on, row.id)
}

/** Sum over all registered clouds of what their hosts have; what one has not told yet counts as nothing. */
export async function licenceUsage(on: Sql): Promise<{ nodes: number; cores: number }> {
  const sums = await present(on)
    .where('connection_type', '<>', 'sandbox')
    .select([
      sql<number>`coalesce(sum((observed->'capacity'->>'nodes')::bigint), 0)::bigint`.as('nodes'),
      sql<number>`coalesce(sum((observed->'capacity'->'cpu_cores'->>'physical')::numeric), 0)::bigint`.as('cores'),
    ])
    .executeTakeFirstOrThrow()
  return sums
}

/** Once more for the same moment changes nothing, so several servers may take it at once. */
export async function insertSamples(on: Sql, rows: readonly Insertable<CapacitySampleTable>[]): Promise<void> {
  if (rows.length > 0)
    await on
      .insertInto('cloud_capacity_samples')
      .values(rows)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

export const forgetSamples = async (on: Sql, before: Date): Promise<void> => {
  await on.deleteFrom('cloud_capacity_samples').where('at', '<', before).execute()
}

/** One sample of each step: its last. */
export async function capacitySamples(on: Sql, cloudId: string, range: CapacityRange, now: Date): Promise<CapacitySample[]> {
  const { lengthMs, stepMs } = capacitySteps[range]
  const { rows } = await sql<Selectable<CapacitySampleTable>>`
    select distinct on (step) date_bin(${`${stepMs} milliseconds`}::interval, at, timestamptz 'epoch') as step, *
    from cloud_capacity_samples
    where cloud_id = ${cloudId}::uuid and at > ${new Date(now.getTime() - lengthMs)} and at <= ${now}
    order by step, at desc
  `.execute(on)
  return rows.map((row) => ({
    at: iso(row.at),
    cpu_cores: { total: row.cpu_total, used: row.cpu_used },
    memory_bytes: { total: row.memory_total, used: row.memory_used },
    disk_bytes: { total: row.disk_total, used: row.disk_used },
    nodes: row.nodes,
    instances: row.instances,
  }))
}
