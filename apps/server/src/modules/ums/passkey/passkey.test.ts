import { generateKeyPairSync } from 'node:crypto'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { auth } from '@zhisuan/contract/ums/auth'
import { passkeys, passkeysMax } from '@zhisuan/contract/ums/passkey'
import { secondFactor } from '@zhisuan/contract/ums/second-factor'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { TOTP, URI } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { createAuthenticator, type Lie } from '../../../testing/authenticator.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { makeUser, password, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { relyingPartyOf } from './relying-party.ts'

const origin = 'https://console.example.com'
let app: TestApp
beforeAll(async () => {
  app = await testApp({ PUBLIC_URL: `${origin}/` })
})
afterAll(() => app.close())

type Authenticator = ReturnType<typeof createAuthenticator>

async function register(who: { token: string }, device: Authenticator = createAuthenticator(origin), name = '笔记本电脑'): Promise<Authenticator> {
  const options = await call(app, passkeys.begin, { token: who.token, body: {} })
  await call(app, passkeys.create, { token: who.token, body: { name, credential: device.make(options) } })
  return device
}
async function withPasskey(options: { counts?: boolean } = {}): Promise<{ person: Person & SignedIn; device: Authenticator }> {
  const person = await someone(app)
  return { person, device: await register(person, createAuthenticator(origin, options)) }
}
const enter = async (device: Authenticator, lie: Lie = {}) =>
  send(app, passkeys.signIn, { body: { credential: device.use(await call(app, passkeys.challenge, {}), lie) } })
const codeOf = (answer: { body: unknown }) => (answer.body as { code?: number }).code

describe('a passkey', () => {
  it('is made, named, used, renamed and forgotten', async () => {
    const { person, device } = await withPasskey()
    expect(await call(app, passkeys.list, { token: person.token })).toMatchObject({
      total: 1,
      items: [{ name: '笔记本电脑', synced: false, last_used_at: null }],
    })
    const answer = await enter(device)
    expect(answer).toMatchObject({ status: 200, body: { must_change_password: false } })
    expect(answer.cookies.find(({ name }) => name === 'zs_refresh')).toMatchObject({ httpOnly: true, sameSite: 'Strict', secure: true })
    const { token } = answer.body as { token: string }
    expect(await call(app, users.current, { token })).toMatchObject({ id: person.id })
    const [mine] = (await call(app, passkeys.list, { token })).items
    expect(mine?.last_used_at).not.toBeNull()
    expect(await call(app, passkeys.rename, { token, params: { id: mine?.id ?? '' }, body: { name: '手机' } })).toMatchObject({ name: '手机' })
    await call(app, passkeys.remove, { token, params: { id: mine?.id ?? '' }, body: {} })
    expect(await call(app, passkeys.list, { token })).toEqual({ total: 0, items: [] })
    expect(codeOf(await enter(device))).toBe(91126)
    // Who is signed in by it stays so: the session has its own end.
    expect(await call(app, users.current, { token })).toMatchObject({ id: person.id })
  })

  it('proves both factors, where policies or the person want two', async () => {
    const { person, device } = await withPasskey()
    const admin = await someone(app, { kind: 1 })
    const document = {
      Version: policyLanguage,
      Statement: [{ Effect: 'Deny', Action: 'ums.organisation.list', Resource: '*', Condition: { Bool: { 'zs:MfaPresent': 'false' } } }],
    }
    const policy = await call(app, policies.create, { token: admin.token, body: { name: `p-${uuidv7()}`, document } })
    await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: person.id } })
    expect((await send(app, organisations.list, { token: person.token })).status).toBe(403)
    const { token } = (await enter(device)).body as { token: string }
    expect((await send(app, organisations.list, { token })).status).toBe(200)

    const { uri } = await call(app, secondFactor.begin, { token: person.token, body: { password } })
    await call(app, secondFactor.confirm, { token: person.token, body: { code: (URI.parse(uri) as TOTP).generate({ timestamp: app.clock.now().getTime() }) } })
    expect(await refused(app, auth.password, { body: { username: person.name, password } })).toMatchObject({ code: 91120 })
    expect((await enter(device)).status).toBe(200)
  })

  it('signs in on whichever server, by a challenge that is good once and not for long', async () => {
    const { device } = await withPasskey()
    const other = await testApp({ DATABASE_URL: app.databaseUrl, PUBLIC_URL: origin }, { clock: app.clock })
    try {
      const credential = device.use(await call(app, passkeys.challenge, {}))
      expect((await send(other, passkeys.signIn, { body: { credential } })).status).toBe(200)
      for (const server of [app, other]) expect(await refused(server, passkeys.signIn, { body: { credential } })).toMatchObject({ status: 401, code: 91126 })
    } finally {
      await other.close()
    }
    const atOnce = device.use(await call(app, passkeys.challenge, {}))
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(app, passkeys.signIn, { body: { credential: atOnce } })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const late = device.use(await call(app, passkeys.challenge, {}))
    app.clock.advance(5 * 60_000)
    expect(await refused(app, passkeys.signIn, { body: { credential: late } })).toMatchObject({ code: 91126 })
    // A challenge is spent by a wrong answer, too.
    const challenge = await call(app, passkeys.challenge, {})
    expect(await refused(app, passkeys.signIn, { body: { credential: device.use(challenge, { unverified: true }) } })).toMatchObject({ code: 91126 })
    expect(await refused(app, passkeys.signIn, { body: { credential: device.use(challenge) } })).toMatchObject({ code: 91126 })
  })

  const lies: Readonly<Record<string, Lie>> = {
    'of another origin': { origin: 'https://console.example.com.evil.example' },
    'of another port': { origin: 'https://console.example.com:8443' },
    'for another party': { rpId: 'evil.example' },
    'from within another page': { crossOrigin: true },
    'without asking who uses the device': { unverified: true },
    'that makes one instead': { type: 'webauthn.create' },
    'to a challenge that nobody gave': { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    'signed by another key': { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    'for another person': { userHandle: Buffer.from(uuidv7()).toString('base64url') },
  }
  it.each(Object.entries(lies))('does not sign in by an answer %s', async (_, lie) => {
    const { device } = await withPasskey()
    expect(codeOf(await enter(device, lie))).toBe(91126)
    expect((await enter(device)).status).toBe(200)
  })

  it('that nobody has is refused like one that is wrong, and a challenge says nothing of anybody', async () => {
    const stranger = await refused(app, passkeys.signIn, { body: { credential: createAuthenticator(origin).use(await call(app, passkeys.challenge, {})) } })
    const { device } = await withPasskey()
    const wrong = await refused(app, passkeys.signIn, { body: { credential: device.use(await call(app, passkeys.challenge, {}), { unverified: true }) } })
    expect({ ...stranger, request_id: '' }).toEqual({ ...wrong, request_id: '' })
    const asked = await call(app, passkeys.challenge, {})
    expect(Object.keys(asked).sort()).toEqual(['challenge', 'rpId', 'timeout', 'userVerification'])
    for (const broken of ['e30', 'bnVsbA', 'AAAA']) {
      const credential = { ...device.use(asked), response: { ...device.use(asked).response, clientDataJSON: broken } }
      expect(await refused(app, passkeys.signIn, { body: { credential } })).toMatchObject({ code: 91126 })
    }
  })

  it('whose counter goes back is a copy: refused, and told', async () => {
    const { person, device } = await withPasskey({ counts: true })
    expect((await enter(device)).status).toBe(200)
    expect((await enter(device)).status).toBe(200)
    expect(codeOf(await enter(device, { counter: 2 }))).toBe(91128)
    expect(codeOf(await enter(device, { counter: 1 }))).toBe(91128)
    expect(codeOf(await enter(device, { counter: 0 }))).toBe(91128)
    const [one, two] = [await call(app, passkeys.challenge, {}), await call(app, passkeys.challenge, {})]
    const answers = await Promise.all([one, two].map((asked) => send(app, passkeys.signIn, { body: { credential: device.use(asked, { counter: 9 }) } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    const told = await app.platform.db.selectFrom('audit_log').select('code').where('call', '=', passkeys.signIn.id).where('code', '=', 91128).execute()
    expect(told.length).toBeGreaterThanOrEqual(4)
    expect((await call(app, passkeys.list, { token: person.token })).total).toBe(1)
  })

  it('lets nobody in who may not sign in', async () => {
    const admin = await someone(app, { kind: 1 })
    const { person, device } = await withPasskey()
    await call(app, organisations.action, { token: admin.token, params: { id: person.bp_id ?? '' }, body: { action: 'freeze' } })
    expect(codeOf(await enter(device))).toBe(91012)
    await call(app, organisations.action, { token: admin.token, params: { id: person.bp_id ?? '' }, body: { action: 'unfreeze' } })
    await call(app, users.action, { token: admin.token, params: { id: person.id }, body: { action: 'disable' } })
    expect(codeOf(await enter(device))).toBe(1135)
    await call(app, users.action, { token: admin.token, params: { id: person.id }, body: { action: 'enable' } })
    expect((await enter(device)).status).toBe(200)
    await call(app, users.delete, { token: admin.token, params: { id: person.id } })
    expect(codeOf(await enter(device))).toBe(91126)
  })

  it('goes with the second factor of one who lost their devices', async () => {
    const admin = await someone(app, { kind: 1 })
    const { person, device } = await withPasskey()
    await call(app, users.action, { token: admin.token, params: { id: person.id }, body: { action: 'resetSecondFactor' } })
    expect(codeOf(await enter(device))).toBe(91126)
  })
})

describe('making a passkey', () => {
  it('takes the password where one did not just sign in', async () => {
    const person = await someone(app)
    app.clock.advance(11 * 60_000)
    const { token } = person
    expect(await refused(app, passkeys.begin, { token, body: {} })).toMatchObject({ status: 400, code: 91125, fields: [{ field: 'password' }] })
    expect(await refused(app, passkeys.begin, { token, body: { password: 'Wrong-wrong-1' } })).toMatchObject({ code: 1120, fields: [{ field: 'password' }] })
    const device = createAuthenticator(origin)
    const options = await call(app, passkeys.begin, { token, body: { password } })
    const made = await call(app, passkeys.create, { token, body: { name: '钥匙', credential: device.make(options) } })
    expect(await refused(app, passkeys.remove, { token, params: { id: made.id }, body: {} })).toMatchObject({ code: 91125 })
    await call(app, passkeys.remove, { token, params: { id: made.id }, body: { password } })
  })

  it('is not for one who has to change their password first, nor for a session older than a second factor', async () => {
    const newcomer = await signIn(app, await makeUser(app, { must_change_password: true }))
    expect(await refused(app, passkeys.begin, { token: newcomer.token, body: { password } })).toMatchObject({ status: 403, code: 91001 })
    const person = await someone(app)
    const older = await signIn(app, person)
    const { uri } = await call(app, secondFactor.begin, { token: person.token, body: { password } })
    await call(app, secondFactor.confirm, { token: person.token, body: { code: (URI.parse(uri) as TOTP).generate({ timestamp: app.clock.now().getTime() }) } })
    expect(await refused(app, passkeys.begin, { token: older.token, body: { password } })).toMatchObject({ code: 91125 })
    expect((await send(app, passkeys.begin, { token: person.token, body: { password } })).status).toBe(200)
  })

  it('takes each challenge once, from whom it was given to, for what it was given for', async () => {
    const [person, thief] = [await someone(app), await someone(app)]
    const device = createAuthenticator(origin)
    const options = await call(app, passkeys.begin, { token: person.token, body: {} })
    const body = { name: '钥匙', credential: device.make(options) }
    expect(await refused(app, passkeys.create, { token: thief.token, body })).toMatchObject({ status: 400, code: 91127 })
    await call(app, passkeys.create, { token: person.token, body })
    expect(await refused(app, passkeys.create, { token: person.token, body })).toMatchObject({ code: 91127 })
    const forSignIn = await call(app, passkeys.challenge, {})
    expect(
      await refused(app, passkeys.create, {
        token: person.token,
        body: { name: '钥匙', credential: createAuthenticator(origin).make({ ...options, ...forSignIn }) },
      }),
    ).toMatchObject({ code: 91127 })
    const forMaking = await call(app, passkeys.begin, { token: person.token, body: {} })
    expect(forMaking.excludeCredentials).toEqual([{ id: device.id, type: 'public-key' }])
    expect(await refused(app, passkeys.signIn, { body: { credential: device.use({ ...forMaking, rpId: forMaking.rp.id }) } })).toMatchObject({ code: 91126 })
    const late = await call(app, passkeys.begin, { token: person.token, body: {} })
    app.clock.advance(5 * 60_000)
    expect(
      await refused(app, passkeys.create, { token: person.token, body: { name: '钥匙', credential: createAuthenticator(origin).make(late) } }),
    ).toMatchObject({ code: 91127 })
  })

  it.each(['origin', 'rpId', 'unverified', 'type', 'crossOrigin', 'attested'])('takes no answer that is wrong: %s', async (what) => {
    const person = await someone(app)
    const options = await call(app, passkeys.begin, { token: person.token, body: {} })
    const lies: Readonly<Record<string, Lie>> = {
      origin: { origin: 'https://evil.example' },
      rpId: { rpId: 'evil.example' },
      unverified: { unverified: true },
      type: { type: 'webauthn.get' },
      crossOrigin: { crossOrigin: true },
    }
    // A chain of certificates would have the server fetch what they name.
    const statement =
      what === 'attested'
        ? {
            fmt: 'packed',
            attStmt: new Map<string, unknown>([
              ['alg', -7],
              ['sig', new Uint8Array(70)],
              ['x5c', [new Uint8Array(100)]],
            ]),
          }
        : undefined
    const credential = createAuthenticator(origin).make(options, lies[what], statement)
    expect(await refused(app, passkeys.create, { token: person.token, body: { name: '钥匙', credential } })).toMatchObject({ code: 91127 })
    expect((await call(app, passkeys.list, { token: person.token })).total).toBe(0)
  })

  it('takes no passkey that somebody has, and not more than so many', async () => {
    const { person, device } = await withPasskey()
    const other = await someone(app)
    const copy = createAuthenticator(origin, { id: Buffer.from(device.id, 'base64url') })
    const options = await call(app, passkeys.begin, { token: other.token, body: {} })
    expect(await refused(app, passkeys.create, { token: other.token, body: { name: '钥匙', credential: copy.make(options) } })).toMatchObject({ code: 91127 })
    for (let made = 2; made < passkeysMax; made++) await register(person)
    const last = [await call(app, passkeys.begin, { token: person.token, body: {} }), await call(app, passkeys.begin, { token: person.token, body: {} })]
    const answers = await Promise.all(
      last.map((asked) => send(app, passkeys.create, { token: person.token, body: { name: '钥匙', credential: createAuthenticator(origin).make(asked) } })),
    )
    expect(answers.map((answer) => codeOf(answer) ?? 0).sort()).toEqual([0, 91129])
    expect(await refused(app, passkeys.begin, { token: person.token, body: {} })).toMatchObject({ code: 91129 })
  })

  it('is nobody else’s to change', async () => {
    const { person } = await withPasskey()
    const [mine] = (await call(app, passkeys.list, { token: person.token })).items
    const other = await someone(app, { kind: 1 })
    const params = { id: mine?.id ?? '' }
    expect((await refused(app, passkeys.rename, { token: other.token, params, body: { name: '我的' } })).status).toBe(404)
    expect((await refused(app, passkeys.remove, { token: other.token, params, body: {} })).status).toBe(404)
    expect(await refused(app, passkeys.rename, { token: person.token, params, body: { name: ' ' } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'name' }],
    })
  })

  it('keeps the last of one who has no password', async () => {
    const { person, device } = await withPasskey()
    await app.platform.db.updateTable('users').set({ password_hash: '' }).where('id', '=', person.id).execute()
    expect(await refused(app, auth.password, { body: { username: person.name, password: '' } })).toMatchObject({ code: 90001 })
    expect(await refused(app, auth.password, { body: { username: person.name, password } })).toMatchObject({ status: 401, code: 1101 })
    const { token } = (await enter(device)).body as { token: string }
    const [first] = (await call(app, passkeys.list, { token })).items
    const params = { id: first?.id ?? '' }
    expect(await refused(app, passkeys.remove, { token, params, body: {} })).toMatchObject({ status: 400, code: 91131 })
    await register({ token })
    await call(app, passkeys.remove, { token, params, body: {} })
  })
})

describe('the party that passkeys are for', () => {
  it('is the public address’s host, where browsers allow it', () => {
    expect(relyingPartyOf({ PUBLIC_URL: 'https://console.example.com:8443/x' })).toEqual({
      id: 'console.example.com',
      origin: 'https://console.example.com:8443',
    })
    expect(relyingPartyOf({ PUBLIC_URL: 'http://localhost:8080' })).toEqual({ id: 'localhost', origin: 'http://localhost:8080' })
    for (const PUBLIC_URL of [undefined, 'http://console.example.com', 'https://10.0.0.1', 'https://[::1]', 'http://127.0.0.1:8080'])
      expect(relyingPartyOf({ PUBLIC_URL }), PUBLIC_URL).toBeNull()
  })

  it('is nobody without one', async () => {
    const bare = await testApp()
    try {
      const person = await someone(bare)
      expect(await call(app, auth.ways, {})).toMatchObject({ passkeys: true })
      expect(await call(bare, auth.ways, {})).toMatchObject({ passkeys: false })
      expect(await refused(bare, passkeys.challenge, {})).toMatchObject({ status: 400, code: 91130 })
      expect(await refused(bare, passkeys.begin, { token: person.token, body: {} })).toMatchObject({ code: 91130 })
      expect(await call(bare, passkeys.list, { token: person.token })).toEqual({ total: 0, items: [] })
    } finally {
      await bare.close()
    }
  })
})
