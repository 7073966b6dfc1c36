import { createTransport } from 'nodemailer'
import type { Logger } from 'pino'
import { request } from 'undici'
import type { Config } from '../../../platform/config.ts'
import type { Db } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import { messageTexts } from './texts.ts'

export interface Message {
  channel: 'sms' | 'email'
  address: string
  purpose: string
  text: string
}

/** A way to get a message to somebody. Throws where it was not taken. */
export type Deliver = (message: Message) => Promise<void>

/** The configured way for each channel; null where there is none. */
export function createDelivery(parts: { config: Config; db: Db; log: Logger }): Record<Message['channel'], Deliver | null> {
  const { config } = parts
  const development = config.ZHISUAN_ENV === 'production' ? null : toInbox(parts)
  return {
    sms: config.SMS_GATEWAY_URL === undefined ? development : toGateway(config.SMS_GATEWAY_URL, config.SMS_GATEWAY_TOKEN),
    email: config.SMTP_URL === undefined || config.SMTP_FROM === undefined ? development : toSmtp(config.SMTP_URL, config.SMTP_FROM),
  }
}

/** SMTP (RFC 5321), by nodemailer. */
function toSmtp(url: string, from: string): Deliver {
  const transport = createTransport(url, { connectionTimeout: 10_000 } as never)
  return async ({ address, text }) => {
    await transport.sendMail({ from, to: address, subject: messageTexts.subject, text })
  }
}

/** An HTTP gateway: `POST {phone, text, purpose}` as JSON; any 2xx means taken. */
function toGateway(url: string, token: string | undefined): Deliver {
  return async ({ address, text, purpose }) => {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ phone: address, text, purpose }),
      headersTimeout: 10_000,
      bodyTimeout: 10_000,
    })
    await response.body.dump()
    if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`the SMS gateway answered ${response.statusCode}`)
  }
}

/** Development: nobody is sent anything; a page and the log show it. */
const toInbox =
  ({ db, log }: { db: Db; log: Logger }): Deliver =>
  async (message) => {
    log.info({ channel: message.channel, to: message.address, text: message.text }, 'message kept in the development inbox')
    await db.insertInto('development_inbox').values({ id: uuidv7(), ...message }).execute()
  }
