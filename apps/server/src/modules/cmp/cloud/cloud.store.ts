import type { CloudProduct, CloudStatus } from '@zhisuan/contract/cmp/cloud'
import { sql, type Generated, type Insertable, type Selectable, type Updateable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { containing, paged, pageWithTotal, type PageQuery } from '../../../platform/db/page.ts'

/** What the engine said of itself the last time it was asked. */
export interface Observed {
  engine: string
  engine_version: string
  instance_types: { vm: { available: boolean; reason: string | null }; container: { available: boolean; reason: string | null } }
  cpu_cores: { total: number; used: number }
  memory_bytes: { total: number; used: number }
  disk_bytes: { total: number; used: number }
  nodes: number
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
  health: 'unknown' | 'reachable' | 'unreachable' | 'unauthorised'
  health_message: string | null
  usage: number | null
  observed: Observed | null
  checked_at: Date | null
  created_at: Generated<Date>
  /** Unregistered clouds are kept for what refers to them; they are nowhere shown. */
  deleted_at: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    clouds: CloudTable
  }
}
export type CloudRow = Selectable<CloudTable>

export const cloudMigrations: Migrations = {
  '20261121_20_clouds': migration(`
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
      health text not null check (health in ('unknown', 'reachable', 'unreachable', 'unauthorised')),
      health_message text,
      usage double precision,
      observed jsonb,
      checked_at timestamptz,
      created_at timestamptz not null default now(),
      deleted_at timestamptz
    );
    create unique index clouds_name on clouds (name) where deleted_at is null;
    create unique index clouds_address on clouds (address) where deleted_at is null and connection_type <> 'sandbox';
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
    .$if(query.product !== undefined, (q) => q.where('product', '=', query.product ?? 'nextstack'))
    .$if(query.status !== undefined, (q) => q.where('status', '=', query.status ?? 'active'))
    .$if(query.keyword !== undefined && query.keyword !== '', (q) => q.where('name', 'ilike', containing(query.keyword ?? '')))
  const page = paged(filtered.selectAll(), query, { by: { name: 'name', created_at: 'created_at', usage: 'usage' }, fallback: 'created_at', id: 'id' })
  return pageWithTotal(page, filtered, query)
}

export const allClouds = (on: Sql): Promise<CloudRow[]> => present(on).selectAll().orderBy('created_at').execute()

export const getCloud = (on: Sql, id: string): Promise<CloudRow | undefined> =>
  present(on).selectAll().where('id', '=', id).executeTakeFirst()

/** The same, held against changes by others until the transaction ends. */
export const lockCloud = (tx: Tx, id: string): Promise<CloudRow | undefined> =>
  present(tx).selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** Held against removal and against changes of its status, while something is made on it. */
export const shareCloud = (tx: Tx, id: string): Promise<CloudRow | undefined> =>
  present(tx).selectAll().where('id', '=', id).forShare().executeTakeFirst()

export const anyCloudEver = async (on: Sql): Promise<boolean> =>
  (await on.selectFrom('clouds').select('id').limit(1).executeTakeFirst()) !== undefined

export const insertCloud = (tx: Tx, row: Insertable<CloudTable>): Promise<CloudRow> =>
  tx.insertInto('clouds').values(row).returningAll().executeTakeFirstOrThrow()

export const updateCloud = (on: Sql, id: string, changes: Updateable<CloudTable>): Promise<CloudRow | undefined> =>
  on.updateTable('clouds').set(changes).where('id', '=', id).where('deleted_at', 'is', null).returningAll().executeTakeFirst()

/** What an engine answered, or that it did not: nothing to a cloud that has moved to another meanwhile. */
export const recordHealth = async (
  on: Sql,
  row: Pick<CloudRow, 'id' | 'connection'>,
  changes: Pick<Updateable<CloudTable>, 'health' | 'health_message' | 'observed' | 'usage' | 'checked_at'>,
): Promise<CloudRow | undefined> => {
  await on.updateTable('clouds').set(changes).where('id', '=', row.id).where('connection', '=', row.connection).where('deleted_at', 'is', null).execute()
  return getCloud(on, row.id)
}

/** Sum over all registered clouds; what one has not told yet counts as nothing. */
export async function licenceUsage(on: Sql): Promise<{ nodes: number; cores: number }> {
  const sums = await present(on)
    .where('connection_type', '<>', 'sandbox')
    .select([
      sql<number>`coalesce(sum((observed->>'nodes')::bigint), 0)::bigint`.as('nodes'),
      sql<number>`coalesce(sum((observed->'cpu_cores'->>'total')::numeric), 0)::bigint`.as('cores'),
    ])
    .executeTakeFirstOrThrow()
  return sums
}
