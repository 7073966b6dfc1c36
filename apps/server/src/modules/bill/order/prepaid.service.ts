import { prepaidKinds, type Prepaid, type prepaids } from '@zhisuan/contract/bill/order'
import type { BodyOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import * as prepaidStore from '../rating/prepaid.store.ts'
import type { PrepaidRow } from '../rating/prepaid.store.ts'
import { renewalOf, type Ordering } from './ordering.ts'

export type PrepaidService = ReturnType<typeof createPrepaids>

/** What of a resource is paid in advance, and whether that goes on by itself. */
export function createPrepaids({ db, now, soldAs, paidUntil }: Ordering) {
  const shape = async (resource: Prepaid['resource'], row: PrepaidRow | undefined): Promise<Prepaid> => {
    const spans = await prepaidStore.spansAfter(db, resource.id, now())
    return {
      resource,
      ends_at: isoOrNull(spans.at(-1)?.to ?? null),
      auto_renew: row?.auto_renew ?? false,
      period: row?.period ?? null,
      count: row?.count ?? null,
      renews_at: isoOrNull(row?.renew_at ?? null),
      error: row?.error_text ?? null,
      spans: spans.map(({ order_id, from, to, usage }) => ({ order_id, from: iso(from), to: iso(to), usage })),
    }
  }
  const resourceOf = async (actor: Actor, id: string): Promise<Prepaid['resource']> => {
    for (const type of prepaidKinds) {
      const resource = await soldAs(type).find(db, scopeOf(actor), id)
      if (resource !== undefined) return { type, id, name: resource.name }
    }
    throw new Refusal('notFound')
  }

  return {
    async get(actor: Actor, id: string): Promise<Prepaid> {
      return shape(await resourceOf(actor, id), await prepaidStore.getPrepaid(db, id))
    },

    /** @throws Refusal 96025 */
    async setAutoRenew(actor: Actor, id: string, body: BodyOf<(typeof prepaids)['setAutoRenew']>): Promise<Prepaid> {
      const resource = await resourceOf(actor, id)
      await db.transaction().execute(async (tx) => {
        const row = await prepaidStore.lockPrepaid(tx, id)
        const until = await paidUntil(tx, id)
        if (row === undefined || until === null) throw new Refusal('prepaidNone')
        await prepaidStore.updatePrepaid(tx, id, { ...body, renew_at: body.auto_renew ? renewalOf(until, body.period) : null, error_text: null })
      })
      return shape(resource, await prepaidStore.getPrepaid(db, id))
    },
  }
}
