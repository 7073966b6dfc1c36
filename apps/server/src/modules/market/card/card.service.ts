import type { QueryOf } from '@zhisuan/contract/define'
import { cardCan, type Card, type cards } from '@zhisuan/contract/market/card'
import type { NodeMetrics } from '@zhisuan/contract/agent/node'
import { fillText } from '@zhisuan/contract/errors'
import { cardTroubleTexts, messageTexts, nodeCheckTexts } from '@zhisuan/contract/texts'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import type { CardRow, StockRow } from '../market.tables.ts'
import * as store from './card.store.ts'
import { troubleOf, type CardReport } from './health.ts'
import type { NodeService } from './node.service.ts'

type Calls = typeof cards

/** What nothing new was said of is written again after that, so that one sees that it was seen. */
const writeAgainMs = 60_000
/** What was told so long ago says nothing of now. */
const forgetMs = 30_000
/** What a node without cards reports of them. */
const nothing = '[]'

export type CardService = ReturnType<typeof createCards>

/** The inventory of cards, as the agents of their nodes tell of them, and what ails them. */
export function createCards(
  { db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>,
  { tell, failedWith }: { tell: Tell; failedWith: NodeService['failedWith'] },
) {
  const written = new Map<string, { readonly said: string; readonly at: number }>()
  /** By node: what was reported while the report before is still written is looked at once, as it was last. */
  const waiting = new Map<string, NodeMetrics['gpus'] | null>()

  /** By node, what was told last of how busy its cards are, and when. */
  const busy = new Map<string, { readonly at: number; readonly shares: ReadonlyMap<string, number | null> }>()

  const judge = async (tx: Tx, edgeId: string, reports: readonly CardReport[]): Promise<void> => {
    const edge = await store.factsOf(tx, edgeId)
    if (edge === undefined) return
    const there = await store.lockCardsOn(tx, edgeId)
    for (const card of there) {
      const trouble = troubleOf(card.uuid, reports, card.cleared_at)
      if ((trouble?.trouble ?? null) === card.trouble && (trouble?.detail ?? '') === card.trouble_detail) continue
      await store.setTrouble(tx, card.id, trouble?.trouble ?? null, trouble?.detail ?? '')
      if (trouble !== null && card.trouble === null)
        await tellSick(tx, edge, edgeId, card, fillText(cardTroubleTexts[trouble.trouble], { detail: trouble.detail }))
    }
    await store.seenCards(
      tx,
      edgeId,
      reports.map(({ uuid }) => uuid),
    )
    await store.markElsewhere(tx, edgeId)
  }
  const tellSick = (tx: Tx, { bp_id, name }: { bp_id: string | null; name: string }, edgeId: string, card: CardRow, reason: string): Promise<unknown> =>
    tell(tx, {
      kind: 'market.cardSick',
      bp_id,
      text: fillText(messageTexts.cardSick, { node: name, model: card.model, index: card.index, reason }),
      about: { kind: 'ecrm.edge', id: edgeId, name },
      key: `${card.id} ${now().toISOString()}`,
    })

  const look = async (edgeId: string, reports: NodeMetrics['gpus']): Promise<void> => {
    const said = JSON.stringify(reports.map(({ uuid, health }) => [uuid, health]))
    const before = written.get(edgeId)
    if (before?.said === said && now().getTime() - before.at < writeAgainMs) return
    await db.transaction().execute(async (tx) => {
      const known = new Set((await store.cardsOn(tx, edgeId)).map(({ uuid }) => uuid))
      const facts = (await store.factsOf(tx, edgeId))?.facts
      // Its facts come by themselves soon after it has come: until then nothing is known of new ones.
      if (reports.some(({ uuid }) => !known.has(uuid)) || before === undefined) await store.keepCards(tx, edgeId, facts?.gpus ?? [])
      await judge(tx, edgeId, reports)
      const all = new Set((await store.cardsOn(tx, edgeId)).map(({ uuid }) => uuid))
      if (reports.every(({ uuid }) => all.has(uuid))) written.set(edgeId, { said, at: now().getTime() })
    })
  }
  const take = async (edgeId: string): Promise<void> => {
    for (;;) {
      const reports = waiting.get(edgeId)
      if (reports === null || reports === undefined) break
      waiting.set(edgeId, null)
      try {
        await look(edgeId, reports)
      } catch (error) {
        if (!isConnectionError(error)) log.warn({ err: error, edge: edgeId }, 'cards of a node')
      }
    }
    waiting.delete(edgeId)
  }

  const enqueue = (edgeId: string, gpus: NodeMetrics['gpus']): void => {
    const taking = waiting.has(edgeId)
    waiting.set(edgeId, gpus)
    if (!taking) void take(edgeId)
  }
  /** Of one that never had any there is nothing to say, and most are such. */
  const enqueueIfKnown = async (edgeId: string): Promise<void> => {
    if ((await store.cardsOn(db, edgeId)).length > 0) enqueue(edgeId, [])
    else written.set(edgeId, { said: nothing, at: Number.POSITIVE_INFINITY })
  }

  return {
    /** An agent told how its node is. */
    reported(edgeId: string, { gpus }: Pick<NodeMetrics, 'gpus'>): void {
      if (gpus.length > 0) busy.set(edgeId, { at: performance.now(), shares: new Map(gpus.map(({ uuid, share }) => [uuid, share])) })
      if (gpus.length > 0 || written.has(edgeId)) enqueue(edgeId, gpus)
      else enqueueIfKnown(edgeId).catch((error: unknown) => log.debug({ err: error, edge: edgeId }, 'cards of a node'))
    },
    look,
    /** How busy the cards of a node are, as it told in the last half minute; null where it did not tell this server. */
    sharesOf(edgeId: string): ReadonlyMap<string, number | null> | null {
      const told = busy.get(edgeId)
      return told === undefined || performance.now() - told.at > forgetMs ? null : told.shares
    },

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listCards(db, scopeOf(actor), query), shape),
    /** Its model, as far as somebody sees it. */
    seen: async (on: Sql, actor: Actor, id: string): Promise<string | undefined> => (await store.getCard(on, scopeOf(actor), id))?.model,

    async clear(actor: Actor, id: string): Promise<Card> {
      const scope = scopeOf(actor)
      const refuseUnlessMay = (card: StockRow): void => {
        if (card.trouble === null || !(cardCan.clear as readonly string[]).includes(card.trouble)) throw new Refusal('stateForbids')
        // Whose machine it is would pay for it again.
        if (card.held) throw new Refusal('cardRented')
      }
      const before = found(await store.getCard(db, scope, id))
      refuseUnlessMay(before)
      const failed = await failedWith(scope, before.edge_id, found((await store.cardsOn(db, before.edge_id)).find((one) => one.id === id)))
      if (failed.length > 0) throw new Refusal('cardTestFailed', { values: { checks: failed.map((check) => nodeCheckTexts[check]).join('、') } })
      await db.transaction().execute(async (tx) => {
        await store.lockCardsOn(tx, before.edge_id)
        const card = found(await store.getCard(tx, scope, id))
        refuseUnlessMay(card)
        await store.updateCard(tx, id, { cleared_at: now() })
        await store.setTrouble(tx, id, null, '')
        written.delete(card.edge_id)
      })
      return shape(found(await store.getCard(db, scope, id)))
    },
  }
}

const shape = (row: StockRow): Card => ({
  id: row.id,
  edge: { id: row.edge_id, name: row.edge_name },
  provider: row.provider_id === null ? null : { id: row.provider_id, name: row.provider_name ?? '' },
  index: row.index,
  uuid: row.uuid,
  model: row.model,
  memory_bytes: row.memory_bytes,
  driver: row.driver,
  cuda: row.cuda,
  health: row.health,
  trouble: row.trouble,
  trouble_detail: row.trouble_detail,
  health_since: iso(row.health_since),
  state: row.held
    ? 'rented'
    : row.elsewhere
      ? 'elsewhere'
      : row.health === 'sick'
        ? 'sick'
        : row.rentable
          ? 'free'
          : row.listed && !row.reachable
            ? 'away'
            : 'unlisted',
  seen_at: iso(row.seen_at),
})
