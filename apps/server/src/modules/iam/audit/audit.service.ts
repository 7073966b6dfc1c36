import { Readable } from 'node:stream'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { AuditRecord, audits as calls } from '@zhisuan/contract/iam/audit'
import { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { csvLine } from '../../../platform/exports.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './audit.store.ts'

type Calls = typeof calls

const shape = (row: store.AuditRow): AuditRecord => ({
  id: row.id,
  number: row.number,
  at: iso(row.at),
  call: row.call,
  actor: row.actor_id === null ? null : { id: row.actor_id, name: row.actor_name ?? '' },
  access_key: row.access_key_id === null ? null : { id: row.access_key_id, name: row.access_key_name ?? '' },
  bp_id: row.bp_id,
  object_id: row.object_id,
  request_id: row.request_id,
  ip: row.ip,
  code: row.code,
  hash: row.hash.toString('hex'),
})

const columns = [
  'number',
  'at',
  'call',
  'actor_id',
  'actor_name',
  'bp_id',
  'object_id',
  'request_id',
  'ip',
  'code',
  'access_key_id',
  'access_key_name',
  'hash',
] as const

const csvOf = (record: AuditRecord): string => {
  const flat = {
    ...record,
    actor_id: record.actor?.id ?? null,
    actor_name: record.actor?.name ?? null,
    access_key_id: record.access_key?.id ?? null,
    access_key_name: record.access_key?.name ?? null,
  }
  return csvLine(columns.map((column) => flat[column]))
}

async function* fileOf(pages: AsyncGenerator<readonly store.AuditRow[]>, format: BodyOf<Calls['export']>['format']): AsyncGenerator<string> {
  // With a byte order mark: spreadsheets read Chinese names right.
  if (format === 'csv') yield `\uFEFF${columns.join(',')}\r\n`
  for await (const rows of pages) yield rows.map((row) => (format === 'csv' ? csvOf(shape(row)) : `${JSON.stringify(shape(row))}\n`)).join('')
}

/** What a link seals: whose view of the log it is, and what was asked for. */
const wish = z.object({
  scope: z.union([z.object({ everything: z.literal(true) }), z.object({ bp_id: z.string() }), z.object({ nothing: z.literal(true) })]),
  format: z.enum(['csv', 'jsonl']),
  filters: z.record(z.string(), z.string()),
})

export type AuditService = ReturnType<typeof createAuditService>

export function createAuditService({ db, downloads, now }: Pick<Platform, 'db' | 'downloads' | 'now'>) {
  downloads.offer('audit', async (id) => {
    const { scope, format, filters } = wish.parse(JSON.parse(id))
    return {
      name: `audit-${now().toISOString().slice(0, 10)}.${format}`,
      size: null,
      open: () => Readable.from(fileOf(store.readAudits(db, scope as Scope, filters), format)),
    }
  })

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listAudits(db, scopeOf(actor), query), shape),
    export: (actor: Actor, { format, ...filters }: BodyOf<Calls['export']>): ResponseOf<Calls['export']> =>
      downloads.link('audit', JSON.stringify({ scope: scopeOf(actor), format, filters }), actor),
    async verify(): Promise<ResponseOf<Calls['verify']>> {
      const { count, head, first_broken } = await store.verifyChain(db)
      return { intact: first_broken === null, count, head: { number: head.number, hash: head.hash.toString('hex') }, first_broken }
    },
  }
}
