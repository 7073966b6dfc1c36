import { isPlatformKind, type Role } from '@zhisuan/contract/roles'
import type { Policies } from '@zhisuan/contract/policy/evaluate'
import { Refusal } from '../errors.ts'
import type { Rules } from './rules.ts'

/** Whom a request is made by. */
export interface Actor {
  user_id: string
  name: string
  kind: number
  /** What they may be allowed at most: the built-in roles that they have, and the bases of the others. */
  roles: readonly Role[]
  built_in_roles: readonly Role[]
  /** What they are allowed of it. */
  rules: Rules
  bp_id: string | null
  /** Of one who comes with an access key, the key's. */
  session_id: string
  /** When they signed in; of an access key, when its secret was made. */
  session_since: Date
  /** `password`, `sms`, … or `access_key`: policy/keys.ts. */
  authenticated_by: string
  /** When this session proved a second factor; null where it proved none. */
  second_factor_at: Date | null
  must_change_password: boolean
  /** What they come with instead of a session; null where they signed in. */
  access_key: AccessKeyOfActor | null
}

export interface AccessKeyOfActor {
  readonly id: string
  readonly name: string
  /** The most that it may be allowed of what its person is; null where that is all. */
  readonly within: Policies | null
}

/**
 * Whose rows an actor may touch. Stores of tenant resources take a scope, never a bare id: so a
 * query without one does not compile, and another organisation's rows do not exist for it.
 */
export type Scope = { readonly everything: true } | { readonly bp_id: string } | { readonly nothing: true }

/** The platform itself: jobs and reconcilers, never a request. */
export const platformScope: Scope = { everything: true }

export function scopeOf(actor: Pick<Actor, 'kind' | 'bp_id' | 'roles'>): Scope {
  if (isPlatformKind(actor.kind)) return { everything: true }
  if (actor.bp_id !== null) return { bp_id: actor.bp_id }
  return { nothing: true }
}

/** Whose doing a row is, as it says it. */
export const authoredBy = (actor: Pick<Actor, 'user_id' | 'name'>) => ({ created_by: actor.user_id, created_by_name: actor.name })

/** What belongs to nobody would be seen by nobody, not even by who made it. @throws Refusal 3000 */
export function refuseOwnerless(scope: Scope): void {
  if ('nothing' in scope) throw new Refusal('noPermission')
}
