import type { Service } from '@zhisuan/contract/iam/service'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { compilePolicies, type PolicySource, type Statement } from '@zhisuan/contract/policy/evaluate'
import { roles, type Role } from '@zhisuan/contract/roles'

/** `partly`: it depends on the resource or on circumstances. */
export type Allowance = 'yes' | 'partly' | 'denied' | 'no'

/** Whether a statement about an action says so of everything, always. */
const always = ({ resources, conditions }: Statement): boolean => resources.everything && conditions.length === 0

/** Calls that everybody may make say so by naming every role. */
const forEverybody = (of: readonly Role[]): boolean => of.length === roles.length

/**
 * What a role allows of each action, by itself and the policies given to it: never more than the
 * calls of its base.
 */
export function roleAllows(
  role: { readonly built_in: boolean; readonly base: Role },
  services: readonly Service[],
  policies: readonly PolicySource[],
): ReadonlyMap<string, Allowance> {
  const possible = services.flatMap(({ actions }) => actions).filter((action) => action.roles.includes(role.base))
  const own = possible.filter((action) => (role.built_in ? action.allowed_by.includes(role.base) : forEverybody(action.allowed_by))).map(({ id }) => id)
  const byItself: readonly PolicySource[] =
    own.length === 0 ? [] : [{ id: '', document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: own, Resource: '*' }] } }]
  const compiled = compilePolicies([...byItself, ...policies])
  return new Map(
    possible.map(({ id }) => {
      const { denies, allows } = compiled.about(id)
      if (denies.some(always)) return [id, 'denied']
      if (allows.length === 0) return [id, 'no']
      return [id, denies.length === 0 && allows.some(always) ? 'yes' : 'partly']
    }),
  )
}
