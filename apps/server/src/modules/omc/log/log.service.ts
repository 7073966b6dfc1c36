import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { callOutcomes, eventOutcomes, eventTypes, type apiEvents, type ApiEvent, type ApiLog, type apiLogs } from '@zhisuan/contract/omc/log'
import { keepers, mayAccess } from '@zhisuan/contract/roles'
import { z } from 'zod'
import { platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { fileDay, offerExport } from '../../../platform/exports.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readEvents, type EventFilters, type EventRow } from '../event/event.store.ts'
import * as store from './log.store.ts'
import { eventOutcomeTexts, logTexts as texts, outcomeTexts, typeTexts } from './log.texts.ts'

type Logs = typeof apiLogs
type Events = typeof apiEvents

const pageOfFile = 1_000
const text = z.string().optional()
/** What a link seals: of whom, and what was asked for. */
const logWish = z.object({
  own: z.uuid().nullable(),
  keyword: text,
  call: text,
  outcome: z.enum(callOutcomes).optional(),
  actor_id: text,
  bp_id: text,
  request_id: text,
  from: text,
  to: text,
})
const eventWish = z.object({ keyword: text, type: z.enum(eventTypes).optional(), outcome: z.enum(eventOutcomes).optional(), bp_id: text, from: text, to: text })

const shapeLog = (row: store.ShownCall): ApiLog => ({
  id: row.id,
  at: iso(row.at),
  call: row.call,
  method: row.method,
  outcome: row.outcome,
  status: row.status,
  code: row.code,
  ms: Math.round(row.ms * 10) / 10,
  actor: row.actor_id === null ? null : { id: row.actor_id, name: row.actor_name ?? '' },
  by_key: row.by_key,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  ip: row.ip,
  request_id: row.request_id,
})

export type LogService = ReturnType<typeof createLogService>

export function createLogService(
  { db, downloads, now }: Pick<Platform, 'db' | 'downloads' | 'now'>,
  { shape }: { readonly shape: (rows: readonly EventRow[]) => Promise<ApiEvent[]> },
) {
  /** Of whom somebody sees what was asked: who keeps an organisation of all in it, everybody else of themselves. */
  const ownOf = (actor: Actor): string | null => (mayAccess(keepers, actor) ? null : actor.user_id)

  const nextOf = (rows: readonly store.After[], size: number): string | null => {
    const last = rows[size - 1]
    return rows.length > size && last !== undefined ? store.cursorOf(last) : null
  }
  async function* pages<Row extends store.After>(read: (after: store.After | null) => Promise<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    for (let after: store.After | null = null; ;) {
      const rows: readonly Row[] = await read(after)
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows
      after = last
    }
  }

  const linkToLogs = offerExport(downloads, {
    kind: 'omc.apiLog',
    wish: logWish,
    name: () => `${texts.calls}-${fileDay(now())}`,
    columns: [
      { title: texts.at, cell: ({ at }: store.ShownCall) => ({ moment: at }) },
      { title: texts.call, cell: ({ call }) => call },
      { title: texts.method, cell: ({ method }) => method },
      { title: texts.outcome, cell: ({ outcome }) => outcomeTexts[outcome] },
      { title: texts.status, cell: ({ status }) => status },
      { title: texts.code, cell: ({ code }) => code },
      { title: texts.ms, cell: ({ ms }) => Math.round(ms * 10) / 10 },
      { title: texts.actor, cell: ({ actor_name }) => actor_name },
      { title: texts.organisation, cell: ({ bp_name }) => bp_name },
      { title: texts.ip, cell: ({ ip }) => ip },
      { title: texts.request, cell: ({ request_id }) => request_id },
    ],
    rows: (scope, { own, ...filters }) => pages((after) => store.readCalls(db, scope, own, filters, after, pageOfFile)),
  })
  async function* shapedEvents(filters: EventFilters): AsyncGenerator<readonly ApiEvent[]> {
    for await (const rows of pages((after) => readEvents(db, filters, after, pageOfFile))) yield await shape(rows)
  }
  const linkToEvents = offerExport(downloads, {
    kind: 'omc.apiEvent',
    wish: eventWish,
    name: () => `${texts.events}-${fileDay(now())}`,
    columns: [
      { title: texts.at, cell: ({ at }: ApiEvent) => ({ moment: new Date(at) }) },
      { title: texts.type, cell: ({ type }) => typeTexts[type] },
      { title: texts.what, cell: ({ what }) => what },
      { title: texts.outcome, cell: ({ outcome }) => eventOutcomeTexts[outcome] },
      { title: texts.about, cell: ({ about }) => about.name },
      { title: texts.aboutId, cell: ({ about }) => about.id },
      { title: texts.actor, cell: ({ actor_name }) => actor_name },
      { title: texts.organisation, cell: ({ bp_name }) => bp_name },
      { title: texts.text, cell: ({ text: said }) => said },
    ],
    rows: (_scope, filters) => shapedEvents(filters),
  })

  return {
    async logs(actor: Actor, { cursor, page_size, ...filters }: QueryOf<Logs['list']>): Promise<ResponseOf<Logs['list']>> {
      const rows = await store.readCalls(db, scopeOf(actor), ownOf(actor), filters, store.readCursor(cursor), page_size + 1)
      return { items: rows.slice(0, page_size).map(shapeLog), next: nextOf(rows, page_size) }
    },
    async trend(actor: Actor, { hours }: QueryOf<Logs['trend']>): Promise<ResponseOf<Logs['trend']>> {
      const rows = await store.hourlyCalls(db, scopeOf(actor), hours, now())
      return {
        items: rows.map(({ hour, ok, refused, failed, ms }) => {
          const count = ok + refused + failed
          return { at: iso(hour), ok, refused, failed, ms: count === 0 ? null : Math.round((ms / count) * 10) / 10 }
        }),
      }
    },
    exportLogs: (actor: Actor, { format, ...filters }: BodyOf<Logs['export']>): ResponseOf<Logs['export']> =>
      linkToLogs(actor, scopeOf(actor), format, { own: ownOf(actor), ...filters }),
    async events({ cursor, page_size, ...filters }: QueryOf<Events['list']>): Promise<ResponseOf<Events['list']>> {
      const rows = await readEvents(db, filters, store.readCursor(cursor), page_size + 1)
      return { items: await shape(rows.slice(0, page_size)), next: nextOf(rows, page_size) }
    },
    exportEvents: (actor: Actor, { format, ...filters }: BodyOf<Events['export']>): ResponseOf<Events['export']> =>
      linkToEvents(actor, platformScope, format, filters),
  }
}
