import { compilePolicies, type Policies } from '@zhisuan/contract/policy/evaluate'
import type { Role } from '@zhisuan/contract/roles'
import { LRUCache } from 'lru-cache'
import { builtInPolicies, unlimited, type Rules } from '../../../platform/auth/rules.ts'
import type { Sql, Tx } from '../../../platform/db/database.ts'
import type { Platform } from '../../../platform/platform.ts'
import { policiesOf } from './rules.store.ts'

/** Somebody, as far as policies ask. */
export interface Person {
  readonly user_id: string
  readonly kind: number
  /** Those that were given to them as such, not as the base of another role. */
  readonly built_in_roles: readonly Role[]
  readonly bp_id: string | null
  /** Where they come with an access key: it is a boundary of its own, to whatever they would do with it. */
  readonly access_key?: { readonly within: Policies | null } | null
}

export type RulesService = ReturnType<typeof createRules>

/** Kinds 0 and 1 pass as ADMIN whatever they were given. */
export const allowingRoles = ({ kind, built_in_roles }: Pick<Person, 'kind' | 'built_in_roles'>): readonly Role[] =>
  kind <= 1 ? [...new Set<Role>(['ADMIN', ...built_in_roles])].sort() : built_in_roles

/**
 * What somebody may do. People with the same policies share what was made of them; whoever holds
 * on to rules drops them when they are told.
 */
export function createRules({ db, bus }: Pick<Platform, 'db' | 'bus'>) {
  const compiled = new LRUCache<string, Rules>({ max: 2_000 })
  const watchers = new Set<() => void>()
  const tellAll = (): void => {
    for (const told of watchers) told()
  }
  const unsubscribe = bus.subscribe('iam.rules', tellAll, tellAll)

  const ofPerson = async (person: Person, on: Sql): Promise<Rules> => {
    if (person.kind === 0) return unlimited
    const roles = allowingRoles(person)
    const held = await policiesOf(on, person.user_id, roles, person.bp_id)
    // A version never changes, so its number says what it is.
    const key = [...roles, ...held.map(({ id, version, boundary }) => `${boundary ? 'within ' : ''}${id}:${version}`)].join(' ')
    const known = compiled.get(key)
    if (known !== undefined) return known
    const rules: Rules = {
      policies: compilePolicies([...builtInPolicies(roles), ...held.filter(({ boundary }) => !boundary)]),
      boundaries: held.filter(({ boundary }) => boundary).map((policy) => compilePolicies([policy])),
    }
    compiled.set(key, rules)
    return rules
  }

  return {
    async of(person: Person, on: Sql = db): Promise<Rules> {
      const rules = await ofPerson(person, on)
      const within = person.access_key?.within ?? null
      return within === null ? rules : { ...rules, boundaries: [...rules.boundaries, within] }
    },

    /** Tells every server when the transaction commits; call `changed` once it has, so that this one knows at once. */
    tell: (tx: Tx): Promise<void> => bus.publish(tx, 'iam.rules', ''),
    /** After the commit: this server forgets, and the others have once it resolves. What was taken away is taken away then. */
    async changed(): Promise<void> {
      tellAll()
      await bus.everyoneTold(db)
    },
    watch(told: () => void): void {
      watchers.add(told)
    },
    stop: unsubscribe,
  }
}
