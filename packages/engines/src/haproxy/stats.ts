import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import { EngineError } from '../errors.ts'

/** One line of HAProxy's statistics (its management guide, 9.1): of a listener, a server, or both together. */
export interface HaproxyRow {
  /** Name of the proxy. */
  readonly proxy: string
  /** `FRONTEND`, `BACKEND`, or the name of a server. */
  readonly server: string
  /** `UP`, `DOWN`, `NOLB`, `MAINT`, `DRAIN`, `no check`, `UP 1/3`… */
  readonly status: string
  /** Sessions that are open, and began in the last second. */
  readonly sessions: number
  readonly rate: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly weight: number
  /** Seconds since the status changed; null where it never did. */
  readonly changed: number | null
  /** `L4OK`, `L4CON`, `L7STS`…; empty of what is not checked. A leading `* ` says that a check is under way. */
  readonly check: string
  readonly checkCode: number | null
  /** What the check said last. */
  readonly said: string
}

const answerMostBytes = 8 * 2 ** 20

/** Cells of CSV, RFC 4180: those of HAProxy hold no line ends. */
function cellsOf(line: string): string[] {
  const cells: string[] = []
  for (const [, quoted, plain] of line.matchAll(/(?:"((?:[^"]|"")*)"|([^",]*))(?:,|$)/g)) cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
  return cells
}

/** @throws EngineError where that is none of HAProxy's statistics */
export function readStats(text: string): HaproxyRow[] {
  const [head = '', ...lines] = text.split('\n')
  if (!head.startsWith('# pxname,svname,')) throw new EngineError('bad_answer', 'no statistics of HAProxy')
  const names = head.slice(2).split(',')
  const at = (name: string): number => names.indexOf(name)
  const columns = Object.fromEntries(names.map((name) => [name, at(name)]))
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const cells = cellsOf(line)
      const text = (name: string): string => cells[columns[name] ?? -1] ?? ''
      const number = (name: string): number => Number(text(name) || 0)
      const numberOrNull = (name: string): number | null => (text(name) === '' ? null : Number(text(name)))
      return {
        proxy: text('pxname'),
        server: text('svname'),
        status: text('status'),
        sessions: number('scur'),
        rate: number('rate'),
        bytesIn: number('bin'),
        bytesOut: number('bout'),
        weight: number('weight'),
        changed: numberOrNull('lastchg'),
        check: text('check_status'),
        checkCode: numberOrNull('check_code'),
        said: text('last_chk'),
      }
    })
}

/**
 * Asks a HAProxy for its statistics, by the page that its configuration has them on.
 * @throws EngineError
 */
export async function askStats({
  connect,
  path,
  username,
  password,
  signal,
}: {
  readonly connect: (signal: AbortSignal) => Promise<Duplex>
  readonly path: string
  readonly username: string
  readonly password: string
  readonly signal: AbortSignal
}): Promise<HaproxyRow[]> {
  const stream = await connect(signal)
  try {
    const text = await new Promise<string>((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          path: `${path};csv`,
          signal,
          createConnection: () => stream,
          headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`, connection: 'close' },
        },
        (answer) => {
          const chunks: Buffer[] = []
          let bytes = 0
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes > answerMostBytes) asked.destroy(new EngineError('bad_answer', 'the statistics are too long'))
            else chunks.push(chunk)
          })
          answer.on('error', reject)
          answer.on('end', () =>
            answer.statusCode === 200
              ? resolve(Buffer.concat(chunks).toString('utf8'))
              : reject(new EngineError('bad_answer', `HTTP ${answer.statusCode ?? 0}`, answer.statusCode === undefined ? {} : { status: answer.statusCode })),
          )
        },
      )
      asked.on('error', reject)
      asked.end()
    })
    return readStats(text)
  } catch (error) {
    if (error instanceof EngineError) throw error
    throw new EngineError('unreachable', error instanceof Error ? error.message : String(error), { cause: error })
  } finally {
    stream.destroy()
  }
}
