import type { PaymentChannel, paymentChannels as calls } from '@zhisuan/contract/bill/topup'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { iso } from '../../../platform/db/database.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isProviderAddress } from '../../../platform/outbound/provider.ts'
import { wrongKey, type SigningKeys } from '../../../platform/outbound/signed-messages.ts'
import { createSignedGateway, type PaymentProvider } from './payment.provider.ts'
import * as store from './topup.store.ts'

type Calls = typeof calls

const placeOfKey = (id: string): string => `bill.paymentChannel.${id}`

/** Where a gateway tells what was paid. Each has a path of its own, so that none can answer for another. */
export const notifyPath = (id: string): string => `/api/bill/v1/payment-channels/${id}/notify`

export type Channels = ReturnType<typeof createChannels>

/** Gateways as administrators set them up, and the providers that they are. */
export function createChannels({ db, config, secrets, now }: Pick<Platform, 'db' | 'config' | 'secrets' | 'now'>) {
  const development = config.ZHISUAN_ENV !== 'production'
  const at = (path: string): string | null => (config.PUBLIC_URL === undefined ? null : new URL(path, config.PUBLIC_URL).href)

  const shape = ({
    id,
    name,
    enabled,
    gateway,
    merchant_id,
    sign_type,
    gateway_public_key,
    topup_count,
    created_at,
    updated_at,
  }: store.ShownChannel): PaymentChannel => ({
    id,
    name,
    enabled,
    gateway,
    merchant_id,
    sign_type,
    gateway_public_key,
    topup_count,
    notify_url: at(notifyPath(id)),
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  })
  const show = async (id: string): Promise<PaymentChannel> => shape(found(await store.showChannel(db, id)))

  const refuseInsecure = (gateway: string): void => {
    if (!isProviderAddress(new URL(gateway), development)) throw new Refusal('gatewayInsecure', { field: 'gateway' })
  }
  const refuseWrongKeys = (keys: SigningKeys): void => {
    const field = wrongKey(keys)
    if (field !== null) throw new Refusal('channelKeyInvalid', { field })
  }
  const taken = { [store.channelNameIndex]: ['channelNameTaken', 'name'] } as const

  const keyOf = ({ id, key }: store.ChannelRow): string => secrets.open(key, placeOfKey(id))
  const providerOf = (row: store.ChannelRow): PaymentProvider =>
    createSignedGateway({ ...row, key: keyOf(row) }, { notify_url: at(notifyPath(row.id)), return_url: at('/charge-records'), now, development })

  return {
    providerOf,
    /** @throws Refusal 96034 where nobody may pay through it */
    async provider(id: string, { enabled }: { enabled: boolean }): Promise<PaymentProvider> {
      const row = await store.findChannel(db, id)
      if (row === undefined || (enabled && !row.enabled)) throw new Refusal('channelUnavailable', { field: 'channel_id' })
      return providerOf(row)
    },

    async list(): Promise<ResponseOf<Calls['list']>> {
      const items = (await store.listChannels(db)).map(shape)
      return { total: items.length, items }
    },

    /** @throws Refusal 96032, 96035, 96038 */
    async create({ key, ...body }: BodyOf<Calls['create']>): Promise<PaymentChannel> {
      refuseInsecure(body.gateway)
      refuseWrongKeys({ ...body, key })
      const id = uuidv7()
      await refusing(taken, () => store.insertChannel(db, { ...body, id, key: secrets.seal(key, placeOfKey(id)), created_at: now(), updated_at: now() }))
      return show(id)
    },

    /** @throws Refusal 404, 96032, 96035, 96038 */
    async update(id: string, { key: given, ...body }: BodyOf<Calls['update']>): Promise<PaymentChannel> {
      refuseInsecure(body.gateway)
      await refusing(taken, () =>
        db.transaction().execute(async (tx) => {
          const before = found(await store.lockChannel(tx, id))
          // A secret is no private key: another way to sign needs its own.
          if (given === undefined && body.sign_type !== before.sign_type) throw new Refusal('channelKeyInvalid', { field: 'key' })
          const key = given ?? keyOf(before)
          refuseWrongKeys({ ...body, key })
          await store.updateChannel(tx, id, { ...body, key: secrets.seal(key, placeOfKey(id)), updated_at: now() })
        }),
      )
      return show(id)
    },

    /** @throws Refusal 404, 96033 */
    delete: (id: string): Promise<void> =>
      db.transaction().execute(async (tx) => {
        found(await store.lockChannel(tx, id))
        if (await store.isUsed(tx, id)) throw new Refusal('channelInUse')
        await store.deleteChannel(tx, id)
      }),
  }
}
