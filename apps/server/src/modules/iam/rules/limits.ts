import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { isPlatformKind, tenantRoles, type Role } from '@zhisuan/contract/roles'
import { platformScope, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { builtInPolicies } from '../../../platform/auth/rules.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { builtInRoleId } from '../iam.migrations.ts'
import { documentsOf, type OwnedDocument } from '../grant/grant.store.ts'
import { insertMembers, lockRole } from '../role/role.store.ts'
import { canHandOn, isBeyondPolicies, refuseToGiveMore, undenied, type Keeper } from './ceiling.ts'
import { keepersBeside, personOf } from './person.store.ts'
import { allowingRoles, type RulesService } from './rules.ts'
import { policiesOf, rolesReached, type Reached } from './rules.store.ts'

/** Roles that somebody new gets, and what else they join. */
export interface Welcome {
  readonly roles: readonly Role[]
  /** Others: of their organisation, and of the system. */
  readonly role_ids: readonly string[]
  readonly bp_id: string | null
  readonly project: string | undefined
}

/**
 * What keeps those who keep others: nobody gives more than they have, and nobody changes what
 * speaks about themselves. Asked within the transaction of the change, of what is so at that moment.
 */
export interface Limits {
  /** @param to whom it will speak about @throws Refusal 91106 */
  refuseToGive(tx: Tx, actor: Keeper, documents: readonly PolicyDocument[], to: Reached): Promise<void>
  /** To somebody new. @throws Refusal 404 for a role that is not there, 91106, 91107, 91113 */
  refuseToWelcome(tx: Tx, actor: Keeper, welcome: Welcome): Promise<void>
  /** The same of somebody who said so before, by what they may now. @throws Refusal 404, 3000 where they may not even sign in, 91106, 91107, 91113 */
  refuseToHaveWelcomed(tx: Tx, giverId: string, welcome: Welcome): Promise<void>
  /** Once that was asked: makes them members of the roles that are not built in. */
  welcome(tx: Tx, userId: string, roleIds: readonly string[]): Promise<void>
  /** Whoever can sign in as somebody has what that one has. @throws Refusal 91106 */
  refuseToBe(tx: Tx, actor: Keeper, person: { readonly id: string; readonly kind: number; readonly bp_id: string | null }): Promise<void>
  /** Somebody, a policy or an organisation that what the actor themselves may hangs on. @throws Refusal 91110 */
  refuseOwn(tx: Tx, actor: Keeper, of: { readonly user_id: string } | { readonly policy_id: string } | { readonly bp_id: string }): Promise<void>
  /** Of administrators of an organisation who take each other's place at once, one keeps theirs. @throws Refusal 91117 */
  refuseLastKeeper(tx: Tx, actor: Pick<Actor, 'kind' | 'bp_id'>, userId: string): Promise<void>
  /** What documents deny is given by taking them away; and what somebody else laid on people is theirs to take off. @throws Refusal 3000, 91106 */
  refuseToUndeny(tx: Tx, actor: Keeper, documents: readonly OwnedDocument[], to: Reached): Promise<void>
  /**
   * Whose it will be: a tenant administrator's own organisation, or what a platform administrator says.
   * @throws Refusal 404 for another's, as for one that is not there
   */
  ownerOf(actor: Pick<Actor, 'kind' | 'bp_id'>, wish: string | null): string | null
  /** @throws Refusal 90001 */
  refuseUnknownOrganisation(on: Sql, id: string | null): Promise<void>
  /** Every server forgets what it remembers of everybody's rights when the transaction commits. */
  tell(tx: Tx): Promise<void>
  /** After the commit; once it resolves every server has forgotten. */
  changed(): Promise<void>
}

export const createLimits = (rules: RulesService, customActions: (on: Sql, actor: Keeper) => Promise<readonly string[]>): Limits => {
  const refuse = async (tx: Tx, actor: Keeper, documents: readonly PolicyDocument[], reached: readonly Role[]): Promise<void> => {
    if (documents.length === 0) return
    // What they remember of their rights may be a moment old.
    refuseToGiveMore(actor, await rules.of(actor, tx), documents, reached, await customActions(tx, actor))
  }
  const refuseToGive: Limits['refuseToGive'] = async (tx, actor, documents, to) =>
    refuse(tx, actor, documents, isPlatformKind(actor.kind) ? [] : await rolesReached(tx, to))
  /** Held until the transaction ends. */
  const lockOther = async (tx: Tx, actor: Keeper, id: string, bpId: string | null): Promise<{ base: Role }> => {
    const role = await lockRole(tx, scopeOf(actor), id)
    if (role === undefined || role.built_in) throw new Refusal('notFound', { field: 'role_ids' })
    if (!canHandOn(actor, role.base) || !tenantRoles.some((base) => base === role.base)) throw new Refusal('roleBaseForbidden', { field: 'role_ids' })
    if (role.bp_id !== null && role.bp_id !== bpId) throw new Refusal('holderOfOther', { field: 'role_ids' })
    return role
  }
  const refuseToWelcome: Limits['refuseToWelcome'] = async (tx, actor, { roles, role_ids, bp_id, project }) => {
    if (!roles.every((role) => canHandOn(actor, role))) throw new Refusal('roleBaseForbidden', { field: 'roles' })
    const bases: Role[] = [...roles]
    const held: OwnedDocument[] = []
    for (const role of roles) held.push(...(await documentsOf(tx, { role_id: builtInRoleId(role) })))
    for (const id of role_ids) {
      bases.push((await lockOther(tx, actor, id, bp_id)).base)
      held.push(...(await documentsOf(tx, { role_id: id })))
    }
    if (project !== undefined) held.push(...(await documentsOf(tx, { project_id: project })))
    await refuse(
      tx,
      actor,
      [...builtInPolicies(roles), ...held].map(({ document }) => document),
      bases,
    )
  }
  return {
    refuseToGive,
    refuseToWelcome,
    async refuseToHaveWelcomed(tx, giverId, welcome) {
      const giver = await personOf(tx, platformScope).where('users.id', '=', giverId).executeTakeFirst()
      if (giver?.is_active !== true) throw new Refusal('noPermission')
      await refuseToWelcome(tx, giver, welcome)
    },
    welcome: insertMembers,
    async refuseToBe(tx, actor, { id, kind, bp_id }) {
      const built_in_roles = (await tx.selectFrom('user_roles').select('role').where('user_id', '=', id).execute()).map(({ role }) => role)
      const roles = allowingRoles({ kind, built_in_roles })
      const held = await policiesOf(tx, id, roles, bp_id)
      await refuseToGive(
        tx,
        actor,
        [...builtInPolicies(roles), ...held.filter(({ boundary }) => !boundary)].map(({ document }) => document),
        { user_id: id },
      )
    },
    async refuseOwn(tx, actor, of) {
      if (isBeyondPolicies(actor)) return
      if ('user_id' in of) {
        if (of.user_id === actor.user_id) throw new Refusal('ownRightsChange', { field: 'user_id' })
      } else if ('bp_id' in of) {
        if (of.bp_id === actor.bp_id) throw new Refusal('ownRightsChange')
      } else {
        const own = await policiesOf(tx, actor.user_id, allowingRoles(actor), actor.bp_id)
        if (own.some(({ id }) => id === of.policy_id)) throw new Refusal('ownRightsChange')
      }
    },
    async refuseLastKeeper(tx, { kind, bp_id }, userId) {
      if (isPlatformKind(kind) || bp_id === null) return
      if ((await keepersBeside(tx, bp_id, userId)) === 0) throw new Refusal('lastTenantAdministrator')
    },
    async refuseToUndeny(tx, actor, documents, to) {
      const denying = documents.flatMap(({ bp_id, document }) => undenied([document]).map((given) => ({ bp_id, given })))
      if (!isPlatformKind(actor.kind) && denying.some(({ bp_id }) => bp_id !== actor.bp_id)) throw new Refusal('noPermission')
      await refuseToGive(
        tx,
        actor,
        denying.map(({ given }) => given),
        to,
      )
    },
    ownerOf: (actor, wish) => {
      if (isPlatformKind(actor.kind)) return wish
      if (wish !== null && wish !== actor.bp_id) throw new Refusal('notFound', { field: 'bp_id' })
      return actor.bp_id
    },
    async refuseUnknownOrganisation(on, id) {
      if (id === null) return
      const known = await on.selectFrom('organisations').select('id').where('id', '=', id).executeTakeFirst()
      if (known === undefined) throw new Refusal('notFound', { field: 'bp_id' })
    },
    tell: rules.tell,
    changed: rules.changed,
  }
}
