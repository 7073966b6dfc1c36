import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Call, ResponseOf } from '@zhisuan/contract/define'
import pg from 'pg'
import { embeddedUrl } from '../../apps/server/src/platform/db/embedded.ts'
import { freePort } from './port.ts'

/** A whole server as people run it: its own process, its own data directory, a free port. */
export interface RunningServer {
  readonly url: string
  readonly process: ChildProcess
  /** For tests that look at rows, or move time on. */
  readonly databaseUrl: string
  /** Printed by the very first start on a data directory. */
  readonly firstPassword: string | null
  /** Resolves when the process is gone, with the signal that ended it. */
  readonly ended: Promise<string | null>
  /**
   * It kills itself (-9) at that point of an operation, `kind:step:before` or `…:after`, when it gets there the next time. Of several
   * points, an operation stays at each, and it kills itself when one is at the last: one restart for many points.
   */
  dieAt(...points: string[]): void
  stop(): Promise<void>
}

const main = fileURLToPath(new URL('../../apps/server/src/main.ts', import.meta.url))
/** As `npm start` gives them to Node. */
const flags = readFileSync(new URL('../../scripts/node-flags', import.meta.url), 'utf8')
  .split(/\s+/)
  .filter((flag) => flag !== '')

/**
 * Where the tests of this run share a PostgreSQL (apps/server/src/testing/database.shared.ts), each data directory gets a database in it
 * that has the schema already: a cluster of one's own takes longer than all the rest of a first start.
 */
async function databaseOf(dataDir: string): Promise<string | undefined> {
  const template = process.env['TEST_DATABASE_TEMPLATE']
  if (template === undefined) return undefined
  const url = new URL(template)
  const [from, name] = [url.pathname.slice(1), dataDir.replaceAll(/\W+/g, '_').slice(-60)]
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query(`create database "${name}" template ${from}`)
  } catch (error) {
    // It is started again.
    if ((error as { code?: string }).code !== '42P04') throw error
  } finally {
    await client.end()
  }
  url.pathname = `/${name}`
  return url.href
}

/** @param fate the point at which it is to die (`dieAt`), perhaps of what it takes up before it listens */
export async function startServer(dataDir: string, env: Readonly<Record<string, string>> = {}, fate?: string): Promise<RunningServer> {
  const faultFile = join(dataDir, 'die-at')
  const dieAt = (...points: string[]): void => writeFileSync(faultFile, points.join('\n'))
  // What the one before did not live to see.
  rmSync(faultFile, { force: true })
  if (fate !== undefined) dieAt(fate)
  const shared = env['DATABASE_URL'] ?? (await databaseOf(dataDir))
  const child = spawn(process.execPath, [...flags, main], {
    env: {
      ...process.env,
      ZHISUAN_ENV: 'test',
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      LOCAL_AGENT: 'none',
      // What one that is killed leaves there goes with its data.
      TMPDIR: dataDir,
      ...(shared !== undefined && { DATABASE_URL: shared }),
      ...((env['ZHISUAN_ENV'] ?? 'test') === 'test' && { FAULT_FILE: faultFile }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit').then(([, signal]) => signal as string | null)
  let output = ''
  const ready = new Promise<{ url: string; firstPassword: string | null }>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      output += chunk.toString('utf8')
      // Written at once, the password where there is one. What the log says may follow in the same piece.
      const said = /localhost:(\d+)\n(?:\n.*一次性密码 (\S+)\n.*\n)?\n/.exec(output)
      if (said !== null) resolve({ url: `http://127.0.0.1:${said[1]}`, firstPassword: said[2] ?? null })
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    void ended.then(() => reject(new Error(`the server ended before it listened:\n${output}`)))
    setTimeout(() => reject(new Error(`the server did not start in time:\n${output}`)), 180_000).unref()
  })
  const { url, firstPassword } = await ready
  return {
    url,
    process: child,
    // Its own is not there any more once it has been stopped.
    get databaseUrl() {
      return shared !== undefined && shared !== '' ? shared : embeddedUrl(join(dataDir, 'database'), 'zhisuan')
    },
    firstPassword,
    ended,
    dieAt,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await ended
    },
  }
}

/** A server that is told its own address before it has it, as passkeys and other places to sign in need. */
export async function startAtOrigin(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<{ server: RunningServer; origin: string }> {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    const origin = `http://localhost:${port}`
    try {
      return { server: await startServer(dataDir, { ...env, PORT: String(port), PUBLIC_URL: origin }), origin }
    } catch (error) {
      // Somebody else took it meanwhile.
      if (tries === 5 || !String(error).includes('EADDRINUSE')) throw error
    }
  }
}

/**
 * @param running the server as it is now
 * @returns asks with a server that kills itself at that point of an operation, or when one stands at each of those, and goes on with one that does not
 */
export const killing =
  (running: () => RunningServer | undefined, restart: () => Promise<void>) =>
  async (points: string | readonly string[], ...asks: (() => Promise<unknown>)[]): Promise<void> => {
    const server = running()
    server?.dieAt(...[points].flat())
    // It may die before it has answered; what was asked for counts all the same.
    await Promise.allSettled(asks.map((ask) => ask()))
    // What never gets there would be waited for until the test's end, and by the tests after it too.
    const ended = async () => server?.process.signalCode ?? server?.process.exitCode
    const signal = await until(ended, `the server to die at ${points}`, 120_000)
    if (signal !== 'SIGKILL') throw new Error(`the server ended by ${signal}, not at ${points}`)
    await restart()
  }

/** The points before and after these steps of an operation. */
export const pointsOf = (kind: string, ...steps: string[]): string[] => steps.flatMap((step) => [`${kind}:${step}:before`, `${kind}:${step}:after`])

/** A person at the API of a running server. */
export class Client {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  #token: string | null = null

  /** @param headers sent with every request, such as whose address a proxy has seen */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#headers = headers
  }

  async signIn(username: string, password: string): Promise<{ must_change_password: boolean }> {
    const response = await fetch(`${this.#url}/api/ums/v1/auth/password/tokens`, {
      method: 'POST',
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    })
    if (!response.ok) throw new Error(`signing in: ${response.status} ${await response.text()}`)
    const answer = (await response.json()) as { token: string; must_change_password: boolean }
    this.#token = answer.token
    return answer
  }

  /** For requests that are no declared call, such as those of an upload. */
  get authorization(): Readonly<Record<string, string>> {
    return { ...this.#headers, ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }) }
  }

  async call<C extends Call>(call: C, input: { params?: Record<string, string>; query?: Record<string, string>; body?: unknown } = {}): Promise<ResponseOf<C>> {
    const path = call.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ''))
    const query = input.query === undefined ? '' : `?${new URLSearchParams(input.query)}`
    const response = await fetch(`${this.#url}${path}${query}`, {
      method: call.method,
      headers: {
        ...this.authorization,
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
    })
    const text = await response.text()
    if (response.status !== call.status) throw new Error(`${call.id}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as ResponseOf<C>
  }
}

/** The password that tests give the first administrator. */
export const administratorPassword = 'Admin-of-tests-1'

/** Signs in as the first administrator, replacing their one-time password at the first time. */
export async function asAdministrator(server: RunningServer): Promise<Client> {
  const { users } = await import('@zhisuan/contract/ums/user')
  const client = new Client(server.url)
  if (server.firstPassword === null) {
    await client.signIn('admin', administratorPassword)
    return client
  }
  await client.signIn('admin', server.firstPassword)
  await client.call(users.changePassword, { body: { old_password: server.firstPassword, password: administratorPassword } })
  return client
}

/** Looks again and again until it is so; for three minutes at least, as a machine that does everything at once is slow. */
export const until = <T>(look: Look<T>, what: string, timeoutMs = 0): Promise<T> => waited(look, what, Math.max(timeoutMs, 180_000))

/** The same of what an engine tells by itself: it is there well before the minute has passed in which everything is looked at. */
export const untilTold = <T>(look: Look<T>, what: string): Promise<T> => waited(look, what, 20_000)

type Look<T> = () => Promise<T | null | undefined | false>

async function waited<T>(look: Look<T>, what: string, timeoutMs: number): Promise<T> {
  const begun = Date.now()
  for (;;) {
    const seen = await look()
    const waitedMs = Date.now() - begun
    if (seen !== null && seen !== undefined && seen !== false) return seen
    if (waitedMs > timeoutMs) throw new Error(`waited in vain: ${what}`)
    // What takes long is looked for less often: to look takes processors from whom it is waited for.
    await new Promise((resolve) => setTimeout(resolve, Math.min(50 + waitedMs / 10, 250)))
  }
}
