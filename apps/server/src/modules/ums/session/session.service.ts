import { createHash, randomBytes } from 'node:crypto'
import { constants } from '@zhisuan/contract/constants'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as users from '../user/user.store.ts'
import type { UserRow } from '../user/user.store.ts'
import { verifyPassword } from './password.ts'
import * as store from './session.store.ts'

const accessMs = 15 * 60_000
/** A session nobody uses ends after this; each refresh begins it anew. */
const refreshMs = 7 * 24 * 60 * 60_000
/** And this is its end however much it is used. */
const sessionMs = 30 * 24 * 60 * 60_000
/** Two tabs that refresh at once: the later one comes with the token that the earlier just replaced. */
const reuseGraceMs = 10_000
const wrongPasswordsMax = 5
/** How long a token is believed without asking the database; revocations are told at once, by the bus. */
const rememberedMs = 20_000

export interface Tokens {
  token: string
  expires_at: string
  must_change_password: boolean
  /** Null where the cookie that the browser has is the one in force. */
  refresh: { token: string; expires_at: Date } | null
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()
const newToken = (): string => randomBytes(32).toString('base64url')

export type SessionService = ReturnType<typeof createSessionService>

export function createSessionService(platform: Pick<Platform, 'db' | 'bus' | 'now'>) {
  const { db, bus, now } = platform
  const remembered = new LRUCache<string, { actor: Actor; expiresAt: number }>({ max: 50_000, ttl: rememberedMs })
  const ended = new Set<(gone: { session_id?: string; user_id?: string }) => void>()

  const forgetTokens = (gone: { session_id?: string; user_id?: string }): void => {
    for (const [token, { actor }] of remembered) {
      if (actor.session_id === gone.session_id || actor.user_id === gone.user_id) remembered.delete(token)
    }
  }
  const forget = (gone: { session_id?: string; user_id?: string }): void => {
    forgetTokens(gone)
    for (const told of ended) told(gone)
  }
  bus.subscribe('token', (id) => forgetTokens({ session_id: id }))
  bus.subscribe('session', (id) => forget({ session_id: id }), () => remembered.clear())
  bus.subscribe('user', (id) => forget({ user_id: id }), () => remembered.clear())

  const begin = async (tx: Tx, user: UserRow, client: { ip: string; userAgent: string }): Promise<Tokens> => {
    const at = now()
    const [access, refresh] = [newToken(), newToken()]
    const refreshExpires = new Date(at.getTime() + refreshMs)
    const accessExpires = new Date(at.getTime() + accessMs)
    await store.insertSession(tx, {
      id: uuidv7(),
      user_id: user.id,
      access_hash: hashOf(access),
      access_expires_at: accessExpires,
      refresh_hash: hashOf(refresh),
      refresh_expires_at: refreshExpires,
      previous_refresh_hash: null,
      rotated_at: at,
      ends_at: new Date(at.getTime() + sessionMs),
      ip: client.ip,
      user_agent: client.userAgent.slice(0, 256),
    })
    await users.updateUser(tx, user.id, { last_login_at: at, wrong_passwords: 0, frozen_until: null })
    return {
      token: access,
      expires_at: accessExpires.toISOString(),
      must_change_password: user.must_change_password,
      refresh: { token: refresh, expires_at: refreshExpires },
    }
  }

  /** Told only to one who proved that he is that user. */
  const refuseUnlessMaySignIn = async (on: Sql, user: UserRow): Promise<void> => {
    if (user.status === 'disabled') throw new Refusal('userDisabled')
    if (user.status === 'pending') throw new Refusal('registrationPending')
    if (user.bp_id === null) return
    const organisation = await on.selectFrom('organisations').select('status').where('id', '=', user.bp_id).executeTakeFirst()
    if (organisation?.status === 'frozen') throw new Refusal('organisationFrozen')
  }

  const isFrozen = (user: UserRow): boolean => user.frozen_until !== null && user.frozen_until > now()

  /** @throws Refusal 1101 or 1136; counts wrong ones */
  const checkPassword = async (user: UserRow | undefined, password: string, refusal: 'passwordMismatch' | 'oldPasswordInvalid'): Promise<UserRow> => {
    if (user !== undefined && isFrozen(user)) throw new Refusal('userFrozen')
    const right = await verifyPassword(user?.password_hash ?? null, password)
    if (user === undefined) throw new Refusal(refusal)
    if (!right) {
      await users.countWrongPassword(db, user.id, wrongPasswordsMax, now(), new Date(now().getTime() + constants.freezeMs))
      const after = await users.findById(db, user.id)
      throw new Refusal(after !== undefined && isFrozen(after) ? 'userFrozen' : refusal, refusal === 'oldPasswordInvalid' ? { field: 'old_password' } : {})
    }
    // Guesses that ran at the same time may have frozen it meanwhile.
    const after = await users.findById(db, user.id)
    if (after === undefined || isFrozen(after)) throw new Refusal('userFrozen')
    return after
  }

  return {
    checkPassword,

    async signIn(login: string, password: string, client: { ip: string; userAgent: string }): Promise<Tokens> {
      const user = await checkPassword(await users.findByLogin(db, login), password, 'passwordMismatch')
      await refuseUnlessMaySignIn(db, user)
      return db.transaction().execute((tx) => begin(tx, user, client))
    },

    /** After a code that was sent to his phone was right. */
    async signInAs(tx: Tx, user: UserRow, client: { ip: string; userAgent: string }): Promise<Tokens> {
      await refuseUnlessMaySignIn(tx, user)
      return begin(tx, user, client)
    },

    /** @throws Refusal refreshInvalid */
    async refresh(token: string | undefined): Promise<Tokens> {
      if (token === undefined || token === '') throw new Refusal('refreshInvalid')
      const hash = hashOf(token)
      const outcome = await db.transaction().execute(async (tx): Promise<Tokens | null> => {
        const session = await store.lockByRefresh(tx, hash)
        const at = now()
        if (session === undefined || session.refresh_expires_at <= at || session.ends_at <= at) return null
        const user = await users.findById(tx, session.user_id)
        if (user === undefined) return null
        const access = newToken()
        const accessExpires = new Date(at.getTime() + accessMs)
        const replaced = !session.refresh_hash.equals(hash)
        if (replaced && at.getTime() - session.rotated_at.getTime() > reuseGraceMs) {
          // An old token: somebody copied it. Neither of the two shall go on.
          await store.deleteSession(tx, session.id)
          await bus.publish(tx, 'session', session.id)
          return null
        }
        await refuseUnlessMaySignIn(tx, user)
        const refresh = replaced ? null : newToken()
        const refreshExpires = new Date(Math.min(at.getTime() + refreshMs, session.ends_at.getTime()))
        await store.rotate(tx, session.id, {
          access_hash: hashOf(access),
          access_expires_at: accessExpires,
          ...(refresh !== null && {
            refresh_hash: hashOf(refresh),
            refresh_expires_at: refreshExpires,
            previous_refresh_hash: session.refresh_hash,
            rotated_at: at,
          }),
        })
        await bus.publish(tx, 'token', session.id)
        return {
          token: access,
          expires_at: accessExpires.toISOString(),
          must_change_password: user.must_change_password,
          refresh: refresh === null ? null : { token: refresh, expires_at: refreshExpires },
        }
      })
      if (outcome === null) throw new Refusal('refreshInvalid')
      return outcome
    },

    async end(sessionId: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await store.deleteSession(tx, sessionId)
        await bus.publish(tx, 'session', sessionId)
      })
      forget({ session_id: sessionId })
    },

    /** All of a user's, or all but the one that asks. Tells every server. */
    async endAll(tx: Tx, userId: string, except: string | null): Promise<void> {
      await store.deleteSessionsOf(tx, userId, except)
      await bus.publish(tx, 'user', userId)
    },

    /** What is remembered of a user is no longer so. */
    forgetUser: (userId: string): void => forget({ user_id: userId }),

    /** Told when sessions ended, so that what they opened ends too. */
    onEnded(told: (gone: { session_id?: string; user_id?: string }) => void): void {
      ended.add(told)
    },

    /** Whom a token stands for. At once, without a promise, where it is remembered. */
    authenticate(token: string): Actor | null | Promise<Actor | null> {
      const known = remembered.get(token)
      if (known !== undefined) return known.expiresAt > now().getTime() ? known.actor : null
      if (!/^[\w-]{43}$/.test(token)) return null
      return store.findActor(db, hashOf(token), now()).then((row) => {
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
        remembered.set(token, { actor, expiresAt: row.access_expires_at.getTime() })
        return actor
      })
    },

    clean: (): Promise<void> => store.deleteEnded(db, now()),
  }
}
