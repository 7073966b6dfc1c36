import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind, type Role } from '@zhisuan/contract/roles'
import type { Session, User, users as calls } from '@zhisuan/contract/ums/user'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../../iam/rules/limits.ts'
import { insertProjectMember } from '../organisation/organisation.store.ts'
import { toldMs } from '../session/guesses.ts'
import { attackOf, forgetDevices, forgetGuesses, lastFreeze } from '../session/guesses.store.ts'
import { hashPassword, makeOneTimePassword } from '../session/password.ts'
import type { SessionService } from '../session/session.service.ts'
import type { SecondFactors } from '../second-factor/second-factor.service.ts'
import { deleteSessionOf } from '../session/session.store.ts'
import * as keep from './keep.store.ts'
import { blankUser, readsAsAddress, userTaken } from './user.rules.ts'
import * as store from './user.store.ts'

type Calls = typeof calls

/** What goes with a kind where nothing is said. */
const rolesOfKind: Readonly<Record<1 | 2 | 4, readonly Role[]>> = { 1: ['ADMIN'], 2: ['TENANT_ADMIN'], 4: ['TENANT'] }
/** Whoever has only these belongs to no organisation of tenants. */
const withoutOrganisation: readonly Role[] = ['OPERATION_SUPPORTER', 'PROVIDER', 'COPOTE_NORMAL', 'COPOTE_REVIEWER', 'COPOTE_ADMIN']

export type KeepService = ReturnType<typeof createKeepService>

/** Users as others keep them: administrators everybody, a tenant's administrators their organisation's. */
export function createKeepService(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  {
    sessions,
    limits,
    secondFactors,
    resetPasskeys,
  }: {
    sessions: SessionService
    limits: Limits
    secondFactors: Pick<SecondFactors, 'has' | 'reset'>
    resetPasskeys: (tx: Tx, userId: string) => Promise<void>
  },
) {
  const get = async (id: string): Promise<User> => found(await store.getUser(db, id))

  /** Who set the platform up is kept only by their like. @throws Refusal 404, 3000 */
  const lock = async (tx: Tx, actor: Actor, id: string): Promise<store.UserRow> => {
    const user = found(await keep.lockKept(tx, scopeOf(actor), id))
    if (user.kind === 0 && actor.kind !== 0) throw new Refusal('noPermission')
    return user
  }

  const refuseLastAdministrator = async (tx: Tx, user: store.UserRow): Promise<void> => {
    if (!isPlatformKind(user.kind) || user.status !== 'active') return
    if ((await store.countOtherAdministrators(tx, user.id)) === 0) throw new Refusal('lastAdministrator')
  }

  const refuseUnkept = async (actor: Actor, id: string): Promise<void> => {
    if (!(await keep.isKept(db, scopeOf(actor), id))) throw new Refusal('notFound')
  }
  const list = async (userId: string, current: string): Promise<{ total: number; items: Session[] }> => {
    const items = (await keep.sessionsOf(db, userId, now())).map((row) => ({
      id: row.id,
      ip: row.ip,
      user_agent: row.user_agent,
      created_at: iso(row.created_at),
      renewed_at: iso(row.rotated_at),
      expires_at: iso(row.expires_at),
      current: row.id === current,
    }))
    return { total: items.length, items }
  }
  const end = async (userId: string, sessionId: string): Promise<void> => {
    found((await deleteSessionOf(db, userId, sessionId)) ? sessionId : undefined)
    await sessions.end(sessionId)
  }

  return {
    async get(actor: Actor, id: string): Promise<ResponseOf<Calls['get']>> {
      await refuseUnkept(actor, id)
      const row = found(await store.findById(db, id))
      return {
        ...(await get(id)),
        frozen_until: isoOrNull(await lastFreeze(db, id, now())),
        attacked_at: isoOrNull(await attackOf(db, id, new Date(now().getTime() - toldMs))),
        must_change_password: row.must_change_password,
        second_factor: await secondFactors.has(db, id),
        ...(await keep.belongings(db, id)),
      }
    },

    /** @throws Refusal 1111, 91002, 91003, 91004, 91014, 91106, 91107, 91113 */
    async create(actor: Actor, { username, kind, ...body }: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      if (readsAsAddress(username)) throw new Refusal('usernameInvalid', { field: 'username' })
      // Who works in an organisation has what they were given, and not besides all that its people may.
      const roles = body.roles ?? (kind === 4 && body.role_ids.length > 0 ? [] : rolesOfKind[kind])
      const bp_id = limits.ownerOf(actor, body.bp_id)
      if (kind === 1 && !isPlatformKind(actor.kind)) throw new Refusal('roleBaseForbidden', { field: 'kind' })
      const needsNone = kind === 1 || (kind === 4 && body.role_ids.length === 0 && roles.every((role) => withoutOrganisation.includes(role)))
      if ((kind === 1 && (bp_id !== null || body.role_ids.length > 0)) || (bp_id === null && !needsNone) || (kind !== 1 && roles.includes('ADMIN')))
        throw new Refusal('userKindMismatch', { field: kind !== 1 && roles.includes('ADMIN') ? 'roles' : 'bp_id' })
      const password = makeOneTimePassword()
      const password_hash = await hashPassword(password)
      const id = uuidv7()
      await refusing(userTaken, () =>
        db.transaction().execute(async (tx) => {
          await limits.refuseUnknownOrganisation(tx, bp_id)
          const project = bp_id === null ? undefined : await keep.defaultProject(tx, bp_id)
          await limits.refuseToWelcome(tx, actor, { roles, role_ids: body.role_ids, bp_id, project })
          await store.insertUser(
            tx,
            {
              ...blankUser,
              id,
              name: username,
              nickname: body.nickname,
              description: body.description,
              kind,
              status: 'active',
              bp_id,
              phone: body.phone,
              email: body.email,
              password_hash,
              must_change_password: true,
            },
            roles,
          )
          await limits.welcome(tx, id, body.role_ids)
          if (project !== undefined) await insertProjectMember(tx, project, id)
        }),
      )
      return { user: await get(id), one_time_password: password }
    },

    /** Who receives another's codes can sign in as them: so that is as much as to be them. @throws Refusal 91003, 91004, 91106, 91110 */
    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<User> {
      await refusing(userTaken, () =>
        db.transaction().execute(async (tx) => {
          const user = await lock(tx, actor, id)
          if (user.phone !== body.phone || user.email !== body.email) {
            // One's own are changed with password and code.
            if (id === actor.user_id) throw new Refusal('ownRightsChange', { field: user.phone !== body.phone ? 'phone' : 'email' })
            await limits.refuseToBe(tx, actor, user)
          }
          await store.updateUser(tx, id, body)
        }),
      )
      return get(id)
    },

    /** @throws Refusal 91008, 91106, 91110, 91117 */
    async act(actor: Actor, id: string, { action }: BodyOf<Calls['action']>): Promise<ResponseOf<Calls['action']>> {
      if (id === actor.user_id) throw new Refusal('ownRightsChange')
      const password = action === 'resetPassword' ? makeOneTimePassword() : null
      const password_hash = password === null ? null : await hashPassword(password)
      const ended = await db.transaction().execute(async (tx) => {
        // One at a time, so that two administrators cannot disable each other.
        if (action === 'disable') await store.lockAdministrators(tx)
        const user = await lock(tx, actor, id)
        if (action === 'unfreeze') {
          await forgetGuesses(tx, id)
          return []
        }
        if (action === 'enable') {
          await store.updateUser(tx, id, { status: 'active' })
          return []
        }
        if (action === 'disable') {
          await refuseLastAdministrator(tx, user)
          await limits.refuseLastKeeper(tx, actor, id)
          await store.updateUser(tx, id, { status: 'disabled' })
        }
        if (action === 'resetSecondFactor') {
          await limits.refuseToBe(tx, actor, user)
          await secondFactors.reset(tx, id)
          await resetPasskeys(tx, id)
        }
        if (password_hash !== null) {
          await limits.refuseToBe(tx, actor, user)
          await store.updateUser(tx, id, { password_hash, must_change_password: true })
          await forgetGuesses(tx, id)
          await forgetDevices(tx, id)
        }
        return sessions.endAll(tx, id, null)
      })
      sessions.forgotten(id, ended)
      return { user: await get(id), one_time_password: password }
    },

    async sessions(actor: Actor, id: string): Promise<ResponseOf<Calls['sessions']>> {
      await refuseUnkept(actor, id)
      return list(id, actor.session_id)
    },
    async endSession(actor: Actor, id: string, sessionId: string): Promise<void> {
      await refuseUnkept(actor, id)
      await end(id, sessionId)
    },
    ownSessions: (actor: Actor) => list(actor.user_id, actor.session_id),
    endOwnSession: (actor: Actor, sessionId: string) => end(actor.user_id, sessionId),

    /** What stands in the way of deleting somebody, held until the transaction ends. @throws Refusal 404, 3000 */
    lock,
  }
}
