import { createHash, randomBytes } from 'node:crypto'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { insertLink, takeLink, type Link } from './link.store.ts'

/** Long enough to come by it, and no longer: what was begun with it goes on. */
const keptMs = 60_000

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Links for what no bearer token can be sent with: each is good once, for who got it, at any server. */
export function createLinks({ db, now }: Pick<Platform, 'db' | 'now'>) {
  return {
    async make(
      about: Pick<Link, 'how' | 'container_id' | 'path'>,
      actor: Pick<Actor, 'user_id' | 'session_id'>,
    ): Promise<{ token: string; expires_at: string }> {
      const token = randomBytes(32).toString('base64url')
      const expires_at = new Date(now().getTime() + keptMs)
      await insertLink(db, { ...about, token_hash: hashOf(token), user_id: actor.user_id, session_id: actor.session_id, expires_at }, now())
      return { token, expires_at: expires_at.toISOString() }
    },
    /** Uses it up. @throws Refusal 95120 */
    async take(token: string, how: Link['how']): Promise<Link> {
      const link = await takeLink(db, hashOf(token), how)
      if (link === undefined || link.expires_at < now()) throw new Refusal('accessLinkInvalid')
      return link
    },
  }
}
export type Links = ReturnType<typeof createLinks>
