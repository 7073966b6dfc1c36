import type { ResponseOf } from '@zhisuan/contract/define'
import type { identities as calls } from '@zhisuan/contract/ums/identityProvider'
import type { Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull } from '../../../platform/db/database.ts'
import { found } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isOpenTo } from './identify.ts'
import { refuseLastWayIn } from '../session/ways-in.ts'
import * as users from '../user/user.store.ts'
import { enabledProviders } from './provider.store.ts'
import * as store from './sign-on.store.ts'

export type IdentityService = ReturnType<typeof createIdentities>

/** The accounts elsewhere that somebody signs in with. */
export const createIdentities = ({ db, config }: Pick<Platform, 'db' | 'config'>) => ({
  async list(actor: Actor): Promise<ResponseOf<(typeof calls)['list']>> {
    const rows = await store.identitiesOf(db, actor.user_id)
    const offered =
      config.PUBLIC_URL === undefined
        ? []
        : (await enabledProviders(db, actor.bp_id)).filter((provider) => isOpenTo({ ...provider, bp_id: actor.bp_id }, actor))
    return {
      total: rows.length,
      items: rows.map((row) => ({
        id: row.id,
        provider_id: row.provider_id,
        provider_name: row.provider_name,
        account: row.account,
        created_at: iso(row.created_at),
        last_used_at: isoOrNull(row.last_used_at),
      })),
      offered: offered.filter(({ id, linking }) => linking !== 'nobody' && !rows.some((row) => row.provider_id === id)).map(({ id, name }) => ({ id, name })),
    }
  },

  /** @throws Refusal 91131 */
  async unlink(actor: Actor, id: string): Promise<void> {
    await db.transaction().execute(async (tx) => {
      const user = found(await users.lockUser(tx, actor.user_id))
      found((await store.deleteIdentity(tx, actor.user_id, id)) ? id : undefined)
      await refuseLastWayIn(tx, user)
    })
  },
})
