import { quotaResources, type QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { sql } from 'kysely'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { matching, paged, pageWithTotal, type PageQuery } from '../../../platform/db/page.ts'

interface QuotaTable {
  bp_id: string
  /** Null: of the organisation as a whole. */
  project_id: string | null
  resource: QuotaResource
  /** Null lifts the default. */
  most: number | null
}
interface QuotaDefaultTable {
  resource: QuotaResource
  most: number | null
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    quotas: QuotaTable
    quota_defaults: QuotaDefaultTable
  }
}

export const quotaMigrations: Migrations = {
  '20261123_00_11_quotas': migration(`
    create table quotas (
      bp_id uuid not null references organisations on delete cascade,
      project_id uuid references projects on delete cascade,
      resource text not null,
      most bigint check (most >= 0),
      unique nulls not distinct (bp_id, project_id, resource)
    );
    create table quota_defaults (
      resource text primary key,
      most bigint check (most >= 0)
    );
  `),
}

/** Whose: an organisation's as a whole, or one of its projects'. */
export interface Owner {
  bp_id: string
  project_id: string | null
}
/** Null for no limit; a resource that is missing has no limit of its own. */
export type Limits = Partial<Record<QuotaResource, number | null>>

export async function ownLimits(on: Sql, owner: Owner): Promise<Limits> {
  const rows = await on
    .selectFrom('quotas')
    .select(['resource', 'most'])
    .where('bp_id', '=', owner.bp_id)
    .where('project_id', 'is not distinct from', owner.project_id)
    .execute()
  return Object.fromEntries(rows.map(({ resource, most }) => [resource, most]))
}

/** Where nobody has said otherwise: what people send fills the disk that the platform itself lives on. */
const builtIn: Limits = { file_bytes: 100 * 2 ** 30 }

export async function defaultLimits(on: Sql): Promise<Limits> {
  const rows = await on.selectFrom('quota_defaults').selectAll().execute()
  return { ...builtIn, ...Object.fromEntries(rows.map(({ resource, most }) => [resource, most])) }
}

/** Exactly these; what is missing falls back to the default. */
export async function setLimits(tx: Tx, owner: Owner, limits: Limits): Promise<void> {
  await tx.deleteFrom('quotas').where('bp_id', '=', owner.bp_id).where('project_id', 'is not distinct from', owner.project_id).execute()
  const rows = given(limits).map(([resource, most]) => ({ ...owner, resource, most }))
  if (rows.length > 0) await tx.insertInto('quotas').values(rows).execute()
}

export async function setDefaults(tx: Tx, limits: Limits): Promise<void> {
  await tx.deleteFrom('quota_defaults').execute()
  const rows = given(limits).map(([resource, most]) => ({ resource, most }))
  if (rows.length > 0) await tx.insertInto('quota_defaults').values(rows).execute()
}

const given = (limits: Limits): [QuotaResource, number | null][] =>
  quotaResources.flatMap((resource) => {
    const most = limits[resource]
    return most === undefined ? [] : [[resource, most]]
  })

/** Whoever takes from an organisation's quota takes one after the other, until the transaction ends. */
export const lockQuota = async (tx: Tx, bpId: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(hashtextextended('quota ' || ${bpId}::text, 11))`.execute(tx)
}

export async function listOrganisations(
  on: Sql,
  query: PageQuery & { keyword?: string | undefined },
): Promise<{ total: number; rows: { id: string; name: string }[] }> {
  const filtered = on.selectFrom('organisations').where(matching(query.keyword, 'name'))
  return pageWithTotal(paged(filtered.select(['id', 'name']), query, { by: { bp_name: 'name' }, fallback: 'bp_name', id: 'id' }), filtered, query)
}

export const getOrganisation = (on: Sql, id: string): Promise<{ id: string; name: string } | undefined> =>
  on.selectFrom('organisations').select(['id', 'name']).where('id', '=', id).executeTakeFirst()

export const getProject = (on: Sql, bpId: string, id: string): Promise<{ id: string; name: string } | undefined> =>
  on.selectFrom('projects').select(['id', 'name']).where('bp_id', '=', bpId).where('id', '=', id).executeTakeFirst()
