import type { AccessLevel } from '@zhisuan/contract/iam/service'
import type { KeyType } from '@zhisuan/contract/policy/keys'
import { sql, type Generated, type Insertable, type RawBuilder, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tables, type Tx } from '../../../platform/db/database.ts'
import { jsonb } from '../../../platform/db/jsonb.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto, rowsOf } from '../../../platform/db/rows.ts'
import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import type { ColumnType } from 'kysely'

type Json<T> = ColumnType<T, T, T>

interface CustomServiceTable {
  id: string
  /** Null: the platform's. */
  bp_id: string | null
  name: string
  description: string
  actions: Json<{ name: string; level: AccessLevel; description: string }[]>
  condition_keys: Json<{ name: string; type: KeyType; description: string }[]>
  created_by: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface CustomResourceTypeTable {
  service_id: string
  type: string
  pattern: string
  description: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    custom_services: CustomServiceTable
    custom_resource_types: CustomResourceTypeTable
  }
}

export const serviceMigrations: Migrations = {
  '20261123_00_63_custom_services': migration(`
    create table custom_services (
      id text primary key,
      bp_id uuid references organisations on delete cascade,
      name text not null,
      description text not null,
      actions jsonb not null,
      condition_keys jsonb not null,
      created_by text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index custom_services_bp on custom_services (bp_id);
    create table custom_resource_types (
      service_id text not null references custom_services on delete cascade,
      type text not null,
      pattern text not null,
      description text not null,
      primary key (service_id, type)
    );
  `),
}

/** As PostgreSQL named them. */
export const serviceIndex = 'custom_services_pkey'
export const typeIndex = 'custom_resource_types_pkey'

/** One's own, and the platform's, which policies of all may be about. */
const sees = (scope: Scope): RawBuilder<boolean> =>
  'nothing' in scope ? sql<boolean>`false` : sql<boolean>`(custom_services.bp_id is null or ${within(scope, 'custom_services.bp_id')})`

const shown = (on: Sql, scope: Scope) =>
  on
    .selectFrom('custom_services')
    .leftJoin('organisations', 'organisations.id', 'custom_services.bp_id')
    .where(sees(scope))
    .selectAll('custom_services')
    .select('organisations.name as bp_name')
    .select(
      sql<
        CustomResourceTypeTable[]
      >`(select coalesce(jsonb_agg(to_jsonb(of) order by of.type), '[]') from custom_resource_types as of where of.service_id = custom_services.id)`.as(
        'types',
      ),
    )
export type ShownService = NonNullable<Awaited<ReturnType<typeof getService>>>

export const listServices = (on: Sql, scope: Scope) => shown(on, scope).orderBy('custom_services.id').execute()
export const getService = (on: Sql, scope: Scope, id: string) => shown(on, scope).where('custom_services.id', '=', id).executeTakeFirst()

/** Whether somebody keeps it, rather than only sees it. */
export const isKept = async (on: Sql, scope: Scope, id: string): Promise<boolean> =>
  (await on.selectFrom('custom_services').select('id').where('id', '=', id).where(within(scope, 'custom_services.bp_id')).executeTakeFirst()) !== undefined

export const insertService = async (tx: Tx, { actions, condition_keys, ...row }: Insertable<Tables['custom_services']>): Promise<void> => {
  await tx
    .insertInto('custom_services')
    .values({ ...row, actions: jsonb(actions), condition_keys: jsonb(condition_keys) })
    .execute()
}
export const updateService = async (
  tx: Tx,
  id: string,
  { actions, condition_keys, ...row }: Updateable<Tables['custom_services']> & Pick<Insertable<Tables['custom_services']>, 'actions' | 'condition_keys'>,
): Promise<void> => {
  await tx
    .updateTable('custom_services')
    .set({ ...row, actions: jsonb(actions), condition_keys: jsonb(condition_keys), updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}
export const { remove: deleteService } = rowsOf('custom_services')

export const insertType = insertsInto('custom_resource_types')
export const updateType = async (tx: Tx, { service_id, type, ...row }: Insertable<Tables['custom_resource_types']>): Promise<void> => {
  await tx.updateTable('custom_resource_types').set(row).where('service_id', '=', service_id).where('type', '=', type).execute()
}
export const deleteType = async (tx: Tx, { service_id, type }: Pick<CustomResourceTypeTable, 'service_id' | 'type'>): Promise<void> => {
  await tx.deleteFrom('custom_resource_types').where('service_id', '=', service_id).where('type', '=', type).execute()
}

/** Policies are written against what there is, and what there is changes against policies: one of the two at a time. */
const vocabularyLock = 7_271_001
export const holdVocabulary = async (tx: Tx): Promise<void> => {
  await sql`select pg_advisory_xact_lock_shared(${vocabularyLock})`.execute(tx)
}
export const lockVocabulary = async (tx: Tx): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${vocabularyLock})`.execute(tx)
}

/** Versions of policies whose text has the service somewhere: in an action, a name, a condition key or a variable. */
export async function documentsNaming(tx: Tx, service: string): Promise<readonly { name: string; document: PolicyDocument }[]> {
  // The id of a service has no character that means something to LIKE.
  return tx
    .selectFrom('policy_versions')
    .innerJoin('policies', 'policies.id', 'policy_versions.policy_id')
    .select(['policies.name', 'policy_versions.document'])
    .where(sql<boolean>`policy_versions.document::text like any(${[`%"${service}.%`, `%"${service}:%`, `%zrn:${service}:%`, `%{${service}:%`]}::text[])`)
    .orderBy('policies.name')
    .execute()
}
