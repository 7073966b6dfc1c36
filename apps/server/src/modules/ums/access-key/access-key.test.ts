import { execFile, spawnSync } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BodyInput, Call } from '@zhisuan/contract/define'
import { grants } from '@zhisuan/contract/iam/grant'
import { policies } from '@zhisuan/contract/iam/policy'
import { audits } from '@zhisuan/contract/iam/audit'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { allCalls } from '@zhisuan/contract/calls'
import { accessKeyLimits, accessKeys, type AccessKey } from '@zhisuan/contract/ums/access-key'
import { auth } from '@zhisuan/contract/ums/auth'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { createSigner, httpbis } from 'http-message-signatures'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClock, someIp, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send, type Answer } from '../../../testing/call.ts'
import { password, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { ownRules } from '../../iam/testing.ts'
import { createActors } from '../session/actors.ts'
import { couldBeSecret, newSecret } from './access-key.secret.ts'
import { createAccessKeys } from './access-keys.ts'

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

type Made = { key: AccessKey; secret: string }
const make = (who: SignedIn, wish: Partial<BodyInput<typeof accessKeys.create>> = {}): Promise<Made> =>
  call(app, accessKeys.create, { token: who.token, body: { name: `k-${randomUUID().slice(0, 8)}`, scheme: 'bearer', password, ...wish } })
const codeOf = ({ body }: Answer): number | null =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'number' ? body.code : null
/** Success, or the code of the refusal. */
const outcome = async (
  token: string,
  { on = app, ip = someIp(), declared = users.current }: { on?: TestApp; ip?: string; declared?: Call } = {},
): Promise<number | 'ok'> => {
  const answer = await send(on, declared, { token, ip })
  return answer.status < 300 ? 'ok' : (codeOf(answer) ?? answer.status)
}

/** A request as an independent implementation signs it. */
interface Signed {
  method: 'GET' | 'POST' | 'PATCH'
  url: string
  headers: Record<string, string>
  payload?: string
}
interface SigningWish {
  method?: Signed['method']
  url?: string
  body?: unknown
  fields?: string[]
  nonce?: string
  /** Of the clock of the server. */
  secondsAgo?: number
  expiresInSeconds?: number
  keyId?: string
  secret?: string
}
const currentPath = users.current.path
const digestOf = (text: string): string => `sha-256=:${hash('sha256', text, 'base64')}:`

async function sign({ key, secret }: Made, wish: SigningWish = {}): Promise<Signed> {
  const { method = 'GET', url = currentPath, body } = wish
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const now = app.clock.now().getTime()
  const signed = await httpbis.signMessage(
    {
      key: createSigner(wish.secret ?? secret, 'hmac-sha256', wish.keyId ?? key.id),
      fields: wish.fields ?? ['@method', '@path', '@query', ...(payload === undefined ? [] : ['content-digest'])],
      params: ['created', 'nonce', 'keyid', ...(wish.expiresInSeconds === undefined ? [] : ['expires'])],
      paramValues: {
        created: new Date(now - (wish.secondsAgo ?? 0) * 1000),
        nonce: wish.nonce ?? randomUUID(),
        ...(wish.expiresInSeconds !== undefined && { expires: new Date(now + wish.expiresInSeconds * 1000) }),
      },
    },
    {
      method,
      url: `http://localhost${url}`,
      headers: payload === undefined ? {} : { 'content-type': 'application/json', 'content-digest': digestOf(payload) },
    },
  )
  return {
    method,
    url,
    headers: Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), String(value)])),
    ...(payload !== undefined && { payload }),
  }
}
async function sent(request: Signed, { on = app, ip = someIp() }: { on?: TestApp; ip?: string } = {}): Promise<number | 'ok'> {
  const response = await on.http.inject({ ...request, remoteAddress: ip })
  return response.statusCode < 300 ? 'ok' : response.json<{ code: number }>().code
}

/** Apart from those of the servers. */
const ownKeys = (actors = createActors(app.platform, ownRules(app.platform))) => createAccessKeys(app.platform, actors)

const allow = (...Action: string[]) => ({ Version: policyLanguage, Statement: [{ Effect: 'Allow' as const, Action, Resource: '*' }] })

describe('an access key', () => {
  it('stands for its person, by a token', async () => {
    const person = await someone(app)
    const { key, secret } = await make(person, { name: '发布' })
    expect(key).toMatchObject({
      name: '发布',
      scheme: 'bearer',
      status: 'active',
      networks: [],
      document: null,
      expires_at: null,
      last_used_at: null,
      previous_until: null,
      hint: secret.slice(-4),
    })
    expect((await call(app, users.current, { token: secret })).id).toBe(person.id)
    expect(await call(app, accessKeys.list, { token: person.token })).toMatchObject({ total: 1, items: [{ id: key.id }] })
    // Nowhere to be read: neither here nor in the database.
    expect(JSON.stringify(await call(app, accessKeys.list, { token: person.token }))).not.toContain(secret)
    const row = await app.platform.db.selectFrom('access_key_secrets').selectAll().where('access_key_id', '=', key.id).executeTakeFirstOrThrow()
    expect([row.sealed, row.hash?.equals(hash('sha256', secret, 'buffer'))]).toEqual([null, true])
  })

  it('stands for its person, by signatures of another implementation', async () => {
    const person = await someone(app)
    const made = await make(person, { scheme: 'hmac' })
    const response = await app.http.inject({ ...(await sign(made)), remoteAddress: someIp() })
    expect(response.json()).toMatchObject({ id: person.id })
    expect(
      await sent(await sign(made, { fields: ['@method', '@target-uri', '@authority'], url: `${organisations.list.path}?page_size=5&keyword=%E4%B8%AD` })),
    ).toBe('ok')
    expect(await sent(await sign(made, { method: 'POST', url: keyPairs.create.path, body: { name: `n-${randomUUID()}` }, expiresInSeconds: 60 }))).toBe('ok')
    const row = await app.platform.db.selectFrom('access_key_secrets').selectAll().where('access_key_id', '=', made.key.id).executeTakeFirstOrThrow()
    expect([row.hash, row.sealed?.includes(made.secret)]).toEqual([null, false])
  })

  it('is recognised by prefix and checksum, and what only looks like one asks no database', async () => {
    const secret = newSecret('bearer')
    expect(secret).toMatch(/^zsk_[0-9A-Za-z]{49}$/)
    expect(couldBeSecret(secret)).toBe(true)
    for (const wrong of [
      secret.slice(0, -1),
      `${secret}0`,
      secret.replace('zsk_', 'zss_'),
      `${secret.slice(0, 10)}${secret[10] === 'a' ? 'b' : 'a'}${secret.slice(11)}`,
    ])
      expect(couldBeSecret(wrong), wrong).toBe(false)
    // One with a right checksum that nobody has, and one with a wrong one.
    for (const token of [secret, secret.slice(0, -1)]) expect(await refused(app, users.current, { token })).toMatchObject({ status: 401, code: 91201 })
    // What only programs have is told on public calls, too.
    expect(await outcome(secret, { declared: auth.password })).toBe(91201)
  })

  it('of the other kind is no good: a signing secret as a token, a token to sign with', async () => {
    const person = await someone(app)
    const [bearer, hmac] = [await make(person), await make(person, { scheme: 'hmac' })]
    expect(await outcome(hmac.secret)).toBe(91201)
    expect(await sent(await sign(bearer))).toBe(91207)
  })

  it('takes the password to be made where one has not just signed in, so that a session left open does not make one that outlives it', async () => {
    const person = await someone(app)
    const body = { name: 'k', scheme: 'bearer', password: 'Wrong-password-1' }
    expect(await refused(app, accessKeys.create, { token: person.token, body })).toMatchObject({ status: 400, code: 1120, fields: [{ field: 'password' }] })
    const { key } = await make(person, { password: undefined })
    app.clock.advance(11 * 60_000)
    expect(await refused(app, accessKeys.create, { token: person.token, body: { name: 'k', scheme: 'bearer' } })).toMatchObject({ code: 91125 })
    expect(await refused(app, accessKeys.rotate, { token: person.token, params: { id: key.id }, body: { password: 'Wrong-password-1' } })).toMatchObject({
      code: 1120,
    })
  })

  it.each([
    ['name', { name: ' ' }, 'name'],
    ['scheme', { scheme: 'basic' }, 'scheme'],
    ['networks', { networks: ['10.0.0.0/33'] }, 'networks.0'],
    ['networks', { networks: Array.from({ length: 21 }, () => '10.0.0.1') }, 'networks'],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['document', { document: allow('no.such.call') }, 'document.Statement.0.Action.0'],
    ['document', { document: 'Allow' }, 'document'],
  ])('with a wrong %s is refused, and the field named: %j', async (_, wish, field) => {
    const person = await someone(app)
    const answer = await refused(app, accessKeys.create, { token: person.token, body: { name: 'k', scheme: 'bearer', password, ...wish } })
    expect(answer.status).toBe(400)
    expect(answer.fields?.map((one) => one.field)).toContain(field)
    expect((await call(app, accessKeys.list, { token: person.token })).total).toBe(0)
  })

  it('is one of a limited number, of whatever comes at once', async () => {
    const person = await someone(app)
    const answers = await Promise.all(
      Array.from({ length: accessKeyLimits.perPerson + 2 }, (_, index) =>
        send(index % 2 === 0 ? app : other, accessKeys.create, { token: person.token, body: { name: `k${index}`, scheme: 'bearer', password } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(accessKeyLimits.perPerson)
    expect(answers.filter((answer) => codeOf(answer) === 91206)).toHaveLength(2)
  })

  it('notes when and from where it was used, once a minute', async () => {
    const person = await someone(app)
    const { key, secret } = await make(person)
    const [first, second] = [someIp(), someIp()]
    const last = async () => (await call(app, accessKeys.list, { token: person.token })).items.find(({ id }) => id === key.id)
    expect(await outcome(secret, { ip: first })).toBe('ok')
    await vi.waitFor(async () => expect(await last()).toMatchObject({ last_used_ip: first, last_used_at: expect.any(String) }))
    const noted = (await last())?.last_used_at
    expect(await outcome(secret, { ip: second })).toBe('ok')
    expect(await outcome(secret, { ip: second, on: other })).toBe('ok')
    app.clock.advance(61_000)
    expect(await outcome(secret, { ip: second, on: other })).toBe('ok')
    await vi.waitFor(async () => expect((await last())?.last_used_ip).toBe(second))
    // What came within the minute was not noted, or it would be from then.
    expect(Date.parse((await last())?.last_used_at ?? '') - Date.parse(noted ?? '')).toBeGreaterThanOrEqual(60_000)
  })

  it('costs no question to the database while it is remembered', async () => {
    const { secret } = await make(await someone(app))
    expect(await outcome(secret)).toBe('ok')
    const find = vi.spyOn(app.platform.database.pool, 'connect')
    try {
      // Refused for who asks, so that the call itself asks nothing either.
      expect(await outcome(secret, { declared: accessKeys.list })).toBe(91205)
      expect(find).not.toHaveBeenCalled()
    } finally {
      find.mockRestore()
    }
  })
})

describe('an access key ends', () => {
  /** On both servers, which remember it. */
  const remembered = async (
    person: Person & SignedIn,
    wish: Parameters<typeof make>[1] = {},
  ): Promise<Made & { outcomes: () => Promise<(number | 'ok')[]> }> => {
    const made = await make(person, wish)
    const outcomes = () => Promise.all([outcome(made.secret), outcome(made.secret, { on: other })])
    expect(await outcomes()).toEqual(['ok', 'ok'])
    return { ...made, outcomes }
  }
  const becomes = (outcomes: () => Promise<(number | 'ok')[]>, code: number | 'ok') =>
    vi.waitFor(async () => expect(await outcomes()).toEqual([code, code]), { interval: 20 })

  it('when it is disabled, on both servers, and lives when it is enabled', async () => {
    const person = await someone(app)
    const { key, outcomes } = await remembered(person)
    const act = (action: 'enable' | 'disable') => call(app, accessKeys.action, { token: person.token, params: { id: key.id }, body: { action } })
    expect(await act('disable')).toMatchObject({ status: 'disabled' })
    // On every server once it is answered.
    expect(await outcomes()).toEqual([91202, 91202])
    expect(await refused(app, accessKeys.action, { token: person.token, params: { id: key.id }, body: { action: 'disable' } })).toMatchObject({
      status: 409,
      code: 90010,
    })
    await act('enable')
    expect(await outcomes()).toEqual(['ok', 'ok'])
  })

  it('so do signatures, in the middle of many', async () => {
    const person = await someone(app)
    const made = await make(person, { scheme: 'hmac' })
    const one = async (on: TestApp) => sent(await sign(made), { on })
    expect(await Promise.all([one(app), one(other), one(app), one(other)])).toEqual(['ok', 'ok', 'ok', 'ok'])
    const racing = Array.from({ length: 6 }, (_, index) => one(index % 2 === 0 ? app : other))
    await call(other, accessKeys.action, { token: person.token, params: { id: made.key.id }, body: { action: 'disable' } })
    expect(new Set(['ok', 91202])).toEqual(new Set(['ok', 91202, ...(await Promise.all(racing))]))
    expect([await one(other), await one(app)]).toEqual([91202, 91202])
    // Only who proves that they have it is told.
    expect(await sent(await sign(made, { secret: newSecret('hmac') }))).toBe(91207)
  })

  it('when it is deleted', async () => {
    const person = await someone(app)
    const { key, outcomes } = await remembered(person)
    await call(app, accessKeys.delete, { token: person.token, params: { id: key.id } })
    expect(await outcomes()).toEqual([91201, 91201])
    expect((await call(app, accessKeys.list, { token: person.token })).total).toBe(0)
  })

  it('when its time is over', async () => {
    const person = await someone(app)
    const { key, outcomes } = await remembered(person, { expires_at: new Date(app.clock.now().getTime() + 60_000).toISOString() })
    app.clock.advance(61_000)
    expect(await outcomes()).toEqual([91203, 91203])
    const { token } = await signIn(app, person)
    // It may be renamed, and given another end, which is no past one.
    const settings = { name: 'later', networks: [], document: null }
    expect(await call(app, accessKeys.update, { token, params: { id: key.id }, body: { ...settings, expires_at: key.expires_at } })).toMatchObject({
      name: 'later',
      expires_at: key.expires_at,
    })
    expect(await refused(app, accessKeys.update, { token, params: { id: key.id }, body: { ...settings, expires_at: '2020-01-01T00:00:00Z' } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'expires_at' }],
    })
    await call(app, accessKeys.update, { token, params: { id: key.id }, body: settings })
    await becomes(outcomes, 'ok')
  })

  it('when its person is disabled or deleted, and lives when they are enabled', async () => {
    const boss = await someone(app)
    const person = await someone(app, { kind: 4, organisation: boss.bp_id })
    const { outcomes } = await remembered(person)
    await call(app, users.action, { token: boss.token, params: { id: person.id }, body: { action: 'disable' } })
    await becomes(outcomes, 1135)
    await call(app, users.action, { token: boss.token, params: { id: person.id }, body: { action: 'enable' } })
    await becomes(outcomes, 'ok')
    await call(app, users.delete, { token: boss.token, params: { id: person.id } })
    await becomes(outcomes, 91201)
  })

  it('and what was opened with it: where its person is disabled, it is told as a session that has ended', async () => {
    const boss = await someone(app)
    const person = await someone(app, { kind: 4, organisation: boss.bp_id })
    const { key } = await make(person)
    const actors = createActors(app.platform, ownRules(app.platform))
    const keys = ownKeys(actors)
    const ended: string[] = []
    actors.watch((gone) => {
      if ('session' in gone) ended.push(gone.session)
    })
    expect(await keys.actorOf(key.id)).toMatchObject({ user_id: person.id, session_id: key.id, authenticated_by: 'access_key' })
    await call(app, users.action, { token: boss.token, params: { id: person.id }, body: { action: 'disable' } })
    await vi.waitFor(() => expect(ended).toContain(key.id), { interval: 20 })
    expect(await keys.actorOf(key.id)).toBeNull()
    actors.stop()
  })

  it('when its organisation is frozen, until that ends', async () => {
    const admin = await someone(app, { kind: 1 })
    const person = await someone(app)
    const { outcomes } = await remembered(person)
    const act = (action: 'freeze' | 'unfreeze') => call(app, organisations.action, { token: admin.token, params: { id: person.bp_id ?? '' }, body: { action } })
    await act('freeze')
    await becomes(outcomes, 91012)
    await act('unfreeze')
    await becomes(outcomes, 'ok')
  })

  it('not with the password: neither when it is changed or reset, nor when somebody guesses it', async () => {
    const boss = await someone(app)
    const person = await someone(app, { kind: 4, organisation: boss.bp_id })
    const { outcomes } = await remembered(person)
    const ip = someIp()
    for (let times = 0; times < 5; times++) await send(app, auth.password, { ip, body: { username: person.name, password: 'Wrong-password-1' } })
    expect(await refused(app, auth.password, { ip, body: { username: person.name, password } })).toMatchObject({ code: 1136 })
    expect(await outcomes()).toEqual(['ok', 'ok'])
    await call(app, users.action, { token: boss.token, params: { id: person.id }, body: { action: 'resetPassword' } })
    await becomes(outcomes, 'ok')
  })

  it('when its person may not any more: rights are theirs, of that moment', async () => {
    const admin = await someone(app, { kind: 1 })
    const person = await someone(app)
    const { secret } = await make(person)
    const listed = (on = app) => outcome(secret, { on, declared: keyPairs.list })
    expect([await listed(), await listed(other)]).toEqual(['ok', 'ok'])
    const policy = await call(app, policies.create, {
      token: admin.token,
      body: {
        name: `p-${randomUUID()}`,
        document: {
          Version: policyLanguage,
          Statement: [{ Effect: 'Deny', Action: 'nextstack.keyPair.*', Resource: '*', Condition: { StringEquals: { 'zs:AuthenticatedBy': 'access_key' } } }],
        },
      },
    })
    await call(app, grants.create, { token: admin.token, body: { policy_id: policy.id, user_id: person.id } })
    await vi.waitFor(async () => expect([await listed(), await listed(other)]).toEqual([3000, 3000]), { interval: 20 })
    // It speaks of keys only.
    expect((await send(app, keyPairs.list, { token: person.token })).status).toBe(200)
  })
})

describe('rotating', () => {
  const rotate = (who: SignedIn, { key }: Made, overlap_seconds?: number) =>
    call(app, accessKeys.rotate, { token: who.token, params: { id: key.id }, body: { password, ...(overlap_seconds !== undefined && { overlap_seconds }) } })

  it('gives a new secret, and takes the old one at once', async () => {
    const person = await someone(app)
    const made = await make(person)
    expect([await outcome(made.secret), await outcome(made.secret, { on: other })]).toEqual(['ok', 'ok'])
    const next = await rotate(person, made)
    expect([next.key.id, next.key.previous_until]).toEqual([made.key.id, null])
    expect([await outcome(made.secret), await outcome(made.secret, { on: other }), await outcome(next.secret)]).toEqual([91201, 91201, 'ok'])
  })

  it.each(['bearer', 'hmac'] as const)('leaves the old one good for a while where that is wished: %s', async (scheme) => {
    const person = await someone(app)
    const made = await make(person, { scheme })
    const outcomeOf = async (one: Made) => (scheme === 'bearer' ? outcome(one.secret) : sent(await sign(one)))
    const second = await rotate(person, made, 600)
    expect(second.key.previous_until).not.toBeNull()
    expect([await outcomeOf(made), await outcomeOf(second)]).toEqual(['ok', 'ok'])
    app.clock.advance(601_000)
    const wrong = scheme === 'bearer' ? 91201 : 91207
    expect([await outcomeOf(made), await outcomeOf(second)]).toEqual([wrong, 'ok'])
    // Of three, the first is gone whatever was promised to it.
    const { token } = await signIn(app, person)
    const third = await rotate({ ...person, token }, made, 600)
    const fourth = await rotate({ ...person, token }, made, 600)
    expect([await outcomeOf(second), await outcomeOf(third), await outcomeOf(fourth)]).toEqual([wrong, 'ok', 'ok'])
  })

  it('at once by two leaves one secret in force', async () => {
    const person = await someone(app)
    const made = await make(person)
    const both = await Promise.all([rotate(person, made), rotate(person, made)])
    const outcomes = await Promise.all(both.map(({ secret }) => outcome(secret)))
    expect(outcomes.sort()).toEqual([91201, 'ok'])
  })
})

describe('an access key may', () => {
  it('be used from its addresses only', async () => {
    const person = await someone(app)
    const networks = ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32']
    const [bearer, hmac] = [await make(person, { networks }), await make(person, { networks, scheme: 'hmac' })]
    for (const [ip, expected] of [
      ['203.0.113.77', 'ok'],
      ['198.51.100.7', 'ok'],
      ['2001:db8:1::5', 'ok'],
      ['::ffff:203.0.113.5', 'ok'],
      ['203.0.114.1', 91204],
      ['198.51.100.8', 91204],
      ['2001:db9::1', 91204],
    ] as const) {
      expect(await outcome(bearer.secret, { ip }), ip).toBe(expected)
      expect(await sent(await sign(hmac), { ip }), ip).toBe(expected)
    }
    const answer = await refused(app, users.current, { token: bearer.secret, ip: '192.0.2.1' })
    expect(answer).toMatchObject({ status: 403, message: expect.stringContaining('192.0.2.1') })
  })

  it('do what its document and its person are both allowed', async () => {
    const person = await someone(app, { kind: 4 })
    const { key, secret } = await make(person, { document: allow('nextstack.keyPair.list', 'cmp.cloud.create') })
    expect(await outcome(secret, { declared: keyPairs.list })).toBe('ok')
    // Allowed to the person, not to the key; and the other way round.
    expect(await outcome(secret, { declared: vms.list })).toBe(3000)
    expect((await send(app, vms.list, { token: person.token })).status).toBe(200)
    expect((await send(app, allCalls.find(({ id }) => id === 'cmp.cloud.create') ?? vms.list, { token: secret })).status).toBe(403)
    const document = {
      Version: policyLanguage,
      Statement: [...allow('*').Statement, { Effect: 'Deny' as const, Action: 'nextstack.keyPair.list', Resource: '*' }],
    }
    await call(app, accessKeys.update, { token: person.token, params: { id: key.id }, body: { name: key.name, document } })
    expect([await outcome(secret, { declared: keyPairs.list }), await outcome(secret, { declared: vms.list })]).toEqual([3000, 'ok'])
  })

  it('bind who is beyond policies, too', async () => {
    const admin = await someone(app, { kind: 0 })
    const { secret } = await make(admin, { document: allow('ums.user.list') })
    expect([await outcome(secret, { declared: users.list }), await outcome(secret, { declared: policies.list })]).toEqual(['ok', 3000])
  })

  it('give no more than it has itself, though its person has more', async () => {
    const admin = await someone(app, { kind: 1 })
    const boss = await someone(app)
    const [narrow, wide] = [
      await call(app, policies.create, { token: admin.token, body: { name: `p-${randomUUID()}`, document: allow('nextstack.keyPair.list') } }),
      await call(app, policies.create, { token: admin.token, body: { name: `p-${randomUUID()}`, document: allow('nextstack.vm.*') } }),
    ]
    const member = await someone(app, { kind: 4, organisation: boss.bp_id })
    const { secret } = await make(boss, { document: allow('iam.*', 'nextstack.keyPair.list', 'ums.user.*') })
    expect((await send(app, grants.create, { token: secret, body: { policy_id: narrow.id, user_id: member.id } })).status).toBe(201)
    expect(await refused(app, grants.create, { token: secret, body: { policy_id: wide.id, user_id: member.id } })).toMatchObject({ code: 91106 })
    // Who could sign in as somebody would have what that one has.
    expect(await refused(app, users.action, { token: secret, params: { id: member.id }, body: { action: 'resetPassword' } })).toMatchObject({ code: 91106 })
  })

  it('never do what only a person does', async () => {
    const person = await someone(app, { kind: 0 })
    const [{ secret }, hmac] = [await make(person), await make(person, { scheme: 'hmac' })]
    const params = (declared: Call) =>
      Object.fromEntries(
        [...declared.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [
          name,
          name === 'phone' ? '13912345678' : name === 'email' ? 'a@example.com' : '018f0000-0000-7000-8000-000000000000',
        ]),
      )
    const personal = allCalls.filter((one) => one.personal)
    expect(personal.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'ums.accessKey.create',
        'ums.accessKey.rotate',
        'ums.accessKey.update',
        'ums.user.changePassword',
        'ums.user.changePhone',
        'ums.user.endOwnSession',
        'ums.secondFactor.begin',
        'ums.secondFactor.remove',
        'ums.auth.password',
        'ums.auth.refresh',
        auth.retrievePassword.id,
      ]),
    )
    for (const declared of personal) expect(codeOf(await send(app, declared, { token: secret, params: params(declared) })), declared.id).toBe(91205)
    expect(await sent(await sign(hmac, { method: 'POST', url: accessKeys.create.path, body: { name: 'k', scheme: 'bearer', password } }))).toBe(91205)
  })

  it('be used for whatever else is not about one’s own account', () => {
    // A password of one’s own, wherever it is kept, is about one’s account; and where money goes, and that it goes, a person says.
    expect(
      allCalls.flatMap(({ personal, id }) => (personal && !id.startsWith('ums.') && !/^split\.(bankDetail|payout|channel|case|run)\./.test(id) ? [id] : [])),
    ).toEqual(['ims.registryUser.create'])
    // Of ums these two are for everybody, and for keys.
    expect(allCalls.filter(({ id, access, personal }) => id.startsWith('ums.') && typeof access === 'string' && !personal).map(({ id }) => id)).toEqual([
      'ums.user.current',
      'ums.organisation.list',
    ])
  })
})

describe('a signed request is refused', () => {
  let person: Person & SignedIn
  let made: Made
  beforeAll(async () => {
    person = await someone(app)
    made = await make(person, { scheme: 'hmac' })
  })
  const body = { name: 'signed' }
  const post = (wish: SigningWish = {}) => sign(made, { method: 'POST', url: keyPairs.create.path, body: { name: `n-${randomUUID()}` }, ...wish })

  it('when it comes again, on whichever server, of ten at a time but one', async () => {
    const request = await sign(made)
    expect(await sent(request)).toBe('ok')
    expect([await sent(request), await sent(request, { on: other })]).toEqual([91209, 91209])
    const once = await post()
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, index) => sent(once, { on: index % 2 === 0 ? app : other })))
    expect(outcomes.filter((one) => one === 'ok')).toHaveLength(1)
    expect(outcomes.filter((one) => one === 91209)).toHaveLength(9)
  })

  it('with a nonce that was used by another request of the key, not of another key', async () => {
    const nonce = randomUUID()
    expect(await sent(await sign(made, { nonce }))).toBe('ok')
    expect(await sent(await sign(made, { nonce, url: organisations.list.path }))).toBe(91209)
    expect(await sent(await sign(await make(person, { scheme: 'hmac' }), { nonce }))).toBe('ok')
  })

  it('as long as it could be taken, whatever was cleaned meanwhile', async () => {
    const request = await sign(made)
    expect(await sent(request)).toBe('ok')
    app.clock.advance(290_000)
    await ownKeys().clean()
    expect(await sent(request)).toBe(91209)
    app.clock.advance(20_000)
    expect(await sent(request)).toBe(91208)
  })

  it.each([
    ['older than five minutes', { secondsAgo: 301 }],
    ['of the future', { secondsAgo: -60 }],
    ['past its own end', { secondsAgo: 20, expiresInSeconds: -10 }],
  ])('when it is %s', async (_, wish) => expect(await sent(await sign(made, wish))).toBe(91208))

  it('from a clock that is a little off it is taken', async () => {
    expect([await sent(await sign(made, { secondsAgo: 280 })), await sent(await sign(made, { secondsAgo: -20 }))]).toEqual(['ok', 'ok'])
  })

  it('with another method, path, query or field than was signed', async () => {
    const request = await sign(made, { url: `${keyPairs.list.path}?page_size=5`, fields: ['@method', '@target-uri'] })
    expect(await sent({ ...request, method: 'POST' })).toBe(91207)
    expect(await sent({ ...request, url: `${vms.list.path}?page_size=5` })).toBe(91207)
    expect(await sent({ ...request, url: `${keyPairs.list.path}?page_size=6` })).toBe(91207)
    expect(await sent({ ...request, url: keyPairs.list.path })).toBe(91207)
    expect(await sent({ ...request, headers: { ...request.headers, host: 'another.example.com' } })).toBe(91207)
    // And it was good.
    expect(await sent(request)).toBe('ok')
  })

  it('with another body than was signed', async () => {
    const request = await post()
    expect(await sent({ ...request, payload: JSON.stringify(body) })).toBe(91210)
    const empty = await post()
    expect(await sent({ ...empty, payload: '' })).toBe(91210)
    const { payload: _, ...without } = await post()
    expect(await sent(without)).toBe(91210)
    // The digest of another body is another field than was signed.
    const swapped = await post()
    expect(await sent({ ...swapped, payload: JSON.stringify(body), headers: { ...swapped.headers, 'content-digest': digestOf(JSON.stringify(body)) } })).toBe(
      91207,
    )
    // White space is part of the body.
    const spaced = await post()
    expect(await sent({ ...spaced, payload: `${spaced.payload ?? ''} ` })).toBe(91210)
  })

  it('with a body that was not signed', async () => {
    const bare = await sign(made, { method: 'POST', url: keyPairs.create.path })
    expect(await sent({ ...bare, payload: JSON.stringify(body), headers: { ...bare.headers, 'content-type': 'application/json' } })).toBe(91207)
    const uncovered = await post({ fields: ['@method', '@path', '@query'] })
    expect(await sent(uncovered)).toBe(91207)
    // Of calls that read no body, too.
    const get = await sign(made)
    expect(await sent({ ...get, payload: 'x', headers: { ...get.headers, 'content-type': 'text/plain' } })).toBe(91207)
    expect((await call(app, keyPairs.list, { token: person.token, query: { keyword: body.name } })).total).toBe(0)
  })

  it('with a body that is too large, before it is looked at', async () => {
    expect(await sent(await post({ body: { name: 'x'.repeat(1024 * 1024) } }))).toBe(90003)
  })

  it('by the secret of another key, or for a key that is not there', async () => {
    const another = await make(person, { scheme: 'hmac' })
    expect(await sent(await sign(made, { secret: another.secret }))).toBe(91207)
    for (const keyId of [randomUUID(), 'x', `${made.key.id}'; --`, made.key.id.toUpperCase()])
      expect(await sent(await sign(made, { keyId })), keyId).toBe(91207)
  })

  it('beside a token, or with half of a signature', async () => {
    const request = await sign(made)
    expect(await sent({ ...request, headers: { ...request.headers, authorization: `Bearer ${person.token}` } })).toBe(91207)
    for (const name of ['signature', 'signature-input']) {
      const { [name]: _, ...headers } = request.headers
      expect(await sent({ ...request, headers })).toBe(91207)
    }
  })

  it('where the body goes elsewhere than to a call', async () => {
    const url = `/api/nextstack/v1/image-library/${randomUUID()}/file`
    expect(await sent(await sign(made, { method: 'PATCH', url }))).toBe(91207)
    // By a token it comes as far as the image that is not there.
    const { secret } = await make(person)
    expect(await sent({ method: 'PATCH', url, headers: { authorization: `Bearer ${secret}` } })).toBe(90006)
  })
})

describe('of others', () => {
  it('nobody sees or changes keys but by keeping them', async () => {
    const [person, stranger] = [await someone(app), await someone(app)]
    const { key } = await make(person)
    const params = { id: key.id }
    for (const [declared, body] of [
      [accessKeys.update, { name: 'mine' }],
      [accessKeys.action, { action: 'disable' }],
      [accessKeys.rotate, { password }],
      [accessKeys.delete, undefined],
    ] as const) {
      expect(await refused(app, declared, { token: stranger.token, params, ...(body !== undefined && { body }) }), declared.id).toMatchObject({ status: 404 })
    }
    expect(await refused(app, accessKeys.of, { token: stranger.token, params: { id: person.id } })).toMatchObject({ status: 404 })
    for (const declared of [accessKeys.block, accessKeys.unblock, accessKeys.deleteOf])
      expect(await refused(app, declared, { token: stranger.token, params: { user_id: person.id, id: key.id } }), declared.id).toMatchObject({ status: 404 })
    // Nor of somebody whom one keeps, by another's name.
    expect(await refused(app, accessKeys.block, { token: stranger.token, params: { user_id: stranger.id, id: key.id } })).toMatchObject({ status: 404 })
    expect(await call(app, accessKeys.list, { token: person.token })).toMatchObject({ items: [{ name: key.name, status: 'active' }] })
  })

  it('administrators see keys, block them, so that their people cannot enable them, and delete them', async () => {
    const boss = await someone(app)
    const person = await someone(app, { kind: 4, organisation: boss.bp_id })
    const { key, secret } = await make(person)
    const params = { user_id: person.id, id: key.id }
    expect(await call(app, accessKeys.of, { token: boss.token, params: { id: person.id } })).toMatchObject({ total: 1, items: [{ id: key.id }] })
    expect(await outcome(secret)).toBe('ok')
    expect(await call(app, accessKeys.block, { token: boss.token, params })).toMatchObject({ status: 'blocked' })
    expect(await outcome(secret)).toBe(91202)
    for (const action of ['enable', 'disable'] as const)
      expect(await refused(app, accessKeys.action, { token: person.token, params: { id: key.id }, body: { action } })).toMatchObject({ code: 90010 })
    expect(await refused(app, accessKeys.rotate, { token: person.token, params: { id: key.id }, body: { password } })).toMatchObject({ code: 90010 })
    expect(await call(app, accessKeys.unblock, { token: boss.token, params })).toMatchObject({ status: 'disabled' })
    expect(await refused(app, accessKeys.unblock, { token: boss.token, params })).toMatchObject({ code: 90010 })
    await call(app, accessKeys.action, { token: person.token, params: { id: key.id }, body: { action: 'enable' } })
    expect(await outcome(secret)).toBe('ok')
    await call(app, accessKeys.deleteOf, { token: boss.token, params })
    expect(await outcome(secret)).toBe(91201)
  })

  it('are listed for who keeps their people, of all organisations for the platform’s', async () => {
    const [boss, stranger, root] = [await someone(app), await someone(app), await someone(app, { kind: 1 })]
    const person = await someone(app, { kind: 4, organisation: boss.bp_id })
    const [first, second] = [await make(person), await make(boss)]
    await make(stranger)
    const listed = async (by: SignedIn, query: object = {}) =>
      (await call(app, accessKeys.all, { token: by.token, query })).items.map(({ id, user }) => [id, user.id])
    expect(await listed(boss)).toEqual([
      [second.key.id, boss.id],
      [first.key.id, person.id],
    ])
    expect(await listed(boss, { user_id: person.id })).toEqual([[first.key.id, person.id]])
    expect(await listed(boss, { keyword: first.key.name })).toEqual([[first.key.id, person.id]])
    expect(await listed(boss, { status: 'blocked' })).toEqual([])
    expect(await listed(boss, { user_id: stranger.id })).toEqual([])
    expect(await listed(root, { user_id: stranger.id })).toHaveLength(1)
    expect(await refused(app, accessKeys.all, { token: person.token })).toMatchObject({ code: 3000 })
  })

  it('who set the platform up is kept by their like only', async () => {
    const [root, admin] = [await someone(app, { kind: 0 }), await someone(app, { kind: 1 })]
    const { key } = await make(root)
    expect(await refused(app, accessKeys.deleteOf, { token: admin.token, params: { user_id: root.id, id: key.id } })).toMatchObject({ code: 3000 })
  })
})

describe('the programs of the help', () => {
  const article = readFileSync(new URL('../../../../../web/src/features/help/articles/access-keys.md', import.meta.url), 'utf8')
  const program = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(article)?.[1] ?? ''
  const run = promisify(execFile)
  const hasPython = spawnSync('python3', ['--version']).status === 0
  let base: string
  let folder: string
  beforeAll(async () => {
    base = await app.http.listen({ host: '127.0.0.1', port: 0 })
    folder = mkdtempSync(join(tmpdir(), 'zhisuan-help-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** What one wrote, run as it stands. */
  const runs = async (language: string, file: string, command: string, person: Person & SignedIn): Promise<string> => {
    const text = program(language)
    expect(text).toContain('/api/')
    const { key, secret } = await make(person, { scheme: 'hmac' })
    writeFileSync(join(folder, file), text)
    const { stdout } = await run(command, [join(folder, file)], { env: { PATH: process.env['PATH'], BASE: base, KEY_ID: key.id, KEY_SECRET: secret } })
    return stdout.trim()
  }

  // By the clock of this machine, which the programs go by.
  beforeAll(() => app.clock.advance(Date.now() - app.clock.now().getTime()))

  it('in Node.js works', async () => {
    const person = await someone(app)
    expect(await runs('js', 'sample.mjs', process.execPath, person)).toBe(`${person.name} 1`)
  })
  it.skipIf(!hasPython)('in Python works', async () => {
    const person = await someone(app)
    expect(await runs('python', 'sample.py', 'python3', person)).toBe(`${person.name} 1`)
  })
  it('with curl works', async () => {
    const person = await someone(app)
    const { secret } = await make(person)
    const line =
      program('bash')
        .split('\n')
        .find((one) => one.startsWith('curl ')) ?? ''
    const { stdout } = await run('bash', ['-c', line], { env: { PATH: process.env['PATH'], BASE: base, TOKEN: secret } })
    expect(JSON.parse(stdout)).toMatchObject({ id: person.id })
  })
})

describe('the audit log', () => {
  it('names the key that a change was made with, and stays whole', async () => {
    const admin = await someone(app, { kind: 1 })
    const person = await someone(app)
    const { key, secret } = await make(person)
    const pair = await call(app, keyPairs.create, { token: secret, body: { name: `n-${randomUUID()}` } })
    await call(app, keyPairs.delete, { token: person.token, params: { id: pair.id } })
    expect(await outcome(secret, { declared: accessKeys.create })).toBe(91205)
    const { items } = await call(app, audits.list, { token: admin.token, query: { actor_id: person.id, page_size: 100 } })
    const of = (id: string) => items.find((one) => one.call === id)
    expect(of('nextstack.keyPair.create')).toMatchObject({ actor: { id: person.id }, access_key: { id: key.id, name: key.name }, code: 0 })
    expect(of('nextstack.keyPair.delete')).toMatchObject({ access_key: null })
    // What was refused to a key is written, too.
    expect(items.find((one) => one.call === 'ums.accessKey.create' && one.code === 91205)).toMatchObject({ access_key: { id: key.id } })
    expect(await call(app, audits.verify, { token: admin.token })).toMatchObject({ intact: true })
  })
})
