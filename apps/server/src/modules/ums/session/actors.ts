import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import { hashOf, looksLikeToken } from './tokens.ts'
import { findActor } from './session.store.ts'

/** How long a token is believed without asking the database; what ends it earlier is told at once, by the bus. */
const rememberedMs = 20_000

/** Who is not any more what he was: an ended session, a changed user, a changed organisation. */
export type Gone = { readonly session: string } | { readonly user: string } | { readonly organisation: string }

export type Actors = ReturnType<typeof createActors>

/** Whom tokens stand for, remembered on this server and forgotten on all. */
export function createActors({ db, bus, now }: Pick<Platform, 'db' | 'bus' | 'now'>) {
  const remembered = new LRUCache<string, { actor: Actor; expiresAt: number }>({ max: 50_000, ttl: rememberedMs })
  const watchers = new Set<(gone: Gone) => void>()
  /** Grows with whatever is forgotten, so that an answer read before is not remembered after. */
  let generation = 0

  const isGone = (actor: Actor, gone: Gone): boolean =>
    'session' in gone ? actor.session_id === gone.session : 'user' in gone ? actor.user_id === gone.user : actor.bp_id === gone.organisation

  const forget = (gone: Gone): void => {
    generation++
    for (const [key, { actor }] of remembered) if (isGone(actor, gone)) remembered.delete(key)
    for (const told of watchers) told(gone)
  }
  const forgetAll = (): void => {
    generation++
    remembered.clear()
  }
  const subscriptions = [
    bus.subscribe('ums.session', (id) => forget({ session: id }), forgetAll),
    bus.subscribe('ums.user', (id) => forget({ user: id }), forgetAll),
    bus.subscribe('ums.organisation', (id) => forget({ organisation: id }), forgetAll),
  ]

  return {
    /** At once, without a promise, where the token is remembered. */
    of(token: string): Actor | null | Promise<Actor | null> {
      if (!looksLikeToken(token)) return null
      const hash = hashOf(token)
      const key = hash.toString('latin1')
      const known = remembered.get(key)
      if (known !== undefined) return known.expiresAt > now().getTime() ? known.actor : null
      const began = generation
      return findActor(db, hash, now()).then((row) => {
        if (row === undefined) return null
        const actor: Actor = {
          user_id: row.user_id,
          name: row.name ?? '',
          kind: row.kind,
          roles: row.roles ?? [],
          bp_id: row.bp_id,
          session_id: row.session_id,
          must_change_password: row.must_change_password,
        }
        if (began === generation) remembered.set(key, { actor, expiresAt: row.expires_at.getTime() })
        return actor
      })
    },

    /** Tells every server when the transaction commits. */
    async tell(on: Sql, gone: Gone): Promise<void> {
      if ('session' in gone) await bus.publish(on, 'ums.session', gone.session)
      else if ('user' in gone) await bus.publish(on, 'ums.user', gone.user)
      else await bus.publish(on, 'ums.organisation', gone.organisation)
    },

    /** On this server, without waiting for the bus: so that whoever changed something sees it at his next request. */
    forget,

    /** Told of everything gone, on every server; of the same thing perhaps twice. */
    watch(told: (gone: Gone) => void): void {
      watchers.add(told)
    },

    stop(): void {
      for (const unsubscribe of subscriptions) unsubscribe()
    },
  }
}
