import type { HostStatus, hosts } from '@zhisuan/contract/nextstack/host'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Host as EngineHost } from '@zhisuan/engines/hosts'
import { sql, type Generated, type RawBuilder, type Selectable, type SelectQueryBuilder } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { within } from '../../../platform/db/scope.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { endOperations, openStatuses } from '../../../platform/operations.ts'
import { tellsChanges } from '../../../platform/changes.ts'

/** What is kept of a host's hardware as the engine told it the last time that it answered. */
export type Hardware = Pick<EngineHost, 'cpu' | 'disks' | 'nics' | 'system'>

interface HostTable {
  id: string
  cloud_id: string
  /** Nobody's: hosts are the platform's. */
  bp_id: string | null
  name: string
  /** What people see: the running operation's status, else what was last observed. */
  status: HostStatus
  observed: HostStatus
  status_message: string
  schedulable: Generated<boolean>
  clustered: boolean
  address: string | null
  architecture: string
  hardware: Hardware
  memory_total_bytes: number
  memory_used_bytes: number
  error_text: string | null
  /** Counts changes by operations, so that an older observation cannot overwrite a newer state. */
  revision: Generated<number>
  /** When it last answered. */
  seen_at: Date
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    hosts: HostTable
  }
}
export type HostRow = Selectable<HostTable>
export interface GpuUse {
  model: string
  count: number
  used: number
}
/** What is promised to the instances that are on a host, or about to be. */
export interface Promised {
  vm_count: number
  cpu_cores: number
  memory_bytes: number
}
export type ShownHost = HostRow & { operation_id: string | null; gpus: GpuUse[]; promised: Promised }

export const hostMigrations: Migrations = {
  '20261123_00_26_hosts': migration(`
    create table hosts (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      status text not null check (status in ('online', 'offline', 'evacuated', 'evacuating', 'restoring', 'gone')),
      observed text not null check (observed in ('online', 'offline', 'evacuated', 'gone')),
      status_message text not null,
      schedulable boolean not null default true,
      clustered boolean not null,
      address text,
      architecture text not null,
      hardware jsonb not null,
      memory_total_bytes bigint not null,
      memory_used_bytes bigint not null,
      error_text text,
      revision integer not null default 0,
      seen_at timestamptz not null default now(),
      unique (cloud_id, name)
    );
    create index hosts_name on hosts (name, id);
    create index vms_node on vms (cloud_id, node, status) include (cpu_cores, memory_bytes);
    ${tellsChanges('hosts', 'nextstack.host')}
  `),
}

/** Of clouds that are registered: one that is removed while its hosts are looked at may leave some behind. */
export const present = (on: Sql) =>
  on.selectFrom('hosts').where('hosts.cloud_id', 'in', on.selectFrom('clouds').select('clouds.id').where('clouds.deleted_at', 'is', null))

/**
 * The instances of one host: those on it, and where there is no cluster all of its cloud's, whose
 * engine names no place. What is lost takes nothing.
 */
const promised = sql<Promised>`case when hosts.clustered then ${promisedTo(sql`vms.node = hosts.name`)} else ${promisedTo(sql`true`)} end`
/** Each has a way through an index of its own. */
function promisedTo(those: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select jsonb_build_object('vm_count', count(*), 'cpu_cores', coalesce(sum(cpu_cores), 0), 'memory_bytes', coalesce(sum(memory_bytes), 0))
    from vms where vms.cloud_id = hosts.cloud_id and vms.status <> 'lost' and ${those}
  )`
}

const shown = <T>(query: SelectQueryBuilder<Tables, 'hosts', T>) =>
  query
    .leftJoin('operations', (join) => join.onRef('operations.resource_id', '=', 'hosts.id').on('operations.status', 'in', openStatuses))
    .selectAll('hosts')
    .select((of) => [
      'operations.id as operation_id',
      promised.as('promised'),
      jsonArrayFrom(
        of
          .selectFrom('host_gpus')
          .whereRef('host_gpus.host_id', '=', 'hosts.id')
          .select(['model', sql<number>`count(*)`.as('count'), sql<number>`count(*) filter (where ${taken})`.as('used')])
          .groupBy('model')
          .orderBy('model'),
      ).as('gpus'),
    ])
const taken = sql<boolean>`(host_gpus.vm_id is not null or host_gpus.taken_by is not null)`

const order = orderOf('hosts', 'name', 'name', 'status')

export async function listHosts(on: Sql, query: QueryOf<typeof hosts.list>): Promise<{ total: number; rows: ShownHost[] }> {
  const filtered = present(on)
    .where(asked(query, 'hosts', 'cloud_id', 'status'))
    .where(matching(query.keyword, 'hosts.name'))
  return pageOf(filtered, query, order, (ids) => shown(on.selectFrom('hosts').where('hosts.id', 'in', ids)))
}

export const getHost = (on: Sql, id: string): Promise<ShownHost | undefined> => shown(present(on).where('hosts.id', '=', id)).executeTakeFirst()

export const { update: updateHost, lockAny: lockHost } = rowsOf('hosts', 'revision')

/** Whether another host of its cloud takes what one gives away. */
export const hasOther = async (on: Sql, host: Pick<HostRow, 'id' | 'cloud_id'>): Promise<boolean> =>
  (await on
    .selectFrom('hosts')
    .select('id')
    .where('cloud_id', '=', host.cloud_id)
    .where('id', '<>', host.id)
    .where('status', '=', 'online')
    .limit(1)
    .executeTakeFirst()) !== undefined

/** What the observer compares with the engine. */
export const rowsOfCloud = (on: Sql, cloudId: string): Promise<Pick<HostRow, 'id' | 'name' | 'observed' | 'revision'>[]> =>
  on.selectFrom('hosts').select(['id', 'name', 'observed', 'revision']).where('cloud_id', '=', cloudId).execute()

/** Follows where no operation runs. */
const statusSeen = (observed: HostStatus) => sql<HostStatus>`case when exists (
  select from operations where operations.resource_id = hosts.id and operations.status in ('queued', 'running', 'undoing')
) then hosts.status else ${observed} end`

/** What is known of one that does not answer stands as it was. @returns its id */
export async function recordHost(
  on: Sql,
  cloudId: string,
  clustered: boolean,
  host: EngineHost,
  known: { id: string; revision: number } | undefined,
): Promise<string> {
  const { cpu, disks, nics, system } = host
  const hardware = jsonb<Hardware>({ cpu, disks, nics, system })
  const seen = {
    clustered,
    observed: host.status,
    status_message: host.statusMessage,
    address: host.address,
    ...(host.architecture !== '' && { architecture: host.architecture }),
    ...(answers(host) && { hardware, memory_total_bytes: host.memory.totalBytes }),
    memory_used_bytes: host.memory.usedBytes,
  }
  if (known === undefined) {
    const id = uuidv7()
    await on
      .insertInto('hosts')
      .values({
        id,
        cloud_id: cloudId,
        bp_id: null,
        name: host.name,
        status: host.status,
        error_text: null,
        architecture: host.architecture,
        hardware,
        memory_total_bytes: host.memory.totalBytes,
        ...seen,
        seen_at: sql`now()`,
      })
      // Another server was faster.
      .onConflict((conflict) => conflict.columns(['cloud_id', 'name']).doNothing())
      .execute()
    return (await on.selectFrom('hosts').select('id').where('cloud_id', '=', cloudId).where('name', '=', host.name).executeTakeFirstOrThrow()).id
  }
  await on
    .updateTable('hosts')
    .set({ ...seen, status: statusSeen(host.status), ...(host.status !== 'offline' && { seen_at: sql<Date>`now()` }) })
    .where('id', '=', known.id)
    .where('revision', '=', known.revision)
    .execute()
  return known.id
}

/** One that is off tells nothing of its hardware. */
export const answers = (host: Pick<EngineHost, 'memory'>): boolean => host.memory.totalBytes > 0

/** Hosts of which nothing more is known than that they are gone, or do not answer. */
export const recordAbsent = async (on: Sql, ids: readonly string[], observed: 'gone' | 'offline', message: string): Promise<void> => {
  if (ids.length === 0) return
  await on
    .updateTable('hosts')
    .set({ observed, status: statusSeen(observed), status_message: message, memory_used_bytes: 0 })
    .where('id', 'in', ids)
    .where('observed', '<>', observed)
    .execute()
}

/** Those that were taken away long ago, and on which nothing is left. */
export const deleteGone = async (on: Sql, cloudId: string, before: Date): Promise<void> => {
  await on
    .deleteFrom('hosts')
    .where('cloud_id', '=', cloudId)
    .where('status', '=', 'gone')
    .where('seen_at', '<', before)
    .where((of) => of.not(of.exists(of.selectFrom('host_gpus').whereRef('host_id', '=', 'hosts.id').where('vm_id', 'is not', null))))
    .execute()
}

/** Hosts of a cloud for who looks for a place, with what is promised there. */
export const placesOf = (
  tx: Tx,
  cloudId: string,
): Promise<(Pick<HostRow, 'id' | 'name' | 'status' | 'schedulable' | 'clustered' | 'memory_total_bytes'> & { promised_bytes: number })[]> =>
  tx
    .selectFrom('hosts')
    .select([
      'id',
      'name',
      'status',
      'schedulable',
      'clustered',
      'memory_total_bytes',
      // Where there is but one, nothing has to be weighed.
      sql<number>`(select coalesce(sum(memory_bytes), 0)::bigint from vms where hosts.clustered and vms.cloud_id = hosts.cloud_id and vms.node = hosts.name)`.as(
        'promised_bytes',
      ),
    ])
    .where('cloud_id', '=', cloudId)
    .where('status', '<>', 'gone')
    .orderBy('name')
    .execute()

/** What a host has in all, whoever uses it. */
export interface HostReach {
  threads: number
  memory_bytes: number
  /** Cards by their model. */
  gpus: Readonly<Record<string, number>>
}

/** What the hosts of a cloud have that are not gone, or that of one of its cluster. */
export async function reachOfHosts(on: Sql, cloudId: string, node: string | null): Promise<HostReach[]> {
  const { rows } = await sql<HostReach>`
    select coalesce((hardware -> 'cpu' ->> 'threads')::integer, 0) as threads, memory_total_bytes as memory_bytes,
      (select coalesce(jsonb_object_agg(model, count), '{}') from (select model, count(*) as count from host_gpus where host_id = hosts.id group by 1) as cards) as gpus
    from hosts where cloud_id = ${cloudId} and status <> 'gone' and (${node}::text is null or not clustered or name = ${node})
  `.execute(on)
  return rows
}

/** Where an instance is that somebody sees. */
export const placeOfVm = (on: Sql, scope: Scope, id: string): Promise<{ cloud_id: string; node: string | null } | undefined> =>
  on.selectFrom('vms').select(['cloud_id', 'node']).where(within(scope, 'vms.bp_id')).where('id', '=', id).executeTakeFirst()

/** Where an instance is to be made: of a clustered host that still takes some, its name. */
export const hostFor = async (on: Sql, vm: { cloud_id: string; node: string | null }): Promise<string | undefined> => {
  if (vm.node === null) return undefined
  const host = await on
    .selectFrom('hosts')
    .select('name')
    .where('cloud_id', '=', vm.cloud_id)
    .where('name', '=', vm.node)
    .where('clustered', '=', true)
    .where('status', '=', 'online')
    .executeTakeFirst()
  return host?.name
}

/** Of an instance whose host was chosen, before it is there. */
export const setNode = async (tx: Tx, vmId: string, node: string): Promise<void> => {
  await tx.updateTable('vms').set({ node }).where('id', '=', vmId).execute()
}

/** Removes the records of a cloud's hosts and their cards, and ends their open operations. */
export async function forgetHosts(tx: Tx, cloudId: string): Promise<void> {
  await endOperations(tx, tx.selectFrom('hosts').select('id').where('cloud_id', '=', cloudId), 'notFound')
  await tx.deleteFrom('hosts').where('cloud_id', '=', cloudId).execute()
}
