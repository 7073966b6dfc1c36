import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { auth } from '@zhisuan/contract/ums/auth'
import { identities, identityProviders, singleSignOn, type IdentityProvider, type IdentityProviderInput } from '@zhisuan/contract/ums/identityProvider'
import { passkeys } from '@zhisuan/contract/ums/passkey'
import { secondFactor } from '@zhisuan/contract/ums/second-factor'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { TOTP, URI } from 'otpauth'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { someIp, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { startLiar, type ProviderLie } from '../../../testing/oidc-liar.ts'
import { signInThere, startProvider, type ProviderAccount, type RunningProvider } from '../../../testing/oidc-provider.ts'
import { makeOrganisation, makeUser, password, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { callbackPath } from './provider.service.ts'

const origin = 'https://console.example.com'
let app: TestApp
let real: RunningProvider & { allow(uri: string): void }
let liar: Awaited<ReturnType<typeof startLiar>>
let admin: Person & SignedIn
beforeAll(async () => {
  ;[app, real, liar] = await Promise.all([
    testApp({ PUBLIC_URL: origin, SSO_ALLOW: '127.0.0.1' }),
    startProvider(),
    startLiar({ id: 'zhisuan', secret: 'a-secret-of-the-liar-that-is-long-enough' }),
  ])
  admin = await someone(app, { kind: 1 })
})
afterAll(async () => {
  await Promise.all([app.close(), real.close(), liar.close()])
})
afterEach(() => {
  liar.tells({})
  real.says([])
})

type Cookies = Record<string, string>
const cookiesOf = (answer: { cookies: readonly { name: string; value: string }[] }): Cookies =>
  Object.fromEntries(answer.cookies.map(({ name, value }) => [name, value]))

/** Set up for the test alone: an organisation of its own takes new people in. */
async function setUp(
  wish: Partial<IdentityProviderInput> = {},
  of: { issuer: string; client: { id: string; secret: string } } = real,
): Promise<IdentityProvider> {
  const provider = await call(app, identityProviders.create, {
    token: admin.token,
    body: {
      name: `p-${randomUUID()}`,
      enabled: true,
      issuer: of.issuer,
      client_id: of.client.id,
      client_secret: of.client.secret,
      creates_people: true,
      bp_id: await makeOrganisation(app),
      ...wish,
    },
  })
  real.allow(provider.redirect_uri ?? '')
  return provider
}
const settingsOf = ({
  id: _id,
  has_secret: _secret,
  by_organisation: _by,
  sign_in_address: _address,
  bp_name: _bp,
  people: _people,
  redirect_uri: _uri,
  post_logout_redirect_uri: _logout,
  created_at: _created,
  updated_at: _updated,
  ...settings
}: IdentityProvider): IdentityProviderInput => settings

function account(wish: Partial<ProviderAccount> = {}): ProviderAccount {
  const sub = randomUUID()
  const made = { sub, preferred_username: `sso-${sub.slice(0, 8)}`, name: '张三', email: `${sub}@corp.example`, email_verified: true, ...wish }
  real.add(made)
  return made
}

interface Flow {
  readonly url: string
  readonly cookies: Cookies
}
async function begin(provider: { id: string }, redirect?: string): Promise<Flow> {
  const answer = await send(app, singleSignOn.begin, { params: { id: provider.id }, body: { redirect } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return { url: (answer.body as { url: string }).url, cookies: cookiesOf(answer) }
}
/** The browser comes back. @returns where it is led, and its cookie for the session */
async function comeBack(back: URL, cookies: Cookies, server: TestApp = app): Promise<{ at: URL; cookies: Cookies }> {
  const response = await server.http.inject({ method: 'GET', url: `${back.pathname}${back.search}`, cookies, remoteAddress: someIp() })
  expect(response.statusCode).toBe(303)
  const location = response.headers.location ?? ''
  // Never to another site.
  expect(location).toMatch(/^\/(login|userMsg)\?/)
  return {
    at: new URL(location, origin),
    cookies: Object.fromEntries(response.cookies.filter(({ value }) => value !== '').map(({ name, value }) => [name, value])),
  }
}
const told = ({ at }: { at: URL }): string | null => at.searchParams.get('sso')
const codeOf = (name: ErrorName): string => String(errors[name].code)

/** All the way to the ticket. */
async function goThrough(provider: { id: string }, sub: string): Promise<{ at: URL; cookies: Cookies }> {
  const flow = await begin(provider)
  return comeBack(await signInThere(flow.url, sub), flow.cookies)
}
const finish = (cookies: Cookies, otp?: string) => send(app, singleSignOn.finish, { cookies, body: otp === undefined ? {} : { otp } })
/** And in. */
async function enter(provider: { id: string }, sub: string): Promise<string> {
  const { cookies, at } = await goThrough(provider, sub)
  if (at.searchParams.get('sso') !== 'done') throw new Error(at.href)
  const answer = await finish(cookies)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return (answer.body as { token: string }).token
}
/** By the liar. */
async function withLie(provider: { id: string }, lie: ProviderLie, iss?: string | null): Promise<string | null> {
  const flow = await begin(provider)
  liar.tells(lie)
  return told(await comeBack(liar.leadBack(flow.url, iss), flow.cookies))
}
async function linked(provider: { id: string }, who: SignedIn, sub: string): Promise<{ at: URL }> {
  const answer = await send(app, identities.link, { token: who.token, body: { provider_id: provider.id } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return comeBack(await signInThere((answer.body as { url: string }).url, sub), cookiesOf(answer))
}

describe('single sign-on', () => {
  it('makes a person of the organisation, with a session like any other, who is the same the next time', async () => {
    const provider = await setUp()
    const who = account()
    expect((await call(app, auth.ways, {})).providers).toContainEqual({ id: provider.id, name: provider.name, by_organisation: false })
    const flow = await begin(provider, '/userMsg?x=1')
    expect(new URL(flow.url).searchParams.get('code_challenge_method')).toBe('S256')
    const back = await comeBack(await signInThere(flow.url, who.sub), flow.cookies)
    expect(back.at.pathname + back.at.search).toBe('/login?sso=done&redirect=%2FuserMsg%3Fx%3D1')
    const answer = await finish(back.cookies)
    expect(answer).toMatchObject({ status: 200, body: { must_change_password: false } })
    expect(answer.cookies.find(({ name }) => name === 'zs_refresh')).toMatchObject({ httpOnly: true, sameSite: 'Strict', secure: true })
    const { token } = answer.body as { token: string }
    const person = await call(app, users.current, { token })
    expect(person).toMatchObject({
      name: who.preferred_username,
      nickname: '张三',
      email: who.email,
      kind: 4,
      bp_id: provider.bp_id,
      permissions: [{ role: 'TENANT' }],
    })
    expect(await call(app, users.current, { token: await enter(provider, who.sub) })).toMatchObject({ id: person.id })
    expect(await call(app, identityProviders.get, { token: admin.token, params: { id: provider.id } })).toMatchObject({ people: 1, has_secret: true })
    // Nobody can guess at a password that is none.
    expect(await refused(app, auth.password, { body: { username: person.name, password } })).toMatchObject({ code: 1101 })
    // What was there for the way is gone: a ticket is good once.
    expect(await refused(app, singleSignOn.finish, { cookies: back.cookies, body: {} })).toMatchObject({ status: 401, code: 91141 })
  })

  it('leads to another page of the console only', async () => {
    const provider = await setUp()
    for (const redirect of ['https://evil.example', '//evil.example', '/\\evil.example', 'login', '/a\nb', '/\t/evil.example']) {
      expect(await refused(app, singleSignOn.begin, { params: { id: provider.id }, body: { redirect } })).toMatchObject({
        status: 400,
        code: 90001,
        fields: [{ field: 'redirect' }],
      })
    }
  })

  it('makes one person of two who come at once, and lets one of two in who come with the same answer', async () => {
    const provider = await setUp()
    const who = account()
    const flows = await Promise.all(Array.from({ length: 4 }, () => begin(provider)))
    const backs = await Promise.all(flows.map((flow) => signInThere(flow.url, who.sub)))
    const all = await Promise.all(backs.map((back, index) => comeBack(back, flows[index]?.cookies ?? {})))
    expect(all.map(told)).toEqual(['done', 'done', 'done', 'done'])
    const tokens = await Promise.all(all.map(async ({ cookies }) => ((await finish(cookies)).body as { token: string }).token))
    const ids = await Promise.all(tokens.map(async (token) => (await call(app, users.current, { token })).id))
    expect(new Set(ids).size).toBe(1)
    expect((await call(app, users.list, { token: admin.token, query: { bp_id: provider.bp_id ?? '' } })).total).toBe(1)

    const flow = await begin(provider)
    const back = await signInThere(flow.url, who.sub)
    const twice = await Promise.all([comeBack(back, flow.cookies), comeBack(back, flow.cookies)])
    expect(twice.map(told).sort()).toEqual([codeOf('ssoExpired'), 'done'])
    const once = twice.find((one) => told(one) === 'done')
    const finished = await Promise.all([finish(once?.cookies ?? {}), finish(once?.cookies ?? {})])
    expect(finished.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('goes on at whichever server', async () => {
    const provider = await setUp()
    const who = account()
    const other = await testApp({ DATABASE_URL: app.databaseUrl, PUBLIC_URL: origin }, { clock: app.clock })
    try {
      const flow = await begin(provider)
      const back = await comeBack(await signInThere(flow.url, who.sub), flow.cookies, other)
      expect((await finish(back.cookies)).status).toBe(200)
    } finally {
      await other.close()
    }
  })

  it('takes another name where one is taken, and neither a phone nor a mailbox that nobody verified', async () => {
    const provider = await setUp({ scopes: ['openid', 'profile', 'email', 'phone'] })
    const taken = await makeUser(app)
    const first = account({ preferred_username: taken.name, email_verified: false, phone_number: '+8613912345678', phone_number_verified: false })
    const person = await call(app, users.current, { token: await enter(provider, first.sub) })
    expect(person.name).toMatch(new RegExp(`^${taken.name.slice(0, 20)}`))
    expect(person.name).not.toBe(taken.name)
    expect(person).toMatchObject({ email: null, phone: null })
    const phone = `139${String(Date.now()).slice(-8)}`
    const second = account({ preferred_username: `+86 ${phone}`, phone_number: `+86 ${phone}`, phone_number_verified: true })
    expect(await call(app, users.current, { token: await enter(provider, second.sub) })).toMatchObject({ phone, email: second.email })
  })
})

describe('a provider that an organisation set up', () => {
  const ownOf = async (keeper: Person & SignedIn, wish: Partial<IdentityProviderInput> = {}): Promise<IdentityProvider> => {
    const provider = await call(app, identityProviders.create, {
      token: keeper.token,
      body: {
        name: `own-${randomUUID()}`,
        enabled: true,
        issuer: real.issuer,
        client_id: real.client.id,
        client_secret: real.client.secret,
        creates_people: true,
        bp_id: keeper.bp_id,
        ...wish,
      },
    })
    real.allow(provider.redirect_uri ?? '')
    return provider
  }

  it('makes members of it, is offered at its address only, and leads back there', async () => {
    const keeper = await someone(app)
    const provider = await ownOf(keeper)
    expect(provider).toMatchObject({
      by_organisation: true,
      bp_id: keeper.bp_id,
      sign_in_address: `${origin}/login?organisation=${keeper.bp_id}`,
    })
    const offered = async (organisation?: string) =>
      (await call(app, auth.ways, { query: organisation === undefined ? {} : { organisation } })).providers.some(({ id }) => id === provider.id)
    expect(await offered()).toBe(false)
    expect(await offered(await makeOrganisation(app))).toBe(false)
    expect(await offered(randomUUID())).toBe(false)
    expect(await offered(keeper.bp_id ?? '')).toBe(true)
    const who = account()
    const { at } = await goThrough(provider, who.sub)
    expect(at.searchParams.get('organisation')).toBe(keeper.bp_id)
    expect(await call(app, users.current, { token: await enter(provider, who.sub) })).toMatchObject({
      bp_id: keeper.bp_id,
      kind: 4,
      permissions: [{ role: 'TENANT' }],
    })
  })

  it('names nobody who is not a member, not even by a link of before', async () => {
    const keeper = await someone(app)
    const provider = await ownOf(keeper)
    const [member, stranger] = [await someone(app, { kind: 4, organisation: keeper.bp_id }), await someone(app)]
    const offered = async (who: SignedIn) => (await call(app, identities.list, { token: who.token })).offered.some(({ id }) => id === provider.id)
    expect([await offered(member), await offered(stranger), await offered(admin)]).toEqual([true, false, false])
    for (const who of [stranger, admin])
      expect(await refused(app, identities.link, { token: who.token, body: { provider_id: provider.id } })).toMatchObject({ code: 91152 })
    const mine = account()
    expect(told(await linked(provider, member, mine.sub))).toBe('done')
    expect((await call(app, users.current, { token: await enter(provider, mine.sub) })).id).toBe(member.id)
    // A mailbox that somebody has, whoever says it is verified.
    expect(told(await goThrough(provider, account({ email: stranger.email }).sub))).toBe(codeOf('ssoEmailTaken'))
    expect(told(await goThrough(provider, account({ email: keeper.email }).sub))).toBe(codeOf('ssoEmailTaken'))
    // Who runs the platform, or has gone elsewhere.
    await app.platform.db.updateTable('users').set({ bp_id: stranger.bp_id }).where('id', '=', member.id).execute()
    expect(told(await goThrough(provider, mine.sub))).toBe(codeOf('ssoUnknownPerson'))
    await app.platform.db.updateTable('users').set({ bp_id: keeper.bp_id, kind: 1 }).where('id', '=', member.id).execute()
    expect(told(await goThrough(provider, mine.sub))).toBe(codeOf('ssoUnknownPerson'))
  })

  it('asks for a second factor whatever the provider says of one', async () => {
    const keeper = await someone(app)
    const provider = await ownOf(keeper)
    const member = await someone(app, { kind: 4, organisation: keeper.bp_id })
    const who = account()
    expect(told(await linked(provider, member, who.sub))).toBe('done')
    const { uri } = await call(app, secondFactor.begin, { token: member.token, body: { password } })
    app.clock.advance(31_000)
    await call(app, secondFactor.confirm, { token: member.token, body: { code: (URI.parse(uri) as TOTP).generate({ timestamp: app.clock.now().getTime() }) } })
    real.says(['mfa'])
    const { cookies } = await goThrough(provider, who.sub)
    expect(await finish(cookies)).toMatchObject({ status: 401, body: { code: 91120 } })
  })
})

describe('what is refused on the way back', () => {
  it('whoever did not begin it in this browser, or too long ago', async () => {
    const [provider, other] = [await setUp(), await setUp()]
    const who = account()
    const flow = await begin(provider)
    const back = await signInThere(flow.url, who.sub)
    const thief = await begin(provider)
    expect(told(await comeBack(back, {}))).toBe(codeOf('ssoExpired'))
    expect(told(await comeBack(back, thief.cookies))).toBe(codeOf('ssoExpired'))
    // Their own cookie under the name of the other's flow.
    const [name = ''] = Object.keys(flow.cookies)
    expect(told(await comeBack(back, { [name]: Object.values(thief.cookies)[0] ?? '' }))).toBe(codeOf('ssoExpired'))
    const wrongState = new URL(back)
    wrongState.searchParams.set('state', new URL(thief.url).searchParams.get('state') ?? '')
    expect(told(await comeBack(wrongState, flow.cookies))).toBe(codeOf('ssoExpired'))
    for (const state of ['', 'x', 'A'.repeat(43)]) {
      wrongState.searchParams.set('state', state)
      expect(told(await comeBack(wrongState, flow.cookies))).toBe(codeOf('ssoExpired'))
    }
    // At the address of another provider.
    const misled = new URL(back)
    misled.pathname = callbackPath(other.id)
    expect(told(await comeBack(misled, flow.cookies))).toBe(codeOf('ssoExpired'))
    misled.pathname = callbackPath('nothing')
    expect(told(await comeBack(misled, flow.cookies))).toBe(codeOf('ssoExpired'))
    // None of that has spent it.
    expect(told(await comeBack(back, flow.cookies))).toBe('done')
    const late = await begin(provider)
    const lateBack = await signInThere(late.url, who.sub)
    app.clock.advance(15 * 60_000)
    expect(told(await comeBack(lateBack, late.cookies))).toBe(codeOf('ssoExpired'))
    const { cookies } = await goThrough(provider, who.sub)
    app.clock.advance(5 * 60_000)
    expect(await refused(app, singleSignOn.finish, { cookies, body: {} })).toMatchObject({ code: 91141 })
    admin = { ...admin, ...(await signInAgain(admin)) }
  })

  it('a code that was used, or that another flow got', async () => {
    const provider = await setUp()
    const who = account()
    const [one, two] = [await begin(provider), await begin(provider)]
    const [backOne, backTwo] = [await signInThere(one.url, who.sub), await signInThere(two.url, who.sub)]
    // The code of one in the other's answer: PKCE and nonce do not fit.
    const injected = new URL(backTwo)
    injected.searchParams.set('code', backOne.searchParams.get('code') ?? '')
    expect(told(await comeBack(injected, two.cookies))).toBe(codeOf('ssoFailed'))
    const three = await begin(provider)
    const backThree = await signInThere(three.url, who.sub)
    expect(told(await comeBack(backThree, three.cookies))).toBe('done')
    const four = await begin(provider)
    const replayed = await signInThere(four.url, who.sub)
    replayed.searchParams.set('code', backThree.searchParams.get('code') ?? '')
    expect(told(await comeBack(replayed, four.cookies))).toBe(codeOf('ssoFailed'))
  })

  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const lies: Readonly<Record<string, ProviderLie>> = {
    'another nonce': { claims: { nonce: 'another' } },
    'no nonce': { claims: { nonce: undefined } },
    'another issuer': { claims: { iss: 'https://other.example' } },
    'another audience': { claims: { aud: 'another-client' } },
    'a token that has run out': { claims: { exp: Math.floor(Date.now() / 1000) - 3600 } },
    'a token without an end': { claims: { exp: undefined } },
    'no signature': { alg: 'none' },
    'a signature by the client’s secret': { alg: 'HS256' },
    'a key that the provider does not have': { kid: 'unknown', key: stranger },
    'another key by the name of its own': { key: stranger },
    'no token': { noIdToken: true },
    nobody: { claims: { sub: undefined } },
    'a name with control characters': { claims: { sub: 'a\u0000b' } },
    'a way to somewhere else': { status: 302, location: 'http://127.0.0.1:1/' },
  }
  it.each(Object.entries(lies))('%s', async (_, lie) => {
    const provider = await setUp({}, liar)
    expect(await withLie(provider, lie)).toBe(codeOf('ssoFailed'))
    expect(await withLie(provider, {})).toBe('done')
  })

  it('an answer that says it is of another provider, or does not say whose', async () => {
    const provider = await setUp({}, liar)
    expect(await withLie(provider, {}, 'https://honest.example')).toBe(codeOf('ssoFailed'))
    expect(await withLie(provider, {}, real.issuer)).toBe(codeOf('ssoFailed'))
    expect(await withLie(provider, {}, null)).toBe(codeOf('ssoFailed'))
  })

  it('a provider that fails in the middle, or answers without end', async () => {
    const provider = await setUp({}, liar)
    expect(await withLie(provider, { status: 500 })).toBe(codeOf('ssoUnreachable'))
    expect(await withLie(provider, { longAnswer: true })).toBe(codeOf('ssoUnreachable'))
    const own = await startProvider()
    const gone = await setUp({}, own)
    own.allow(gone.redirect_uri ?? '')
    const who = randomUUID()
    own.add({ sub: who })
    const flow = await begin(gone)
    const back = await signInThere(flow.url, who)
    await own.close()
    expect(told(await comeBack(back, flow.cookies))).toBe(codeOf('ssoUnreachable'))
    // Whoever begins while it is known of is led there; a server that does not know it says so.
    const other = await testApp({ DATABASE_URL: app.databaseUrl, PUBLIC_URL: origin }, { clock: app.clock })
    try {
      expect(await refused(other, singleSignOn.begin, { params: { id: gone.id }, body: {} })).toMatchObject({ status: 502, code: 91143 })
      await own.open()
      expect((await send(other, singleSignOn.begin, { params: { id: gone.id }, body: {} })).status).toBe(200)
    } finally {
      await other.close()
      await own.close()
    }
  })

  it('one who did not want to', async () => {
    const provider = await setUp()
    const flow = await begin(provider, '/userMsg')
    const back = await comeBack(await signInThere(flow.url, account().sub, { cancel: true }), flow.cookies)
    expect(told(back)).toBe(codeOf('ssoDenied'))
    expect(back.at.searchParams.get('redirect')).toBe('/userMsg')
  })

  it('by a provider that is disabled, removed or set up anew meanwhile', async () => {
    const provider = await setUp()
    const who = account()
    const change = (body: Partial<IdentityProviderInput>) =>
      call(app, identityProviders.update, { token: admin.token, params: { id: provider.id }, body: { ...settingsOf(provider), ...body } })
    const flow = await begin(provider)
    const back = await signInThere(flow.url, who.sub)
    await change({ enabled: false })
    expect(told(await comeBack(back, flow.cookies))).toBe(codeOf('ssoDisabled'))
    expect(await refused(app, singleSignOn.begin, { params: { id: provider.id }, body: {} })).toMatchObject({ status: 401, code: 91145 })
    expect((await call(app, auth.ways, {})).providers.map(({ id }) => id)).not.toContain(provider.id)
    await change({ enabled: true })
    const { cookies } = await goThrough(provider, who.sub)
    await change({ enabled: false })
    expect(await refused(app, singleSignOn.finish, { cookies, body: {} })).toMatchObject({ code: 91145 })
    await change({ enabled: true })
    const gone = await begin(provider)
    const goneBack = await signInThere(gone.url, who.sub)
    await call(app, identityProviders.delete, { token: admin.token, params: { id: provider.id } })
    expect(told(await comeBack(goneBack, gone.cookies))).toBe(codeOf('ssoExpired'))
    expect(await refused(app, singleSignOn.begin, { params: { id: provider.id }, body: {} })).toMatchObject({ code: 91145 })
  })

  it('people who may not sign in: disabled, frozen, of a frozen organisation, deleted', async () => {
    const provider = await setUp()
    const who = account()
    const { id } = await call(app, users.current, { token: await enter(provider, who.sub) })
    const attempt = async () => (await finish((await goThrough(provider, who.sub)).cookies)).body as { code?: number }
    const params = { id }
    await call(app, users.action, { token: admin.token, params, body: { action: 'disable' } })
    expect((await attempt()).code).toBe(1135)
    await call(app, users.action, { token: admin.token, params, body: { action: 'enable' } })
    const since = app.clock.now()
    await app.platform.db
      .insertInto('password_guesses')
      .values({ user_id: id, source: 'codes', wrong: 5, since, frozen_until: new Date(since.getTime() + 60_000) })
      .execute()
    expect((await attempt()).code).toBe(1136)
    await call(app, users.action, { token: admin.token, params, body: { action: 'unfreeze' } })
    const organisation = { id: provider.bp_id ?? '' }
    await call(app, organisations.action, { token: admin.token, params: organisation, body: { action: 'freeze' } })
    expect((await attempt()).code).toBe(91012)
    expect(told(await goThrough(provider, account().sub))).toBe(codeOf('organisationFrozen'))
    await call(app, organisations.action, { token: admin.token, params: organisation, body: { action: 'unfreeze' } })
    expect((await attempt()).code).toBeUndefined()
    await call(app, users.delete, { token: admin.token, params })
    // Whose user was deleted comes as somebody new.
    expect((await call(app, users.current, { token: await enter(provider, who.sub) })).id).not.toBe(id)
  })

  it('whom nobody knows, where nobody is made', async () => {
    const provider = await setUp({ creates_people: false })
    expect(told(await goThrough(provider, account().sub))).toBe(codeOf('ssoUnknownPerson'))
    expect((await call(app, users.list, { token: admin.token, query: { bp_id: provider.bp_id ?? '' } })).total).toBe(0)
  })

  it('mailboxes that are not verified, or of another domain', async () => {
    const provider = await setUp({ email_domains: ['corp.example'] })
    expect(told(await goThrough(provider, account({ email_verified: false }).sub))).toBe(codeOf('ssoEmailUnverified'))
    expect(told(await goThrough(provider, account({ email: `${randomUUID()}@evil.example` }).sub))).toBe(codeOf('ssoDomainForbidden'))
    expect(told(await goThrough(provider, account({ email: `${randomUUID()}@corp.example.evil.example` }).sub))).toBe(codeOf('ssoDomainForbidden'))
    expect(told(await goThrough(provider, account({ email: `${randomUUID()}@sub.corp.example` }).sub))).toBe(codeOf('ssoDomainForbidden'))
    expect(told(await goThrough(provider, account().sub))).toBe('done')
  })
})

describe('linking', () => {
  it('by a verified mailbox only where that is allowed, and only people of the provider’s organisation', async () => {
    const provider = await setUp({ linking: 'owner' })
    const { bp_id } = provider
    const mate = await makeUser(app, { kind: 4, organisation: bp_id })
    expect(told(await goThrough(provider, account({ email: mate.email }).sub))).toBe(codeOf('ssoEmailTaken'))
    await call(app, identityProviders.update, {
      token: admin.token,
      params: { id: provider.id },
      body: { ...settingsOf(provider), linking: 'email', creates_people: false },
    })
    expect(told(await goThrough(provider, account({ email: mate.email, email_verified: false }).sub))).toBe(codeOf('ssoEmailUnverified'))
    const who = account({ email: mate.email.toUpperCase() })
    expect((await call(app, users.current, { token: await enter(provider, who.sub) })).id).toBe(mate.id)
    // Another account with the same mailbox is not the same account.
    expect(told(await goThrough(provider, account({ email: mate.email }).sub))).toBe(codeOf('ssoLinkedAlready'))
    for (const other of [await makeUser(app), await makeUser(app, { kind: 1 }), await makeUser(app, { kind: 0 })]) {
      expect(told(await goThrough(provider, account({ email: other.email }).sub))).toBe(codeOf('ssoEmailTaken'))
    }
  })

  it('by its owner, who is signed in; and unlinking, but not the only way in', async () => {
    const [provider, second] = [await setUp({ creates_people: false }), await setUp({ creates_people: false })]
    const person = await someone(app)
    const who = account()
    expect((await call(app, identities.list, { token: person.token })).offered.map(({ id }) => id)).toEqual(expect.arrayContaining([provider.id, second.id]))
    const { at } = await linked(provider, person, who.sub)
    expect(at.pathname + at.search + at.hash).toBe('/userMsg?sso=done#linkedAccounts')
    expect((await call(app, users.current, { token: await enter(provider, who.sub) })).id).toBe(person.id)
    const mine = await call(app, identities.list, { token: person.token })
    expect(mine).toMatchObject({ total: 1, items: [{ provider_id: provider.id, account: who.email }] })
    expect(mine.offered.map(({ id }) => id)).not.toContain(provider.id)
    expect(await refused(app, identities.link, { token: person.token, body: { provider_id: provider.id } })).toMatchObject({ code: 91150 })
    // It is another's now.
    expect(told(await linked(provider, await someone(app), who.sub))).toBe(codeOf('ssoAccountTaken'))
    const identity = { id: mine.items[0]?.id ?? '' }
    expect((await refused(app, identities.unlink, { token: admin.token, params: identity })).status).toBe(404)

    await app.platform.db.updateTable('users').set({ password_hash: '' }).where('id', '=', person.id).execute()
    expect(await refused(app, identities.unlink, { token: person.token, params: identity })).toMatchObject({ status: 400, code: 91131 })
    await linked(second, person, account().sub)
    const both = await call(app, identities.list, { token: person.token })
    const answers = await Promise.all(both.items.map(({ id }) => send(app, identities.unlink, { token: person.token, params: { id } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400])
    expect((await call(app, identities.list, { token: person.token })).total).toBe(1)
  })

  it('takes the password of whoever did not just sign in, and is refused where administrators say so', async () => {
    const [provider, closed] = [await setUp(), await setUp({ linking: 'nobody' })]
    const person = await someone(app)
    expect(await refused(app, identities.link, { token: person.token, body: { provider_id: closed.id } })).toMatchObject({ status: 403, code: 91152 })
    expect(await refused(app, identities.link, { token: person.token, body: { provider_id: randomUUID() } })).toMatchObject({ code: 91152 })
    app.clock.advance(11 * 60_000)
    expect(await refused(app, identities.link, { token: person.token, body: { provider_id: provider.id } })).toMatchObject({
      code: 91125,
      fields: [{ field: 'password' }],
    })
    const answer = await send(app, identities.link, { token: person.token, body: { provider_id: provider.id, password } })
    const back = await signInThere((answer.body as { url: string }).url, account().sub)
    // Signed out meanwhile.
    await call(app, auth.logout, { token: person.token })
    expect(told(await comeBack(back, cookiesOf(answer)))).toBe(codeOf('ssoExpired'))
    admin = { ...admin, ...(await signInAgain(admin)) }
  })
})

describe('a second factor', () => {
  it('of the platform’s is asked for, but where the provider is known to have asked', async () => {
    const provider = await setUp({ mfa_values: ['mfa', 'hwk'] })
    const who = account()
    const person = await someone(app)
    await linked(provider, person, who.sub)
    const { uri } = await call(app, secondFactor.begin, { token: person.token, body: { password } })
    const totp = URI.parse(uri) as TOTP
    const next = (): string => {
      app.clock.advance(31_000)
      return totp.generate({ timestamp: app.clock.now().getTime() })
    }
    await call(app, secondFactor.confirm, { token: person.token, body: { code: next() } })
    real.says(['pwd'])
    const { cookies } = await goThrough(provider, who.sub)
    expect((await finish(cookies)).body).toMatchObject({ code: 91120 })
    expect((await finish(cookies, '000000')).body).toMatchObject({ code: 91124 })
    expect((await finish(cookies, next())).status).toBe(200)
    const guessed = await goThrough(provider, who.sub)
    const guesses = await Promise.all(Array.from({ length: 8 }, () => finish(guessed.cookies, '000000')))
    expect(guesses.map(({ body }) => (body as { code: number }).code).sort()).toEqual([1136, 1136, 1136, 1136, 91124, 91124, 91124, 91124])
    expect((await finish(guessed.cookies, next())).body).toMatchObject({ code: 1136 })
    app.clock.advance(5 * 60_000)
    real.says(['pwd', 'mfa'])
    expect((await finish((await goThrough(provider, who.sub)).cookies)).status).toBe(200)
  })

  it('is what policies know a session by', async () => {
    const provider = await setUp({ mfa_values: ['mfa'] })
    const who = account()
    const { id } = await call(app, users.current, { token: await enter(provider, who.sub) })
    const document = {
      Version: policyLanguage,
      Statement: [
        {
          Effect: 'Deny',
          Action: 'ums.organisation.list',
          Resource: '*',
          Condition: { Bool: { 'zs:MfaPresent': 'false' }, StringEquals: { 'zs:AuthenticatedBy': 'oidc' } },
        },
      ],
    }
    const policy = await call(app, policies.create, { token: admin.token, body: { name: `p-${randomUUID()}`, document } })
    await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: id } })
    expect((await send(app, organisations.list, { token: await enter(provider, who.sub) })).status).toBe(403)
    real.says(['mfa'])
    const token = await enter(provider, who.sub)
    expect((await send(app, organisations.list, { token })).status).toBe(200)
    // Who has no password has just signed in: a passkey can be made.
    expect((await send(app, passkeys.begin, { token, body: {} })).status).toBe(200)
  })
})

describe('signing out', () => {
  it('leads to the provider’s own way out, where that is wanted and there is one', async () => {
    const provider = await setUp({ ends_session: true })
    const token = await enter(provider, account().sub)
    const { url } = await call(app, singleSignOn.end, { token })
    const out = new URL(url ?? '')
    expect(out.origin).toBe(real.issuer)
    expect(out.searchParams.get('post_logout_redirect_uri')).toBe(`${origin}/login`)
    expect(out.searchParams.get('id_token_hint')).toMatch(/^ey/)
    const quiet = await setUp()
    expect(await call(app, singleSignOn.end, { token: await enter(quiet, account().sub) })).toEqual({ url: null })
    const without = await setUp({ ends_session: true }, liar)
    const flow = await begin(without)
    const back = await comeBack(liar.leadBack(flow.url), flow.cookies)
    const answer = (await finish(back.cookies)).body as { token: string }
    expect(await call(app, singleSignOn.end, { token: answer.token })).toEqual({ url: null })
    expect(await call(app, singleSignOn.end, { token: admin.token })).toEqual({ url: null })
    // The token that names them there is nowhere to be read.
    const kept = await app.platform.db.selectFrom('sign_on_sessions').select('id_token').execute()
    for (const { id_token } of kept) expect(id_token).not.toMatch(/^ey/)
  })
})

async function signInAgain(who: Person): Promise<SignedIn> {
  const answer = await send(app, auth.password, { body: { username: who.name, password } })
  return { token: (answer.body as { token: string }).token, refresh: '' }
}
