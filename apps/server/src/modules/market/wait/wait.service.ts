import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { fillText } from '@zhisuan/contract/errors'
import { waitDays, type Wait, type waits } from '@zhisuan/contract/market/rental'
import { messageTexts } from '@zhisuan/contract/texts'
import { authoredBy, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import { offerById } from '../rental/rental.store.ts'
import * as store from './wait.store.ts'

type Calls = typeof waits

const dayMs = 86_400_000
/** Of one organisation. */
const waitsMost = 50

export type WaitService = ReturnType<typeof createWaits>

/** Who wants to be told once cards are free. */
export function createWaits({ db, now }: Pick<Platform, 'db' | 'now'>, { tell }: { tell: Tell }) {
  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listWaits(db, scopeOf(actor), query), shape),

    async create(actor: Actor, { offer_id, count }: BodyOf<Calls['create']>): Promise<Wait> {
      const { bp_id } = actor
      if (bp_id === null) throw new Refusal('rentalOwnerless')
      const id = uuidv7()
      await refusing({ market_waits_once: 'waitsAlready' }, () =>
        db.transaction().execute(async (tx) => {
          const offer = await offerById(tx, offer_id)
          if (offer?.status !== 'listed') throw new Refusal('offerGone', { field: 'offer_id' })
          if (count > offer.most_cards) throw new Refusal('rentalCardsTooMany', { field: 'count', values: { limit: offer.most_cards } })
          if ((await store.countWaits(tx, bp_id)) >= waitsMost) throw new Refusal('waitsTooMany', { values: { limit: waitsMost } })
          await store.insertWait(tx, { id, bp_id, offer_id, count, ends_at: new Date(now().getTime() + waitDays * dayMs), ...authoredBy(actor) })
        }),
      )
      return shape(found(await store.getWait(db, scopeOf(actor), id)))
    },

    async delete(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockWait(tx, scopeOf(actor), id))
        await store.deleteWait(tx, id)
      })
    },

    /** Tells whoever waits for what is free now: once. */
    look: (): Promise<void> =>
      db.transaction().execute(async (tx) => {
        for (const { id, bp_id, over, count, card_model, provider_name, offer_id } of await store.takeEnded(tx, now()))
          if (!over)
            await tell(tx, {
              kind: 'market.cardsFree',
              bp_id,
              text: fillText(messageTexts.cardsFree, { count, model: card_model, provider: provider_name }),
              about: { kind: 'market.offer', id: offer_id, name: card_model },
              key: id,
            })
      }),
  }
}

const shape = (row: store.ShownWait): Wait => ({
  id: row.id,
  offer: { id: row.offer_id, card_model: row.card_model, provider: row.provider_name },
  count: row.count,
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
  ends_at: iso(row.ends_at),
})
