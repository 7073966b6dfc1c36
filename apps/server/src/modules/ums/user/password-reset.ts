import { randomUUID } from 'node:crypto'
import { createAudit } from '../../../platform/audit.ts'
import type { Db } from '../../../platform/db/database.ts'
import { forgetDevices, forgetGuesses } from '../session/guesses.store.ts'
import { hashPassword, makeOneTimePassword } from '../session/password.ts'
import type { SessionService } from '../session/session.service.ts'
import { findByLogin, updateUser, type UserRow } from './user.store.ts'

export interface ResetPassword {
  /** Good until the first sign-in, which has to change it. */
  password: string
  user: Pick<UserRow, 'name' | 'status'>
  /** How many of their sessions were ended. */
  sessions: number
}

/**
 * For one who lost their password and cannot be sent a code: whoever may read the database vouches
 * for them, see `scripts/reset-password`. Ends a freeze too.
 * @param login name, phone or email
 * @returns null where nobody signs in so
 */
export async function resetPassword(db: Db, sessions: Pick<SessionService, 'endAll'>, login: string): Promise<ResetPassword | null> {
  const password = makeOneTimePassword()
  const password_hash = await hashPassword(password)
  return db.transaction().execute(async (tx) => {
    const user = await findByLogin(tx, login)
    if (user === undefined) return null
    await updateUser(tx, user.id, { password_hash, must_change_password: true })
    await forgetGuesses(tx, user.id)
    await forgetDevices(tx, user.id)
    const ended = await sessions.endAll(tx, user.id, null)
    await createAudit(tx)({
      call: 'ums.user.resetPassword',
      actor: null,
      bp_id: user.bp_id,
      object_id: user.id,
      request_id: randomUUID(),
      ip: 'localhost',
      code: 0,
    })
    return { password, user, sessions: ended.length }
  })
}
