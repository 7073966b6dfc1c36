import type { BodyOf } from '@zhisuan/contract/define'
import type { auth } from '@zhisuan/contract/ums/auth'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { noted } from '../../../platform/db/recording.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { organisationStatus } from '../organisation/organisation.store.ts'
import { findByLogin, findById, lockUser, updateUser, type UserRow } from '../user/user.store.ts'
import type { SecondFactors } from '../second-factor/second-factor.service.ts'
import type { Actors } from './actors.ts'
import type { Client, Guesses } from './guesses.ts'
import * as store from './session.store.ts'
import { familyOf, hashOf, looksLikeToken, newAccessToken, newRefreshToken } from './tokens.ts'

const accessMs = 15 * 60_000
/** A session nobody uses ends after this; each refresh begins it anew. */
const refreshMs = 7 * 24 * 60 * 60_000
/** And this is its end however much it is used. */
const sessionMs = 30 * 24 * 60 * 60_000
/** Two tabs that refresh at once: the later one comes with the token that the earlier just replaced. */
const reuseGraceMs = 10_000

export interface Tokens {
  token: string
  expires_at: string
  must_change_password: boolean
  /** Null where the cookie that the browser has is the one in force. */
  refresh: { token: string; expires_at: Date } | null
  /** What the device is known by from now on; null where nobody signed in just now. */
  device: string | null
}

/** How somebody proved who they are. */
interface Proved {
  by: 'password' | 'sms' | 'passkey' | 'oidc'
  /** Whether that proved a second factor too. One of ours is asked for before, where they have one. */
  second: boolean
}

export type SessionService = ReturnType<typeof createSessionService>

/**
 * Sessions: begun by proving who one is, renewed with a refresh token that changes each time,
 * ended here or by a change of password. Access tokens are many for each session, as each tab
 * may hold its own; all of them end with it.
 */
export function createSessionService(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  parts: { actors: Actors; guesses: Pick<Guesses, 'check' | 'checkUnknown' | 'signedIn'>; secondFactors: Pick<SecondFactors, 'prove' | 'has'> },
) {
  const { actors, guesses, secondFactors } = parts

  const giveAccess = async (tx: Tx, sessionId: string): Promise<Pick<Tokens, 'token' | 'expires_at'>> => {
    const token = newAccessToken()
    const expiresAt = new Date(now().getTime() + accessMs)
    await store.insertAccessToken(tx, { hash: hashOf(token), session_id: sessionId, expires_at: expiresAt })
    return { token, expires_at: expiresAt.toISOString() }
  }

  const begin = async (tx: Tx, user: UserRow, client: Client, { by, second }: Proved): Promise<Tokens> => {
    const at = now()
    const [id, refresh] = [uuidv7(), newRefreshToken()]
    const refreshExpiresAt = new Date(at.getTime() + refreshMs)
    await store.insertSession(tx, {
      id,
      user_id: user.id,
      family_hash: hashOf(familyOf(refresh)),
      refresh_hash: hashOf(refresh),
      refresh_expires_at: refreshExpiresAt,
      rotated_at: at,
      ends_at: new Date(at.getTime() + sessionMs),
      ip: client.ip,
      user_agent: client.userAgent.slice(0, 256),
      authenticated_by: by,
      created_at: at,
      // Asked for just before where there is one.
      second_factor_at: second || (await secondFactors.has(tx, user.id)) ? at : null,
    })
    noted({ by: { user_id: user.id, name: user.name ?? '', bp_id: user.bp_id } })
    await updateUser(tx, user.id, { last_login_at: at })
    const device = await guesses.signedIn(tx, user.id, client, by)
    return {
      ...(await giveAccess(tx, id)),
      must_change_password: user.must_change_password,
      refresh: { token: refresh, expires_at: refreshExpiresAt },
      device,
    }
  }

  /** Told only to one who proved that they are that user. */
  const refuseUnlessMaySignIn = async (on: Sql, user: UserRow): Promise<void> => {
    if (user.status === 'disabled') throw new Refusal('userDisabled')
    if (user.status === 'pending') throw new Refusal('userNotActivated')
    if (user.bp_id !== null && (await organisationStatus(on, user.bp_id)) === 'frozen') throw new Refusal('organisationFrozen')
  }

  return {
    /** @throws Refusal 1101, 1134, 1135, 1136, 91012, 91120, 91124 */
    async signIn({ username: login, password, otp }: BodyOf<(typeof auth)['password']>, client: Client): Promise<Tokens> {
      const wrong = new Refusal('passwordMismatch')
      const found = await findByLogin(db, login)
      if (found === undefined) return guesses.checkUnknown(login, password, client, wrong)
      const { id, password_hash } = await guesses.check(found.id, password, client, wrong, secondFactors.prove(otp))
      return db.transaction().execute(async (tx) => {
        const user = await lockUser(tx, id)
        // Changed since it was compared, which ended all of their sessions: this would be one more.
        if (user?.password_hash !== password_hash) throw wrong
        await refuseUnlessMaySignIn(tx, user)
        return begin(tx, user, client, { by: 'password', second: false })
      })
    },

    /** One who proved without a password who they are. @throws Refusal 1134, 1135, 91012 */
    async signInAs(tx: Tx, user: UserRow, client: Client, proved: Proved): Promise<Tokens> {
      noted({ tried: { user_id: user.id, name: user.name ?? '', bp_id: user.bp_id } })
      await refuseUnlessMaySignIn(tx, user)
      return begin(tx, user, client, proved)
    },

    /** @throws Refusal 91011; 1134, 1135, 91012 where the user may not sign in any more */
    async refresh(token: string | undefined): Promise<Tokens> {
      if (token === undefined || !looksLikeToken(token)) throw new Refusal('refreshInvalid')
      const hash = hashOf(token)
      const outcome = await db.transaction().execute(async (tx): Promise<Tokens | { ended: string } | null> => {
        const session = await store.lockByFamily(tx, hashOf(familyOf(token)))
        const at = now()
        if (session === undefined || session.refresh_expires_at <= at) return null
        const current = session.refresh_hash.equals(hash)
        const justReplaced = session.previous_refresh_hash?.equals(hash) === true && at.getTime() - session.rotated_at.getTime() <= reuseGraceMs
        if (!current && !justReplaced) {
          // An old token: somebody copied it. Neither of the two shall go on.
          await store.deleteSession(tx, session.id)
          await actors.tell(tx, { session: session.id })
          return { ended: session.id }
        }
        const user = await findById(tx, session.user_id)
        if (user === undefined) return null
        await refuseUnlessMaySignIn(tx, user)
        const answer = { ...(await giveAccess(tx, session.id)), must_change_password: user.must_change_password, device: null }
        if (!current) return { ...answer, refresh: null }
        const refresh = newRefreshToken(token)
        const refreshExpiresAt = new Date(Math.min(at.getTime() + refreshMs, session.ends_at.getTime()))
        await store.rotateRefresh(tx, session.id, {
          refresh_hash: hashOf(refresh),
          refresh_expires_at: refreshExpiresAt,
          previous_refresh_hash: hash,
          rotated_at: at,
        })
        return { ...answer, refresh: { token: refresh, expires_at: refreshExpiresAt } }
      })
      if (outcome !== null && 'ended' in outcome) actors.forget({ session: outcome.ended })
      if (outcome === null || 'ended' in outcome) throw new Refusal('refreshInvalid')
      return outcome
    },

    /** Ends one session, on every server. */
    async end(sessionId: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await store.deleteSession(tx, sessionId)
        await actors.tell(tx, { session: sessionId })
      })
      actors.forget({ session: sessionId })
    },

    /** Ends the session of a refresh token, for one whose access token has run out. */
    async endByRefresh(token: string | undefined): Promise<void> {
      if (token === undefined || !looksLikeToken(token)) return
      const ended = await db.transaction().execute(async (tx) => {
        const session = await store.lockByFamily(tx, hashOf(familyOf(token)))
        if (session === undefined) return null
        await store.deleteSession(tx, session.id)
        await actors.tell(tx, { session: session.id })
        return session.id
      })
      if (ended !== null) actors.forget({ session: ended })
    },

    /**
     * Ends all of a user's sessions, or all but the one that asks, on every server; and has every
     * server read anew who they are. Call `forgotten` with the answer once the transaction is through.
     */
    async endAll(tx: Tx, userId: string, except: string | null): Promise<string[]> {
      const ended = await store.deleteSessionsOf(tx, userId, except)
      for (const session of ended) await actors.tell(tx, { session })
      await actors.tell(tx, { user: userId })
      return ended
    },

    /** All sessions of an organisation's people. Call `forgottenOf` with the answer once the transaction is through. */
    async endAllOf(tx: Tx, bpId: string): Promise<string[]> {
      const ended = await store.deleteSessionsOfOrganisation(tx, bpId)
      for (const session of ended) await actors.tell(tx, { session })
      await actors.tell(tx, { organisation: bpId })
      return ended
    },
    forgottenOf(bpId: string, ended: readonly string[]): void {
      for (const session of ended) actors.forget({ session })
      actors.forget({ organisation: bpId })
    },

    forgotten(userId: string, ended: readonly string[]): void {
      for (const session of ended) actors.forget({ session })
      actors.forget({ user: userId })
    },

    clean: (): Promise<void> => store.deleteExpired(db, now()),
  }
}
