import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import type { EngineErrorKind } from '@zhisuan/engines/errors'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { retryDelays } from '../../../platform/operations.ts'
import { shortened, testApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { openTestEngine } from '../../../testing/engine.ts'
import { freshDatabase } from '../../../testing/database.ts'
import { networkStage, type NetworkStage } from './testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage(await testApp({}, { openEngine: openTestEngine, pause: shortened(retryDelays) }))
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string } | null, token = stage.owner.token) => ({ token, params: { id: one?.id ?? '' } })
const operationsOf = (vpc: Pick<Vpc, 'id'>) => stage.db.selectFrom('operations').selectAll().where('resource_id', '=', vpc.id).orderBy('id').execute()
const asked = (method: string, vpc: Pick<Vpc, 'id'>, engine = stage.engine) =>
  engine.asked.filter((one) => one.method === method && JSON.stringify(one.args[0]).includes(stage.engineName(vpc))).length
const inside = (vpc: Pick<Vpc, 'gateway'>, last: number): string => vpc.gateway.replace(/1$/, String(last))

describe('an engine that goes away and comes back', () => {
  it.each(['networks.acls.apply', 'networks.apply', 'networks.forwards.list'])('is asked again at %s, and the network is made', async (method) => {
    // One of its own: looks at other networks would meet the failures, too.
    const { engine, cloud_id } = await stage.addCloud()
    engine.fail('unreachable', { method, times: 2 })
    engine.fail('busy', { method, times: 2 })
    const vpc = await stage.createVpc({ cloud_id })
    expect(vpc).toMatchObject({ status: 'active', error: null })
    expect(await operationsOf(vpc)).toMatchObject([{ kind: 'nextstack.vpc.apply', status: 'succeeded' }])
    expect(asked(method, vpc, engine)).toBe(5)
  })
})

describe('an apply that fails', () => {
  it.each<[string, EngineErrorKind, string]>([
    ['networks.acls.apply', 'failed', '云平台执行失败'],
    ['networks.acls.apply', 'invalid', '云平台不接受该网络的安全组规则'],
    ['networks.apply', 'invalid', '云平台不接受该网络的设置'],
    ['networks.apply', 'unsupported', '不支持此操作'],
    ['networks.apply', 'unreachable', '无法连接云平台'],
    ['networks.forwards.list', 'unauthorized', '云平台拒绝了凭据'],
  ])('at %s (%s) says why; the next try makes it', async (method, kind, text) => {
    stage.engine.fail(kind, { method })
    const vpc = await stage.createVpc()
    expect(vpc).toMatchObject({ status: 'error', operation_id: null, error: expect.stringContaining(text) })
    expect(vpc.error).not.toMatch(/[A-Za-z{}]/)
    expect(await stage.getNat(vpc.nat?.id ?? '')).toMatchObject({ status: 'error', error: vpc.error })
    stage.engine.recover()
    await call(stage.app, vpcs.apply, params(vpc))
    expect(await stage.settledVpc(vpc.id)).toMatchObject({ status: 'active', error: null })
    expect((await stage.onEngine(vpc)).network).not.toBeNull()
  })

  it('because something on the host has the range by now names it', async () => {
    const { engine, beginVpc, settledVpc, range } = stage
    const cidr = range()
    const gate = engine.hold('networks.apply')
    const vpc = await beginVpc({ cidr })
    await gate.reached
    await engine.direct.networks.apply({
      name: 'foreign0',
      description: '',
      ipv4: cidr.replace('0/24', '129/25'),
      dhcp: true,
      dnsDomain: null,
      nat: false,
      natAddress: null,
      acl: null,
      tags: {},
    })
    gate.open()
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error', error: '网段与该云平台上的网络“foreign0”重叠' })
    await engine.direct.networks.delete('foreign0')
    await call(stage.app, vpcs.apply, params(vpc))
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active' })
  })

  it('is tried again by the next change', async () => {
    const { engine, createVpc, createGroup, settledVpc, onEngine } = stage
    const [vpc, group] = [await createVpc(), await createGroup({ template: 'ssh' })]
    engine.fail('failed', { method: 'networks.apply' })
    await call(stage.app, vpcs.update, { ...params(vpc), body: { name: `${vpc.name}-2` } })
    expect((await settledVpc(vpc.id)).status).toBe('error')
    engine.recover()
    await call(stage.app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [group.id] } })
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active', error: null })
    const { network, acl } = await onEngine(vpc)
    expect([network?.description, acl?.ingress.length]).toEqual([`${vpc.name}-2`, 1])
  })
})

describe('changes while an apply runs', () => {
  it('are all taken up by the next one, which begins when that ends', async () => {
    const { engine, createVpc, createGroup, settledVpc, onEngine, app } = stage
    const vpc = await createVpc()
    const groups = [await createGroup({ template: 'ssh' }), await createGroup({ template: 'web' }), await createGroup({ template: 'all' })]
    const gate = engine.hold('networks.forwards.list')
    await call(app, vpcs.apply, params(vpc))
    await gate.reached
    for (let count = 1; count <= groups.length; count++) {
      const body = { security_group_ids: groups.slice(0, count).map(({ id }) => id) }
      expect(await call(app, vpcs.setSecurityGroups, { ...params(vpc), body })).toMatchObject({ status: 'applying' })
    }
    gate.open()
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).acl?.ingress).toHaveLength(4)
    expect((await operationsOf(vpc)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  it('are taken up also where it fails', async () => {
    const { engine, createVpc, createGroup, settledVpc, onEngine, app } = stage
    const [vpc, group] = [await createVpc(), await createGroup({ template: 'ssh' })]
    // Which no look at the network asks for, that would take the failure upon itself.
    const gate = engine.hold('networks.apply')
    await call(app, vpcs.apply, params(vpc))
    await gate.reached
    await call(app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [group.id] } })
    engine.fail('failed', { method: 'networks.apply', times: 1 })
    gate.open()
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active', error: null })
    expect((await onEngine(vpc)).acl?.ingress).toHaveLength(1)
    expect((await operationsOf(vpc)).map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded'])
  })

  it('bind and unbind no address before they are applied themselves', async () => {
    const { engine, createVpc, addVm, allocate, getEip, settledEip, app, onEngine } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const vm = await addVm(vpc)
    // Past the step that leads addresses in.
    const gate = engine.hold('networks.forwards.list')
    await call(app, vpcs.apply, params(vpc))
    await gate.reached
    await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: vm.id } })
    const next = engine.hold('networks.acls.apply')
    gate.open()
    await next.reached
    expect(await getEip(eip.id)).toMatchObject({ status: 'binding' })
    next.open()
    expect((await settledEip(eip.id)).status).toBe('bound')
    expect((await onEngine(vpc)).forwards).toHaveLength(1)
  })

  it('a hundred at once end as the last of them says, in order', async () => {
    const { createVpc, settledVpc, onEngine, app } = stage
    const vpc = await createVpc()
    await Promise.all(Array.from({ length: 100 }, (_, index) => call(app, vpcs.update, { ...params(vpc), body: { name: `${vpc.name}-${index}` } })))
    const { name, status } = await settledVpc(vpc.id)
    expect([status, (await onEngine(vpc)).network?.description]).toEqual(['active', name])
    const row = await stage.db.selectFrom('vpcs').select(['wanted', 'applying', 'applied']).where('id', '=', vpc.id).executeTakeFirstOrThrow()
    expect(row).toEqual({ wanted: 101, applying: 101, applied: 101 })
  })
})

describe('a deletion that fails', () => {
  it('says why, and can be asked for again', async () => {
    const { engine, createVpc, settledVpc, goneVpc, allocate, settledEip, app } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    await call(app, natGateways.addRule, { ...params(vpc.nat), body: { eip_id: eip.id, protocol: 'tcp', outside_ports: '80', inside_address: inside(vpc, 5) } })
    await settledVpc(vpc.id)
    engine.fail('failed', { method: 'networks.delete', times: 1 })
    await call(app, vpcs.delete, params(vpc))
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error', error: expect.stringContaining('云平台执行失败') })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'error' })
    await call(app, vpcs.delete, params(vpc))
    await goneVpc(vpc.id)
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', error: null })
  })

  it('half way can be made whole again, but for its outside addresses', async () => {
    const { engine, createVpc, settledVpc, allocate, settledEip, onEngine, app } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    await call(app, natGateways.addRule, { ...params(vpc.nat), body: { eip_id: eip.id, protocol: 'tcp', outside_ports: '80', inside_address: inside(vpc, 5) } })
    await settledVpc(vpc.id)
    engine.fail('failed', { method: 'networks.acls.delete', times: 1 })
    await call(app, vpcs.delete, params(vpc))
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error' })
    expect((await onEngine(vpc)).network).toBeNull()
    await call(app, vpcs.apply, params(vpc))
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active', error: null })
    const { network, forwards } = await onEngine(vpc)
    expect([network?.nat, forwards]).toEqual([true, []])
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available' })
  })

  it('because somebody put an instance there by hand says so', async () => {
    const { engine, createVpc, settledVpc, goneVpc, engineName, app } = stage
    const vpc = await createVpc()
    const [image] = await engine.direct.images.list()
    const name = `by-hand-${vpc.id.slice(-6)}`
    await engine.direct.instances.create({
      name,
      type: image?.type ?? 'container',
      imageFingerprint: image?.fingerprint ?? '',
      cpuCores: 1,
      memoryBytes: 2 ** 28,
      diskBytes: 2 ** 30,
      network: engineName(vpc),
      tags: {},
    })
    await call(app, vpcs.delete, params(vpc))
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error', error: '网络中还有1台实例，请先删除或移出' })
    await engine.direct.instances.delete(name)
    await call(app, vpcs.delete, params(vpc))
    await goneVpc(vpc.id)
  })
})

describe('a server that stops in the middle', () => {
  it.each(['networks.acls.apply', 'networks.apply', 'networks.forwards.apply', 'instances.connect', 'networks.forwards.list', 'networks.forwards.delete'])(
    'of an apply at %s leaves it to the next, which ends it',
    async (method) => {
      const database = await freshDatabase()
      const overrides = { DATABASE_URL: database.url }
      const first = await networkStage(await testApp(overrides, { openEngine: openTestEngine, pause: shortened(retryDelays) }))
      const { engine, owner } = first
      const vpc = await first.createVpc()
      const [old, eip, vm] = [await first.allocate(), await first.allocate({ bandwidth_mbps: 10 }), await first.addVm(vpc, { onEngine: true })]
      const bind = (app: NetworkStage['app'], one: { id: string }) =>
        call(app, eips.bind, { ...params(one, owner.token), body: { kind: 'vm', target_id: vm.id } })
      await bind(first.app, old)
      await first.settledEip(old.id)
      await call(first.app, eips.unbind, params(old, owner.token))
      // The first two wait for each other: an instance has one address.
      if (method !== 'networks.forwards.delete') {
        await first.settledEip(old.id)
        const gate = engine.hold(method)
        await bind(first.app, eip)
        await gate.reached
        await first.app.close()
        gate.open()
      } else {
        const gate = engine.hold(method)
        await gate.reached
        await first.app.close()
        gate.open()
      }
      const app = await testApp(overrides, { openEngine: openTestEngine, pause: shortened(retryDelays) })
      const of = (one: { id: string }) => call(app, eips.get, params(one, owner.token))
      await vi.waitFor(async () => expect((await call(app, vpcs.get, params(vpc, owner.token))).status).toBe('active'), { interval: 20 })
      if (method === 'networks.forwards.delete') await bind(app, eip)
      await vi.waitFor(async () => expect((await of(eip)).status).toBe('bound'), { interval: 20 })
      expect((await of(old)).status).toBe('available')
      expect((await first.onEngine(vpc)).forwards).toMatchObject([{ address: eip.address, target: vm.address }])
      await app.close()
      await database.drop()
    },
  )
})

describe('a cloud that is removed by force', () => {
  it('takes the records of its networks along, also of what is under way', async () => {
    const { app, admin, owner, db } = stage
    const { engine, cloud_id } = await stage.addCloud()
    const vpc = await stage.createVpc({ cloud_id })
    const group = await stage.createGroup({ cloud_id })
    const pool = await stage.createPool(4, { cloud_id })
    const eip = await stage.allocate({ pool_id: pool.id })
    const vm = await stage.addVm(vpc, { groups: [group.id] })
    await call(app, natGateways.addRule, { ...params(vpc.nat), body: { eip_id: eip.id, protocol: 'tcp', outside_ports: '80', vm_id: vm.id } })
    await call(app, natGateways.update, { ...params(vpc.nat), body: { name: 'n', snat: true, snat_eip_id: eip.id } })
    const other = await stage.allocate({ pool_id: pool.id })
    await call(app, eips.bind, { ...params(other), body: { kind: 'vm', target_id: vm.id } })
    await stage.settledVpc(vpc.id)
    const gate = engine.hold('networks.apply')
    await call(app, vpcs.apply, params(vpc))
    await gate.reached
    expect((await send(app, clouds.delete, { token: admin.token, params: { id: cloud_id } })).status).toBe(400)
    expect((await send(app, clouds.delete, { token: admin.token, params: { id: cloud_id }, query: { force: true } })).status).toBe(204)
    gate.open()
    expect((await send(app, vpcs.get, { token: owner.token, params: { id: vpc.id } })).status).toBe(404)
    for (const table of ['vpcs', 'security_groups', 'nat_gateways', 'eips', 'eip_pools', 'vms'] as const) {
      expect(await db.selectFrom(table).select('id').where('cloud_id', '=', cloud_id).execute()).toEqual([])
    }
    await vi.waitFor(async () => expect((await operationsOf(vpc)).map(({ status }) => status)).not.toContain('running'))
    expect((await operationsOf(vpc)).at(-1)).toMatchObject({ status: 'failed', error: 'vpcMissing' })
  })
})
