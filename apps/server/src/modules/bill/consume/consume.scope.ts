import { scopeOf, type Actor, type Scope } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'

/** What of their scope somebody asks about. @throws Refusal 404 for another organisation */
export function narrowed(actor: Actor, bpId: string | undefined): Scope {
  const scope = scopeOf(actor)
  if (bpId === undefined) return scope
  if ('everything' in scope || ('bp_id' in scope && scope.bp_id === bpId)) return { bp_id: bpId }
  throw new Refusal('notFound', { field: 'bp_id' })
}
