import { containers } from '@zhisuan/contract/cis/container'
import type { Context } from '@zhisuan/contract/policy/pattern'
import { mayAccess } from '@zhisuan/contract/roles'
import { scopeOf, type Actor } from '../../platform/auth/actor.ts'
import { decideCall } from '../../platform/auth/rules.ts'
import type { Sql } from '../../platform/db/database.ts'
import { contextOf } from '../../platform/http/bind.ts'
import { tagsOf } from '../../platform/kinds.ts'
import type { Platform } from '../../platform/platform.ts'

/** Who is inside a machine, as what they are now. */
export interface Inside {
  readonly actor: Actor
  readonly container_id: string
}
/** What somebody asks for by its id; only what runs has an inside. */
const runningRental = (on: Sql, id: string): Promise<{ bp_id: string; container_id: string | null } | undefined> =>
  on.selectFrom('market_rentals').select(['bp_id', 'container_id']).where('id', '=', id).where('status', '=', 'running').executeTakeFirst()

export type Entering = ReturnType<typeof createEntering>

/**
 * Who may be inside a machine that is rented, by whichever way: whoever may open a terminal in its container, as roles,
 * policies and organisation are by now. Every way in asks here, before it lets somebody in and again while they are inside.
 */
export function createEntering({ db, kinds }: Pick<Platform, 'db' | 'kinds'>) {
  /**
   * Null where there is no such machine, or they may not.
   * @param who finds whom the machine is asked for by, once it is known whose it is
   */
  return async (rentalId: string, who: (bpId: string) => Promise<Actor | null>, from: { ip: string } | { context: Context }): Promise<Inside | null> => {
    const rental = await runningRental(db, rentalId)
    if (rental === undefined || rental.container_id === null) return null
    const actor = await who(rental.bp_id)
    if (actor === null || actor.bp_id !== rental.bp_id || !mayAccess(containers.terminal.access, actor)) return null
    const context = 'context' in from ? from.context : contextOf(actor, { ip: from.ip, headers: {} })
    const { outcome } = await decideCall(actor, containers.terminal, { params: { id: rental.container_id } }, context, (kind, id) =>
      tagsOf(kinds(), scopeOf(actor), kind, id),
    )
    return outcome === 'allowed' ? { actor, container_id: rental.container_id } : null
  }
}
