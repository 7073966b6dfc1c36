import { setTimeout as sleep } from 'node:timers/promises'
import { floored, owed, toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import { rentalCan, type incomes, type Rental, type rentals } from '@zhisuan/contract/market/rental'
import { messageTexts } from '@zhisuan/contract/texts'
import { z } from 'zod'
import { authoredBy, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import { iso, isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob } from '../../../platform/jobs.ts'
import type { Suspendable } from '../../../platform/module.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { StandingService } from '../../bill/arrears/standing.service.ts'
import type { RentedContainers, RentedState } from '../../cis/container/rented.containers.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import type { RentalRow } from '../market.tables.ts'
import { hourly } from '../offer/offer.terms.ts'
import { getProvider } from '../provider/provider.store.ts'
import { Busy, createCourse } from './rental.course.ts'
import { spentAt } from './rental.machine.ts'
import * as store from './rental.store.ts'

type Calls = typeof rentals

/** Of one organisation that are not over. */
const rentalsMost = 100
const dayMs = 86_400_000
/** Between two looks at all. */
export const lookEveryMs = 1_000
const looksAtOnce = 500
/** Servers say so often that they are there, whatever their looks take. */
export const tickEveryMs = 5_000
/** A server that was not there for so long saw nothing of what ran. */
const absenceSeconds = 30
/** Whether machines have anything to do is asked so often. */
export const idleEveryMs = 30_000
/** What no server said again for so long that it has nothing to do may have something to do. */
const idleForgottenMs = 3 * idleEveryMs
const idleAsksAtOnce = 8
/** So long a look waits for what machines say of themselves. */
const idlePatienceMs = 2_000
/** Of a card, and of one processor: what an empty machine does itself. */
const idleShare = 0.02
/** With so many days left people are told that what is stopped is about to be released. */
const noticeDays = [1, 3, 7] as const
const triesMost = 60

/** Tells in time of what ends. */
export const noticeJob = defineJob({ name: 'market.rental.notice', input: z.object({}), concurrency: 1, schedule: '23 * * * *' })

export type RentalService = ReturnType<typeof createRentals>

/** What is rented: machines of offers, from the cards that are held for them to the last line of their bill. */
export function createRentals(
  platform: Pick<Platform, 'db' | 'secrets' | 'now' | 'log' | 'pause'>,
  parts: {
    rented: RentedContainers
    tell: Tell
    /** What is looked at beside. */
    beside: () => Promise<void>
    /** Where people enter by SSH; null where nobody does. */
    doorPort: () => number | null
    /** Whether browsers are led into what runs. */
    apps: boolean
    /** How busy the cards of a node were when it told last, from 0 to 1; null where it does not tell this server. */
    sharesOf: (edgeId: string) => ReadonlyMap<string, number | null> | null
    mayMake: StandingService['mayMake']
    spendable: StandingService['spendable']
    settings: Pick<Settings, 'get'>
    sumsOfProvider: (
      providerId: string,
      from: Date,
    ) => Promise<readonly { day: string; meter: string; variant: string; unit_seconds: number; amount: string }[]>
  },
) {
  const { db, now, log, pause } = platform
  const course = createCourse(platform, parts)
  const stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()

  const states = (rows: readonly store.ShownRental[]): Promise<ReadonlyMap<string, RentedState>> =>
    parts.rented.states(
      db,
      rows.flatMap(({ container_id }) => (container_id === null ? [] : [container_id])),
    )
  const get = async (scope: Scope, id: string): Promise<Rental> => {
    const row = found(await store.getRental(db, scope, id))
    return shape(row, await states([row]), now(), parts)
  }

  /** In a transaction of its own each time, until the nodes are not all held by others. */
  const patiently = async (act: (tx: Tx) => Promise<void>): Promise<void> => {
    let wait: string | null = null
    for (let left = triesMost; ; left--) {
      try {
        return await db.transaction().execute(async (tx) => {
          if (wait !== null) await store.waitForNode(tx, wait)
          await act(tx)
        })
      } catch (error) {
        if (!(error instanceof Busy) || left <= 1) throw error
        wait = error.node
        await sleep(Math.random() * 20)
      }
    }
  }

  /**
   * One at a time of an organisation: each counts what the one before it has.
   * @param costs of it for an hour, beside what is open, in minor units
   * @throws Refusal 98029 where there is not enough for so many hours of all that
   */
  const refuseUnpaid = async (tx: Tx, bpId: string, rentalId: string, costs: bigint): Promise<void> => {
    const hours = BigInt(await parts.settings.get('market_hours_ahead'))
    const available = hours === 0n ? null : await parts.spendable(tx, bpId)
    if (available === null) return
    const open = (await store.openTerms(tx, bpId, rentalId)).reduce((sum, row) => {
      const { running, stopped } = hourly(row, row.count)
      return sum + (['placing', 'running', 'starting'].includes(row.status) ? running : stopped)
    }, 0n)
    const needed = hours * (open + costs)
    if (available >= needed) return
    const values = { available: floored(toDecimal(available)), hours: Number(hours), needed: owed(toDecimal(needed)) }
    throw new Refusal('rentalUnpaid', { values })
  }
  /** That it may run from now on. */
  const refuseUnpaidStart = async (tx: Tx, row: RentalRow): Promise<void> => {
    await store.holdRenter(tx, row.bp_id)
    await parts.mayMake(tx, row.bp_id)
    // Until then it is paid.
    if ((await store.prepaidUntil(tx, row.id, now())) !== null) return
    await refuseUnpaid(tx, row.bp_id, row.id, hourly(found(await store.offerById(tx, row.offer_id)), row.count).running)
  }
  const change = async (actor: Actor, id: string, action: keyof typeof rentalCan, make: (tx: Tx, row: RentalRow) => Promise<unknown>): Promise<Rental> => {
    const scope = scopeOf(actor)
    await db.transaction().execute(async (tx) => {
      const row = found(await store.lockRental(tx, scope, id))
      refuseUnless(rentalCan[action], row)
      await make(tx, row)
    })
    return get(scope, id)
  }
  const refuseEnd = (endsAt: string | null): Date | null => {
    if (endsAt === null) return null
    const at = new Date(endsAt)
    if (at <= now()) throw new Refusal('rentalEndPast', { field: 'ends_at' })
    return at
  }

  let idleAsked = 0
  let idling: Promise<void> | null = null
  const watchIdle = async (): Promise<void> => {
    const at = now()
    if (at.getTime() - idleAsked < idleEveryMs) return
    idleAsked = at.getTime()
    // Of each node the server that it tells asks, and no other says anything.
    const mine = (await store.mayIdle(db)).flatMap((one) => {
      const shares = parts.sharesOf(one.edge_id)
      return shares === null ? [] : [{ ...one, shares }]
    })
    const ask = async ({ id, container_id, cards, idle_since, shares }: (typeof mine)[number]): Promise<void> => {
      const cardsIdle = cards.every((card) => (shares.get(card) ?? 1) <= idleShare)
      const cpu = cardsIdle ? await parts.rented.cpu(container_id) : null
      const idle = cpu !== null && cpu <= idleShare
      if (idle) await store.updateRental(db, id, { idle_since: idle_since ?? at, idle_told_at: at })
      else if (idle_since !== null) await store.updateRental(db, id, { idle_since: null, idle_told_at: null })
    }
    for (let first = 0; first < mine.length; first += idleAsksAtOnce) await Promise.all(mine.slice(first, first + idleAsksAtOnce).map(ask))
    await store.forgetIdle(db, new Date(at.getTime() - idleForgottenMs))
  }

  /** Looks at all of which something may have to be done. */
  const lookAtAll = async (): Promise<void> => {
    await parts.beside()
    // A node that does not answer keeps nobody else's machine from being looked at.
    idling ??= watchIdle()
      .catch((error: unknown) => log.warn({ err: error }, 'looking for machines with nothing to do'))
      .finally(() => (idling = null))
    await Promise.race([idling, pause(idlePatienceMs, stopping.signal).catch(() => undefined)])
    for (const id of await store.toLookAt(db, now(), looksAtOnce)) {
      if (stopping.signal.aborted) return
      await patiently((tx) => course.look(tx, id)).catch((error: unknown) => {
        // What is just ending is looked at once it has.
        if (!isConnectionError(error) && !(error instanceof Refusal)) log.warn({ err: error, rental: id }, 'looking at what is rented')
      })
    }
  }
  /** Says that a server is there; what was used while none was is not charged. */
  const tick = (): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const { away, since } = await store.tick(tx)
      if (away > absenceSeconds) await store.forgiveAbsence(tx, since)
    })
  const again = async (act: () => Promise<void>, everyMs: number): Promise<void> => {
    const { signal } = stopping
    while (!signal.aborted) {
      await act().catch((error: unknown) => {
        if (!isConnectionError(error)) log.warn({ err: error }, 'looking at what is rented')
      })
      await pause(everyMs, signal).catch(() => undefined)
    }
  }

  const suspendable: Suspendable = {
    stoppedBy: 'stop_containers',
    running: async (on, bpId) => (await store.runningOf(on, bpId)).map(({ id, name, status }) => ({ id, name, passing: status !== 'running' })),
    stop: async (tx, id) => {
      const row = await store.lockAnyRental(tx, id)
      if (row?.status !== 'running') return null
      const operation_id = await course.stop(tx, null, row, await course.stateOf(tx, row), 'arrears')
      return operation_id === null ? null : { operation_id, detail: null }
    },
    // Its cards may be somebody else's by now: whoever wants it again starts it.
    start: async () => 'gone',
  }

  return {
    suspendable,
    lookAtAll,
    async list(actor: Actor, query: QueryOf<Calls['list']>): Promise<ResponseOf<Calls['list']>> {
      const { total, rows } = await store.listRentals(db, scopeOf(actor), query)
      const of = await states(rows)
      return { total, items: rows.map((row) => shape(row, of, now(), parts)) }
    },
    get: (actor: Actor, id: string) => get(scopeOf(actor), id),
    find: (on: Sql, scope: Scope, id: string): Promise<RentalRow | undefined> => store.findRental(on, scope, id),

    /** @param recorded in its transaction: where that throws nothing was rented */
    async create(actor: Actor, body: BodyOf<Calls['create']>, recorded?: (tx: Tx, made: RentalRow) => Promise<void>): Promise<Rental> {
      const { bp_id } = actor
      if (bp_id === null) throw new Refusal('rentalOwnerless')
      const ends_at = refuseEnd(body.ends_at)
      const id = uuidv7()
      await patiently(async (tx) => {
        await store.holdRenter(tx, bp_id)
        await parts.mayMake(tx, bp_id)
        if ((await store.countOpenRentals(tx, bp_id)) >= rentalsMost) throw new Refusal('rentalsTooMany', { values: { limit: rentalsMost } })
        const offer = await store.offerById(tx, body.offer_id)
        if (offer?.status !== 'listed') throw new Refusal('offerGone', { field: 'offer_id' })
        if (offer.bp_id === bp_id) throw new Refusal('rentalFromSelf', { field: 'offer_id' })
        if (body.count > offer.most_cards) throw new Refusal('rentalCardsTooMany', { field: 'count', values: { limit: offer.most_cards } })
        await refuseUnpaid(tx, bp_id, id, hourly(offer, body.count).running)
        await store.insertRental(tx, {
          id,
          bp_id,
          project_id: null,
          name: body.name,
          offer_id: offer.id,
          provider_id: offer.provider_id,
          edge_id: null,
          container_id: null,
          count: body.count,
          disk_bytes: offer.disk_bytes_per_card * body.count,
          wish: course.sealWish(id, { image: body.image, command: body.command, env: body.env, keep_running: body.keep_running }),
          image: body.image,
          alternatives: body.alternatives,
          charged_until: now(),
          spend_limit: body.spend_limit === null ? null : String(toMinor(body.spend_limit)),
          ends_at,
          idle_minutes: body.idle_minutes,
          ...authoredBy(actor),
        })
        const { row, reasons } = await course.choose(tx, actor, found(await store.lockAnyRental(tx, id)))
        if (reasons !== null) throw new Refusal('cardsNoneFree', { values: { reasons } })
        await recorded?.(tx, row)
      }).catch((error: unknown) => {
        throw error instanceof Busy ? new Refusal('operationRunning') : error
      })
      return get(scopeOf(actor), id)
    },

    stop: (actor: Actor, id: string) => change(actor, id, 'stop', async (tx, row) => course.stop(tx, actor, row, await course.stateOf(tx, row), 'person')),
    start: (actor: Actor, id: string) =>
      change(actor, id, 'start', async (tx, row) => {
        await refuseUnpaidStart(tx, row)
        await course.start(tx, actor, row)
      }),
    async move(actor: Actor, id: string): Promise<Rental> {
      await patiently(async (tx) => {
        const row = found(await store.lockRental(tx, scopeOf(actor), id))
        refuseUnless(rentalCan.move, row)
        await refuseUnpaidStart(tx, row)
        await course.move(tx, actor, row)
      }).catch((error: unknown) => {
        throw error instanceof Busy ? new Refusal('operationRunning') : error
      })
      return get(scopeOf(actor), id)
    },
    release: (actor: Actor, id: string) => change(actor, id, 'release', (tx, row) => course.release(tx, actor, row)),
    limit: (actor: Actor, id: string, body: BodyOf<Calls['limit']>) =>
      change(actor, id, 'limit', (tx, row) =>
        course.set(tx, row, {
          spend_limit: body.spend_limit === null ? null : String(toMinor(body.spend_limit)),
          ends_at: refuseEnd(body.ends_at),
          idle_minutes: body.idle_minutes,
        }),
      ),

    async incomes(actor: Actor, id: string, { days }: QueryOf<(typeof incomes)['list']>): Promise<ResponseOf<(typeof incomes)['list']>> {
      found(await getProvider(db, scopeOf(actor), id))
      const sums = await parts.sumsOfProvider(id, new Date(now().getTime() - days * dayMs))
      const models = new Map(
        (await db.selectFrom('market_offers').select(['id', 'card_model']).where('provider_id', '=', id).execute()).map((one) => [one.id, one.card_model]),
      )
      const items = [...Map.groupBy(sums, ({ day, variant }) => `${day} ${variant}`).values()].flatMap((of) => {
        const [first] = of
        if (first === undefined) return []
        const seconds = of.reduce((sum, { meter, unit_seconds }) => sum + (meter === 'market.card' ? unit_seconds : 0), 0)
        return [
          {
            day: first.day,
            offer_id: first.variant,
            card_model: models.get(first.variant) ?? '',
            card_hours: seconds / 3_600,
            amount: toDecimal(of.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
          },
        ]
      })
      return { total: toDecimal(sums.reduce((sum, { amount }) => sum + BigInt(amount), 0n)), items }
    },

    /** Tells of what is stopped that it is about to be released, and of what is paid in advance that it ends: at each of these days once. */
    async notify(): Promise<void> {
      const at = now()
      const horizon = new Date(at.getTime() + Math.max(...noticeDays) * dayMs)
      for (const { id, bp_id, name, prepaid_until } of await store.endingBefore(db, horizon)) {
        const days = noticeDays.find((one) => prepaid_until.getTime() - at.getTime() <= one * dayMs)
        if (days === undefined || prepaid_until <= at) continue
        await db.transaction().execute((tx) =>
          parts.tell(tx, {
            kind: 'market.rentalEnding',
            bp_id,
            text: fillText(messageTexts.rentalEnding, { name, days }),
            about: { kind: 'market.rental', id, name },
            key: `${id} ${prepaid_until.toISOString()} ${days}`,
          }),
        )
      }
      const rows = await db
        .selectFrom('market_rentals')
        .select(['id', 'bp_id', 'name', 'release_at'])
        .where('status', '=', 'stopped')
        .where('release_at', '<', horizon)
        .execute()
      for (const { id, bp_id, name, release_at } of rows) {
        const left = ((release_at?.getTime() ?? 0) - at.getTime()) / dayMs
        const days = noticeDays.find((one) => left <= one)
        if (days === undefined || release_at === null) continue
        await db.transaction().execute((tx) =>
          parts.tell(tx, {
            kind: 'market.rentalReleasing',
            bp_id,
            text: fillText(messageTexts.rentalReleasing, { name, days }),
            about: { kind: 'market.rental', id, name },
            key: `${id} ${release_at.toISOString()} ${days}`,
          }),
        )
      }
    },

    begin(): void {
      // However long a look takes, servers are there meanwhile.
      running = Promise.all([again(tick, tickEveryMs), again(lookAtAll, lookEveryMs)])
    },
    async end(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

const shape = (
  row: store.ShownRental,
  states: ReadonlyMap<string, RentedState>,
  at: Date,
  { doorPort, apps }: { doorPort: () => number | null; apps: boolean },
): Rental => {
  const prices = hourly(row, row.count)
  const state = row.container_id === null ? undefined : states.get(row.container_id)
  return {
    id: row.id,
    bp_id: row.bp_id,
    name: row.name,
    offer: { id: row.offer_id, card_model: row.card_model, mode: row.mode },
    provider: { id: row.provider_id, name: row.provider_name },
    region: row.region_id === null ? null : { id: row.region_id, name: row.region_name ?? '' },
    container_id: state === undefined ? null : row.container_id,
    ssh_port: row.status === 'running' ? doorPort() : null,
    apps: apps && row.status === 'running',
    count: row.count,
    cards: row.cards,
    cpus: (row.milli_cpus_per_card * row.count) / 1_000,
    memory_bytes: row.memory_bytes_per_card * row.count,
    disk_bytes: row.disk_bytes,
    image: row.image,
    status: row.status,
    fault: row.fault,
    step: state?.step ?? null,
    stop_reason: row.stop_reason,
    error: row.error_text,
    attempts: row.attempts.map(({ provider, reason, at: tried }) => ({ provider, reason, at: tried })),
    hourly: toDecimal(BigInt(row.hourly)),
    running_price: toDecimal(prices.running),
    stopped_price: toDecimal(prices.stopped),
    spent: toDecimal(spentAt(row, at)),
    spend_limit: row.spend_limit === null ? null : toDecimal(BigInt(row.spend_limit)),
    ends_at: isoOrNull(row.ends_at),
    idle_minutes: row.idle_minutes,
    idle_since: isoOrNull(row.idle_since),
    prepaid_until: isoOrNull(row.prepaid_until),
    interrupt_at: isoOrNull(row.interrupt_at),
    waits_until: isoOrNull(row.waits_until),
    release_at: isoOrNull(row.release_at),
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    running_at: isoOrNull(row.running_at),
    stopped_at: isoOrNull(row.stopped_at),
    released_at: isoOrNull(row.released_at),
  }
}
