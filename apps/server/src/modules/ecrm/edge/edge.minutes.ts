import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import type { Platform } from '../../../platform/platform.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import { createMetricsRing, minuteMs, recentMinutes, sampleEveryMs, thinned, unpack, type Minutes } from './edge.metrics.ts'
import { deleteMinutes, insertMinutes, minutesOf } from './edge.minutes.store.ts'

const writeEveryMs = 10_000
/** In one statement. */
const writtenMost = 500
/** While the database is away; what is older is lost. */
const waitingMost = 50_000
/** No chart shows more. */
const pointsMost = 360

export type EdgeMetrics = ReturnType<typeof createEdgeMetrics>

/** How nodes are and were: the last minutes as they said it, a day in averages of minutes, which outlive the server. */
export function createEdgeMetrics({ db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>) {
  let waiting: Minutes[] = []
  let timer: NodeJS.Timeout | undefined
  let stopping = false
  const ring = createMetricsRing(now, (minutes) => waiting.push(minutes))

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const some = waiting.slice(0, writtenMost)
      await insertMinutes(db, some)
      waiting = waiting.slice(some.length)
    }
    await deleteMinutes(db, now())
  }
  let writing: Promise<void> = Promise.resolve()
  const loop = async (): Promise<void> => {
    ring.sweep()
    writing = write().catch((error: unknown) => {
      if (!isConnectionError(error)) log.warn({ err: error }, 'metrics of nodes')
      waiting = waiting.slice(-waitingMost)
    })
    await writing
    if (!stopping) timer = setTimeout(() => void loop(), writeEveryMs).unref()
  }

  return {
    record: ring.record,
    last: ring.last,
    forget: ring.forget,
    /** @param minutes of which; short times are told as the node said it, longer ones by averages */
    async of(edgeId: string, minutes: number): Promise<{ items: NodeMetrics[]; interval_seconds: number }> {
      const since = now().getTime() - minutes * minuteMs
      const here = ({ at }: NodeMetrics): boolean => Date.parse(at) >= since
      if (minutes <= recentMinutes) return { items: ring.recent(edgeId).filter(here), interval_seconds: sampleEveryMs / 1_000 }
      // Looked at first: what is written meanwhile is there twice, and not lost.
      const unwritten = [...waiting.flatMap((one) => (one.edgeId === edgeId ? one.averages : [])), ...ring.minutes(edgeId)]
      const written = (await minutesOf(db, edgeId, new Date(since))).flatMap(unpack)
      const each = Math.ceil(minutes / pointsMost)
      return { items: thinned([...written, ...unwritten].filter(here), each), interval_seconds: (each * minuteMs) / 1_000 }
    },
    start(): void {
      timer = setTimeout(() => void loop(), writeEveryMs).unref()
    },
    async stop(): Promise<void> {
      stopping = true
      clearTimeout(timer)
      await writing
      ring.sweep(true)
      await write().catch((error: unknown) => log.warn({ err: error }, 'metrics of nodes'))
    },
  }
}
