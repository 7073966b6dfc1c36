import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings, type StandingState } from '@zhisuan/contract/bill/arrears'
import { toMinor } from '@zhisuan/contract/bill/money'
import { notices } from '@zhisuan/contract/bill/notice'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, vms, type Vm, type VmStatus } from '@zhisuan/contract/nextstack/vm'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from '../../../platform/ids.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { openTestEngine, startTestEngine, type TestEngine } from '../../../testing/engine.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { ledger } from '../ledger/ledger.service.ts'
import { insertSpan } from '../rating/prepaid.store.ts'

let app: TestApp
/** Another server of the same platform. */
let second: TestApp
let admin: Person & SignedIn
let engine: TestEngine
let cloud_id: string
let flavor_id: string
let image_fingerprint: string
beforeAll(async () => {
  app = await testApp({}, { openEngine: openTestEngine })
  second = await testApp({ DATABASE_URL: app.databaseUrl }, { clock: app.clock, openEngine: openTestEngine })
  admin = await someone(app, { kind: 1 })
  engine = startTestEngine()
  cloud_id = (await call(app, clouds.create, { token: admin.token, body: { name: 'c', product: 'nextstack', connection: engine.connection } })).cloud_id
  flavor_id = (await call(app, flavors.list, { token: admin.token })).items[0]?.id ?? ''
  const { items } = await call(app, images.list, { token: admin.token, query: { cloud_id, type: 'container' } })
  image_fingerprint = items.find(({ name }) => name === 'busybox')?.fingerprint ?? ''
})
afterEach(() => engine.recover())
afterAll(async () => {
  await second.close()
  await app.close()
})

type Who = Person & SignedIn
const patience = { interval: 50 }
const policy = { low_balance: '0', grace_hours: 0, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
const runsDry = (who: Who, on = app) =>
  on.platform.db.transaction().execute((tx) => ledger.chargeUsage(tx, { owner_id: who.bp_id ?? '', amount: toMinor('1'), key: uuidv7() }))
const pays = (who: Who) => call(app, accounts.charge, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { amount: '1' } })
const standing = (who: Who) => call(app, standings.get, { token: who.token, params: { id: who.bp_id ?? '' } })
const comesTo = (who: Who, state: StandingState, phase: string | null) =>
  expect.poll(async () => ({ state: (await standing(who)).state, phase: (await standing(who)).suspension?.phase ?? null }), patience).toEqual({ state, phase })
const resources = async (who: Who) =>
  (await call(app, standings.resources, { token: who.token, params: { id: who.bp_id ?? '' }, query: { page_size: 100 } })).items
const stateOf = async (who: Who, vm: Pick<Vm, 'id'>) => (await resources(who)).find(({ id }) => id === vm.id)?.state ?? null
const of = (who: Who, vm: Pick<Vm, 'id'>) => ({ token: who.token, params: { id: vm.id } })
const is = (who: Who, vm: Pick<Vm, 'id'>, status: VmStatus) => expect.poll(async () => (await call(app, vms.get, of(who, vm))).status, patience).toBe(status)
const tenant = async (wish: Partial<typeof policy> = {}): Promise<Who> => {
  const who = await someone(app)
  await call(app, arrearsPolicies.setException, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { ...policy, ...wish } })
  return who
}
const bodyOf = (count = 1) => ({
  cloud_id,
  name: `vm-${randomUUID()}`,
  type: 'container' as const,
  image_fingerprint,
  flavor_id,
  network: 'sandbox0',
  password: 'Correct-horse-1',
  count,
})
const create = async (who: Who, count = 1): Promise<Vm[]> => {
  const { items } = await call(app, vms.create, { token: who.token, body: bodyOf(count) })
  for (const vm of items) await is(who, vm, 'running')
  return items
}
const one = async (who: Who): Promise<Vm> => (await create(who))[0] ?? expect.fail('nothing was made')
const stop = async (who: Who, vm: Vm): Promise<void> => {
  await call(app, vms.stop, { ...of(who, vm), body: {} })
  await is(who, vm, 'stopped')
}

describe('a suspension', () => {
  it('stops what runs, refuses what would run, and starts just what it stopped', async () => {
    const who = await tenant()
    const [runs, gone] = await create(who, 2)
    const stopped = await one(who)
    if (runs === undefined || gone === undefined) throw new Error('nothing was made')
    await stop(who, stopped)
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspended')
    for (const vm of [runs, gone]) {
      await is(who, vm, 'stopped')
      expect(await stateOf(who, vm)).toBe('stopped')
    }
    expect(await stateOf(who, stopped)).toBe(null)
    // As the platform, in the history of the instance.
    expect((await call(app, vms.operations, of(who, runs))).items[0]).toMatchObject({ kind: 'nextstack.vm.stop', status: 'succeeded', actor_name: '' })
    expect(await refused(app, vms.start, of(who, runs))).toMatchObject({ code: 24018 })
    expect(await refused(app, vms.create, { token: who.token, body: bodyOf() })).toMatchObject({ code: 24018 })
    // Nothing was made of it.
    expect((await call(app, vms.list, { token: who.token, query: { cloud_id } })).total).toBe(3)
    await call(app, vms.delete, of(who, gone))
    await pays(who)
    await is(who, runs, 'running')
    await comesTo(who, 'normal', null)
    await is(who, stopped, 'stopped')
    expect(await stateOf(who, runs)).toBe('started')
    expect(await stateOf(who, gone)).toBe('left')
  })

  it('leaves stopped what its policy does not start, and running what it does not stop', async () => {
    const [stays, waits] = [await tenant({ stop_vms: false }), await tenant({ resume: false })]
    const [runs, stands] = [await one(stays), await one(waits)]
    await runsDry(stays)
    await runsDry(waits)
    await comesTo(stays, 'suspended', 'suspended')
    await comesTo(waits, 'suspended', 'suspended')
    await is(stays, runs, 'running')
    await is(waits, stands, 'stopped')
    await pays(waits)
    await comesTo(waits, 'normal', null)
    await is(waits, stands, 'stopped')
    await call(app, vms.start, of(waits, stands))
    await is(waits, stands, 'running')
  })

  it('lets run what is paid in advance, until that ends', async () => {
    const who = await tenant()
    const [paid, hourly] = await create(who, 2)
    if (paid === undefined || hourly === undefined) throw new Error('nothing was made')
    const from = new Date(Math.floor(app.clock.now().getTime() / 1000) * 1000)
    const to = new Date(from.getTime() + 600_000)
    await app.platform.db.transaction().execute((tx) => insertSpan(tx, { order_id: randomUUID(), resource_id: paid.id, from, to, usage: { 'vm.vcpu': 1 } }))
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspended')
    await is(who, hourly, 'stopped')
    await is(who, paid, 'running')
    expect(await stateOf(who, paid)).toBe(null)
    app.clock.advance(660_000)
    await is(who, paid, 'stopped')
    await comesTo(who, 'suspended', 'suspended')
    await pays(who)
    for (const vm of [paid, hourly]) await is(who, vm, 'running')
  })

  it('ends where the credit limit is raised beyond what is owed', async () => {
    const who = await tenant()
    const vm = await one(who)
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspended')
    await call(app, accounts.setCreditLimit, { token: admin.token, params: { id: who.bp_id ?? '' }, body: { credit_limit: '5' } })
    await comesTo(who, 'normal', null)
    await is(who, vm, 'running')
    expect(await call(app, accounts.wallet, { token: who.token, params: { id: who.bp_id ?? '' } })).toMatchObject({
      arrears: '0.00',
      credit_used: '1.00',
      available: '4.00',
    })
  })

  it('that is paid in the middle starts again what was stopped, and does not begin with the rest', async () => {
    const who = await tenant()
    const all = await create(who, 3)
    const gate = engine.hold('instances.stop')
    await runsDry(who)
    await gate.reached
    await pays(who)
    await comesTo(who, 'normal', 'resuming')
    gate.open()
    await comesTo(who, 'normal', null)
    for (const vm of all) await is(who, vm, 'running')
    expect((await resources(who)).filter(({ state }) => state !== 'started')).toEqual([])
  })

  it('that begins again while it is taken back stops everything once more, and forgets nothing', async () => {
    const who = await tenant()
    const all = await create(who, 2)
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspended')
    const gate = engine.hold('instances.start')
    await pays(who)
    await gate.reached
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspending')
    gate.open()
    await comesTo(who, 'suspended', 'suspended')
    for (const vm of all) await is(who, vm, 'stopped')
    await pays(who)
    for (const vm of all) await is(who, vm, 'running')
    await comesTo(who, 'normal', null)
  })

  it('tries again what fails and says why, by cutting the power of who does not listen', async () => {
    const who = await tenant()
    const vm = await one(who)
    engine.fail('failed', { method: 'instances.stop', times: 1 })
    await runsDry(who)
    await expect.poll(async () => (await resources(who))[0], patience).toMatchObject({ state: 'stopping', error: expect.stringMatching(/\p{Script=Han}{4}/u) })
    expect((await standing(who)).suspension).toMatchObject({ phase: 'suspending', failing: 1 })
    app.clock.advance(11_000)
    await comesTo(who, 'suspended', 'suspended')
    await is(who, vm, 'stopped')
    expect(engine.asked.findLast(({ method }) => method === 'instances.stop')?.args[1]).toMatchObject({ force: true })
    engine.fail('failed', { method: 'instances.start', times: 1 })
    await pays(who)
    await expect.poll(async () => (await resources(who))[0], patience).toMatchObject({ state: 'starting', tries: 1, error: expect.any(String) })
    app.clock.advance(11_000)
    await is(who, vm, 'running')
    await comesTo(who, 'normal', null)
    expect((await resources(who))[0]).toMatchObject({ state: 'started', error: null })
  })

  it('leaves to people what they stopped while it was taken back', async () => {
    const who = await tenant()
    const vm = await one(who)
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspended')
    engine.fail('failed', { method: 'instances.start', times: 1 })
    await pays(who)
    await expect.poll(async () => (await resources(who))[0], patience).toMatchObject({ state: 'starting', error: expect.any(String) })
    // Somebody is faster than the next try, and has done with it.
    await call(app, vms.start, of(who, vm))
    await is(who, vm, 'running')
    await stop(who, vm)
    app.clock.advance(11_000)
    await comesTo(who, 'normal', null)
    await is(who, vm, 'stopped')
    expect(await stateOf(who, vm)).toBe('left')
  })

  it('waits for what is just being made, and stops it then', async () => {
    const who = await tenant()
    const gate = engine.hold('instances.create')
    const { items } = await call(app, vms.create, { token: who.token, body: bodyOf() })
    await gate.reached
    await runsDry(who)
    await comesTo(who, 'suspended', 'suspending')
    gate.open()
    await comesTo(who, 'suspended', 'suspended')
    for (const vm of items) await is(who, vm, 'stopped')
  })

  it('ends the same with two servers whose connections are cut off again and again', async () => {
    const who = await tenant()
    const all = await create(who, 4)
    const killer = new pg.Client({ connectionString: app.databaseUrl })
    await killer.connect()
    const cut = async (times: number): Promise<void> => {
      for (let done = 0; done < times;) {
        const { rowCount } = await killer.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'zhisuan' and (query ilike '%suspen%' or query ilike '%standing%' or query ilike '%operations%') limit 1`,
        )
        done += rowCount ?? 0
      }
    }
    const settles = async (state: StandingState, phase: string | null) =>
      expect
        .poll(
          async () =>
            standing(who)
              .then((now) => ({ state: now.state, phase: now.suspension?.phase ?? null }))
              .catch(() => null),
          patience,
        )
        .toEqual({ state, phase })
    await runsDry(who, second)
    await cut(3)
    await settles('suspended', 'suspended')
    for (const vm of all) await is(who, vm, 'stopped')
    await pays(who)
    await cut(3)
    await settles('normal', null)
    await killer.end()
    for (const vm of all) await is(who, vm, 'running')
    // Each was stopped and started once, and everything was told once.
    const { rows } = await app.platform.database.pool.query<{ times: number }>(
      `select count(*)::int as times from operations where bp_id = $1 and actor_id is null group by resource_id, kind`,
      [who.bp_id],
    )
    expect(rows.map(({ times }) => times)).toEqual(Array.from({ length: 8 }, () => 1))
    expect((await call(app, notices.list, { token: who.token })).items.map(({ kind }) => kind)).toEqual(['resumed', 'suspended'])
  })
})
