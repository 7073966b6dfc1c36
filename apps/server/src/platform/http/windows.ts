import type { FastifyRateLimitStore } from '@fastify/rate-limit'
import { LRUCache } from 'lru-cache'

/** Addresses that are remembered for each call; the ones that asked longest ago are forgotten first. */
const addressesMax = 10_000

/**
 * Counts requests in windows of time. The store of the plugin hands out the very object that it
 * counts in: of requests that come in one breath each would see the number of the last, and all be
 * refused.
 */
export class Windows implements FastifyRateLimitStore {
  /** Made when somebody asks: it takes the room of all addresses at once, and there is one for each call. */
  #windows: LRUCache<string, { count: number; endsAt: number }> | null = null

  incr(key: string, done: (error: Error | null, result?: { current: number; ttl: number }) => void, timeWindow: number): void {
    const now = Date.now()
    const windows = (this.#windows ??= new LRUCache({ max: addressesMax }))
    let window = windows.get(key)
    if (window === undefined || window.endsAt <= now) {
      window = { count: 0, endsAt: now + timeWindow }
      windows.set(key, window)
    }
    window.count++
    done(null, { current: window.count, ttl: window.endsAt - now })
  }

  /** Each call counts for itself. */
  child(): Windows {
    return new Windows()
  }
}
