import { holdersOf } from '../../platform/auth/held-roles.ts'
import { sql } from 'kysely'
import type { Sql, Tx } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/ids.ts'
import type { Tell, Telling } from '../sys/message/message.service.ts'

type KeeperTelling = Pick<Telling, 'text' | 'about'> & { readonly kind: Telling['kind'] & `split.${string}` }
/** Tells those who settle: administrators, and everybody with that role. @param except who does it, and knows */
export type TellKeepers = (tx: Tx, telling: KeeperTelling, except?: string) => Promise<void>

const keepersOf = async (on: Sql): Promise<string[]> =>
  (
    await on
      .selectFrom('users')
      .select('id')
      .where(sql<boolean>`id in ${holdersOf('OPERATION_SUPPORTER')}`)
      .where('status', '=', 'active')
      .where('deleted_at', 'is', null)
      .execute()
  ).map(({ id }) => id)

/** Who settles hears of what waits for them, and of what others change. */
export const createKeeperTelling =
  (tell: Tell): TellKeepers =>
  async (tx, telling, except) => {
    await tell(tx, { ...telling, bp_id: null, key: uuidv7() })
    for (const user_id of await keepersOf(tx)) if (user_id !== except) await tell(tx, { ...telling, bp_id: null, user_id, key: uuidv7() })
  }
