import { randomUUID } from 'node:crypto'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { identityProviders, providersOfOrganisationMax, type IdentityProviderInput } from '@zhisuan/contract/ums/identityProvider'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { startLiar, type ProviderLie } from '../../../testing/oidc-liar.ts'
import { startProvider, type RunningProvider } from '../../../testing/oidc-provider.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { AddressForbidden, createProviderFetch, isProviderAddress, ProviderUnreachable } from '../../../platform/outbound/provider.ts'

let app: TestApp
let real: RunningProvider
let liar: Awaited<ReturnType<typeof startLiar>>
let admin: Person & SignedIn
beforeAll(async () => {
  ;[app, real, liar] = await Promise.all([
    testApp({ PUBLIC_URL: 'https://console.example.com' }),
    startProvider(),
    startLiar({ id: 'zhisuan', secret: 'of-the-liar' }),
  ])
  admin = await someone(app, { kind: 1 })
})
afterAll(async () => {
  await Promise.all([app.close(), real.close(), liar.close()])
})
afterEach(() => liar.tells({}))

const wish = (more: Partial<IdentityProviderInput> = {}): IdentityProviderInput => ({
  name: `p-${randomUUID()}`,
  issuer: real.issuer,
  client_id: real.client.id,
  client_secret: real.client.secret,
  ...more,
})
const create = (body: IdentityProviderInput) => call(app, identityProviders.create, { token: admin.token, body })

describe('an identity provider', () => {
  it('is set up, shown without its secret, changed and removed', async () => {
    const made = await create(wish())
    expect(made).toMatchObject({
      enabled: false,
      has_secret: true,
      creates_people: false,
      linking: 'owner',
      role: 'TENANT',
      people: 0,
      claims: { username: 'preferred_username' },
    })
    expect(made.redirect_uri).toBe(`https://console.example.com/api/ums/v1/auth/sso/providers/${made.id}/callback`)
    expect(JSON.stringify(made)).not.toContain(real.client.secret)
    const row = await app.platform.db.selectFrom('identity_providers').selectAll().where('id', '=', made.id).executeTakeFirst()
    expect(row?.client_secret).not.toContain(real.client.secret)
    const params = { id: made.id }
    const bp_id = await makeOrganisation(app)
    const { client_secret: _, ...kept } = wish({
      name: made.name,
      enabled: true,
      creates_people: true,
      bp_id,
      scopes: ['openid'],
      mfa_values: ['mfa'],
      email_domains: ['Corp.Example'],
    })
    expect(await call(app, identityProviders.update, { token: admin.token, params, body: kept })).toMatchObject({
      enabled: true,
      has_secret: true,
      bp_id,
      scopes: ['openid'],
      email_domains: ['corp.example'],
    })
    expect(await call(app, identityProviders.update, { token: admin.token, params, body: { ...kept, client_secret: '' } })).toMatchObject({ has_secret: false })
    await call(app, identityProviders.delete, { token: admin.token, params })
    expect((await refused(app, identityProviders.get, { token: admin.token, params })).status).toBe(404)
    expect((await refused(app, identityProviders.update, { token: admin.token, params, body: kept })).status).toBe(404)
    expect((await refused(app, identityProviders.delete, { token: admin.token, params })).status).toBe(404)
  })

  it('needs a name of its own, an organisation for new people, and an address that is safe to ask', async () => {
    const made = await create(wish())
    const wrong = (body: unknown) => refused(app, identityProviders.create, { token: admin.token, body })
    expect(await wrong(wish({ name: made.name.toUpperCase() }))).toMatchObject({ status: 400, code: 91153, fields: [{ field: 'name' }] })
    expect(await wrong(wish({ creates_people: true }))).toMatchObject({ code: 90001, fields: [{ field: 'bp_id' }] })
    expect(await wrong(wish({ bp_id: randomUUID() }))).toMatchObject({ status: 404, fields: [{ field: 'bp_id' }] })
    for (const issuer of ['http://login.example.com', 'http://10.0.0.1', 'http://127.0.0.1.evil.example'])
      expect(await wrong(wish({ issuer })), issuer).toMatchObject({ code: 91155, fields: [{ field: 'issuer' }] })
    for (const issuer of ['ftp://a.example', 'a.example', 'https://a.example/?x=1', 'https://a.example/#x', 'https://user:password@a.example'])
      expect(await wrong(wish({ issuer })), issuer).toMatchObject({ code: 90001, fields: [{ field: 'issuer' }] })
    expect(await wrong({ ...wish(), role: 'ADMIN' })).toMatchObject({ code: 90001, fields: [{ field: 'role' }] })
    const two = await Promise.all(
      Array.from({ length: 2 }, () => send(app, identityProviders.create, { token: admin.token, body: wish({ name: `${made.name}-2` }) })),
    )
    expect(two.map(({ status }) => status).sort()).toEqual([201, 400])
  })

  it('is told no secret of another issuer’s, and stays its own while people are linked to it', async () => {
    const made = await create(wish())
    const params = { id: made.id }
    const { client_secret: _, ...elsewhere } = wish({ name: made.name, issuer: liar.issuer })
    expect(await refused(app, identityProviders.update, { token: admin.token, params, body: elsewhere })).toMatchObject({
      code: 91154,
      fields: [{ field: 'client_secret' }],
    })
    const before = liar.asked.length
    await call(app, identityProviders.test, { token: admin.token, body: { id: made.id, issuer: liar.issuer, client_id: 'zhisuan' } })
    expect(liar.asked.length).toBeGreaterThan(before)
    expect(liar.secrets.join()).not.toContain(real.client.secret)
    const person = await someone(app)
    await app.platform.db
      .insertInto('identities')
      .values({ id: randomUUID(), provider_id: made.id, user_id: person.id, subject: 'x', account: 'x', last_used_at: null })
      .execute()
    expect(await refused(app, identityProviders.update, { token: admin.token, params, body: { ...elsewhere, client_secret: 'x' } })).toMatchObject({
      code: 91156,
      fields: [{ field: 'issuer' }],
    })
  })

  it('is tested: the first thing wrong is told', async () => {
    const test = (body: object) =>
      call(app, identityProviders.test, {
        token: admin.token,
        body: { issuer: real.issuer, client_id: real.client.id, client_secret: real.client.secret, ...body },
      })
    expect(await test({})).toEqual({ problem: null, detail: null, ends_session: true })
    expect(await test({ client_secret: 'wrong' })).toMatchObject({ problem: 'client' })
    expect(await test({ client_id: 'nobody' })).toMatchObject({ problem: 'client' })
    // The one that is kept.
    const made = await create(wish())
    expect(
      await call(app, identityProviders.test, { token: admin.token, body: { id: made.id, issuer: real.issuer, client_id: real.client.id } }),
    ).toMatchObject({ problem: null })
    expect(await test({ issuer: 'http://login.example.com' })).toMatchObject({ problem: 'address' })
    expect(await test({ issuer: 'http://127.0.0.1:1' })).toMatchObject({ problem: 'unreachable' })
    const lies: readonly (readonly [string, ProviderLie])[] = [
      ['answer', { noDocument: true }],
      ['issuer', { metadata: { issuer: 'https://other.example' } }],
      ['codeFlow', { metadata: { response_types_supported: ['id_token'] } }],
      ['codeFlow', { metadata: { token_endpoint: undefined } }],
      ['pkce', { metadata: { code_challenge_methods_supported: ['plain'] } }],
      ['keys', { keys: [] }],
      ['keys', { metadata: { jwks_uri: 'http://10.255.255.1/jwks' } }],
    ]
    for (const [problem, lie] of lies) {
      liar.tells(lie)
      expect(await test({ issuer: liar.issuer }), JSON.stringify(lie)).toMatchObject({ problem, ends_session: false })
    }
  })
})

describe('an organisation’s own', () => {
  // Public by its number, and asked by nobody here.
  const issuer = 'https://93.184.216.34'
  const own = (keeper: SignedIn, more: Partial<IdentityProviderInput> = {}) =>
    call(app, identityProviders.create, { token: keeper.token, body: wish({ issuer, ...more }) })
  const notOwn = (keeper: SignedIn, body: unknown) => refused(app, identityProviders.create, { token: keeper.token, body })

  it('is its administrators’ and the platform’s to keep, and is not there for anybody else', async () => {
    const [keeper, neighbour] = [await someone(app), await someone(app)]
    const [made, platforms] = [await own(keeper), await create(wish({ bp_id: keeper.bp_id, creates_people: true }))]
    expect(made).toMatchObject({ by_organisation: true, bp_id: keeper.bp_id })
    const listed = async (who: SignedIn) => (await call(app, identityProviders.list, { token: who.token })).items.map(({ id }) => id)
    expect(await listed(keeper)).toEqual([made.id])
    expect(await listed(neighbour)).toEqual([])
    expect(await listed(admin)).toEqual(expect.arrayContaining([made.id, platforms.id]))
    for (const [who, id] of [
      [neighbour, made.id],
      [keeper, platforms.id],
    ] as const) {
      const asked = { token: who.token, params: { id } }
      expect((await refused(app, identityProviders.get, asked)).status).toBe(404)
      expect((await refused(app, identityProviders.update, { ...asked, body: wish({ issuer }) })).status).toBe(404)
      expect((await refused(app, identityProviders.delete, asked)).status).toBe(404)
      expect((await refused(app, identityProviders.test, { token: who.token, body: { id, issuer, client_id: 'x' } })).status).toBe(404)
    }
    expect((await refused(app, identityProviders.list, { token: (await someone(app, { kind: 4, organisation: keeper.bp_id })).token })).status).toBe(403)
    // Off by the platform, and whose it is stays.
    const params = { id: made.id }
    const body = wish({ issuer, name: made.name, enabled: false })
    expect(await call(app, identityProviders.update, { token: admin.token, params, body })).toMatchObject({
      enabled: false,
      bp_id: keeper.bp_id,
      by_organisation: true,
    })
    expect(await refused(app, identityProviders.update, { token: admin.token, params, body: { ...body, bp_id: neighbour.bp_id } })).toMatchObject({
      status: 404,
      fields: [{ field: 'bp_id' }],
    })
    await call(app, identityProviders.delete, { token: keeper.token, params })
    expect(await listed(keeper)).toEqual([])
  })

  it('has a name that others may have too, a bound of how many, and neither what only the platform may say nor an inner address', async () => {
    const [keeper, neighbour] = [await someone(app), await someone(app)]
    const made = await own(keeper)
    await own(neighbour, { name: made.name })
    await create(wish({ name: made.name }))
    expect(await notOwn(keeper, wish({ issuer, name: made.name }))).toMatchObject({ code: 91153, fields: [{ field: 'name' }] })
    expect(await notOwn(keeper, wish({ issuer, linking: 'email' }))).toMatchObject({ code: 91157, fields: [{ field: 'linking' }] })
    expect(await notOwn(keeper, wish({ issuer, mfa_values: ['mfa'] }))).toMatchObject({ code: 91157, fields: [{ field: 'mfa_values' }] })
    expect(await notOwn(keeper, wish({ issuer, bp_id: neighbour.bp_id }))).toMatchObject({ status: 404, fields: [{ field: 'bp_id' }] })
    for (const inner of ['https://10.0.0.1', 'https://169.254.169.254', 'https://127.0.0.1', 'https://[::1]', 'https://[::ffff:10.0.0.1]', real.issuer])
      expect(await notOwn(keeper, wish({ issuer: inner })), inner).toMatchObject({ code: 91159, fields: [{ field: 'issuer' }] })
    // Two at once of whom one is too many.
    for (let number = 1; number < providersOfOrganisationMax - 1; number++) await own(keeper)
    const two = await Promise.all([0, 1].map(() => send(app, identityProviders.create, { token: keeper.token, body: wish({ issuer }) })))
    expect(two.map(({ status }) => status).sort()).toEqual([201, 400])
    expect(await notOwn(keeper, wish({ issuer }))).toMatchObject({ code: 91158 })
  })

  it('is asked at public addresses only, and tells nothing of the own network', async () => {
    const { token } = await someone(app)
    const test = (issuer: string) => call(app, identityProviders.test, { token, body: { issuer, client_id: 'x' } })
    expect(await test(real.issuer)).toEqual({ problem: 'address', detail: null, ends_session: false })
    // A name of this machine, and one that nobody has.
    const [inner, none] = [await test('https://localhost'), await test('https://nobody.invalid')]
    expect(inner).toEqual({ problem: 'unreachable', detail: null, ends_session: false })
    expect(none).toEqual(inner)
  })

  it('makes nobody who has more than whoever sets it up could give', async () => {
    const keeper = await someone(app)
    const params = { id: (await own(keeper, { creates_people: true, bp_id: keeper.bp_id })).id }
    const document = { Version: policyLanguage, Statement: [{ Effect: 'Deny', Action: 'nextstack.*', Resource: '*' }] }
    const policy = await call(app, policies.create, { token: admin.token, body: { name: `p-${randomUUID()}`, document } })
    await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: keeper.id } })
    expect(
      await refused(app, identityProviders.update, { token: keeper.token, params, body: wish({ issuer, creates_people: true, bp_id: keeper.bp_id }) }),
    ).toMatchObject({
      code: 91106,
    })
    expect((await call(app, identityProviders.update, { token: keeper.token, params, body: wish({ issuer, creates_people: false }) })).creates_people).toBe(
      false,
    )
  })
})

describe('asking a provider', () => {
  it('goes over TLS, but for this machine in development', () => {
    const at = (url: string, development: boolean) => isProviderAddress(new URL(url), development)
    expect(at('https://login.example.com', false)).toBe(true)
    expect(at('http://127.0.0.1:1', true)).toBe(true)
    expect(at('http://localhost:1', true)).toBe(true)
    expect(at('http://[::1]:1', true)).toBe(true)
    for (const url of ['http://127.0.0.1:1', 'http://localhost:1']) expect(at(url, false), url).toBe(false)
    for (const url of ['http://10.0.0.1', 'http://login.example.com', 'http://127.0.0.1.example.com', 'https://user@login.example.com', 'file:///etc/passwd'])
      expect(at(url, true), url).toBe(false)
  })

  it('leads from what an administrator typed to no other machine of the own network', async () => {
    const ask = createProviderFetch(new URL('https://login.example.com'), true)
    for (const url of [
      'https://10.0.0.1/token',
      'https://169.254.169.254/latest',
      'https://127.0.0.1/x',
      'https://[::1]/x',
      'https://[::ffff:10.0.0.1]/x',
      'https://localhost/x',
      'http://127.0.0.1:1/x',
      'http://10.0.0.1/x',
    ]) {
      await expect(ask(url, {}), url).rejects.toThrow(AddressForbidden)
    }
  })

  it('follows nothing, and reads no more than a document is long', async () => {
    const ask = createProviderFetch(new URL(liar.issuer), true)
    liar.tells({ status: 302, location: `${liar.issuer}/jwks` })
    const before = liar.asked.length
    expect((await ask(`${liar.issuer}/token`, { method: 'POST', body: 'x' })).status).toBe(302)
    expect(liar.asked.slice(before)).toEqual(['/token'])
    liar.tells({ longAnswer: true })
    await expect(ask(`${liar.issuer}/token`, { method: 'POST', body: 'x' })).rejects.toThrow(ProviderUnreachable)
  })
})
