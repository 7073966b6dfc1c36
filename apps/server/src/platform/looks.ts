import { setTimeout as sleep } from 'node:timers/promises'

/** Events of one thing come in bursts; they are answered by one look. */
const gatherMs = 50

/**
 * Collects names until a look is due: one look runs, and what comes meanwhile waits for the next.
 * What a look could not do is left to the one that comes after it.
 * @param look at these, or at everything (null)
 * @returns takes a name, or null for everything
 */
export function gatherLooks(
  signal: AbortSignal,
  look: (names: readonly string[] | null) => Promise<void>,
  failed: (error: unknown) => void,
): (name: string | null) => void {
  const waiting = new Set<string>()
  let everything = false
  let busy = false

  const run = async (): Promise<void> => {
    busy = true
    while ((everything || waiting.size > 0) && !signal.aborted) {
      await sleep(gatherMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
      const names = everything ? null : [...waiting]
      everything = false
      waiting.clear()
      try {
        await look(names)
      } catch (error) {
        if (!signal.aborted) failed(error)
      }
    }
    busy = false
  }
  return (name) => {
    if (name === null) everything = true
    else waiting.add(name)
    if (!busy && !signal.aborted) void run()
  }
}
