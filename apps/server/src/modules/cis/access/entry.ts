import type { containerCan } from '@zhisuan/contract/cis/container'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { ContainerService } from '../container/container.service.ts'

/** Whom a session is of, now; null where it has ended, or who it is of may not sign in any more. */
export type ActorOf = (sessionId: string) => Promise<Actor | null>
export type Entry = ReturnType<typeof createEntry>

/**
 * Whoever comes by a ticket or a link comes as who got it: with what they may see now, and not with
 * what they saw then.
 */
export const createEntry =
  (parts: { containers: Pick<ContainerService, 'reached'>; actorOf: ActorOf }) =>
  /** @throws Refusal 95120 where the session has ended; 404, 90010, 95003 as for them */
  async (of: { readonly session_id: string; readonly container_id: string }, action: keyof typeof containerCan): ReturnType<ContainerService['reached']> => {
    const actor = await parts.actorOf(of.session_id)
    if (actor === null) throw new Refusal('accessLinkInvalid')
    return parts.containers.reached(scopeOf(actor), of.container_id, action)
  }
