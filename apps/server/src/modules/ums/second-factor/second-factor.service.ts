import { createHash, randomInt } from 'node:crypto'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { secondFactor as calls } from '@zhisuan/contract/ums/second-factor'
import { Secret, TOTP } from 'otpauth'
import type { Actor } from '../../../platform/auth/actor.ts'
import { isoOrNull, type Sql, type Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Actors } from '../session/actors.ts'
import type { Guesses } from '../session/guesses.ts'
import type { UserRow } from '../user/user.store.ts'
import * as store from './second-factor.store.ts'

type Calls = typeof calls

/** A clock may be a step early or late. */
const window = 1
/** Of letters and digits that are not mistaken for each other: 50 bits each. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
const codeCount = 10

const newCode = (): string => Array.from({ length: 10 }, (_, index) => `${index === 5 ? '-' : ''}${alphabet.charAt(randomInt(alphabet.length))}`).join('')
/** As it is typed: with or without hyphens and spaces, in either case. */
const hashOf = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toLowerCase().replace(/[^a-z0-9]/g, ''))
    .digest()

const placeOf = (userId: string): string => `ums.second-factor:${userId}`

export type SecondFactors = ReturnType<typeof createSecondFactors>

/** A second thing to prove at sign-in. */
export function createSecondFactors(
  { db, secrets, now }: Pick<Platform, 'db' | 'secrets' | 'now'>,
  parts: { guesses: Guesses; actors: Actors; issuer: () => Promise<string> },
) {
  const { guesses, actors } = parts
  const totpOf = (secret: string, label = '', issuer = ''): TOTP =>
    new TOTP({ secret: Secret.fromBase32(secret), label, issuer, algorithm: 'SHA1', digits: 6, period: 30 })

  /** Whether it is right, and not used before; used by that. */
  const spend = async (on: Sql, userId: string, sealed: string, typed: string): Promise<boolean> => {
    const code = typed.replace(/\s/g, '')
    if (!/^\d{6}$/.test(code)) return store.useCode(on, userId, hashOf(code))
    const totp = totpOf(secrets.open(sealed, placeOf(userId)))
    const timestamp = now().getTime()
    const delta = totp.validate({ token: code, timestamp, window })
    return delta !== null && store.useStep(on, userId, totp.counter({ timestamp }) + delta)
  }

  /** Proves password and code of one who is signed in. Wrong codes freeze as wrong passwords do. @throws Refusal 1120, 1136, 91121, 91123 */
  const proveBoth = async (actor: Actor, password: string, code: string): Promise<void> => {
    await guesses.check(actor.user_id, password, actor, new Refusal('oldPasswordInvalid', { field: 'password' }), async (user) => {
      const row = await store.findSecret(db, user.id)
      if (row?.confirmed_at == null) throw new Refusal('secondFactorMissing')
      return (await spend(db, user.id, row.secret, code)) ? null : new Refusal('secondFactorInvalid', { field: 'code' })
    })
  }

  const giveCodes = async (tx: Tx, userId: string): Promise<{ recovery_codes: string[] }> => {
    const codes = Array.from({ length: codeCount }, newCode)
    await store.replaceCodes(tx, userId, codes.map(hashOf))
    return { recovery_codes: codes }
  }

  return {
    /**
     * The second step of a sign-in, for {@link Guesses.check}: nothing where the person has none.
     * @throws Refusal 91120 where nothing was typed
     * @returns 91124 where what was typed is wrong
     */
    prove:
      (typed: string | undefined) =>
      async (user: Pick<UserRow, 'id'>): Promise<Refusal | null> => {
        const row = await store.findSecret(db, user.id)
        if (row?.confirmed_at == null) return null
        if (typed === undefined) throw new Refusal('secondFactorRequired')
        return (await spend(db, user.id, row.secret, typed)) ? null : new Refusal('secondFactorMismatch')
      },

    has: async (on: Sql, userId: string): Promise<boolean> => (await store.findSecret(on, userId))?.confirmed_at != null,

    async get(actor: Actor): Promise<ResponseOf<Calls['get']>> {
      const row = await store.findSecret(db, actor.user_id)
      return { since: isoOrNull(row?.confirmed_at ?? null), recovery_codes_left: await store.codesLeft(db, actor.user_id) }
    },

    /** @throws Refusal 1120, 91122 */
    async begin(actor: Actor, { password }: BodyOf<Calls['begin']>): Promise<ResponseOf<Calls['begin']>> {
      await guesses.check(actor.user_id, password, actor, new Refusal('oldPasswordInvalid', { field: 'password' }))
      const secret = new Secret({ size: 20 }).base32
      if (!(await store.keepSecret(db, { user_id: actor.user_id, secret: secrets.seal(secret, placeOf(actor.user_id)), confirmed_at: null })))
        throw new Refusal('secondFactorThere')
      return { secret, uri: totpOf(secret, actor.name, await parts.issuer()).toString() }
    },

    /** The session that asks has proved it by that. @throws Refusal 91121, 91123 */
    async confirm(actor: Actor, { code }: BodyOf<Calls['confirm']>): Promise<ResponseOf<Calls['confirm']>> {
      const codes = await db.transaction().execute(async (tx) => {
        const row = await store.findSecret(tx, actor.user_id)
        if (row === undefined || row.confirmed_at !== null) throw new Refusal('secondFactorMissing')
        if (!(await spend(tx, actor.user_id, row.secret, code))) throw new Refusal('secondFactorInvalid', { field: 'code' })
        if (!(await store.confirmSecret(tx, actor.user_id, now()))) throw new Refusal('secondFactorMissing')
        await store.markSession(tx, actor.session_id, now())
        await actors.tell(tx, { user: actor.user_id })
        return giveCodes(tx, actor.user_id)
      })
      actors.forget({ user: actor.user_id })
      return codes
    },

    /** @throws Refusal 1120, 91121, 91123 */
    async renewCodes(actor: Actor, { password, code }: BodyOf<Calls['renewCodes']>): Promise<ResponseOf<Calls['renewCodes']>> {
      await proveBoth(actor, password, code)
      return db.transaction().execute((tx) => giveCodes(tx, actor.user_id))
    },

    /** @throws Refusal 1120, 91121, 91123 */
    async remove(actor: Actor, { password, code }: BodyOf<Calls['remove']>): Promise<void> {
      await proveBoth(actor, password, code)
      await db.transaction().execute(async (tx) => {
        await store.removeSecret(tx, actor.user_id)
        await store.markSession(tx, actor.session_id, null)
        await actors.tell(tx, { user: actor.user_id })
      })
      actors.forget({ user: actor.user_id })
    },

    /** For one who lost both. */
    reset: async (tx: Tx, userId: string): Promise<void> => void (await store.removeSecret(tx, userId)),
  }
}
