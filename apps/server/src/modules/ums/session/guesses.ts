import { randomUUID } from 'node:crypto'
import { constants } from '@zhisuan/contract/constants'
import { errors } from '@zhisuan/contract/errors'
import { auth } from '@zhisuan/contract/ums/auth'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { createAudit } from '../../../platform/audit.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { noted, unrecorded } from '../../../platform/db/recording.ts'
import { Refusal } from '../../../platform/errors.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import { createOneAtATime } from '../../../platform/oneAtATime.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell } from '../../sys/message/message.service.ts'
import type { createDelivery } from '../delivery/delivery.service.ts'
import { messageTexts } from '../texts.ts'
import { findById, type UserRow } from '../user/user.store.ts'
import * as store from './guesses.store.ts'
import { verifyPassword } from './password.ts'
import { newAccessToken } from './tokens.ts'

const wrongPasswordsMax = 5
/** Of all addresses together, while one freeze lasts: so that whoever has many has no more than a few of them. */
const strangersMax = 20
const dayMs = 24 * 60 * 60_000
/** So many addresses frozen within an hour are no forgotten password. */
const attackedFrom = 3
const attackMs = 60 * 60_000
/** Told once in so long. */
export const toldMs = dayMs
/** As long as browsers keep a cookie. */
export const deviceMs = 400 * dayMs
/** A user that never is: an unknown login takes the same steps as a known one, so that its time tells nothing. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** Where somebody signs in from. */
export interface Client {
  ip: string
  userAgent: string
  /** The cookie of a device that has signed in before, as whomever. */
  device: string | null
}

/** Who answers: from somewhere, or in a session, which only its own guesses are held against. */
export type Answering = Client | { readonly session_id: string }

interface Place {
  /** What this one's guesses are counted by. */
  own: store.GuessSource
  /** A device that has signed in as this person, or a session of theirs, is none: what strangers do does not keep it out. */
  stranger: boolean
}

const tellJob = defineJob({
  name: 'ums.attack.tell',
  input: z.object({ user_id: z.uuid(), channel: z.enum(['email', 'sms']), address: z.string() }),
  concurrency: 2,
  retries: 5,
})

export type Guesses = ReturnType<typeof createGuesses>

/**
 * Compares passwords, and freezes whoever guesses at one: an address for this one person, a known device by itself.
 * So nobody can keep somebody out of where they have signed in before.
 */
export function createGuesses(
  { db, now, jobs, log }: Pick<Platform, 'db' | 'now' | 'jobs' | 'log'>,
  { delivery, tell }: { delivery: ReturnType<typeof createDelivery>; tell: Tell },
) {
  /**
   * Passwords of one user are compared one by one: of fifty guesses that come at once, five are
   * compared and the others find the user frozen. (With several servers each may compare one more.)
   */
  const oneAtATime = createOneAtATime()
  /** What is counted stays counted, whatever comes of what somebody proves themselves for. */
  const comparing = <T>(whose: string, act: () => Promise<T>): Promise<T> => unrecorded(() => oneAtATime(whose, act))
  /** Unknown logins freeze too, or a freeze would tell who exists. The most recent ones are enough. */
  const unknown = new LRUCache<string, { wrong: number; since: number; frozenUntil: number }>({ max: 10_000 })

  const placeOf = async (userId: string, from: Answering): Promise<Place> => {
    if ('session_id' in from) return { own: `session ${from.session_id}`, stranger: false }
    const own = await store.sourceOf(db, userId, from)
    return { own, stranger: own.startsWith('address ') }
  }
  const heldAgainst = ({ own, stranger }: Place): readonly store.GuessSource[] => (stranger ? [own, 'strangers', 'codes'] : [own])
  const frozen = (userId: string, place: Place): Promise<boolean> => store.isFrozen(db, userId, heldAgainst(place), now())

  const count = (userId: string, source: store.GuessSource, limit: number, withinMs: number): Promise<boolean> => {
    const at = now().getTime()
    return store.countWrong(db, { userId, source, limit }, { now: now(), since: new Date(at - withinMs), frozenUntil: new Date(at + constants.freezeMs) })
  }
  /** Of a stranger's wrong codes there are few, wherever they come from: whoever is asked for one knows the password. */
  const countWrong = async (userId: string, { own, stranger }: Place, of: 'password' | 'code'): Promise<void> => {
    if (stranger && of === 'code') return void (await count(userId, 'codes', wrongPasswordsMax, dayMs))
    const one = await count(userId, own, wrongPasswordsMax, dayMs)
    if (!stranger) return
    const all = await count(userId, 'strangers', strangersMax, constants.freezeMs)
    if (all || (one && (await store.frozenAddresses(db, userId, new Date(now().getTime() - attackMs))) >= attackedFrom)) await attacked(userId)
  }

  /**
   * Administrators hear of it by mail and SMS, theirs and the platform's within the console, and it stands in the audit log
   * and on the person's page.
   */
  const attacked = (userId: string): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const at = now()
      if (!(await store.recordAttack(tx, userId, at, new Date(at.getTime() - toldMs)))) return
      const user = await findById(tx, userId)
      if (user === undefined) return
      const name = user.name ?? ''
      for (const bp_id of new Set([null, user.bp_id]))
        await tell(tx, {
          kind: 'ums.attacked',
          bp_id,
          text: messageTexts.attacked(name),
          about: { kind: 'ums.user', id: userId, name },
          key: `${userId} ${at.toISOString()}`,
        })
      log.warn({ user: userId }, 'the password of a user is guessed at from many addresses')
      await createAudit(tx)({
        call: auth.password.id,
        actor: null,
        bp_id: user.bp_id,
        object_id: userId,
        request_id: randomUUID(),
        ip: '',
        code: errors.userFrozen.code,
      })
      for (const { email, phone } of await store.platformAdministrators(tx)) {
        if (email !== null) await jobs.send(tx, tellJob, { user_id: userId, channel: 'email', address: email })
        if (phone !== null) await jobs.send(tx, tellJob, { user_id: userId, channel: 'sms', address: phone })
      }
    })

  const countUnknown = (key: string, limit: number, withinMs: number): boolean => {
    const at = now().getTime()
    const known = unknown.get(key)
    const wrong = known === undefined || known.frozenUntil > 0 || known.since < at - withinMs ? 1 : known.wrong + 1
    unknown.set(key, { wrong, since: wrong === 1 ? at : (known?.since ?? at), frozenUntil: wrong >= limit ? at + constants.freezeMs : 0 })
    return wrong >= limit
  }

  return {
    jobs: [tellJob],
    jobHandlers: [
      handleJob(tellJob, async ({ user_id, channel, address }) => {
        const user = await findById(db, user_id)
        // Nothing is configured to send with.
        if (user === undefined || delivery[channel] === null) return
        await delivery[channel]({
          channel,
          address,
          purpose: 'ums-attacked',
          text: messageTexts.signed(messageTexts.attacked(user.name ?? '')),
          subject: messageTexts.attackedSubject,
        })
      }),
    ],

    /**
     * @throws Refusal 1136 during a freeze, even for the right password, and for the wrong one that begins it
     * @param second asked once the password is right: what it answers is a wrong guess too, what it throws is none
     * @throws the given refusal for other wrong ones
     */
    check: (
      userId: string,
      password: string,
      from: Answering,
      wrong: Refusal,
      second: (user: UserRow) => Promise<Refusal | null> = async () => null,
    ): Promise<UserRow> =>
      comparing(userId, async () => {
        const user = await findById(db, userId)
        if (user !== undefined) noted({ tried: { user_id: user.id, name: user.name ?? '', bp_id: user.bp_id } })
        const place = await placeOf(userId, from)
        if (user === undefined) throw wrong
        if (await frozen(userId, place)) throw new Refusal('userFrozen')
        const right = await verifyPassword(user.password_hash, password)
        const refusal = right ? await second(user) : wrong
        if (refusal !== null) await countWrong(userId, place, right ? 'code' : 'password')
        // Guesses on another server may have frozen them meanwhile.
        const after = await findById(db, userId)
        if (after === undefined) throw wrong
        if (await frozen(userId, place)) throw new Refusal('userFrozen')
        if (refusal !== null) throw refusal
        if ('session_id' in from) await store.forgetGuesses(db, userId, [place.own])
        return after
      }),

    /** Without a password, for who proved in another way who they are. @throws Refusal 1136, and what `second` says */
    checkSecond: (userId: string, from: Answering, second: (user: Pick<UserRow, 'id'>) => Promise<Refusal | null>): Promise<void> =>
      comparing(userId, async () => {
        const user = await findById(db, userId)
        if (user !== undefined) noted({ tried: { user_id: user.id, name: user.name ?? '', bp_id: user.bp_id } })
        const { own, stranger } = await placeOf(userId, from)
        const sources: readonly store.GuessSource[] = stranger ? ['codes'] : [own]
        if (await store.isFrozen(db, userId, sources, now())) throw new Refusal('userFrozen')
        const refusal = await second({ id: userId })
        if (refusal === null) return
        await countWrong(userId, { own, stranger }, 'code')
        throw (await store.isFrozen(db, userId, sources, now())) ? new Refusal('userFrozen') : refusal
      }),

    /** The same for a login that nobody has: as slow, and never right. */
    checkUnknown: (login: string, password: string, from: Client, wrong: Refusal): Promise<never> =>
      comparing(login.toLowerCase(), async () => {
        await findById(db, nobody)
        const place = await placeOf(nobody, from)
        const [own, all] = [`${login.toLowerCase()} ${place.own}`, login.toLowerCase()]
        await frozen(nobody, place)
        if ([own, all].some((key) => (unknown.get(key)?.frozenUntil ?? 0) > now().getTime())) throw new Refusal('userFrozen')
        await verifyPassword(null, password)
        await countWrong(nobody, place, 'password')
        await findById(db, nobody)
        await frozen(nobody, place)
        const freezes = [countUnknown(own, wrongPasswordsMax, dayMs), countUnknown(all, strangersMax, constants.freezeMs)].includes(true)
        throw freezes ? new Refusal('userFrozen') : wrong
      }),

    /**
     * Somebody is in: their wrong answers before are forgotten, and by something else than a password all of them.
     * @returns the cookie by which their device is known from now on
     */
    async signedIn(tx: Tx, userId: string, client: Client, by: string): Promise<string> {
      const own = await store.sourceOf(tx, userId, client)
      await store.forgetGuesses(tx, userId, by !== 'password' ? undefined : own.startsWith('address ') ? [own, 'codes'] : [own])
      const device = client.device ?? newAccessToken()
      await store.knowDevice(tx, userId, device, now())
      return device
    },

    clean: (): Promise<void> => store.deleteOldGuesses(db, new Date(now().getTime() - dayMs), new Date(now().getTime() - deviceMs)),
  }
}
