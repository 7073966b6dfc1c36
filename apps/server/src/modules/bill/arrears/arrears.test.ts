import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { toMinor } from '@zhisuan/contract/bill/money'
import { notices } from '@zhisuan/contract/bill/notice'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { inboxOf } from '../../../testing/inbox.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { inAdvance } from './in-advance.ts'
import { createStandings } from './standing.service.ts'
import { shareStanding } from './standing.store.ts'

const hour = 3_600_000

let app: TestApp
/** Another server of the same platform. */
let second: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  second = await testApp({ DATABASE_URL: app.databaseUrl }, { clock: app.clock })
  admin = await someone(app, { kind: 1 })
})
afterAll(async () => {
  await second.close()
  await app.close()
})

const decisions = { grace_hours: 72, warning_hours: 24, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
/** Nobody's session lasts so long: people sign in again. */
const advance = async (hours: number, ...people: (Person & SignedIn)[]): Promise<void> => {
  app.clock.advance(hours * hour)
  for (const person of [admin, ...people]) Object.assign(person, await signIn(app, person))
}
const use = (bpId: string | null, amount: string, on = app) =>
  on.platform.db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: bpId ?? '', amount: toMinor(amount), key: uuidv7() }))
const pay = (bpId: string | null, amount: string) => call(app, accounts.charge, { token: admin.token, params: { id: bpId ?? '' }, body: { amount } })
const standing = (who: Person & SignedIn) => call(app, standings.get, { token: who.token, params: { id: who.bp_id ?? '' } })
/** An account is normal from the first, also before anybody looked at it. */
const comesTo = (who: Person & SignedIn, state: string) =>
  expect.poll(() => standing(who), { interval: 30 }).toMatchObject({ state, since: expect.any(String) })
const told = async (who: Person & SignedIn) => (await call(app, notices.list, { token: who.token, query: { page_size: 100 } })).items
const kindsTold = async (who: Person & SignedIn) => (await told(who)).map(({ kind }) => kind).toReversed()
const history = async (who: Person & SignedIn) =>
  (await call(app, standings.history, { token: who.token, params: { id: who.bp_id ?? '' }, query: { page_size: 100 } })).items
    .map(({ from, to }) => `${from} ${to}`)
    .toReversed()
const exception = (bpId: string | null, wish: Partial<typeof decisions & { low_balance: string; least_balance: string }> = {}) =>
  call(app, arrearsPolicies.setException, { token: admin.token, params: { id: bpId ?? '' }, body: { low_balance: '100', ...decisions, ...wish } })

describe('what is paid by the hour', () => {
  it('asks for a least balance where the platform or an exception does, and not of what is free or paid in advance', async () => {
    const tenant = await someone(app)
    const make = (what: 'costs' | 'free' = 'costs') => app.platform.db.transaction().execute((tx) => mayMake(tx, tenant.bp_id, what))
    const { mayMake } = createStandings(app.platform, { notices: { tell: async () => undefined }, used: async () => undefined })
    expect(await standing(tenant)).toMatchObject({ least_balance: '0.00', available: '0.00' })
    // Nobody asks for one as it comes.
    await make()
    await exception(tenant.bp_id, { least_balance: '50', low_balance: '0' })
    expect(await standing(tenant)).toMatchObject({ least_balance: '50.00' })
    await expect(make()).rejects.toMatchObject({ refusal: 'balanceBelowLeast', message: expect.stringContaining('¥0.00 低于按量计费的最低余额 ¥50.00') })
    await make('free')
    await inAdvance(make)
    await pay(tenant.bp_id, '49.99')
    await expect(make()).rejects.toMatchObject({ refusal: 'balanceBelowLeast' })
    // What may be spent on credit counts.
    await call(app, accounts.setCreditLimit, { token: admin.token, params: { id: tenant.bp_id ?? '' }, body: { credit_limit: '0.01' } })
    await make()
    expect(
      await refused(app, arrearsPolicies.setException, {
        token: admin.token,
        params: { id: tenant.bp_id ?? '' },
        body: { low_balance: '0', least_balance: '-1', ...decisions },
      }),
    ).toMatchObject({ fields: [{ field: 'least_balance', message: '按量计费的最低余额不能低于0' }] })
  })
})

describe('an account that runs dry', () => {
  it('goes from normal to low, arrears, suspended and back, each told once by whichever server comes first', async () => {
    const tenant = await someone(app)
    await pay(tenant.bp_id, '150')
    await comesTo(tenant, 'normal')
    await use(tenant.bp_id, '60')
    await comesTo(tenant, 'low')
    await use(tenant.bp_id, '100.5', second)
    await comesTo(tenant, 'arrears')
    const now = await standing(tenant)
    expect(now).toMatchObject({ arrears: '10.50', available: '0.00', suspension: null })
    expect(Date.parse(now.grace_until ?? '') - Date.parse(now.arrears_since ?? '')).toBe(72 * hour)
    // More of the same is no other crossing.
    await use(tenant.bp_id, '1')
    await advance(49, tenant)
    await expect.poll(() => kindsTold(tenant), { interval: 30 }).toEqual(['low', 'arrears', 'suspensionNear'])
    await advance(24, tenant)
    await comesTo(tenant, 'suspended')
    await expect.poll(async () => (await standing(tenant)).suspension, { interval: 30 }).toEqual({ phase: 'suspended', stopped: 0, failing: 0 })
    // Less than everything changes nothing.
    await pay(tenant.bp_id, '5')
    expect((await standing(tenant)).arrears).toBe('6.50')
    await pay(tenant.bp_id, '200')
    await comesTo(tenant, 'normal')
    expect(await history(tenant)).toEqual(['normal low', 'low arrears', 'arrears suspended', 'suspended normal'])
    expect(await kindsTold(tenant)).toEqual(['low', 'arrears', 'suspensionNear', 'suspended', 'resumed'])
    expect(await standing(tenant)).toMatchObject({ arrears_since: null, grace_until: null })
    // Another time it is told again.
    await use(tenant.bp_id, '100')
    await comesTo(tenant, 'low')
    expect((await kindsTold(tenant)).filter((kind) => kind === 'low')).toHaveLength(2)
  })

  it('is told to who manages the organisation, by mail and message, and to nobody else of it', async () => {
    const tenant = await someone(app)
    const member = await makeUser(app, { kind: 4, organisation: tenant.bp_id })
    await pay(tenant.bp_id, '1000')
    await comesTo(tenant, 'normal')
    await call(app, notices.setContacts, {
      token: tenant.token,
      params: { id: tenant.bp_id ?? '' },
      body: { contacts: [{ name: '财务', email: `money-${tenant.id}@example.com`, phone: null }] },
    })
    await use(tenant.bp_id, '999.999')
    await expect.poll(async () => (await told(tenant))[0]?.deliveries.map(({ status }) => status), { interval: 30 }).toEqual(['sent', 'sent', 'sent'])
    for (const address of [tenant.email, tenant.phone, `money-${tenant.id}@example.com`]) {
      expect(
        (await inboxOf(app, address)).map(({ text }) => text),
        address,
      ).toEqual([expect.stringMatching(/^【智算云】组织“org-.+”的可用余额为0\.00元，已低于提醒线，请及时充值。$/)])
    }
    expect([...(await inboxOf(app, member.email)), ...(await inboxOf(app, member.phone))]).toEqual([])
  })

  it('is low without a word where it begins so, and is never low where the line is 0', async () => {
    const tenant = await someone(app)
    await pay(tenant.bp_id, '10')
    await comesTo(tenant, 'low')
    expect(await told(tenant)).toEqual([])
    await exception(tenant.bp_id, { low_balance: '0' })
    await comesTo(tenant, 'normal')
  })

  it('does not wait for another that somebody holds', async () => {
    const [busy, tenant] = [await someone(app), await someone(app)]
    await pay(busy.bp_id, '10')
    await comesTo(busy, 'low')
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    // As whoever makes something does, until that is made.
    const holding = app.platform.db.transaction().execute(async (tx) => {
      await shareStanding(tx, busy.bp_id ?? '')
      await use(busy.bp_id, '10.5')
      await use(tenant.bp_id, '1')
      await held
    })
    await comesTo(tenant, 'arrears')
    expect((await standing(busy)).state).toBe('low')
    letGo()
    await holding
    await comesTo(busy, 'arrears')
  })

  it('of another organisation does not exist', async () => {
    const [tenant, other] = [await someone(app), await someone(app)]
    await use(tenant.bp_id, '1')
    await comesTo(tenant, 'arrears')
    for (const declared of [standings.get, standings.history, standings.resources, notices.contacts]) {
      expect(await refused(app, declared, { token: other.token, params: { id: tenant.bp_id ?? '' } }), declared.id).toMatchObject({ status: 404 })
      expect(await refused(app, declared, { token: admin.token, params: { id: randomUUID() } }), declared.id).toMatchObject({ status: 404 })
    }
    expect(await refused(app, notices.list, { token: other.token, query: { bp_id: tenant.bp_id ?? '' } })).toMatchObject({ status: 404 })
    expect(await told(other)).toEqual([])
    expect(await refused(app, notices.setContacts, { token: other.token, params: { id: tenant.bp_id ?? '' }, body: { contacts: [] } })).toMatchObject({
      status: 404,
    })
    for (const contact of [
      { name: 'nobody', email: null, phone: null },
      { name: 'somebody', email: 'no mail', phone: null },
      { name: 'somebody', email: null, phone: '12345' },
    ]) {
      expect(
        await refused(app, notices.setContacts, { token: tenant.token, params: { id: tenant.bp_id ?? '' }, body: { contacts: [contact] } }),
        JSON.stringify(contact),
      ).toMatchObject({ code: 90001 })
    }
  })
})

describe('what may be made', () => {
  const make = (who: Person & SignedIn) => ({ token: who.token, body: { name: `k-${randomUUID()}` } })

  it('is refused in arrears where the policy says so, and while suspended always, before anything is made', async () => {
    const tenant = await someone(app)
    await exception(tenant.bp_id, { refuse_new: false })
    await use(tenant.bp_id, '1')
    await comesTo(tenant, 'arrears')
    const may = () =>
      app.platform.db
        .transaction()
        .execute((tx) =>
          app.platform.operations
            .begin(tx, never, { resource_id: randomUUID(), bp_id: tenant.bp_id, actor: { user_id: tenant.id, name: tenant.name }, input: {} })
            .then(() => Promise.reject(new Error('begun'))),
        )
    await expect(may()).rejects.toThrow('begun')
    await exception(tenant.bp_id)
    await expect(may()).rejects.toMatchObject({ refusal: 'balanceInsufficient' })
    expect(await refused(app, keyPairs.create, make(tenant))).toMatchObject({ code: 24011 })
    await exception(tenant.bp_id, { grace_hours: 0, refuse_new: false })
    await comesTo(tenant, 'suspended')
    await expect(may()).rejects.toMatchObject({ refusal: 'balanceInsufficientForOrder' })
    expect(await refused(app, keyPairs.create, make(tenant))).toMatchObject({ code: 24018 })
    expect((await call(app, keyPairs.list, { token: tenant.token })).total).toBe(0)
    await pay(tenant.bp_id, '500')
    await comesTo(tenant, 'normal')
    await expect(may()).rejects.toThrow('begun')
  })
  const never = { kind: 'nextstack.vm.create', input: undefined as never, steps: [], ended: async () => undefined }
})

describe('policies', () => {
  it('are the platform’s, an exception overrides them, and each change is looked at again', async () => {
    const platform = await call(app, arrearsPolicies.get, { token: admin.token })
    expect(platform).toMatchObject({ organisation: null, low_balance: '100.00', grace_hours: 72, resume: true })
    const tenant = await someone(app)
    await use(tenant.bp_id, '1')
    await comesTo(tenant, 'arrears')
    expect(await exception(tenant.bp_id, { suspends: false })).toMatchObject({ organisation: { id: tenant.bp_id }, suspends: false, updated_by: admin.name })
    await expect.poll(async () => (await standing(tenant)).grace_until, { interval: 30 }).toBe(null)
    const { items } = await call(app, arrearsPolicies.exceptions, { token: admin.token, query: { page_size: 100 } })
    expect(items.map(({ organisation }) => organisation?.id)).toContain(tenant.bp_id)
    await call(app, arrearsPolicies.removeException, { token: admin.token, params: { id: tenant.bp_id ?? '' } })
    await expect.poll(async () => (await standing(tenant)).grace_until, { interval: 30 }).not.toBe(null)
    expect(await refused(app, arrearsPolicies.removeException, { token: admin.token, params: { id: tenant.bp_id ?? '' } })).toMatchObject({ status: 404 })
    await call(app, arrearsPolicies.set, { token: admin.token, body: { ...decisions, low_balance: '100', grace_hours: 100 } })
    await expect
      .poll(async () => Date.parse((await standing(tenant)).grace_until ?? '') - Date.parse((await standing(tenant)).arrears_since ?? ''), { interval: 30 })
      .toBe(100 * hour)
    await call(app, arrearsPolicies.set, { token: admin.token, body: { ...decisions, low_balance: '100' } })
  })

  it('are an administrator’s, and name what is wrong', async () => {
    const tenant = await someone(app)
    const body = { ...decisions, low_balance: '100' }
    expect(await refused(app, arrearsPolicies.set, { token: tenant.token, body })).toMatchObject({ code: 3000 })
    for (const [field, value] of [
      ['low_balance', '-1'],
      ['low_balance', '1.001'],
      ['grace_hours', -1],
      ['grace_hours', 1.5],
      ['warning_hours', 9_999],
      ['suspends', 'yes'],
    ] as const) {
      expect((await refused(app, arrearsPolicies.set, { token: admin.token, body: { ...body, [field]: value } as typeof body })).fields, field).toMatchObject([
        { field },
      ])
    }
    expect(await refused(app, arrearsPolicies.setException, { token: admin.token, params: { id: randomUUID() }, body })).toMatchObject({ status: 404 })
    const states = await call(app, standings.list, { token: admin.token, query: { state: 'arrears', page_size: 100 } })
    expect(new Set(states.items.map(({ state }) => state))).toEqual(new Set(['arrears']))
    expect(await refused(app, standings.list, { token: tenant.token })).toMatchObject({ code: 3000 })
  })
})
