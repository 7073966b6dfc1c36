import type { Socket } from 'node:net'
import { EngineError, type EngineErrorKind } from '@zhisuan/engines/errors'
import { AbstractConnector, Redis } from 'ioredis'
import { asSocket, type Session, type SessionParts } from './session.ts'

/** Of `INFO`: lines of `name:value`. */
export const readInfo = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\r\n').flatMap((line): [string, string][] => {
      const at = line.indexOf(':')
      return line.startsWith('#') || at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  )

const kindOf = (message: string): EngineErrorKind => {
  if (/^(WRONGPASS|NOAUTH)/.test(message)) return 'unauthorized'
  if (/^(LOADING|ERR max number of clients)/.test(message)) return 'unreachable'
  return /^[A-Z]{3,} /.test(message) ? 'failed' : 'unreachable'
}
const failure = (error: unknown): EngineError => {
  const { message } = error as Error
  return new EngineError(kindOf(message), message, { cause: error })
}

/** Redis 7, by its own protocol. */
export async function openRedis({ dial, password, signal }: SessionParts): Promise<Session> {
  const socket = asSocket(await dial())
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  /** Takes the stream for the socket that the library would open. */
  class Connector extends AbstractConnector {
    constructor() {
      super(0)
    }
    connect(): ReturnType<AbstractConnector['connect']> {
      // It asks for a socket and uses what every duplex stream has, and what `asSocket` adds.
      this.stream = socket as unknown as Socket
      return Promise.resolve(this.stream)
    }
  }
  const client = new Redis({
    Connector,
    lazyConnect: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  let broken: Error | undefined
  client.on('error', (error: Error) => {
    broken = error
  })
  const ask = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act()
    } catch (error) {
      throw failure(broken ?? error)
    }
  }
  const plain = (): never => {
    throw new EngineError('unsupported', 'Redis has no databases with names')
  }
  try {
    await ask(() => client.connect())
    await ask(() => client.auth(password))
  } catch (error) {
    client.disconnect()
    socket.destroy()
    throw error
  }
  return {
    async figures() {
      const info = readInfo(await ask(() => client.info()))
      const number = (name: string): number => Number(info.get(name) ?? 0)
      return {
        version: info.get('redis_version') ?? '',
        uptime_seconds: number('uptime_in_seconds'),
        // But for the one that asks.
        connections: Math.max(0, number('connected_clients') - 1),
        connections_most: number('maxclients'),
        memory_bytes: number('used_memory'),
        size_bytes: info.has('aof_current_size') ? number('aof_current_size') : null,
      }
    },
    async setPassword(fresh) {
      await ask(() => client.acl('SETUSER', 'default', 'resetpass', `>${fresh}`))
      // Else the one before would be back after a restart.
      await ask(() => client.acl('SAVE'))
    },
    databases: plain,
    createDatabase: plain,
    dropDatabase: plain,
    accounts: plain,
    createAccount: plain,
    dropAccount: plain,
    close: () => client.disconnect(),
  }
}
