import { LRUCache } from 'lru-cache'

/** On their way at once, of one session. */
const requestsMost = 64
/** Requests and websockets at once, from one address: many people may be behind it. */
export const underwayOfOne = 512
/** So often in a minute an address may come without what lets it in; then it is not heard until that is over. */
export const strangersMost = 240
const strangerWindowMs = 60_000

/** How much is on its way through the door for browsers, by session and by address; and who comes again and again without being let in. */
export function createCounting() {
  const sessions = new Map<string, number>()
  const addresses = new Map<string, number>()
  const strangers = new LRUCache<string, { times: number }>({ max: 10_000, ttl: strangerWindowMs })
  const more = (counts: Map<string, number>, key: string): (() => void) => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return () => {
      const left = (counts.get(key) ?? 1) - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    }
  }
  return {
    /** A place for what comes from an address, given back once; null where it has too many, or came too often without a pass. */
    fromAddress: (ip: string): (() => void) | null =>
      (addresses.get(ip) ?? 0) >= underwayOfOne || (strangers.get(ip)?.times ?? 0) >= strangersMost ? null : more(addresses, ip),
    /** The same of a session that was let in. */
    ofSession: (sessionId: string): (() => void) | null => ((sessions.get(sessionId) ?? 0) >= requestsMost ? null : more(sessions, sessionId)),
    /** Somebody came from there and was not let in. */
    refused: (ip: string): void => {
      const known = strangers.get(ip)
      // Counted within the minute of the first, however often it comes.
      if (known === undefined) strangers.set(ip, { times: 1 })
      else known.times++
    },
  }
}
