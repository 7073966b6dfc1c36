import { platformScope } from '../../../platform/auth/actor.ts'
import { isUniqueViolation } from '../../../platform/db/database.ts'
import { found } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import * as prepaidStore from '../rating/prepaid.store.ts'
import type { PrepaidRow } from '../rating/prepaid.store.ts'
import type { Delivery } from './order.delivery.ts'
import { payBefore, type Placing } from './order.placing.ts'
import * as store from './order.store.ts'
import { hourMs, type Ordering } from './ordering.ts'

export type Renewals = ReturnType<typeof createRenewals>

/** What the clock does to orders and to what is paid in advance. */
export function createRenewals({ db, now, soldAs, tell, paidUntil }: Ordering, parts: { placing: Placing; delivery: Delivery }) {
  return {
    expire: (): Promise<void> => store.expireOrders(db, now()),

    due: (limit: number): Promise<PrepaidRow[]> => prepaidStore.duePrepaid(db, now(), limit),

    /**
     * Orders the renewal of something and moves it on to the next try, in one transaction: so it is
     * ordered once, by however many servers. Answers the order to pay; null where there is none.
     */
    orderRenewal: (resourceId: string): Promise<string | null> =>
      db
        .transaction()
        .execute(async (tx) => {
          const row = await prepaidStore.lockPrepaid(tx, resourceId)
          const at = now()
          if (row === undefined || row.renew_at === null || row.renew_at > at) return null
          const until = await paidUntil(tx, resourceId)
          const resource = await soldAs(row.resource_type).find(tx, platformScope, resourceId)
          if (resource?.state !== 'there' || resource.bp_id !== row.bp_id) {
            // What is gone is not renewed; what is being made anew perhaps later.
            await prepaidStore.updatePrepaid(tx, resourceId, resource === undefined ? { auto_renew: false, renew_at: null } : { renew_at: nextTry(at, until) })
            return null
          }
          await prepaidStore.updatePrepaid(tx, resourceId, { renew_at: nextTry(at, until) })
          await store.expireOrders(tx, at, resourceId)
          const pending = await store.pendingOf(tx, resourceId)
          // Somebody is about to pay for it themselves.
          if (pending !== undefined) return pending.automatic && pending.status === 'unpaid' ? pending.id : null
          const id = uuidv7()
          await parts.placing.record(tx, {
            id,
            kind: until === null ? 'conversion' : 'renewal',
            resource_type: row.resource_type,
            resource_id: resourceId,
            resource,
            period: row.period,
            count: row.count,
            auto_renew: true,
            automatic: true,
            sealed: null,
            expires_at: new Date(Math.max(payBefore(at).getTime(), until?.getTime() ?? 0)),
            by: null,
          })
          return id
        })
        .catch((error: unknown) => {
          // Somebody orders it themselves in this very moment: the next look finds their order.
          if (isUniqueViolation(error, store.pendingRule)) return null
          throw error
        }),

    payRenewal: (id: string): Promise<void> =>
      db.transaction().execute(async (tx) => parts.delivery.settle(tx, found(await store.lockOrder(tx, platformScope, id)), null)),

    /** Tells why something was not renewed; when its time is over, it is not tried again. */
    renewalFailed: (resourceId: string, orderId: string | null, reason: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        const order = orderId === null ? undefined : await store.lockOrder(tx, platformScope, orderId)
        // Somebody paid it in the meantime.
        if (order !== undefined && order.status !== 'unpaid') return
        const row = await prepaidStore.lockPrepaid(tx, resourceId)
        if (row?.auto_renew !== true) return
        const at = now()
        const until = await paidUntil(tx, resourceId)
        await prepaidStore.updatePrepaid(
          tx,
          resourceId,
          until === null ? { auto_renew: false, renew_at: null, error_text: reason } : { renew_at: nextTry(at, until), error_text: reason },
        )
        if (order === undefined) return
        await store.updateOrder(tx, order.id, { error_text: reason })
        await tell(tx, order.id, 'renewalFailed', null, reason)
      }),
  }
}

/** Once more at the very end. */
const nextTry = (at: Date, until: Date | null): Date => {
  const again = new Date(at.getTime() + hourMs)
  return until !== null && until > at && until < again ? until : again
}
