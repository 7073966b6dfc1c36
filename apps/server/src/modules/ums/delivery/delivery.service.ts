import type { Transporter } from 'nodemailer'
import { request } from 'undici'
import { z } from 'zod'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { messageTexts } from '../texts.ts'
import { insertInboxItem } from './delivery.store.ts'

export const message = z.object({
  channel: z.enum(['sms', 'email']),
  address: z.string(),
  purpose: z.string(),
  text: z.string(),
  /** Of a mail; the codes' where there is none. */
  subject: z.string().optional(),
})
export type Message = z.output<typeof message>

/** A way to get a message to somebody. Throws where it was not taken, so that it is tried again. */
export type Deliver = (message: Message) => Promise<void>

/** How long a gateway or mail server may take for each step. */
const timeoutMs = 10_000

/** The configured way for each channel; null where there is none. */
export function createDelivery(platform: Pick<Platform, 'config' | 'db' | 'log'>): Readonly<Record<Message['channel'], Deliver | null>> {
  const { config } = platform
  const otherwise = config.ZHISUAN_ENV === 'production' ? null : toInbox(platform)
  return {
    sms: config.SMS_GATEWAY_URL === undefined ? otherwise : toGateway(config.SMS_GATEWAY_URL, config.SMS_GATEWAY_TOKEN),
    email: config.SMTP_URL === undefined || config.SMTP_FROM === undefined ? otherwise : toSmtp(config.SMTP_URL, config.SMTP_FROM),
  }
}

/** SMTP (RFC 5321), by nodemailer. */
function toSmtp(url: string, from: string): Deliver {
  let transport: Transporter | undefined
  return async ({ address, text, subject }) => {
    // Loaded with the first message.
    const { createTransport } = await import('nodemailer')
    transport ??= createTransport({ url, connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs })
    await transport.sendMail({ from, to: address, subject: subject ?? messageTexts.subject, text })
  }
}

/** An HTTP gateway: `POST {phone, text, purpose}` as JSON; any 2xx means taken. */
function toGateway(url: string, token: string | undefined): Deliver {
  return async ({ address, text, purpose }) => {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ phone: address, text, purpose }),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    await response.body.dump()
    if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`the SMS gateway answered ${response.statusCode}`)
  }
}

/** Development: nobody is sent anything; a page and the log show it. */
const toInbox =
  ({ db, log }: Pick<Platform, 'db' | 'log'>): Deliver =>
  async ({ channel, address, purpose, text }) => {
    log.info({ channel, to: address, text }, 'message kept in the development inbox')
    await insertInboxItem(db, { id: uuidv7(), channel, address, purpose, text })
  }
