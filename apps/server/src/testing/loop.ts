import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** The longest time, in milliseconds, for which nothing else could be done while something was going on. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  try {
    await work()
    // The last hold is seen by the timer after it.
    await sleep(2)
    return delay.max / 1e6
  } finally {
    delay.disable()
  }
}
