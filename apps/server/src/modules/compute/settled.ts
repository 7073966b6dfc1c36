import { isEngineError } from '@zhisuan/engines/errors'
import { pause } from '@zhisuan/engines/signals'

/** With the time that the cloud had for its answer, this is what somebody waits for a call. */
const lookForMs = 20_000
const lookEveryMs = 1_000

/**
 * A change; where no answer comes to it, what became of it is looked for as long as whoever asked still waits.
 * @param look what the change was to come to, null where it has not (yet)
 * @throws what it failed with: `unanswered` says that nobody knows still
 */
export async function settled<T>(asked: Promise<T>, look: () => Promise<T | null>, forMs = lookForMs): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!isEngineError(error, 'unanswered')) throw error
    for (const end = performance.now() + forMs; ; await pause(lookEveryMs, undefined)) {
      const found = await look().catch((failure: unknown) => {
        if (!isEngineError(failure)) throw failure
        return null
      })
      if (found !== null) return found
      if (performance.now() >= end) throw error
    }
  }
}
