import type { Actor } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import { LRUCache } from 'lru-cache'
import type { Entering, Inside } from '../inside.ts'

/** So often it is asked again whether who is inside may still be. */
const lookAgainMs = 10_000

/** By which session somebody is in which machine, and from where. */
export interface Entry {
  readonly session_id: string
  readonly rental_id: string
  readonly ip: string
}

/** Whether whoever was let in once may still be inside: asked before each request, and again while something is on its way. */
export function createGuarding(
  { log, openStreams }: Pick<Platform, 'log' | 'openStreams'>,
  { entering, actorOf }: { entering: Entering; actorOf: (sessionId: string) => Promise<Actor | null> },
) {
  const look = ({ session_id, rental_id, ip }: Entry): Promise<Inside | null> => entering(rental_id, () => actorOf(session_id), { ip })
  const looked = new LRUCache<string, Promise<Inside | null>>({ max: 10_000, ttl: lookAgainMs })
  return {
    /** As it was some seconds ago at most: a page loads many files. */
    inside(entry: Entry): Promise<Inside | null> {
      const key = `${entry.session_id} ${entry.rental_id} ${entry.ip}`
      const known = looked.get(key)
      if (known !== undefined) return known
      const asked = look(entry)
      looked.set(key, asked)
      asked.catch(() => looked.delete(key))
      return asked
    },
    /** While something is on its way it ends with the session, and with the right to be inside. @returns once it has ended */
    guarded(entry: Entry, end: () => void): () => void {
      const gone = openStreams.addWait({ session_id: entry.session_id, end })
      const looking = setInterval(() => {
        look(entry).then(
          (still) => still ?? end(),
          (error: unknown) => log.debug({ err: error }, 'who is inside a machine'),
        )
      }, lookAgainMs).unref()
      return () => {
        gone()
        clearInterval(looking)
      }
    },
  }
}
