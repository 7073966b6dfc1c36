import { policies } from '@zhisuan/contract/iam/policy'
import { grants } from '@zhisuan/contract/iam/grant'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { secondFactor } from '@zhisuan/contract/ums/second-factor'
import { randomUUID } from 'node:crypto'
import { TOTP, URI } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { codeSentTo } from '../../../testing/inbox.ts'
import { password, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

/** Somebody's app: its next code is a later one each time, as a code is good once. */
interface Authenticator {
  next(): string
}
const authenticator = (uri: string): Authenticator => ({
  next() {
    app.clock.advance(31_000)
    return (URI.parse(uri) as TOTP).generate({ timestamp: app.clock.now().getTime() })
  },
})
/** With it turned on. */
async function guarded(who: SignedIn): Promise<{ app: Authenticator; recovery: string[] }> {
  const { uri } = await call(app, secondFactor.begin, { token: who.token, body: { password } })
  const own = authenticator(uri)
  const { recovery_codes } = await call(app, secondFactor.confirm, { token: who.token, body: { code: own.next() } })
  return { app: own, recovery: recovery_codes }
}
const enter = (who: Person, otp?: string) => send(app, auth.password, { body: { username: who.name, password, ...(otp !== undefined && { otp }) } })
const codeOf = (answer: { body: unknown }) => (answer.body as { code?: number }).code

describe('a second factor', () => {
  it('is asked for once it was confirmed, and not before', async () => {
    const person = await someone(app)
    const { secret, uri } = await call(app, secondFactor.begin, { token: person.token, body: { password } })
    expect(uri).toContain(secret)
    expect(decodeURIComponent(uri)).toContain(person.name)
    expect((await enter(person)).status).toBe(200)
    expect(await refused(app, secondFactor.confirm, { token: person.token, body: { code: '000000' } })).toMatchObject({
      status: 400,
      code: 91121,
      fields: [{ field: 'code' }],
    })
    const own = authenticator(uri)
    const { recovery_codes } = await call(app, secondFactor.confirm, { token: person.token, body: { code: own.next() } })
    expect(recovery_codes).toHaveLength(10)
    expect(await call(app, secondFactor.get, { token: person.token })).toMatchObject({ since: expect.any(String), recovery_codes_left: 10 })
    expect(await refused(app, auth.password, { body: { username: person.name, password } })).toMatchObject({ status: 401, code: 91120 })
    expect((await enter(person, own.next())).status).toBe(200)
    expect(await refused(app, secondFactor.begin, { token: person.token, body: { password } })).toMatchObject({ code: 91122 })
    expect(await refused(app, secondFactor.confirm, { token: person.token, body: { code: own.next() } })).toMatchObject({ code: 91123 })
    // It is nowhere to be read.
    const row = await app.platform.db.selectFrom('second_factors').selectAll().where('user_id', '=', person.id).executeTakeFirst()
    expect(row?.secret).not.toContain(secret)
  })

  it('takes each code once, of two at a time one', async () => {
    const person = await someone(app)
    const own = (await guarded(person)).app
    const code = own.next()
    const answers = await Promise.all([enter(person, code), enter(person, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(codeOf(await enter(person, code))).toBe(91124)
    expect((await enter(person, own.next())).status).toBe(200)
  })

  it('takes a recovery code once, however it is written, and new ones in their place', async () => {
    const person = await someone(app)
    const { app: own, recovery } = await guarded(person)
    expect((await enter(person, ` ${(recovery[0] ?? '').toUpperCase().replace('-', ' ')} `)).status).toBe(200)
    expect(codeOf(await enter(person, recovery[0]))).toBe(91124)
    expect((await call(app, secondFactor.get, { token: (await again(person, own)).token })).recovery_codes_left).toBe(9)
    const { token } = await again(person, own)
    const renewed = await call(app, secondFactor.renewCodes, { token, body: { password, code: own.next() } })
    expect(codeOf(await enter(person, recovery[1]))).toBe(91124)
    expect((await enter(person, renewed.recovery_codes[0])).status).toBe(200)
  })

  it('of whoever guesses it is frozen, though the password is right', async () => {
    const person = await someone(app)
    const own = (await guarded(person)).app
    const answers = await Promise.all(Array.from({ length: 20 }, () => enter(person, '000000')))
    expect(answers.filter((answer) => codeOf(answer) === 91124)).toHaveLength(4)
    expect(codeOf(await enter(person, own.next()))).toBe(1136)
    app.clock.advance(5 * 60_000)
    expect((await enter(person, own.next())).status).toBe(200)
    // Asking for it is no guess.
    for (let times = 0; times < 6; times++) expect(codeOf(await enter(person))).toBe(91120)
    expect((await enter(person, own.next())).status).toBe(200)
  })

  it('is asked for by the code to a phone, too, which is good until then', async () => {
    const person = await someone(app)
    const own = (await guarded(person)).app
    await call(app, verification.authSms, { params: { phone: person.phone } })
    const code = await codeSentTo(app, person.phone)
    expect(await refused(app, auth.sms, { body: { phone: person.phone, code } })).toMatchObject({ status: 401, code: 91120 })
    // A code to a phone is good for five tries, and the fifth wrong one of the second factor freezes, whoever has the phone.
    const guesses = await Promise.all(Array.from({ length: 10 }, () => refused(app, auth.sms, { body: { phone: person.phone, code, otp: '000000' } })))
    expect(guesses.map((one) => one.code).sort()).toEqual([...Array.from({ length: 6 }, () => 1121), ...Array.from({ length: 4 }, () => 91124)])
    const next = async (already: number): Promise<string> => {
      app.clock.advance(61_000)
      await call(app, verification.authSms, { params: { phone: person.phone } })
      return codeSentTo(app, person.phone, already)
    }
    expect(await refused(app, auth.sms, { body: { phone: person.phone, code: await next(1), otp: '000000' } })).toMatchObject({ code: 1136 })
    app.clock.advance(5 * 60_000)
    const another = await next(2)
    expect((await call(app, auth.sms, { body: { phone: person.phone, code: another, otp: own.next() } })).token).toBeTruthy()
  })

  it('is turned off with password and code, or by an administrator for who lost it', async () => {
    const boss = await someone(app)
    const person = await someone(app, { kind: 4, organisation: boss.bp_id })
    const own = (await guarded(person)).app
    const { token } = await again(person, own)
    expect(await refused(app, secondFactor.remove, { token, body: { password: 'Wrong-wrong-1', code: own.next() } })).toMatchObject({
      code: 1120,
      fields: [{ field: 'password' }],
    })
    expect(await refused(app, secondFactor.remove, { token, body: { password, code: '000000' } })).toMatchObject({ code: 91121, fields: [{ field: 'code' }] })
    await call(app, secondFactor.remove, { token, body: { password, code: own.next() } })
    expect((await enter(person)).status).toBe(200)
    await guarded({ ...person, ...(await signIn(app, person)) })
    const keeper = await signIn(app, boss)
    expect(await call(app, users.get, { token: keeper.token, params: { id: person.id } })).toMatchObject({ second_factor: true })
    await call(app, users.action, { token: keeper.token, params: { id: person.id }, body: { action: 'resetSecondFactor' } })
    expect((await enter(person)).status).toBe(200)
  })

  it('is what policies can ask for', async () => {
    const admin = await someone(app, { kind: 1 })
    const person = await someone(app)
    const document = {
      Version: policyLanguage,
      Statement: [{ Effect: 'Deny', Action: 'ums.organisation.list', Resource: '*', Condition: { Bool: { 'zs:MfaPresent': 'false' } } }],
    }
    const policy = await call(app, policies.create, { token: admin.token, body: { name: `p-${randomUUID()}`, document } })
    await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: person.id } })
    expect((await send(app, organisations.list, { token: person.token })).status).toBe(403)
    await guarded(person)
    // The session that turned it on has proved it.
    expect((await send(app, organisations.list, { token: person.token })).status).toBe(200)
  })
})

const again = async (who: Person, own: Authenticator): Promise<{ token: string }> =>
  await call(app, auth.password, { body: { username: who.name, password, otp: own.next() } })
