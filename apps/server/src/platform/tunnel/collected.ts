import type { ClientHttp2Session } from 'node:http2'
import { constants, PerformanceObserver } from 'node:perf_hooks'

/**
 * Native halves of sessions that have ended, and how many collections of garbage they are kept for.
 * One is told when it is over: of what was garbage before, such a one that began earlier may have
 * left something, the next one has not.
 */
const ended = new Map<unknown, number>()
const collections = 2

/**
 * Keeps the native half of a session until its streams have been collected. Where a stream has read
 * a part of a header block when the connection ends, Node (24.21) ends the process if the session is
 * collected first (an assertion in ~Http2Session: its memory is not all given back). Whoever is on
 * the other side can bring that about, and a cable that is cut at that moment, too.
 */
export function collectedLast(session: ClientHttp2Session): void {
  let handle: unknown
  session.once('connect', () => {
    handle = handleOf(session)
  })
  session.once('close', () => {
    if (handle === undefined) return
    observer ??= observe()
    ended.set(handle, collections)
  })
}

/** How many are kept, for tests. */
export const keptHandles = (): number => ended.size

/** Node has no name for it. */
const handleOf = (session: ClientHttp2Session): unknown => {
  const name = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle')
  return name === undefined ? undefined : Reflect.get(session, name)
}

let observer: PerformanceObserver | undefined
function observe(): PerformanceObserver {
  const made = new PerformanceObserver((list) => {
    // `detail` is there for entries of this kind.
    const major = list.getEntries().filter((entry) => (entry as { detail?: { kind?: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length
    if (major === 0) return
    for (const [handle, left] of ended) {
      if (left > 1) ended.set(handle, left - 1)
      else ended.delete(handle)
    }
  })
  made.observe({ entryTypes: ['gc'] })
  return made
}
