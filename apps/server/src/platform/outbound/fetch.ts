import { createWriteStream } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Dispatcher } from 'undici'
import { z } from 'zod'
import { Refusal } from '../errors.ts'
import type { OutboundGuard } from './guard.ts'
import { createOutboundAgent, fetchFailed, fetchReason, fetchRefusal, follow } from './follow.ts'

/** Of tries in a row that brought nothing. */
const mostTries = 5
const againAfterMs = 1_000

/** What says that a file there is still the same, kept beside what came of it so far. */
const kept = z.object({ validator: z.string().nullable(), total: z.number().nullable() })
type Kept = z.output<typeof kept>

export interface FetchWish {
  url: string
  /** Where the bytes go. What is there already came from the same URL, and is gone on with where the other side can. */
  path: string
  maxBytes: number
  guard: OutboundGuard
  signal: AbortSignal
  /** What has to come in each span of time; what is slower is ended. Left out: only silence ends it. */
  pace?: { readonly spanMs: number; readonly bytes: number }
  /** As soon as it is known how many there will be. */
  onTotal: (bytes: number) => Promise<void>
  /** Bytes that are here; called for each piece, and waited for. */
  onProgress: (bytes: number) => Promise<void> | void
}

/**
 * Fetches a file over HTTP. Cut off, it goes on where it was, also after the process was killed;
 * where the file there changed meanwhile it begins anew.
 * @throws Refusal 94164, 94165, 94186
 */
export async function fetchFile(wish: FetchWish): Promise<void> {
  const agent = createOutboundAgent(wish.guard)
  try {
    for (let tries = 0; ;) {
      const before = await sizeOf(wish.path)
      try {
        await fetchRest(wish, agent)
        return
      } catch (error) {
        wish.signal.throwIfAborted()
        const refusal = refusalOf(error)
        tries = (await sizeOf(wish.path)) - before >= (wish.pace?.bytes ?? 1) ? 0 : tries + 1
        if (refusal !== null || tries >= mostTries) throw refusal ?? fetchFailed(fetchReason(error), {}, error)
        await sleep(againAfterMs * tries, undefined, { signal: wish.signal })
      }
    }
  } finally {
    await agent.destroy()
  }
}

/** One connection's worth. */
async function fetchRest(wish: FetchWish, agent: Agent): Promise<void> {
  const had = await readKept(wish.path)
  // Without anything to tell that it is the same file, what came of it is worth nothing.
  const from = had?.validator === null || had === null ? 0 : await sizeOf(wish.path)
  if (had !== null && from > 0 && had.total === from) return
  const { guard, signal } = wish
  const { answer } = await follow(wish.url, {
    guard,
    agent,
    signal,
    headers: from > 0 && had !== null ? { range: `bytes=${from}-`, 'if-range': had.validator ?? '' } : {},
  })
  const { statusCode, headers, body } = answer
  try {
    if (statusCode === 416) {
      // It is shorter than what we have of it: not the same.
      await rm(wish.path, { force: true })
      throw new Error('the file changed')
    }
    if (statusCode !== 200 && statusCode !== 206) throw fetchFailed('status', { status: statusCode })
    const start = statusCode === 206 ? startOf(headers['content-range']) : 0
    if (start !== 0 && start !== from) throw fetchFailed('changed')
    const length = headers['content-length'] === undefined ? null : Number(headers['content-length'])
    const total = length === null ? null : start + length
    if (total !== null && total > wish.maxBytes) throw fetchFailed('tooLarge')
    if (statusCode === 200) await writeKept(wish.path, { validator: validatorOf(headers), total })
    if (total !== null) await wish.onTotal(total)
    await save(body, wish, start)
    const size = await sizeOf(wish.path)
    if (total !== null && size < total) throw new Error(`cut off at ${size} of ${total} bytes`)
    if (total === null) await wish.onTotal(size)
  } finally {
    body.on('error', () => undefined).destroy()
  }
}

async function save(body: Readable, { path, maxBytes, signal, pace, onProgress }: FetchWish, start: number): Promise<void> {
  if (start === 0) await rm(path, { force: true })
  let size = start
  let span = { at: performance.now(), size }
  async function* counted(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      size += part.length
      if (size > maxBytes) throw fetchFailed('tooLarge')
      if (pace !== undefined && performance.now() - span.at >= pace.spanMs) {
        if (size - span.size < pace.bytes) throw fetchFailed('silent')
        span = { at: performance.now(), size }
      }
      yield part
      await onProgress(size)
    }
  }
  await pipeline(body, counted, createWriteStream(path, { flags: 'a', mode: 0o600, flush: true }), { signal })
}

/** Of a part: the first byte that comes. */
function startOf(range: string | string[] | undefined): number {
  return Number(/^bytes (\d+)-/.exec(String(range))?.[1] ?? Number.NaN)
}

/** A strong ETag, else the date of the last change. */
function validatorOf(headers: Dispatcher.ResponseData['headers']): string | null {
  const { etag, 'last-modified': changed } = headers
  if (typeof etag === 'string' && !etag.startsWith('W/')) return etag
  return typeof changed === 'string' ? changed : null
}

const placeOf = (path: string): string => `${path}.source`
async function readKept(path: string): Promise<Kept | null> {
  try {
    return kept.parse(JSON.parse(await readFile(placeOf(path), 'utf8')))
  } catch {
    return null
  }
}
/** Whole or not at all. */
async function writeKept(path: string, what: Kept): Promise<void> {
  await rm(path, { force: true })
  await writeFile(`${placeOf(path)}.new`, JSON.stringify(what), { mode: 0o600 })
  const file = await open(`${placeOf(path)}.new`, 'r')
  await file.sync().finally(() => file.close())
  await rename(`${placeOf(path)}.new`, placeOf(path))
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** What no further try would mend; null for the rest. */
function refusalOf(error: unknown): Refusal | null {
  const refused = fetchRefusal(error)
  if (refused !== null) return refused
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') return new Refusal('filesExhausted', { cause: error })
  }
  return null
}
