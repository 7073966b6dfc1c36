import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import { providerCan, type Provider, type providers } from '@zhisuan/contract/market/provider'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from './provider.store.ts'

type Calls = typeof providers

const taken = { market_providers_bound: 'providerAccountBound', market_providers_name: ['marketProviderNameTaken', 'name'] } as const

export type ProviderService = ReturnType<typeof createProviders>

/** Whose cards are rented out: each organisation is bound to one at most, and an administrator verifies it. */
export function createProviders({ db, now }: Pick<Platform, 'db' | 'now'>) {
  const get = async (actor: Actor, id: string): Promise<Provider> => shape(found(await store.getProvider(db, scopeOf(actor), id)))
  return {
    get,
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listProviders(db, scopeOf(actor), query), shape),

    async create(actor: Actor, about: BodyOf<Calls['create']>): Promise<Provider> {
      refuseOwnerless(scopeOf(actor))
      const id = uuidv7()
      await refusing(taken, () => db.transaction().execute((tx) => store.insertProvider(tx, { id, bp_id: actor.bp_id, ...about, ...authoredBy(actor) })))
      return get(actor, id)
    },

    async update(actor: Actor, id: string, about: BodyOf<Calls['update']>): Promise<Provider> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          found(await store.lockProvider(tx, scopeOf(actor), id))
          await store.updateProvider(tx, id, about)
        }),
      )
      return get(actor, id)
    },

    async review(actor: Actor, id: string, body: BodyOf<Calls['review']>): Promise<Provider> {
      await db.transaction().execute(async (tx) => {
        refuseUnless(providerCan[body.action], found(await store.lockProvider(tx, scopeOf(actor), id)))
        await store.updateProvider(
          tx,
          id,
          body.action === 'verify' ? { status: 'verified', reason: null, verified_at: now() } : { status: 'disabled', reason: body.reason },
        )
      })
      return get(actor, id)
    },
  }
}

const shape = (row: store.ShownProvider): Provider => ({
  id: row.id,
  bp_id: row.bp_id,
  bp_name: row.bp_name,
  name: row.name,
  contact: row.contact,
  description: row.description,
  status: row.status,
  reason: row.reason,
  node_count: row.node_count,
  card_count: row.card_count,
  offer_count: row.offer_count,
  verified_at: isoOrNull(row.verified_at),
  created_by: row.created_by_name,
  created_at: iso(row.created_at),
})
