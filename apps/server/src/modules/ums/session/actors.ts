import { LRUCache } from 'lru-cache'
import type { AccessKeyOfActor, Actor } from '../../../platform/auth/actor.ts'
import type { Sql } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RulesService } from '../../iam/rules/rules.ts'
import { hashOf, looksLikeToken } from './tokens.ts'
import { findActor, findActorOfSession, findPerson, type ActorRow } from './session.store.ts'

/** How long what was proved is believed without asking the database; what ends it earlier is told at once, by the bus. */
const rememberedMs = 20_000

/** Who is not any more what they were: an ended session (or access key), a changed user, a changed organisation. */
export type Gone = { readonly session: string } | { readonly user: string } | { readonly organisation: string }

export type Actors = ReturnType<typeof createActors>

/** What is remembered of whom a credential stands for, until they change. */
export interface Remembered<S extends { readonly actor: Actor }> {
  get(key: string): S | undefined
  /** Asks, and remembers the answer where nothing changed meanwhile. */
  read(key: string, ask: () => Promise<S | null>): Promise<S | null>
}

/** Whom tokens stand for and what they may do, remembered on this server and forgotten on all. */
export function createActors({ db, bus, now }: Pick<Platform, 'db' | 'bus' | 'now'>, rules: Pick<RulesService, 'of' | 'watch'>) {
  const caches = new Set<{ forget(gone: Gone): void; clear(): void }>()
  const watchers = new Set<(gone: Gone) => void>()
  /** Grows with whatever is forgotten, so that an answer read before is not remembered after. */
  let generation = 0

  const isGone = (actor: Actor, gone: Gone): boolean =>
    'session' in gone ? actor.session_id === gone.session : 'user' in gone ? actor.user_id === gone.user : actor.bp_id === gone.organisation

  const forget = (gone: Gone): void => {
    generation++
    for (const cache of caches) cache.forget(gone)
    for (const told of watchers) told(gone)
  }
  const forgetAll = (): void => {
    generation++
    for (const cache of caches) cache.clear()
  }
  rules.watch(forgetAll)
  const subscriptions = [
    bus.subscribe('ums.session', (id) => forget({ session: id }), forgetAll),
    bus.subscribe('ums.user', (id) => forget({ user: id }), forgetAll),
    bus.subscribe('ums.organisation', (id) => forget({ organisation: id }), forgetAll),
  ]

  const remembering = <S extends { readonly actor: Actor }>(): Remembered<S> => {
    const cache = new LRUCache<string, S>({ max: 50_000, ttl: rememberedMs })
    caches.add({
      forget: (gone) => {
        for (const [key, { actor }] of cache) if (isGone(actor, gone)) cache.delete(key)
      },
      clear: () => cache.clear(),
    })
    return {
      get: (key) => cache.get(key),
      async read(key, ask) {
        const began = generation
        const answer = await ask()
        if (answer !== null && began === generation && bus.isListening()) cache.set(key, answer)
        return answer
      },
    }
  }
  const remembered = remembering<{ actor: Actor; expiresAt: number }>()

  const actorOf = async (row: ActorRow, access_key: AccessKeyOfActor | null = null): Promise<Actor> => ({
    user_id: row.user_id,
    name: row.name ?? '',
    kind: row.kind,
    roles: row.roles,
    built_in_roles: row.built_in_roles,
    rules: await rules.of({ ...row, access_key }),
    bp_id: row.bp_id,
    session_id: row.session_id,
    session_since: row.session_since,
    authenticated_by: row.authenticated_by,
    second_factor_at: row.second_factor_at,
    must_change_password: row.must_change_password,
    access_key,
  })

  return {
    /** At once, without a promise, where the token is remembered. */
    of(token: string): Actor | null | Promise<Actor | null> {
      if (!looksLikeToken(token)) return null
      const hash = hashOf(token)
      const key = hash.toString('latin1')
      const known = remembered.get(key)
      if (known !== undefined) return known.expiresAt > now().getTime() ? known.actor : null
      return remembered
        .read(key, async () => {
          const row = await findActor(db, hash, now())
          return row === undefined ? null : { actor: await actorOf(row), expiresAt: row.expires_at.getTime() }
        })
        .then((answer) => answer?.actor ?? null)
    },

    /** Of a token that has been given out just now. Remembered is only what comes back with it. */
    async given(token: string): Promise<Actor | null> {
      const row = await findActor(db, hashOf(token), now())
      return row === undefined ? null : actorOf(row)
    },

    /** For credentials of another kind. */
    remembering,
    actorOf,

    /** For what came in by something else than a token. */
    async ofSession(id: string): Promise<Actor | null> {
      const row = await findActorOfSession(db, id, now())
      return row === undefined ? null : actorOf(row)
    },

    /** Who asked for something earlier, as what they are by now; null where they may not sign in any more. */
    async ofPerson(userId: string): Promise<Actor | null> {
      const row = await findPerson(db, userId)
      return row === undefined ? null : actorOf({ ...row, session_id: row.user_id, session_since: new Date(0), authenticated_by: '', second_factor_at: null })
    },

    /** Tells every server when the transaction commits. */
    async tell(on: Sql, gone: Gone): Promise<void> {
      if ('session' in gone) await bus.publish(on, 'ums.session', gone.session)
      else if ('user' in gone) await bus.publish(on, 'ums.user', gone.user)
      else await bus.publish(on, 'ums.organisation', gone.organisation)
    },

    /** On this server, without waiting for the bus: so that whoever changed something sees it at their next request. */
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
