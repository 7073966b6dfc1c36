import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { auth } from '@zhisuan/contract/ums/auth'
import type { User, users as calls } from '@zhisuan/contract/ums/user'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { noted } from '../../../platform/db/recording.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { DecisionService } from '../../iam/decision/decision.service.ts'
import type { Limits } from '../../iam/rules/limits.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import { insertOrganisation, insertProjectMember } from '../organisation/organisation.store.ts'
import type { SecondFactors } from '../second-factor/second-factor.service.ts'
import type { Client, Guesses } from '../session/guesses.ts'
import { forgetDevices, forgetGuesses } from '../session/guesses.store.ts'
import { hashPassword, makeOneTimePassword, verifyPassword } from '../session/password.ts'
import type { SessionService, Tokens } from '../session/session.service.ts'
import type { VerificationService } from '../verification/verification.service.ts'
import type { KeepService } from './keep.service.ts'
import { blankUser, readsAsAddress, userTaken } from './user.rules.ts'
import * as store from './user.store.ts'

type Calls = typeof calls

/** Unknown phones are sent no codes, so nobody means one who was deleted or changed their phone meanwhile. */
function codeHolder(user: store.UserRow | undefined): store.UserRow {
  if (user === undefined) throw new Refusal('verificationCodeInvalid', { field: 'code' })
  return user
}

export type UserService = ReturnType<typeof createUserService>

export function createUserService(
  platform: Platform,
  parts: {
    sessions: SessionService
    guesses: Guesses
    verification: VerificationService
    settings: Settings
    keep: Pick<KeepService, 'lock'>
    secondFactors: Pick<SecondFactors, 'prove' | 'has'>
    organisationMade: (tx: Tx, bpId: string) => Promise<void>
    personDeleted: (tx: Tx, userId: string) => Promise<void>
    limits: Pick<Limits, 'refuseLastKeeper'>
    refused: DecisionService['refused']
  },
) {
  const { db, now } = platform
  const { sessions, guesses, verification, settings } = parts

  /** Whoever changes how they sign in proves once more who they are. @throws Refusal 1120, 1136 */
  const provePassword = (actor: Actor, password: string, field: string) =>
    guesses.check(actor.user_id, password, actor, new Refusal('oldPasswordInvalid', { field }))

  const registerMode = async (): Promise<'open' | 'approval'> => {
    const mode = await settings.get('register_mode')
    if (mode === 'closed') throw new Refusal('registrationClosed')
    return mode
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => store.listUsers(db, scopeOf(actor), query),

    async current(actor: Actor): Promise<ResponseOf<Calls['current']>> {
      const [user, refused, ...offers] = await Promise.all([
        store.getUser(db, actor.user_id),
        parts.refused(actor),
        ...platform.modules().map(async (module) => (await module.offers?.(db, scopeOf(actor))) ?? []),
      ])
      return { ...found(user), must_change_password: actor.must_change_password, offers: offers.flat(), refused: [...refused] }
    },

    async updateCurrent(actor: Actor, body: BodyOf<Calls['updateCurrent']>): Promise<User> {
      await store.updateUser(db, actor.user_id, body)
      return found(await store.getUser(db, actor.user_id))
    },

    async changePassword(actor: Actor, body: BodyOf<Calls['changePassword']>): Promise<void> {
      const user = await provePassword(actor, body.old_password, 'old_password')
      if (await verifyPassword(user.password_hash, body.password)) throw new Refusal('passwordUnchanged', { field: 'password' })
      const password_hash = await hashPassword(body.password)
      const ended = await db.transaction().execute(async (tx) => {
        await store.updateUser(tx, actor.user_id, { password_hash, must_change_password: false })
        return sessions.endAll(tx, actor.user_id, actor.session_id)
      })
      sessions.forgotten(actor.user_id, ended)
    },

    async changePhone(actor: Actor, body: BodyOf<Calls['changePhone']>): Promise<void> {
      await provePassword(actor, body.password, 'password')
      const code = await verification.check('patch-phone', body.phone, body.code, actor.user_id)
      await changeAddress(actor, code, { phone: body.phone })
    },

    async changeEmail(actor: Actor, body: BodyOf<Calls['changeEmail']>): Promise<void> {
      await provePassword(actor, body.password, 'password')
      const code = await verification.check('patch-email', body.email, body.code, actor.user_id)
      await changeAddress(actor, code, { email: body.email })
    },

    /** @throws Refusal 1121, and what sign-in throws */
    async signInBySms(body: BodyOf<(typeof auth)['sms']>, client: Client): Promise<Tokens> {
      const code = await verification.check('auth', body.phone, body.code)
      const known = await store.findByPhone(db, body.phone)
      if (known !== undefined) noted({ tried: { user_id: known.id, name: known.name ?? '', bp_id: known.bp_id } })
      // A freeze by wrong passwords is ended by who has the phone; one by wrong codes of a second factor is not.
      if (known !== undefined && (await parts.secondFactors.has(db, known.id))) await guesses.checkSecond(known.id, client, parts.secondFactors.prove(body.otp))
      return db.transaction().execute(async (tx) => {
        await verification.spend(tx, code)
        const user = codeHolder(await store.findByPhone(tx, body.phone))
        // Another has the phone now, whose second factor nobody proved.
        if (user.id !== known?.id) throw new Refusal('verificationCodeInvalid', { field: 'code' })
        return sessions.signInAs(tx, user, client, { by: 'sms', second: false })
      })
    },

    /** Ends a freeze too: whoever has the phone is not guessing. */
    async retrievePassword(body: BodyOf<(typeof auth)['retrievePassword']>): Promise<void> {
      const code = await verification.check('auth', body.phone, body.code)
      const password_hash = await hashPassword(body.password)
      const { id, ended } = await db.transaction().execute(async (tx) => {
        await verification.spend(tx, code)
        const user = codeHolder(await store.findByPhone(tx, body.phone))
        noted({ tried: { user_id: user.id, name: user.name ?? '', bp_id: user.bp_id } })
        await store.updateUser(tx, user.id, { password_hash, must_change_password: false })
        await forgetGuesses(tx, user.id)
        await forgetDevices(tx, user.id)
        return { id: user.id, ended: await sessions.endAll(tx, user.id, null) }
      })
      sessions.forgotten(id, ended)
    },

    /** Before a code is sent for it. @throws Refusal 1184, 91003 */
    async refuseUnlessRegistrable(phone: string): Promise<void> {
      await registerMode()
      if ((await store.findByPhone(db, phone)) !== undefined) throw new Refusal('phoneTaken', { field: 'phone' })
    },

    /**
     * With a company's name: its first administrator. Without: a person with an organisation of their own.
     * @throws Refusal 1111, 1121, 1184, 91002, 91003, 91013
     */
    async register(body: BodyOf<(typeof auth)['register']>): Promise<{ id: string; status: 'active' | 'pending' }> {
      const status = (await registerMode()) === 'approval' ? 'pending' : 'active'
      if (readsAsAddress(body.username)) throw new Refusal('usernameInvalid', { field: 'username' })
      const code = await verification.check('registration', body.phone, body.code)
      const password_hash = await hashPassword(body.password)
      const [id, bp_id] = [uuidv7(), uuidv7()]
      const company = body.organisation !== undefined
      await refusing(userTaken, () =>
        db.transaction().execute(async (tx) => {
          await verification.spend(tx, code)
          noted({ tried: { user_id: id, name: body.username, bp_id } })
          const { projectId } = await insertOrganisation(tx, {
            id: bp_id,
            name: body.organisation ?? body.username,
            kind: company ? 'company' : 'personal',
            status: 'active',
          })
          await parts.organisationMade(tx, bp_id)
          await store.insertUser(tx, { ...blankUser, id, name: body.username, kind: company ? 2 : 3, status, bp_id, phone: body.phone, password_hash }, [
            company ? 'TENANT_ADMIN' : 'TENANT',
          ])
          await insertProjectMember(tx, projectId, id)
        }),
      )
      return { id, status }
    },

    /**
     * What they made stays with their organisation, but for what was theirs alone, such as their personal space; and their entries in the audit log stay theirs.
     * @throws Refusal 91007, 91008, 91117
     */
    async remove(actor: Actor, id: string): Promise<void> {
      if (id === actor.user_id) throw new Refusal('userSelfDelete')
      const ended = await db.transaction().execute(async (tx) => {
        // One at a time, so that two administrators cannot delete each other.
        await store.lockAdministrators(tx)
        const user = await parts.keep.lock(tx, actor, id)
        if (user.kind <= 1 && (await store.countOtherAdministrators(tx, id)) === 0) throw new Refusal('lastAdministrator')
        await parts.limits.refuseLastKeeper(tx, actor, id)
        await store.markDeleted(tx, user, now())
        await parts.personDeleted(tx, id)
        return sessions.endAll(tx, id, null)
      })
      sessions.forgotten(id, ended)
    },

    isKnownPhone: async (phone: string): Promise<boolean> => (await store.findByPhone(db, phone)) !== undefined,
    isKnownEmail: async (email: string): Promise<boolean> => (await store.findByEmail(db, email)) !== undefined,

    /** The first administrator, at the first start; their one-time password, or null if there was one already. */
    async seed(): Promise<string | null> {
      if (await store.anyUserEver(db)) return null
      const password = makeOneTimePassword()
      const password_hash = await hashPassword(password)
      return db.transaction().execute(async (tx) => {
        // Of servers that start at once, one makes them.
        await store.lockAdministrators(tx)
        if (await store.anyUserEver(tx)) return null
        await store.insertUser(
          tx,
          { ...blankUser, id: uuidv7(), name: 'admin', kind: 0, status: 'active', bp_id: null, phone: null, password_hash, must_change_password: true },
          ['ADMIN'],
        )
        return password
      })
    },
  }

  async function changeAddress(actor: Actor, code: Parameters<VerificationService['spend']>[1], changes: { phone: string } | { email: string }): Promise<void> {
    await refusing(userTaken, () =>
      db.transaction().execute(async (tx) => {
        await verification.spend(tx, code)
        await store.updateUser(tx, actor.user_id, changes)
      }),
    )
  }
}
