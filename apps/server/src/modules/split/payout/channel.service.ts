import type { PayoutChannel, splitChannel } from '@zhisuan/contract/split/payout'
import type { BodyOf } from '@zhisuan/contract/define'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { isProviderAddress } from '../../../platform/outbound/provider.ts'
import { wrongKey } from '../../../platform/outbound/signed-messages.ts'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Prove } from '../bank/bank.service.ts'
import { createPayoutChannelClient, type PayoutChannelClient } from './channel.client.ts'
import * as store from './payout.store.ts'

/** Where the channel tells what became of payouts. */
export const notifyPath = '/api/split/v1/payout-channel/notify'

const placeOf = (id: string): string => `split_channel.key:${id}`

export type PayoutChannels = ReturnType<typeof createPayoutChannels>

/** The channel of payouts, as administrators set it up. */
export function createPayoutChannels(
  { db, config, secrets, now }: Pick<Platform, 'db' | 'secrets' | 'now'> & { config: Pick<Platform['config'], 'ZHISUAN_ENV' | 'PUBLIC_URL'> },
  { prove }: { prove: Prove },
) {
  const development = config.ZHISUAN_ENV !== 'production'
  const notify_url = config.PUBLIC_URL === undefined ? null : new URL(notifyPath, config.PUBLIC_URL).href
  const keyOf = ({ id, key }: store.ChannelRow): string => secrets.open(key, placeOf(id))
  const clientOf = (row: store.ChannelRow): PayoutChannelClient => createPayoutChannelClient({ ...row, key: keyOf(row) }, { notify_url, now, development })
  const get = async (): Promise<PayoutChannel | null> => {
    const row = await store.getChannel(db)
    if (row === undefined) return null
    const { enabled, gateway, merchant_id, sign_type, gateway_public_key, updated_at } = row
    return { enabled, gateway, merchant_id, sign_type, gateway_public_key, notify_url, open_count: await store.countOpen(db), updated_at: iso(updated_at) }
  }

  return {
    get,
    /** Whether payouts may be asked for and sent. */
    enabled: async (): Promise<boolean> => (await store.getChannel(db))?.enabled === true,
    /** Null where none is set up; one that is not enabled is still asked about what it has. */
    async client(): Promise<PayoutChannelClient | null> {
      const row = await store.getChannel(db)
      return row === undefined ? null : clientOf(row)
    },
    /** To send through it: held until the transaction ends, so that no other one takes its place before what is claimed is committed. Null where nothing may be sent. */
    async sending(tx: Tx): Promise<PayoutChannelClient | null> {
      const row = await store.holdChannel(tx)
      return row?.enabled === true ? clientOf(row) : null
    },

    /** @throws Refusal 1120, 91125, 96035, 96038, 98215 */
    async set(actor: Actor, { key: given, password, ...body }: BodyOf<(typeof splitChannel)['set']>): Promise<{ channel: PayoutChannel }> {
      if (!isProviderAddress(new URL(body.gateway), development)) throw new Refusal('gatewayInsecure', { field: 'gateway' })
      await prove(actor, password)
      await db.transaction().execute(async (tx) => {
        const before = await store.lockChannel(tx)
        // A secret is no private key: another way to sign needs its own. And whoever leads all money elsewhere has to know a key of there.
        const isOther = before?.sign_type !== body.sign_type || before.gateway !== body.gateway
        if (given === undefined && isOther) throw new Refusal('channelKeyInvalid', { field: 'key' })
        const key = given ?? (before === undefined ? '' : keyOf(before))
        const wrong = wrongKey({ ...body, key })
        if (wrong !== null) throw new Refusal('channelKeyInvalid', { field: wrong })
        // Another channel knows nothing of what this one has, and would pay it again.
        if (before !== undefined && (before.gateway !== body.gateway || before.merchant_id !== body.merchant_id)) {
          const count = await store.countOpen(tx)
          if (count > 0) throw new Refusal('splitChannelBusy', { values: { count } })
        }
        const id = before?.id ?? uuidv7()
        await store.writeChannel(tx, { ...body, only_one: true, id, key: secrets.seal(key, placeOf(id)), updated_at: now() })
      })
      const channel = await get()
      if (channel === null) throw new Refusal('notFound')
      return { channel }
    },
  }
}
