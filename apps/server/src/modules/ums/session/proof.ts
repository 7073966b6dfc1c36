import { Refusal } from '../../../platform/errors.ts'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { SecondFactors } from '../second-factor/second-factor.service.ts'
import type { Guesses } from './guesses.ts'

/** Somebody who has just signed in need not say once more who they are. */
const freshMs = 10 * 60_000
/** What a person signs in with themselves; a key of a program proves nobody. */
const bySigningIn: readonly string[] = ['password', 'sms', 'passkey', 'oidc']

export type Proof = ReturnType<typeof createProof>

/** Asked of whoever changes their ways to sign in: a session that somebody else got hold of must not become a way in that stays. */
export const createProof =
  ({ db, now }: Pick<Platform, 'db' | 'now'>, { guesses, secondFactors }: { guesses: Guesses; secondFactors: Pick<SecondFactors, 'has'> }) =>
  /** @throws Refusal 1120, 1136, 91001, 91125 */
  async (actor: Actor, password: string | undefined): Promise<void> => {
    if (actor.must_change_password) throw new Refusal('initialPasswordUnchanged')
    if (!bySigningIn.includes(actor.authenticated_by)) throw new Refusal('noPermission')
    // A session that is older than their second factor has never proved it.
    if (actor.second_factor_at === null && (await secondFactors.has(db, actor.user_id))) throw new Refusal('proofRequired')
    if (password !== undefined) await guesses.check(actor.user_id, password, actor, new Refusal('oldPasswordInvalid', { field: 'password' }))
    else if (now().getTime() - actor.session_since.getTime() > freshMs) throw new Refusal('proofRequired', { field: 'password' })
  }
