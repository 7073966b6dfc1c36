import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { eventSubscriptions, type EventSubscription } from '@zhisuan/contract/omc/event'
import type { ApiEvent } from '@zhisuan/contract/omc/log'
import { fillText } from '@zhisuan/contract/errors'
import type { Kind } from '@zhisuan/contract/kind'
import { kindText } from '@zhisuan/contract/kindTexts'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { contextOfPerson, mayStill, type PersonOf } from '../../../platform/auth/later.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { countOwnReceivers, insertDeliveries, receiversByIds, type DeliveryRow } from '../alarm/alarm.store.ts'
import { toldAt } from '../alarm/hours.ts'
import { eventOutcomeTexts } from '../log/log.texts.ts'
import type { EventFeed } from './event.feed.ts'
import type { MaySee } from './event.rights.ts'
import type { EventService } from './event.service.ts'
import { eventsByNumbers, followEvents, lastNumber, type EventRow } from './event.store.ts'
import { eventTexts as texts } from './event.texts.ts'
import * as store from './subscription.store.ts'

type Subscriptions = typeof eventSubscriptions

const subscriptionsMost = 20
const atOnce = 200
const summaryMost = 500
/** Where nobody was told that there are more. */
const lookEveryMs = 5_000

export type SubscriptionService = ReturnType<typeof createSubscriptions>

export interface SubscriptionParts {
  readonly feed: EventFeed
  readonly maySee: MaySee
  readonly events: Pick<EventService, 'shape'>
  readonly personOf: PersonOf
}

/** Has receivers told of events, as far as whoever wished it may see what they are about when they are told. */
export function createSubscriptions(
  { db, kinds, log, now }: Pick<Platform, 'db' | 'kinds' | 'log' | 'now'>,
  { feed, maySee, events, personOf }: SubscriptionParts,
) {
  const shape = (row: store.ShownSubscription): EventSubscription => ({
    id: row.id,
    name: row.name,
    receivers: row.receivers,
    types: row.types,
    families: row.families,
    // Each was one when it was named.
    kinds: row.kinds as Kind[],
    severities: row.severities,
    enabled: row.enabled,
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const show = async (actor: Actor, id: string): Promise<EventSubscription> => shape(found(await store.showSubscription(db, scopeOf(actor), id)))
  const nameTaken = { event_subscriptions_name: ['subscriptionNameTaken', 'name'] as const }
  const judge = async (bpId: string | null, ids: readonly string[]): Promise<string[]> => {
    const unique = [...new Set(ids)]
    if ((await countOwnReceivers(db, bpId, unique)) !== unique.length) throw new Refusal('receiverUnknown', { field: 'receiver_ids' })
    return unique
  }
  const columnsOf = ({ name, types, families, kinds: of, severities, enabled }: BodyOf<Subscriptions['create']>) => ({
    name,
    types: [...new Set(types)],
    families: [...new Set(families)],
    kinds: [...new Set<string>(of)],
    severities: [...new Set(severities)],
    enabled,
  })

  /** By whose rights one is told now; null where nobody's: they are gone, elsewhere, or may not subscribe any more. */
  const subscriberOf = async ({ user_id, bp_id }: store.SubscriptionRow): Promise<Actor | null> => {
    const person = await personOf(user_id)
    if (person === null || person.bp_id !== bp_id) return null
    return (await mayStill({ kinds, now }, person, eventSubscriptions.create, undefined)) ? person : null
  }
  /** `云主机“web-1” nextstack.vm.create 成功 张三`. */
  const summaryOf = (row: EventRow, { about, text }: ApiEvent): string =>
    (row.type === 'message' || row.type === 'alarm'
      ? (text ?? '')
      : fillText(texts.line, {
          about: about.kind === null ? about.name : `${kindText(about.kind)}“${about.name || (about.id ?? '')}”`,
          what: row.what,
          outcome: eventOutcomeTexts[row.outcome],
          by: row.actor_name,
        })
    )
      .trim()
      .slice(0, summaryMost)

  const deliver = async (tx: Tx, subscription: store.SubscriptionRow, rows: readonly (EventRow & { number: number })[]): Promise<void> => {
    const told = await events.shape(rows, subscription.user_id)
    const receivers = await receiversByIds(tx, subscription.receiver_ids)
    await insertDeliveries(
      tx,
      rows.flatMap((row, index) => {
        const event = told[index]
        if (event === undefined) return []
        return receivers.map(({ id: receiver_id, hours }) => ({
          id: uuidv7(),
          receiver_id,
          bp_id: subscription.bp_id,
          alert_log_id: null,
          subscription_id: subscription.id,
          event_number: row.number,
          what: 'event' as const,
          severity: row.severity,
          summary: summaryOf(row, event),
          status: 'waiting' as const,
          error: null,
          next_at: toldAt(hours, row.severity, now()),
          claimed_until: null,
          sent_at: null,
        }))
      }),
    )
  }
  /** What is told, and that it was, is one transaction: whoever dies over it has told nothing, and nobody tells it twice. */
  const tellOne = (id: string, head: number): Promise<boolean> =>
    db.transaction().execute(async (tx) => {
      const subscription = await store.claimBehind(tx, id, head)
      if (subscription === undefined) return false
      const person = await subscriberOf(subscription)
      if (person === null) {
        await store.updateSubscription(tx, subscription.id, { number: head })
        return false
      }
      // The columns are checked to hold only what the contract names.
      const rows = await followEvents(tx, scopeOf(person), person.user_id, subscription, subscription.number, atOnce)
      const seen: (EventRow & { number: number })[] = []
      for (const row of rows) if (await maySee(person, contextOfPerson(person, now()), row)) seen.push(row)
      await deliver(tx, subscription, seen)
      const last = rows.at(-1)?.number ?? head
      const isMore = rows.length === atOnce
      await store.updateSubscription(tx, subscription.id, { number: isMore ? last : Math.max(head, last) })
      return isMore
    })
  const tell = async (signal: AbortSignal): Promise<void> => {
    const head = await lastNumber(db)
    // Most of what happens is nothing to most.
    await store.moveOn(db, head)
    for (const id of await store.behind(db, head)) {
      try {
        while (!signal.aborted && (await tellOne(id, head)));
      } catch (error) {
        // The others are told all the same, and it is tried again.
        if (!isConnectionError(error)) log.warn({ err: error, subscription: id }, 'telling a subscription of events')
      }
    }
  }

  const stopping = new AbortController()
  let running: Promise<void> = Promise.resolve()

  return {
    list: (actor: Actor, query: QueryOf<Subscriptions['list']>): Promise<ResponseOf<Subscriptions['list']>> =>
      shapedPage(store.listSubscriptions(db, scopeOf(actor), query), shape),

    async create(actor: Actor, body: BodyOf<Subscriptions['create']>): Promise<EventSubscription> {
      refuseOwnerless(scopeOf(actor))
      const receiver_ids = await judge(actor.bp_id, body.receiver_ids)
      const id = uuidv7()
      await refusing(nameTaken, () =>
        db.transaction().execute(async (tx) => {
          if ((await store.countSubscriptions(tx, actor.bp_id)) >= subscriptionsMost)
            throw new Refusal('subscriptionsTooMany', { values: { limit: subscriptionsMost } })
          await store.insertSubscription(tx, {
            id,
            bp_id: actor.bp_id,
            ...columnsOf(body),
            receiver_ids,
            user_id: actor.user_id,
            number: await lastNumber(tx),
            ...authoredBy(actor),
          })
        }),
      )
      return show(actor, id)
    },
    /** One that was off begins with what happens from now on. */
    async update(actor: Actor, id: string, body: BodyOf<Subscriptions['update']>): Promise<EventSubscription> {
      await refusing(nameTaken, () =>
        db.transaction().execute(async (tx) => {
          const before = found(await store.lockSubscription(tx, scopeOf(actor), id))
          const receiver_ids = await judge(before.bp_id, body.receiver_ids)
          await store.updateSubscription(tx, id, {
            ...columnsOf(body),
            receiver_ids,
            // Who is of another organisation, as who runs the platform is, lends it no rights.
            ...(actor.bp_id === before.bp_id && { user_id: actor.user_id, created_by_name: actor.name }),
            ...(!before.enabled && { number: await lastNumber(tx) }),
          })
        }),
      )
      return show(actor, id)
    },
    async delete(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockSubscription(tx, scopeOf(actor), id))
        await store.removeSubscription(tx, id)
      })
    },

    /** Of what waits to be sent for subscriptions: each event by its delivery, as far as who wished it may still see it. */
    async stillTold(deliveries: readonly DeliveryRow[]): Promise<ReadonlyMap<string, ApiEvent>> {
      const of = deliveries.flatMap(({ id, subscription_id, event_number }) =>
        subscription_id === null || event_number === null ? [] : [{ id, subscription_id, event_number }],
      )
      if (of.length === 0) return new Map()
      const subscriptions = await store.subscriptionsByIds(db, [...new Set(of.map(({ subscription_id }) => subscription_id))])
      const people = new Map(await Promise.all(subscriptions.map(async (one) => [one.id, await subscriberOf(one)] as const)))
      const rows = new Map((await eventsByNumbers(db, [...new Set(of.map(({ event_number }) => event_number))])).map((row) => [row.number, row]))
      const told = new Map<string, ApiEvent>()
      for (const { id, subscription_id, event_number } of of) {
        const [person, row] = [people.get(subscription_id) ?? null, rows.get(event_number)]
        if (person === null || row === undefined || !(await maySee(person, contextOfPerson(person, now()), row))) continue
        const [event] = await events.shape([row], person.user_id)
        if (event !== undefined) told.set(id, event)
      }
      return told
    },

    start(): void {
      const loop = async (): Promise<void> => {
        while (!stopping.signal.aborted) {
          const times = feed.times()
          await tell(stopping.signal).catch((error: unknown) => {
            if (!stopping.signal.aborted && !isConnectionError(error)) log.warn({ err: error }, 'telling of events')
          })
          await feed.more(times, lookEveryMs, stopping.signal)
        }
      }
      running = loop()
    },
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}
