import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { auth } from '@zhisuan/contract/ums/auth'
import type { User, users as calls } from '@zhisuan/contract/ums/user'
import { sql } from 'kysely'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { isUniqueViolation, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Settings } from '../../sys/settings.ts'
import { hashPassword, makeOneTimePassword, verifyPassword } from '../session/password.ts'
import type { SessionService, Tokens } from '../session/session.service.ts'
import type { VerificationService } from '../verification/verification.service.ts'
import * as store from './user.store.ts'

type Calls = typeof calls
type Client = { ip: string; userAgent: string }

export type UserService = ReturnType<typeof createUserService>

export function createUserService(
  platform: Platform,
  parts: { sessions: SessionService; verification: VerificationService; settings: Settings; openAccount: (tx: Tx, ownerId: string) => Promise<void> },
) {
  const { db } = platform
  const { sessions, verification, settings } = parts

  const explainUnique = (error: unknown): unknown => {
    if (isUniqueViolation(error, 'users_name')) return new Refusal('usernameTaken', { field: 'username', cause: error })
    if (isUniqueViolation(error, 'users_phone')) return new Refusal('phoneTaken', { field: 'phone', cause: error })
    if (isUniqueViolation(error, 'users_email')) return new Refusal('emailTaken', { field: 'email', cause: error })
    return error
  }
  const own = async (actor: Actor) => found(await store.findById(db, actor.user_id))

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => store.listUsers(db, scopeOf(actor), query),

    async current(actor: Actor): Promise<User & { must_change_password: boolean }> {
      return { ...found(await store.getUser(db, actor.user_id)), must_change_password: actor.must_change_password }
    },

    async updateCurrent(actor: Actor, body: BodyOf<Calls['updateCurrent']>): Promise<User> {
      await store.updateUser(db, actor.user_id, body)
      return found(await store.getUser(db, actor.user_id))
    },

    async changePassword(actor: Actor, body: BodyOf<Calls['changePassword']>): Promise<void> {
      const user = await sessions.checkPassword(await own(actor), body.old_password, 'oldPasswordInvalid')
      if (await verifyPassword(user.password_hash, body.password)) throw new Refusal('passwordUnchanged', { field: 'password' })
      const password_hash = await hashPassword(body.password)
      await db.transaction().execute(async (tx) => {
        await store.updateUser(tx, actor.user_id, { password_hash, must_change_password: false })
        await sessions.endAll(tx, actor.user_id, actor.session_id)
      })
      sessions.forgetUser(actor.user_id)
    },

    async changePhone(actor: Actor, body: BodyOf<Calls['changePhone']>): Promise<void> {
      await sessions.checkPassword(await own(actor), body.password, 'oldPasswordInvalid')
      try {
        await db.transaction().execute(async (tx) => {
          await verification.use(tx, 'patch-phone', body.phone, body.code)
          await store.updateUser(tx, actor.user_id, { phone: body.phone })
        })
      } catch (error) {
        throw explainUnique(error)
      }
    },

    async changeEmail(actor: Actor, body: BodyOf<Calls['changeEmail']>): Promise<void> {
      await sessions.checkPassword(await own(actor), body.password, 'oldPasswordInvalid')
      try {
        await db.transaction().execute(async (tx) => {
          await verification.use(tx, 'patch-email', body.email, body.code)
          await store.updateUser(tx, actor.user_id, { email: body.email })
        })
      } catch (error) {
        throw explainUnique(error)
      }
    },

    async signInBySms(body: BodyOf<(typeof auth)['sms']>, client: Client): Promise<Tokens> {
      return db.transaction().execute(async (tx) => {
        await verification.use(tx, 'auth', body.phone, body.code)
        const user = await store.findByPhone(tx, body.phone)
        // Codes are silently not sent to unknown phones, so this is one deleted meanwhile.
        if (user === undefined) throw new Refusal('verificationCodeInvalid', { field: 'code' })
        return sessions.signInAs(tx, user, client)
      })
    },

    async retrievePassword(body: BodyOf<(typeof auth)['retrievePassword']>): Promise<void> {
      const password_hash = await hashPassword(body.password)
      const id = await db.transaction().execute(async (tx) => {
        await verification.use(tx, 'auth', body.phone, body.code)
        const user = await store.findByPhone(tx, body.phone)
        if (user === undefined) throw new Refusal('verificationCodeInvalid', { field: 'code' })
        await store.updateUser(tx, user.id, { password_hash, must_change_password: false, wrong_passwords: 0, frozen_until: null })
        await sessions.endAll(tx, user.id, null)
        return user.id
      })
      sessions.forgetUser(id)
    },

    /** With a company's name: its first administrator. Without: a person with an organisation of his own. */
    async register(body: BodyOf<(typeof auth)['register']>): Promise<{ id: string; status: 'active' | 'pending' }> {
      const mode = await settings.get('register_mode')
      if (mode === 'closed') throw new Refusal('registrationClosed')
      const status = mode === 'approval' ? 'pending' : 'active'
      const password_hash = await hashPassword(body.password)
      const [id, organisationId] = [uuidv7(), uuidv7()]
      const company = body.organisation !== undefined
      try {
        await db.transaction().execute(async (tx) => {
          await verification.use(tx, 'registration', body.phone, body.code)
          await tx
            .insertInto('organisations')
            .values({ id: organisationId, name: body.organisation ?? body.username, kind: company ? 'company' : 'personal', status: 'active' })
            .execute()
          await tx.insertInto('projects').values({ id: uuidv7(), key: 'default', name: 'default', bp_id: organisationId }).execute()
          await parts.openAccount(tx, organisationId)
          await store.insertUser(
            tx,
            {
              ...blank,
              id,
              name: body.username,
              kind: company ? 2 : 3,
              status,
              bp_id: organisationId,
              phone: body.phone,
              password_hash,
            },
            [company ? 'TENANT_ADMIN' : 'TENANT'],
          )
        })
      } catch (error) {
        if (isUniqueViolation(error, 'organisations_name_key')) {
          throw company
            ? new Refusal('organisationNameTaken', { field: 'organisation', cause: error })
            : new Refusal('usernameTaken', { field: 'username', cause: error })
        }
        throw explainUnique(error)
      }
      return { id, status }
    },

    /** What he made stays with his organisation; name, phone and email are free again. */
    async remove(actor: Actor, id: string): Promise<void> {
      if (id === actor.user_id) throw new Refusal('userSelfDelete')
      await db.transaction().execute(async (tx) => {
        // One at a time, so that two administrators cannot delete each other.
        await sql`select pg_advisory_xact_lock(7140803)`.execute(tx)
        const user = found(await store.findById(tx, id))
        if (user.kind <= 1) {
          const { others } = await tx
            .selectFrom('users')
            .select(sql<number>`count(*)`.as('others'))
            .where('kind', '<=', 1)
            .where('status', '=', 'active')
            .where('deleted_at', 'is', null)
            .where('id', '<>', id)
            .executeTakeFirstOrThrow()
          if (others === 0) throw new Refusal('lastAdministrator')
        }
        await store.updateUser(tx, id, { deleted_at: platform.now(), former_name: user.name, name: null, phone: null, email: null, password_hash: '' })
        await sessions.endAll(tx, id, null)
      })
      sessions.forgetUser(id)
    },

    isKnownPhone: async (phone: string): Promise<boolean> => (await store.findByPhone(db, phone)) !== undefined,

    /** The first administrator, at the first start; his one-time password, or null if there was one already. */
    async seed(): Promise<string | null> {
      const password = makeOneTimePassword()
      const password_hash = await hashPassword(password)
      return db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(7140803)`.execute(tx)
        const anybody = await tx.selectFrom('users').select('id').limit(1).executeTakeFirst()
        if (anybody !== undefined) return null
        await store.insertUser(
          tx,
          { ...blank, id: uuidv7(), name: 'admin', kind: 0, status: 'active', bp_id: null, phone: null, password_hash, must_change_password: true },
          ['ADMIN'],
        )
        return password
      })
    },
  }
}

const blank = {
  former_name: null,
  nickname: '',
  description: '',
  email: null,
  must_change_password: false,
  wrong_passwords: 0,
  frozen_until: null,
  last_login_at: null,
  deleted_at: null,
}
