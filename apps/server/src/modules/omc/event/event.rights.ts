import { audits } from '@zhisuan/contract/iam/audit'
import type { Kind } from '@zhisuan/contract/kind'
import { alertLogs } from '@zhisuan/contract/omc/alarm'
import type { Call } from '@zhisuan/contract/define'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { isPlatformKind, mayAccess } from '@zhisuan/contract/roles'
import { categoryForMembers, messageKinds, type MessageKind } from '@zhisuan/contract/sys/message'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { decideCall } from '../../../platform/auth/rules.ts'
import { tagsOf } from '../../../platform/kinds.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readCallOf } from '../task/task.service.ts'
import type { EventRow } from './event.store.ts'

export type MaySee = (actor: Actor, context: Context, event: EventRow) => Promise<boolean>

/**
 * Whether somebody may see an event of what their scope has: what was done by themselves, or to what they may see; all that was
 * done who may read the audit log; what was told whom it was told to.
 */
export function createEventRights({ kinds }: Pick<Platform, 'kinds'>): MaySee {
  const may = async (actor: Actor, call: Call, id: string | null, context: Context): Promise<boolean> =>
    mayAccess(call.access, actor) &&
    (await decideCall(actor, call, { params: id === null ? {} : { id } }, context, (kind, of) => tagsOf(kinds(), scopeOf(actor), kind, of))).outcome ===
      'allowed'

  return async (actor, context, { type, what, about_kind, about_id, actor_id, user_id, bp_id }) => {
    if (type === 'message') {
      if (user_id !== null) return user_id === actor.user_id
      // What organisations are told the platform is not.
      if (isPlatformKind(actor.kind)) return bp_id === null
      const manages = actor.kind === 2 || actor.kind === 3 || actor.built_in_roles.includes('TENANT_ADMIN')
      return manages || (Object.hasOwn(messageKinds, what) && messageKinds[what as MessageKind] === categoryForMembers)
    }
    if (type === 'alarm') return may(actor, alertLogs.list, null, context)
    if (type === 'change' && actor_id === actor.user_id) return true
    // What nobody names any more is nothing that somebody might see.
    const parts = about_kind === null ? undefined : kinds().get(about_kind as Kind)
    const read = parts === undefined ? undefined : readCallOf(parts.page?.kind ?? (about_kind as Kind))
    // Whose alone it is nobody else is told of but by the audit log.
    if (read !== undefined && parts?.toldTo === undefined && (await may(actor, read, parts?.page === undefined ? about_id : null, context))) return true
    return type === 'change' && may(actor, audits.list, null, context)
  }
}
