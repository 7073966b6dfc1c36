import { errorByCode, errors, type ErrorName } from '@zhisuan/contract/errors'
import type { QueryOf } from '@zhisuan/contract/define'
import type { Kind } from '@zhisuan/contract/kind'
import { events as eventCalls, type StreamedEvent } from '@zhisuan/contract/omc/event'
import type { ApiEvent } from '@zhisuan/contract/omc/log'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { mayAccess } from '@zhisuan/contract/roles'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import { iso } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { namesNow, tagsOf } from '../../../platform/kinds.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { EventFeed } from './event.feed.ts'
import type { MaySee } from './event.rights.ts'
import * as store from './event.store.ts'

const atOnce = 200
/** So long nothing may happen until the stream says where it is: proxies lose patience after a minute. */
const beatMs = 15_000

export type EventService = ReturnType<typeof createEventService>

export interface EventParts {
  readonly feed: EventFeed
  readonly maySee: MaySee
  /** Whom a session is of, or an access key, now; null where it has ended. */
  readonly actorOf: (sessionId: string) => Promise<Actor | null>
}

export function createEventService({ db, kinds, operations }: Pick<Platform, 'db' | 'kinds' | 'operations'>, { feed, maySee, actorOf }: EventParts) {
  /** What went wrong, as people are told; of a change the text of its code. */
  const textOf = (row: store.EventRow): string | null => {
    if (row.type === 'message' || row.type === 'alarm') return row.text
    if (row.outcome !== 'failed') return null
    if (row.type === 'change') return errorByCode.get(Number(row.error))?.text.replaceAll(/\{\w+\}/g, '…') ?? null
    const name = row.error !== null && Object.hasOwn(errors, row.error) ? (row.error as ErrorName) : null
    return operations.said({ id: row.source_id, error: name, error_text: row.error_text, error_detail: null }).error
  }
  /** What it was about is called now, where nobody wrote it down and it is no other one's alone. */
  const shape = async (rows: readonly store.EventRow[], userId: string | null = null): Promise<ApiEvent[]> => {
    // What was refused may have been asked of somebody else's.
    const unnamed = rows.filter(
      ({ type, outcome, about_name, about_id }) => about_name === '' && !(type === 'change' && outcome === 'failed') && z.uuid().safeParse(about_id).success,
    )
    const known = kinds()
    const found = await Promise.all(
      [...Map.groupBy(unnamed, ({ about_kind }) => about_kind)].map(([kind, of]) => {
        const parts = known.get(kind as Kind)
        const ids = of.map(({ about_id }) => about_id ?? '')
        return parts === undefined ? [] : namesNow(db, parts, ids, userId)
      }),
    )
    const names = new Map(found.flat().map(({ id, name }) => [id, name]))
    return rows.map((row) => ({
      id: row.id,
      at: iso(row.at),
      type: row.type,
      what: row.what,
      outcome: row.outcome,
      severity: row.severity,
      text: textOf(row),
      about: {
        kind: row.about_kind !== null && known.has(row.about_kind as Kind) ? (row.about_kind as Kind) : null,
        id: row.about_id,
        name: row.about_name || (names.get(row.about_id ?? '') ?? ''),
      },
      actor_name: row.actor_name,
      bp_id: row.bp_id,
      bp_name: row.bp_name,
    }))
  }
  /** Who they are by now, and still may: null where not. */
  const still = async (actor: Actor, context: Context): Promise<Actor | null> => {
    const now = await actorOf(actor.session_id)
    if (now === null || now.user_id !== actor.user_id || now.must_change_password || !mayAccess(eventCalls.stream.access, now)) return null
    const decision = await decideCall(now, eventCalls.stream, { params: {} }, context, (kind, id) => tagsOf(kinds(), scopeOf(now), kind, id))
    return decision.outcome === 'allowed' ? now : null
  }

  return {
    shape,

    /**
     * All behind a cursor, and then whatever happens. The first line says where it begins.
     * @param lastEventId what a client says who comes back
     * @throws Refusal 98634
     */
    async *stream(
      actor: Actor,
      context: Context,
      { since, types, families, kinds: followed, severities }: QueryOf<typeof eventCalls.stream>,
      lastEventId: string | undefined,
      signal: AbortSignal,
    ): AsyncGenerator<StreamedEvent> {
      const asked = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? lastEventId : since
      const last = await store.lastNumber(db)
      const first = await store.firstNumber(db)
      let cursor = asked === 'now' ? last : Number(asked)
      // Of what was deleted meanwhile nobody can say whether it was theirs; and what is not there yet nobody has read.
      if (cursor > last || cursor < (first ?? last + 1) - 1) throw new Refusal('eventCursorGone')
      yield { cursor, event: null }
      let told = Date.now()
      while (!signal.aborted) {
        const times = feed.times()
        // Before each look, so that it is not older than what is told.
        const now = { ...context, 'zs:CurrentTime': new Date().toISOString() }
        const reader = await still(actor, now)
        if (reader === null) return
        const head = await store.lastNumber(db)
        const rows = await store.followEvents(db, scopeOf(reader), reader.user_id, { types, families, kinds: followed, severities }, cursor, atOnce)
        const seen: store.EventRow[] = []
        for (const row of rows) if (await maySee(reader, now, row)) seen.push(row)
        for (const [index, event] of (await shape(seen, reader.user_id)).entries()) {
          yield { cursor: seen[index]?.number ?? cursor, event }
          told = Date.now()
        }
        const reached = rows.length === atOnce ? (rows.at(-1)?.number ?? cursor) : Math.max(head, rows.at(-1)?.number ?? cursor)
        cursor = Math.max(cursor, reached)
        if (rows.length === atOnce) {
          // Also of a long way through what they may not see they hear how far they are.
          if (Date.now() - told >= beatMs) {
            yield { cursor, event: null }
            told = Date.now()
          }
          continue
        }
        await feed.more(times, Math.max(0, told + beatMs - Date.now()), signal)
        if (signal.aborted || Date.now() - told < beatMs) continue
        yield { cursor, event: null }
        told = Date.now()
      }
    },
  }
}
