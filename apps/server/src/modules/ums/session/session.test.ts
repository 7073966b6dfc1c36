import { randomUUID } from 'node:crypto'
import argon2 from '@node-rs/argon2'
import { errors } from '@zhisuan/contract/errors'
import { messages } from '@zhisuan/contract/sys/message'
import { audits } from '@zhisuan/contract/iam/audit'
import { accessToken, auth } from '@zhisuan/contract/ums/auth'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClock, someIp, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send, type Answer, type Caller } from '../../../testing/call.ts'
import { freshDatabase } from '../../../testing/database.ts'
import { inboxOf } from '../../../testing/inbox.ts'
import { waitingForLocks } from '../../../testing/locks.ts'
import { makeOrganisation, makeUser, password, signIn, someone } from '../../../testing/people.ts'
import { ownRules } from '../../iam/testing.ts'
import { createActors } from './actors.ts'
import { hashPassword } from './password.ts'
import { hashOf } from './tokens.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const dayMs = 24 * 60 * minuteMs

let app: TestApp
/** A second server of the same platform. */
let other: TestApp
beforeAll(async () => {
  const clock = createClock()
  app = await testApp({}, { clock })
  other = await testApp({ DATABASE_URL: app.databaseUrl }, { clock })
})
afterAll(async () => {
  await other.close()
  await app.close()
})

const cookieOf = (answer: Answer) => answer.cookies.find(({ name }) => name === 'zs_refresh')
const tryPassword = (username: string, typed: string, from: Pick<Caller, 'ip' | 'cookies'> = {}) =>
  refused(app, auth.password, { ...from, body: { username, password: typed } })
const refresh = (token: string, on = app) => send(on, auth.refresh, { cookies: { zs_refresh: token } })
const isAlive = async (token: string, on = app): Promise<boolean> => (await send(on, users.current, { token })).status === 200
const tokenOf = (answer: Answer): string => accessToken.parse(answer.body).token

describe('the first start', () => {
  it('makes an administrator with a one-time password, which has to be changed before anything else', async () => {
    const first = await testApp()
    try {
      const once = first.firstPassword ?? ''
      expect(once).toMatch(/^[A-Z]{4}-[a-z]{4}-\d{4}$/)
      const { token } = await signIn(first, { name: 'admin', password: once })
      const me = await call(first, users.current, { token })
      expect(me).toMatchObject({ name: 'admin', kind: 0, bp_id: null, must_change_password: true, permissions: [{ role: 'ADMIN' }] })
      expect(await refused(first, organisations.list, { token })).toMatchObject({ status: 403, code: 91001 })
      await call(first, users.changePassword, { token, body: { old_password: once, password: 'Own-password-1' } })
      expect((await call(first, organisations.list, { token })).total).toBe(0)
      expect((await call(first, users.current, { token })).must_change_password).toBe(false)
    } finally {
      await first.close()
    }
  })

  it('makes one administrator even when two servers start at once, and none at later starts', async () => {
    const database = await freshDatabase()
    const servers = await Promise.all([testApp({ DATABASE_URL: database.url }), testApp({ DATABASE_URL: database.url })])
    const passwords = servers.map(({ firstPassword }) => firstPassword).filter((one) => one !== null)
    expect(passwords).toHaveLength(1)
    const later = await testApp({ DATABASE_URL: database.url })
    expect(later.firstPassword).toBeNull()
    const { token } = await signIn(later, { name: 'admin', password: passwords[0] ?? '' })
    await call(later, users.changePassword, { token, body: { old_password: passwords[0] ?? '', password: 'Own-password-1' } })
    expect((await call(later, users.list, { token, query: {} })).total).toBe(1)
    for (const server of [...servers, later]) await server.close()
    await database.drop()
  })
})

describe('signing in with a password', () => {
  it('takes name, phone or email, in any case and with spaces around', async () => {
    const person = await makeUser(app)
    for (const username of [person.name, ` ${person.name.toUpperCase()} `, person.phone, person.email, person.email.toUpperCase()]) {
      const answer = await send(app, auth.password, { body: { username, password } })
      expect(answer.status, username).toBe(200)
      expect((await call(app, users.current, { token: tokenOf(answer) })).id).toBe(person.id)
    }
  })

  it('takes what looks the same for the same, and what was set before that as it was typed then', async () => {
    const [person, before] = [await makeUser(app, { name: `王一${randomUUID().slice(0, 8)}` }), await makeUser(app)]
    const hashed = (id: string, password_hash: string) => app.platform.db.updateTable('users').set({ password_hash }).where('id', '=', id).execute()
    // As a keyboard for Chinese may write it, and one of a Mac: an accent of its own.
    const [set, typed] = ['Ｓｅｃｒｅｔ１！caf\u00E9', 'Secret1!cafe\u0301']
    await hashed(person.id, await hashPassword(set))
    for (const one of [set, typed])
      expect(await send(app, auth.password, { body: { username: person.name.replace('一', '⼀'), password: one } })).toMatchObject({ status: 200 })
    await hashed(before.id, await argon2.hash(set, { memoryCost: 8, timeCost: 1 }))
    expect(await send(app, auth.password, { body: { username: before.name, password: set } })).toMatchObject({ status: 200 })
  })

  it('notes when somebody was last there', async () => {
    const person = await someone(app)
    const me = await call(app, users.current, { token: person.token })
    expect(Math.abs(Date.parse(me.last_login_at ?? '') - app.clock.now().getTime())).toBeLessThan(5 * secondMs)
  })

  it('answers the same for an unknown user as for a wrong password', async () => {
    const person = await makeUser(app)
    const [wrong, unknown] = [await tryPassword(person.name, 'Wrong-password-1'), await tryPassword('nobody-at-all', 'Wrong-password-1')]
    expect(wrong).toMatchObject({ status: 401, code: 1101 })
    expect({ ...unknown, request_id: '' }).toEqual({ ...wrong, request_id: '' })
  })

  it('takes the same work for an unknown user, so that its time tells nothing', async () => {
    using verify = vi.spyOn(argon2, 'verify')
    const person = await makeUser(app)
    await app.platform.db
      .updateTable('users')
      .set({ password_hash: await hashPassword(password) })
      .where('id', '=', person.id)
      .execute()
    await tryPassword(person.name, 'Wrong-password-1')
    expect(verify).toHaveBeenCalledTimes(1)
    await tryPassword(`nobody-${randomUUID()}`, 'Wrong-password-1')
    expect(verify).toHaveBeenCalledTimes(2)
    // Against as costly a hash: argon2id with the same parameters.
    const hashes = verify.mock.calls.map(([hash]) => String(hash).split('$').slice(0, 4).join('$'))
    expect(hashes[0]).toBe(hashes[1])
  })

  it('refuses what is not filled in, with the field', async () => {
    const answer = await refused(app, auth.password, { body: { username: '  ' } })
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields).toEqual([
      { field: 'username', message: '用户名不能为空' },
      { field: 'password', message: '密码不能为空' },
    ])
  })

  it('tells of a state only after the right password', async () => {
    const frozen = await makeOrganisation(app, { status: 'frozen' })
    const cases = [
      { who: await makeUser(app, { status: 'pending' }), code: 1134 },
      { who: await makeUser(app, { status: 'disabled' }), code: 1135 },
      { who: await makeUser(app, { organisation: frozen }), code: 91012 },
    ]
    for (const { who, code } of cases) {
      expect((await tryPassword(who.name, 'Wrong-password-1')).code).toBe(1101)
      expect(await tryPassword(who.name, password)).toMatchObject({ status: 401, code })
    }
  })
})

describe('signing in while the password is being changed', () => {
  it('with the old one begins no session that outlives the change', async () => {
    const person = await makeUser(app)
    const { pool } = app.platform.database
    const client = await pool.connect()
    try {
      // A change that has locked the user, and is about to end their sessions.
      await client.query('begin')
      await client.query("update users set password_hash = 'another' where id = $1", [person.id])
      const attempt = send(app, auth.password, { body: { username: person.name, password } })
      await expect.poll(() => waitingForLocks(app, '%users%')).toBe(1)
      await client.query('delete from sessions where user_id = $1', [person.id])
      await client.query('commit')
      expect(await attempt).toMatchObject({ status: 401, body: { code: 1101 } })
      expect(await app.platform.db.selectFrom('sessions').select('id').where('user_id', '=', person.id).execute()).toEqual([])
    } finally {
      client.release()
    }
  })
})

describe('requests from one address', () => {
  it.each([
    ['a password', auth.password, { username: 'nobody', password: 'x' }, 30],
    ['a code', auth.sms, { phone: '13900000000', code: '000000' }, 30],
    ['a registration', auth.register, {}, 10],
  ] as const)('with %s are limited a minute, also when a hundred come at once', async (_, declared, body, limit) => {
    const [ip, elsewhere] = [someIp(), someIp()]
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(app, declared, { body, ip })))
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(100 - limit)
    expect(limited[0]).toMatchObject({ body: { code: 90009 }, headers: { 'retry-after': expect.any(String) } })
    expect((await send(app, declared, { body, ip: elsewhere })).status).not.toBe(429)
  })
})

describe('the freeze after five wrong passwords', () => {
  const wrong = 'Wrong-password-1'
  const deviceOf = (answer: Answer): string => answer.cookies.find(({ name }) => name === 'zs_device')?.value ?? ''
  /** Signs in, also where that has to be known by a cookie. */
  const enter = (person: { name: string }, from: Pick<Caller, 'ip' | 'cookies'> = {}) =>
    send(app, auth.password, { ...from, body: { username: person.name, password } })
  const freeze = async (name: string, from: Pick<Caller, 'ip' | 'cookies'>): Promise<void> => {
    for (let n = 1; n <= 4; n++) expect((await tryPassword(name, wrong, from)).code).toBe(1101)
    expect(await tryPassword(name, wrong, from)).toMatchObject({ status: 401, code: 1136, message: errors.userFrozen.text })
  }

  it('begins with the fifth from one address, refuses the right one too, and ends after five minutes', async () => {
    const person = await makeUser(app)
    const from = { ip: someIp() }
    await freeze(person.name, from)
    expect((await tryPassword(person.name, password, from)).code).toBe(1136)
    app.clock.advance(5 * minuteMs - 10 * secondMs)
    expect((await tryPassword(person.name, password, from)).code).toBe(1136)
    app.clock.advance(11 * secondMs)
    expect((await enter(person, from)).status).toBe(200)
  })

  it('is of that address: from another the right one goes in, and the guesser stays out', async () => {
    const person = await makeUser(app)
    const from = { ip: someIp() }
    await freeze(person.name, from)
    expect((await enter(person)).status).toBe(200)
    expect((await tryPassword(person.name, password, from)).code).toBe(1136)
    // It is of that person, too.
    expect((await enter(await makeUser(app), from)).status).toBe(200)
  })

  it('takes the 64 bits that one customer has of IPv6 as one address', async () => {
    const person = await makeUser(app)
    for (let n = 1; n <= 4; n++) expect((await tryPassword(person.name, wrong, { ip: `2001:db8:1:2::${n}` })).code).toBe(1101)
    expect((await tryPassword(person.name, wrong, { ip: '2001:db8:1:2:ffff::5' })).code).toBe(1136)
    expect((await tryPassword(person.name, wrong, { ip: '2001:db8:1:3::5' })).code).toBe(1101)
  })

  it('of all addresses together comes with the twentieth; a device that has signed in goes on, with a count of its own', async () => {
    const person = await makeUser(app)
    const cookie = (await enter(person)).cookies.find(({ name }) => name === 'zs_device')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/api/ums/v1/auth', maxAge: 400 * 24 * 60 * 60 })
    const known = { cookies: { zs_device: cookie?.value ?? '' } }
    const kept = await app.platform.db.selectFrom('known_devices').select('hash').where('user_id', '=', person.id).execute()
    expect(kept).toEqual([{ hash: hashOf(known.cookies.zs_device) }])
    for (let n = 1; n <= 19; n++) expect((await tryPassword(person.name, wrong)).code).toBe(1101)
    expect((await tryPassword(person.name, wrong)).code).toBe(1136)
    expect((await tryPassword(person.name, password)).code).toBe(1136)
    // Of somebody else it is as good as none.
    const other = await enter(await makeUser(app))
    expect((await tryPassword(person.name, password, { cookies: { zs_device: deviceOf(other) } })).code).toBe(1136)
    // Also from an address that guesses.
    expect(deviceOf(await enter(person, known))).toBe(known.cookies.zs_device)
    await freeze(person.name, known)
    expect((await tryPassword(person.name, password, known)).code).toBe(1136)
    app.clock.advance(5 * minuteMs + secondMs)
    expect((await enter(person, known)).status).toBe(200)
    expect((await enter(person)).status).toBe(200)
  })

  it('from one address alone never becomes one of all', async () => {
    const person = await makeUser(app)
    const from = { ip: someIp() }
    for (let round = 0; round < 5; round++) {
      await freeze(person.name, from)
      app.clock.advance(5 * minuteMs + secondMs)
    }
    expect((await enter(person)).status).toBe(200)
  })

  it('from many addresses is told to who runs the platform, once a day', async () => {
    const admin = await someone(app, { kind: 1 })
    const person = await makeUser(app)
    const told = async () => (await inboxOf(app, admin.email)).filter(({ text }) => text.includes(person.name))
    const detail = () => call(app, users.get, { token: admin.token, params: { id: person.id } })
    for (let n = 1; n <= 2; n++) await freeze(person.name, { ip: someIp() })
    expect(await detail()).toMatchObject({ attacked_at: null, frozen_until: expect.any(String) as string })
    await freeze(person.name, { ip: someIp() })
    const { attacked_at } = await detail()
    expect(attacked_at).not.toBeNull()
    await vi.waitFor(async () => expect(await told()).toHaveLength(1), 5000)
    const { items } = await call(app, audits.list, { token: admin.token, query: { call: auth.password.id, object_id: person.id } })
    expect(items.filter(({ ip }) => ip === '')).toMatchObject([{ code: 1136, actor: null, object_name: person.name }])
    await freeze(person.name, { ip: someIp() })
    expect((await detail()).attacked_at).toBe(attacked_at)
  })

  it('from many addresses is told within the console, to who runs the platform and to who manages the organisation', async () => {
    const [admin, manager, stranger] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
    const person = await makeUser(app, { kind: 4, organisation: manager.bp_id })
    const told = async ({ token }: { token: string }) =>
      (await call(app, messages.list, { token, query: { category: 'security', page_size: 100 } })).items.filter(({ about }) => about.id === person.id)
    for (let n = 1; n <= 4; n++) await freeze(person.name, { ip: someIp() })
    for (const who of [admin, manager])
      expect(await told(who)).toMatchObject([
        { kind: 'ums.attacked', about: { kind: 'ums.user', name: person.name }, text: expect.stringContaining(person.name), read: false },
      ])
    expect(await told(stranger)).toEqual([])
  })

  it('counts wrong ones in a row: the right one in between begins anew', async () => {
    const person = await makeUser(app)
    const from = { ip: someIp() }
    for (let round = 0; round < 2; round++) {
      for (let n = 1; n <= 4; n++) expect((await tryPassword(person.name, wrong, from)).code).toBe(1101)
      expect((await enter(person, from)).status).toBe(200)
    }
  })

  it('lets five through of fifty guesses that come at once, not even the right one among the rest', async () => {
    const person = await makeUser(app)
    // One address may not even ask so often.
    const known = { cookies: { zs_device: deviceOf(await enter(person)) } }
    const guesses = Array.from({ length: 50 }, (_, n) => (n === 30 ? password : `Wrong-password-${n}`))
    const codes = (await Promise.all(guesses.map((guess) => tryPassword(person.name, guess, known)))).map(({ code }) => code)
    expect(codes.filter((code) => code === 1101)).toHaveLength(4)
    expect(codes.filter((code) => code === 1136)).toHaveLength(46)
  })

  it('counts in one place for two servers', async () => {
    const person = await makeUser(app)
    const ip = someIp()
    for (const server of [app, other, app, other]) {
      expect((await refused(server, auth.password, { ip, body: { username: person.name, password: wrong } })).code).toBe(1101)
    }
    expect((await refused(app, auth.password, { ip, body: { username: person.name, password: wrong } })).code).toBe(1136)
    expect((await refused(other, auth.password, { ip, body: { username: person.name, password } })).code).toBe(1136)
  })

  it('lets the same person in twenty times at once', async () => {
    const person = await makeUser(app)
    const sessions = await Promise.all(Array.from({ length: 20 }, () => signIn(app, person)))
    expect(new Set(sessions.map(({ token }) => token)).size).toBe(20)
  })

  it('happens to unknown names too, so that it does not tell who exists', async () => {
    const from = { ip: someIp() }
    for (let n = 1; n <= 4; n++) expect((await tryPassword('no-such-name', wrong, from)).code).toBe(1101)
    expect((await tryPassword('No-such-name', wrong, from)).code).toBe(1136)
    expect((await tryPassword('no-such-name', wrong, from)).code).toBe(1136)
    for (let n = 6; n <= 19; n++) expect((await tryPassword('no-such-name', wrong)).code).toBe(1101)
    expect((await tryPassword('no-such-name', wrong)).code).toBe(1136)
    expect((await tryPassword('no-such-name', wrong)).code).toBe(1136)
    app.clock.advance(5 * minuteMs + secondMs)
    expect((await tryPassword('no-such-name', wrong, from)).code).toBe(1101)
  })
})

describe('tokens', () => {
  it('are an access token of fifteen minutes and a refresh cookie that no script can read', async () => {
    const person = await makeUser(app)
    const answer = await send(app, auth.password, { body: { username: person.name, password } })
    const body = accessToken.parse(answer.body)
    expect(body.token).toMatch(/^[\w-]{43}$/)
    expect(Date.parse(body.expires_at) - app.clock.now().getTime()).toBeGreaterThan(15 * minuteMs - 5 * secondMs)
    expect(Date.parse(body.expires_at) - app.clock.now().getTime()).toBeLessThanOrEqual(15 * minuteMs)
    expect(answer.headers['cache-control']).toBe('no-store')
    const cookie = cookieOf(answer)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/api/ums/v1/auth' })
    expect(cookie?.['secure']).toBeUndefined()
    expect(cookie?.value).toMatch(/^[\w-]{43}$/)
    expect(cookie?.value).not.toBe(body.token)

    expect(await isAlive(body.token)).toBe(true)
    app.clock.advance(15 * minuteMs + secondMs)
    expect(await refused(app, users.current, { token: body.token })).toMatchObject({ status: 401, code: 90008 })
  })

  it('are marked Secure where people come over TLS', async () => {
    const secure = await testApp({ PUBLIC_URL: 'https://console.example.com' })
    const person = await makeUser(secure)
    const answer = await send(secure, auth.password, { body: { username: person.name, password } })
    expect(cookieOf(answer)).toMatchObject({ secure: true })
    await secure.close()
  })

  it('are nowhere in the database', async () => {
    const person = await someone(app)
    const tokens = await app.platform.db.selectFrom('access_tokens').selectAll().execute()
    const sessions = await app.platform.db.selectFrom('sessions').selectAll().where('user_id', '=', person.id).execute()
    const written = [...tokens, ...sessions]
      .flatMap((row) => Object.values(row))
      .map((value) => (value instanceof Buffer ? value.toString('base64url') : String(value)))
    expect(written.some((text) => text.includes(person.token) || text.includes(person.refresh))).toBe(false)
  })

  it('that are none are refused without asking anybody', async () => {
    for (const token of ['', 'x', 'x'.repeat(43), 'x'.repeat(5000), '../../etc/passwd']) {
      expect(await refused(app, users.current, { token }), token.slice(0, 20)).toMatchObject({ status: 401, code: 90008 })
    }
    expect((await refused(app, users.current)).code).toBe(90007)
    expect(await refused(app, auth.refresh)).toMatchObject({ status: 401, code: 91011 })
    expect((await refused(app, auth.refresh, { cookies: { zs_refresh: 'garbage' } })).code).toBe(91011)
  })
})

describe('refreshing', () => {
  it('hands out both tokens anew; other tabs keep theirs until it ends', async () => {
    const person = await someone(app)
    const answer = await refresh(person.refresh)
    expect(answer.status).toBe(200)
    const renewed = cookieOf(answer)?.value ?? ''
    expect(renewed).not.toBe(person.refresh)
    expect(await isAlive(tokenOf(answer))).toBe(true)
    expect(await isAlive(person.token)).toBe(true)
    expect((await refresh(renewed)).status).toBe(200)
  })

  it('forgives the token before for ten seconds, without rotating again', async () => {
    const person = await someone(app)
    const first = await refresh(person.refresh)
    const second = await refresh(person.refresh)
    expect(second.status).toBe(200)
    expect(cookieOf(second)).toBeUndefined()
    expect(await isAlive(tokenOf(second))).toBe(true)
    expect(await isAlive(tokenOf(first))).toBe(true)
    expect((await refresh(cookieOf(first)?.value ?? '')).status).toBe(200)
  })

  it('ends the whole session when an old token comes back later, on every server', async () => {
    const person = await someone(app)
    const first = await refresh(person.refresh)
    expect(await isAlive(tokenOf(first), other)).toBe(true)
    app.clock.advance(11 * secondMs)
    const again = await refresh(person.refresh)
    expect(again).toMatchObject({ status: 401, body: { code: 91011 } })
    expect(cookieOf(again)?.value).toBe('')
    expect(await isAlive(tokenOf(first))).toBe(false)
    expect(await isAlive(person.token)).toBe(false)
    await vi.waitFor(async () => expect(await isAlive(tokenOf(first), other)).toBe(false), 2000)
    expect((await refresh(cookieOf(first)?.value ?? '')).status).toBe(401)
  })

  it('knows a token that was replaced several times over, too', async () => {
    const person = await someone(app)
    let newest = person.refresh
    for (let n = 0; n < 3; n++) newest = cookieOf(await refresh(newest))?.value ?? ''
    expect((await refresh(person.refresh)).status).toBe(401)
    expect((await refresh(newest)).status).toBe(401)
    expect(await isAlive(person.token)).toBe(false)
  })

  it('rotates once for tabs that come at the same time, on two servers', async () => {
    const person = await someone(app)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => refresh(person.refresh, n % 2 === 0 ? app : other)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(answers.filter((answer) => cookieOf(answer) !== undefined)).toHaveLength(1)
    for (const answer of answers) expect(await isAlive(tokenOf(answer))).toBe(true)
  })

  it('keeps a session that is used, for thirty days; one that is not, for seven', async () => {
    const [busy, idle] = [await someone(app), await someone(app)]
    let newest = busy.refresh
    for (let day = 6; day <= 24; day += 6) {
      app.clock.advance(6 * dayMs)
      const answer = await refresh(newest)
      expect(answer.status, `day ${day}`).toBe(200)
      newest = cookieOf(answer)?.value ?? ''
      if (day === 12) expect((await refresh(idle.refresh)).status).toBe(401)
    }
    app.clock.advance(6 * dayMs + secondMs)
    expect((await refresh(newest)).status).toBe(401)
  })

  it('is refused to one who may not sign in any more', async () => {
    const person = await someone(app)
    await app.platform.db.updateTable('users').set({ status: 'disabled' }).where('id', '=', person.id).execute()
    expect(await refresh(person.refresh)).toMatchObject({ status: 401, body: { code: 1135 } })
  })
})

describe('signing out', () => {
  it('ends the session on every server at once, and takes the cookie away', async () => {
    const person = await someone(app)
    expect(await isAlive(person.token, other)).toBe(true)
    const answer = await send(app, auth.logout, { token: person.token })
    expect(answer.status).toBe(204)
    expect(cookieOf(answer)?.value).toBe('')
    expect(await isAlive(person.token)).toBe(false)
    await vi.waitFor(async () => expect(await isAlive(person.token, other)).toBe(false), 2000)
    expect((await refresh(person.refresh)).status).toBe(401)
  })

  it('works with the cookie alone, after the access token has run out', async () => {
    const person = await someone(app)
    app.clock.advance(16 * minuteMs)
    expect((await send(app, auth.logout, { token: person.token, cookies: { zs_refresh: person.refresh } })).status).toBe(204)
    expect((await refresh(person.refresh)).status).toBe(401)
  })

  it('leaves the same person’s other sessions, and does nothing for nobody', async () => {
    const person = await someone(app)
    const second = await signIn(app, person)
    await send(app, auth.logout, { token: person.token })
    expect(await isAlive(second.token)).toBe(true)
    expect((await send(app, auth.logout)).status).toBe(204)
  })
})

describe('whom a token stands for', () => {
  const cutOff = () =>
    app.platform.database.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'zhisuan-bus' and datname = current_database()",
    )
  /** Before the next test. */
  const bothListen = () =>
    vi.waitFor(async () => {
      const { rows } = await app.platform.database.pool.query(
        "select 1 from pg_stat_activity where application_name = 'zhisuan-bus' and datname = current_database()",
      )
      expect(rows.length).toBe(2)
    })

  it('is answered without a promise once it is known, and asked anew once somebody changed', async () => {
    const person = await someone(app)
    const actors = createActors(app.platform, ownRules(app.platform))
    const asked = actors.of(person.token)
    expect(asked).toBeInstanceOf(Promise)
    const actor = await asked
    expect(actor).toMatchObject({ user_id: person.id, kind: 2, roles: ['TENANT_ADMIN'], bp_id: person.bp_id })
    expect(actors.of(person.token)).toEqual(actor)

    const changes = [{ session: actor?.session_id ?? '' }, { user: person.id }, { organisation: person.bp_id ?? '' }]
    for (const gone of changes) {
      await app.platform.db.transaction().execute((tx) => actors.tell(tx, gone))
      await vi.waitFor(() => expect(actors.of(person.token)).toBeInstanceOf(Promise), { interval: 5 })
      await actors.of(person.token)
      expect(actors.of(person.token)).toEqual(actor)
    }
    actors.stop()
  })

  it('is not remembered from an answer that was read before the session ended', async () => {
    const person = await someone(app)
    const actors = createActors(app.platform, ownRules(app.platform))
    const reading = actors.of(person.token)
    actors.forget({ session: 'of somebody else, even' })
    expect(await reading).toMatchObject({ user_id: person.id })
    expect(actors.of(person.token)).toBeInstanceOf(Promise)
    actors.stop()
  })

  it('is asked anew after messages may have been lost', async () => {
    const person = await someone(app)
    const actors = createActors(app.platform, ownRules(app.platform))
    await actors.of(person.token)
    expect(actors.of(person.token)).not.toBeInstanceOf(Promise)
    await cutOff()
    await vi.waitFor(() => expect(actors.of(person.token)).toBeInstanceOf(Promise), { interval: 5 })
    actors.stop()
    await bothListen()
  })

  it('keeps nothing open where the session ended while messages were lost', async () => {
    const { db } = app.platform
    const [gone, there] = await Promise.all(
      [await someone(app), await someone(app)].map(async ({ id }) => {
        const session = await db.selectFrom('sessions').select('id').where('user_id', '=', id).executeTakeFirstOrThrow()
        const opened = { session_id: session.id, user_id: id, end: vi.fn<(why: string) => void>() }
        app.platform.openStreams.add(opened)
        return opened
      }),
    )
    await db
      .deleteFrom('sessions')
      .where('id', '=', gone?.session_id ?? '')
      .execute()
    await cutOff()
    await vi.waitFor(() => expect(gone?.end).toHaveBeenCalledWith('session'), { timeout: 5 * secondMs })
    expect(there?.end).not.toHaveBeenCalled()
    await bothListen()
  })

  it('is nobody in a frozen organisation', async () => {
    const person = await makeUser(app)
    const { token } = await signIn(app, person)
    await app.platform.db
      .updateTable('organisations')
      .set({ status: 'frozen' })
      .where('id', '=', person.bp_id ?? '')
      .execute()
    expect(await isAlive(token)).toBe(false)
  })
})

describe('the audit log', () => {
  it('has every attempt to sign in', async () => {
    const person = await makeUser(app)
    await tryPassword(person.name, 'Wrong-password-1')
    await signIn(app, person)
    const rows = await app.platform.db
      .selectFrom('audit_log')
      .select(['call', 'code'])
      .where('call', '=', 'ums.auth.password')
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(2)
      .execute()
    expect(rows).toEqual([
      { call: 'ums.auth.password', code: 0 },
      { call: 'ums.auth.password', code: 1101 },
    ])
  })
})
