import { createHash } from 'node:crypto'
import { idempotencyKey, idempotencyKeyHeader, type Call } from '@zhisuan/contract/define'
import { auditAsked } from '@zhisuan/contract/iam/audit'
import { kindOf } from '@zhisuan/contract/kind'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CompiledQuery } from 'kysely'
import { z } from 'zod'
import type { Db } from '../db/database.ts'
import { recorded, unrecorded, within, type Made, type Recording } from '../db/recording.ts'
import { Refusal } from '../errors.ts'
import { auditEntry, noteOf, type AuditEntry } from './entry.ts'
import type { AnswerKeys, Claim } from './keys.ts'

export interface ChangingParts {
  readonly db: Db
  /** An entry of the audit log, to be written. */
  readonly entryQuery: (entry: AuditEntry) => CompiledQuery
  /** The table of a kind of thing, where it has one. */
  readonly tableOf: (kind: string) => string | undefined
  readonly keys: AnswerKeys
}

export type Changing = ReturnType<typeof createChanging>

const withId = z.object({ id: z.uuid() })
/** What an answer is about, where the path does not say it. */
const idOfAnswer = (call: Call, answer: unknown): string | null => (call.path.includes('{id}') ? null : (withId.safeParse(answer).data?.id ?? null))
const digestOf = (input: unknown): string => createHash('sha256').update(JSON.stringify(input)).digest('hex')

/**
 * Makes calls that change something, each with its entry in the audit log: in the very transaction of the change, so that
 * neither is without the other.
 */
export function createChanging({ db, entryQuery, tableOf, keys }: ChangingParts) {
  const write = (entry: AuditEntry): Promise<unknown> => unrecorded(() => db.executeQuery(entryQuery(entry)))

  /** Of what the call is about, whatever of it was made; else the first thing that was made, or what the path says. */
  const objectsOf = (call: Call, made: readonly Made[]): readonly (string | null)[] => {
    const own = made.filter(({ table }) => table === tableOf(kindOf(call.id)))
    if (call.path.includes('{id}') && own.length === 0) return [null]
    const ids = (own.length > 0 ? own : made.slice(0, 1)).map(({ id }) => id)
    return ids.length > 0 ? [...new Set(ids)] : [null]
  }

  /** What is done in an engine outside is known once it answers: what was asked is written before. */
  const outside = async (request: FastifyRequest, call: Call, run: () => Promise<unknown>): Promise<unknown> => {
    await write(auditEntry(request, call, auditAsked))
    const answer = await recorded(null, noteOf(request), run)
    await write(auditEntry(request, call, 0, idOfAnswer(call, answer)))
    return answer
  }

  /** @throws Refusal 90032 */
  const claimOf = (request: FastifyRequest, call: Call, input: unknown): Claim | null => {
    const { [idempotencyKeyHeader]: given } = request.headers
    if (given === undefined || request.actor === null) return null
    const key = idempotencyKey.safeParse(given)
    if (!key.success) throw new Refusal('idempotencyKeyInvalid')
    return { user_id: request.actor.user_id, key: key.data, call: call.id, request: digestOf(input) }
  }

  /** All of it is one transaction: the change, its entry, and what the key answers from now on. */
  const keyed = async (request: FastifyRequest, call: Call, input: unknown, run: () => Promise<unknown>, reply: FastifyReply): Promise<unknown> => {
    const claim = claimOf(request, call, input)
    return db.transaction().execute(async (tx) => {
      if (claim !== null) {
        const before = await keys.claim(tx, claim)
        if (before !== null) {
          reply.header('idempotent-replayed', 'true')
          return before.answer
        }
      }
      const answer = await within(tx, noteOf(request), run)
      if (claim !== null) await keys.keep(tx, claim, answer)
      // Last, as whoever writes one holds up all who do.
      await tx.executeQuery(entryQuery(auditEntry(request, call, 0, idOfAnswer(call, answer))))
      return answer
    })
  }

  /**
   * @param input all that was asked for: with a key it has to be the same each time
   * @returns the answer
   */
  return async (request: FastifyRequest, reply: FastifyReply, call: Call, input: unknown, run: () => Promise<unknown>): Promise<unknown> => {
    if (!call.audit) return run()
    if (call.outside) return outside(request, call, run)
    if (call.keyed) return keyed(request, call, input, run, reply)
    const note = noteOf(request)
    const recording: Recording = {
      // Whoever is let in, or meant, is what such a call is about, and not their session.
      entries: (made) =>
        (request.actor === null && (note.by ?? note.tried) !== null ? [null] : objectsOf(call, made)).map((id) => entryQuery(auditEntry(request, call, 0, id))),
      done: false,
    }
    try {
      const answer = await recorded(recording, note, run)
      // It changed nothing of ours: that it was asked and granted is part of the record too.
      if (!recording.done) {
        recording.done = true
        await write(auditEntry(request, call, 0, idOfAnswer(call, answer)))
      }
      return answer
    } finally {
      // What goes on by itself is no part of it.
      recording.done = true
    }
  }
}
