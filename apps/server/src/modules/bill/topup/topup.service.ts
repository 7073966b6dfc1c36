import { randomInt } from 'node:crypto'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { openTopups, paymentMinutes, remittanceDays, topupCan, type Topup, type TopupMethod, type topups as calls } from '@zhisuan/contract/bill/topup'
import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import { isPlatformKind } from '@zhisuan/contract/roles'
import { z } from 'zod'
import { authoredBy, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, type Sql, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { AddressForbidden, ProviderUnreachable } from '../../../platform/outbound/provider.ts'
import type { Settings } from '../../sys/settings/settings.service.ts'
import { insertAccount } from '../account/account.store.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { lockOwner } from '../ledger/ledger.store.ts'
import type { Channels } from './channel.service.ts'
import { PaymentRejected, type Payment } from './payment.provider.ts'
import * as store from './topup.store.ts'
import { closedByGateway } from './topup.texts.ts'

type Calls = typeof calls

/** Without what people take for one another. */
const codeAlphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const codeOf = (prefix: string, length: number): string => prefix + Array.from({ length }, () => codeAlphabet.charAt(randomInt(codeAlphabet.length))).join('')
/** As people copy it from a bank's statement. */
const typedCode = (text: string): string => text.replace(/[\s-]/g, '').toUpperCase()

/** A gateway tells by itself what was paid; who says nothing for so long is asked, for some days. */
const asking = { youngestMs: 120_000, oldestMs: 3 * 86_400_000, many: 100 }

export const askPaymentsJob = defineJob({ name: 'bill.topup.ask', input: z.object({}), concurrency: 1, schedule: '*/2 * * * *' })

export const shapeTopup = (row: store.ShownTopup): Topup => ({
  id: row.id,
  owner: { id: row.owner_id, name: row.owner_name },
  method: row.method,
  status: row.status_now,
  amount: toDecimal(BigInt(row.amount)),
  received: row.received === null ? null : toDecimal(BigInt(row.received)),
  code: row.code,
  channel: row.channel_id === null ? null : { id: row.channel_id, name: row.channel_name ?? '' },
  reference: row.reference,
  note: row.note,
  created_by: row.created_by_name,
  confirmed_by: row.confirmed_by_name,
  created_at: iso(row.created_at),
  expires_at: row.expires_at === null ? null : iso(row.expires_at),
  ended_at: row.ended_at === null ? null : iso(row.ended_at),
  transaction_id: row.transaction_id,
})

export type TopupService = ReturnType<typeof createTopups>

/** How money comes in: by transfers that administrators confirm, and through gateways. */
export function createTopups(
  { db, now, log }: Pick<Platform, 'db' | 'now' | 'log'>,
  { channels, settings }: { channels: Channels; settings: Pick<Settings, 'get'> },
) {
  const get = async (actor: Actor, id: string): Promise<Topup> => shapeTopup(found(await store.showTopup(db, scopeOf(actor), id, now())))

  const amountOf = (text: string, field: string): bigint => {
    const amount = toMinor(text)
    if (amount < 0n) throw new Refusal('chargeNegative', { field })
    if (amount === 0n) throw new Refusal('amountZero', { field })
    return amount
  }

  /** Whose account somebody pays into: their organisation's, or of the platform's people their own. */
  const ownerOf = async (actor: Actor): Promise<string> => {
    if (!isPlatformKind(actor.kind)) return found(actor.bp_id)
    await insertAccount(db, actor.user_id)
    return actor.user_id
  }

  const refuseMore = async (on: Sql, ownerId: string, method: TopupMethod): Promise<void> => {
    if ((await store.countOpen(on, ownerId, method, now())) >= openTopups) throw new Refusal('topupsOpen', { values: { limit: openTopups } })
  }

  const begin = async (
    actor: Actor,
    ask: { method: TopupMethod; amount: bigint; code: string; channel_id: string | null; created_at: Date; expires_at: Date },
  ): Promise<store.TopupRow> => {
    const owner_id = await ownerOf(actor)
    return db.transaction().execute(async (tx) => {
      // Who asks holds the account, so that two at once are counted one after the other.
      if (!(await lockOwner(tx, owner_id))) throw new Refusal('notFound')
      await refuseMore(tx, owner_id, ask.method)
      const row: store.TopupRow = {
        id: uuidv7(),
        owner_id,
        method: ask.method,
        status: 'waiting',
        amount: String(ask.amount),
        received: null,
        code: ask.code,
        channel_id: ask.channel_id,
        reference: '',
        note: '',
        ...authoredBy(actor),
        confirmed_by_name: '',
        created_at: ask.created_at,
        expires_at: ask.expires_at,
        ended_at: null,
        asked_at: null,
        transaction_id: null,
      }
      await store.insertTopup(tx, row)
      return row
    })
  }

  /** The row is held: the ledger's key and this together pay it once. */
  const credit = async (tx: Tx, row: store.TopupRow, came: { received: bigint; reference: string; note: string; by: Actor | null }): Promise<void> => {
    const { received, reference, note, by } = came
    const transaction_id = await ledger.topUp(tx, {
      owner_id: row.owner_id,
      amount: received,
      key: `topup ${row.id}`,
      note: note === '' ? row.code : note,
      ...(by !== null && { by: { id: by.user_id, name: by.name } }),
    })
    await store.updateTopup(tx, row.id, {
      status: 'confirmed',
      received: String(received),
      reference,
      note,
      confirmed_by_name: by?.name ?? '',
      ended_at: now(),
      transaction_id,
    })
  }

  /** Brings a payment to what its gateway says of it. @throws PaymentRejected, and nothing has changed */
  const settle = async (channelId: string, payment: Payment): Promise<void> => {
    await refusing({ topups_reference: (cause) => new PaymentRejected('the payment has paid another order', { cause }) }, () =>
      db.transaction().execute(async (tx) => {
        const row = await store.lockByCode(tx, 'online', payment.code)
        if (row === undefined || row.channel_id !== channelId) throw new PaymentRejected('no such order')
        if (payment.status === 'paid') {
          if (row.status === 'confirmed') {
            if (row.reference === payment.reference) return
            throw new PaymentRejected('paid a second time, by another payment')
          }
          if (String(payment.amount) !== row.amount) throw new PaymentRejected('another amount')
          // Also of one that expired or was cancelled: the money is there.
          await credit(tx, row, { received: payment.amount, reference: payment.reference, note: '', by: null })
        } else if (payment.status === 'closed' && row.status === 'waiting') {
          await store.updateTopup(tx, row.id, { status: 'cancelled', note: closedByGateway, ended_at: now() })
        }
      }),
    )
  }

  /** When it is asked for, and when it will be over. */
  const lasting = (ms: number): { created_at: Date; expires_at: Date } => {
    const created_at = now()
    return { created_at, expires_at: new Date(created_at.getTime() + ms) }
  }
  const urlOf = async (wish: { code: string; amount: bigint; channel_id: string | null; expires_at: Date }): Promise<string> => {
    const provider = await channels.provider(wish.channel_id ?? '', { enabled: true })
    return provider.create({ code: wish.code, amount: wish.amount, subject: await settings.get('title'), expires_at: wish.expires_at })
  }

  const askAll = async (signal?: AbortSignal): Promise<void> => {
    for (const { id, code, channel_id } of await store.claimUnpaid(db, now(), asking)) {
      if (signal?.aborted === true || channel_id === null) return
      try {
        const provider = await channels.provider(channel_id, { enabled: false })
        await settle(channel_id, await provider.ask(code))
      } catch (error) {
        if (!(error instanceof PaymentRejected || error instanceof AddressForbidden || error instanceof ProviderUnreachable)) throw error
        log.warn({ topup: id, channel: channel_id, reason: error.message }, 'a payment could not be asked about')
      }
    }
  }

  return {
    async ways(): Promise<ResponseOf<Calls['ways']>> {
      const [receiver, bank, account, enabled] = await Promise.all([
        settings.get('remittance_receiver'),
        settings.get('remittance_bank'),
        settings.get('remittance_account'),
        store.enabledChannels(db),
      ])
      return { bank: account === '' ? null : { receiver, bank, account }, channels: enabled }
    },

    list: (actor: Actor, query: QueryOf<Calls['list']>) => shapedPage(store.listTopups(db, scopeOf(actor), query, now()), shapeTopup),
    get,

    /** @throws Refusal 24014, 404, 96012, 96030, 96031 */
    async remit(actor: Actor, body: BodyOf<Calls['remit']>): Promise<Topup> {
      const amount = amountOf(body.amount, 'amount')
      if ((await settings.get('remittance_account')) === '') throw new Refusal('remittanceNotSetUp')
      const { id } = await begin(actor, {
        method: 'remittance',
        amount,
        code: codeOf('HK', 8),
        channel_id: null,
        ...lasting(remittanceDays * 86_400_000),
      })
      return get(actor, id)
    },

    /** @throws Refusal 24014, 404, 96012, 96030, 96034 */
    async pay(actor: Actor, body: BodyOf<Calls['pay']>): Promise<ResponseOf<Calls['pay']>> {
      const amount = amountOf(body.amount, 'amount')
      await refuseMore(db, await ownerOf(actor), 'online')
      const wish = { amount, code: codeOf('PY', 20), channel_id: body.channel_id, ...lasting(paymentMinutes * 60_000) }
      // Before anything is held: gateways take their time. An order there that nothing here knows is never paid.
      const url = await urlOf(wish)
      const row = await begin(actor, { ...wish, method: 'online' })
      return { topup: await get(actor, row.id), url }
    },

    /** @throws Refusal 404, 90010, 96034 */
    async resume(actor: Actor, id: string): Promise<ResponseOf<Calls['resume']>> {
      const row = found(await store.showTopup(db, scopeOf(actor), id, now()))
      if (row.method !== 'online') throw new Refusal('stateForbids')
      refuseUnless(topupCan.pay, { status: row.status_now })
      return { url: await urlOf({ ...row, amount: BigInt(row.amount), expires_at: row.expires_at ?? now() }) }
    },

    /** @throws Refusal 404, 90010 */
    async cancel(actor: Actor, id: string): Promise<Topup> {
      await db.transaction().execute(async (tx) => {
        const row = found(await store.lockTopup(tx, scopeOf(actor), id))
        refuseUnless(topupCan.cancel, { status: isExpired(row, now()) ? 'expired' : row.status })
        await store.updateTopup(tx, id, { status: 'cancelled', ended_at: now() })
      })
      return get(actor, id)
    },

    /** @throws Refusal 24014, 24047, 24048, 90010, 96012 */
    async confirm(actor: Actor, body: BodyOf<Calls['confirm']>): Promise<Topup> {
      const received = amountOf(body.received, 'received')
      const id = await db.transaction().execute(async (tx) => {
        const row = await store.lockByCode(tx, 'remittance', typedCode(body.code))
        if (row === undefined) throw new Refusal('remittanceCodeWrong', { field: 'code' })
        if (isExpired(row, now())) throw new Refusal('remittanceCodeExpired', { field: 'code' })
        refuseUnless(topupCan.confirm, row, 'code')
        await credit(tx, row, { received, reference: body.reference, note: body.note, by: actor })
        return row.id
      })
      return get(actor, id)
    },

    /** What a gateway sent. False where it is not believed; it changed nothing then. */
    async notified(channelId: string, message: unknown): Promise<boolean> {
      const channel = await store.findChannel(db, channelId)
      if (channel === undefined) return false
      try {
        await settle(channelId, channels.providerOf(channel).verify(message))
        return true
      } catch (error) {
        if (!(error instanceof PaymentRejected)) throw error
        // Nothing of the message itself: anybody may have sent it, and anything may stand in it.
        log.warn({ channel: channelId, reason: error.message }, 'a message of a payment gateway was refused')
        return false
      }
    },

    askAll,
    jobHandler: handleJob(askPaymentsJob, (_, { signal }) => askAll(signal)),
  }
}

const isExpired = (row: store.TopupRow, now: Date): boolean => row.status === 'waiting' && row.expires_at !== null && row.expires_at <= now
