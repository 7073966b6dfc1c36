import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pino from 'pino'
import { openDatabase } from '../../platform/db/database.ts'
import { toRefusal } from '../../platform/http/problems.ts'
import { someActor } from '../../testing/actor.ts'
import type { Tell } from '../sys/message/message.service.ts'
import { createSplit } from './split.service.ts'

/**
 * A process of its own that splits months, for `split.faults.ts`. It is asked by messages, `{ contract_id, period }`, and answers each
 * with what refused it, or null where it has split it.
 */
const { db, close } = openDatabase(process.env['DATABASE_URL'] ?? '', { poolSize: 1, log: pino({ level: 'silent' }) })
const now = (): Date => new Date()
/** What is told is a row of the same transaction. */
const tell: Tell = (tx, { kind, text, about, key }) =>
  sql`insert into messages (id, kind, text, about_kind, about_id, about_name, key, at)
    values (${randomUUID()}, ${kind}, ${text}, ${about.kind}, ${about.id}, ${about.name}, ${key}, now())`.execute(tx)
const downloads = { offer: () => undefined, link: () => ({ path: '', expires_at: '' }), hold: () => undefined }
const split = createSplit({ db, downloads, now }, { tell, prove: async () => undefined })
const actor = someActor({ user_id: randomUUID(), kind: 1, roles: ['ADMIN'] })

process.on('message', (wish: { contract_id: string; period: string }) => {
  void split
    .split(actor, wish)
    .then(
      () => null,
      (error: unknown) => toRefusal(error).refusal,
    )
    .then((refusal) => process.send?.({ refusal }))
})
process.on('disconnect', () => void close())
process.send?.({ refusal: null })
