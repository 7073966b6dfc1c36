import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Tx } from '../../../platform/db/database.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { defineJob, handleJob, type JobHandler } from '../../../platform/jobs.ts'
import type { Platform } from '../../../platform/platform.ts'
import { readSecretKey } from '../../../platform/secrets.ts'
import { createDelivery, type Message } from './delivery.ts'
import { messageTexts } from './texts.ts'

/** What a code is for. A code for one thing is no good for another. */
export type Purpose = 'registration' | 'auth' | 'consultation' | 'patch-phone' | 'auth-email' | 'patch-email'

const lifetimeMs = 5 * 60_000
const pauseMs = 60_000
const perDayMax = 10
const perHourFromOneIp = 30
const triesMax = 5

/** The text is sealed: a queue must not be a place to read codes. */
const sendJob = defineJob({
  name: 'ums.verification.send',
  input: z.object({ message: z.string() }),
  concurrency: 4,
  retries: 3,
})

export type VerificationService = ReturnType<typeof createVerificationService>

export function createVerificationService(platform: Platform) {
  const { db, secrets, jobs, now, config, log } = platform
  const delivery = createDelivery({ config, db, log })
  const key = createHmac('sha256', readSecretKey(config)).update('verification codes').digest()
  const hashOf = (purpose: string, address: string, code: string): Buffer =>
    createHmac('sha256', key).update(`${purpose}\0${address}\0${code}`).digest()

  return {
    job: sendJob,
    jobHandler: handleJob(sendJob, async ({ message }) => {
      const opened = JSON.parse(secrets.open(message, 'ums.verification.send')) as Message
      const deliver = delivery[opened.channel]
      if (deliver === null) throw new Error(`no way to deliver by ${opened.channel}`)
      await deliver(opened)
    }) satisfies JobHandler,

    /**
     * Makes a code and sends it. Limits are counted under a lock on the address, so that requests
     * at the same time are not all let through.
     * @param silent counts and answers alike, but sends nothing: for an address that may not know it is unknown
     */
    async send(purpose: Purpose, channel: Message['channel'], address: string, ip: string, silent = false) {
      if (delivery[channel] === null) throw new Refusal('verificationUndelivered')
      await db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${address}, 11))`.execute(tx)
        await refuseUnlessAllowed(tx, address, ip)
        const code = String(randomInt(1_000_000)).padStart(6, '0')
        await tx
          .insertInto('verification_codes')
          .values({
            id: uuidv7(),
            purpose,
            address,
            code_hash: hashOf(purpose, address, code),
            ip,
            expires_at: new Date(now().getTime() + lifetimeMs),
            used_at: silent ? now() : null,
            created_at: now(),
          })
          .execute()
        if (silent) return
        const message: Message = { channel, address, purpose, text: messageTexts.code(code, lifetimeMs / 60_000) }
        await jobs.send(tx, sendJob, { message: secrets.seal(JSON.stringify(message), 'ums.verification.send') })
      })
      return { expires_in_seconds: lifetimeMs / 1000, retry_after_seconds: pauseMs / 1000 }
    },

    /**
     * Uses up a code, in the transaction of what it allows: if that is refused, it can be used again.
     * A wrong one counts even so.
     * @throws Refusal 1121
     */
    async use(tx: Tx, purpose: Purpose, address: string, code: string): Promise<void> {
      const wrong = new Refusal('verificationCodeInvalid', { field: 'code' })
      // Outside the transaction, or the count of wrong tries would be rolled back with it.
      const row = await db
        .updateTable('verification_codes')
        .set({ tries: sql`tries + 1` })
        .where(
          'id',
          '=',
          db
            .selectFrom('verification_codes')
            .select('id')
            .where('purpose', '=', purpose)
            .where('address', '=', address)
            .where('used_at', 'is', null)
            .where('expires_at', '>', now())
            .orderBy('created_at', 'desc')
            .limit(1),
        )
        .returning(['id', 'code_hash', 'tries'])
        .executeTakeFirst()
      if (row === undefined || row.tries > triesMax) throw wrong
      if (!timingSafeEqual(row.code_hash, hashOf(purpose, address, code))) throw wrong
      // Of two who come with the same code, one gets it.
      const used = await tx
        .updateTable('verification_codes')
        .set({ used_at: now() })
        .where('id', '=', row.id)
        .where('used_at', 'is', null)
        .returning('id')
        .executeTakeFirst()
      if (used === undefined) throw wrong
    },

    async clean(): Promise<void> {
      await db.deleteFrom('verification_codes').where('created_at', '<', new Date(now().getTime() - 2 * 24 * 60 * 60_000)).execute()
    },
  }

  async function refuseUnlessAllowed(tx: Tx, address: string, ip: string): Promise<void> {
    const at = now().getTime()
    const since = (ms: number) => new Date(at - ms)
    const { last, day } = await tx
      .selectFrom('verification_codes')
      .select([sql<Date | null>`max(created_at)`.as('last'), sql<number>`count(*)`.as('day')])
      .where('address', '=', address)
      .where('created_at', '>', since(24 * 60 * 60_000))
      .executeTakeFirstOrThrow()
    if (last !== null && at - last.getTime() < pauseMs) {
      throw new Refusal('tooManyRequests', { values: { seconds: Math.max(1, Math.ceil((pauseMs - (at - last.getTime())) / 1000)) } })
    }
    if (day >= perDayMax) throw new Refusal('tooManyRequests', { values: { seconds: 24 * 60 * 60 } })
    const { hour } = await tx
      .selectFrom('verification_codes')
      .select(sql<number>`count(*)`.as('hour'))
      .where('ip', '=', ip)
      .where('created_at', '>', since(60 * 60_000))
      .executeTakeFirstOrThrow()
    if (hour >= perHourFromOneIp) throw new Refusal('tooManyRequests', { values: { seconds: 60 * 60 } })
  }
}
