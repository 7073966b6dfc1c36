import { Readable } from 'node:stream'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { AuditRecord, audits as calls } from '@zhisuan/contract/iam/audit'
import { kindOf } from '@zhisuan/contract/kind'
import { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { csvLine } from '../../../platform/exports.ts'
import { namesNow } from '../../../platform/kinds.ts'
import type { KindParts } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './audit.store.ts'

type Calls = typeof calls

const shape = (row: store.AuditRow): Omit<AuditRecord, 'object_name'> => ({
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

const csvOf = (record: Omit<AuditRecord, 'object_name'>): string => {
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

export function createAuditService({ db, downloads, kinds, now }: Pick<Platform, 'db' | 'downloads' | 'kinds' | 'now'>) {
  downloads.offer('audit', async (id) => {
    const { scope, format, filters } = wish.parse(JSON.parse(id))
    return {
      name: `audit-${now().toISOString().slice(0, 10)}.${format}`,
      size: null,
      open: () => Readable.from(fileOf(store.readAudits(db, scope as Scope, filters), format)),
    }
  })

  /** Of what a tenant was refused no name is told: whose it is, is not known here. */
  const namesOf = async (scope: Scope, rows: readonly store.AuditRow[]): Promise<ReadonlyMap<string, string>> => {
    const named = rows.filter(({ object_id, code }) => z.uuid().safeParse(object_id).success && (code === 0 || 'everything' in scope))
    const known: ReadonlyMap<string, KindParts> = kinds()
    const found = await Promise.all(
      [...Map.groupBy(named, ({ call }) => kindOf(call))].map(([kind, of]) =>
        namesNow(
          db,
          known.get(kind) ?? {},
          of.map(({ object_id }) => object_id ?? ''),
        ),
      ),
    )
    return new Map(found.flat().map(({ id, name }) => [id, name]))
  }

  return {
    async list(actor: Actor, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const scope = scopeOf(actor)
      const page = await store.listAudits(db, scope, query)
      const names = await namesOf(scope, page.rows)
      const isNamed = ({ code }: store.AuditRow): boolean => code === 0 || 'everything' in scope
      return shapedPage(Promise.resolve(page), (row) => ({ ...shape(row), object_name: (isNamed(row) && names.get(row.object_id ?? '')) || null }))
    },
    export: (actor: Actor, { format, ...filters }: BodyOf<Calls['export']>): ResponseOf<Calls['export']> =>
      downloads.link('audit', JSON.stringify({ scope: scopeOf(actor), format, filters }), actor),
    async verify(): Promise<ResponseOf<Calls['verify']>> {
      const { count, head, first_broken } = await store.verifyChain(db)
      return { intact: first_broken === null, count, head: { number: head.number, hash: head.hash.toString('hex') }, first_broken }
    },
  }
}
