import { fillText } from '@zhisuan/contract/errors'
import { stoppedDays } from '@zhisuan/contract/market/offer'
import { faultMinutes, mayMove, type StopReason } from '@zhisuan/contract/market/rental'
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
import type { Attempt, OfferRow, RentalRow } from '../market.tables.ts'
import { costNow, spentAt, specOf } from './rental.machine.ts'
import * as store from './rental.store.ts'

const dayMs = 86_400_000
/** So long after its grace what is interrupted has given its cards back, or somebody looks elsewhere for others. */
const handOverMs = 120_000
/** So often another machine is tried where one could not be made. */
const attemptsMost = 5

/** Its host is not there: what it says of it is what it said last. */
const isAway = ({ status, node }: RentedState): boolean => status === 'unknown' || (status === 'creating' && !node.online)

/** Others are renting from every node that has free cards: to be tried again from the beginning. */
export class Busy extends Error {
  readonly node: string
  constructor(node: string) {
    super('all nodes are held')
    this.node = node
  }
}

const wishSchema = containerSpec.pick({ image: true, command: true, env: true }).extend({ keep_running: z.boolean() })
const sealedAt = (id: string): string => `market.rental ${id}`

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
    kind: 'market.rentalFault' | 'market.rentalStopped' | 'market.rentalFailed' | 'market.rentalInterrupting',
    text: string,
  ) => tell(tx, { kind, bp_id: row.bp_id, text, about: { kind: 'market.rental', id: row.id, name: row.name }, key: `${row.id} ${now().toISOString()}` })

  /** Holds cards of a node for it and begins to make it there. @throws Busy where somebody was faster */
  const place = async (
    tx: Tx,
    actor: Actor | null,
    row: RentalRow,
    at: { offer: OfferRow; node: string; cards: readonly store.FreeCard[] },
  ): Promise<RentalRow> => {
    const { offer, node, cards } = at
    const container_id = uuidv7()
    if (!(await store.holdCards(tx, cards, { rental_id: row.id, container_id }))) throw new Busy(node)
    const { bp_id, created_by, created_by_name } = row
    await rented.place(tx, actor, {
      id: container_id,
      rental_id: row.id,
      bp_id,
      created_by,
      created_by_name,
      edge_id: node,
      name: `${row.name}-${row.id.slice(-6)}-${row.attempts.length + 1}`,
      spec: specOf(row.id, openWish(row), offer, row.count),
      cards: cards.map(({ uuid }) => uuid),
    })
    return set(tx, row, {
      status: 'placing',
      fault: null,
      offer_id: offer.id,
      provider_id: offer.provider_id,
      edge_id: node,
      container_id,
      card_ids: cards.map(({ id }) => id),
      waits_until: null,
    })
  }

  /** Where no card is free: whoever rents interruptibly is told that theirs go to this one, which waits for them. Null where nobody does. @throws Busy */
  const claim = async (tx: Tx, row: RentalRow, offer: OfferRow, tried: readonly string[]): Promise<RentalRow | null> => {
    const nodes = await store.nodesToClaim(tx, offer, row.count, tried)
    const [first] = nodes
    if (first === undefined) return null
    const node = await store.takeNode(tx, nodes)
    if (node === null) throw new Busy(first)
    const cards: store.FreeCard[] = await store.freeCards(tx, offer, node, row.count)
    const giving: store.Giving[] = []
    for (const one of await store.givingOn(tx, offer, node)) {
      if (cards.length >= row.count) break
      giving.push(one)
      cards.push(...one.cards)
    }
    const wanted = cards.slice(0, row.count)
    if (wanted.length < row.count || !(await store.claimCards(tx, wanted, row.id))) throw new Busy(node)
    const seconds = Math.max(0, ...giving.map(({ grace_seconds }) => grace_seconds))
    const interrupt_at = new Date(now().getTime() + seconds * 1_000)
    for (const { id } of giving) {
      const giver = found(await store.lockAnyRental(tx, id))
      await set(tx, giver, { interrupt_at })
      await inform(tx, giver, 'market.rentalInterrupting', fillText(messageTexts.rentalInterrupting, { name: giver.name, seconds, days: stoppedDays }))
    }
    const waits_until = new Date(interrupt_at.getTime() + handOverMs)
    return set(tx, row, { status: 'placing', fault: null, offer_id: offer.id, provider_id: offer.provider_id, edge_id: node, card_ids: [], waits_until })
  }

  /** Waits for cards that somebody else still has; takes them once they are given back. */
  const whileWaiting = async (tx: Tx, row: RentalRow): Promise<void> => {
    const cards = await store.claimedCards(tx, row.id)
    const offer = found(await store.offerById(tx, row.offer_id))
    const over = row.waits_until === null || row.waits_until <= now()
    if (cards.length < row.count || over || cards.some(({ usable }) => !usable)) return again(tx, row, rentalTexts.waitsForInterrupted)
    if (cards.some(({ held }) => held)) return
    await store.dropClaims(tx, row.id)
    await place(tx, null, row, { offer, node: found(row.edge_id), cards })
  }

  /** As what is paid in advance is now. */
  const withPaid = async (tx: Tx, row: RentalRow): Promise<RentalRow> => {
    const until = await store.prepaidUntil(tx, row.id, now())
    return until?.getTime() === row.prepaid_until?.getTime() ? row : set(tx, row, { prepaid_until: until })
  }

  /** Looks for a machine and begins to make it. Null, or why there is none. @throws Busy */
  const choose = async (tx: Tx, actor: Actor | null, row: RentalRow, except: readonly string[] = []): Promise<{ row: RentalRow; reasons: string | null }> => {
    const tried = [...except, ...row.attempts.map(({ edge_id }) => edge_id)]
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
        if (cards.length < row.count) throw new Busy(node)
        return { row: await place(tx, actor, row, { offer, node, cards }), reasons: null }
      }
    if (row.attempts.length < attemptsMost)
      for (const { offer } of await store.candidates(tx, row)) {
        const waiting = offer.mode === 'onDemand' ? await claim(tx, row, offer, tried) : null
        if (waiting !== null) return { row: waiting, reasons: null }
      }
    return { row, reasons: reasons.join('；') || rentalTexts.noMore }
  }

  const openWish = (row: RentalRow) => wishSchema.parse(JSON.parse(secrets.open(row.wish, sealedAt(row.id))))

  /** What could not be made is left to be removed, and another machine is looked for. */
  const again = async (tx: Tx, row: RentalRow, reason: string): Promise<void> => {
    const provider = (await store.candidates(tx, row)).find(({ offer }) => offer.id === row.offer_id)?.provider_name ?? ''
    const attempt: Attempt = { provider, edge_id: row.edge_id ?? '', reason, at: now().toISOString() }
    const attempts = [...row.attempts, attempt]
    await store.dropClaims(tx, row.id)
    await store.updateRental(tx, row.id, { attempts: JSON.stringify(attempts), container_id: null, waits_until: null })
    const next = await choose(tx, null, { ...row, attempts, container_id: null, waits_until: null })
    if (next.reasons === null) return
    const text = `${reason}${reason.endsWith('。') ? '' : '；'}${next.reasons}`
    await set(tx, next.row, { status: 'failed', fault: null, error_text: text, container_id: null })
    await inform(tx, row, 'market.rentalFailed', fillText(messageTexts.rentalFailed, { name: row.name, reason: text }))
  }

  /** What it has now; what was to be made before it has its own until that is gone. */
  const giveBack = async (tx: Tx, { id, container_id }: RentalRow): Promise<void> => {
    if (container_id !== null) await store.releaseCards(tx, id, container_id)
  }

  const stopped = async (tx: Tx, row: RentalRow, reason: StopReason | null): Promise<RentalRow> => {
    // What is paid in advance keeps its cards.
    if (row.prepaid_until === null) await giveBack(tx, row)
    const at = now()
    return set(tx, row, {
      status: 'stopped',
      fault: null,
      idle_since: null,
      interrupt_at: null,
      stopped_at: at,
      release_at: row.prepaid_until === null ? new Date(at.getTime() + stoppedDays * dayMs) : null,
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
    const after = await set(tx, await withPaid(tx, row), { status: 'stopping', stop_reason: reason, error_text: null, idle_since: null })
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
    if (row.interrupt_at !== null && !(await store.isClaimed(tx, row.id))) {
      const after = await set(tx, row, { interrupt_at: null })
      await inform(tx, after, 'market.rentalInterrupting', fillText(messageTexts.rentalInterruptionOver, { name: row.name }))
      return
    }
    const interrupted = row.interrupt_at !== null && row.interrupt_at <= now()
    const broken = row.fault === 'card' && row.fault_at !== null && now().getTime() - row.fault_at.getTime() >= faultMinutes * 60_000
    const over = row.ends_at !== null && row.ends_at <= now()
    const idle = row.idle_minutes !== null && row.idle_since !== null && now().getTime() - row.idle_since.getTime() >= row.idle_minutes * 60_000
    const spent = row.spend_limit !== null && spentAt(row, now()) >= BigInt(row.spend_limit)
    if (interrupted || broken || over || spent || idle) {
      const reason = interrupted ? 'interrupted' : broken ? 'fault' : over ? 'end' : spent ? 'spend' : 'idle'
      await stop(tx, null, row, state, reason)
      await inform(tx, row, 'market.rentalStopped', fillText(messageTexts.rentalStopped[reason], { name: row.name, days: stoppedDays }))
      return
    }
    if (state.status === 'exited' || state.status === 'dead') {
      await stopped(tx, row, 'ended')
      await inform(tx, row, 'market.rentalStopped', fillText(messageTexts.rentalStopped.ended, { name: row.name, days: stoppedDays }))
    }
  }

  const look = async (tx: Tx, before: RentalRow): Promise<void> => {
    const row = ['running', 'stopping', 'stopped', 'starting'].includes(before.status) ? await withPaid(tx, before) : before
    const holders = await store.holdersOf(tx, row.id)
    const left = [...new Set([...holders, ...(await store.leftoversOf(tx, row))])]
    const ids = [...new Set([...left, ...(row.container_id === null ? [] : [row.container_id])])]
    const states = await rented.states(tx, ids)
    // What could not be made, and what was left behind, has its cards until it is gone.
    for (const id of left) {
      if (id === row.container_id && row.status !== 'failed' && row.status !== 'released') continue
      const state = states.get(id)
      if (state === undefined) await store.releaseCards(tx, row.id, id)
      else if (await rented.remove(tx, null, id)) await store.releaseCards(tx, row.id, id)
    }
    const state = row.container_id === null ? undefined : states.get(row.container_id)
    const passing = row.status === 'placing' || row.status === 'stopping' || row.status === 'starting'
    if (passing && state !== undefined && isAway(state) && row.fault === null) {
      await set(tx, row, { fault: 'host' })
      return
    }
    if (passing && state !== undefined && !isAway(state) && row.fault === 'host') return look(tx, await set(tx, row, { fault: null }))
    switch (row.status) {
      case 'placing':
        if (row.waits_until !== null) return whileWaiting(tx, row)
        if (row.fault === 'host') {
          // What became of it there is seen once the host is back: until then it has its cards.
          if (row.fault_at !== null && now().getTime() - row.fault_at.getTime() >= store.hostGivenUpSeconds * 1_000) await again(tx, row, rentalTexts.hostAway)
          return
        }
        if (state === undefined) return again(tx, row, rentalTexts.lost)
        if (state.step !== null || state.status === 'creating') return
        if (state.status === 'running' || state.status === 'restarting') {
          await set(tx, row, {
            status: 'running',
            running_at: row.running_at ?? now(),
            error_text: null,
            release_at: null,
            stopped_at: null,
            stop_reason: null,
          })
          return
        }
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
        // Its time in advance is over: from now on it is stopped as others are.
        if (row.prepaid_until === null && row.release_at === null) {
          await giveBack(tx, row)
          await set(tx, row, { release_at: new Date(now().getTime() + stoppedDays * dayMs) })
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
    await store.dropClaims(tx, row.id)
    return set(tx, after, { status: 'released', released_at: now(), container_id: null, waits_until: null })
  }

  return {
    sealWish: (id: string, wish: z.output<typeof wishSchema>): string => secrets.seal(JSON.stringify(wish), sealedAt(id)),
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
    /** Leaves its disk behind, to be deleted, and is made anew on another host. @throws Refusal 90010, 90011, 98011 */
    async move(tx: Tx, actor: Actor | null, before: RentalRow): Promise<void> {
      const row = await withPaid(tx, before)
      if (!mayMove(row)) throw new Refusal('stateForbids')
      const hostAway = row.fault === 'host'
      const { container_id, edge_id } = row
      // On a host that is not there it is left, and removed once that is back.
      if (container_id !== null && !hostAway) {
        const gone = await rented.remove(tx, actor, container_id)
        const state = (await rented.states(tx, [container_id])).get(container_id)
        if (!gone && state?.status !== 'deleting') throw new Refusal('operationRunning')
      }
      await store.updateRental(tx, row.id, { attempts: '[]', container_id: null })
      const { reasons } = await choose(tx, actor, { ...row, attempts: [], container_id: null }, edge_id === null ? [] : [edge_id])
      if (reasons !== null) throw new Refusal('cardsNoneFree', { values: { reasons } })
    },
    /** Chooses cards where its disk is, those that it had before all others, and begins to start it. @throws Refusal 98011 */
    async start(tx: Tx, actor: Actor | null, row: RentalRow): Promise<void> {
      const offer = found(await store.offerById(tx, row.offer_id))
      const [edge_id, container_id] = [found(row.edge_id), found(row.container_id)]
      await store.waitForNode(tx, edge_id)
      const had = await store.cardsOf(tx, container_id)
      const kept = had.filter(({ usable }) => usable)
      const missing = row.count - kept.length
      const fresh = missing === 0 ? [] : await store.freeCards(tx, offer, edge_id, missing, row.card_ids)
      if (fresh.length < missing || (missing > 0 && !(await store.holdCards(tx, fresh, { rental_id: row.id, container_id }))))
        throw new Refusal('cardsNoneFree', { values: { reasons: fillText(rentalTexts.noneHere, { count: row.count }) } })
      await store.releaseSome(
        tx,
        container_id,
        had.filter(({ usable }) => !usable),
      )
      const cards = [...kept, ...fresh]
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
