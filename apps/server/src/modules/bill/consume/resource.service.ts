import type { consumes, ResourceMonth } from '@zhisuan/contract/bill/consume'
import { toDecimal } from '@zhisuan/contract/bill/money'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { iso } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { organisationOf } from '../arrears/standing.store.ts'
import { narrowed } from './consume.scope.ts'
import * as store from './consume.store.ts'
import { monthPlus } from './months.ts'

type Calls = typeof consumes

/** What each resource cost in a month, and one of them hour by hour. */
export function createResourceCosts({ db }: Pick<Platform, 'db'>) {
  /** Whose it was, of the asker's: whose it is now, and where, is not theirs to know. @throws Refusal 404 where it never cost them anything */
  const formerOwner = async (scope: Scope, resourceId: string): Promise<ResourceMonth['organisation']> => {
    if (!('bp_id' in scope) || !(await store.wasUsed(db, scope, resourceId))) throw new Refusal('notFound')
    return { id: scope.bp_id, name: (await organisationOf(db, scope.bp_id))?.name ?? '' }
  }
  const endOf = async (id: string): Promise<ResourceMonth['ended']> => {
    const end = await store.endOfResource(db, id)
    return end && { at: iso(end.at), reason: end.reason }
  }
  return {
    async list(actor: Actor, query: QueryOf<Calls['resources']>): Promise<ResponseOf<Calls['resources']>> {
      const { total, rows } = await store.listResources(db, narrowed(actor, query.bp_id), query, monthPlus(query.month, -1))
      return {
        total,
        items: rows.map(({ key, name, type, bp_id, organisation_name, amount, previous }) => ({
          id: key,
          name,
          type,
          organisation: { id: bp_id, name: organisation_name },
          amount: toDecimal(BigInt(amount)),
          previous_amount: toDecimal(BigInt(previous)),
        })),
      }
    },

    /** @throws Refusal 404 for what never cost the actor anything */
    async get(actor: Actor, id: string, { month }: QueryOf<Calls['resource']>): Promise<ResourceMonth> {
      const scope = scopeOf(actor)
      const { bp_id, organisation_name, ...resource } = found(await store.getResource(db, id))
      const organisation = { id: bp_id, name: organisation_name }
      const shown =
        'everything' in scope || ('bp_id' in scope && scope.bp_id === bp_id)
          ? { resource, organisation, ended: await endOf(id) }
          : // How it ended is whose it was then.
            { resource: { ...resource, cloud_id: null }, organisation: await formerOwner(scope, id), ended: null }
      const [total, previous_total, hours] = await Promise.all([
        store.amountOfResource(db, scope, id, month),
        store.amountOfResource(db, scope, id, monthPlus(month, -1)),
        store.hoursOfResource(db, scope, id, month),
      ])
      return {
        ...shown,
        month,
        total: total ?? '0.00',
        previous_total: previous_total ?? '0.00',
        meters: [...Map.groupBy(hours, ({ meter, variant, sku_id }) => `${meter}/${variant} ${sku_id}`).values()].flatMap((of) => {
          const [first] = of
          if (first === undefined) return []
          const { meter, variant, sku_id, sku_name } = first
          return [
            {
              meter,
              variant,
              sku: { id: sku_id, name: sku_name },
              seconds: of.reduce((sum, { seconds }) => sum + seconds, 0),
              amount: toDecimal(of.reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
              hours: of.map(({ hour, amount }) => ({ from: iso(hour), amount: toDecimal(BigInt(amount)) })),
            },
          ]
        }),
      }
    },
  }
}
