import { isConnectionError } from '../../../platform/db/connections.ts'
import type { Platform } from '../../../platform/platform.ts'
import { hasMore, numberEvents, numberedTopic, writtenTopic } from './event.store.ts'

/** Where nobody was told, as the line was away. */
const lookEveryMs = 5_000

export type EventFeed = ReturnType<typeof createEventFeed>

/** Gives events their numbers, and tells who follows them that there are more. */
export function createEventFeed({ db, bus, log }: Pick<Platform, 'db' | 'bus' | 'log'>) {
  const waiting = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let running: Promise<void> | null = null
  let again = false
  /** How often there were more. */
  let times = 0

  const wakeAll = (): void => {
    times++
    for (const wake of waiting) wake()
  }
  const number = async (): Promise<void> => {
    try {
      while (hasMore(await numberEvents(db)));
    } catch (error) {
      if (!stopped && !isConnectionError(error)) log.warn({ err: error }, 'numbering events')
    }
  }
  /** One at a time here; who is told while it runs has it run once more. */
  const kick = (): void => {
    if (stopped) return
    if (running !== null) {
      again = true
      return
    }
    again = false
    running = number().finally(() => {
      running = null
      // What was written meanwhile may not have been seen.
      if (again) kick()
    })
  }
  const unsubscribe = [bus.subscribe(writtenTopic, kick, kick), bus.subscribe(numberedTopic, wakeAll, wakeAll)]

  return {
    start(): void {
      kick()
      timer = setInterval(kick, lookEveryMs).unref()
    },
    /** To be asked before one looks, and handed to {@link EventFeed.more}: so nothing is missed that comes while one looks. */
    times: (): number => times,
    /** Resolves once there may be more than there were then, after so long at the latest, or when it is aborted. */
    more(then: number, ms: number, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(patience)
          waiting.delete(end)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const patience = setTimeout(end, ms)
        waiting.add(end)
        signal.addEventListener('abort', end, { once: true })
        if (signal.aborted || stopped || times !== then) end()
      })
    },
    async stop(): Promise<void> {
      stopped = true
      clearInterval(timer)
      for (const leave of unsubscribe) leave()
      wakeAll()
      await running
    },
  }
}
