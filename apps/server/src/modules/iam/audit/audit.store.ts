import type { QueryOf } from '@zhisuan/contract/define'
import type { audits } from '@zhisuan/contract/iam/audit'
import { sql } from 'kysely'
import type { Scope } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import { matching, orderOf, pageWithTotal, paged } from '../../../platform/db/page.ts'
import { within } from '../../../platform/db/scope.ts'

export type AuditFilters = Omit<QueryOf<typeof audits.list>, 'page_num' | 'page_size' | 'sort'>

const found = (on: Sql, scope: Scope, filters: AuditFilters) =>
  on
    .selectFrom('audit_log')
    .selectAll()
    .where(within(scope, 'audit_log.bp_id'))
    .$if(filters.call !== undefined, (q) => q.where('call', '=', filters.call ?? ''))
    .$if(filters.actor_id !== undefined, (q) => q.where('actor_id', '=', filters.actor_id ?? ''))
    .$if(filters.object_id !== undefined, (q) => q.where('object_id', '=', filters.object_id ?? ''))
    .$if(filters.request_id !== undefined, (q) => q.where('request_id', '=', filters.request_id ?? ''))
    .$if(filters.bp_id !== undefined, (q) => q.where('audit_log.bp_id', '=', filters.bp_id ?? ''))
    .$if(filters.refused !== undefined, (q) => q.where('code', filters.refused === 'true' ? '>' : '<=', 0))
    .$if(filters.from !== undefined, (q) => q.where('at', '>=', new Date(filters.from ?? 0)))
    .$if(filters.to !== undefined, (q) => q.where('at', '<', new Date(filters.to ?? 0)))
    .where(matching(filters.keyword, 'call', 'actor_name', 'ip'))

export type AuditRow = Awaited<ReturnType<typeof listAudits>>['rows'][number]

export async function listAudits(on: Sql, scope: Scope, { page_num, page_size, sort, ...filters }: QueryOf<typeof audits.list>) {
  const all = found(on, scope, filters)
  const query = { page_num, page_size, sort }
  return pageWithTotal(paged(all, query, orderOf('audit_log', '-number', 'number')), all, query)
}

/** From the oldest on, a thousand at a time. */
export async function* readAudits(on: Sql, scope: Scope, filters: AuditFilters): AsyncGenerator<readonly AuditRow[]> {
  let after = 0
  for (;;) {
    const rows = await found(on, scope, filters).where('number', '>', after).orderBy('number').limit(1000).execute()
    if (rows.length === 0) return
    after = rows.at(-1)?.number ?? after
    yield rows
  }
}

/** The whole chain, as one moment shows it: every number once, each sealed with the one before, the last as the head says. */
export async function verifyChain(on: Sql): Promise<{ count: number; head: { number: number; hash: Buffer }; first_broken: number | null }> {
  const { rows } = await sql<{ count: number; number: number; hash: Buffer; broken: number | null; last_hash: Buffer | null; last_number: number | null }>`
    with chain as (
      select number, hash, hash = audit_seal(audit_log) as sealed, previous = coalesce(lag(hash) over (order by number), sha256('zhisuan')) as follows, number = row_number() over (order by number) as counted
      from audit_log
    )
    select audit_head.number, audit_head.hash,
      (select count(*) from chain) as count,
      (select min(number) from chain where not (sealed and follows and counted)) as broken,
      (select max(number) from chain) as last_number,
      (select hash from chain order by number desc limit 1) as last_hash
    from audit_head
  `.execute(on)
  const row = rows[0]
  if (row === undefined) throw new Error('the audit log has no head')
  const ends = (row.last_number ?? 0) === row.number && (row.last_hash === null || row.last_hash.equals(row.hash))
  return { count: row.count, head: { number: row.number, hash: row.hash }, first_broken: row.broken ?? (ends ? null : (row.last_number ?? 0) + 1) }
}
