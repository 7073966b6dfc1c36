import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { listen, type Listener } from './db/connections.ts'
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
  /** False while messages may be lost: nothing is worth remembering then that a message would take back. */
  isListening(): boolean
  /**
   * Resolves when every server that listens has been told all that was published before, so that
   * none acts on what is no longer so. A server that does not answer is waited for {@link patienceMs}.
   */
  everyoneTold(on: Sql): Promise<void>
  close(): Promise<void>
}

const channel = 'zhisuan'
const connectionName = 'zhisuan-bus'
/** A server that is cut off without its connection ending has forgotten by itself soon after: see actors.ts. */
export const patienceMs = 5_000

interface Subscriber {
  topic: string
  told: (payload: string) => void
  missed: (() => void) | undefined
}

const lookAgainMs = 500

/** Backends of the connections that servers listen by. */
async function listeners(on: Sql): Promise<readonly number[]> {
  const { rows } = await sql<{
    pid: number
  }>`select pid from pg_stat_activity where application_name = ${connectionName} and datname = current_database()`.execute(on)
  return rows.map(({ pid }) => pid)
}

export async function openBus(url: string, log: Logger): Promise<Bus> {
  const subscribers = new Set<Subscriber>()
  const waiting = new Map<string, (backend: number) => void>()
  const listener: Listener = await listen(
    url,
    connectionName,
    channel,
    (message) => {
      const [topic, ...rest] = message.split(' ')
      // Messages come in the order in which they were committed, and are acted on at once: so those before it were.
      if (topic === 'bus.ask') listener.say(`bus.told ${rest[0] ?? ''}`).catch(() => undefined)
      if (topic === 'bus.told') waiting.get(rest[0] ?? '')?.(Number(rest[1]))
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
    isListening: () => listener.isListening(),
    async everyoneTold(on) {
      const question = randomUUID()
      const told = new Set<number>()
      let check = (): void => undefined
      waiting.set(question, (backend) => {
        told.add(backend)
        check()
      })
      const missing = async (): Promise<readonly number[]> => (await listeners(on)).filter((backend) => !told.has(backend))
      try {
        let left = await missing()
        await sql`select pg_notify(${channel}, ${`bus.ask ${question}`})`.execute(on)
        for (const until = Date.now() + patienceMs; left.some((backend) => !told.has(backend)); left = await missing()) {
          if (Date.now() > until) {
            log.warn({ backends: left }, 'a server does not say that it was told')
            return
          }
          const expected = left
          await new Promise<void>((resolve) => {
            // One that ends is waited for no longer, and says nothing.
            const again = setTimeout(resolve, lookAgainMs)
            check = () => {
              if (!expected.every((backend) => told.has(backend))) return
              clearTimeout(again)
              resolve()
            }
            check()
          })
        }
      } finally {
        waiting.delete(question)
      }
    },
    close: () => listener.close(),
  }
}
