import type { UsageEndReason } from '@zhisuan/contract/bill/consume'
import type { ProjectTrouble } from '@zhisuan/contract/compute/project'
import { sql, type Generated, type Selectable } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import type { Seen, Usage } from './metering.rules.ts'

/** What is there of one of ours on a cloud, as the last look at its kind saw it. */
interface CloudUsageTable {
  cloud_id: string
  /** The cloud's own. */
  id: string
  type: string
  name: string
  /** Null while it goes. */
  keystone_id: string | null
  bp_id: string
  project_id: string | null
  usage: Usage
  /** Since when it uses that, by that name. */
  since: Date
  /** A suspension stopped it, and not somebody else just before. */
  stopped_by_suspension: Generated<boolean>
  /** Why it is lost to its owner, and metered no more; null of what is there. */
  ended_because: UsageEndReason | null
}
interface CloudUsageLookTable {
  cloud_id: string
  type: string
  /** When the last look began that came to its end; null before the first. */
  began_at: Date | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    cloud_usage: CloudUsageTable
    cloud_usage_looks: CloudUsageLookTable
  }
}

export const computeMeteringMigrations: Migrations = {
  '20261123_00_67_cloud_usage': migration(`
    create table cloud_usage_looks (
      cloud_id uuid not null references clouds,
      type text not null,
      began_at timestamptz,
      primary key (cloud_id, type)
    );
    create table cloud_usage (
      cloud_id uuid not null references clouds,
      id uuid not null,
      type text not null,
      name text not null,
      keystone_id text,
      bp_id uuid not null,
      project_id uuid,
      usage jsonb not null,
      since timestamptz not null,
      stopped_by_suspension boolean not null default false,
      primary key (cloud_id, id)
    );
    create index cloud_usage_id on cloud_usage (id);

    -- As tables of resources of the first family do: in the transaction that changes the row, whoever changes it.
    create function tell_cloud_usage() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.usage <> '{}' then
          perform record_usage(old.type, old.id, old.name, old.bp_id, old.project_id, '{}', greatest(old.since, clock_timestamp()));
        end if;
      elsif tg_op = 'INSERT' then
        if new.usage <> '{}' then
          perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
        end if;
      elsif new.usage <> old.usage or (new.usage <> '{}' and (new.bp_id, new.project_id) is distinct from (old.bp_id, old.project_id))
        -- Bills call it by the name of its last event, also once it uses nothing any more.
        or (new.name <> old.name and exists (select from usage_events where resource_id = new.id)) then
        perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
      end if;
      return null;
    end $$;
    create trigger cloud_usage_tells after insert or update or delete on cloud_usage for each row execute function tell_cloud_usage();
  `),
  '20261126_92_cloud_usage_ended': migration(`
    alter table cloud_usage add column ended_because text;
    create index cloud_usage_lost on cloud_usage (keystone_id) where ended_because is not null;
    create or replace function tell_cloud_usage() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.usage <> '{}' then
          perform record_usage(old.type, old.id, old.name, old.bp_id, old.project_id, '{}', greatest(old.since, clock_timestamp()));
        end if;
      elsif tg_op = 'INSERT' then
        if new.usage <> '{}' then
          perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
        end if;
      elsif new.usage <> old.usage or (new.usage <> '{}' and (new.bp_id, new.project_id) is distinct from (old.bp_id, old.project_id))
        -- Bills call it by the name of its last event, also once it uses nothing any more.
        or (new.name <> old.name and exists (select from usage_events where resource_id = new.id)) then
        perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since, new.ended_because);
      end if;
      return null;
    end $$;
  `),
}

/** A whole list of one kind. */
export interface Look {
  readonly cloudId: string
  readonly type: string
  readonly began: Date
  readonly now: Date
  readonly seen: readonly Seen[]
  /** Not the whole list: what is not among it may be there still, and the next look sees it. */
  readonly partial?: boolean
  /** What became of some of them between the look before and this one. */
  readonly meanwhile?: readonly Meanwhile[]
}

/** Something used otherwise for a while that no look saw. */
export interface Meanwhile {
  readonly id: string
  /** What it was seen to use before: where that is not so any more, somebody else has told it. */
  readonly before: Usage
  readonly usage: Usage
  readonly at: Date
}

/** The look at which projects of a cloud there are: what lies in them is recorded before it or after it. */
const projectLook = 'compute.project'

/** A kind's look as it was recorded last, or none yet, held until the transaction ends. */
async function heldLook(tx: Tx, cloudId: string, type: string, how: 'changes' | 'stays'): Promise<Date | null> {
  await tx
    .insertInto('cloud_usage_looks')
    .values({ cloud_id: cloudId, type, began_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { began_at } = await tx
    .selectFrom('cloud_usage_looks')
    .select('began_at')
    .where('cloud_id', '=', cloudId)
    .where('type', '=', type)
    .$if(how === 'changes', (q) => q.forUpdate())
    .$if(how === 'stays', (q) => q.forShare())
    .executeTakeFirstOrThrow()
  return began_at
}
/** Held against its removal, which forgets what was used there. @returns false where it is not ours any more */
const holdCloud = async (tx: Tx, cloudId: string): Promise<boolean> =>
  (await tx.selectFrom('clouds').select('id').where('id', '=', cloudId).where('deleted_at', 'is', null).forShare().executeTakeFirst()) !== undefined
const setLook = async (tx: Tx, cloudId: string, type: string, began: Date): Promise<void> => {
  await tx.updateTable('cloud_usage_looks').set({ began_at: began }).where('cloud_id', '=', cloudId).where('type', '=', type).execute()
}

/**
 * Until the transaction ends nothing is recorded of what lies in a cloud's projects: before what is said of these.
 * @param began of a look at them
 * @returns false where one that began later was faster, or the cloud is not ours any more
 */
export async function holdProjects(tx: Tx, cloudId: string, began?: Date): Promise<boolean> {
  if (!(await holdCloud(tx, cloudId))) return false
  const before = await heldLook(tx, cloudId, projectLook, 'changes')
  if (began === undefined) return true
  if (before !== null && before >= began) return false
  await setLook(tx, cloudId, projectLook, began)
  return true
}

/** What lies in a project that is not there any more is lost, and metered no more. After {@link holdProjects}. */
export async function loseUsage(tx: Tx, cloudId: string, keystoneId: string, moment: Date, reason: UsageEndReason): Promise<void> {
  await tx
    .updateTable('cloud_usage')
    .set({ usage: {}, ended_because: reason, since: sql<Date>`greatest(since, ${moment}::timestamptz)` })
    .where('cloud_id', '=', cloudId)
    .where('keystone_id', '=', keystoneId)
    .where('ended_because', 'is', null)
    .execute()
}

/** The project is there again: what lies in it is seen by the next look, and metered from that moment on. After {@link holdProjects}. */
export async function findUsage(tx: Tx, cloudId: string, keystoneId: string, moment: Date): Promise<void> {
  await tx
    .updateTable('cloud_usage')
    .set({ ended_because: null, since: sql<Date>`greatest(since, ${moment}::timestamptz)` })
    .where('cloud_id', '=', cloudId)
    .where('keystone_id', '=', keystoneId)
    .where('ended_because', 'is not', null)
    .execute()
}

/** Nobody asks any more what was lost with a project. After {@link holdProjects}. */
export async function forgetLostUsage(tx: Tx, cloudId: string, keystoneId: string): Promise<void> {
  await tx.deleteFrom('cloud_usage').where('cloud_id', '=', cloudId).where('keystone_id', '=', keystoneId).where('ended_because', 'is not', null).execute()
}

/** What was lost with each of some projects of clouds: how much, and the first of it. */
export async function lostIn(on: Sql, keystoneIds: readonly string[], first: number) {
  const { rows } = await sql<{ cloud_id: string; keystone_id: string; count: number; lost: ProjectTrouble['lost'] }>`
    select cloud_id, keystone_id, count(*) as count,
      jsonb_agg(jsonb_build_object('id', id, 'type', type, 'name', name) order by type, name, id) filter (where place <= ${first}) as lost
    from (
      select *, row_number() over (partition by cloud_id, keystone_id order by type, name, id) as place
      from cloud_usage where keystone_id = any(${keystoneIds}) and ended_because is not null
    ) as one
    group by 1, 2
  `.execute(on)
  return rows
}

/** What a look sees otherwise than the one before: what each was seen to use then. Those that it does not see are gone. */
export async function seenOtherwise(on: Sql, cloudId: string, type: string, seen: readonly Seen[]): Promise<{ id: string; usage: Usage; gone: boolean }[]> {
  const { rows } = await sql<{ id: string; usage: Usage; gone: boolean }>`
    select had.id, had.usage, told.id is null as gone
    from cloud_usage as had
    left join jsonb_to_recordset(${JSON.stringify(seen.map(({ id, usage }) => ({ id, usage })))}::jsonb) as told (id uuid, usage jsonb) on told.id = had.id
    where had.cloud_id = ${cloudId} and had.type = ${type} and had.usage <> '{}' and (told.id is null or told.usage <> had.usage)
  `.execute(on)
  return rows
}

/** When the last look at a kind began. */
export const lastLook = async (on: Sql, cloudId: string, type: string): Promise<Date | null> =>
  (await on.selectFrom('cloud_usage_looks').select('began_at').where('cloud_id', '=', cloudId).where('type', '=', type).executeTakeFirst())?.began_at ?? null

/**
 * Brings what is known of a kind to what a look saw. A change happened when the cloud says, but neither before the
 * look before, to which it was not so yet, nor before its owner had it, nor later than now.
 * @returns false where a look that began later was faster, or the cloud is not ours any more
 */
export async function recordLook(tx: Tx, { cloudId, type, began, now, seen, partial = false, meanwhile = [] }: Look): Promise<boolean> {
  if (!(await holdCloud(tx, cloudId))) return false
  const before = await heldLook(tx, cloudId, type, 'changes')
  if (!partial) {
    if (before !== null && before >= began) return false
    await setLook(tx, cloudId, type, began)
  }
  await heldLook(tx, cloudId, projectLook, 'stays')
  const told = seen.map(({ id, name, keystone_id, usage, made, changed }) => ({ id, name, keystone_id, usage, made, changed }))
  // What was there before anybody looked is paid from now on.
  const last = before ?? now
  // Its own moment if it was made since, else that of its last change.
  const moment = (lower: ReturnType<typeof sql>) =>
    sql`least(${now}::timestamptz, greatest(${lower}, case when told.made > ${lower} then told.made else coalesce(told.changed, ${now}::timestamptz) end))`
  const lowerOfNew = sql`greatest(${last}::timestamptz, told.owned)`
  const lowerOfKnown = sql`greatest(had.since, ${last}::timestamptz, case when moved then told.owned end)`
  if (meanwhile.length > 0) {
    await sql`
      update cloud_usage as had set usage = told.usage, since = greatest(had.since, ${last}::timestamptz, least(${now}::timestamptz, told.at))
      from jsonb_to_recordset(${JSON.stringify(meanwhile)}::jsonb) as told (id uuid, before jsonb, usage jsonb, at timestamptz)
      where had.cloud_id = ${cloudId} and had.id = told.id and had.usage = told.before
    `.execute(tx)
  }
  await sql`
    with told as materialized (
      select told.*, owner.bp_id, owner.project_id, owner.created_at as owned
      from jsonb_to_recordset(${JSON.stringify(told)}::jsonb) as told (id uuid, name text, keystone_id text, usage jsonb, made timestamptz, changed timestamptz)
      join keystone_projects as owner on owner.cloud_id = ${cloudId} and owner.keystone_id = told.keystone_id
        -- What is left in a project that was deleted is nobody's.
        and owner.problem is distinct from 'deleted'
      -- What is left of somebody who is gone has nobody to pay.
      join organisations on organisations.id = owner.bp_id
    ),
    gone as (
      update cloud_usage as had set usage = '{}', keystone_id = null, since = greatest(had.since, ${now}::timestamptz)
      where not ${partial}::boolean and had.cloud_id = ${cloudId} and had.type = ${type} and had.ended_because is null and not exists (select from told where told.id = had.id)
    ),
    changed as (
      select told.*, case
        -- Only its name: used is the same, and was to this look.
        when not moved and not otherwise then greatest(had.since, ${began}::timestamptz)
        when not otherwise then greatest(had.since, least(${now}::timestamptz, ${lowerOfKnown}))
        else greatest(had.since, ${moment(lowerOfKnown)})
      end as since
      from told
      join cloud_usage as had on had.cloud_id = ${cloudId} and had.id = told.id
      cross join lateral (select (told.bp_id, told.project_id) is distinct from (had.bp_id, had.project_id) as moved, told.usage <> had.usage or told.keystone_id is distinct from had.keystone_id as otherwise) as how
      where moved or otherwise or told.name <> had.name
    ),
    updated as (
      update cloud_usage as had
      set name = changed.name, keystone_id = changed.keystone_id, bp_id = changed.bp_id, project_id = changed.project_id, usage = changed.usage, since = changed.since, ended_because = null
      from changed where had.cloud_id = ${cloudId} and had.id = changed.id
    )
    insert into cloud_usage (cloud_id, id, type, name, keystone_id, bp_id, project_id, usage, since)
    select ${cloudId}::uuid, told.id, ${type}::text, told.name, told.keystone_id, told.bp_id, told.project_id, told.usage, ${moment(lowerOfNew)} from told
    on conflict do nothing
  `.execute(tx)
  // Their end is told.
  await tx.deleteFrom('cloud_usage').where('cloud_id', '=', cloudId).where('type', '=', type).where('keystone_id', 'is', null).execute()
  return true
}

const instances = (on: Sql) =>
  on
    .selectFrom('cloud_usage')
    .select(['cloud_id', 'id', 'name', 'keystone_id', 'bp_id', 'usage', 'stopped_by_suspension'])
    .where('type', '=', 'compute.instance')
    .where('ended_because', 'is', null)
type MeteredInstance = Pick<Selectable<CloudUsageTable>, 'cloud_id' | 'id' | 'name' | 'keystone_id' | 'bp_id' | 'usage' | 'stopped_by_suspension'>

/** As the last look saw it; undefined where it is gone, or nobody's of ours. */
export const meteredInstance = (on: Sql, id: string): Promise<MeteredInstance | undefined> => instances(on).where('id', '=', id).executeTakeFirst()

/** What runs of an organisation's, as the last looks saw it. */
export const runningInstances = async (on: Sql, bpId: string): Promise<MeteredInstance[]> =>
  (await instances(on).where('bp_id', '=', bpId).orderBy('id').execute()).filter(isRunning)

export const setStoppedBySuspension = async (on: Sql, id: string, value: boolean): Promise<void> => {
  await on.updateTable('cloud_usage').set({ stopped_by_suspension: value }).where('id', '=', id).where('type', '=', 'compute.instance').execute()
}

/** Of one that does not run no processors are metered. */
export const isRunning = ({ usage }: Pick<MeteredInstance, 'usage'>): boolean => usage['vm.vcpu'] !== undefined

/** With their cloud: what is used there ends for us. */
export async function forgetCloudUsage(on: Sql, cloudId: string): Promise<void> {
  await on.deleteFrom('cloud_usage').where('cloud_id', '=', cloudId).execute()
  await on.deleteFrom('cloud_usage_looks').where('cloud_id', '=', cloudId).execute()
}
