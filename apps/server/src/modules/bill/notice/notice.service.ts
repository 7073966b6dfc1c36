import { floored, owed } from '@zhisuan/contract/bill/money'
import type { Notice, NoticeContacts, NoticeKind, notices as calls } from '@zhisuan/contract/bill/notice'
import type { QueryOf } from '@zhisuan/contract/define'
import { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { found, Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Tell, Telling } from '../../sys/message/message.service.ts'
import { organisationOf } from '../arrears/standing.store.ts'
import * as store from './notice.store.ts'

/** What is filled into the texts; money as decimal text, exact. */
export interface NoticeValues {
  readonly available?: string
  readonly arrears?: string
  readonly grace_until?: Date | null
  readonly resume?: boolean
  readonly budget?: { readonly name: string; readonly percent: number; readonly amount: string; readonly spent: string; readonly forecast?: string }
}

/** A way to people: `modules/ums` has it, with the words. Null: nothing is configured to send with. */
export interface NoticeSender {
  text(kind: NoticeKind, organisation: string, values: NoticeValues): string
  /** The same as it leaves the platform: with its name. */
  signed(text: string): string
  send(message: { channel: 'email' | 'sms'; address: string; purpose: string; text: string }): Promise<void> | null
}

/** After this it is no news any more. */
const staleMs = 24 * 3_600_000

const sendJob = defineJob({ name: 'bill.notice.send', input: z.object({ delivery_id: z.uuid() }), concurrency: 4, retries: 5 })

export type NoticeService = ReturnType<typeof createNotices>

/**
 * Tells organisations about their money: by mail and SMS to who manages them and to whom they name, and within the console.
 * A notice is kept beside its message: it tells where it was sent, and outlives it.
 */
export function createNotices({ db, jobs, now, log }: Pick<Platform, 'db' | 'jobs' | 'now' | 'log'>, sender: NoticeSender, tellWithin: Tell) {
  const visible = async (actor: Actor, id: string): Promise<void> => {
    const scope = scopeOf(actor)
    if (!('everything' in scope) && !('bp_id' in scope && scope.bp_id === id)) throw new Refusal('notFound')
    found(await organisationOf(db, id))
  }

  return {
    job: sendJob,
    jobHandler: handleJob(sendJob, async ({ delivery_id }) => {
      const delivery = await store.waitingDelivery(db, delivery_id)
      if (delivery === undefined) return
      const { at, kind, ...message } = delivery
      const sending = now().getTime() - at.getTime() > staleMs ? null : sender.send({ ...message, purpose: `bill-${kind}` })
      if (sending === null) return store.setDelivery(db, delivery_id, 'failed')
      await sending
      await store.setDelivery(db, delivery_id, 'sent')
    }),

    /** In the transaction of what is told: it is told if and only if that happened. Sending comes after. */
    async tell(
      tx: Tx,
      organisation: { id: string; name: string },
      kind: NoticeKind,
      values: NoticeValues,
      about: Telling['about'] = { kind: 'bill.account', ...organisation },
    ): Promise<void> {
      const id = uuidv7()
      const shown = {
        ...values,
        ...(values.available !== undefined && { available: floored(values.available) }),
        ...(values.arrears !== undefined && { arrears: owed(values.arrears) }),
      }
      const text = sender.text(kind, organisation.name, shown)
      await store.insertNotice(tx, { id, bp_id: organisation.id, kind, text: sender.signed(text), at: now() })
      await tellWithin(tx, { kind: `bill.${kind}`, bp_id: organisation.id, text, about, key: id })
      const people = [...(await store.administratorsOf(tx, organisation.id)), ...(await store.contactsOf(tx, organisation.id)).contacts]
      const ways = people.flatMap(({ email, phone }) => [
        ...(email === null ? [] : [['email', email] as const]),
        ...(phone === null ? [] : [['sms', phone] as const]),
      ])
      for (const [channel, address] of new Map(ways.map((way) => [way.join(' '), way])).values()) {
        const delivery_id = uuidv7()
        await store.insertDelivery(tx, { id: delivery_id, notice_id: id, channel, address })
        await jobs.send(tx, sendJob, { delivery_id })
      }
      log.info({ organisation: organisation.id, notice: kind }, 'an organisation is told about its money')
    },

    async list(actor: Actor, query: QueryOf<typeof calls.list>): Promise<{ total: number; items: Notice[] }> {
      const scope = scopeOf(actor)
      if (query.bp_id !== undefined && !('everything' in scope) && !('bp_id' in scope && scope.bp_id === query.bp_id))
        throw new Refusal('notFound', { field: 'bp_id' })
      return store.listNotices(db, scope, query)
    },
    async contacts(actor: Actor, id: string): Promise<NoticeContacts> {
      await visible(actor, id)
      return store.contactsOf(db, id)
    },
    async setContacts(actor: Actor, id: string, { contacts }: NoticeContacts): Promise<NoticeContacts> {
      await visible(actor, id)
      await store.setContacts(db, id, contacts)
      return { contacts }
    },
  }
}
