import type { FlavorVm, flavors } from '@zhisuan/contract/nextstack/flavor'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type Expression, type Generated, type RawBuilder, type Selectable, type SelectQueryBuilder, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { iso, migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { asked, counted, matching, orderOf, pageWithTotal, paged, pagedTogether } from '../../../platform/db/page.ts'
import { rowsOf } from '../../../platform/db/rows.ts'

interface FlavorTable {
  id: string
  name: string
  description: Generated<string>
  cpu_cores: number
  memory_bytes: number
  disk_bytes: number
  /** Both null without GPUs. */
  gpu_model: string | null
  gpu_count: number | null
  public: Generated<boolean>
  created_at: Generated<Date>
}
/** Who may choose one that is not public. */
interface FlavorOrganisationTable {
  flavor_id: string
  bp_id: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    flavors: FlavorTable
    flavor_organisations: FlavorOrganisationTable
  }
}
export type FlavorRow = Selectable<FlavorTable>
export type ShownFlavor = FlavorRow & { organisations: { id: string; name: string }[]; vm_count: number }

export const flavorMigrations: Migrations = {
  '20261123_00_10_flavors': migration(`
    create table flavors (
      id uuid primary key,
      name text not null unique,
      cpu_cores integer not null check (cpu_cores > 0),
      memory_bytes bigint not null check (memory_bytes > 0),
      disk_bytes bigint not null check (disk_bytes > 0),
      description text not null default '',
      gpu_model text,
      gpu_count integer check (gpu_count > 0),
      public boolean not null default true,
      created_at timestamptz not null default now(),
      constraint flavors_gpu check ((gpu_model is null) = (gpu_count is null))
    );
    create table flavor_organisations (
      flavor_id uuid not null references flavors on delete cascade,
      bp_id uuid not null references organisations on delete cascade,
      primary key (flavor_id, bp_id)
    );
    create index flavor_organisations_bp on flavor_organisations (bp_id, flavor_id);
    create index flavors_memory on flavors (memory_bytes, id);
    create index flavors_cores on flavors (cpu_cores, id);
    create index flavors_created on flavors (created_at, id);
    create index flavors_search on flavors using gin (name gin_trgm_ops);
    create index vms_flavor on vms (flavor_id, created_at desc, id desc);
    -- For organisations, whose lists are read as parts: what is everybody's, and what is not.
    create index flavors_names_in_parts on flavors (public, name, id);
    create index flavors_cores_in_parts on flavors (public, cpu_cores, id);
    create index flavors_memory_in_parts on flavors (public, memory_bytes, id);
    create index flavors_created_in_parts on flavors (public, created_at, id);
    create index flavors_gpus on flavors (public, memory_bytes, id) where gpu_model is not null;
    -- The first sizes; administrators make others.
    insert into flavors (id, name, cpu_cores, memory_bytes, disk_bytes)
    select gen_random_uuid(), name, cores, mib * 1048576, gib * 1073741824
    from (values
      ('nano', 1, 256::bigint, 5::bigint),
      ('micro', 1, 512, 10),
      ('small', 1, 1024, 20),
      ('medium', 2, 2048, 40),
      ('large', 2, 4096, 60),
      ('xlarge', 4, 8192, 80),
      ('2xlarge', 8, 16384, 160)
    ) as first (name, cores, mib, gib);
  `),
}

/** Who may choose more flavors than these finds a page sooner by reading in its order and looking each up. */
const few = 1_000

/** What an organisation was chosen for; none of it is public. */
const chosenFor = (bpId: string): RawBuilder<boolean> =>
  sql<boolean>`not flavors.public and exists (select from flavor_organisations where flavor_organisations.flavor_id = flavors.id and flavor_organisations.bp_id = ${bpId})`

/** The same as parts of which one is empty. */
function chosenInOrder(bpId: string): RawBuilder<boolean>[] {
  const own = sql`from flavor_organisations where flavor_organisations.bp_id = ${bpId}`
  const many = sql<boolean>`(select count(*) from (select ${own} limit ${few + 1}) as reached) > ${few}`
  return [
    sql<boolean>`not flavors.public and not ${many} and flavors.id = any (array(select flavor_id ${own}))`,
    sql<boolean>`not flavors.public and ${many} and (select true ${own} and flavor_organisations.flavor_id = flavors.id)`,
  ]
}

/** The only way to flavors: what the scope may choose. */
const visible = (on: Sql, scope: Scope) =>
  on
    .selectFrom('flavors')
    .$if('nothing' in scope, (q) => q.where('flavors.public', '=', true))
    .$if('bp_id' in scope, (q) => q.where(sql<boolean>`(flavors.public or ${chosenFor('bp_id' in scope ? scope.bp_id : '')})`))

const shown = <T>(query: SelectQueryBuilder<Tables, 'flavors', T>) =>
  query.selectAll('flavors').select([
    sql<{ id: string; name: string }[]>`(
      select coalesce(jsonb_agg(jsonb_build_object('id', organisations.id, 'name', organisations.name) order by organisations.name), '[]')
      from flavor_organisations join organisations on organisations.id = flavor_organisations.bp_id
      where flavor_organisations.flavor_id = flavors.id
    )`.as('organisations'),
    sql<number>`(select count(*) from vms where vms.flavor_id = flavors.id)`.as('vm_count'),
  ])

const order = orderOf('flavors', 'memory_bytes', 'name', 'cpu_cores', 'memory_bytes', 'created_at')

export async function listFlavors(on: Sql, scope: Scope, query: QueryOf<typeof flavors.list>): Promise<{ total: number; rows: ShownFlavor[] }> {
  const found = (part: RawBuilder<boolean>) =>
    on
      .selectFrom('flavors')
      .where(part)
      .where(matching(query.keyword, 'flavors.name'))
      .where(asked(query, 'flavors', 'public'))
      .$if(query.gpu !== undefined, (q) => q.where('flavors.gpu_model', query.gpu === true ? 'is not' : 'is', null))
      .select('flavors.id')
  // As parts that have no row in common, so that an index answers each.
  const first = found('everything' in scope ? sql<boolean>`true` : sql<boolean>`flavors.public`)
  const chosen = 'bp_id' in scope ? chosenInOrder(scope.bp_id).map(found) : []
  // The page is cut out before its instances are counted.
  const cut = pagedTogether([first, ...chosen], query, order)
  return pageWithTotal(
    paged(shown(on.selectFrom('flavors').where('flavors.id', 'in', cut)), { ...query, page_num: 1 }, order),
    first,
    query,
    countedBeside(on, scope, query, found),
  )
}

/** What an organisation was chosen for, to be counted: without filters there is no need to look at the flavors. */
function countedBeside(
  on: Sql,
  scope: Scope,
  query: QueryOf<typeof flavors.list>,
  found: (part: RawBuilder<boolean>) => Expression<unknown>,
): Expression<unknown>[] {
  if (!('bp_id' in scope)) return []
  const filtered = (query.keyword ?? '') !== '' || query.gpu !== undefined || query.public === true
  return [filtered ? found(chosenFor(scope.bp_id)) : on.selectFrom('flavor_organisations').select('flavor_id').where('bp_id', '=', scope.bp_id)]
}

/** One of any organisation's: for who has seen to it already that it may be shown. */
export const getFlavor = (on: Sql, id: string): Promise<FlavorRow | undefined> => on.selectFrom('flavors').selectAll().where('id', '=', id).executeTakeFirst()

export const getShown = (on: Sql, scope: Scope, id: string): Promise<ShownFlavor | undefined> =>
  shown(visible(on, scope).where('flavors.id', '=', id)).executeTakeFirst()

/** Held until the transaction ends, so that it is not deleted while an instance is made with it. */
export const shareFlavor = (on: Sql, scope: Scope, id: string): Promise<FlavorRow | undefined> =>
  visible(on, scope).selectAll('flavors').where('flavors.id', '=', id).forKeyShare().executeTakeFirst()

/** Locked against who is about to use it. */
export const { insert: insertFlavor, remove: deleteFlavor, lockAny: lockFlavor } = rowsOf('flavors')

/** False where there is none. */
export const updateFlavor = async (tx: Tx, id: string, changes: Updateable<FlavorTable>): Promise<boolean> =>
  (await tx.updateTable('flavors').set(changes).where('id', '=', id).executeTakeFirst()).numUpdatedRows > 0n

/** Exactly these. @returns one of them that does not exist, or null */
export async function setOrganisations(tx: Tx, flavorId: string, bpIds: readonly string[]): Promise<string | null> {
  await tx.deleteFrom('flavor_organisations').where('flavor_id', '=', flavorId).execute()
  if (bpIds.length === 0) return null
  const known = new Set(
    (
      await tx
        .selectFrom('organisations')
        .select('id')
        .where('id', 'in', [...bpIds])
        .forKeyShare()
        .execute()
    ).map(({ id }) => id),
  )
  const missing = bpIds.find((id) => !known.has(id))
  if (missing !== undefined) return missing
  await tx
    .insertInto('flavor_organisations')
    .values([...known].map((bp_id) => ({ flavor_id: flavorId, bp_id })))
    .execute()
  return null
}

export const countVms = (on: Sql, id: string): Promise<number> => counted(on.selectFrom('vms').where('flavor_id', '=', id))

export async function listVms(on: Sql, id: string, query: QueryOf<typeof flavors.vms>): Promise<{ total: number; items: FlavorVm[] }> {
  const [total, rows] = await Promise.all([
    countVms(on, id),
    paged(
      on
        .selectFrom('vms')
        .innerJoin('clouds', 'clouds.id', 'vms.cloud_id')
        .leftJoin('organisations', 'organisations.id', 'vms.bp_id')
        .where('vms.flavor_id', '=', id)
        .select(['vms.id', 'vms.name', 'vms.status', 'vms.cloud_id', 'clouds.name as cloud_name', 'organisations.name as bp_name', 'vms.created_at']),
      query,
      orderOf('vms', '-created_at', 'created_at'),
    ).execute(),
  ])
  return { total, items: rows.map((row) => ({ ...row, created_at: iso(row.created_at) })) }
}
