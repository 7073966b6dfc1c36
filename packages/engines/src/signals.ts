import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError } from './errors.ts'

const cancelled = (cause: unknown): EngineError => new EngineError('cancelled', 'cancelled', { cause })

/** Throws `cancelled` if the signal is aborted already. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled(signal.reason)
}

/** Waits for what others may be waiting for too: aborting ends our wait, not the work. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  let abort: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(cancelled(signal.reason))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
    // Whichever lost is nobody's any more.
    aborted.catch(() => undefined)
    work.catch(() => undefined)
  }
}

/** A pause that throws `cancelled` when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    throw cancelled(error)
  }
}
