import type { ChannelState, PayoutChannel, splitChannel } from '@zhisuan/contract/split/payout'
import type { BodyOf } from '@zhisuan/contract/define'
import { iso, type Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { isProviderAddress } from '../../../platform/outbound/provider.ts'
import { wrongKey } from '../../../platform/outbound/signed-messages.ts'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Prove } from '../bank/bank.service.ts'
import type { TellKeepers } from '../keeper.tell.ts'
import { createPayoutChannelClient, type PayoutChannelClient } from './channel.client.ts'
import * as store from './payout.store.ts'
import { payoutTexts as texts } from './payout.texts.ts'

type Calls = typeof splitChannel

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
  { prove, tellKeepers }: { prove: Prove; tellKeepers: TellKeepers },
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

  const state = async (): Promise<ChannelState> => {
    const waiting = await store.getWaiting(db)
    if (waiting === undefined) return { channel: await get(), waiting: null }
    const { id, enabled, gateway, merchant_id, sign_type, gateway_public_key, asked_by_name: asked_by, created_at } = waiting
    return { channel: await get(), waiting: { id, enabled, gateway, merchant_id, sign_type, gateway_public_key, asked_by, created_at: iso(created_at) } }
  }
  /** Another one, and not the same that is signed otherwise. */
  const replaces = (before: Pick<Row, 'gateway' | 'merchant_id'> | undefined, wanted: Pick<Row, 'gateway' | 'merchant_id'>): boolean =>
    before !== undefined && (before.gateway !== wanted.gateway || before.merchant_id !== wanted.merchant_id)
  /** Another channel knows nothing of what this one has, and would pay it again. */
  const refuseBusy = async (tx: Tx, before: Row | undefined, wanted: Pick<Row, 'gateway' | 'merchant_id'>): Promise<void> => {
    const count = replaces(before, wanted) ? await store.countOpen(tx) : 0
    if (count > 0) throw new Refusal('splitChannelBusy', { values: { count } })
  }
  const told = (tx: Tx, { id, merchant_id: name }: Pick<Row, 'id' | 'merchant_id'>, text: string, by: Actor): Promise<void> =>
    tellKeepers(tx, { kind: 'split.channel', text, about: { kind: 'split.channel', id, name } }, by.user_id)

  return {
    state,
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

    /**
     * What leads money elsewhere, or is signed otherwise, waits for somebody else; whether payouts are sent at all counts at once.
     * @throws Refusal 1120, 91125, 96035, 96038, 98215
     */
    async set(actor: Actor, { key: given, password, ...body }: BodyOf<Calls['set']>): Promise<ChannelState> {
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
        const isSame = !isOther && given === undefined && !replaces(before, body) && before.gateway_public_key === body.gateway_public_key
        if (isSame) {
          if (before.enabled === body.enabled) return
          await store.writeChannel(tx, { ...before, enabled: body.enabled, updated_at: now() })
          await told(tx, before, body.enabled ? texts.channelEnabled(actor.name) : texts.channelDisabled(actor.name), actor)
          return
        }
        await refuseBusy(tx, before, body)
        const id = uuidv7()
        const row = { ...body, only_one: true, id, key: secrets.seal(key, placeOf(id)), asked_by: actor.user_id, asked_by_name: actor.name, created_at: now() }
        await store.writeWaiting(tx, row)
        await told(tx, row, texts.channelAsked(actor.name, body.gateway), actor)
      })
      return state()
    },

    /** @throws Refusal 404, 1120, 91125, 98209, 98215 */
    async approve(actor: Actor, id: string, password: string | undefined): Promise<ChannelState> {
      await prove(actor, password)
      await db.transaction().execute(async (tx) => {
        const before = await store.lockChannel(tx)
        const { asked_by, asked_by_name: _1, created_at: _2, ...wanted } = found(await store.lockWaiting(tx, id))
        if (asked_by === actor.user_id) throw new Refusal('splitOwnApproval')
        await refuseBusy(tx, before, wanted)
        if (before !== undefined && replaces(before, wanted)) {
          const { only_one: _3, enabled: _4, updated_at: _5, ...former } = before
          await store.insertFormerChannel(tx, { ...former, until: now() })
        }
        // The same one, signed otherwise, stays the one that all of it went through.
        const stays = before === undefined || replaces(before, wanted) ? id : before.id
        await store.writeChannel(tx, { ...wanted, id: stays, key: secrets.seal(keyOf(wanted), placeOf(stays)), updated_at: now() })
        await store.deleteWaiting(tx)
        await told(tx, { ...wanted, id: stays }, texts.channelChanged(actor.name, wanted.gateway), actor)
      })
      return state()
    },

    /** @throws Refusal 404 */
    async withdraw(id: string): Promise<ChannelState> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockWaiting(tx, id))
        await store.deleteWaiting(tx)
      })
      return state()
    },
  }
}
