import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import { offerCan, offerPeriods, periodHours, type Offer, type OfferPeriod, type offers } from '@zhisuan/contract/market/offer'
import { marketTexts } from '@zhisuan/contract/texts'
import { authoredBy, refuseOwnerless, scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import type { CatalogueService } from '../../bill/catalogue/catalogue.service.ts'
import type { OfferRow } from '../market.tables.ts'
import { providerOf } from '../provider/provider.store.ts'
import * as store from './offer.store.ts'
import { diskInAdvance, shownTerms } from './offer.terms.ts'

type Calls = typeof offers

const minorOrNull = (amount: string | null): string | null => (amount === null ? null : String(toMinor(amount)))

/** Of one provider that are not over. */
const openMost = 200

export type OfferService = ReturnType<typeof createOffers>

/** Offers: what a provider proposes, an administrator decides; then its prices stand in the catalogue. */
export function createOffers(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  { importPrices, settings }: { importPrices: CatalogueService['importInto']; settings: Pick<Settings, 'get'> },
) {
  /** @throws Refusal `offerBelowFloor` */
  const refuseBelowFloor = async (price: bigint, field?: string): Promise<void> => {
    const floor = await settings.get('market_floor_price')
    if (price < toMinor(floor)) throw new Refusal('offerBelowFloor', { ...(field !== undefined && { field }), values: { floor } })
  }
  /** In advance an hour is not given away either. @throws Refusal `offerBelowFloor` */
  const refusePeriodBelowFloor = async (price: string | null, period: OfferPeriod): Promise<void> => {
    if (price !== null) await refuseBelowFloor(toMinor(price) / BigInt(periodHours[period]), `${period}_price`)
  }
  /** The floor may have been raised since it was proposed. @throws Refusal `offerBelowFloor` */
  const refuseOffer = async (offer: OfferRow): Promise<void> => {
    await refuseBelowFloor(BigInt(offer.card_price))
    for (const period of offerPeriods) {
      const price = offer[`${period}_price`]
      await refusePeriodBelowFloor(price === null ? null : toDecimal(BigInt(price)), period)
    }
  }
  const get = async (scope: Scope, id: string): Promise<Offer> => shape(found(await store.getOffer(db, scope, id)))

  /** Its parts as SKUs of their own: the offer is their variant. */
  const price = async (tx: Tx, actor: Actor, offer: OfferRow, provider: string): Promise<void> => {
    const values = { provider, model: offer.card_model }
    const row = (part: 'card' | 'disk' | 'stoppedDisk', amount: string) => ({
      category: marketTexts.category,
      product: fillText(marketTexts.product, values),
      sku: fillText(marketTexts[part], values),
      meter: `market.${part}` as const,
      variant: offer.id,
      hour: toDecimal(BigInt(amount)),
      day: null,
      week: null,
      month: null,
      year: null,
    })
    const ahead = offerPeriods.filter((period) => offer[`${period}_price`] !== null)
    const of = (priceOf: (period: OfferPeriod) => bigint) => Object.fromEntries(ahead.map((period) => [period, toDecimal(priceOf(period))]))
    await importPrices(tx, actor, [
      { ...row('card', offer.card_price), ...of((period) => BigInt(offer[`${period}_price`] ?? 0)) },
      { ...row('disk', offer.disk_price), ...of((period) => diskInAdvance(offer, period)) },
      row('stoppedDisk', offer.stopped_disk_price),
    ])
  }

  return {
    get: (actor: Actor, id: string) => get(scopeOf(actor), id),
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listOffers(db, scopeOf(actor), query), shape),

    async create(actor: Actor, { edge_id, ...terms }: BodyOf<Calls['create']>): Promise<Offer> {
      refuseOwnerless(scopeOf(actor))
      await refuseBelowFloor(toMinor(terms.card_price), 'card_price')
      const inAdvance = offerPeriods.find((period) => terms[`${period}_price`] !== null)
      if (inAdvance !== undefined && (await settings.get('market_prepaid')) !== '1') throw new Refusal('offerPrepaidClosed', { field: `${inAdvance}_price` })
      for (const period of offerPeriods) await refusePeriodBelowFloor(terms[`${period}_price`], period)
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        const provider = await providerOf(tx, actor.bp_id)
        if (provider === undefined) throw new Refusal('providerMissing')
        if (provider.status === 'disabled') throw new Refusal('providerSuspended')
        if ((await store.countOpen(tx, provider.id)) >= openMost) throw new Refusal('offerTooMany', { values: { limit: openMost } })
        if (!(await store.hasCards(tx, { provider_id: provider.id, card_model: terms.card_model, edge_id })))
          throw new Refusal('offerCardMissing', { field: edge_id === null ? 'card_model' : 'edge_id' })
        await store.insertOffer(tx, {
          id,
          bp_id: actor.bp_id,
          provider_id: provider.id,
          edge_id,
          mode: terms.mode,
          card_model: terms.card_model,
          most_cards: terms.most_cards,
          milli_cpus_per_card: Math.round(terms.cpus_per_card * 1_000),
          memory_bytes_per_card: terms.memory_bytes_per_card,
          disk_bytes_per_card: terms.disk_bytes_per_card,
          card_price: String(toMinor(terms.card_price)),
          disk_price: String(toMinor(terms.disk_price)),
          stopped_disk_price: String(toMinor(terms.stopped_disk_price)),
          day_price: minorOrNull(terms.day_price),
          week_price: minorOrNull(terms.week_price),
          month_price: minorOrNull(terms.month_price),
          grace_seconds: terms.grace_seconds,
          ...authoredBy(actor),
        })
      })
      return get(scopeOf(actor), id)
    },

    async decide(actor: Actor, id: string, body: BodyOf<Calls['decide']>): Promise<Offer> {
      const scope = scopeOf(actor)
      await db.transaction().execute(async (tx) => {
        const offer = found(await store.lockOffer(tx, scope, id))
        refuseUnless(offerCan.decide, offer)
        if (!body.accept) return store.updateOffer(tx, id, { status: 'rejected', reason: body.reason, decided_at: now() })
        const provider = found(await providerOf(tx, offer.bp_id))
        if (provider.status !== 'verified') throw new Refusal('offerUnlistable', { values: { provider: provider.name } })
        await refuseOffer(offer)
        await price(tx, actor, offer, provider.name)
        return store.updateOffer(tx, id, { status: 'listed', decided_at: now() })
      })
      return get(scope, id)
    },

    async action(actor: Actor, id: string, { action }: BodyOf<Calls['action']>): Promise<Offer> {
      const scope = scopeOf(actor)
      await db.transaction().execute(async (tx) => {
        const offer = found(await store.lockOffer(tx, scope, id))
        refuseUnless(offerCan[action], offer)
        if (action === 'resume') await refuseOffer(offer)
        await store.updateOffer(tx, id, { status: action === 'pause' ? 'paused' : action === 'resume' ? 'listed' : 'ended' })
      })
      return get(scope, id)
    },
  }
}

const shape = (row: store.ShownOffer): Offer => ({
  id: row.id,
  provider: { id: row.provider_id, name: row.provider_name },
  edge: row.edge_id === null ? null : { id: row.edge_id, name: row.edge_name ?? '' },
  ...shownTerms(row),
  status: row.status,
  reason: row.reason,
  total_cards: row.total_cards,
  free_cards: row.free_cards,
  decided_at: isoOrNull(row.decided_at),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})
