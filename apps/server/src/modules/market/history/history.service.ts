import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { offers } from '@zhisuan/contract/market/offer'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { iso } from '../../../platform/db/database.ts'
import { defineJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './history.store.ts'

type Call = (typeof offers)['history']

const dayMs = 86_400_000
/** So long it is kept, in days. */
const keptDays = 400
/** Of so few days each hour is shown, of more each day. */
const hourlyDays = 7
/** Everybody who asks is shown the same for so long. */
const rememberMs = 60_000

export const historyJob = defineJob({ name: 'market.history', input: z.object({}), concurrency: 1, schedule: '*/10 * * * *' })

const yuan = (minor: string | null): string | null => (minor === null ? null : toDecimal(BigInt(minor)))

/** What cards cost and how many were to be had before, from what this platform saw itself. */
export function createHistory({ db, now }: Pick<Platform, 'db' | 'now'>, { listed }: { listed: () => Promise<readonly store.Sample[]> }) {
  const known = new LRUCache<string, Promise<ResponseOf<Call>>>({ max: 500, ttl: rememberMs })
  const look = async ({ card_model, days }: QueryOf<Call>): Promise<ResponseOf<Call>> => {
    const by = days <= hourlyDays ? 'hour' : 'day'
    const rows = await store.historyOf(db, card_model, new Date(now().getTime() - days * dayMs), by)
    return {
      interval_seconds: by === 'hour' ? 3_600 : 86_400,
      points: rows.map(({ at, on_demand, interruptible, total, free }) => ({
        at: iso(at),
        on_demand: yuan(on_demand),
        interruptible: yuan(interruptible),
        total_cards: total,
        free_cards: free,
      })),
    }
  }
  return {
    async keep(): Promise<void> {
      await store.keepSamples(db, now(), await listed())
      await store.forgetBefore(db, new Date(now().getTime() - keptDays * dayMs))
    },
    get(query: QueryOf<Call>): Promise<ResponseOf<Call>> {
      const key = `${query.days} ${query.card_model}`
      const before = known.get(key)
      if (before !== undefined) return before
      const asked = look(query)
      known.set(key, asked)
      asked.catch(() => known.delete(key))
      return asked
    },
  }
}
