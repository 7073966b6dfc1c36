import { stackFile, type Stack } from '@zhisuan/contract/aos/stack'
import { sql, type ColumnType, type Generated, type Selectable } from 'kysely'
import { z } from 'zod'
import { migration, type Migrations, type Sql, type Tx } from '../../../platform/db/database.ts'
import { readable, type Secrets } from '../../../platform/secrets.ts'

/** What a stack is made from, once. */
const revisionContent = z.object({ compose: z.string(), values: z.record(z.string(), z.string()), configs: z.array(stackFile) })
export type RevisionContent = z.output<typeof revisionContent>

interface RevisionTable {
  stack_id: string
  revision: number
  /** Sealed JSON: values often are passwords. */
  content: string
  template: ColumnType<Stack['template'], string | null, never>
  created_by_name: string
  created_at: Generated<Date>
}
declare module '../../../platform/db/database.ts' {
  interface Tables {
    stack_revisions: RevisionTable
  }
}
export type Revision = Omit<Selectable<RevisionTable>, 'content'> & { content: RevisionContent }

export const revisionMigrations: Migrations = {
  '20261123_00_43_stack_revisions': migration(`
    create table stack_revisions (
      stack_id uuid not null references stacks on delete cascade,
      revision integer not null,
      content text not null,
      template jsonb,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      primary key (stack_id, revision)
    );
  `),
}

/** So many can be gone back to. */
const kept = 50

const place = (stackId: string, revision: number): string => `stack_revisions.content:${stackId}:${revision}`
const open = (secrets: Secrets, row: Selectable<RevisionTable>): Revision => ({
  ...row,
  content: revisionContent.parse(JSON.parse(secrets.open(row.content, place(row.stack_id, row.revision)))),
})

export async function insertRevision(tx: Tx, secrets: Secrets, { content, template, ...row }: Omit<Revision, 'created_at'>): Promise<void> {
  await tx
    .insertInto('stack_revisions')
    .values({
      ...row,
      content: secrets.seal(JSON.stringify(content), place(row.stack_id, row.revision)),
      template: template === null ? null : JSON.stringify(template),
    })
    .execute()
  // The one that runs is kept, however many failed after it.
  await tx
    .deleteFrom('stack_revisions')
    .where('stack_id', '=', row.stack_id)
    .where('revision', '<=', row.revision - kept)
    .where('revision', 'is distinct from', sql<number>`(select deployed_revision from stacks where id = ${row.stack_id})`)
    .execute()
}

export const getRevision = async (on: Sql, secrets: Secrets, stackId: string, revision: number): Promise<Revision | null> => {
  const row = await on.selectFrom('stack_revisions').selectAll().where('stack_id', '=', stackId).where('revision', '=', revision).executeTakeFirst()
  return row === undefined ? null : open(secrets, row)
}

/** Newest first, without what cannot be read; `newest` is null where that is what the stack is to be now. */
export async function revisionsOf(on: Sql, secrets: Secrets, stackId: string): Promise<{ newest: Revision | null; readable: Revision[] }> {
  const rows = await on.selectFrom('stack_revisions').selectAll().where('stack_id', '=', stackId).orderBy('revision', 'desc').execute()
  const opened = rows.flatMap((row) => readable(() => [open(secrets, row)], []))
  return { newest: opened[0]?.revision === rows[0]?.revision ? (opened[0] ?? null) : null, readable: opened }
}
