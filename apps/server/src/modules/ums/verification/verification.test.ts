import { randomInt } from 'node:crypto'
import { configs } from '@zhisuan/contract/sys/sys'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { consultations } from '@zhisuan/contract/ums/consultation'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { someIp, somePhone, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { codeSentTo, inboxOf } from '../../../testing/inbox.ts'
import { makeUser, password, signIn, someone } from '../../../testing/people.ts'
import { createVerificationService, type Purpose } from './verification.service.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const purposes: readonly Purpose[] = ['registration', 'auth', 'consultation', 'patch-phone', 'auth-email', 'patch-email']

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const askFor = (phone: string, ip?: string) => send(app, verification.consultationSms, { params: { phone }, ...(ip !== undefined && { ip }) })
const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const someEmail = (): string => `box-${randomInt(1_000_000_000)}@example.com`

describe('a code', () => {
  it('has six digits and comes by a message that says what it is for', async () => {
    const phone = somePhone()
    expect(await call(app, verification.consultationSms, { params: { phone } })).toEqual({ expires_in_seconds: 300, retry_after_seconds: 60 })
    const code = await codeSentTo(app, phone)
    const [sent] = await inboxOf(app, phone)
    expect(sent).toMatchObject({ channel: 'sms', address: phone, purpose: 'consultation' })
    expect(sent?.text).toBe(`【智算云】您的验证码为${code}，用于提交留言，5分钟内有效。请勿告知他人；如非本人操作，请忽略本消息。`)
  })

  it('is readable neither in the table nor in the queue', async () => {
    const phone = somePhone()
    await call(app, verification.consultationSms, { params: { phone } })
    const code = await codeSentTo(app, phone)
    const { rows: jobs } = await app.platform.database.pool.query<{ data: unknown }>("select data from pgboss.job where name = 'ums.verification.send'")
    const codes = await app.platform.db.selectFrom('verification_codes').selectAll().where('address', '=', phone).execute()
    expect(jobs.length).toBeGreaterThan(0)
    expect(codes).toHaveLength(1)
    expect(JSON.stringify(jobs)).not.toContain(code)
    expect(JSON.stringify(jobs)).not.toContain(phone)
    expect(JSON.stringify(codes)).not.toContain(code)
    expect(codes[0]?.code_hash).toHaveLength(32)
  })

  it('is good for five minutes', async () => {
    const person = await makeUser(app)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const code = await codeSentTo(app, person.phone)
    app.clock.advance(5 * minuteMs + 1000)
    expect(await refused(app, auth.sms, { body: { phone: person.phone, code } })).toMatchObject({ status: 400, code: 1121, fields: [{ field: 'code' }] })
  })

  it('is good once, also for two who come with it at the same time', async () => {
    const person = await makeUser(app)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const code = await codeSentTo(app, person.phone)
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(app, auth.sms, { body: { phone: person.phone, code } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect((await refused(app, auth.sms, { body: { phone: person.phone, code } })).code).toBe(1121)
  })

  it('is good for five tries, and the right one after them is too late', async () => {
    const person = await makeUser(app)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const code = await codeSentTo(app, person.phone)
    for (let n = 0; n < 5; n++) expect((await refused(app, auth.sms, { body: { phone: person.phone, code: wrong(code) } })).code).toBe(1121)
    expect((await refused(app, auth.sms, { body: { phone: person.phone, code } })).code).toBe(1121)
  })

  it('cannot be guessed by many tries at once', async () => {
    const person = await makeUser(app)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const code = await codeSentTo(app, person.phone)
    const guesses = Array.from({ length: 40 }, () => refused(app, auth.sms, { body: { phone: person.phone, code: wrong(code) } }))
    expect(new Set((await Promise.all(guesses)).map((answer) => answer.code))).toEqual(new Set([1121]))
    const row = await app.platform.db.selectFrom('verification_codes').select('tries').where('address', '=', person.phone).executeTakeFirst()
    expect(row?.tries).toBe(40)
    expect((await refused(app, auth.sms, { body: { phone: person.phone, code } })).code).toBe(1121)
  })

  it('gives way to the next one that is sent', async () => {
    const person = await makeUser(app)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const first = await codeSentTo(app, person.phone)
    app.clock.advance(minuteMs + 1000)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const second = await codeSentTo(app, person.phone, 1)
    if (first !== second) expect((await refused(app, auth.sms, { body: { phone: person.phone, code: first } })).code).toBe(1121)
    expect((await send(app, auth.sms, { body: { phone: person.phone, code: second } })).status).toBe(200)
  })

  it('is for one purpose and one address', async () => {
    const [person, another] = [await makeUser(app), await makeUser(app)]
    await call(app, verification.consultationSms, { params: { phone: person.phone } })
    const code = await codeSentTo(app, person.phone)
    expect((await refused(app, auth.sms, { body: { phone: person.phone, code } })).code).toBe(1121)
    app.clock.advance(minuteMs + 1000)
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const forAuth = await codeSentTo(app, person.phone, 1)
    expect((await refused(app, auth.sms, { body: { phone: another.phone, code: forAuth } })).code).toBe(1121)
  })

  it.each(purposes)('for %s is good for nothing else, for no other address and for nobody else', async (purpose) => {
    const service = createVerificationService(app.platform)
    const [asker, another] = [await makeUser(app), await makeUser(app)]
    const address = somePhone()
    await service.send(purpose, { channel: 'sms', address }, { ip: someIp(), userId: asker.id })
    const code = await codeSentTo(app, address)
    const check = (of: { purpose?: Purpose; address?: string; userId?: string | null }) =>
      service.check(of.purpose ?? purpose, of.address ?? address, code, of.userId === undefined ? asker.id : of.userId).then(
        () => 'right',
        (error: { refusal: string }) => error.refusal,
      )
    for (const other of purposes.filter((one) => one !== purpose)) expect(await check({ purpose: other })).toBe('verificationCodeInvalid')
    expect(await check({ address: somePhone() })).toBe('verificationCodeInvalid')
    expect([await check({ userId: another.id }), await check({ userId: null })]).toEqual(['verificationCodeInvalid', 'verificationCodeInvalid'])
    expect(await check({})).toBe('right')
  })

  it('for a new phone can be used only by the one who asked for it', async () => {
    const [asker, another] = [await someone(app), await someone(app)]
    const phone = somePhone()
    await call(app, verification.patchSms, { params: { phone }, token: asker.token })
    const code = await codeSentTo(app, phone)
    expect((await refused(app, users.changePhone, { token: another.token, body: { phone, code, password } })).code).toBe(1121)
    await call(app, users.changePhone, { token: asker.token, body: { phone, code, password } })
  })

  it('is refused where it cannot be one', async () => {
    expect(await refused(app, auth.sms, { body: { phone: '123', code: '12' } })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [
        { field: 'phone', message: '请输入正确的手机号' },
        { field: 'code', message: '验证码为6位数字' },
      ],
    })
    expect(await refused(app, verification.authSms, { params: { phone: '123' } })).toMatchObject({ status: 400, code: 90001 })
  })
})

describe('limits', () => {
  it('allow one a minute for an address, and say how long to wait', async () => {
    const phone = somePhone()
    expect((await askFor(phone)).status).toBe(200)
    app.clock.advance(20_000)
    const answer = await askFor(phone)
    expect(answer).toMatchObject({ status: 429, body: { code: 90009 } })
    const seconds = Number(answer.headers['retry-after'])
    expect(seconds).toBeGreaterThan(35)
    expect(seconds).toBeLessThanOrEqual(40)
    expect(answer.body).toMatchObject({ message: `操作过于频繁，请${seconds}秒后再试` })
    app.clock.advance(41_000)
    expect((await askFor(phone)).status).toBe(200)
  })

  it('count an address over all purposes', async () => {
    const person = await makeUser(app)
    expect((await askFor(person.phone)).status).toBe(200)
    expect((await refused(app, verification.authSms, { params: { phone: person.phone } })).code).toBe(90009)
  })

  it('allow one of ten that ask at once for an address', async () => {
    const phone = somePhone()
    const answers = await Promise.all(Array.from({ length: 10 }, () => askFor(phone)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9)
  })

  it('allow ten a day for an address', async () => {
    const phone = somePhone()
    for (let n = 0; n < 10; n++) {
      expect((await askFor(phone)).status, String(n)).toBe(200)
      app.clock.advance(2 * minuteMs)
    }
    const answer = await askFor(phone)
    expect(answer.status).toBe(429)
    // Twenty minutes of the day are over for the first one.
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(23 * 3600)
    app.clock.advance(24 * hourMs - 19 * minuteMs)
    expect((await askFor(phone)).status).toBe(200)
  })

  // The limit of every call, ten a minute from one address, is asked first: so the service itself is asked here.
  it('allow thirty an hour from one place, also at once', async () => {
    const service = createVerificationService(app.platform)
    const ip = someIp()
    const ask = (from = ip) =>
      service.send('consultation', { channel: 'sms', address: somePhone() }, { ip: from, userId: null }).then(
        () => true,
        () => false,
      )
    const outcomes = await Promise.all(Array.from({ length: 36 }, () => ask()))
    expect(outcomes.filter(Boolean)).toHaveLength(30)
    expect(await ask()).toBe(false)
    expect(await ask(someIp())).toBe(true)
    app.clock.advance(hourMs + 1000)
    expect(await ask()).toBe(true)
  })

  it('count an IPv6 customer’s whole network as one place, and IPv4 as IPv4 however it shows', async () => {
    const service = createVerificationService(app.platform)
    const ask = (from: string) =>
      service.send('consultation', { channel: 'sms', address: somePhone() }, { ip: from, userId: null }).then(
        () => true,
        () => false,
      )
    for (let n = 0; n < 30; n++) expect(await ask(`2001:db8:1:2::${n.toString(16)}`)).toBe(true)
    expect(await ask('2001:db8:1:2:ffff::1')).toBe(false)
    expect(await ask('2001:db8:1:3::1')).toBe(true)
    for (let n = 0; n < 30; n++) expect(await ask('::ffff:192.0.2.7')).toBe(true)
    expect(await ask('192.0.2.7')).toBe(false)
    expect(await ask('::ffff:192.0.2.8')).toBe(true)
    expect(await ask('fe80::1%eth0')).toBe(true)
  })

  it('count as one place what a proxy forwards that is no address', async () => {
    const service = createVerificationService(app.platform)
    const ask = (from: string) =>
      service.send('consultation', { channel: 'sms', address: somePhone() }, { ip: from, userId: null }).then(
        () => true,
        (error: { refusal: string }) => error.refusal,
      )
    for (let n = 0; n < 30; n++) expect(await ask(`not-an-address-${n}`)).toBe(true)
    expect(await ask('unknown')).toBe('tooManyRequests')
  })
})

describe('who may know what', () => {
  it('is nothing from a code to sign in with: unknown phones are answered and limited alike, and sent nothing', async () => {
    const person = await makeUser(app)
    const unknown = somePhone()
    const ask = (phone: string) => send(app, verification.authSms, { params: { phone } })
    const [known, not] = [await ask(person.phone), await ask(unknown)]
    expect(not.body).toEqual(known.body)
    const [again, notAgain] = [await ask(person.phone), await ask(unknown)]
    expect([again.status, notAgain.status]).toEqual([429, 429])
    await codeSentTo(app, person.phone)
    // Whatever is to be sent has been.
    await vi.waitFor(async () => {
      const { rows } = await app.platform.database.pool.query<{ open: number }>(
        "select count(*)::int as open from pgboss.job where name = 'ums.verification.send' and state in ('created', 'retry', 'active', 'failed')",
      )
      expect(rows[0]?.open).toBe(0)
    })
    expect(await inboxOf(app, unknown)).toEqual([])
  })

  it('is told on registration and change: the phone or mailbox is taken', async () => {
    const [person, another] = [await someone(app), await makeUser(app)]
    expect(await refused(app, verification.registrationSms, { params: { phone: person.phone } })).toMatchObject({
      status: 400,
      code: 91003,
      fields: [{ field: 'phone' }],
    })
    expect((await refused(app, verification.patchSms, { params: { phone: another.phone }, token: person.token })).code).toBe(91003)
    expect((await refused(app, verification.patchEmail, { params: { email: another.email }, token: person.token })).code).toBe(91004)
  })

  it('needs a sign-in where the code is for a change', async () => {
    for (const declared of [verification.patchSms, verification.patchEmail, verification.authEmail]) {
      expect((await refused(app, declared, { params: { phone: somePhone(), email: someEmail() } })).code).toBe(90007)
    }
  })
})

describe('codes by mail', () => {
  it('go to one’s own mailbox to prove who one is, and to nobody else’s', async () => {
    const person = await someone(app)
    await call(app, verification.authEmail, { params: { email: person.email }, token: person.token })
    await codeSentTo(app, person.email)
    expect((await inboxOf(app, person.email))[0]).toMatchObject({ channel: 'email', purpose: 'auth-email' })
    expect(await refused(app, verification.authEmail, { params: { email: someEmail() }, token: person.token })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [{ field: 'email' }],
    })
  })

  it('go to the mailbox that one wants to use', async () => {
    const person = await someone(app)
    const email = someEmail()
    await call(app, verification.patchEmail, { params: { email }, token: person.token })
    await codeSentTo(app, email)
  })
})

describe('a pool of two connections', () => {
  it('is enough for any number who come with their codes at once', async () => {
    const small = await testApp({ DATABASE_POOL_SIZE: '2' })
    try {
      const people = await Promise.all(Array.from({ length: 8 }, () => someone(small)))
      const each = <T>(run: (person: (typeof people)[number], n: number) => Promise<T>) => Promise.all(people.map(run))
      const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status)
      const all = (status: number) => people.map(() => status)
      expect(statuses(await each(({ phone }) => send(small, verification.authSms, { params: { phone } })))).toEqual(all(200))
      const codes = await each(({ phone }) => codeSentTo(small, phone))
      expect(statuses(await each(({ phone }, n) => send(small, auth.sms, { body: { phone, code: codes[n] ?? '' } })))).toEqual(all(200))

      small.clock.advance(minuteMs + 1000)
      await each(({ phone }) => call(small, verification.authSms, { params: { phone } }))
      const again = await each(({ phone }) => codeSentTo(small, phone, 1))
      const retrieved = 'Retrieved-horse-1'
      expect(
        statuses(await each(({ phone }, n) => send(small, auth.retrievePassword, { body: { phone, code: again[n] ?? '', password: retrieved } }))),
      ).toEqual(all(204))

      const tokens = await each(async ({ name }) => (await signIn(small, { name, password: retrieved })).token)
      const phones = people.map(() => somePhone())
      await each((_, n) => call(small, verification.patchSms, { params: { phone: phones[n] ?? '' }, token: tokens[n] }))
      const forPhones = await each((_, n) => codeSentTo(small, phones[n] ?? ''))
      expect(
        statuses(
          await each((_, n) => send(small, users.changePhone, { token: tokens[n], body: { phone: phones[n], code: forPhones[n], password: retrieved } })),
        ),
      ).toEqual(all(204))

      const strangers = people.map(() => somePhone())
      await each((_, n) => call(small, verification.consultationSms, { params: { phone: strangers[n] ?? '' } }))
      const forBoard = await each((_, n) => codeSentTo(small, strangers[n] ?? ''))
      expect(
        statuses(await each((_, n) => send(small, consultations.leave, { body: { name: '访客', phone: strangers[n], code: forBoard[n], content: '你好' } }))),
      ).toEqual(all(201))
    } finally {
      await small.close()
    }
  })
})

describe('registration closed', () => {
  it('sends no codes for it', async () => {
    const admin = await someone(app, { kind: 1 })
    await call(app, configs.set, { token: admin.token, body: { key: 'register_mode', value: 'closed' } })
    expect((await refused(app, verification.registrationSms, { params: { phone: somePhone() } })).code).toBe(1184)
    await call(app, configs.reset, { token: admin.token, query: { key: 'register_mode' } })
  })
})

describe('in production without a way to send', () => {
  it('says so and makes no code; and the inbox does not exist', async () => {
    const production = await testApp({ ZHISUAN_ENV: 'production' })
    try {
      const phone = somePhone()
      expect(await refused(production, verification.consultationSms, { params: { phone } })).toMatchObject({ status: 502, code: 91009 })
      expect(await production.platform.db.selectFrom('verification_codes').select('id').execute()).toEqual([])
      const inbox = await production.http.inject('/api/dev/v1/inbox')
      expect(inbox.statusCode).toBe(404)
      expect(inbox.json()).toMatchObject({ code: 90005 })
      expect((await refused(production, verification.registrationSms, { params: { phone } })).code).toBe(1184)
    } finally {
      await production.close()
    }
  })
})
