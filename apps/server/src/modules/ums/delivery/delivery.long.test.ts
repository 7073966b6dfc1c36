import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { verification } from '@zhisuan/contract/ums/auth'
import { system } from '@zhisuan/contract/sys/sys'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { somePhone, testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { startMailServer } from '../../../testing/mail.ts'
import { someone } from '../../../testing/people.ts'
import { createDelivery } from './delivery.service.ts'

/** In production, so that nothing of development can stand in. */
const production = async (environment: Readonly<Record<string, string>>): Promise<TestApp> => {
  const app = await testApp({ ZHISUAN_ENV: 'production', ...environment })
  onTestFinished(() => app.close())
  return app
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A gateway that refuses the first `failures` messages. */
async function gateway(failures = 0) {
  const taken: { headers: IncomingHttpHeaders; body: unknown }[] = []
  let asked = 0
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      asked++
      if (asked > failures) taken.push({ headers: request.headers, body: JSON.parse(text) })
      response.writeHead(asked > failures ? 202 : 503).end('answer')
    })
  })
  return { url: `http://127.0.0.1:${await listen(server)}/send`, taken, asked: () => asked }
}

const mailServer = async () => {
  const mail = await startMailServer()
  onTestFinished(mail.stop)
  return mail
}

describe('an SMS gateway', () => {
  it('gets the message as JSON with the token, and the platform says that it can send', async () => {
    const { url, taken } = await gateway()
    const app = await production({ SMS_GATEWAY_URL: url, SMS_GATEWAY_TOKEN: 'the-token' })
    expect(await call(app, system.info, {})).toMatchObject({ sms_available: true, email_available: false, development: false, register_mode: 'open' })
    const phone = somePhone()
    await call(app, verification.consultationSms, { params: { phone } })
    await vi.waitFor(() => expect(taken).toHaveLength(1), 5000)
    expect(taken[0]?.headers['authorization']).toBe('Bearer the-token')
    expect(taken[0]?.body).toEqual({ phone, purpose: 'consultation', text: expect.stringMatching(/^【智算云】您的验证码为\d{6}，/) })
    expect(await app.platform.db.selectFrom('development_inbox').select('id').execute()).toEqual([])
  })

  it('that fails is tried again, while whoever asked has their answer', async () => {
    const { url, taken, asked } = await gateway(1)
    const app = await production({ SMS_GATEWAY_URL: url })
    await call(app, verification.consultationSms, { params: { phone: somePhone() } })
    await vi.waitFor(() => expect(taken).toHaveLength(1), { interval: 100 })
    expect(asked()).toBe(2)
    expect(taken[0]?.headers['authorization']).toBeUndefined()
  })

  it('is not asked any more for a code that has expired', async () => {
    const { url, asked } = await gateway(99)
    const app = await production({ SMS_GATEWAY_URL: url })
    await call(app, verification.consultationSms, { params: { phone: somePhone() } })
    await vi.waitFor(() => expect(asked()).toBe(1), 5000)
    app.clock.advance(6 * 60_000)
    const { pool } = app.platform.database
    await vi.waitFor(
      async () => {
        const { rows } = await pool.query<{ state: string }>("select state from pgboss.job where name = 'ums.verification.send'")
        expect(rows).toEqual([{ state: 'completed' }])
      },
      { interval: 100 },
    )
    expect(asked()).toBe(1)
  })
})

describe('a mail server', () => {
  it('gets the message for the one it is for', async () => {
    const { url, messages } = await mailServer()
    const app = await production({ SMTP_URL: url, SMTP_FROM: 'noreply@example.com' })
    expect(await call(app, system.info, {})).toMatchObject({ sms_available: false, email_available: true })
    const person = await someone(app)
    await call(app, verification.authEmail, { params: { email: person.email }, token: person.token })
    await vi.waitFor(() => expect(messages).toHaveLength(1), 5000)
    expect(messages[0]?.from).toContain('<noreply@example.com>')
    expect(messages[0]?.to).toContain(`<${person.email}>`)
    const body = (messages[0]?.data ?? '').split('\r\n\r\n').slice(1).join('')
    expect(Buffer.from(body, 'base64').toString('utf8')).toMatch(/您的验证码为\d{6}，用于验证身份/)
  })

  it('that is not there fails rather than keeps the job waiting', async () => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    const app = await production({ SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: 'noreply@example.com' })
    const deliver = createDelivery(app.platform).email
    await expect(deliver?.({ channel: 'email', address: 'a@example.com', purpose: 'auth-email', text: 'x' })).rejects.toThrow('ECONNREFUSED')
  })
})

describe('without either', () => {
  it('a production server sends nothing, a development server shows it on a page', async () => {
    const app = await production({})
    expect(createDelivery(app.platform)).toEqual({ sms: null, email: null })
    expect(await call(app, system.info, {})).toMatchObject({ sms_available: false, email_available: false, register_mode: 'closed' })
    const development = await testApp({ ZHISUAN_ENV: 'development' })
    onTestFinished(() => development.close())
    expect(await call(development, system.info, {})).toMatchObject({ sms_available: true, email_available: true, development: true, register_mode: 'open' })
    expect((await development.http.inject('/api/dev/v1/inbox')).json()).toEqual({ items: [] })
  })
})
