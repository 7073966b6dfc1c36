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

/** One that is open, by which it is told what went through it. */
export type OpenChannel = PayoutChannelClient & { readonly channel_id: string }
/** A channel whose files are to be read, and until when it was the one that pays. */
export interface ReadableChannel {
  readonly id: string
  readonly until: Date | null
}

export type PayoutChannels = ReturnType<typeof createPayoutChannels>

/** The channel of payouts, as administrators set it up. */
export function createPayoutChannels(
  { db, config, secrets, now }: Pick<Platform, 'db' | 'secrets' | 'now'> & { config: Pick<Platform['config'], 'ZHISUAN_ENV' | 'PUBLIC_URL'> },
  { prove }: { prove: Prove },
) {
  const development = config.ZHISUAN_ENV !== 'production'
  const notify_url = config.PUBLIC_URL === undefined ? null : new URL(notifyPath, config.PUBLIC_URL).href
  type Row = Omit<store.FormerChannelRow, 'until'>
  const keyOf = ({ id, key }: Row): string => secrets.open(key, placeOf(id))
  const clientOf = (row: Row): OpenChannel => ({
    ...createPayoutChannelClient({ ...row, key: keyOf(row) }, { notify_url, now, development }),
    channel_id: row.id,
  })
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
    /**
     * The one that something went through; null where there is none. One that is not enabled, or that another one took the place
     * of, is still asked about what it has.
     * @param id null: the one that pays now
     */
    async client(id: string | null): Promise<OpenChannel | null> {
      const row = await store.getChannel(db)
      if (id === null || row?.id === id) return row === undefined ? null : clientOf(row)
      const former = (await store.formerChannels(db)).find((one) => one.id === id)
      return former === undefined ? null : clientOf(former)
    },
    /** Those of which a message may be, the one that pays now first. */
    async all(): Promise<OpenChannel[]> {
      const row = await store.getChannel(db)
      return [...(row === undefined ? [] : [row]), ...(await store.formerChannels(db))].map(clientOf)
    },
    /** Those whose files are read: the one that pays now where it is enabled, and the former ones. */
    async readable(): Promise<ReadableChannel[]> {
      const row = await store.getChannel(db)
      return [...(row?.enabled === true ? [{ id: row.id, until: null }] : []), ...(await store.formerChannels(db)).map(({ id, until }) => ({ id, until }))]
    },
    /** To send through it: held until the transaction ends, so that no other one takes its place before what is claimed is committed. Null where nothing may be sent. */
    async sending(tx: Tx): Promise<OpenChannel | null> {
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
        const replaces = before !== undefined && (before.gateway !== body.gateway || before.merchant_id !== body.merchant_id)
        if (replaces) {
          const count = await store.countOpen(tx)
          if (count > 0) throw new Refusal('splitChannelBusy', { values: { count } })
          const { only_one: _1, enabled: _2, updated_at: _3, ...former } = before
          await store.insertFormerChannel(tx, { ...former, until: now() })
        }
        const id = before === undefined || replaces ? uuidv7() : before.id
        await store.writeChannel(tx, { ...body, only_one: true, id, key: secrets.seal(key, placeOf(id)), updated_at: now() })
      })
      const channel = await get()
      if (channel === null) throw new Refusal('notFound')
      return { channel }
    },
  }
}
