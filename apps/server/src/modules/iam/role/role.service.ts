import type { BodyOf, ParamsOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { customRoles as calls, RoleRow } from '@zhisuan/contract/iam/role'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { builtInPolicies } from '../../../platform/auth/rules.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { documentsOf } from '../grant/grant.store.ts'
import { canHandOn } from '../rules/ceiling.ts'
import type { Limits } from '../rules/limits.ts'
import { lockPerson } from '../rules/person.store.ts'
import * as store from './role.store.ts'

type Calls = typeof calls

const taken = { [store.roleNameIndex]: ['roleNameTaken', 'name'] } as const

export type RoleService = ReturnType<typeof createRoleService>

export function createRoleService({ db }: Pick<Platform, 'db'>, limits: Limits) {
  const shape = (row: store.ShownRole): RoleRow => ({
    ...row,
    system: row.system_key !== null,
    created_at: row.built_in ? null : iso(row.created_at),
    updated_at: row.built_in ? null : iso(row.updated_at),
  })
  const get = async (actor: Actor, id: string): Promise<store.ShownRole> => found(await store.getRole(db, scopeOf(actor), id))

  /** One that can be changed. @throws Refusal 404, 91108, 91118 */
  const lockOwn = async (tx: Tx, actor: Actor, id: string) => {
    const role = found(await store.lockRole(tx, scopeOf(actor), id))
    if (role.built_in) throw new Refusal('roleBuiltIn')
    if (role.system_key !== null) throw new Refusal('readyMadeFixed')
    return role
  }

  /**
   * The role and the person, both held, that a change of who has it is about.
   * @throws Refusal 404, 91107, 91110, 91113
   */
  const lockBoth = async (tx: Tx, actor: Actor, { id, user_id }: ParamsOf<Calls['removeMember']>) => {
    const role = found(await store.lockRole(tx, scopeOf(actor), id))
    const person = await lockPerson(tx, scopeOf(actor), user_id)
    if (person === undefined) throw new Refusal('notFound', { field: 'user_id' })
    await limits.refuseOwn(tx, actor, { user_id })
    if (!canHandOn(actor, role.base)) throw new Refusal('roleBaseForbidden')
    if (role.bp_id !== null && role.bp_id !== person.bp_id) throw new Refusal('holderOfOther', { field: 'user_id' })
    return role
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listRoles(db, scopeOf(actor), query), shape),

    get: async (actor: Actor, id: string): Promise<RoleRow> => shape(await get(actor, id)),

    /** @throws Refusal 3041, 91107 */
    async create(actor: Actor, body: BodyOf<Calls['create']>): Promise<RoleRow> {
      if (!canHandOn(actor, body.base)) throw new Refusal('roleBaseForbidden', { field: 'base' })
      const id = uuidv7()
      const bp_id = limits.ownerOf(actor, body.bp_id)
      await refusing(taken, async () => {
        await limits.refuseUnknownOrganisation(db, bp_id)
        await store.insertRole(db, { ...body, id, bp_id, built_in: false })
      })
      return shape(await get(actor, id))
    },

    /** @throws Refusal 3041, 91108, 91118 */
    async update(actor: Actor, id: string, body: BodyOf<Calls['update']>): Promise<RoleRow> {
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          await lockOwn(tx, actor, id)
          await store.updateRole(tx, id, body)
        }),
      )
      return shape(await get(actor, id))
    },

    /** @throws Refusal 91108, 91109, 91118 */
    async remove(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        await lockOwn(tx, actor, id)
        if (await store.hasMembers(tx, id)) throw new Refusal('roleInUse')
        // Deleted people may still be listed.
        await tx.deleteFrom('role_members').where('role_id', '=', id).execute()
        await store.deleteRole(tx, id)
      })
    },

    async members(actor: Actor, id: string, query: QueryOf<Calls['members']>): Promise<ResponseOf<Calls['members']>> {
      await get(actor, id)
      return shapedPage(store.listMembers(db, scopeOf(actor), id, query), (row) => ({
        ...row,
        name: row.name ?? '',
        nickname: row.nickname === '' ? (row.name ?? '') : row.nickname,
      }))
    },

    /** Giving a role is giving all that it allows. @throws Refusal 91106, 91107, 91110, 91113 */
    async addMember(actor: Actor, id: string, { user_id }: BodyOf<Calls['addMember']>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const role = await lockBoth(tx, actor, { id, user_id })
        if (await store.addMember(tx, role, user_id)) await limits.tell(tx)
        // Now that they have it: other documents that they have may speak about more than this role does.
        const given = [...(role.built_in ? builtInPolicies([role.base]) : []), ...(await documentsOf(tx, { role_id: id }))]
        await limits.refuseToGive(
          tx,
          actor,
          given.map(({ document }) => document),
          { user_id },
        )
      })
      await limits.changed()
    },

    /** @throws Refusal 91107, 91110, 91111, 91117 */
    async removeMember(actor: Actor, params: ParamsOf<Calls['removeMember']>): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const role = await lockBoth(tx, actor, params)
        await limits.refuseToUndeny(tx, actor, await documentsOf(tx, { role_id: params.id }), { user_id: params.user_id })
        if (!(await store.removeMember(tx, role, params.user_id))) throw new Refusal('notFound')
        if ((await store.roleCount(tx, params.user_id)) === 0) throw new Refusal('lastRole')
        await limits.refuseLastKeeper(tx, actor, params.user_id)
        await limits.tell(tx)
      })
      await limits.changed()
    },
  }
}
