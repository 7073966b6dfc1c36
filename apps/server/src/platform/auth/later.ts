import type { Call } from '@zhisuan/contract/define'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { mayAccess } from '@zhisuan/contract/roles'
import { tagsOf, type Kinds } from '../kinds.ts'
import { scopeOf, type Actor } from './actor.ts'
import { decideCall, type Decided } from './rules.ts'

/** Somebody as what they are by now; null where they may not sign in any more. */
export type PersonOf = (userId: string) => Promise<Actor | null>

/** What somebody says of themselves to policies who is not there any more. */
export const contextOfPerson = (actor: Actor, at: Date): Context => ({
  'zs:UserId': actor.user_id,
  'zs:UserName': actor.name,
  'zs:UserKind': String(actor.kind),
  ...(actor.bp_id !== null && { 'zs:OrganisationId': actor.bp_id }),
  'zs:CurrentTime': at.toISOString(),
})

/** Whether somebody may make a call now that is made for them, by the clock, because they asked for it earlier. */
export const mayStill = async (
  { kinds, now }: { readonly kinds: () => Kinds; readonly now: () => Date },
  actor: Actor,
  call: Decided & Pick<Call, 'access'>,
  body: unknown,
  params: unknown = {},
): Promise<boolean> =>
  mayAccess(call.access, actor) &&
  (await decideCall(actor, call, { params, body }, contextOfPerson(actor, now()), (kind, id) => tagsOf(kinds(), scopeOf(actor), kind, id))).outcome ===
    'allowed'
