import { request, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'

const answerMs = 60_000
const answerBytes = 4 * 2 ** 20

export class DockerError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
export const isStatus = (error: unknown, ...statuses: readonly number[]): boolean => error instanceof DockerError && statuses.includes(error.status)

interface Ask {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Until it begins to answer. */
  readonly timeoutMs?: number
}

const inspected = z.object({
  Id: z.string(),
  Image: z.string(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
  State: z.object({
    Running: z.boolean(),
    Pid: z.number(),
    StartedAt: z.string(),
    FinishedAt: z.string(),
    ExitCode: z.number(),
    OOMKilled: z.boolean().default(false),
    Error: z.string().default(''),
  }),
})
export type InspectedContainer = z.output<typeof inspected>
const progress = z.object({
  id: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).nullish(),
  status: z.string().optional(),
})

/** What is asked of the node's Docker for programs that are images. */
export function createDocker(socketPath: string) {
  const open = async ({ method = 'GET', path, query = {}, body, headers = {}, signal, timeoutMs = answerMs }: Ask): Promise<IncomingMessage> => {
    const content = body === undefined ? null : JSON.stringify(body)
    const asked = request({
      socketPath,
      agent: false,
      method,
      path: `${path}?${new URLSearchParams(query)}`,
      headers: { host: 'docker', ...headers, ...(content !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }) },
      ...(signal && { signal }),
    })
    const timer = setTimeout(() => asked.destroy(new Error(`docker: ${path}: no answer`)), timeoutMs)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.on('response', resolve)
      asked.on('error', (error) => reject(new Error(`docker: ${error.message}`, { cause: error })))
      asked.end(content ?? undefined)
    }).finally(() => clearTimeout(timer))
    if ((answer.statusCode ?? 0) < 400) return answer
    const text = (await buffer(answer)).toString('utf8')
    let message = text
    try {
      message = z.object({ message: z.string() }).parse(JSON.parse(text)).message
    } catch {
      // Not Docker's own.
    }
    throw new DockerError(answer.statusCode ?? 0, `docker: ${message.slice(0, 1_000)}`)
  }
  const ask = async <T extends z.ZodType>(schema: T, what: Ask): Promise<z.output<T>> => {
    const answer = await open(what)
    const parts: Buffer[] = []
    let size = 0
    for await (const part of answer as AsyncIterable<Buffer>) {
      size += part.length
      if (size > answerBytes) throw new Error(`docker: ${what.path}: too long an answer`)
      parts.push(part)
    }
    const text = Buffer.concat(parts).toString('utf8')
    return schema.parse(text === '' ? undefined : JSON.parse(text))
  }
  const missing = (error: unknown): null => {
    if (isStatus(error, 404)) return null
    throw error
  }

  return {
    /** @throws where it does not answer */
    ping: async (): Promise<void> => void (await buffer(await open({ path: '/_ping', timeoutMs: 5_000 }))),
    /** The image's id; null where it is not there. */
    image: (name: string): Promise<string | null> =>
      ask(z.object({ Id: z.string() }), { path: `/images/${encodeURIComponent(name).replaceAll('%2F', '/')}/json` }).then(({ Id }) => Id, missing),
    /** @throws DockerError with what the registry said */
    async pull(
      name: string,
      auth: { server: string; username: string; password: string } | null,
      signal: AbortSignal,
      told: (doneBytes: number, totalBytes: number) => void,
    ): Promise<void> {
      const answer = await open({
        method: 'POST',
        path: '/images/create',
        query: { fromImage: /:[^/]+$|@/.test(name) ? name : `${name}:latest` },
        headers:
          auth === null
            ? {}
            : {
                'x-registry-auth': Buffer.from(JSON.stringify({ username: auth.username, password: auth.password, serveraddress: auth.server })).toString(
                  'base64url',
                ),
              },
        signal,
        timeoutMs: 120_000,
      })
      const layers = new Map<string, { done: number; total: number }>()
      for await (const line of createInterface({ input: answer })) {
        if (line.trim() === '') continue
        const { id, error, progressDetail, status } = progress.parse(JSON.parse(line))
        if (error !== undefined) throw new DockerError(502, `docker: ${error.slice(0, 1_000)}`)
        if (id === undefined) continue
        const before = layers.get(id) ?? { done: 0, total: 0 }
        if (status === 'Downloading')
          layers.set(id, { done: progressDetail?.current ?? before.done, total: Math.max(before.total, progressDetail?.total ?? 0) })
        else if (status === 'Download complete' || status === 'Pull complete') layers.set(id, { ...before, done: before.total })
        told(
          [...layers.values()].reduce((sum, { done }) => sum + done, 0),
          [...layers.values()].reduce((sum, { total }) => sum + total, 0),
        )
      }
      signal.throwIfAborted()
    },
    /** One that others use stays. */
    removeImage: (name: string): Promise<void> =>
      ask(z.unknown(), { method: 'DELETE', path: `/images/${encodeURIComponent(name).replaceAll('%2F', '/')}` }).then(
        () => undefined,
        (error: unknown) => {
          if (!isStatus(error, 404, 409)) throw error
        },
      ),
    create: (name: string, body: unknown): Promise<string> =>
      ask(z.object({ Id: z.string() }), { method: 'POST', path: '/containers/create', query: { name }, body }).then(({ Id }) => Id),
    start: async (id: string): Promise<void> => void (await ask(z.unknown(), { method: 'POST', path: `/containers/${id}/start` })),
    inspect: (id: string): Promise<InspectedContainer | null> => ask(inspected, { path: `/containers/${id}/json` }).catch(missing),
    labelled: async (label: string): Promise<string[]> =>
      (
        await ask(z.array(z.object({ Id: z.string() })), {
          path: '/containers/json',
          query: { all: 'true', filters: JSON.stringify({ label: [label] }) },
        })
      ).map(({ Id }) => Id),
    kill: (id: string, signal: string): Promise<void> =>
      ask(z.unknown(), { method: 'POST', path: `/containers/${id}/kill`, query: { signal } }).then(
        () => undefined,
        (error: unknown) => {
          // It does not run, or is gone.
          if (!isStatus(error, 404, 409)) throw error
        },
      ),
    remove: (id: string): Promise<void> =>
      ask(z.unknown(), { method: 'DELETE', path: `/containers/${id}`, query: { force: 'true', v: 'true' } }).then(
        () => undefined,
        (error: unknown) => {
          // Gone, or just going.
          if (!isStatus(error, 404, 409)) throw error
        },
      ),
    /** What it said; both of its outputs in one. */
    async logs(id: string, { tail, follow, since, signal }: { tail: number; follow: boolean; since?: string; signal?: AbortSignal }): Promise<Transform> {
      const answer = await open({
        path: `/containers/${id}/logs`,
        query: {
          stdout: 'true',
          stderr: 'true',
          tail: String(tail),
          follow: String(follow),
          ...(since !== undefined && { since: String(Math.floor(new Date(since).getTime() / 1_000)) }),
        },
        ...(signal && { signal }),
      })
      const plain = withoutFrames()
      answer.on('error', () => plain.destroy())
      plain.on('close', () => answer.destroy())
      return answer.pipe(plain)
    },
  }
}
export type Docker = ReturnType<typeof createDocker>

/** Docker puts eight bytes before each piece: of which output it is, and how long. */
function withoutFrames(): Transform {
  let rest: Buffer = Buffer.alloc(0)
  let left = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      for (;;) {
        if (left > 0) {
          const part = rest.subarray(0, left)
          if (part.length === 0) break
          left -= part.length
          rest = rest.subarray(part.length)
          this.push(part)
        } else {
          if (rest.length < 8) break
          left = rest.readUInt32BE(4)
          rest = rest.subarray(8)
        }
      }
      done()
    },
  })
}
