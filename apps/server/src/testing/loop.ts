import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The longest time, in milliseconds, for which nothing else could be done while something was going on. No longer than this
 * thread computed in all that time: what others on a busy machine took from it is not its own.
 */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const before = process.threadCpuUsage()
  try {
    await work()
    // The last hold is seen by the timer after it.
    await sleep(2)
    const { user, system } = process.threadCpuUsage(before)
    return Math.min(delay.max / 1e6, (user + system) / 1e3)
  } finally {
    delay.disable()
  }
}
