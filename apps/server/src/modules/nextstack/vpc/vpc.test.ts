import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { quotas } from '@zhisuan/contract/nextstack/quota'
import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { networkStage, type NetworkStage } from './testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const body = (wish: object = {}) => ({ cloud_id: stage.cloud_id, name: `net-${randomUUID()}`, cidr: stage.range(), ...wish })
const refuse = (wish: object, token = stage.owner.token) => refused(stage.app, vpcs.create, { token, body: body(wish) })
const params = (vpc: Pick<Vpc, 'id'>, token = stage.owner.token) => ({ token, params: { id: vpc.id } })

describe('creating', () => {
  it('answers at once with the network as it is being made, and makes it', async () => {
    const { app, owner, cloud_id, settledVpc, onEngine } = stage
    const cidr = stage.range()
    const answer = await send(app, vpcs.create, { token: owner.token, body: { cloud_id, name: '生产', description: '主网', cidr, dns_domain: 'Corp.Example' } })
    expect(answer.status).toBe(202)
    const made = answer.body as Vpc
    expect(made).toEqual({
      id: expect.any(String),
      name: '生产',
      description: '主网',
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      cloud_id,
      error: null,
      operation_id: expect.any(String),
      status: 'applying',
      cidr,
      gateway: cidr.replace('0/24', '1'),
      dhcp: true,
      dns_domain: 'corp.example',
      address_count: 253,
      address_used: 0,
      security_groups: [],
      nat: { id: expect.any(String), name: '生产' },
      vm_count: 0,
    })
    expect(await settledVpc(made.id)).toMatchObject({ status: 'active', error: null, operation_id: null })
    const { network, acl, forwards } = await onEngine(made)
    // What a person typed does not become a name on the engine.
    expect(network).toMatchObject({
      name: expect.stringMatching(/^zs-[0-9a-f]{12}$/),
      description: '生产',
      ipv4: cidr.replace('0/24', '1/24'),
      nat: true,
      tags: { vpc_id: made.id },
    })
    expect(acl).toMatchObject({ ingress: [], egress: [], tags: { vpc_id: made.id } })
    expect(forwards).toEqual([])
  })

  it('makes no gateway where none is wished for', async () => {
    const vpc = await stage.createVpc({ snat: false })
    expect(vpc.nat).toBeNull()
    expect((await stage.onEngine(vpc)).network?.nat).toBe(false)
  })

  it.each([
    ['10.200.0.0/29', 5],
    ['10.201.0.0/16', 65_533],
  ])('counts what instances may have of %s', async (cidr, count) => {
    expect(await stage.createVpc({ cidr })).toMatchObject({ address_count: count, address_used: 0 })
  })

  it('of an administrator belongs to nobody; whoever is in no organisation makes none', async () => {
    const { admin, app } = stage
    expect(await stage.createVpc({}, admin.token)).toMatchObject({ bp_id: null, bp_name: null })
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await refuse({}, nobody.token)).toMatchObject({ status: 403, code: 3000 })
  })
})

describe('what is refused, before anything is changed', () => {
  it.each([
    ['cidr', { cidr: '10.1.0.0' }, '请输入网段'],
    ['cidr', { cidr: '10.1.0.5/24' }, '网络地址'],
    ['cidr', { cidr: '10.0.0.0/8' }, '16到29'],
    ['cidr', { cidr: '10.1.0.0/30' }, '16到29'],
    ['cidr', { cidr: '8.8.8.0/24' }, '私有网段'],
    ['cidr', { cidr: 7 }, ''],
    ['name', { name: 'a b' }, '只能包含'],
    ['name', { name: '' }, '请输入'],
    ['dns_domain', { dns_domain: 'a..b' }, '域名'],
    ['cloud_id', { cloud_id: 'x' }, ''],
  ])('%s: %j', async (field, wish, text) => {
    const { code, fields } = await refuse(wish)
    expect(code).toBe(90001)
    expect(fields).toEqual([{ field, message: expect.stringContaining(text) }])
  })

  it('a name that the organisation has on the cloud already; another’s may be the same', async () => {
    const { createVpc, stranger } = stage
    const { name } = await createVpc()
    expect(await refuse({ name })).toMatchObject({ status: 400, code: 94103, fields: [{ field: 'name', message: '网络名称已存在' }] })
    expect(await createVpc({ name }, stranger.token)).toMatchObject({ name })
  })

  it('a range that overlaps another, which is named where it may be seen', async () => {
    const { createVpc, owner, stranger, admin } = stage
    const { name, cidr } = await createVpc({ cidr: stage.range(20) })
    for (const part of [cidr, cidr.replace('/20', '/28'), cidr.replace('/20', '/16')]) {
      expect(await refuse({ cidr: part })).toMatchObject({ code: 94101, message: `网段与该云平台上的网络“${name}”重叠`, fields: [{ field: 'cidr' }] })
      expect(await refuse({ cidr: part }, admin.token)).toMatchObject({ code: 94101, message: expect.stringContaining(name) })
      const told = await refuse({ cidr: part }, stranger.token)
      expect(told).toMatchObject({ code: 94107, fields: [{ field: 'cidr' }] })
      expect(JSON.stringify(told)).not.toContain(name)
    }
    const elsewhere = await stage.addCloud()
    expect((await send(stage.app, vpcs.create, { token: owner.token, body: body({ cloud_id: elsewhere.cloud_id, cidr }) })).status).toBe(202)
  })

  it('a range that the host or an address pool has', async () => {
    expect(await refuse({ cidr: '10.99.4.0/24' })).toMatchObject({ code: 94101, message: expect.stringContaining('sandbox0') })
    await stage.createPool(1, { ranges: [{ from: '10.210.0.7', to: '10.210.0.9' }] })
    expect(await refuse({ cidr: '10.210.0.0/29' })).toMatchObject({ code: 94107, fields: [{ field: 'cidr' }] })
    expect((await stage.createVpc({ cidr: '10.210.0.16/29' })).status).toBe('active')
  })

  it('a project that the organisation does not have', async () => {
    expect(await refuse({ project_id: randomUUID() })).toMatchObject({ code: 94031, fields: [{ field: 'project_id' }] })
  })

  it('of ten who want overlapping ranges at once all but one', async () => {
    const cidr = stage.range()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        send(stage.app, vpcs.create, { token: stage.owner.token, body: body({ cidr: cidr.replace('/24', `/${20 + (index % 5)}`) }) }),
      ),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ status }) => status !== 202).map(({ body }) => (body as { code: number }).code)).toEqual(Array(9).fill(94101))
  })

  it('a cloud that is not there, in maintenance, or offline', async () => {
    const { app, admin } = stage
    expect(await refuse({ cloud_id: randomUUID() })).toMatchObject({ status: 404, code: 90006 })
    const { cloud_id } = await stage.addCloud()
    for (const [action, code] of [
      ['maintenance', 12005],
      ['offline', 12006],
    ] as const) {
      await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action } })
      expect(await refuse({ cloud_id })).toMatchObject({ status: 400, code })
    }
  })

  it('one more than the quota', async () => {
    const { app, admin } = stage
    const person = await someone(app)
    await call(app, quotas.set, { token: admin.token, params: { bp_id: person.bp_id ?? '' }, body: { limits: { vpcs: 1 } } })
    await stage.createVpc({}, person.token)
    expect(await refuse({}, person.token)).toMatchObject({ code: 94030, message: expect.stringContaining('最多1，已用1') })
    const { lines } = await call(app, quotas.mine, { token: person.token, query: {} })
    expect(lines.find(({ resource }) => resource === 'vpcs')).toMatchObject({ used: 1, limit: 1 })
  })

  it('an engine that does not answer', async () => {
    stage.engine.fail('unreachable', { method: 'networks.list' })
    expect(await refuse({})).toMatchObject({ status: 502, code: 93002 })
  })
})

describe('lists', () => {
  it('show what the organisation has, by cloud, status and keyword, in order and in pages', async () => {
    const { app } = stage
    const person = await someone(app)
    const list = (query: object = {}, token = person.token) => call(app, vpcs.list, { token, query })
    const names = ['b', 'a', 'c']
    const made: Vpc[] = []
    for (const name of names) made.push(await stage.createVpc({ name: `${name}-${person.bp_id?.slice(0, 8)}` }, person.token))
    expect((await list()).items.map(({ id }) => id)).toEqual(made.map(({ id }) => id).toReversed())
    expect((await list({ sort: 'name' })).items.map(({ name }) => name[0])).toEqual(['a', 'b', 'c'])
    expect(await list({ page_size: 2, page_num: 2, sort: 'name' })).toMatchObject({ total: 3, items: [{ name: expect.stringMatching(/^c/) }] })
    expect((await list({ keyword: made[1]?.cidr ?? '' })).items).toEqual([made[1]])
    expect((await list({ keyword: made[1]?.name.toUpperCase() })).total).toBe(1)
    expect((await list({ keyword: made[2]?.id })).total).toBe(1)
    expect((await list({ keyword: '%' })).total).toBe(0)
    expect((await list({ status: 'error' })).total).toBe(0)
    expect((await list({ status: 'active', cloud_id: stage.cloud_id })).total).toBe(3)
    expect((await list({ cloud_id: randomUUID() })).total).toBe(0)
    expect((await list({ bp_id: person.bp_id }, stage.admin.token)).total).toBe(3)
    expect((await list({ bp_id: person.bp_id }, stage.stranger.token)).total).toBe(0)
    const nobody = await someone(app, { kind: 4, organisation: null })
    expect(await list({}, nobody.token)).toEqual({ total: 0, items: [] })
    expect((await refused(app, vpcs.list, { token: person.token, query: { sort: 'cidr' } })).code).toBe(90001)
  })
})

describe('a network of another organisation does not exist', () => {
  const ofOne = allCalls.filter(({ id, path }) => id.startsWith('nextstack.vpc.') && path.includes('{id}'))
  const bodies: Readonly<Record<string, object>> = { 'nextstack.vpc.update': { name: 'x' }, 'nextstack.vpc.setSecurityGroups': { security_group_ids: [] } }

  it.each(ofOne.map((declared) => [declared.id, declared] as const))('%s', async (_, declared) => {
    const vpc = await stage.createVpc()
    const sent = declared.method === 'GET' || declared.method === 'DELETE' ? {} : { body: bodies[declared.id] ?? {} }
    const nobody = await someone(stage.app, { kind: 4, organisation: null })
    for (const { token } of [stage.stranger, nobody])
      expect(await refused(stage.app, declared, { ...params(vpc, token), ...sent })).toMatchObject({ status: 404, code: 90006 })
    for (const id of [randomUUID(), 'x']) expect(await refused(stage.app, declared, { ...params({ id }), ...sent })).toMatchObject({ status: 404, code: 90006 })
    expect(await stage.getVpc(vpc.id)).toMatchObject({ name: vpc.name, status: 'active' })
    // The same request by its owner finds it: so the refusals above were about whose it is.
    expect((await send(stage.app, declared, { ...params(vpc), ...sent })).status).toBe(declared.status)
  })

  it('covers the calls there are', () => {
    expect(ofOne).toHaveLength(7)
  })
})

describe('changing', () => {
  it('name and domain changes them on the engine; a description does not trouble it', async () => {
    const { app, settledVpc, createVpc, onEngine, engine } = stage
    const vpc = await createVpc()
    const before = engine.asked.length
    expect(await call(app, vpcs.update, { ...params(vpc), body: { name: vpc.name, description: '说明' } })).toMatchObject({
      description: '说明',
      status: 'active',
      operation_id: null,
    })
    expect(engine.asked.slice(before).filter(({ method }) => method.endsWith('apply'))).toEqual([])
    const name = `net-${randomUUID()}`
    expect(await call(app, vpcs.update, { ...params(vpc), body: { name, dns_domain: 'b.example' } })).toMatchObject({
      name,
      dns_domain: 'b.example',
      status: 'applying',
    })
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).network?.description).toBe(name)
  })

  it('to a name that is taken is refused', async () => {
    const [one, other] = [await stage.createVpc(), await stage.createVpc()]
    expect(await refused(stage.app, vpcs.update, { ...params(one), body: { name: other.name } })).toMatchObject({ code: 94103, fields: [{ field: 'name' }] })
  })

  it('once more applies what is wanted, and not while that is under way', async () => {
    const { app, createVpc, settledVpc, engine } = stage
    const vpc = await createVpc()
    const gate = engine.hold('networks.apply')
    expect(await call(app, vpcs.apply, params(vpc))).toMatchObject({ status: 'applying' })
    await gate.reached
    expect(await refused(app, vpcs.apply, params(vpc))).toMatchObject({ status: 409, code: 90010 })
    expect(await refused(app, vpcs.delete, params(vpc))).toMatchObject({ status: 409, code: 90010 })
    gate.open()
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active' })
  })

  it('is refused on a cloud in maintenance', async () => {
    const { app, admin, owner, settledVpc } = stage
    const { cloud_id } = await stage.addCloud()
    const vpc = await settledVpc((await call(app, vpcs.create, { token: owner.token, body: body({ cloud_id }) })).id)
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'maintenance' } })
    expect((await refused(app, vpcs.update, { ...params(vpc), body: { name: 'x' } })).code).toBe(12005)
    expect((await refused(app, vpcs.delete, params(vpc))).code).toBe(12005)
  })
})

describe('groups of the whole network', () => {
  const setGroups = (vpc: Vpc, ids: readonly string[], token = stage.owner.token) =>
    call(stage.app, vpcs.setSecurityGroups, { ...params(vpc, token), body: { security_group_ids: [...ids] } })

  it('guard its border, until they are taken away', async () => {
    const { createVpc, createGroup, settledVpc, onEngine, getGroup } = stage
    const vpc = await createVpc()
    const [ssh, web] = [await createGroup({ template: 'ssh' }), await createGroup({ template: 'web' })]
    await setGroups(vpc, [ssh.id, web.id, ssh.id])
    expect((await settledVpc(vpc.id)).security_groups.map(({ id }) => id).sort()).toEqual([ssh.id, web.id].sort())
    const { acl } = await onEngine(vpc)
    expect(acl?.ingress.map(({ destination, destinationPorts }) => [...destination, ...destinationPorts].join(' ')).sort()).toEqual([
      vpc.cidr,
      `${vpc.cidr} 22`,
      `${vpc.cidr} 80 443`,
    ])
    expect(await getGroup(ssh.id)).toMatchObject({ vpc_count: 1, vpcs: [{ id: vpc.id, name: vpc.name }] })
    await setGroups(vpc, [])
    expect((await settledVpc(vpc.id)).security_groups).toEqual([])
    expect((await onEngine(vpc)).acl?.ingress).toEqual([])
  })

  it('are the organisation’s, of the same cloud', async () => {
    const { createVpc, createGroup, stranger, app, admin } = stage
    const vpc = await createVpc()
    const elsewhere = await stage.addCloud()
    const unfit = [
      await createGroup({}, stranger.token),
      await createGroup({ cloud_id: elsewhere.cloud_id }),
      await createGroup({}, admin.token),
      { id: randomUUID() },
    ]
    for (const { id } of unfit) {
      for (const token of [stage.owner.token, admin.token]) {
        expect(await refused(app, vpcs.setSecurityGroups, { ...params(vpc, token), body: { security_group_ids: [id] } })).toMatchObject({
          status: 400,
          code: 94113,
          fields: [{ field: 'security_group_ids' }],
        })
      }
    }
    // Whoever runs the platform may give an organisation's group to its network.
    expect((await setGroups(vpc, [(await createGroup()).id], admin.token)).security_groups).toHaveLength(1)
  })
})

describe('deleting', () => {
  it('takes network, filter, gateway and forwards away; its outside addresses are free to bind', async () => {
    const { app, owner, createVpc, createGroup, allocate, settledEip, settledVpc, goneVpc, onEngine, db } = stage
    const vpc = await createVpc()
    const group = await createGroup()
    await call(app, vpcs.setSecurityGroups, { ...params(vpc), body: { security_group_ids: [group.id] } })
    const eip = await allocate()
    await call(app, natGateways.addRule, {
      ...params(vpc.nat ?? { id: '' }),
      body: { eip_id: eip.id, protocol: 'tcp', outside_ports: '80', inside_address: vpc.gateway.replace(/1$/, '9') },
    })
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).forwards).toHaveLength(1)
    expect(await call(app, vpcs.delete, params(vpc))).toMatchObject({ status: 'deleting', operation_id: expect.any(String) })
    await goneVpc(vpc.id)
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', bound_to: null })
    expect(await onEngine(vpc)).toEqual({ network: null, acl: null, forwards: [] })
    expect(await db.selectFrom('vpc_addresses').selectAll().where('vpc_id', '=', vpc.id).execute()).toEqual([])
    expect((await send(app, natGateways.get, { token: owner.token, params: { id: vpc.nat?.id ?? '' } })).status).toBe(404)
    expect(await stage.getGroup(group.id)).toMatchObject({ vpc_count: 0 })
    // Its range is free again.
    expect((await stage.createVpc({ cidr: vpc.cidr })).status).toBe('active')
    await call(app, eips.release, { token: owner.token, params: { id: eip.id } })
  })

  it('is refused while instances are in it, those that are leaving too', async () => {
    const { app, createVpc, addVm, inTx, members, deleteVmRow, goneVpc } = stage
    const vpc = await createVpc()
    const [one, other] = [await addVm(vpc), await addVm(vpc)]
    expect(await refused(app, vpcs.delete, params(vpc))).toMatchObject({ status: 400, code: 94102, message: '网络中还有2台实例，请先删除或移出' })
    await inTx((tx) => members.leaving(tx, one.id))
    expect((await refused(app, vpcs.delete, params(vpc))).code).toBe(94102)
    for (const { id } of [one, other]) {
      await inTx((tx) => members.gone(tx, id))
      await deleteVmRow(id)
    }
    await call(app, vpcs.delete, params(vpc))
    await goneVpc(vpc.id)
  })

  it('leaves alone what bears its name and is not ours', async () => {
    const { app, createVpc, engine, engineName, goneVpc } = stage
    const vpc = await createVpc()
    const { networks } = engine.direct
    const hold = engine.hold('networks.get')
    await call(app, vpcs.delete, params(vpc))
    await hold.reached
    await networks.delete(engineName(vpc))
    await networks.apply({
      name: engineName(vpc),
      description: '',
      ipv4: '10.240.0.1/24',
      dhcp: true,
      dnsDomain: null,
      nat: false,
      natAddress: null,
      acl: null,
      tags: { vpc_id: 'another' },
    })
    hold.open()
    await goneVpc(vpc.id)
    expect(await networks.get(engineName(vpc))).toMatchObject({ tags: { vpc_id: 'another' } })
    await networks.delete(engineName(vpc))
  })
})

describe('one network', () => {
  it('tells which addresses are given out, to which instances', async () => {
    const { app, createVpc, addVm } = stage
    const vpc = await createVpc()
    const vm = await addVm(vpc, { onEngine: true })
    const { total, items } = await call(app, vpcs.leases, params(vpc))
    expect(total).toBe(2)
    expect(items).toEqual([
      { address: vpc.gateway, mac: '', host_name: expect.any(String), kind: 'gateway', vm: null },
      { address: vm.address, mac: expect.any(String), host_name: stage.vmName(vm), kind: 'static', vm: { id: vm.id, name: vm.name } },
    ])
    expect(await stage.getVpc(vpc.id)).toMatchObject({ vm_count: 1, address_used: 1 })
  })

  it('has none given out before it is made', async () => {
    const { app, beginVpc, engine, settledVpc } = stage
    const gate = engine.hold('networks.acls.apply')
    const vpc = await beginVpc()
    expect(await call(app, vpcs.leases, params(vpc))).toEqual({ total: 0, items: [] })
    gate.open()
    await settledVpc(vpc.id)
  })

  it('is drawn with what is in it and how that is reached', async () => {
    const { app, createVpc, createGroup, addVm, allocate, settledVpc } = stage
    const vpc = await createVpc()
    const group = await createGroup({ template: 'ssh' })
    const [one, other] = [await addVm(vpc, { groups: [group.id] }), await addVm(vpc)]
    const [eip, entry] = [await allocate(), await allocate()]
    await settledVpc(vpc.id)
    await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: one.id } })
    await call(app, natGateways.addRule, {
      ...params(vpc.nat ?? { id: '' }),
      body: { eip_id: entry.id, protocol: 'udp', outside_ports: '53', vm_id: other.id, inside_ports: '5353' },
    })
    await call(app, natGateways.update, { ...params(vpc.nat ?? { id: '' }), body: { name: '出口', snat: true, snat_eip_id: entry.id } })
    await settledVpc(vpc.id)
    expect(await call(app, vpcs.topology, params(vpc))).toEqual({
      vpc: await stage.getVpc(vpc.id),
      vms: [
        { id: one.id, name: one.name, status: 'running', address: one.address, security_groups: [{ id: group.id, name: group.name }], eip: eip.address },
        { id: other.id, name: other.name, status: 'running', address: other.address, security_groups: [], eip: null },
      ],
      nat: {
        id: vpc.nat?.id,
        name: '出口',
        snat: true,
        snat_address: entry.address,
        rules: [{ id: expect.any(String), protocol: 'udp', outside: `${entry.address}:53`, inside: `${other.address}:5353` }],
      },
    })
  })
})
