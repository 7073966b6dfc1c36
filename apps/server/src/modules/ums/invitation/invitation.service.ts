import { createHash, randomBytes } from 'node:crypto'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Invitation, invitations as calls } from '@zhisuan/contract/ums/invitation'
import type { Role } from '@zhisuan/contract/roles'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { noted } from '../../../platform/db/recording.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Limits } from '../../iam/rules/limits.ts'
import { insertProjectMember } from '../organisation/organisation.store.ts'
import { hashPassword } from '../session/password.ts'
import { defaultProject } from '../user/keep.store.ts'
import { blankUser, readsAsAddress, userTaken } from '../user/user.rules.ts'
import { findByPhone, insertUser } from '../user/user.store.ts'
import type { VerificationService } from '../verification/verification.service.ts'
import * as store from './invitation.store.ts'

type Calls = typeof calls

const dayMs = 24 * 60 * 60_000
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export type InvitationService = ReturnType<typeof createInvitationService>

/** Links that let one person each register in an organisation. */
export function createInvitationService(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  { verification, limits }: { verification: VerificationService; limits: Limits },
) {
  const statusOf = (row: store.ShownInvitation): Invitation['status'] =>
    row.used_at !== null ? 'used' : row.revoked_at !== null ? 'revoked' : row.expires_at <= now() ? 'expired' : 'open'
  const shape = (row: store.ShownInvitation): Invitation => ({
    id: row.id,
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    role: row.role,
    roles: row.roles,
    note: row.note,
    status: statusOf(row),
    created_by: row.created_by,
    used_by: row.used_by,
    created_at: iso(row.created_at),
    expires_at: iso(row.expires_at),
  })
  /** One that lets somebody in. @throws Refusal 1183 */
  const open = (row: store.ShownInvitation | undefined): store.ShownInvitation => {
    if (row === undefined || statusOf(row) !== 'open' || row.bp_status !== 'active') throw new Refusal('invitationInvalid')
    return row
  }

  /** What they have beside `role_ids`: those are instead of it. */
  const builtIn = ({ role, role_ids }: { readonly role: Role; readonly role_ids: readonly string[] }): readonly Role[] => (role_ids.length > 0 ? [] : [role])

  /** A link gives what whoever made it could give now, not what they could then. @throws Refusal 1183 */
  const refuseUnlessStillTheirs = async (
    tx: Tx,
    { role, role_ids, bp_id, created_by_id }: Pick<store.ShownInvitation, 'role' | 'role_ids' | 'bp_id' | 'created_by_id'>,
    project: string | undefined,
  ): Promise<void> => {
    await limits.refuseToHaveWelcomed(tx, created_by_id, { roles: builtIn({ role, role_ids }), role_ids, bp_id, project }).catch((cause: unknown) => {
      throw cause instanceof Refusal ? new Refusal('invitationInvalid', { cause }) : cause
    })
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listInvitations(db, scopeOf(actor), query), shape),

    /** @throws Refusal 91014, 91106, 91107, 91113 */
    async create(actor: Actor, { bp_id: wish, role, role_ids, note, days }: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      const bp_id = limits.ownerOf(actor, wish)
      if (bp_id === null) throw new Refusal('userKindMismatch', { field: 'bp_id' })
      const [id, token] = [uuidv7(), randomBytes(24).toString('base64url')]
      await db.transaction().execute(async (tx) => {
        await limits.refuseUnknownOrganisation(tx, bp_id)
        await limits.refuseToWelcome(tx, actor, { roles: builtIn({ role, role_ids }), role_ids, bp_id, project: await defaultProject(tx, bp_id) })
        await store.insertInvitation(tx, {
          id,
          bp_id,
          role,
          role_ids,
          note,
          token_hash: hashOf(token),
          created_by: actor.name,
          created_by_id: actor.user_id,
          expires_at: new Date(now().getTime() + days * dayMs),
        })
      })
      return { ...shape(found(await store.getInvitation(db, scopeOf(actor), id))), token }
    },

    async revoke(actor: Actor, id: string): Promise<void> {
      found((await store.revoke(db, scopeOf(actor), id)) ? id : undefined)
    },

    /** @throws Refusal 1183 */
    async look(token: string): Promise<ResponseOf<Calls['look']>> {
      const row = open(await store.findByToken(db, hashOf(token)))
      return { bp_name: row.bp_name, role: row.role, roles: row.roles.map(({ name }) => name), invited_by: row.created_by, expires_at: iso(row.expires_at) }
    },

    /** @throws Refusal 1183, 91003 */
    async code(token: string, phone: string, ip: string): Promise<ResponseOf<Calls['code']>> {
      open(await store.findByToken(db, hashOf(token)))
      if ((await findByPhone(db, phone)) !== undefined) throw new Refusal('phoneTaken', { field: 'phone' })
      return verification.send('registration', { channel: 'sms', address: phone }, { ip, userId: null })
    },

    /** @throws Refusal 1111, 1121, 1183, 91002, 91003 */
    async accept(token: string, body: BodyOf<Calls['accept']>): Promise<{ id: string }> {
      const hash = hashOf(token)
      open(await store.findByToken(db, hash))
      if (readsAsAddress(body.username)) throw new Refusal('usernameInvalid', { field: 'username' })
      const code = await verification.check('registration', body.phone, body.code)
      const password_hash = await hashPassword(body.password)
      const id = uuidv7()
      await refusing(userTaken, () =>
        db.transaction().execute(async (tx) => {
          const invitation = open(await store.lockByToken(tx, hash))
          const project = await defaultProject(tx, invitation.bp_id)
          await refuseUnlessStillTheirs(tx, invitation, project)
          await verification.spend(tx, code)
          noted({ tried: { user_id: id, name: body.username, bp_id: invitation.bp_id } })
          await insertUser(
            tx,
            {
              ...blankUser,
              id,
              name: body.username,
              kind: builtIn(invitation).includes('TENANT_ADMIN') ? 2 : 4,
              status: 'active',
              bp_id: invitation.bp_id,
              phone: body.phone,
              password_hash,
            },
            builtIn(invitation),
          )
          await limits.welcome(tx, id, invitation.role_ids)
          if (project !== undefined) await insertProjectMember(tx, project, id)
          await store.markUsed(tx, invitation.id, body.username)
        }),
      )
      return { id }
    },
  }
}
