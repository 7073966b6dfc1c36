import { z } from 'zod'
import type { CallOptions } from '../compute.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { pause, refuseAborted } from '../signals.ts'
import { answerError, type Answer, type Ask, type Transport } from './transport.ts'

/** LXD REST API: /1.0/operations/{id}. Status codes: 103 running, 200 success, 400 failure, 401 cancelled. */
const operation = z.object({
  id: z.string(),
  /** `task`; or `websocket`, a command that runs in an instance, which nothing need wait for. */
  class: z.string().nullish(),
  description: z.string().nullish(),
  /** The cluster member that it runs on. */
  location: z.string().nullish(),
  status_code: z.number(),
  err: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  resources: z.record(z.string(), z.array(z.string())).nullish(),
})
export type LxdOperation = z.output<typeof operation>

/** One wait; longer ones are asked for again, so that a cut connection is noticed. */
const waitSeconds = 60

/** Waits for the operation of a change. How it ended may be known to nobody: `unanswered`. Aborting cancels it on the engine, where the engine can. */
export async function waitFor(transport: Transport, path: string, options: CallOptions = {}): Promise<LxdOperation> {
  const id = path.split('?', 1)[0] ?? path
  options.onOperation?.(id.split('/').at(-1) ?? id)
  try {
    for (;;) {
      const state = await look(transport, id, options.signal)
      // The engine forgets what ended some seconds ago, and all when it restarts.
      if (state === null) throw new EngineError('unanswered', 'the engine forgot the operation before it told how it ended')
      if (state.status_code === 401) throw new EngineError('cancelled', 'the operation was cancelled on the engine')
      if (state.status_code >= 400) throw answerError(state.err ?? '', 500)
      if (state.status_code >= 200) return state
    }
  } catch (error) {
    if (options.signal?.aborted === true) {
      // Most cannot be cancelled; then they run on, and whoever asks again waits for them.
      await transport.ask(id, { method: 'DELETE', timeoutMs: 2_000 }).catch(() => undefined)
    }
    if (isEngineError(error, 'unreachable')) throw new EngineError('unanswered', error.message, { cause: error })
    throw error
  }
}

/** One look, as long as a wait; null when there is no such operation any more. */
async function look(transport: Transport, id: string, signal: AbortSignal | undefined): Promise<LxdOperation | null> {
  try {
    const query = { timeout: String(waitSeconds) }
    const { metadata } = await transport.ask(`${id}/wait`, { query, signal, timeoutMs: (waitSeconds + 15) * 1000, waits: true })
    return parseOperation(metadata)
  } catch (error) {
    if (isEngineError(error, 'not_found')) return null
    throw error
  }
}

/** How long the answer to a change is waited for by one who does not want it any more. */
const lateAnswerMs = 5_000

/** Sends a change and waits for the operation that it began. */
export async function change(transport: Transport, path: string, ask: Ask, options: CallOptions = {}): Promise<LxdOperation | null> {
  refuseAborted(options.signal)
  const answer = await answered(transport, path, ask, options.signal)
  return answer.operation === null ? null : waitFor(transport, answer.operation, options)
}

/** Once sent, a change may have begun: only its answer names what is to be cancelled. An upload has begun nothing before its end. */
async function answered(transport: Transport, path: string, ask: Ask, signal: AbortSignal | undefined): Promise<Answer> {
  if (signal === undefined || ask.raw !== undefined) return transport.ask(path, { ...ask, signal })
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    timer = setTimeout(() => late.abort(), lateAnswerMs)
  }
  signal.addEventListener('abort', wait, { once: true })
  try {
    return await transport.ask(path, { ...ask, signal: late.signal })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', wait)
  }
}

/** What runs or is about to. */
export async function running(transport: Transport, options: CallOptions = {}): Promise<LxdOperation[]> {
  const { metadata } = await transport.ask('/1.0/operations', { query: { recursion: '1' }, signal: options.signal })
  const listed = z.object({ running: z.array(z.unknown()).nullish(), pending: z.array(z.unknown()).nullish() }).safeParse(metadata)
  return [...(listed.data?.running ?? []), ...(listed.data?.pending ?? [])]
    .map((entry) => operation.safeParse(entry).data)
    .filter((one) => one?.class === 'task') as LxdOperation[]
}

/**
 * Waits for whatever is running on an instance (or on what else `touches` says) already; what
 * became of it is for the caller to look at. Resolves to whether there was something.
 */
export async function settle(
  transport: Transport,
  name: string,
  options: CallOptions = {},
  touches: (operation: LxdOperation, name: string) => boolean = touchesInstance,
): Promise<boolean> {
  const found = (await running(transport, options)).filter((one) => touches(one, name))
  for (const one of found) {
    for (let state: LxdOperation | null = one; state !== null && state.status_code < 200;) {
      state = await look(transport, `/1.0/operations/${one.id}`, options.signal)
    }
  }
  return found.length > 0
}

/** Tries again what found the object busy, once that is through. */
export async function whenFree(work: () => Promise<void>, free: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (signal?.aborted === true || tries >= 4 || !isEngineError(error, 'busy')) throw error
      await free()
      await pause(50 * (tries + 1), signal)
    }
  }
}

/** Names of the objects of these kinds that an operation is about. */
export const namesIn = ({ resources }: LxdOperation, ...kinds: string[]): string[] =>
  kinds.flatMap((kind) => resources?.[kind] ?? []).map((path) => path.split('?', 1)[0]?.split('/').at(-1) ?? '')

const touchesInstance = (operation: LxdOperation, name: string): boolean => namesIn(operation, 'instances', 'containers').includes(name)

export function parseOperation(metadata: unknown): LxdOperation {
  const parsed = operation.safeParse(metadata)
  if (!parsed.success) throw new EngineError('bad_answer', 'not an operation', { cause: parsed.error })
  return parsed.data
}
