import { setImmediate as others } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../platform/auth/actor.ts'
import { deniesSome, deniedOn } from '../../platform/auth/rules.ts'
import type { Sql } from '../../platform/db/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { contextOf } from '../../platform/http/bind.ts'
import { entriesWithin } from './files.store.ts'

/** What a request says of itself to policies. */
export type Asked = Pick<FastifyRequest, 'ip' | 'headers'>

/** So many are looked at before others go on. */
const atOnce = 500

/**
 * What is done with a folder is done with all that lies in it: where policies deny it of one of these, and of that alone, the
 * folder is no way round. One look at all of it, and none where no policy denies it of some things and not of others.
 * @param actions all that is done with each of them
 * @param bin of what lies in the bin; else of what is there
 * @throws Refusal fileWithinDenied
 */
export async function refuseWithin(on: Sql, actor: Actor, asked: Asked, actions: readonly string[], folders: readonly string[], bin = false): Promise<void> {
  const scoped = actions.filter((action) => deniesSome(actor.rules, action))
  if (scoped.length === 0) return
  const context = contextOf(actor, asked)
  let looked = 0
  for (const { id, name } of await entriesWithin(on, folders, bin)) {
    if (++looked % atOnce === 0) await others()
    for (const action of scoped) {
      const by = deniedOn(actor, action, { kind: 'files.entry', id }, context)
      if (by !== null) throw new Refusal('fileWithinDenied', { values: { name }, refused: { action, outcome: 'explicitDeny', by } })
    }
  }
}
