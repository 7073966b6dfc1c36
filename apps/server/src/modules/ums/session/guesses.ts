import { constants } from '@zhisuan/contract/constants'
import { LRUCache } from 'lru-cache'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { countWrongPassword, findById, type UserRow } from '../user/user.store.ts'
import { createOneAtATime } from '../../../platform/oneAtATime.ts'
import { verifyPassword } from './password.ts'

const wrongPasswordsMax = 5
/** A user that never is: an unknown login takes the same steps as a known one, so that its time tells nothing. */
const nobody = '00000000-0000-0000-0000-000000000000'

export type Guesses = ReturnType<typeof createGuesses>

/** Compares passwords, and freezes whose password is guessed at. */
export function createGuesses({ db, now }: Pick<Platform, 'db' | 'now'>) {
  /**
   * Passwords of one user are compared one by one: of fifty guesses that come at once, five are
   * compared and the others find the user frozen. (With several servers each may compare one more.)
   */
  const oneAtATime = createOneAtATime()
  /** Unknown logins freeze too, or a freeze would tell who exists. The most recent ones are enough. */
  const unknown = new LRUCache<string, { wrong: number; frozenUntil: number }>({ max: 10_000 })

  const isFrozen = (user: Pick<UserRow, 'frozen_until'>): boolean => user.frozen_until !== null && user.frozen_until > now()

  return {
    /**
     * @throws Refusal 1136 during a freeze, even for the right password, and for the wrong one that begins it
     * @param second asked once the password is right: what it answers is a wrong guess too, what it throws is none
     * @throws the given refusal for other wrong ones
     */
    check: (userId: string, password: string, wrong: Refusal, second: (user: UserRow) => Promise<Refusal | null> = async () => null): Promise<UserRow> =>
      oneAtATime(userId, async () => {
        const user = await findById(db, userId)
        if (user === undefined) throw wrong
        if (isFrozen(user)) throw new Refusal('userFrozen')
        const refusal = (await verifyPassword(user.password_hash, password)) ? await second(user) : wrong
        if (refusal !== null) await countWrongPassword(db, userId, wrongPasswordsMax, now(), new Date(now().getTime() + constants.freezeMs))
        // Guesses on another server may have frozen them meanwhile.
        const after = await findById(db, userId)
        if (after === undefined) throw wrong
        if (isFrozen(after)) throw new Refusal('userFrozen')
        if (refusal !== null) throw refusal
        return after
      }),

    /** Without a password, for who proved in another way who they are. @throws Refusal 1136, and what `second` says */
    checkSecond: (userId: string, second: (user: Pick<UserRow, 'id'>) => Promise<Refusal | null>): Promise<void> =>
      oneAtATime(userId, async () => {
        const user = await findById(db, userId)
        if (user !== undefined && isFrozen(user)) throw new Refusal('userFrozen')
        const refusal = await second({ id: userId })
        if (refusal === null) return
        await countWrongPassword(db, userId, wrongPasswordsMax, now(), new Date(now().getTime() + constants.freezeMs))
        const after = await findById(db, userId)
        throw after !== undefined && isFrozen(after) ? new Refusal('userFrozen') : refusal
      }),

    /** The same for a login that nobody has: as slow, and never right. */
    checkUnknown: (login: string, password: string, wrong: Refusal): Promise<never> =>
      oneAtATime(login.toLowerCase(), async () => {
        const key = login.toLowerCase()
        const known = unknown.get(key) ?? { wrong: 0, frozenUntil: 0 }
        await findById(db, nobody)
        if (known.frozenUntil > now().getTime()) throw new Refusal('userFrozen')
        await verifyPassword(null, password)
        await countWrongPassword(db, nobody, wrongPasswordsMax, now(), now())
        await findById(db, nobody)
        const freezes = known.wrong + 1 >= wrongPasswordsMax
        unknown.set(key, freezes ? { wrong: 0, frozenUntil: now().getTime() + constants.freezeMs } : { wrong: known.wrong + 1, frozenUntil: 0 })
        throw freezes ? new Refusal('userFrozen') : wrong
      }),
  }
}
