import { Readable } from 'node:stream'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { AuditRecord, audits as calls } from '@zhisuan/contract/iam/audit'
import { kindOf } from '@zhisuan/contract/kind'
import { z } from 'zod'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { csvFile, fileDay, type ExportColumn } from '../../../platform/exports.ts'
import { namesNow } from '../../../platform/kinds.ts'
import type { KindParts } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './audit.store.ts'
import { auditTexts as texts } from './audit.texts.ts'

type Calls = typeof calls

const shape = (row: store.AuditRow): Shaped => ({
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

type Shaped = Omit<AuditRecord, 'object_name'>

const columns: readonly ExportColumn<Shaped>[] = [
  { title: texts.number, cell: ({ number }) => number },
  { title: texts.at, cell: ({ at }) => ({ moment: new Date(at) }) },
  { title: texts.call, cell: ({ call }) => call },
  { title: texts.actorId, cell: ({ actor }) => actor?.id ?? null },
  { title: texts.actorName, cell: ({ actor }) => actor?.name ?? null },
  { title: texts.organisation, cell: ({ bp_id }) => bp_id },
  { title: texts.object, cell: ({ object_id }) => object_id },
  { title: texts.request, cell: ({ request_id }) => request_id },
  { title: texts.ip, cell: ({ ip }) => ip },
  { title: texts.code, cell: ({ code }) => code },
  { title: texts.accessKeyId, cell: ({ access_key }) => access_key?.id ?? null },
  { title: texts.accessKeyName, cell: ({ access_key }) => access_key?.name ?? null },
  { title: texts.hash, cell: ({ hash }) => hash },
]

/** For people as every other file, in Beijing's time; for programs as the API tells it. */
function fileOf(pages: AsyncGenerator<readonly store.AuditRow[]>, format: BodyOf<Calls['export']>['format']): Readable {
  async function* shaped(): AsyncGenerator<readonly Shaped[]> {
    for await (const rows of pages) yield rows.map((row) => shape(row))
  }
  async function* lines(): AsyncGenerator<string> {
    for await (const rows of shaped()) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  }
  return format === 'csv' ? csvFile(columns, shaped()) : Readable.from(lines())
}

/** What a link seals: whose view of the log it is, and what was asked for. */
const wish = z.object({
  scope: z.union([z.object({ everything: z.literal(true) }), z.object({ bp_id: z.string() }), z.object({ nothing: z.literal(true) })]),
  format: z.enum(['csv', 'jsonl']),
  filters: z.record(z.string(), z.string()),
})

/**
 * Of what a tenant was refused no name is told: whose it is, is not known here. Where nobody was let in, it is about an
 * account of their own.
 */
const isNamed = (scope: Scope, { code, actor_id }: store.AuditRow): boolean => code <= 0 || actor_id === null || 'everything' in scope

/** Of a way in it is a person. */
const kindOfObject = ({ actor_id, call }: store.AuditRow): string =>
  actor_id === null || /^ums\.(auth|passkey|singleSignOn)\./.test(call) ? 'ums.user' : kindOf(call)

export type AuditService = ReturnType<typeof createAuditService>

export function createAuditService({ db, downloads, kinds, now }: Pick<Platform, 'db' | 'downloads' | 'kinds' | 'now'>) {
  downloads.offer('audit', async (id) => {
    const { scope, format, filters } = wish.parse(JSON.parse(id))
    return {
      name: `audit-${fileDay(now())}.${format}`,
      size: null,
      open: () => fileOf(store.readAudits(db, scope as Scope, filters), format),
    }
  })

  const namesOf = async (scope: Scope, userId: string, rows: readonly store.AuditRow[]): Promise<ReadonlyMap<string, string>> => {
    const named = rows.filter((row) => z.uuid().safeParse(row.object_id).success && isNamed(scope, row))
    const known: ReadonlyMap<string, KindParts> = kinds()
    const found = await Promise.all(
      [...Map.groupBy(named, kindOfObject)].map(([kind, of]) =>
        namesNow(
          db,
          known.get(kind) ?? {},
          of.map(({ object_id }) => object_id ?? ''),
          userId,
        ),
      ),
    )
    return new Map(found.flat().map(({ id, name }) => [id, name]))
  }

  return {
    async list(actor: Actor, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const scope = scopeOf(actor)
      const page = await store.listAudits(db, scope, query)
      const names = await namesOf(scope, actor.user_id, page.rows)
      return shapedPage(Promise.resolve(page), (row) => ({ ...shape(row), object_name: (isNamed(scope, row) && names.get(row.object_id ?? '')) || null }))
    },
    export: (actor: Actor, { format, ...filters }: BodyOf<Calls['export']>): ResponseOf<Calls['export']> =>
      downloads.link('audit', JSON.stringify({ scope: scopeOf(actor), format, filters }), actor),
    async verify(): Promise<ResponseOf<Calls['verify']>> {
      const { count, head, first_broken } = await store.verifyChain(db)
      return { intact: first_broken === null, count, head: { number: head.number, hash: head.hash.toString('hex') }, first_broken }
    },
  }
}
