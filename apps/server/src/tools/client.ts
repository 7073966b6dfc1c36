import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Failure } from './command.ts'

/**
 * PostgreSQL's own programs, of `DATABASE_URL`'s database. The password goes by environment: a
 * command line is everybody's to read.
 */
export function startClient(
  program: 'pg_dump' | 'pg_restore' | 'psql',
  databaseUrl: string | null,
  args: readonly string[],
): { process: ChildProcess; ended: Promise<void> } {
  const url = databaseUrl === null ? null : new URL(databaseUrl)
  const password = url === null ? '' : decodeURIComponent(url.password)
  if (url !== null) url.password = ''
  const child = spawn(program, [...(url === null ? [] : ['--dbname', url.href]), ...args], {
    env: { ...process.env, PGAPPNAME: 'zhisuan-backup', ...(password !== '' && { PGPASSWORD: password }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // Who writes to one that ended is told by `ended`.
  child.stdin.on('error', () => undefined)
  let problem = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (problem = (problem + text).slice(-4000)))
  const ended = once(child, 'close').then(
    ([code, signal]) => {
      if (code !== 0) throw new Failure(`${program} failed (${String(code ?? signal)}):\n${problem.trimEnd()}`)
    },
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw new Failure(
        `${program} is not in PATH. Install PostgreSQL's client programs, of the database's version or newer (Debian: apt-get install postgresql-client).`,
        { cause: error },
      )
    },
  )
  ended.catch(() => undefined)
  return { process: child, ended }
}
