import type { Context } from '@zhisuan/contract/policy/pattern'
import { Refusal } from '../errors.ts'
import { tagsOf, type Kinds } from '../kinds.ts'
import { scopeOf, type Actor } from './actor.ts'
import { decideCall, type Decided } from './rules.ts'

/**
 * Of something that goes with something else, as its own call would ask: where what goes is known to rows or to a cloud
 * only, so that the call that takes it along cannot declare it (`also`).
 * @param params as that call has them in its path
 * @throws Refusal noPermission
 */
export async function asksAlso(kinds: () => Kinds, actor: Actor, call: Decided, params: Readonly<Record<string, string>>, context: Context): Promise<void> {
  const { outcome } = await decideCall(actor, call, { params }, context, (kind, id) => tagsOf(kinds(), scopeOf(actor), kind, id))
  if (outcome !== 'allowed') throw new Refusal('noPermission')
}
