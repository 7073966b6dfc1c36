import type { Logger } from 'pino'
import { isConnectionError } from './connections.ts'

/** Says that an error is the database's not answering, having said so in the log. */
export type OutageLog = (error: unknown) => boolean

const everyMs = 30_000

/**
 * Tells of a database that does not answer in one line, and again only after a while: those who
 * find out, again and again, are many. Anything else is for the caller to tell of.
 */
export function createOutageLog(log: Logger, now: () => number = Date.now): OutageLog {
  let toldAt = -Infinity
  return (error) => {
    if (!isConnectionError(error)) return false
    if (now() - toldAt >= everyMs) {
      toldAt = now()
      log.error({ reason: error.message }, 'the database does not answer: jobs and operations wait for it')
    }
    return true
  }
}
