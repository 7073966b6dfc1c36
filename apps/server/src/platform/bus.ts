import { sql } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
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
  let client: pg.Client | null = null
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const connect = async (): Promise<void> => {
    const fresh = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'zhisuan-bus' })
    fresh.on('notification', ({ payload }) => {
      const [topic, ...rest] = (payload ?? '').split(' ')
      for (const subscriber of subscribers) if (subscriber.topic === topic) subscriber.told(rest.join(' '))
    })
    const lost = (error?: Error) => {
      if (client !== fresh) return
      client = null
      if (closed) return
      log.warn({ err: error }, 'bus connection lost')
      for (const subscriber of subscribers) subscriber.missed?.()
      reconnect()
    }
    fresh.on('error', lost)
    fresh.on('end', () => lost())
    await fresh.connect()
    await fresh.query(`listen ${channel}`)
    client = fresh
  }
  const reconnect = () => {
    retry = setTimeout(() => {
      connect().then(
        // What was told while nobody listened is gone.
        () => subscribers.forEach((subscriber) => subscriber.missed?.()),
        () => (closed ? undefined : reconnect()),
      )
    }, 500)
  }
  await connect()

  return {
    async publish(on, topic, payload) {
      await sql`select pg_notify(${channel}, ${`${topic} ${payload}`})`.execute(on)
    },
    subscribe(topic, told, missed) {
      const subscriber: Subscriber = { topic, told, missed }
      subscribers.add(subscriber)
      return () => subscribers.delete(subscriber)
    },
    async close() {
      closed = true
      clearTimeout(retry)
      const last = client
      client = null
      await last?.end()
    },
  }
}
