import { variable, type templates } from '@zhisuan/contract/aos/stack'
import type { QueryOf } from '@zhisuan/contract/define'
import { sql, type ColumnType, type Insertable, type Selectable, type Updateable } from 'kysely'
import { z } from 'zod'
import type { Scope } from '../../../platform/auth/actor.ts'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { asked, matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'
import { layOutAnew, rewriteRows } from '../../../platform/db/rewriting.ts'
import { insertsInto } from '../../../platform/db/rows.ts'
import type { OwnedTable } from '../../../platform/resource.shape.ts'
import { readable, type Secrets } from '../../../platform/secrets.ts'

/** A version of a template; those of one name are one template. */
interface TemplateTable extends OwnedTable {
  version: string
  labels: ColumnType<string[], string, string>
  /** Sealed JSON: both may name passwords. */
  content: string
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stack_templates: TemplateTable
  }
}
const templateContent = z.object({ compose: z.string(), variables: z.array(variable) })
type TemplateContent = z.output<typeof templateContent>
type Row = Selectable<TemplateTable> & { version_count: number }
export type ShownTemplate = Omit<Row, 'content'> & TemplateContent

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

const place = (id: string): string => `stack_templates.content:${id}`
const seal = (secrets: Secrets, id: string, { compose, variables }: TemplateContent): string => secrets.seal(JSON.stringify({ compose, variables }), place(id))
const open = (secrets: Secrets, { content, ...row }: Row): ShownTemplate => ({
  ...row,
  ...templateContent.parse(JSON.parse(secrets.open(content, place(row.id)))),
})

/** Among others: one that cannot be read is shown without its content. */
const openOf = (secrets: Secrets, row: Row): ShownTemplate => {
  const { content: _, ...shown } = row
  return readable(() => open(secrets, row), { ...shown, compose: '', variables: [] })
}

/** Seals what lay in clear. */
export const sealedTemplateMigrations = (secrets: Secrets): Migrations => ({
  '20261126_76_stack_templates_sealed': async (tx) => {
    await sql`alter table stack_templates add column content text`.execute(tx)
    await rewriteRows(
      tx,
      'stack_templates',
      sql<{ id: string } & TemplateContent>`select id, compose, variables from stack_templates`,
      ({ id, ...content }) => sql`update stack_templates set content = ${seal(secrets, id, content)} where id = ${id}`,
    )
    await sql`alter table stack_templates alter column content set not null, drop column compose, drop column variables`.execute(tx)
    await layOutAnew(tx, 'stack_templates', 'content')
  },
})

const visible = (on: Sql, scope: Scope) => on.selectFrom('stack_templates').where(within(scope, 'stack_templates.bp_id'))
const versionCount =
  sql<number>`(select count(*) from stack_templates as versions where versions.name = stack_templates.name and versions.bp_id is not distinct from stack_templates.bp_id)`.as(
    'version_count',
  )
/** No version of the same template came after it. */
const newest = sql<boolean>`not exists (
  select from stack_templates as later
  where later.name = stack_templates.name and later.bp_id is not distinct from stack_templates.bp_id
    and (later.created_at, later.id) > (stack_templates.created_at, stack_templates.id)
)`

const order = orderOf('stack_templates', '-updated_at', 'name', 'created_at', 'updated_at')

export async function listTemplates(
  on: Sql,
  secrets: Secrets,
  scope: Scope,
  query: QueryOf<typeof templates.list>,
): Promise<{ total: number; rows: ShownTemplate[] }> {
  const filtered = visible(on, scope)
    // Whoever asks for one version gets that one.
    .$if(query.id === undefined, (q) => q.where(newest))
    .where(asked(query, 'stack_templates', 'id', 'name'))
    .$if(query.labels !== undefined && query.labels !== '', (q) =>
      q.where(sql<boolean>`stack_templates.labels @> ${JSON.stringify((query.labels ?? '').split(','))}::jsonb`),
    )
    .where(matching(query.keyword, 'stack_templates.search'))
  const { total, rows } = await pageWithTotal(paged(filtered.selectAll().select(versionCount), query, order), filtered, query)
  return { total, rows: rows.map((row) => openOf(secrets, row)) }
}

export async function getTemplate(on: Sql, secrets: Secrets, scope: Scope, id: string): Promise<ShownTemplate | undefined> {
  const row = await visible(on, scope).selectAll().select(versionCount).where('stack_templates.id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : open(secrets, row)
}

/** All versions of the template that this is one of, newest first. */
export async function versionsOf(on: Sql, secrets: Secrets, scope: Scope, { name, bp_id }: Pick<ShownTemplate, 'name' | 'bp_id'>): Promise<ShownTemplate[]> {
  const rows = await visible(on, scope)
    .selectAll()
    .select(versionCount)
    .where('name', '=', name)
    .where(sql<boolean>`bp_id is not distinct from ${bp_id}::uuid`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) => openOf(secrets, row))
}

/** In clear. */
export const insertTemplate = (
  on: Sql,
  secrets: Secrets,
  { compose, variables, ...row }: Omit<Insertable<TemplateTable>, 'content'> & TemplateContent,
): Promise<void> => insertsInto('stack_templates')(on, { ...row, content: seal(secrets, row.id, { compose, variables }) })

/** False where the scope shows none. */
export const updateTemplate = async (
  on: Sql,
  secrets: Secrets,
  scope: Scope,
  id: string,
  { compose, variables, ...changes }: Omit<Updateable<TemplateTable>, 'content'> & TemplateContent,
): Promise<boolean> => {
  const { numUpdatedRows } = await on
    .updateTable('stack_templates')
    .set({ ...changes, content: seal(secrets, id, { compose, variables }), updated_at: sql`now()` })
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
