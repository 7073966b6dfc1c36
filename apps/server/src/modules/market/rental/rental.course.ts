import { fillText } from '@zhisuan/contract/errors'
import { stoppedDays } from '@zhisuan/contract/market/offer'
import { faultMinutes, type StopReason } from '@zhisuan/contract/market/rental'
import { messageTexts, rentalTexts } from '@zhisuan/contract/texts'
import { z } from 'zod'
import { containerSpec } from '@zhisuan/contract/cis/container'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RentedContainers, RentedState } from '../../cis/container/rented.containers.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import type { Attempt, RentalRow } from '../market.tables.ts'
import { costNow, spentAt, specOf } from './rental.machine.ts'
import * as store from './rental.store.ts'

const dayMs = 86_400_000
/** So often another machine is tried where one could not be made. */
const attemptsMost = 5

/** Others are renting from every node that has free cards: to be tried again from the beginning. */
export class Busy extends Error {
  readonly node: string
  constructor(node: string) {
    super('all nodes are held')
    this.node = node
  }
}

const wishSchema = containerSpec.pick({ image: true, command: true, env: true }).extend({ keep_running: z.boolean() })
const place = (id: string): string => `market.rental ${id}`

export type RentalCourse = ReturnType<typeof createCourse>

/**
 * The course of what is rented. A row says what is wanted and how far it is; each look at it, in a transaction that holds the
 * row, does the next thing that is to be done, and may be repeated: whoever was killed where, the next look goes on. A card
 * is held from the transaction that chooses it until the container that has it is gone, or has ended.
 */
export function createCourse(platform: Pick<Platform, 'secrets' | 'now'>, { rented, tell }: { rented: RentedContainers; tell: Tell }) {
  const { secrets, now } = platform

  type Changes = Parameters<typeof store.updateRental>[2]
  /** Every change of how it is settles what it cost until now. */
  const set = async (tx: Tx, row: RentalRow, changes: Changes): Promise<RentalRow> => {
    const offer = found(await store.offerById(tx, (changes.offer_id as string | undefined) ?? row.offer_id))
    const at = now()
    const after = {
      ...row,
      ...changes,
      ...(changes.fault !== undefined && changes.fault !== row.fault && { fault_at: changes.fault === null ? null : at }),
    } as RentalRow
    const settled = { charged: String(spentAt(row, at)), charged_until: at, hourly: String(costNow(after, offer)) }
    await store.updateRental(tx, row.id, { ...changes, fault_at: after.fault_at, ...settled })
    return { ...after, ...settled }
  }
  const inform = (
    tx: Tx,
    row: RentalRow,
    kind: 'market.rentalFault' | 'market.rentalStopped' | 'market.rentalFailed' | 'market.rentalReleasing',
    text: string,
  ) => tell(tx, { kind, bp_id: row.bp_id, text, about: { kind: 'market.rental', id: row.id, name: row.name }, key: `${row.id} ${now().toISOString()}` })

  /** Looks for a machine and begins to make it. Null, or why there is none. @throws Busy */
  const choose = async (tx: Tx, actor: Actor | null, row: RentalRow): Promise<{ row: RentalRow; reasons: string | null }> => {
    const tried = row.attempts.map(({ edge_id }) => edge_id)
    const reasons: string[] = []
    if (row.attempts.length < attemptsMost)
      for (const { offer, provider_name } of await store.candidates(tx, row)) {
        const nodes = await store.nodesWith(tx, offer, row.count, tried)
        const [first] = nodes
        if (first === undefined) {
          reasons.push(fillText(rentalTexts.noneFree, { provider: provider_name, count: row.count }))
          continue
        }
        const node = await store.takeNode(tx, nodes)
        if (node === null) throw new Busy(first)
        const cards = await store.freeCards(tx, offer, node, row.count)
        const container_id = uuidv7()
        if (cards.length < row.count || !(await store.holdCards(tx, cards, { rental_id: row.id, container_id }))) throw new Busy(node)
        const spec = specOf(row.id, openWish(row), offer, row.count)
        const { bp_id, created_by, created_by_name } = row
        await rented.place(tx, actor, {
          id: container_id,
          rental_id: row.id,
          bp_id,
          created_by,
          created_by_name,
          edge_id: node,
          name: `${row.name}-${row.id.slice(-6)}-${row.attempts.length + 1}`,
          spec,
          cards: cards.map(({ uuid }) => uuid),
        })
        const changes = { offer_id: offer.id, provider_id: offer.provider_id, edge_id: node, container_id, card_ids: cards.map(({ id }) => id) }
        return { row: await set(tx, row, { ...changes, status: 'placing' }), reasons: null }
      }
    return { row, reasons: reasons.join('；') || rentalTexts.noMore }
  }

  const openWish = (row: RentalRow) => wishSchema.parse(JSON.parse(secrets.open(row.wish, place(row.id))))

  /** What could not be made is left to be removed, and another machine is looked for. */
  const again = async (tx: Tx, row: RentalRow, reason: string): Promise<void> => {
    const provider = (await store.candidates(tx, row)).find(({ offer }) => offer.id === row.offer_id)?.provider_name ?? ''
    const attempt: Attempt = { provider, edge_id: row.edge_id ?? '', reason, at: now().toISOString() }
    const attempts = [...row.attempts, attempt]
    await store.updateRental(tx, row.id, { attempts: JSON.stringify(attempts), container_id: null })
    const next = await choose(tx, null, { ...row, attempts, container_id: null })
    if (next.reasons === null) return
    const text = `${reason}${reason.endsWith('。') ? '' : '；'}${next.reasons}`
    await set(tx, next.row, { status: 'failed', error_text: text, container_id: null })
    await inform(tx, row, 'market.rentalFailed', fillText(messageTexts.rentalFailed, { name: row.name, reason: text }))
  }

  /** What it has now; what was to be made before it has its own until that is gone. */
  const giveBack = async (tx: Tx, { id, container_id }: RentalRow): Promise<void> => {
    if (container_id !== null) await store.releaseCards(tx, id, container_id)
  }

  const stopped = async (tx: Tx, row: RentalRow, reason: StopReason | null): Promise<RentalRow> => {
    await giveBack(tx, row)
    const at = now()
    return set(tx, row, {
      status: 'stopped',
      fault: null,
      idle_since: null,
      stopped_at: at,
      release_at: new Date(at.getTime() + stoppedDays * dayMs),
      ...(reason !== null && { stop_reason: reason }),
    })
  }

  /** Its host has it no longer. */
  const lost = async (tx: Tx, row: RentalRow): Promise<void> => {
    await giveBack(tx, row)
    await set(tx, row, { status: 'failed', fault: null, error_text: rentalTexts.lost })
    await inform(tx, row, 'market.rentalFailed', fillText(messageTexts.rentalLost, { name: row.name }))
  }

  /** The operation that it began; null where the next look begins it. */
  const stop = async (tx: Tx, actor: Actor | null, row: RentalRow, state: RentedState | undefined, reason: StopReason): Promise<string | null> => {
    const after = await set(tx, row, { status: 'stopping', stop_reason: reason, error_text: null, idle_since: null })
    if (state === undefined || state.step !== null || !state.node.online || !['running', 'restarting', 'paused'].includes(state.status)) return null
    return rented.stop(tx, actor, after.container_id ?? '')
  }

  const whileRunning = async (tx: Tx, row: RentalRow, state: RentedState | undefined): Promise<void> => {
    if (state === undefined || state.status === 'lost') return lost(tx, row)
    const sick = await store.sickCards(tx, row.id)
    const fault = state.status === 'unknown' ? 'host' : sick.length > 0 ? 'card' : null
    if (fault !== row.fault) {
      const after = await set(tx, row, { fault })
      if (fault !== null) await inform(tx, after, 'market.rentalFault', fillText(messageTexts.rentalFault[fault], { name: row.name, minutes: faultMinutes }))
      return
    }
    if (state.step !== null) return
    const broken = row.fault === 'card' && row.fault_at !== null && now().getTime() - row.fault_at.getTime() >= faultMinutes * 60_000
    const over = row.ends_at !== null && row.ends_at <= now()
    const idle = row.idle_minutes !== null && row.idle_since !== null && now().getTime() - row.idle_since.getTime() >= row.idle_minutes * 60_000
    const spent = row.spend_limit !== null && spentAt(row, now()) >= BigInt(row.spend_limit)
    if (broken || over || spent || idle) {
      const reason = broken ? 'fault' : over ? 'end' : spent ? 'spend' : 'idle'
      await stop(tx, null, row, state, reason)
      await inform(tx, row, 'market.rentalStopped', fillText(messageTexts.rentalStopped[reason], { name: row.name, days: stoppedDays }))
      return
    }
    if (state.status === 'exited' || state.status === 'dead') {
      await stopped(tx, row, 'ended')
      await inform(tx, row, 'market.rentalStopped', fillText(messageTexts.rentalStopped.ended, { name: row.name, days: stoppedDays }))
    }
  }

  const look = async (tx: Tx, row: RentalRow): Promise<void> => {
    const holders = await store.holdersOf(tx, row.id)
    const ids = [...new Set([...holders, ...(row.container_id === null ? [] : [row.container_id])])]
    const states = await rented.states(tx, ids)
    // What could not be made has its cards until it is gone.
    for (const id of holders) {
      if (id === row.container_id && row.status !== 'failed' && row.status !== 'released') continue
      const state = states.get(id)
      if (state === undefined) await store.releaseCards(tx, row.id, id)
      else if (await rented.remove(tx, null, id)) await store.releaseCards(tx, row.id, id)
    }
    const state = row.container_id === null ? undefined : states.get(row.container_id)
    switch (row.status) {
      case 'placing':
        if (state === undefined) return again(tx, row, rentalTexts.lost)
        if (state.step !== null || state.status === 'creating') return
        if (state.status === 'running' || state.status === 'restarting') {
          await set(tx, row, { status: 'running', running_at: now(), error_text: null })
          return
        }
        if (state.status === 'unknown') return
        return again(tx, row, state.error ?? rentalTexts.notStarted)
      case 'running':
        return whileRunning(tx, row, state)
      case 'stopping':
        if (state === undefined || state.status === 'lost') return lost(tx, row)
        if (state.step !== null || state.status === 'unknown') return
        if (state.status === 'exited' || state.status === 'dead') {
          await stopped(tx, row, null)
          return
        }
        if (state.node.online) await rented.stop(tx, null, state.id)
        return
      case 'stopped': {
        if (state === undefined || state.status === 'lost') return lost(tx, row)
        const fault = state.status === 'unknown' ? 'host' : null
        if (fault !== row.fault) {
          await set(tx, row, { fault })
          return
        }
        if (row.release_at !== null && row.release_at <= now()) {
          await release(tx, null, row)
          return
        }
        // Somebody started it on its node: the cards may be somebody else's.
        if ((state.status === 'running' || state.status === 'restarting') && state.step === null) await rented.stop(tx, null, state.id)
        return
      }
      case 'starting':
        if (state === undefined || state.status === 'lost') return lost(tx, row)
        if (state.step !== null || state.status === 'unknown' || state.status === 'creating') return
        if (state.status === 'running' || state.status === 'restarting') {
          await set(tx, row, { status: 'running', release_at: null, stopped_at: null, stop_reason: null, error_text: null })
          return
        }
        await set(tx, await stopped(tx, row, null), { error_text: state.error ?? rentalTexts.notStarted })
        return
      case 'releasing':
        await release(tx, null, row)
        return
      case 'failed':
        // What is left of it on its node goes, where there is something.
        if (row.container_id !== null && (state === undefined || (await rented.remove(tx, null, row.container_id)))) await set(tx, row, { container_id: null })
        return
      case 'released':
    }
  }

  const release = async (tx: Tx, actor: Actor | null, row: RentalRow): Promise<RentalRow> => {
    const after = row.status === 'releasing' ? row : await set(tx, row, { status: 'releasing', fault: null })
    if (row.container_id !== null && !(await rented.remove(tx, actor, row.container_id))) return after
    await giveBack(tx, row)
    return set(tx, after, { status: 'released', released_at: now(), container_id: null })
  }

  return {
    sealWish: (id: string, wish: z.output<typeof wishSchema>): string => secrets.seal(JSON.stringify(wish), place(id)),
    choose,
    set,
    stop,
    release,
    stateOf: async (tx: Tx, row: RentalRow): Promise<RentedState | undefined> =>
      row.container_id === null ? undefined : (await rented.states(tx, [row.container_id])).get(row.container_id),
    /** Does the next thing that is to be done, if there is one. @throws Busy */
    async look(tx: Tx, id: string): Promise<void> {
      const row = await store.lockAnyRental(tx, id)
      if (row !== undefined) await look(tx, row)
    },
    /** Chooses cards where its disk is, those that it had before all others, and begins to start it. @throws Refusal 98011 */
    async start(tx: Tx, actor: Actor | null, row: RentalRow): Promise<void> {
      const offer = found(await store.offerById(tx, row.offer_id))
      const [edge_id, container_id] = [found(row.edge_id), found(row.container_id)]
      await store.waitForNode(tx, edge_id)
      const cards = await store.freeCards(tx, offer, edge_id, row.count, row.card_ids)
      if (cards.length < row.count || !(await store.holdCards(tx, cards, { rental_id: row.id, container_id })))
        throw new Refusal('cardsNoneFree', { values: { reasons: fillText(rentalTexts.noneHere, { count: row.count }) } })
      await rented.start(
        tx,
        actor,
        container_id,
        cards.map(({ uuid }) => uuid),
      )
      await set(tx, row, { status: 'starting', error_text: null, card_ids: cards.map(({ id }) => id) })
    },
  }
}
