import type { BodyOf, QueryOf } from '@zhisuan/contract/define'
import type { boundaries, grants as calls, Grant } from '@zhisuan/contract/iam/grant'
import { policyLanguage, type PolicyDocument } from '@zhisuan/contract/policy/document'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { documentOf, lockSeenPolicy } from '../policy/policy.store.ts'
import { lockRole } from '../role/role.store.ts'
import { canHandOn } from '../rules/ceiling.ts'
import type { Limits } from '../rules/limits.ts'
import { lockPerson } from '../rules/person.store.ts'
import type { Reached } from '../rules/rules.store.ts'
import * as store from './grant.store.ts'

type Calls = typeof calls
type Holder = Pick<BodyOf<Calls['create']>, 'user_id' | 'role_id' | 'project_id'>

const everything: PolicyDocument = { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] }

/** The one of the three that there is. */
function reachedBy({ user_id, role_id, project_id }: { readonly [of in 'user_id' | 'role_id' | 'project_id']?: string | null | undefined }): Reached {
  if (typeof user_id === 'string') return { user_id }
  return typeof role_id === 'string' ? { role_id } : { project_id: project_id ?? '' }
}

export type GrantService = ReturnType<typeof createGrantService>

export function createGrantService({ db }: Pick<Platform, 'db'>, limits: Limits) {
  const shape = (row: store.GrantRow): Grant => {
    const [kind, id, name] =
      row.user_id !== null
        ? (['user', row.user_id, row.user_name] as const)
        : row.role_id !== null
          ? (['role', row.role_id, row.role_name] as const)
          : (['project', row.project_id ?? '', row.project_name] as const)
    return {
      id: row.id,
      policy: { id: row.policy_id, name: row.policy_name },
      holder: { kind, id, name: name ?? '', bp_id: row.holder_bp_id },
      created_by: row.created_by,
      created_at: iso(row.created_at),
    }
  }

  /** Whose the holder is. @throws Refusal 404 with its field, 91107, 91108, 91110, 91118 */
  const holderOf = async (tx: Tx, actor: Actor, holder: Holder): Promise<{ bp_id: string | null }> => {
    const scope = scopeOf(actor)
    if (holder.user_id !== undefined) {
      const person = await lockPerson(tx, scope, holder.user_id)
      if (person === undefined) throw new Refusal('notFound', { field: 'user_id' })
      await limits.refuseOwn(tx, actor, { user_id: person.id })
      return person
    }
    if (holder.role_id !== undefined) {
      const role = await lockRole(tx, scope, holder.role_id)
      if (role === undefined) throw new Refusal('notFound', { field: 'role_id' })
      // A built-in role is everybody's.
      if (role.built_in && !isPlatformKind(actor.kind)) throw new Refusal('roleBuiltIn', { field: 'role_id' })
      if (role.system_key !== null) throw new Refusal('readyMadeFixed', { field: 'role_id' })
      if (!canHandOn(actor, role.base)) throw new Refusal('roleBaseForbidden', { field: 'role_id' })
      return role
    }
    const project = await store.findProject(tx, scope, holder.project_id ?? '')
    if (project === undefined) throw new Refusal('notFound', { field: 'project_id' })
    return project
  }

  return {
    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listGrants(db, scopeOf(actor), query), shape),

    /** @throws Refusal 91106, 91107, 91108, 91110, 91112, 91113, 91118 */
    async create(actor: Actor, { policy_id, ...holder }: BodyOf<Calls['create']>): Promise<Grant> {
      const id = uuidv7()
      await refusing({ [store.grantIndex]: 'grantTwice' }, () =>
        db.transaction().execute(async (tx) => {
          const policy = await lockSeenPolicy(tx, scopeOf(actor), policy_id)
          if (policy === undefined) throw new Refusal('notFound', { field: 'policy_id' })
          const { bp_id } = await holderOf(tx, actor, holder)
          if (policy.bp_id !== null && policy.bp_id !== bp_id) throw new Refusal('holderOfOther', { field: 'policy_id' })
          await limits.refuseToGive(tx, actor, [await documentOf(tx, policy)], reachedBy(holder))
          await store.insertGrant(tx, {
            id,
            policy_id,
            user_id: holder.user_id ?? null,
            role_id: holder.role_id ?? null,
            project_id: holder.project_id ?? null,
            created_by: actor.name,
          })
          await limits.tell(tx)
        }),
      )
      await limits.changed()
      return shape(found(await store.getGrant(db, scopeOf(actor), id)))
    },

    /** @throws Refusal 3000, 91110, 91118 */
    async remove(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const grant = found(await store.getGrant(tx, scopeOf(actor), id))
        if (grant.role_system_key !== null) throw new Refusal('readyMadeFixed')
        const policy = found(await lockSeenPolicy(tx, platformScope, grant.policy_id))
        await limits.refuseOwn(tx, actor, { policy_id: policy.id })
        await limits.refuseToUndeny(tx, actor, [{ bp_id: policy.bp_id, document: await documentOf(tx, policy) }], reachedBy(grant))
        found((await store.deleteGrant(tx, id)) ? grant : undefined)
        await limits.tell(tx)
      })
      await limits.changed()
    },

    /**
     * By a policy of the platform's: those of an organisation are changed by whom they would bound.
     * Where there was one, what may be beyond it is given with the new one, or with none.
     * @throws Refusal 91106, 91110, 91113
     */
    async setBoundary(
      actor: Actor,
      holder: { user_id: string } | { bp_id: string },
      { policy_id }: BodyOf<(typeof boundaries)['setOfUser']>,
    ): Promise<{ policy_id: string | null }> {
      await db.transaction().execute(async (tx) => {
        await limits.refuseOwn(tx, actor, holder)
        if ('user_id' in holder) found(await lockPerson(tx, platformScope, holder.user_id))
        else found(await tx.selectFrom('organisations').select('id').where('id', '=', holder.bp_id).forUpdate().executeTakeFirst())
        let most = everything
        if (policy_id !== null) {
          const policy = await lockSeenPolicy(tx, platformScope, policy_id)
          if (policy === undefined) throw new Refusal('notFound', { field: 'policy_id' })
          if (policy.bp_id !== null) throw new Refusal('holderOfOther', { field: 'policy_id' })
          most = await documentOf(tx, policy)
        }
        if (await store.setBoundary(tx, holder, policy_id === null ? null : { id: uuidv7(), policy_id })) await limits.refuseToGive(tx, actor, [most], holder)
        await limits.tell(tx)
      })
      await limits.changed()
      return { policy_id }
    },
  }
}
