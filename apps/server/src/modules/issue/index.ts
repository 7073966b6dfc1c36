import { projects } from '@zhisuan/contract/issue/project'
import { sql } from 'kysely'
import { scopeOf } from '../../platform/auth/actor.ts'
import { iso } from '../../platform/db/database.ts'
import { containing, paged } from '../../platform/db/page.ts'
import { handle } from '../../platform/http/handler.ts'
import type { ModuleParts, Platform } from '../../platform/platform.ts'

/** Projects as the work-order system sees them. */
export function createIssue(platform: Platform): ModuleParts {
  const { db } = platform
  return {
    handlers: [
      handle(projects.list, async ({ actor, query }) => {
        const scope = scopeOf(actor)
        const filtered = db
          .selectFrom('projects')
          .leftJoin('organisations', 'organisations.id', 'projects.bp_id')
          .$if('bp_id' in scope, (q) => q.where('projects.bp_id', '=', 'bp_id' in scope ? scope.bp_id : ''))
          .$if('nothing' in scope, (q) => q.where(sql<boolean>`false`))
          .$if(query.keyword !== undefined && query.keyword !== '', (q) =>
            q.where((where) => where.or([where('projects.name', 'ilike', containing(query.keyword ?? '')), where('projects.key', 'ilike', containing(query.keyword ?? ''))])),
          )
        const [count, rows] = await Promise.all([
          filtered.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
          paged(filtered.selectAll('projects').select('organisations.name as bp_name'), query, {
            by: { name: 'projects.name', key: 'projects.key', created_at: 'projects.created_at' },
            fallback: 'created_at',
            id: 'projects.id',
          }).execute(),
        ])
        return { total: count.total, items: rows.map((row) => ({ ...row, created_at: iso(row.created_at) })) }
      }),
    ],
  }
}
