import { listed, type PolicyDocument, type PolicyStatement } from '@zhisuan/contract/policy/document'
import { compilePattern } from '@zhisuan/contract/policy/pattern'
import { sql } from 'kysely'
import type { Migrations } from '../../../platform/db/database.ts'

const [was, is] = ['nextstack.change.wait', 'sys.change.wait']

const names = (statement: PolicyStatement, action: string): boolean =>
  statement.Action === undefined
    ? !listed(statement.NotAction).some((pattern) => compilePattern(pattern).matches(action, {}))
    : listed(statement.Action).some((pattern) => compilePattern(pattern).matches(action, {}))

/**
 * A document that says of waiting for changes what it said while that was a call of nextStack: its own name is
 * replaced, and whom `nextstack.*` allowed to wait, still may. What denies `nextstack.*` does not deny it any more.
 */
export function withLiveUpdates(document: PolicyDocument): PolicyDocument {
  const renamed = JSON.parse(
    JSON.stringify(document)
      .replaceAll(/"nextstack\.change(?=["*?.])/g, '"sys.change')
      .replaceAll(/"zrn:nextstack:((?:\$\{[^}]*\}|[^":])*):change(?=["*?/])/g, '"zrn:sys:$1:change'),
    // The same document, with other texts in it.
  ) as PolicyDocument
  const allowed = document.Statement.filter((statement, index) => {
    const now = renamed.Statement[index]
    return statement.Effect === 'Allow' && names(statement, was) && now !== undefined && !names(now, is)
  })
  return {
    ...renamed,
    Statement: [
      ...renamed.Statement,
      ...allowed.map(({ Condition }) => ({ Effect: 'Allow' as const, Action: is, Resource: '*', ...(Condition !== undefined && { Condition }) })),
    ],
  }
}

export const liveUpdatesMigrations: Migrations = {
  '20261123_50_live_updates_are_no_longer_of_nextstack': async (tx) => {
    for (const [table, key] of [
      ['policy_versions', ['policy_id', 'version']],
      // The documents that access keys are bounded by.
      ['access_keys', ['id']],
    ] as const) {
      const there = await sql<{ there: boolean }>`select to_regclass(${table}) is not null as there`.execute(tx)
      if (there.rows[0]?.there !== true) continue
      const found = await sql<{ document: PolicyDocument } & Record<string, unknown>>`
        select ${sql.join(key.map((column) => sql.ref(column)))}, document from ${sql.table(table)} where document::text ~ '"Allow"|nextstack'
      `.execute(tx)
      for (const row of found.rows) {
        const document = withLiveUpdates(row.document)
        if (JSON.stringify(document) === JSON.stringify(row.document)) continue
        await sql`
          update ${sql.table(table)} set document = ${JSON.stringify(document)}::jsonb
          where ${sql.join(
            key.map((column) => sql`${sql.ref(column)} = ${row[column]}`),
            sql` and `,
          )}
        `.execute(tx)
      }
    }
  },
}
