import { allCalls } from '@zhisuan/contract/calls'
import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { compilePolicies, type Policies } from '@zhisuan/contract/policy/evaluate'
import { isPlatformKind, mayAccess, type Role } from '@zhisuan/contract/roles'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Rules } from '../../../platform/auth/rules.ts'
import { Refusal } from '../../../platform/errors.ts'

/** Whoever gives something to others. */
export type Keeper = Pick<Actor, 'user_id' | 'kind' | 'roles' | 'built_in_roles' | 'bp_id'> & Partial<Pick<Actor, 'access_key'>>

const deniesNothing = (policies: Policies, action: string): boolean => policies.about(action).denies.length === 0
const allowsAlways = (policies: Policies, action: string): boolean =>
  policies.about(action).allows.some(({ resources, conditions }) => resources.everything && conditions.length === 0)

/** Whether nothing keeps an action on anything from somebody, whatever the circumstances: no denial speaks of it at all. */
const isNotWithheld = ({ policies, boundaries }: Rules, action: string): boolean =>
  [policies, ...boundaries].every((part) => deniesNothing(part, action)) && boundaries.every((boundary) => allowsAlways(boundary, action))
/** Whether besides they are allowed it. */
const isAllowedOutright = (rules: Rules, action: string): boolean => allowsAlways(rules.policies, action) && isNotWithheld(rules, action)

/**
 * Nobody gives more than they have: each action that a document allows somewhere they have to be
 * allowed outright. That refuses some of what would be harmless, and no document can be written
 * that gets around it. Calls that nobody whom it reaches may ever make are left out.
 * @param reached roles, at most, of those whom the documents will speak about
 * @param custom actions of services that are not ours: they are given by whoever keeps people, unless they are kept from them
 * @throws Refusal 91106
 */
export function refuseToGiveMore(
  actor: Pick<Keeper, 'kind' | 'roles'>,
  rules: Rules,
  documents: readonly PolicyDocument[],
  reached: readonly Role[],
  custom: readonly string[],
): void {
  const given = compilePolicies(documents.map((document, index) => ({ id: String(index), document })))
  // Whoever runs the platform has all that is for administrators, and gives roles for the rest.
  const who = isPlatformKind(actor.kind) ? actor : { kind: 4, roles: reached }
  const isGiven = (action: string): boolean => given.about(action).allows.length > 0
  const more =
    allCalls.find(({ id, access }) => access !== 'public' && mayAccess(access, who) && isGiven(id) && !isAllowedOutright(rules, id))?.id ??
    custom.find((action) => isGiven(action) && !isNotWithheld(rules, action))
  if (more !== undefined) throw new Refusal('grantsMore', { values: { action: more } })
}

/** What would be given by taking documents away: what they deny. */
export const undenied = (documents: readonly PolicyDocument[]): readonly PolicyDocument[] =>
  documents.flatMap((document) => {
    const denies = document.Statement.filter(({ Effect }) => Effect === 'Deny')
    return denies.length === 0 ? [] : [{ ...document, Statement: denies.map((statement) => ({ ...statement, Effect: 'Allow' as const })) }]
  })

/** Who set the platform up is beyond policies; everybody else may be limited by them, so they do not change those about themselves. */
export const isBeyondPolicies = ({ kind }: Pick<Keeper, 'kind'>): boolean => kind === 0

/** Roles that somebody may give to others, or make roles of: platform administrators all, a tenant's those of tenants. */
export const canHandOn = (actor: Pick<Actor, 'kind' | 'roles'>, base: Role): boolean =>
  isPlatformKind(actor.kind) || base === 'TENANT' || (base === 'TENANT_ADMIN' && actor.roles.includes('TENANT_ADMIN'))
