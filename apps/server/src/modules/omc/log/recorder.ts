import { errors } from '@zhisuan/contract/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isConnectionError } from '../../../platform/db/connections.ts'
import { noteOf } from '../../../platform/http/entry.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { dayOf, insertCalls, prepareDays, type NewCall } from './log.store.ts'

const writeEveryMs = 1_000
/** In one statement. */
const writtenMost = 1_000
/** While the database is away; what is older is lost, and counted. */
const waitingMost = 50_000

export type CallRecorder = ReturnType<typeof createCallRecorder>

/** Remembers each call as it is answered, and writes some of them together: nobody who asks waits for that. */
export function createCallRecorder({ db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>) {
  let waiting: NewCall[] = []
  let timer: NodeJS.Timeout | undefined
  let stopping = false
  let lost = 0
  /** Of what was refused; which error it was only the hook before knows. */
  const codes = new WeakMap<FastifyRequest, number>()

  /** Days that have a table. */
  const prepared = new Set<number>()
  const prepare = async (day: number): Promise<void> => {
    if (prepared.has(day)) return
    await prepareDays(db, new Date(day))
    prepared.add(day)
  }

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const some = waiting.slice(0, writtenMost)
      for (const day of new Set(some.map(({ at }) => dayOf(at)))) await prepare(day)
      await db.transaction().execute((tx) => insertCalls(tx, some))
      waiting = waiting.slice(some.length)
    }
  }
  let writing: Promise<void> = Promise.resolve()
  const flush = (): Promise<void> => {
    writing = writing.then(write).catch((error: unknown) => {
      // Somebody may have dropped a day.
      prepared.clear()
      if (!isConnectionError(error)) log.warn({ err: error, waiting: waiting.length }, 'the log of calls')
      const over = waiting.length - waitingMost
      if (over > 0) {
        lost += over
        waiting = waiting.slice(over)
        log.warn({ lost }, 'calls that are in no log')
      }
    })
    return writing
  }
  const loop = async (): Promise<void> => {
    await flush()
    if (!stopping) timer = setTimeout(() => void loop(), writeEveryMs).unref()
  }

  return {
    /** Writes what waits. */
    flush,
    serve(http: FastifyInstance): void {
      http.addHook('onError', (request, _reply, error, done) => {
        if (request.routeOptions.config.call !== undefined) codes.set(request, errors[toRefusal(error).refusal].code)
        done()
      })
      http.addHook('onResponse', (request, reply, done) => {
        const { call } = request.routeOptions.config
        if (call !== undefined) {
          const { actor } = request
          waiting.push({
            id: uuidv7(),
            at: now(),
            call: call.id,
            method: call.method,
            status: reply.statusCode,
            code: codes.get(request) ?? 0,
            ms: reply.elapsedTime,
            actor_id: actor?.user_id ?? null,
            actor_name: actor?.name ?? null,
            by_key: actor?.access_key != null,
            bp_id: actor?.bp_id ?? noteOf(request).by?.bp_id ?? null,
            ip: request.ip,
            request_id: request.id,
          })
        }
        done()
      })
    },
    async start(): Promise<void> {
      await prepare(dayOf(now()))
      timer = setTimeout(() => void loop(), writeEveryMs).unref()
    },
    async stop(): Promise<void> {
      stopping = true
      clearTimeout(timer)
      await flush()
    },
  }
}
