import { isPlatformKind, type Role } from '@zhisuan/contract/roles'

/** Whom a request is made by. */
export interface Actor {
  user_id: string
  name: string
  kind: number
  roles: readonly Role[]
  bp_id: string | null
  session_id: string
  must_change_password: boolean
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
