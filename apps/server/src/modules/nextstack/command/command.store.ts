import type { CommandStatus, commands } from '@zhisuan/contract/nextstack/command'
import type { VmStatus } from '@zhisuan/contract/nextstack/vm'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Generated, type Insertable, type Selectable, type SelectQueryBuilder } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageOf } from '../../../platform/db/page.ts'
import { tellsChanges } from '../../../platform/changes.ts'
import { within } from '../../../platform/db/scope.ts'
import { rowsOf } from '../../../platform/db/rows.ts'
import { readable, type Secrets } from '../../../platform/secrets.ts'
import { first, nameOf, openOutput, openScript, openTail, programOf, sealOutput, sealScript, type Streams } from './command.seal.ts'

interface CommandTable {
  id: string
  cloud_id: string
  bp_id: string | null
  /** What somebody called it; else only what it is found by: its script, sealed, tells what it is called. */
  name: string
  named: Generated<boolean>
  /** Sealed, see command.seal.ts. */
  script: string
  timeout_seconds: number
  status: Generated<CommandStatus>
  vm_count: number
  succeeded_count: Generated<number>
  /** Timed out ones too. */
  failed_count: Generated<number>
  /** Somebody wants no more of it. */
  cancelled: Generated<boolean>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
  finished_at: Date | null
}
/** One run in one instance, which may be gone by now. */
interface CommandResultTable {
  command_id: string
  vm_id: string
  vm_name: string
  position: number
  cloud_id: string
  bp_id: string | null
  status: Generated<CommandStatus>
  /** The server that runs it, see command.runner.ts. */
  runner: string | null
  exit_code: number | null
  /** Sealed, as is the end of it; null where nothing was printed. */
  output: string | null
  tail: string | null
  truncated: Generated<boolean>
  error_text: string | null
  started_at: Date | null
  finished_at: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    commands: CommandTable
    command_results: CommandResultTable
  }
}
export type CommandRow = Selectable<CommandTable>
/** With its script opened, and called as it is shown. */
export type ShownCommand = CommandRow & { bp_name: string | null }
export type CommandResultRow = Omit<Selectable<CommandResultTable>, 'cloud_id' | 'bp_id' | 'runner' | 'position' | 'output' | 'tail'> & Streams
export type ShownResult = CommandResultRow & { more: boolean }
/** Which run: of that command, in that instance. */
export type RunKey = Pick<CommandResultRow, 'command_id' | 'vm_id'>
/** A run that this server has just taken, and nobody else will; its script is sealed still. */
export type ClaimedRun = RunKey & Pick<CommandRow, 'cloud_id' | 'script' | 'timeout_seconds'>
export interface Printed extends Streams {
  truncated: boolean
}

export const commandMigrations: Migrations = {
  '20261123_00_15_commands': migration(`
    create table commands (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      script text not null,
      timeout_seconds integer not null check (timeout_seconds > 0),
      status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')),
      vm_count integer not null,
      succeeded_count integer not null default 0,
      failed_count integer not null default 0,
      cancelled boolean not null default false,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      finished_at timestamptz
    );
    create index commands_newest on commands (created_at, id);
    create index commands_newest_bp on commands (bp_id, created_at, id);
    create index commands_cloud on commands (cloud_id, created_at, id);
    create index commands_cloud_bp on commands (bp_id, cloud_id, created_at, id);
    create index commands_status on commands (status, created_at, id);
    create index commands_status_bp on commands (bp_id, status, created_at, id);
    create index commands_by_status on commands (status, id);
    create index commands_by_name on commands (name, id);
    create index commands_by_name_bp on commands (bp_id, name, id);
    create index commands_search on commands using gin (name gin_trgm_ops);
    ${tellsChanges('commands', 'nextstack.command')}
    create table command_results (
      command_id uuid not null references commands on delete cascade,
      vm_id uuid not null,
      vm_name text not null,
      position integer not null,
      cloud_id uuid not null,
      bp_id uuid,
      status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')),
      runner uuid check ((status = 'running') = (runner is not null)),
      exit_code integer,
      stdout text not null default '',
      stderr text not null default '',
      truncated boolean not null default false,
      error_text text,
      started_at timestamptz,
      finished_at timestamptz,
      primary key (command_id, vm_id)
    );
    create index command_results_open on command_results (cloud_id, status) where status in ('queued', 'running');
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('commands').where(within(scope, 'commands.bp_id'))

const shown = <T>(query: SelectQueryBuilder<Tables, 'commands', T>) =>
  query.leftJoin('organisations', 'organisations.id', 'commands.bp_id').selectAll('commands').select('organisations.name as bp_name')

const order = orderOf('commands', '-created_at', 'created_at', 'name', 'status')
/** Of a script, in lists. */
const scriptShown = 1_000

const open = (secrets: Secrets, row: ShownCommand): ShownCommand => {
  const script = readable(() => openScript(secrets, row), '')
  return { ...row, script, name: row.named ? row.name : nameOf(script) }
}

export async function listCommands(
  on: Sql,
  secrets: Secrets,
  scope: Scope,
  query: QueryOf<typeof commands.list>,
): Promise<{ total: number; rows: ShownCommand[] }> {
  const filtered = visible(on, scope)
    .where(asked(query, 'commands', 'cloud_id', 'status'))
    .where(matching(query.keyword, 'commands.name'))
  const { total, rows } = await pageOf(filtered, query, order, (ids) => shown(on.selectFrom('commands').where('commands.id', 'in', ids)))
  const opened = rows.map((row) => open(secrets, row))
  return { total, rows: opened.map((row) => ({ ...row, script: first(row.script, scriptShown) })) }
}

export async function getCommand(on: Sql, secrets: Secrets, scope: Scope, id: string): Promise<ShownCommand | undefined> {
  const row = await shown(visible(on, scope).where('commands.id', '=', id)).executeTakeFirst()
  return row === undefined ? undefined : open(secrets, row)
}

const resultColumns = ['command_id', 'vm_id', 'vm_name', 'status', 'exit_code', 'truncated', 'error_text', 'started_at', 'finished_at'] as const

/** Each with the end of what it printed. */
export async function listResults(on: Sql, secrets: Secrets, id: string): Promise<ShownResult[]> {
  const rows = await on
    .selectFrom('command_results')
    .select([...resultColumns, 'tail'])
    .where('command_id', '=', id)
    .orderBy('position')
    .execute()
  return rows.map(({ tail, ...row }) => ({
    ...row,
    ...readable(() => openTail(secrets, { command_id: row.command_id, vm_id: row.vm_id, tail }), { stdout: '', stderr: '', more: false }),
  }))
}

export async function getResult(on: Sql, secrets: Secrets, key: RunKey): Promise<CommandResultRow | undefined> {
  const found = await on
    .selectFrom('command_results')
    .select([...resultColumns, 'output'])
    .where('command_id', '=', key.command_id)
    .where('vm_id', '=', key.vm_id)
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { output, ...row } = found
  return { ...row, ...openOutput(secrets, { ...key, output }) }
}

/** Instances of the scope. */
export const vmsFor = (on: Sql, scope: Scope, ids: readonly string[]): Promise<{ id: string; name: string; status: VmStatus; cloud_id: string }[]> =>
  on
    .selectFrom('vms')
    .select(['id', 'name', 'status', 'cloud_id'])
    .where(within(scope, 'vms.bp_id'))
    .where('id', 'in', [...ids])
    .execute()

/** @param name what somebody called it */
export async function insertCommand(
  tx: Tx,
  secrets: Secrets,
  { name, ...row }: Omit<Insertable<CommandTable>, 'name' | 'named'> & { name: string | undefined },
  vms: readonly { id: string; name: string }[],
): Promise<void> {
  await tx
    .insertInto('commands')
    .values({ ...row, name: name ?? programOf(row.script), named: name !== undefined, script: sealScript(secrets, row.id, row.script) })
    .execute()
  await tx
    .insertInto('command_results')
    .values(
      vms.map((vm, position) => ({
        command_id: row.id,
        vm_id: vm.id,
        vm_name: vm.name,
        position,
        cloud_id: row.cloud_id,
        bp_id: row.bp_id,
      })),
    )
    .execute()
}

/** Locked before any of its results is changed: so nobody waits for another in a circle, and what is counted is whole. */
export const { lock: lockCommand } = rowsOf('commands')

/** What has not begun never will. The command is locked. */
export async function cancelQueued(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('commands').set({ cancelled: true }).where('id', '=', id).execute()
  await tx
    .updateTable('command_results')
    .set({ status: 'cancelled', finished_at: sql`now()` })
    .where('command_id', '=', id)
    .where('status', '=', 'queued')
    .execute()
}

/** Sums up how its runs stand. The command is locked. */
export async function sumUp(tx: Tx, id: string): Promise<void> {
  await sql`
    update commands set
      succeeded_count = of.succeeded,
      failed_count = of.failed + of.timed_out,
      status = case
        when of.queued = commands.vm_count then 'queued'
        when of.queued + of.running > 0 then 'running'
        when of.failed > 0 then 'failed'
        when of.timed_out > 0 then 'timed_out'
        when of.cancelled > 0 then 'cancelled'
        else 'succeeded' end,
      finished_at = case when of.queued + of.running > 0 then null else now() end,
      updated_at = now()
    from (
      select
        count(*) filter (where status = 'queued') as queued,
        count(*) filter (where status = 'running') as running,
        count(*) filter (where status = 'succeeded') as succeeded,
        count(*) filter (where status = 'failed') as failed,
        count(*) filter (where status = 'timed_out') as timed_out,
        count(*) filter (where status = 'cancelled') as cancelled
      from command_results where command_id = ${id}
    ) as of
    where commands.id = ${id}
  `.execute(tx)
}

/** Clouds with runs that wait for their turn. */
export const cloudsWithQueued = async (on: Sql): Promise<string[]> =>
  (await on.selectFrom('command_results').select('cloud_id').distinct().where('status', '=', 'queued').execute()).map(({ cloud_id }) => cloud_id)

/**
 * Takes runs of a cloud for a server, as many as may run at once: the organisation that has the
 * fewest running comes first, then who asked first.
 */
export async function claim(tx: Tx, runner: string, cloudId: string, most: { perCloud: number; perOrganisation: number }): Promise<ClaimedRun[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended('command ' || ${cloudId}::text, 13))`.execute(tx)
  const { rows: chosen } = await sql<RunKey>`
    with busy as (select bp_id, count(*) as count from command_results where cloud_id = ${cloudId} and status = 'running' group by bp_id),
    waiting as (
      select command_id, vm_id, position,
        row_number() over (partition by command_results.bp_id order by command_id, position) + coalesce(busy.count, 0) as nth
      from command_results left join busy on busy.bp_id is not distinct from command_results.bp_id
      where cloud_id = ${cloudId} and status = 'queued'
    )
    select command_id, vm_id from waiting
    where nth <= ${most.perOrganisation}
    order by nth, command_id, position
    limit greatest(0, ${most.perCloud} - (select coalesce(sum(count), 0) from busy))
  `.execute(tx)
  if (chosen.length === 0) return []
  const ids = [...new Set(chosen.map(({ command_id }) => command_id))].sort()
  const rows = new Map((await tx.selectFrom('commands').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()).map((row) => [row.id, row]))
  const { rows: taken } = await sql<RunKey>`
    update command_results set status = 'running', runner = ${runner}, started_at = now()
    from jsonb_to_recordset(${JSON.stringify(chosen)}::jsonb) as chosen (command_id uuid, vm_id uuid)
    where command_results.command_id = chosen.command_id and command_results.vm_id = chosen.vm_id and status = 'queued'
    returning command_results.command_id, command_results.vm_id
  `.execute(tx)
  for (const id of ids) await sumUp(tx, id)
  return taken.flatMap((run) => {
    const row = rows.get(run.command_id)
    return row === undefined ? [] : [{ ...run, cloud_id: row.cloud_id, script: row.script, timeout_seconds: row.timeout_seconds }]
  })
}

/** What became of a run that this server had. False where somebody has taken it for lost meanwhile. */
export async function endRun(
  tx: Tx,
  secrets: Secrets,
  runner: string,
  { command_id, vm_id }: RunKey,
  { stdout, stderr, ...outcome }: Printed & { status: CommandStatus; exit_code: number | null; error_text: string | null },
): Promise<boolean> {
  await tx.selectFrom('commands').select('id').where('id', '=', command_id).forUpdate().execute()
  const { numUpdatedRows } = await tx
    .updateTable('command_results')
    .set({ ...outcome, ...sealOutput(secrets, { command_id, vm_id }, { stdout, stderr }), runner: null, finished_at: sql`now()` })
    .where('command_id', '=', command_id)
    .where('vm_id', '=', vm_id)
    .where('status', '=', 'running')
    .where('runner', '=', runner)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await sumUp(tx, command_id)
  return numUpdatedRows > 0n
}

/** What was printed so far. */
export async function keepPrinted(tx: Tx, secrets: Secrets, runner: string, printed: readonly (RunKey & Printed)[]): Promise<void> {
  const ids = [...new Set(printed.map(({ command_id }) => command_id))].sort()
  await tx.selectFrom('commands').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
  for (const part of printed) {
    await tx
      .updateTable('command_results')
      .set({ ...sealOutput(secrets, { command_id: part.command_id, vm_id: part.vm_id }, part), truncated: part.truncated })
      .where('command_id', '=', part.command_id)
      .where('vm_id', '=', part.vm_id)
      .where('runner', '=', runner)
      .execute()
  }
  // Consoles are told by this one.
  await tx
    .updateTable('commands')
    .set({ updated_at: sql`now()` })
    .where('id', 'in', ids)
    .execute()
}

/** The runs that a server has, by the table, and whether somebody wants no more of them. */
export const runsOf = (on: Sql, runner: string): Promise<(RunKey & { cancelled: boolean })[]> =>
  on
    .selectFrom('command_results')
    .innerJoin('commands', 'commands.id', 'command_results.command_id')
    .select(['command_id', 'vm_id', 'commands.cancelled'])
    .where('command_results.status', '=', 'running')
    .where('runner', '=', runner)
    .execute()

export const runnersWithRuns = async (on: Sql): Promise<string[]> =>
  (await on.selectFrom('command_results').select('runner').distinct().where('status', '=', 'running').execute()).flatMap(({ runner }) => runner ?? [])

/** Whoever holds this lives. The lock goes with its connection. */
export const holdRunner = async (on: Sql, runner: string): Promise<void> => {
  await sql`select pg_advisory_lock(hashtextextended(${runner}::text, 17))`.execute(on)
}

export const releaseRunner = async (on: Sql, runner: string): Promise<void> => {
  await sql`select pg_advisory_unlock(hashtextextended(${runner}::text, 17))`.execute(on)
}
/** @throws where the connection, and with it the lock, is gone */
export const stillThere = async (on: Sql): Promise<void> => {
  await sql`select`.execute(on)
}

/** Ends the runs of a server that lives no more. @returns how many */
export async function endRunsOfDead(tx: Tx, runner: string, errorText: string): Promise<number> {
  const { rows } = await sql<{ dead: boolean }>`select pg_try_advisory_xact_lock(hashtextextended(${runner}::text, 17)) as dead`.execute(tx)
  return rows[0]?.dead === true ? endRuns(tx, await runsOf(tx, runner), runner, errorText) : 0
}

/** Ends runs that nobody goes on with. @returns how many */
export async function endRuns(tx: Tx, runs: readonly RunKey[], runner: string, errorText: string): Promise<number> {
  let ended = 0
  for (const run of runs.toSorted((one, other) => one.command_id.localeCompare(other.command_id))) {
    await tx.selectFrom('commands').select('id').where('id', '=', run.command_id).forUpdate().execute()
    const { numUpdatedRows } = await tx
      .updateTable('command_results')
      .set({ status: 'failed', error_text: errorText, runner: null, finished_at: sql`now()` })
      .where('command_id', '=', run.command_id)
      .where('vm_id', '=', run.vm_id)
      .where('runner', '=', runner)
      .executeTakeFirst()
    ended += Number(numUpdatedRows)
    await sumUp(tx, run.command_id)
  }
  return ended
}

/** At most so many at once, so that nobody waits long for the lock of a row. @returns how many */
export async function deleteBefore(on: Sql, moment: Date): Promise<number> {
  const { numDeletedRows } = await on
    .deleteFrom('commands')
    .where('id', 'in', on.selectFrom('commands').select('id').where('created_at', '<', moment).where('finished_at', 'is not', null).limit(500))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** With the cloud go the commands that were run on it. */
export const forgetCommands = async (tx: Tx, cloudId: string): Promise<void> => {
  await tx.deleteFrom('commands').where('cloud_id', '=', cloudId).execute()
}
