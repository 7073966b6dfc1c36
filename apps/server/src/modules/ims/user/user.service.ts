import type { registryCommands, registryUsers, RegistryUser } from '@zhisuan/contract/ims/registry'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import * as store from '../registry/registry.store.ts'
import { commandsOf } from './commands.ts'

type Calls = typeof registryUsers

export type RegistryUserService = ReturnType<typeof createRegistryUsers>

/** Passwords that people have for registries: beside the one of their account, so that no program has to keep that. */
export function createRegistryUsers({ db, now }: Pick<Platform, 'db' | 'now'>, { hash }: { hash: (password: string) => Promise<string> }) {
  return {
    list: (query: QueryOf<Calls['list']>) =>
      shapedPage(store.listUsers(db, query), (row): RegistryUser => ({
        id: row.user_id,
        user: { id: row.user_id, name: row.name },
        username: row.name,
        bp_id: row.bp_id,
        bp_name: row.bp_name,
        set_at: iso(row.set_at),
        used_at: isoOrNull(row.used_at),
      })),

    async set(actor: Actor, { password }: BodyOf<Calls['create']>): Promise<ResponseOf<Calls['create']>> {
      const set_at = now()
      await store.putUser(db, { user_id: actor.user_id, hash: await hash(password), set_at, used_at: null })
      return { username: actor.name, set_at: iso(set_at) }
    },

    exist: async (actor: Actor): Promise<ResponseOf<Calls['exist']>> => ({
      exist: (await store.getUser(db, actor.user_id)) !== undefined,
      username: actor.name,
    }),

    async delete(id: string): Promise<void> {
      if (!(await store.removeUser(db, id))) throw new Refusal('notFound')
    },

    async commands(actor: Actor, body: BodyOf<typeof registryCommands.create>): Promise<ResponseOf<typeof registryCommands.create>> {
      const registry = found(await store.getRegistry(db, body.registry_id))
      if (registry.status !== 'active') throw new Refusal('registryUnknown', { field: 'registry_id' })
      if ((await store.getUser(db, actor.user_id)) === undefined) throw new Refusal('repositoryPasswordUnset')
      return { username: actor.name, items: commandsOf(registry, actor.name, body) }
    },
  }
}
