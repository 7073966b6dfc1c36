import pg from 'pg'
import type { Logger } from 'pino'

/**
 * A connection may end at any moment: the database restarts, fails over, is cut off. Who waits
 * for an answer is told by it; without a listener of its own, the client's `error` event would end
 * the process as well, also while it is lent by a pool (pg-pool listens to idle ones only).
 */
class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', () => undefined)
  }
}

/** @param size greatest number of connections */
export function openPool(url: string, name: string, size: number, log: Logger): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: size, application_name: name, Client })
  // The pool opens another.
  pool.on('error', (error) => log.warn({ err: error }, 'idle database connection lost'))
  return pool
}

/** A connection outside any pool, with `lost` called once when it is no more, however that came. @throws where there is none to be had */
export async function connect(url: string, name: string, lost: (error?: Error) => void): Promise<pg.Client> {
  const client = new Client({ connectionString: url, keepAlive: true, application_name: name })
  await client.connect()
  let told = false
  const tell = (error?: Error) => {
    if (told) return
    told = true
    lost(error)
  }
  client.on('error', tell)
  client.on('end', () => tell())
  return client
}

/** Ends with `close`; until then it connects again whenever the connection is lost. */
export interface Listener {
  /** False while its connection is lost: what is said meanwhile is not heard. */
  isListening(): boolean
  /** Says something by the very connection that listens, with the number of its backend behind it; nothing while there is none. */
  say(payload: string): Promise<void>
  close(): Promise<void>
}

const reconnectMs = 500

/**
 * Hears one channel of NOTIFY.
 * @param gap messages may have been lost: told when the connection is, and again when it is back
 * @throws where the first connection cannot be made
 */
export async function listen(url: string, name: string, channel: string, heard: (payload: string) => void, gap: () => void, log: Logger): Promise<Listener> {
  let client: pg.Client | null = null
  let closed = false
  let retry: NodeJS.Timeout | undefined

  const open = async (): Promise<void> => {
    let lost = false
    const fresh = await connect(url, name, (error) => {
      lost = true
      if (closed || client !== fresh) return
      client = null
      log.warn({ err: error, connection: name }, 'database connection lost')
      gap()
      again()
    })
    fresh.on('notification', ({ payload }) => heard(payload ?? ''))
    try {
      await fresh.query(`listen ${fresh.escapeIdentifier(channel)}`)
      if (closed) await fresh.end()
      // The answer and the end of the connection may come in one piece, before it is ours to miss.
      else if (lost) throw new Error('the connection was lost as soon as it listened')
      else client = fresh
    } catch (error) {
      await fresh.end().catch(() => undefined)
      throw error
    }
  }
  const again = () => {
    retry = setTimeout(() => {
      open().then(
        () => {
          if (closed) return
          log.info({ connection: name }, 'database connected again')
          gap()
        },
        () => closed || again(),
      )
    }, reconnectMs)
  }
  await open()

  return {
    isListening: () => client !== null,
    async say(payload) {
      await client?.query('select pg_notify($1, $2 || pg_backend_pid())', [channel, `${payload} `])
    },
    async close() {
      closed = true
      clearTimeout(retry)
      await client?.end().catch(() => undefined)
    },
  }
}

/** Whether the database could not be reached, rather than refused something. The queue hands errors on as plain objects. */
export function isConnectionError(error: unknown): error is { message: string } {
  if (typeof error !== 'object' || error === null) return false
  const { code, syscall, message } = error as Partial<NodeJS.ErrnoException>
  return (
    (code !== undefined && /^(ECONN|EPIPE|ETIMEDOUT|08|57P)/.test(code)) ||
    // The socket of a database that is down; any other missing file is none of its.
    (code === 'ENOENT' && syscall === 'connect') ||
    // So many may connect, and no more.
    code === '53300' ||
    (message !== undefined && /Connection terminated|timeout exceeded when trying to connect|is not queryable/.test(message))
  )
}
