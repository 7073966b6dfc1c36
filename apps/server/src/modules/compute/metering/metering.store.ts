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
}

/**
 * Brings what is known of a kind to what a look saw. A change happened when the cloud says, but neither before the
 * look before, to which it was not so yet, nor before its owner had it, nor later than now.
 * @returns false where a look that began later was faster, or the cloud is not ours any more
 */
export async function recordLook(tx: Tx, { cloudId, type, began, now, seen, partial = false }: Look): Promise<boolean> {
  // Held against its removal, which forgets what was used there.
  const cloud = await tx.selectFrom('clouds').select('id').where('id', '=', cloudId).where('deleted_at', 'is', null).forShare().executeTakeFirst()
  if (cloud === undefined) return false
  await tx
    .insertInto('cloud_usage_looks')
    .values({ cloud_id: cloudId, type, began_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { began_at: before } = await tx
    .selectFrom('cloud_usage_looks')
    .select('began_at')
    .where('cloud_id', '=', cloudId)
    .where('type', '=', type)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (!partial) {
    if (before !== null && before >= began) return false
    await tx.updateTable('cloud_usage_looks').set({ began_at: began }).where('cloud_id', '=', cloudId).where('type', '=', type).execute()
  }
  // What was there before anybody looked is paid from now on.
  const last = before ?? now
  // Its own moment if it was made since, else that of its last change.
  const moment = (lower: ReturnType<typeof sql>) =>
    sql`least(${now}::timestamptz, greatest(${lower}, case when told.made > ${lower} then told.made else coalesce(told.changed, ${now}::timestamptz) end))`
  const lowerOfNew = sql`greatest(${last}::timestamptz, told.owned)`
  const lowerOfKnown = sql`greatest(had.since, ${last}::timestamptz, case when moved then told.owned end)`
  await sql`
    with told as materialized (
      select told.*, owner.bp_id, owner.project_id, owner.created_at as owned
      from jsonb_to_recordset(${JSON.stringify(seen)}::jsonb) as told (id uuid, name text, keystone_id text, usage jsonb, made timestamptz, changed timestamptz)
      join keystone_projects as owner on owner.cloud_id = ${cloudId} and owner.keystone_id = told.keystone_id
      -- What is left of somebody who is gone has nobody to pay.
      join organisations on organisations.id = owner.bp_id
    ),
    gone as (
      update cloud_usage as had set usage = '{}', keystone_id = null, since = greatest(had.since, ${now}::timestamptz)
      where not ${partial}::boolean and had.cloud_id = ${cloudId} and had.type = ${type} and not exists (select from told where told.id = had.id)
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
      set name = changed.name, keystone_id = changed.keystone_id, bp_id = changed.bp_id, project_id = changed.project_id, usage = changed.usage, since = changed.since
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
