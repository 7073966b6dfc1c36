import type { OverviewKind, TrendRange, TrendSample } from '@zhisuan/contract/nextstack/overview'
import { overviewKinds, trendSteps } from '@zhisuan/contract/nextstack/overview'
import { sql, type Selectable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, migration, type Migrations, type Sql } from '../../../platform/db/database.ts'
import type { Kinds } from '../../../platform/kinds.ts'
import type { OperationRow } from '../../../platform/operations.ts'
import { within } from '../../../platform/db/scope.ts'

/** How many instances an organisation had, and what was promised to them. One without any has no row. */
interface OverviewSampleTable {
  /** {@link everybody}: all together; of them there is a row for each moment that was counted. */
  bp_id: string
  at: Date
  vms: number
  running: number
  cpu_cores: number
  memory_bytes: number
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    overview_samples: OverviewSampleTable
  }
}

const everybody = '00000000-0000-0000-0000-000000000000'

export const overviewMigrations: Migrations = {
  '20261123_00_29_overview': migration(`
    create table overview_samples (
      bp_id uuid not null,
      at timestamptz not null,
      vms integer not null,
      running integer not null,
      cpu_cores bigint not null,
      memory_bytes bigint not null,
      primary key (bp_id, at)
    );
    create index overview_samples_at on overview_samples (at);
    create index vms_totals on vms (bp_id, status) include (cpu_cores, memory_bytes);
    create index operations_newest on operations (created_at desc, id desc);
    create index operations_failed on operations (created_at desc, id desc) where status = 'failed';
  `),
}

export interface StatusCount {
  kind: OverviewKind
  status: string
  count: number
  /** Promised to instances; 0 of other kinds. */
  cpu_cores: number
  memory_bytes: number
}

/** How many there are of each kind in each status, of those that there are any of: one look at each table. */
export async function countStatuses(on: Sql, kinds: Kinds, scope: Scope): Promise<StatusCount[]> {
  const promised = sql`sum(cpu_cores)::bigint as cpu_cores, sum(memory_bytes)::bigint as memory_bytes`
  const nothing = sql`0::bigint as cpu_cores, 0::bigint as memory_bytes`
  const parts = overviewKinds.flatMap((kind) => {
    const table = kinds.get(kind)?.table
    return table === undefined
      ? []
      : sql`select ${kind}::text as kind, status, count(*) as count, ${kind === 'nextstack.vm' ? promised : nothing} from ${sql.table(table)} where ${within(scope, 'bp_id')} group by status`
  })
  return (await sql<StatusCount>`${sql.join(parts, sql` union all `)}`.execute(on)).rows
}

type Totals = Omit<Selectable<OverviewSampleTable>, 'bp_id' | 'at'>

/** Of instances, whatever their state. */
export const totals = (on: Sql, scope: Scope): Promise<Totals> =>
  on
    .selectFrom('vms')
    .select([
      sql<number>`count(*)`.as('vms'),
      sql<number>`count(*) filter (where status = 'running')`.as('running'),
      sql<number>`coalesce(sum(cpu_cores), 0)::bigint`.as('cpu_cores'),
      sql<number>`coalesce(sum(memory_bytes), 0)::bigint`.as('memory_bytes'),
    ])
    .where(within(scope, 'vms.bp_id'))
    .executeTakeFirstOrThrow()

/** Writes down what there is now. Once more for the same moment changes nothing. */
export async function takeSample(on: Sql, at: Date): Promise<void> {
  await sql`
    insert into overview_samples (bp_id, at, vms, running, cpu_cores, memory_bytes)
    select coalesce(bp_id, ${everybody}::uuid), ${at}::timestamptz, count(*), count(*) filter (where status = 'running'), coalesce(sum(cpu_cores), 0), coalesce(sum(memory_bytes), 0)
    from vms
    group by grouping sets ((bp_id), ())
    -- What belongs to nobody is in the sum of all only.
    having grouping(bp_id) = 1 or bp_id is not null
    on conflict do nothing
  `.execute(on)
}

export const forgetSamples = async (on: Sql, before: Date): Promise<void> => {
  await on.deleteFrom('overview_samples').where('at', '<', before).execute()
}

/** When counting began. */
export const firstSample = async (on: Sql): Promise<Date | null> =>
  (await on.selectFrom('overview_samples').select('at').where('bp_id', '=', everybody).orderBy('at').limit(1).executeTakeFirst())?.at ?? null

/** One sample of each step: its last. Moments at which the organisation had nothing are there, with nothing. */
export async function samples(on: Sql, scope: Scope, range: TrendRange, now: Date): Promise<TrendSample[]> {
  const { lengthMs, stepMs } = trendSteps[range]
  const whose = 'bp_id' in scope ? scope.bp_id : everybody
  const { rows } = await sql<Omit<TrendSample, 'at'> & { at: Date }>`
    select distinct on (step) date_bin(${`${stepMs} milliseconds`}::interval, moments.at, timestamptz 'epoch') as step,
      moments.at, coalesce(own.vms, 0) as vms, coalesce(own.running, 0) as running, coalesce(own.cpu_cores, 0) as cpu_cores, coalesce(own.memory_bytes, 0) as memory_bytes
    from overview_samples moments left join overview_samples own on own.bp_id = ${whose}::uuid and own.at = moments.at
    where moments.bp_id = ${everybody}::uuid and moments.at > ${new Date(now.getTime() - lengthMs)} and moments.at <= ${now}
    order by step, moments.at desc
  `.execute(on)
  return rows.map(({ at, vms, running, cpu_cores, memory_bytes }) => ({ at: iso(at), vms, running, cpu_cores, memory_bytes }))
}

const healthsInTrouble = ['unreachable', 'unauthorised', 'degraded'] as const

/** Clouds that are not as they should be, worst first: all, or those that the scope has instances or a Keystone project on. */
export const cloudsInTrouble = async (on: Sql, scope: Scope): Promise<{ id: string; name: string; health: (typeof healthsInTrouble)[number] }[]> => {
  const rows = await on
    .selectFrom('clouds')
    .select(['id', 'name', 'health'])
    .where('deleted_at', 'is', null)
    .where('status', '<>', 'offline')
    .where('health', 'in', healthsInTrouble)
    .$if(!('everything' in scope), (q) =>
      q.where((of) =>
        of.or([
          of.exists(of.selectFrom('vms').whereRef('vms.cloud_id', '=', 'clouds.id').where(within(scope, 'vms.bp_id'))),
          of.exists(
            of.selectFrom('keystone_projects').whereRef('keystone_projects.cloud_id', '=', 'clouds.id').where(within(scope, 'keystone_projects.bp_id')),
          ),
        ]),
      ),
    )
    .orderBy((of) => of('health', '=', 'degraded'))
    .orderBy('name')
    .limit(shownAlarms)
    .execute()
  return rows.flatMap(({ health, ...rest }) => healthsInTrouble.filter((one) => one === health).map((one) => ({ ...rest, health: one })))
}

/** More would not be read. */
const shownAlarms = 20

export const hostsInTrouble = (on: Sql): Promise<{ id: string; name: string; cloud_name: string; status: string }[]> =>
  on
    .selectFrom('hosts')
    .innerJoin('clouds', 'clouds.id', 'hosts.cloud_id')
    .select(['hosts.id', 'hosts.name', 'clouds.name as cloud_name', 'hosts.status'])
    .where('hosts.status', 'in', ['offline', 'gone'])
    .where('clouds.deleted_at', 'is', null)
    .where('clouds.status', '<>', 'offline')
    .orderBy('hosts.status', 'desc')
    .orderBy('hosts.name')
    .limit(shownAlarms)
    .execute()

export type EventRow = Omit<OperationRow, 'input'> & { bp_name: string | null }

/** Operations on what has a name, that somebody asked for, or that failed; newest first. */
const events = (on: Sql, kinds: Kinds, scope: Scope) =>
  on
    .selectFrom('operations')
    .leftJoin('organisations', 'organisations.id', 'operations.bp_id')
    .selectAll('operations')
    .select('organisations.name as bp_name')
    .where(
      'operations.resource_type',
      'in',
      [...kinds].flatMap(([kind, { table }]) => (table === undefined ? [] : kind)),
    )
    .where(within(scope, 'operations.bp_id'))
    .orderBy('operations.created_at', 'desc')
    .orderBy('operations.id', 'desc')

export const failedSince = (on: Sql, kinds: Kinds, scope: Scope, since: Date, limit: number): Promise<EventRow[]> =>
  events(on, kinds, scope).where('operations.status', '=', 'failed').where('operations.created_at', '>', since).limit(limit).execute()

export const newestEvents = (on: Sql, kinds: Kinds, scope: Scope, limit: number): Promise<EventRow[]> =>
  events(on, kinds, scope)
    .where((of) => of.or([of('operations.actor_id', 'is not', null), of('operations.status', '=', 'failed')]))
    .limit(limit)
    .execute()
