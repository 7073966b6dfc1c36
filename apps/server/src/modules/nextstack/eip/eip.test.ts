import { randomUUID } from 'node:crypto'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { priceLists } from '@zhisuan/contract/bill/catalogue'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eipPools, eips, type Eip } from '@zhisuan/contract/nextstack/eip'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import type { Nic } from '@zhisuan/engines/compute'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { makeOrganisation, someone } from '../../../testing/people.ts'
import { chargeUsage } from '../../bill/testing.ts'
import { networkStage, type NetworkStage } from '../vpc/testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string } | null, token = stage.owner.token) => ({ token, params: { id: one?.id ?? '' } })
const bind = (eip: { id: string }, kind: 'vm' | 'nat', target: { id: string } | null, token = stage.owner.token) =>
  call(stage.app, eips.bind, { ...params(eip, token), body: { kind, target_id: target?.id ?? '' } })
const refuseBind = (eip: { id: string }, kind: 'vm' | 'nat', target_id: string, token = stage.owner.token) =>
  refused(stage.app, eips.bind, { ...params(eip, token), body: { kind, target_id } })
const refuseAllocate = (body: object, token = stage.owner.token) => refused(stage.app, eips.allocate, { token, body })
/** What an instance's NIC was asked to be, in order. */
const nicsOf = (vm: { id: string }) =>
  stage.engine.asked.filter(({ method, args }) => method === 'instances.connect' && args[0] === stage.vmName(vm)).map(({ args }) => args[1] as Nic)

describe('allocating', () => {
  it('takes the lowest free addresses of a pool, named after themselves', async () => {
    const { app, owner, createPool, cloud_id } = stage
    const range = { from: '198.51.100.10', to: '198.51.100.20' }
    const pool = await createPool(1, { ranges: [range], excluded: ['198.51.100.11'], max_bandwidth_mbps: 100 })
    const { items } = await call(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id, count: 3, description: '网站' } })
    expect(items.map(({ address }) => address)).toEqual(['198.51.100.10', '198.51.100.12', '198.51.100.13'])
    expect(items[0]).toEqual({
      id: expect.any(String),
      name: '198.51.100.10',
      description: '网站',
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      cloud_id,
      error: null,
      operation_id: null,
      status: 'available',
      address: '198.51.100.10',
      pool: { id: pool.id, name: pool.name },
      // Where nothing is asked for, what the pool allows.
      bandwidth_mbps: 100,
      limits_bandwidth: true,
      bound_to: null,
    })
    await call(app, eips.release, params(items[1] ?? null))
    const again = await call(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id, name: '入口', count: 2, bandwidth_mbps: 5 } })
    expect(again.items.map(({ address, name, bandwidth_mbps }) => [address, name, bandwidth_mbps])).toEqual([
      ['198.51.100.12', '入口', 5],
      ['198.51.100.14', '入口', 5],
    ])
  })

  it('takes the address that is asked for, where it is free', async () => {
    const { app, owner, createPool } = stage
    const pool = await createPool(1, { ranges: [{ from: '198.51.100.30', to: '198.51.100.39' }], excluded: ['198.51.100.31'] })
    const wish = (address: string) => ({ pool_id: pool.id, address })
    const { items } = await call(app, eips.allocate, { token: owner.token, body: wish('198.51.100.35') })
    expect(items).toMatchObject([{ address: '198.51.100.35' }])
    for (const address of ['198.51.100.35', '198.51.100.31', '198.51.100.40', '10.0.0.1']) {
      expect(await refuseAllocate(wish(address))).toMatchObject({ status: 400, code: 94135, message: `地址${address}不可用`, fields: [{ field: 'address' }] })
    }
    const answers = await Promise.all([1, 2, 3].map(() => send(app, eips.allocate, { token: owner.token, body: wish('198.51.100.36') })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  })

  it.each([
    ['pool_id', { pool_id: 'x' }],
    ['count', { count: 0 }],
    ['count', { count: 21 }],
    ['count', { count: 2, address: '198.51.100.1' }],
    ['address', { address: '198.51.100' }],
    ['bandwidth_mbps', { bandwidth_mbps: 0 }],
    ['name', { name: 'a b' }],
  ])('refuses a wrong %s', async (field, wish) => {
    expect(await refuseAllocate({ pool_id: randomUUID(), ...wish })).toMatchObject({ code: 90001, fields: [{ field }] })
  })

  it('a hundred at once get a hundred different ones; as many as there are, and no more', async () => {
    const { app, owner, createPool } = stage
    const pool = await createPool(60)
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id } })))
    const given = answers.filter(({ status }) => status === 201).flatMap(({ body }) => (body as { items: Eip[] }).items.map(({ address }) => address))
    expect(given).toHaveLength(60)
    expect(new Set(given).size).toBe(60)
    expect(answers.filter(({ status }) => status !== 201).map(({ body }) => (body as { code: number }).code)).toEqual(Array(40).fill(94134))
    expect(await refuseAllocate({ pool_id: pool.id })).toMatchObject({ status: 400, code: 94134, fields: [{ field: 'pool_id' }] })
  })

  it('gives all that are asked for, or none', async () => {
    const { app, owner, createPool } = stage
    const pool = await createPool(3)
    expect((await refuseAllocate({ pool_id: pool.id, count: 4 })).code).toBe(94134)
    expect((await call(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id, count: 3 } })).items).toHaveLength(3)
  })

  it('is refused from pools that are not there, or for others', async () => {
    const { app, createPool, stranger, admin } = stage
    const pool = await createPool(4, { public: false, organisation_ids: [stranger.bp_id ?? ''] })
    for (const id of [pool.id, randomUUID()]) expect(await refuseAllocate({ pool_id: id })).toMatchObject({ status: 404, code: 90006 })
    for (const { token } of [stranger, admin]) expect((await send(app, eips.allocate, { token, body: { pool_id: pool.id } })).status).toBe(201)
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect((await refuseAllocate({ pool_id: pool.id }, nobody.token)).code).toBe(3000)
  })

  it('is refused above the pool’s bandwidth, the quota, and on a cloud in maintenance', async () => {
    const { app, admin, createPool } = stage
    const pool = await createPool(4, { max_bandwidth_mbps: 50 })
    expect(await refuseAllocate({ pool_id: pool.id, bandwidth_mbps: 51 })).toMatchObject({
      status: 400,
      code: 94139,
      message: '带宽不能超过地址池的上限50 Mbps',
      fields: [{ field: 'bandwidth_mbps' }],
    })
    const person = await someone(app)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { eips: 2 } } })
    expect((await refuseAllocate({ pool_id: pool.id, count: 3 }, person.token)).code).toBe(94030)
    expect((await send(app, eips.allocate, { token: person.token, body: { pool_id: pool.id, count: 2 } })).status).toBe(201)
    const { cloud_id } = await stage.addCloud()
    const other = await createPool(4, { cloud_id })
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'maintenance' } })
    expect((await refuseAllocate({ pool_id: other.id })).code).toBe(12005)
  })
})

describe('binding to an instance', () => {
  it('leads everything to it, with the bandwidth both ways; unbinding takes both away', async () => {
    const { app, createVpc, addVm, allocate, settledEip, onEngine } = stage
    const [vpc, eip] = [await createVpc(), await allocate({ bandwidth_mbps: 10 })]
    const vm = await addVm(vpc, { onEngine: true })
    expect(await bind(eip, 'vm', vm)).toMatchObject({
      status: 'binding',
      bound_to: { kind: 'vm', id: vm.id, name: vm.name, vpc: { id: vpc.id, name: vpc.name } },
      operation_id: expect.any(String),
    })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'bound', error: null, operation_id: null })
    expect((await onEngine(vpc)).forwards).toEqual([{ address: eip.address, description: '', target: vm.address, ports: [] }])
    expect(nicsOf(vm)).toEqual([
      { network: stage.engineName(vpc), address: vm.address, guarded: true, ingressBitsPerSecond: 10_000_000, egressBitsPerSecond: 10_000_000 },
    ])
    expect(await call(app, eips.unbind, params(eip))).toMatchObject({ status: 'unbinding' })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', bound_to: null })
    expect((await onEngine(vpc)).forwards).toEqual([])
    expect(nicsOf(vm).at(-1)).toMatchObject({ ingressBitsPerSecond: null, egressBitsPerSecond: null })
    expect(nicsOf(vm)).toHaveLength(2)
  })

  it('changes the limit while it leads there, and takes it off', async () => {
    const { app, createVpc, addVm, allocate, settledEip, settledVpc } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const vm = await addVm(vpc, { onEngine: true })
    await bind(eip, 'vm', vm)
    await settledEip(eip.id)
    expect(nicsOf(vm)).toEqual([])
    for (const bandwidth_mbps of [20, null]) {
      expect(await call(app, eips.update, { ...params(eip), body: { name: 'n', bandwidth_mbps } })).toMatchObject({ bandwidth_mbps, status: 'bound' })
      await settledVpc(vpc.id)
      expect(nicsOf(vm).at(-1)).toMatchObject({ egressBitsPerSecond: bandwidth_mbps === null ? null : bandwidth_mbps * 1_000_000 })
    }
    const before = nicsOf(vm).length
    await call(app, eips.update, { ...params(eip), body: { name: 'm' } })
    expect(await stage.getVpc(vpc.id)).toMatchObject({ status: 'active' })
    expect(nicsOf(vm)).toHaveLength(before)
  })

  it('stays where the host cannot limit, which it says', async () => {
    const { app, createVpc, addVm, allocate, settledEip, engine, settledVpc } = stage
    const [vpc, eip] = [await createVpc(), await allocate({ bandwidth_mbps: 10 })]
    const vm = await addVm(vpc, { onEngine: true })
    engine.fail('unsupported', { method: 'instances.connect' })
    await bind(eip, 'vm', vm)
    expect(await settledEip(eip.id)).toMatchObject({ status: 'bound', error: '该云平台的主机不支持限制带宽' })
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active', error: null })
    // What is not limited is not paid for, and whoever takes the next is told before.
    const usageOf = async (id: string) =>
      (await app.platform.database.pool.query<{ usage: object }>('select usage from usage_events where resource_id = $1 order by revision', [id])).rows.map(
        ({ usage }) => usage,
      )
    const poolOf = async () =>
      (await call(app, eipPools.list, { token: stage.owner.token, query: { page_size: 1000 } })).items.find(({ id }) => id === eip.pool.id)
    expect(await usageOf(eip.id)).toEqual([{ 'eip.address': 1, 'eip.bandwidth': 10 }, { 'eip.address': 1 }])
    expect(await poolOf()).toMatchObject({ limits_bandwidth: false })
    const next = await allocate({ bandwidth_mbps: 20 })
    expect(next.limits_bandwidth).toBe(false)
    expect(await usageOf(next.id)).toEqual([{ 'eip.address': 1 }])
    await call(app, eips.unbind, params(eip))
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', error: null, limits_bandwidth: false })
    // From when a host can, it is.
    engine.recover()
    await bind(next, 'vm', vm)
    expect(await settledEip(next.id)).toMatchObject({ status: 'bound', error: null, limits_bandwidth: true })
    expect(await usageOf(next.id)).toEqual([{ 'eip.address': 1 }, { 'eip.address': 1, 'eip.bandwidth': 20 }])
    expect(await poolOf()).toMatchObject({ limits_bandwidth: true })
  })

  it('is refused for what is not in a private network, of another cloud, or has one', async () => {
    const { createVpc, addVm, addPlainVm, allocate, settledEip, owner, app } = stage
    const [vpc, eip, other] = [await createVpc(), await allocate(), await allocate()]
    const vm = await addVm(vpc)
    expect(await refuseBind(eip, 'vm', (await addPlainVm()).id)).toMatchObject({ status: 400, code: 94138, fields: [{ field: 'target_id' }] })
    const elsewhere = await stage.addCloud()
    const far = await stage.createVpc({ cloud_id: elsewhere.cloud_id })
    expect((await refuseBind(eip, 'vm', (await addVm(far)).id)).code).toBe(94138)
    expect((await refuseBind(eip, 'nat', far.nat?.id ?? '')).code).toBe(94138)
    await bind(other, 'vm', vm)
    await settledEip(other.id)
    expect(await refuseBind(eip, 'vm', vm.id)).toMatchObject({
      status: 400,
      code: 94137,
      message: `该实例已绑定弹性公网 IP ${other.address}`,
      fields: [{ field: 'target_id' }],
    })
    expect(await refuseBind(other, 'vm', (await addVm(vpc)).id)).toMatchObject({ status: 409, code: 90010 })
    expect(await refused(app, eips.bind, { token: owner.token, params: { id: eip.id }, body: { kind: 'host', target_id: vm.id } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'kind' }],
    })
  })

  it('is refused for an instance that comes, goes or is lost', async () => {
    const { createVpc, addVm, allocate, inTx, members } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const leaving = await addVm(vpc)
    await inTx((tx) => members.leaving(tx, leaving.id))
    for (const vm of [leaving, await addVm(vpc, { status: 'creating' }), await addVm(vpc, { status: 'lost' })])
      expect(await refuseBind(eip, 'vm', vm.id)).toMatchObject({ status: 409, code: 90010 })
  })

  it('is refused for what another organisation has, which does not exist', async () => {
    const { createVpc, addVm, allocate, stranger, admin } = stage
    const eip = await allocate()
    const theirs = await createVpc({}, stranger.token)
    for (const token of [stage.owner.token, admin.token]) {
      expect(await refuseBind(eip, 'vm', (await addVm(theirs)).id, token)).toMatchObject({ status: 404, code: 90006 })
      expect(await refuseBind(eip, 'nat', theirs.nat?.id ?? '', token)).toMatchObject({ status: 404, code: 90006 })
      expect((await refuseBind(eip, 'vm', randomUUID(), token)).code).toBe(90006)
    }
    // Whoever runs the platform may do for an organisation what it may do itself.
    expect(await bind(eip, 'vm', await addVm(await createVpc()), admin.token)).toMatchObject({ status: 'binding' })
  })

  it('of ten addresses at once to one instance is one', async () => {
    const { app, owner, createVpc, addVm, allocate } = stage
    const vm = await addVm(await createVpc())
    const all = await Promise.all(Array.from({ length: 10 }, () => allocate()))
    const answers = await Promise.all(all.map(({ id }) => send(app, eips.bind, { token: owner.token, params: { id }, body: { kind: 'vm', target_id: vm.id } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(400)])
  })

  it('of one address at once to ten instances is to one', async () => {
    const { app, owner, createVpc, addVm, allocate, onEngine, settledEip, settledVpc } = stage
    const [one, other, eip] = [await createVpc(), await createVpc(), await allocate()]
    const vms = await Promise.all(Array.from({ length: 10 }, (_, index) => addVm(index % 2 === 0 ? one : other)))
    const answers = await Promise.all(
      vms.map(({ id }) => send(app, eips.bind, { token: owner.token, params: { id: eip.id }, body: { kind: 'vm', target_id: id } })),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect((await settledEip(eip.id)).status).toBe('bound')
    for (const vpc of [one, other]) await settledVpc(vpc.id)
    expect([...(await onEngine(one)).forwards, ...(await onEngine(other)).forwards]).toHaveLength(1)
  })
})

describe('binding to a gateway', () => {
  it('leads nowhere until a rule says so', async () => {
    const { app, createVpc, allocate, settledEip, onEngine } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    expect(await bind(eip, 'nat', vpc.nat)).toMatchObject({ status: 'binding', bound_to: { kind: 'nat', id: vpc.nat?.id } })
    expect((await settledEip(eip.id)).status).toBe('bound')
    expect((await onEngine(vpc)).forwards).toEqual([])
    await call(app, eips.unbind, params(eip))
    expect((await settledEip(eip.id)).status).toBe('available')
  })

  it('is not undone while rules are on it; as a way out it is replaced by the host’s', async () => {
    const { app, createVpc, allocate, settledEip, settledNat } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const { rules } = await call(app, natGateways.addRule, {
      ...params(vpc.nat),
      body: { eip_id: eip.id, protocol: 'tcp', outside_ports: '80', inside_address: vpc.gateway.replace(/1$/, '5') },
    })
    await call(app, natGateways.update, { ...params(vpc.nat), body: { name: 'n', snat: true, snat_eip_id: eip.id } })
    await settledEip(eip.id)
    expect(await refused(app, eips.unbind, params(eip))).toMatchObject({ status: 400, code: 94136 })
    await call(app, natGateways.removeRule, { token: stage.owner.token, params: { id: vpc.nat?.id ?? '', rule_id: rules[0]?.id ?? '' } })
    await call(app, eips.unbind, params(eip))
    await settledEip(eip.id)
    expect(await settledNat(vpc.nat?.id ?? '')).toMatchObject({ snat: true, snat_eip: null })
  })
})

describe('an address that the engine cannot lead there', () => {
  it('says so, and keeps no other from it; tried again it works', async () => {
    const { app, createVpc, addVm, allocate, settledEip, settledVpc, engine, onEngine } = stage
    const [vpc, taken, free] = [await createVpc(), await allocate(), await allocate()]
    // Somebody forwarded it by hand, to a network that is none of ours: of ours it would be taken back.
    const other = 'theirs'
    await engine.direct.networks.apply({
      name: other,
      description: '',
      ipv4: '192.168.251.1/24',
      nat: true,
      natAddress: null,
      dhcp: true,
      dnsDomain: null,
      acl: null,
      tags: {},
    })
    await engine.direct.networks.forwards.apply(other, { address: taken.address, description: '', target: null, ports: [] })
    const [one, two] = [await addVm(vpc), await addVm(vpc)]
    await bind(taken, 'vm', one)
    await bind(free, 'vm', two)
    expect(await settledEip(taken.id)).toMatchObject({ status: 'error', error: `地址${taken.address}不可用`, bound_to: { id: one.id } })
    expect(await settledEip(free.id)).toMatchObject({ status: 'bound', error: null })
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active' })
    await engine.direct.networks.delete(other)
    await call(app, vpcs.apply, params(vpc))
    expect(await settledEip(taken.id)).toMatchObject({ status: 'bound', error: null })
    expect((await onEngine(vpc)).forwards).toHaveLength(2)
  })

  it('can be unbound all the same', async () => {
    const { app, createVpc, addVm, allocate, settledEip, engine, settledVpc } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    engine.fail('failed', { method: 'networks.forwards.apply' })
    await bind(eip, 'vm', await addVm(vpc))
    expect(await settledEip(eip.id)).toMatchObject({ status: 'error', error: expect.stringContaining('云平台执行失败') })
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error' })
    engine.recover()
    await call(app, eips.unbind, params(eip))
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', error: null, bound_to: null })
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active' })
  })
})

describe('one address', () => {
  it('is given back when nothing leads to it, and not before', async () => {
    const { app, createVpc, addVm, allocate, settledEip, engine } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    await bind(eip, 'vm', await addVm(vpc))
    expect((await refused(app, eips.release, params(eip))).code).toBe(90010)
    await settledEip(eip.id)
    expect((await refused(app, eips.release, params(eip))).code).toBe(90010)
    const gate = engine.hold('networks.forwards.delete')
    await call(app, eips.unbind, params(eip))
    await gate.reached
    for (const declared of [eips.release, eips.unbind]) expect((await refused(app, declared, params(eip))).code).toBe(90010)
    expect((await refuseAllocate({ pool_id: eip.pool.id, address: eip.address })).code).toBe(94135)
    gate.open()
    await settledEip(eip.id)
    await call(app, eips.release, params(eip))
    expect((await refused(app, eips.get, params(eip))).code).toBe(90006)
    expect((await call(app, eips.allocate, { token: stage.stranger.token, body: { pool_id: eip.pool.id, address: eip.address } })).items).toHaveLength(1)
  })

  it('changes name, description and bandwidth, within what its pool allows', async () => {
    const { app, createPool, owner } = stage
    const pool = await createPool(2, { max_bandwidth_mbps: 30 })
    const [eip] = (await call(app, eips.allocate, { token: owner.token, body: { pool_id: pool.id } })).items
    const update = (body: { name: string; description?: string; bandwidth_mbps?: number | null }) => call(app, eips.update, { ...params(eip ?? null), body })
    expect(await update({ name: '新', description: '说明', bandwidth_mbps: 20 })).toMatchObject({
      name: '新',
      description: '说明',
      bandwidth_mbps: 20,
      status: 'available',
    })
    expect(await update({ name: '新', bandwidth_mbps: null })).toMatchObject({ bandwidth_mbps: 30 })
    expect(await refused(app, eips.update, { ...params(eip ?? null), body: { name: '新', bandwidth_mbps: 31 } })).toMatchObject({
      code: 94139,
      fields: [{ field: 'bandwidth_mbps' }],
    })
    expect(await refused(app, eips.update, { ...params(eip ?? null), body: { name: '' } })).toMatchObject({ code: 90001, fields: [{ field: 'name' }] })
  })

  it('gets no more bandwidth in arrears or while suspended, but less', async () => {
    const { app, createPool, admin } = stage
    const tenant = await someone(app)
    const whose = { id: tenant.bp_id ?? '' }
    const policy = { low_balance: '0', grace_hours: 1, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }
    await call(app, arrearsPolicies.setException, { token: admin.token, params: whose, body: policy })
    const pool = await createPool(1, { max_bandwidth_mbps: 30 })
    const [eip] = (await call(app, eips.allocate, { token: tenant.token, body: { pool_id: pool.id, bandwidth_mbps: 20 } })).items
    const update = { ...params(eip ?? null, tenant.token), body: { name: '新', bandwidth_mbps: 21 } }
    const comesTo = (state: string) =>
      expect.poll(async () => (await call(app, standings.get, { token: tenant.token, params: whose })).state, { interval: 30 }).toBe(state)
    await chargeUsage(app.platform.db, whose.id, '1')
    await comesTo('arrears')
    expect(await refused(app, eips.update, update)).toMatchObject({ code: 24011 })
    await call(app, arrearsPolicies.setException, { token: admin.token, params: whose, body: { ...policy, grace_hours: 0, refuse_new: false } })
    await comesTo('suspended')
    expect(await refused(app, eips.update, update)).toMatchObject({ code: 24018 })
    expect(await refused(app, eips.update, { ...update, body: { name: '新', bandwidth_mbps: null } })).toMatchObject({ code: 24018 })
    expect(await call(app, eips.update, { ...update, body: { name: '新', bandwidth_mbps: 20 } })).toMatchObject({ name: '新', bandwidth_mbps: 20 })
    expect(await call(app, eips.update, { ...update, body: { name: '新', bandwidth_mbps: 10 } })).toMatchObject({ bandwidth_mbps: 10 })
  })

  it('is unbound only where it is bound', async () => {
    expect((await refused(stage.app, eips.unbind, params(await stage.allocate()))).code).toBe(90010)
  })
})

describe('an address of another organisation does not exist', () => {
  const ofOne = allCalls.filter(({ id, path }) => id.startsWith('nextstack.eip.') && path.includes('{id}'))

  it.each(ofOne.map((declared) => [declared.id, declared] as const))('%s', async (_, declared) => {
    const { app, allocate, stranger, createVpc, addVm, settledEip } = stage
    const eip = await allocate()
    const bodies: Readonly<Record<string, object>> = {
      'nextstack.eip.update': { name: 'x' },
      'nextstack.eip.bind': { kind: 'vm', target_id: (await addVm(await createVpc())).id },
    }
    const sent = bodies[declared.id] === undefined ? {} : { body: bodies[declared.id] }
    if (declared.id === 'nextstack.eip.unbind') {
      await bind(eip, 'vm', await addVm(await createVpc()))
      await settledEip(eip.id)
    }
    expect(await refused(app, declared, { ...params(eip, stranger.token), ...sent })).toMatchObject({ status: 404, code: 90006 })
    for (const id of [randomUUID(), 'x']) expect(await refused(app, declared, { ...params({ id }), ...sent })).toMatchObject({ status: 404, code: 90006 })
    expect((await send(app, declared, { ...params(eip), ...sent })).status).toBe(declared.status)
  })

  it('covers the calls there are', () => {
    expect(ofOne).toHaveLength(5)
  })
})

describe('lists', () => {
  it('show the organisation’s, by cloud, pool, network, status and keyword', async () => {
    const { app, createPool, createVpc, addVm, settledEip } = stage
    const person = await someone(app, { organisation: await makeOrganisation(app) })
    const list = (query: object = {}, token = person.token) => call(app, eips.list, { token, query })
    const [pool, other] = [await createPool(1, { ranges: [{ from: '198.51.100.200', to: '198.51.100.210' }] }), await createPool(2)]
    const { items } = await call(app, eips.allocate, { token: person.token, body: { pool_id: pool.id, count: 10, name: '批量' } })
    await call(app, eips.allocate, { token: person.token, body: { pool_id: other.id } })
    const vpc = await createVpc({}, person.token)
    await bind(items[2] ?? { id: '' }, 'vm', await addVm(vpc), person.token)
    await settledEip(items[2]?.id ?? '', person.token)
    expect((await list()).total).toBe(11)
    // As numbers, not as text.
    expect((await list({ pool_id: pool.id, sort: 'address', page_size: 20 })).items.map(({ address }) => address)).toEqual(items.map(({ address }) => address))
    expect((await list({ keyword: '100.209' })).items.map(({ address }) => address)).toEqual(['198.51.100.209'])
    expect((await list({ keyword: '批量' })).total).toBe(10)
    expect((await list({ vpc_id: vpc.id })).items.map(({ id }) => id)).toEqual([items[2]?.id])
    expect((await list({ status: 'bound' })).items.map(({ id }) => id)).toEqual([items[2]?.id])
    expect((await list({ cloud_id: stage.cloud_id, status: 'available' })).total).toBe(10)
    expect((await list({ pool_id: pool.id }, stage.stranger.token)).total).toBe(0)
    expect((await list({ pool_id: pool.id }, stage.admin.token)).total).toBe(10)
  })
})

// Last: prices stay.
describe('an address where bandwidth has a price', () => {
  it('has a bandwidth, from whoever asks or from the pool, and keeps one', async () => {
    const { app, admin, owner, createPool, allocate } = stage
    const [open, limited, before] = [await createPool(4), await createPool(4, { max_bandwidth_mbps: 50 }), await allocate()]
    const row = { category: '网络', product: '弹性公网IP', sku: '公网带宽', meter: 'eip.bandwidth' as const, hour: '0.06' }
    await call(app, priceLists.import, { token: admin.token, body: { rows: [row] } })
    const refusal = { status: 400, code: 94143, message: '带宽按 Mbps 计费，须填写上限', fields: [{ field: 'bandwidth_mbps' }] }
    expect(await refuseAllocate({ pool_id: open.id })).toMatchObject(refusal)
    // Nobody takes the dearest by saying nothing.
    const { items } = await call(app, eips.allocate, { token: owner.token, body: { pool_id: limited.id } })
    expect(items).toMatchObject([{ bandwidth_mbps: 5 }])
    const narrow = await createPool(1, { max_bandwidth_mbps: 2 })
    expect((await call(app, eips.allocate, { token: owner.token, body: { pool_id: narrow.id } })).items).toMatchObject([{ bandwidth_mbps: 2 }])
    expect(await refused(app, eips.update, { ...params(items[0] ?? null), body: { name: 'n', bandwidth_mbps: null } })).toMatchObject(refusal)
    // What is not said stays as it is.
    expect(await call(app, eips.update, { ...params(items[0] ?? null), body: { name: 'named' } })).toMatchObject({ name: 'named', bandwidth_mbps: 5 })
    const eip = await allocate({ bandwidth_mbps: 10 })
    expect(await refused(app, eips.update, { ...params(eip), body: { name: 'n', bandwidth_mbps: null } })).toMatchObject(refusal)
    // What was not limited before stays so while nobody changes it.
    expect(await call(app, eips.update, { ...params(before), body: { name: 'n', bandwidth_mbps: null } })).toMatchObject({ name: 'n', bandwidth_mbps: null })
  })
})
