import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { orders, prepaids, type OrderDetail } from '@zhisuan/contract/bill/order'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput } from '@zhisuan/contract/define'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import pg from 'pg'
import { z } from 'zod'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Actor } from '../../../platform/auth/actor.ts'
import { unlimited } from '../../../platform/auth/rules.ts'
import { Refusal } from '../../../platform/errors.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { waitingForLocks } from '../../../testing/locks.ts'
import { makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { allow, deny, keeping } from '../../../testing/policies.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { orderClockJob } from './order.runner.ts'
import { createOrders } from './order.service.ts'
import type { SoldResource } from '../../../platform/module.ts'
import { endOf } from './terms.ts'

const gib = 2 ** 30
const day = 86_400_000
const wait = { interval: 20 }

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let flavor: { id: string; cpu_cores: number; memory_bytes: number; disk_bytes: number }
let image: string
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  engine = startTestEngine()
  cloud_id = (await call(app, clouds.create, { token: admin.token, body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: engine.connection } }))
    .cloud_id
  flavor = (await call(app, flavors.list, { token: owner.token })).items[0] ?? expect.fail('no flavor')
  image =
    (await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })).items.find(({ name }) => name === 'busybox')?.fingerprint ??
    ''
  const category = await call(app, categories.create, { token: admin.token, body: { name: 'all' } })
  const product = await call(app, products.create, { token: admin.token, body: { name: 'all', category_id: category.id } })
  for (const [meter, price] of [
    ['vm.vcpu', '20'],
    ['vm.memory', '10'],
    ['vm.disk', '0.3'],
    ['volume.size', '0.333333'],
  ] as const) {
    const sku = await call(app, skus.create, { token: admin.token, body: { product_id: product.id, name: meter, meter } })
    await call(app, skus.setPrice, { token: admin.token, params: { id: sku.id }, body: { period: 'month', tiers: [{ above: 0, price }] } })
  }
  app.clock.advance(1000)
})
afterEach(() => engine.recover())
afterAll(() => app.close())

/** Somebody with an organisation of their own, and money. */
const payer = async (funds = '1000'): Promise<Person & SignedIn> => {
  const person = await someone(app)
  if (funds !== '0') await call(app, accounts.charge, { token: admin.token, params: { id: person.bp_id ?? '' }, body: { amount: funds } })
  return person
}
const walletOf = (who: Person & SignedIn) => call(app, accounts.wallet, { token: who.token, params: { id: who.bp_id ?? '' } })
/** The whole ledger of an owner adds up to nothing, whenever one looks. */
const balanced = async (who: Person): Promise<void> => {
  const { balances } = await ledger.standing(app.platform.db, who.bp_id ?? '')
  expect(Object.values(balances).reduce((sum, amount) => sum + amount, 0n)).toBe(0n)
}
const makeVolume = async (who: SignedIn, size_bytes = 10 * gib): Promise<string> => {
  const { id } = await call(app, volumes.create, { token: who.token, body: { cloud_id, name: `vol-${randomUUID()}`, size_bytes } })
  await vi.waitFor(async () => expect(await call(app, volumes.get, { token: who.token, params: { id } })).toMatchObject({ status: 'available' }), wait)
  return id
}
const vmBody = (wish: Partial<BodyInput<typeof vms.create>> = {}) => ({
  cloud_id,
  name: `vm-${randomUUID()}`,
  type: 'container' as const,
  image_fingerprint: image,
  flavor_id: flavor.id,
  network: 'sandbox0',
  password: 'Correct-horse-1',
  ...wish,
})
const orderVolume = (who: SignedIn, resource_id: string, more: { period?: 'month'; count?: number; auto_renew?: boolean } = {}) =>
  call(app, orders.create, { token: who.token, body: { resource_type: 'nextstack.volume', resource_id, period: 'month', ...more } })
const orderVm = (who: SignedIn, wish: Partial<BodyInput<typeof vms.create>> = {}) =>
  call(app, orders.create, { token: who.token, body: { resource_type: 'nextstack.vm', period: 'month', create: vmBody(wish) } })
const of = (who: SignedIn, { id }: { id: string }) => ({ token: who.token, params: { id } })
const becomes = (who: SignedIn, order: { id: string }, status: OrderDetail['status']) =>
  vi.waitFor(async () => {
    const now = await call(app, orders.get, of(who, order))
    expect(now.status).toBe(status)
    return now
  }, wait)

describe('an order of something new', () => {
  it('makes it when it is paid, and the money is spent when it is there', async () => {
    const who = await payer()
    const ordered = await orderVm(who, { password: 'Very-secret-17' })
    const amount = toDecimal(
      toMinor('20') * BigInt(flavor.cpu_cores) +
        (toMinor('10') * BigInt(flavor.memory_bytes)) / BigInt(gib) +
        (toMinor('0.3') * BigInt(flavor.disk_bytes)) / BigInt(gib),
    )
    expect(ordered).toMatchObject({ kind: 'purchase', status: 'unpaid', resource: { type: 'nextstack.vm', id: null }, amount, covers: null })
    expect(ordered.lines.reduce((sum, line) => sum + toMinor(line.amount), 0n)).toBe(toMinor(amount))
    expect(await call(app, vms.list, { token: who.token })).toMatchObject({ total: 0 })
    const row = await app.platform.db.selectFrom('bill_orders').selectAll().where('id', '=', ordered.id).executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain('Very-secret-17')
    expect(await call(app, orders.pay, of(who, ordered))).toMatchObject({ status: 'paid' })
    const done = await becomes(who, ordered, 'delivered')
    const vm = await call(app, vms.get, { token: who.token, params: { id: done.resource.id ?? '' } })
    expect(vm).toMatchObject({ status: 'running', name: ordered.resource.name })
    expect(await walletOf(who)).toMatchObject({ held: '0.00', funds: toDecimal(toMinor('1000') - toMinor(amount)) })
    expect(done.history.map(({ what }) => what)).toEqual(['created', 'paid', 'delivered'])
    // Covered from the first second in which it used something.
    const { at } = await app.platform.db.selectFrom('usage_events').select('at').where('resource_id', '=', vm.id).orderBy('at').executeTakeFirstOrThrow()
    const from = new Date(Math.floor(at.getTime() / 1000) * 1000)
    expect(done.covers).toEqual({ from: from.toISOString(), to: endOf(from, 'month', 1).toISOString() })
    expect(await call(app, prepaids.get, of(who, { id: vm.id }))).toMatchObject({
      ends_at: done.covers?.to,
      auto_renew: false,
      spans: [{ order_id: ordered.id, usage: { 'vm.vcpu': flavor.cpu_cores, 'vm.memory': flavor.memory_bytes, 'vm.disk': flavor.disk_bytes } }],
    })
    expect((await app.platform.db.selectFrom('bill_orders').select('sealed').where('id', '=', ordered.id).executeTakeFirstOrThrow()).sealed).toBeNull()
    await balanced(who)
  })

  it('is refused as the call that makes it, naming its fields, and leaves nothing behind', async () => {
    const who = await payer()
    const refusal = (body: object) =>
      refused(app, orders.create, { token: who.token, body: { resource_type: 'nextstack.vm', period: 'month', create: vmBody(), ...body } })
    expect((await refusal({ create: vmBody({ name: '' }) })).fields).toMatchObject([{ field: 'create.name' }])
    expect((await refusal({ create: vmBody({ count: 2 }) })).fields).toMatchObject([{ field: 'create.count' }])
    expect(await refusal({ create: vmBody({ image_fingerprint: 'abcdefabcdef' }) })).toMatchObject({ fields: [{ field: 'create.image_fingerprint' }] })
    expect((await refusal({ resource_id: randomUUID() })).fields).toMatchObject([{ field: 'resource_id' }])
    expect(await refusal({ period: 'year' })).toMatchObject({ code: 24007, fields: [{ field: 'period' }] })
    const name = `vm-${randomUUID()}`
    await call(app, vms.create, { token: who.token, body: vmBody({ name }) })
    expect(await refusal({ create: vmBody({ name }) })).toMatchObject({ fields: [{ field: 'create.name' }] })
    expect(await call(app, orders.list, { token: who.token })).toMatchObject({ total: 0 })
    expect(await call(app, vms.list, { token: who.token })).toMatchObject({ total: 1 })
    // Nobody pays for what the platform has itself.
    expect(await refused(app, orders.create, { token: admin.token, body: { resource_type: 'nextstack.vm', period: 'month', create: vmBody() } })).toMatchObject(
      {
        code: 96020,
      },
    )
  })

  it('asks for the right to make it, when it is ordered and when it is made', async () => {
    const { makePolicy, give } = keeping(app)
    const who = await payer()
    const member = await makeUser(app, { organisation: who.bp_id, kind: 4 })
    const signed = { ...member, ...(await signIn(app, member)) }
    const ordered = await orderVm(signed)
    const policy = await makePolicy(who, [allow('bill.*'), deny('nextstack.vm.create')])
    await give(who, policy, { user_id: member.id })
    expect(
      await refused(app, orders.create, { token: signed.token, body: { resource_type: 'nextstack.vm', period: 'month', create: vmBody() } }),
    ).toMatchObject({
      code: 3000,
    })
    await call(app, orders.pay, of(who, ordered))
    const failed = await becomes(who, ordered, 'refunded')
    expect(failed).toMatchObject({ refunded_amount: failed.amount, covers: null, resource: { id: null } })
    expect(failed.error).toMatch(/下单的用户/)
    expect(await walletOf(who)).toMatchObject({ funds: '1000.00', held: '0.00' })
  })

  it('is made also with less left than what is paid by the hour asks for', async () => {
    const who = await payer()
    const policy = { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
    await call(app, arrearsPolicies.setException, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { ...policy, least_balance: '100000' } })
    const refusal = { code: 96043, message: '可用余额 ¥1000.00 低于按量计费的最低余额 ¥100000.00，请先充值，或改为预付费购买' }
    expect(await refused(app, vms.create, { token: who.token, body: vmBody() })).toMatchObject(refusal)
    const body = { cloud_id, name: `vol-${randomUUID()}`, size_bytes: gib }
    expect(await refused(app, volumes.create, { token: who.token, body })).toMatchObject(refusal)
    const ordered = await orderVm(who)
    await call(app, orders.pay, of(who, ordered))
    const { resource } = await becomes(who, ordered, 'delivered')
    expect(await call(app, vms.get, { token: who.token, params: { id: resource.id ?? '' } })).toMatchObject({ status: 'running' })
  })

  it('gives the money back where it cannot be made', async () => {
    const who = await payer()
    const ordered = await orderVm(who)
    engine.fail('failed', { method: 'instances.create' })
    await call(app, orders.pay, of(who, ordered))
    const failed = await becomes(who, ordered, 'refunded')
    expect(failed.history.map(({ what }) => what)).toEqual(['created', 'paid', 'failed'])
    expect(failed.error).toMatch(/资源创建失败/)
    expect(await walletOf(who)).toMatchObject({ funds: '1000.00', held: '0.00', balance: '1000.00' })
    expect((await call(app, prepaids.get, of(who, { id: failed.resource.id ?? '' }))).ends_at).toBeNull()
    await balanced(who)
  })
})

describe('paying', () => {
  it('happens once, whoever pays at once; with a cancellation one of the two', async () => {
    const who = await payer()
    const ordered = await orderVolume(who, await makeVolume(who))
    const paid = await Promise.all(Array.from({ length: 6 }, () => send(app, orders.pay, of(who, ordered))))
    expect(paid.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    expect(await walletOf(who)).toMatchObject({ funds: toDecimal(toMinor('1000') - toMinor(ordered.amount)), held: '0.00' })
    for (let round = 0; round < 3; round++) {
      const other = await orderVolume(who, await makeVolume(who))
      const before = toMinor((await walletOf(who)).funds)
      const [pay, cancel] = await Promise.all([send(app, orders.pay, of(who, other)), send(app, orders.cancel, of(who, other))])
      expect([pay.status, cancel.status].sort()).toEqual([200, 409])
      const { status } = await call(app, orders.get, of(who, other))
      expect(status).toBe(pay.status === 200 ? 'delivered' : 'cancelled')
      expect(before - toMinor((await walletOf(who)).funds)).toBe(pay.status === 200 ? toMinor(other.amount) : 0n)
    }
    await balanced(who)
  })

  it('is refused without the money, and after half an hour', async () => {
    const who = await payer('1')
    const volume = await makeVolume(who)
    const ordered = await orderVolume(who, volume)
    expect(
      await refused(app, orders.create, { token: who.token, body: { resource_type: 'nextstack.volume', resource_id: volume, period: 'month' } }),
    ).toMatchObject({
      code: 96021,
    })
    expect(await refused(app, orders.pay, of(who, ordered))).toMatchObject({ code: 24011 })
    expect(await call(app, orders.get, of(who, ordered))).toMatchObject({ status: 'unpaid' })
    const rich = await call(app, accounts.charge, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { amount: '100' } })
    expect(rich.funds).toBe('101.00')
    await app.platform.db
      .updateTable('bill_orders')
      .set({ expires_at: new Date(app.clock.now().getTime() - 1) } as never)
      .where('id', '=', ordered.id)
      .execute()
    expect(await refused(app, orders.pay, of(who, ordered))).toMatchObject({ code: 24044 })
    expect(await refused(app, orders.cancel, of(who, ordered))).toMatchObject({ code: 24044 })
    expect(await call(app, orders.list, { token: who.token, query: { status: 'expired' } })).toMatchObject({
      total: 1,
      items: [{ id: ordered.id, status: 'expired' }],
    })
    // The next one is not in its way.
    expect(await orderVolume(who, volume)).toMatchObject({ status: 'unpaid' })
    expect((await call(app, orders.get, of(who, ordered))).history.map(({ what }) => what)).toEqual(['created', 'expired'])
  })

  it('is of one’s own organisation; administrators see all', async () => {
    const [who, other] = [await payer(), await payer()]
    const volume = await makeVolume(who)
    const ordered = await orderVolume(who, volume)
    for (const declared of [orders.get, orders.pay, orders.cancel, orders.refund, orders.refundPreview])
      expect(await refused(app, declared, of(other, ordered)), declared.id).toMatchObject({ status: 404 })
    expect(await refused(app, orders.renew, { ...of(other, ordered), body: { period: 'month' } })).toMatchObject({ status: 404 })
    expect(
      await refused(app, orders.create, { token: other.token, body: { resource_type: 'nextstack.volume', resource_id: volume, period: 'month' } }),
    ).toMatchObject({
      status: 404,
    })
    expect(await refused(app, prepaids.get, of(other, { id: volume }))).toMatchObject({ status: 404 })
    expect(await refused(app, prepaids.setAutoRenew, { ...of(other, { id: volume }), body: { auto_renew: true } })).toMatchObject({ status: 404 })
    expect(await call(app, orders.list, { token: other.token })).toMatchObject({ total: 0 })
    expect(await call(app, orders.list, { token: admin.token, query: { bp_id: who.bp_id ?? '', keyword: ordered.number } })).toMatchObject({
      total: 1,
      items: [{ id: ordered.id, bp_id: who.bp_id }],
    })
    expect(await refused(app, prepaids.setAutoRenew, { ...of(who, { id: volume }), body: { auto_renew: true } })).toMatchObject({ code: 96025 })
  })
})

describe('two that come at once', () => {
  /** Keeps writers out of a table until it is let go of; `reached` when somebody stands before it, in the middle of their transaction. */
  const hold = async (table: string) => {
    const client = new pg.Client({ connectionString: app.databaseUrl })
    held.push(client)
    await client.connect()
    await client.query(`begin; lock table ${table} in share row exclusive mode`)
    return {
      reached: () =>
        expect
          .poll(
            async () => (await app.platform.database.pool.query(`select from pg_locks where not granted and relation = '${table}'::regclass`)).rowCount,
            wait,
          )
          .toBe(1),
      letGo: () => client.query('rollback'),
    }
  }
  const held: pg.Client[] = []
  afterEach(async () => {
    for (const client of held.splice(0)) await client.end()
  })

  it('a refund and a renewal of the same go one after the other', async () => {
    const who = await payer()
    const volume = await makeVolume(who)
    const first = await call(app, orders.pay, of(who, await orderVolume(who, volume)))
    const renewal = await call(app, orders.renew, { ...of(who, first), body: { period: 'month' } })
    const spans = await hold('prepaid_spans')
    const refund = call(app, orders.refund, of(who, first))
    await spans.reached()
    const renewed = call(app, orders.pay, of(who, renewal))
    // It waits for the refund, wherever that stands.
    await expect.poll(() => waitingForLocks(app), wait).toBe(2)
    await spans.letGo()
    expect((await refund).status).toBe('refunded')
    expect(await renewed).toMatchObject({ status: 'delivered', covers: { from: (await refund).covers?.to } })
    await balanced(who)
  })

  it('somebody renews in the moment in which the platform does', async () => {
    const who = await payer()
    const volume = await makeVolume(who)
    const first = await call(app, orders.pay, of(who, await orderVolume(who, volume, { auto_renew: true })))
    await app.platform.db.updateTable('prepaid_resources').set({ renew_at: app.clock.now() }).where('resource_id', '=', volume).execute()
    const thing: SoldResource = { id: volume, name: 'thing', bp_id: who.bp_id, usage: { 'volume.size/x': 10 * gib }, state: 'there', error: null }
    const sold = { call: volumes.create, make: async () => expect.fail('nothing is to be made'), find: async () => thing }
    const { renewals } = createOrders({ ...app.platform, kinds: () => new Map([['nextstack.volume', { sold }]]) }, { personOf: async () => null })
    // Their own order is written, and not committed yet.
    const theirs = randomUUID()
    const client = new pg.Client({ connectionString: app.databaseUrl })
    held.push(client)
    await client.connect()
    await client.query('begin')
    const same =
      'bp_id, resource_type, resource_id, resource_name, period, count, auto_renew, automatic, quote, usage, amount, expires_at, created_by, created_by_name, created_at'
    await client.query(`insert into bill_orders (id, kind, status, ${same}) select $1, 'renewal', 'unpaid', ${same} from bill_orders where id = $2`, [
      theirs,
      first.id,
    ])
    const ordered = renewals.orderRenewal(volume)
    await expect.poll(() => waitingForLocks(app), wait).toBe(1)
    await client.query('commit')
    expect(await ordered).toBeNull()
    // What is theirs to pay is not paid by the platform.
    expect(await renewals.orderRenewal(volume)).toBeNull()
    expect((await call(app, orders.list, { token: who.token, query: { status: 'unpaid' } })).items).toMatchObject([{ id: theirs, automatic: false }])
  })

  it('an account is looked at while somebody pays from it', async () => {
    const who = await payer()
    const ordered = await orderVm(who)
    const events = await hold('bill_order_events')
    const paid = call(app, orders.pay, of(who, ordered))
    await events.reached()
    await call(app, arrearsPolicies.setException, {
      token: admin.token,
      params: { id: who.bp_id ?? '' },
      body: { low_balance: '1000000', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true },
    })
    // Who pays asks next how the account stands: neither may wait for the other.
    await expect.poll(async () => (await call(app, standings.get, { token: admin.token, params: { id: who.bp_id ?? '' } })).state, wait).toBe('low')
    await events.letGo()
    expect((await paid).status).toBe('paid')
    await becomes(who, ordered, 'delivered')
  })
})

describe('time that is paid', () => {
  it('is added to by a renewal, and given back from its end by seconds', async () => {
    const who = await payer()
    const volume = await makeVolume(who)
    const first = await call(app, orders.pay, of(who, await orderVolume(who, volume)))
    const renewal = await call(app, orders.renew, { ...of(who, first), body: { period: 'month', count: 2 } })
    expect(renewal).toMatchObject({ kind: 'renewal', amount: '6.66666', status: 'unpaid' })
    const second = await call(app, orders.pay, of(who, renewal))
    expect(second.covers).toEqual({ from: first.covers?.to, to: endOf(new Date(first.covers?.to ?? 0), 'month', 2).toISOString() })
    expect(await refused(app, orders.refund, of(who, first))).toMatchObject({ code: 96023 })
    // What has not begun comes back whole.
    expect(await call(app, orders.refund, of(who, second))).toMatchObject({ status: 'refunded', refunded_amount: '6.66666' })
    const preview = await call(app, orders.refundPreview, of(who, first))
    const refund = await call(app, orders.refund, of(who, first))
    const total = (Date.parse(first.covers?.to ?? '') - Date.parse(first.covers?.from ?? '')) / 1000
    const unused = (Date.parse(first.covers?.to ?? '') - Date.parse(refund.covers?.to ?? '')) / 1000
    expect(preview).toMatchObject({ paid: '3.33333', total_seconds: total })
    expect(refund.refunded_amount).toBe(toDecimal((toMinor('3.33333') * BigInt(unused)) / BigInt(total)))
    // The second that had begun is used.
    app.clock.advance(1000)
    expect(await call(app, prepaids.get, of(who, { id: volume }))).toMatchObject({ ends_at: null, spans: [] })
    expect(await refused(app, orders.refund, of(who, first))).toMatchObject({ code: 90010 })
    expect((await walletOf(who)).funds).toBe(toDecimal(toMinor('1000') - toMinor('3.33333') + toMinor(refund.refunded_amount ?? '0')))
    await balanced(who)
  })

  it('is renewed by itself a day before its end, and tried again where the money is missing', async () => {
    const who = await payer('4')
    const volume = await makeVolume(who)
    const first = await call(app, orders.pay, of(who, await orderVolume(who, volume, { auto_renew: true })))
    expect(await call(app, prepaids.get, of(who, { id: volume }))).toMatchObject({
      auto_renew: true,
      period: 'month',
      count: 1,
      renews_at: new Date(Date.parse(first.covers?.to ?? '') - day).toISOString(),
    })
    app.clock.advance(Date.parse(first.covers?.to ?? '') - day + 1000 - app.clock.now().getTime())
    await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, orderClockJob, {}))
    const again = { ...who, ...(await signIn(app, who)) }
    admin = { ...admin, ...(await signIn(app, admin)) }
    const tried = await vi.waitFor(async () => {
      const { items } = await call(app, orders.list, { token: again.token, query: { status: 'unpaid', failed: 'true' } })
      return items[0] ?? expect.fail('nothing was tried')
    }, wait)
    expect(tried).toMatchObject({ kind: 'renewal', automatic: true, error: '余额不足，请充值', expires_at: first.covers?.to })
    expect(await call(app, prepaids.get, of(again, { id: volume }))).toMatchObject({ auto_renew: true, error: '余额不足，请充值' })
    await call(app, accounts.charge, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { amount: '100' } })
    app.clock.advance(3_600_000 + 1000)
    await app.platform.db.transaction().execute(async (tx) => {
      await app.platform.jobs.send(tx, orderClockJob, {})
      await app.platform.jobs.send(tx, orderClockJob, {})
    })
    const back = { ...who, ...(await signIn(app, who)) }
    const renewed = await becomes(back, tried, 'delivered')
    expect(renewed.covers?.from).toBe(first.covers?.to)
    expect(await call(app, prepaids.get, of(back, { id: volume }))).toMatchObject({
      auto_renew: true,
      error: null,
      ends_at: renewed.covers?.to,
      renews_at: new Date(Date.parse(renewed.covers?.to ?? '') - day).toISOString(),
    })
    const all = await call(app, orders.list, { token: back.token })
    expect(all.items.map(({ kind, status, error, created_at }) => ({ kind, status, error, created_at }))).toMatchObject([
      { kind: 'renewal', status: 'delivered' },
      { kind: 'conversion', status: 'delivered' },
    ])
    expect((await call(app, accounts.wallet, { token: back.token, params: { id: who.bp_id ?? '' } })).funds).toBe(
      toDecimal(toMinor('104') - 2n * toMinor('3.33333')),
    )
  })
})

describe('time that began on the 31st', () => {
  it('ends on the last day of short months and on the 31st of all others, paid by hand, by itself, or at once', async () => {
    const year = app.clock.now().getFullYear() + 1
    const beijing = (month: number, day: number): string => new Date(Date.UTC(year, month - 1, day, 2)).toISOString().slice(0, 10)
    const to = (moment: number): void => app.clock.advance(moment - app.clock.now().getTime())
    to(Date.UTC(year, 0, 31, 2))
    admin = { ...admin, ...(await signIn(app, admin)) }
    let who = await payer()
    const [one, both] = [await makeVolume(who), await makeVolume(who)]
    const ends = (order: OrderDetail): string | undefined => order.covers?.to.slice(0, 10)
    const first = await call(app, orders.pay, of(who, await orderVolume(who, one)))
    expect(ends(first)).toBe(beijing(3, 0))
    expect(ends(await call(app, orders.pay, of(who, await orderVolume(who, both, { count: 2 }))))).toBe(beijing(3, 31))
    const second = await call(app, orders.pay, of(who, await call(app, orders.renew, { ...of(who, first), body: { period: 'month' } })))
    expect(second.covers?.from).toBe(first.covers?.to)
    expect(ends(second)).toBe(beijing(3, 31))
    // Given back before it began, it is ordered anew as if it had never been.
    await call(app, orders.refund, of(who, second))
    const third = await call(app, orders.pay, of(who, await call(app, orders.renew, { ...of(who, first), body: { period: 'month', count: 2 } })))
    expect(ends(third)).toBe(beijing(4, 30))

    await call(app, prepaids.setAutoRenew, { ...of(who, { id: one }), body: { auto_renew: true } })
    const endsNow = async (): Promise<string | undefined> => (await call(app, prepaids.get, of(who, { id: one }))).ends_at?.slice(0, 10)
    const look = async (moment: number): Promise<void> => {
      to(moment)
      who = { ...who, ...(await signIn(app, who)) }
      await app.platform.db.transaction().execute((tx) => app.platform.jobs.send(tx, orderClockJob, {}))
    }
    await look(Date.UTC(year, 3, 29, 3))
    await vi.waitFor(async () => expect(await endsNow()).toBe(beijing(5, 31)), wait)
    // The last try of all is a moment after the end: nothing lies between.
    const { ends_at } = await call(app, prepaids.get, of(who, { id: one }))
    await app.platform.db
      .updateTable('prepaid_resources')
      .set({ renew_at: new Date(ends_at ?? 0) })
      .where('resource_id', '=', one)
      .execute()
    await look(Date.parse(ends_at ?? '') + 20_000)
    await vi.waitFor(async () => expect(await endsNow()).toBe(beijing(6, 30)), wait)
    expect((await call(app, prepaids.get, of(who, { id: one }))).spans).toMatchObject([{ from: ends_at }])

    // What is given back in the middle of a month has ended: what is ordered then begins on that day.
    to(Date.UTC(year, 5, 10, 2))
    who = { ...who, ...(await signIn(app, who)) }
    const [last] = (await call(app, orders.list, { token: who.token, query: { resource_id: one, status: 'delivered' } })).items
    await call(app, orders.refund, of(who, { id: last?.id ?? '' }))
    app.clock.advance(2000)
    expect(ends(await call(app, orders.pay, of(who, await orderVolume(who, one))))).toBe(beijing(7, 10))
    await balanced(who)
  })
})

describe('a delivery that is killed anywhere', () => {
  it('makes one thing, and spends the money once', async () => {
    // The clock went on.
    admin = { ...admin, ...(await signIn(app, admin)) }
    const { db, secrets, now, log } = app.platform
    const who = await payer()
    await app.platform.database.pool.query('create table made_things (id uuid primary key)')
    const thing = (id: string): SoldResource => ({ id, name: 'thing', bp_id: who.bp_id, usage: { 'volume.size/x': gib }, state: 'there', error: null })
    let kill = ''
    const dies = (point: string): void => {
      if (kill === point) throw new Error(`killed ${point}`)
    }
    const sold = {
      call: { ...volumes.create, body: z.object({ x: z.string() }) },
      make: async (
        _: Actor,
        __: unknown,
        recorded: (tx: Parameters<Parameters<ReturnType<typeof db.transaction>['execute']>[0]>[0], made: readonly SoldResource[]) => Promise<void>,
      ) => {
        await db.transaction().execute(async (tx) => {
          const id = randomUUID()
          await tx
            .insertInto('made_things' as never)
            .values({ id } as never)
            .execute()
          dies('making')
          await recorded(tx, [thing(id)])
          dies('made')
        })
        dies('after')
      },
      find: async (_: unknown, __: unknown, id: string) => thing(id),
    }
    const actor: Actor = {
      user_id: who.id,
      name: who.name,
      kind: 2,
      roles: [],
      built_in_roles: [],
      rules: unlimited,
      bp_id: who.bp_id,
      session_id: '',
      session_since: now(),
      authenticated_by: '',
      second_factor_at: null,
      must_change_password: false,
      access_key: null,
    }
    const service = createOrders(
      {
        db,
        now,
        secrets,
        log,
        operations: { ...app.platform.operations, begin: async () => randomUUID() },
        kinds: () => new Map([['nextstack.volume', { sold }]]),
      },
      { personOf: async () => actor },
    )
    const order = await service.create(
      actor,
      { resource_type: 'nextstack.volume', create: { x: 'y' }, period: 'month', count: 1, auto_renew: false } as never,
      {},
    )
    await expect(
      db.transaction().execute(async (tx) => {
        await ledger.topUp(tx, { owner_id: who.bp_id ?? '', amount: 1n, key: 'killed' })
        throw new Error('killed')
      }),
    ).rejects.toThrow('killed')
    await service.pay(actor, order.id)
    const context = { operation_id: randomUUID(), resource_id: order.id, input: {}, signal: new AbortController().signal, log }
    const { deliver } = service
    for (kill of ['making', 'made', 'after', '', 'again']) {
      for (const step of deliver.steps) {
        await step.run(context).catch((error: unknown) => {
          if (!(error instanceof Error && error.message === `killed ${kill}`)) throw error
        })
      }
      const { rows } = await app.platform.database.pool.query<{ count: number }>('select count(*)::int as count from made_things')
      expect(rows[0]?.count, kill).toBe(kill === 'making' || kill === 'made' ? 0 : 1)
    }
    expect(await walletOf(who)).toMatchObject({ held: order.amount })
    await expect(
      db.transaction().execute(async (tx) => {
        await deliver.ended(tx, context, null)
        throw new Error('killed')
      }),
    ).rejects.toThrow('killed')
    for (let times = 0; times < 2; times++) await db.transaction().execute((tx) => deliver.ended(tx, context, null))
    // Nor does a failure that comes too late take it back.
    await db.transaction().execute((tx) => deliver.ended(tx, context, new Refusal('unknown')))
    expect(await walletOf(who)).toMatchObject({ held: '0.00', funds: toDecimal(toMinor('1000') - toMinor(order.amount)) })
    expect(await service.get(actor, order.id)).toMatchObject({ status: 'delivered' })
    await balanced(who)
  })
})
