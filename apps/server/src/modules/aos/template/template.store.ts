import type { templates, Variable } from '@zhisuan/contract/aos/stack'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Selectable, type Updateable } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'

/** A version of a template; those of one name are one template. */
interface TemplateTable extends OwnedTable {
  version: string
  labels: ColumnType<string[], string, string>
  compose: string
  variables: ColumnType<Variable[], string, string>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stack_templates: TemplateTable
  }
}
export type ShownTemplate = Selectable<TemplateTable> & { version_count: number }

export const templateMigrations: Migrations = {
  '20261123_00_40_stack_templates': migration(`
    create table stack_templates (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      version text not null,
      description text not null,
      labels jsonb not null,
      compose text not null,
      variables jsonb not null,
      search text generated always as (name || ' ' || description) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index stack_templates_version on stack_templates (bp_id, name, version) nulls not distinct;
    create index stack_templates_newest on stack_templates (bp_id, name, created_at desc, id desc);
    create index stack_templates_search on stack_templates using gin (search gin_trgm_ops);
    create trigger stack_templates_tell_template after insert or update or delete on stack_templates for each row execute function tell_change('aos.template');
  `),
}

const visible = (on: Sql, scope: Scope) => on.selectFrom('stack_templates').where(within(scope, 'stack_templates.bp_id'))
const versionCount =
  sql<number>`(select count(*) from stack_templates as versions where versions.name = stack_templates.name and versions.bp_id is not distinct from stack_templates.bp_id)`.as(
    'version_count',
  )
/** No version of the same template came after it. */
const newest = sql<boolean>`not exists (select from stack_templates as later where later.name = stack_templates.name and later.bp_id is not distinct from stack_templates.bp_id and (later.created_at, later.id) > (stack_templates.created_at, stack_templates.id))`

const order = orderOf('stack_templates', '-updated_at', 'name', 'created_at', 'updated_at')

export async function listTemplates(on: Sql, scope: Scope, query: QueryOf<typeof templates.list>): Promise<{ total: number; rows: ShownTemplate[] }> {
  const filtered = visible(on, scope)
    // Whoever asks for one version gets that one.
    .$if(query.id === undefined, (q) => q.where(newest))
    .where(asked(query, 'stack_templates', 'id', 'name'))
    .$if(query.labels !== undefined && query.labels !== '', (q) =>
      q.where(sql<boolean>`stack_templates.labels @> ${JSON.stringify((query.labels ?? '').split(','))}::jsonb`),
    )
    .where(matching(query.keyword, 'stack_templates.search'))
  return pageWithTotal(paged(filtered.selectAll().select(versionCount), query, order), filtered, query)
}

export const getTemplate = (on: Sql, scope: Scope, id: string): Promise<ShownTemplate | undefined> =>
  visible(on, scope).selectAll().select(versionCount).where('stack_templates.id', '=', id).executeTakeFirst()

/** All versions of the template that this is one of, newest first. */
export const versionsOf = (on: Sql, scope: Scope, { name, bp_id }: Pick<ShownTemplate, 'name' | 'bp_id'>): Promise<ShownTemplate[]> =>
  visible(on, scope)
    .selectAll()
    .select(versionCount)
    .where('name', '=', name)
    .where(sql<boolean>`bp_id is not distinct from ${bp_id}::uuid`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

export const insertTemplate = insertsInto('stack_templates')

/** False where the scope shows none. */
export const updateTemplate = async (on: Sql, scope: Scope, id: string, changes: Updateable<TemplateTable>): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('stack_templates')
    .set({ ...changes, updated_at: sql`now()` })
    .where('id', '=', id)
    .where(within(scope, 'bp_id'))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** One version, where it has the name that is said, or all of a name that is the organisation's own. @returns how many */
export async function deleteTemplates(
  tx: Tx,
  scope: Scope,
  which: { id: string; name?: string | undefined } | { name: string; bp_id: string | null },
): Promise<number> {
  const { name } = which
  const { numDeletedRows } = await tx
    .deleteFrom('stack_templates')
    .where(within(scope, 'bp_id'))
    .$if(name !== undefined, (q) => q.where('name', '=', name ?? ''))
    .where('id' in which ? sql<boolean>`id = ${which.id}` : sql<boolean>`bp_id is not distinct from ${which.bp_id}::uuid`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export const hasTemplateNamed = async (on: Sql, bpId: string | null, name: string): Promise<boolean> =>
  (await on
    .selectFrom('stack_templates')
    .select('id')
    .where('name', '=', name)
    .where(sql<boolean>`bp_id is not distinct from ${bpId}::uuid`)
    .limit(1)
    .executeTakeFirst()) !== undefined
