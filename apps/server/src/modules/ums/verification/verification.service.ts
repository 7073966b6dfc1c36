import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Tx } from '../../../platform/db/database.ts'
import { unrecorded } from '../../../platform/db/recording.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readSecretKey } from '../../../platform/secrets.ts'
import { createDelivery, message, type Message } from '../delivery/delivery.service.ts'
import { messageTexts } from '../texts.ts'
import * as store from './verification.store.ts'

/** What a code is for. A code for one thing is no good for another. */
export type Purpose = 'registration' | 'auth' | 'consultation' | 'patch-phone' | 'auth-email' | 'patch-email'

/** Who asks for a code, and from where. */
export interface Asker {
  ip: string
  /** For codes that only they can use who asked; null where nobody is signed in. */
  userId: string | null
}

/** A code that was right, to be spent in the transaction of what it allows. */
export interface CheckedCode {
  readonly id: string
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const lifetimeMs = 5 * minuteMs
const pauseMs = minuteMs
const perDayMax = 10
const perHourFromOnePlaceMax = 30
const triesMax = 5

/** The message is sealed: a queue must not be a place to read codes. */
const sendJob = defineJob({
  name: 'ums.verification.send',
  input: z.object({ id: z.uuid(), message: z.string(), expires_at: z.iso.datetime() }),
  concurrency: 4,
  retries: 3,
})
/** Null where nobody has that address: the same work is done up to here, so that its time tells nothing. */
const sealedMessage = message.nullable()

export type VerificationService = ReturnType<typeof createVerificationService>

export function createVerificationService(platform: Platform) {
  const { db, secrets, jobs, now, config } = platform
  const delivery = createDelivery(platform)
  // A key of its own from the one of this installation: six digits alone are found in a moment.
  const key = createHmac('sha256', readSecretKey(config)).update('verification codes').digest()
  const hashOf = (purpose: Purpose, address: string, code: string): Buffer => createHmac('sha256', key).update(`${purpose}\0${address}\0${code}`).digest()
  const place = (id: string) => `ums.verification.send:${id}`

  /** @throws Refusal 90009 with the seconds to wait; only under the locks is the answer true */
  const refuseUnlessAllowed = async (tx: Tx, address: string, ip: string): Promise<void> => {
    const at = now().getTime()
    const waitMs = (last: Date | null, windowMs: number) => (last === null ? 0 : last.getTime() + windowMs - at)
    const longest = Math.max(
      waitMs(await store.nthNewest(tx, { address }, 1), pauseMs),
      waitMs(await store.nthNewest(tx, { address }, perDayMax), dayMs),
      waitMs(await store.nthNewest(tx, { ip }, perHourFromOnePlaceMax), hourMs),
    )
    if (longest > 0) throw new Refusal('tooManyRequests', { values: { seconds: Math.ceil(longest / 1000) } })
  }

  return {
    jobs: [sendJob],
    jobHandlers: [
      handleJob(sendJob, async (job) => {
        // The gateway was away for so long that nobody could use the code any more.
        if (Date.parse(job.expires_at) <= now().getTime()) return
        const opened = sealedMessage.parse(JSON.parse(secrets.open(job.message, place(job.id))))
        if (opened === null) return
        const deliver = delivery[opened.channel]
        if (deliver === null) throw new Error(`no way to deliver by ${opened.channel}`)
        await deliver(opened)
      }),
    ],

    /**
     * Makes a code and has a job send it, so that nobody waits for a gateway.
     * @param known false: counts, works and answers alike but sends nothing, for an address that may not know it is unknown
     * @throws Refusal 90009; 91009 where nothing is configured to send with
     */
    async send(purpose: Purpose, to: Pick<Message, 'channel' | 'address'>, asker: Asker, known = true) {
      if (delivery[to.channel] === null) throw new Refusal('verificationUndelivered')
      await db.transaction().execute(async (tx) => {
        await store.lockLimits(tx, to.address, asker.ip)
        await refuseUnlessAllowed(tx, to.address, asker.ip)
        const id = uuidv7()
        const code = String(randomInt(1_000_000)).padStart(6, '0')
        const expiresAt = new Date(now().getTime() + lifetimeMs)
        await store.insertCode(tx, {
          id,
          purpose,
          address: to.address,
          user_id: asker.userId,
          code_hash: hashOf(purpose, to.address, code),
          ip: asker.ip,
          expires_at: expiresAt,
          used_at: known ? null : now(),
          created_at: now(),
        })
        const text = messageTexts.code(purpose, code, lifetimeMs / minuteMs)
        const sent: z.input<typeof sealedMessage> = known ? { ...to, purpose, text } : null
        await jobs.send(tx, sendJob, { id, message: secrets.seal(JSON.stringify(sent), place(id)), expires_at: expiresAt.toISOString() })
      })
      return { expires_in_seconds: lifetimeMs / 1000, retry_after_seconds: pauseMs / 1000 }
    },

    /**
     * Whether a code is right. Every try counts, at once and for good: so never call it inside a
     * transaction, which could take the count back (and would wait for a second connection).
     * @throws Refusal 1121
     */
    async check(purpose: Purpose, address: string, code: string, userId: string | null = null): Promise<CheckedCode> {
      const row = await unrecorded(() => store.countTry(db, { purpose, address, userId }, now()))
      const right = row !== undefined && row.tries <= triesMax && timingSafeEqual(row.code_hash, hashOf(purpose, address, code))
      if (!right) throw new Refusal('verificationCodeInvalid', { field: 'code' })
      return { id: row.id }
    },

    /**
     * Uses a code up together with what it allows: where that is refused, the code stays good.
     * @throws Refusal 1121 where another request was faster
     */
    async spend(tx: Tx, code: CheckedCode): Promise<void> {
      if (!(await store.markUsed(tx, code.id, now()))) throw new Refusal('verificationCodeInvalid', { field: 'code' })
    },

    /** Limits look back a day. */
    clean: (): Promise<void> => store.deleteCodesBefore(db, new Date(now().getTime() - 2 * dayMs)),
  }
}
