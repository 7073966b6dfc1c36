import type { ReceiverKind } from '@zhisuan/contract/omc/alarm'
import type { ApiEvent } from '@zhisuan/contract/omc/log'
import { isConnectionError } from '../../../platform/db/connections.ts'
import type { Platform } from '../../../platform/platform.ts'
import { limits, NotTaken, receiverPlace, send, type Channels, type ReceiverPlace } from './channels.ts'
import * as store from './alarm.store.ts'
import { alarmTexts } from './alarm.texts.ts'
import { eventTexts } from '../event/event.texts.ts'

const lookEveryMs = 500
/** Of one receiver together: as many as have a line of their own in one message. */
const togetherMost = (kind: ReceiverKind): number => Math.min(500, Math.floor(limits[kind].bytes / 122))
/** So long one message may take; whoever died over it left it to the next then. */
const claimMs = 60_000
/** Before each further try; after the last nobody tries any more but by hand. */
const againAfterMs = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000] as const
/** At once, by this server, and of them for one organisation: whose receivers hang keeps nobody else waiting. */
const atOnce = 16
const atOnceOfOne = 2

export type Dispatcher = ReturnType<typeof createDispatcher>

export const sealedAt = (id: string): string => `alarm_receivers.sealed:${id}`

/**
 * Sends what waits: of each receiver one message after the other, and all that is due in one.
 * @param stillTold of what waits for subscriptions each event that may still be told, by its delivery
 */
export function createDispatcher(
  { db, log, now, secrets }: Pick<Platform, 'db' | 'log' | 'now' | 'secrets'>,
  channels: Channels,
  stillTold: (deliveries: readonly store.DeliveryRow[]) => Promise<ReadonlyMap<string, ApiEvent>>,
) {
  let timer: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  /** What is being sent, and for whom. */
  const running = new Map<Promise<void>, string | null>()

  const placeOf = ({ id, sealed }: Pick<store.ReceiverRow, 'id' | 'sealed'>): ReceiverPlace =>
    receiverPlace.parse(JSON.parse(secrets.open(sealed, sealedAt(id))))

  const deliver = async ({ receiver, deliveries: due }: store.Claimed): Promise<void> => {
    const events = await stillTold(due).catch((error: unknown) => {
      if (!isConnectionError(error)) log.warn({ err: error, receiver: receiver.id }, 'what may be told of events')
      return null
    })
    if (events === null) {
      // Alarms wait for nothing of that.
      const held = due.filter(({ what }) => what === 'event').map(({ id }) => id)
      await store.settleDeliveries(db, held, { error: alarmTexts.failed, next_at: new Date(now().getTime() + claimMs) })
      const rest = due.filter(({ what }) => what !== 'event')
      if (rest.length > 0) return sendTo(receiver, rest, new Map())
      return store.updateReceiver(db, receiver.id, { next_at: null })
    }
    const isTold = ({ id, what }: store.DeliveryRow): boolean => what !== 'event' || events.has(id)
    const deliveries = due.filter(isTold)
    if (deliveries.length < due.length)
      await store.settleDeliveries(
        db,
        due.filter((one) => !isTold(one)).map(({ id }) => id),
        { status: 'failed', error: eventTexts.noRight },
      )
    if (deliveries.length === 0) {
      await store.updateReceiver(db, receiver.id, { next_at: null })
      return
    }
    await sendTo(receiver, deliveries, events)
  }
  const sendTo = async (receiver: store.ReceiverRow, deliveries: readonly store.DeliveryRow[], events: ReadonlyMap<string, ApiEvent>): Promise<void> => {
    const ids = deliveries.map(({ id }) => id)
    let next = new Date(now().getTime() + limits[receiver.kind].everyMs)
    try {
      await send(
        placeOf(receiver),
        deliveries.map(({ id, what, severity, summary, alert_log_id }) => {
          const event = events.get(id)
          return { id: alert_log_id ?? event?.id ?? id, what, severity, summary, ...(event !== undefined && { event }) }
        }),
        channels,
      )
      await store.settleDeliveries(db, ids, { status: 'sent', error: null, sent_at: now() })
    } catch (error) {
      if (!(error instanceof NotTaken)) log.warn({ err: error, receiver: receiver.id }, 'telling of alarms')
      const why = error instanceof NotTaken ? error.message : alarmTexts.failed
      // Each has its own tries: what comes to a receiver that is away does not wait as long as what waits already.
      for (const [attempts, of] of Map.groupBy(deliveries, (one) => one.attempts)) {
        const after = againAfterMs[attempts]
        await store.settleDeliveries(
          db,
          of.map(({ id }) => id),
          after === undefined ? { status: 'failed', error: why } : { error: why, next_at: new Date(now().getTime() + after) },
        )
      }
      next = new Date(now().getTime() + Math.max(limits[receiver.kind].everyMs, 1_000))
    }
    await store.updateReceiver(db, receiver.id, { next_at: next })
  }

  const lookNow = async (): Promise<void> => {
    while (running.size < atOnce && !stopping.signal.aborted) {
      const at = now()
      const busy = [...Map.groupBy(running.values(), (bpId) => bpId)].flatMap(([bpId, of]) => (of.length < atOnceOfOne ? [] : [bpId]))
      const claimed = await db.transaction().execute((tx) => store.claimDue(tx, at, new Date(at.getTime() + claimMs), togetherMost, busy))
      if (claimed === null) return
      const work = deliver(claimed)
        .catch((error: unknown) => {
          if (!isConnectionError(error)) log.warn({ err: error, receiver: claimed.receiver.id }, 'telling of alarms')
        })
        .finally(() => {
          running.delete(work)
        })
      running.set(work, claimed.receiver.bp_id)
    }
  }
  const loop = async (): Promise<void> => {
    await lookNow().catch((error: unknown) => {
      if (!isConnectionError(error)) log.warn({ err: error }, 'telling of alarms')
    })
    if (!stopping.signal.aborted) timer = setTimeout(() => void loop(), lookEveryMs).unref()
  }

  return {
    placeOf,
    start(): void {
      timer = setTimeout(() => void loop(), lookEveryMs).unref()
    },
    async stop(): Promise<void> {
      stopping.abort()
      clearTimeout(timer)
      await Promise.all(running.keys())
      await channels.agent.close()
    },
  }
}
