import { sql } from 'kysely'
import type { Logger } from 'pino'
import { listen } from './db/connections.ts'
import type { Sql } from './db/database.ts'

/**
 * Short messages between all servers on one database, by NOTIFY: told when the transaction that
 * told them commits, to every server including this one. For forgetting caches and waking
 * waiters, never for work that must not be lost: that is a job.
 */
export interface Bus {
  publish(on: Sql, topic: string, payload: string): Promise<void>
  /** `missed` is called instead when messages may have been lost: forget everything. */
  subscribe(topic: string, told: (payload: string) => void, missed?: () => void): () => void
  close(): Promise<void>
}

const channel = 'zhisuan'

interface Subscriber {
  topic: string
  told: (payload: string) => void
  missed: (() => void) | undefined
}

export async function openBus(url: string, log: Logger): Promise<Bus> {
  const subscribers = new Set<Subscriber>()
  const listener = await listen(
    url,
    'zhisuan-bus',
    channel,
    (message) => {
      const [topic, ...rest] = message.split(' ')
      for (const subscriber of subscribers) if (subscriber.topic === topic) subscriber.told(rest.join(' '))
    },
    () => {
      for (const subscriber of subscribers) subscriber.missed?.()
    },
    log,
  )
  return {
    async publish(on, topic, payload) {
      await sql`select pg_notify(${channel}, ${`${topic} ${payload}`})`.execute(on)
    },
    subscribe(topic, told, missed) {
      const subscriber: Subscriber = { topic, told, missed }
      subscribers.add(subscriber)
      return () => subscribers.delete(subscriber)
    },
    close: () => listener.close(),
  }
}
