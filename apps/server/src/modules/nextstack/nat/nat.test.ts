import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { natGateways, type NatGateway } from '@zhisuan/contract/nextstack/nat'
import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { networkStage, type NetworkStage } from '../vpc/testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string } | null, token = stage.owner.token) => ({ token, params: { id: one?.id ?? '' } })
const inside = (vpc: Pick<Vpc, 'gateway'>, last: number): string => vpc.gateway.replace(/1$/, String(last))
const addRule = (nat: { id: string } | null, body: object, token = stage.owner.token) =>
  send(stage.app, natGateways.addRule, { ...params(nat, token), body: { protocol: 'tcp', outside_ports: '80', ...body } })
const added = async (nat: { id: string } | null, body: object): Promise<NatGateway> => {
  const answer = await addRule(nat, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body as NatGateway
}
const refuseRule = (nat: { id: string } | null, body: object, token = stage.owner.token) =>
  refused(stage.app, natGateways.addRule, { ...params(nat, token), body: { protocol: 'tcp', outside_ports: '80', ...body } })

describe('creating', () => {
  it('lets a network out that could not', async () => {
    const { app, owner, createVpc, onEngine, settledNat, cloud_id } = stage
    const vpc = await createVpc({ snat: false })
    const made = await call(app, natGateways.create, { token: owner.token, body: { name: '出口', description: '说明', snat: true, vpc_id: vpc.id } })
    expect(made).toEqual({
      id: expect.any(String),
      name: '出口',
      description: '说明',
      bp_id: owner.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      created_by: owner.name,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      cloud_id,
      error: null,
      operation_id: expect.any(String),
      status: 'applying',
      vpc: { id: vpc.id, name: vpc.name },
      snat: true,
      snat_eip: null,
      rules: [],
    })
    expect(await settledNat(made.id)).toMatchObject({ status: 'active', operation_id: null })
    expect((await onEngine(vpc)).network?.nat).toBe(true)
    expect(await stage.getVpc(vpc.id)).toMatchObject({ nat: { id: made.id, name: '出口' } })
  })

  it('takes an outside address along that is free to bind', async () => {
    const { app, owner, createVpc, allocate, settledNat, settledEip, engine, engineName } = stage
    const [vpc, eip] = [await createVpc({ snat: false }), await allocate()]
    const { id } = await call(app, natGateways.create, { token: owner.token, body: { name: 'n', snat: true, snat_eip_id: eip.id, vpc_id: vpc.id } })
    expect(await settledNat(id)).toMatchObject({ snat_eip: { id: eip.id, address: eip.address } })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'bound', bound_to: { kind: 'nat', id, name: 'n', vpc: { id: vpc.id, name: vpc.name } } })
    expect(
      engine.asked.findLast(({ method, args }) => method === 'networks.apply' && (args[0] as { name: string }).name === engineName(vpc))?.args[0],
    ).toMatchObject({ nat: true, natAddress: eip.address })
  })

  it('is refused for a network that has one, is not there, or is another organisation’s', async () => {
    const { app, owner, stranger, createVpc } = stage
    const vpc = await createVpc()
    const create = (vpc_id: string, token = owner.token) => refused(app, natGateways.create, { token, body: { name: 'n', snat: true, vpc_id } })
    expect(await create(vpc.id)).toMatchObject({ status: 400, code: 94121, message: `该网络已有NAT 网关“${vpc.nat?.name}”`, fields: [{ field: 'vpc_id' }] })
    for (const answer of [await create(randomUUID()), await create(vpc.id, stranger.token)])
      expect(answer).toMatchObject({ status: 400, code: 94106, fields: [{ field: 'vpc_id' }] })
    expect((await create('x')).code).toBe(90001)
  })

  it('twice at once is once', async () => {
    const { app, owner, createVpc } = stage
    const vpc = await createVpc({ snat: false })
    const answers = await Promise.all(
      [1, 2, 3].map((number) => send(app, natGateways.create, { token: owner.token, body: { name: `n-${number}`, snat: true, vpc_id: vpc.id } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 400, 400])
  })

  it('is refused with an outside address that is another’s, bound, or elsewhere, and then nothing is made', async () => {
    const { app, owner, stranger, createVpc, allocate, settledEip, addVm, getVpc } = stage
    const vpc = await createVpc({ snat: false })
    const create = (snat_eip_id: string) =>
      refused(app, natGateways.create, { token: owner.token, body: { name: 'n', snat: true, snat_eip_id, vpc_id: vpc.id } })
    for (const id of [randomUUID(), (await allocate({}, stranger.token)).id]) expect(await create(id)).toMatchObject({ status: 404, code: 90006 })
    const bound = await allocate()
    await call(app, eips.bind, { ...params(bound), body: { kind: 'vm', target_id: (await addVm(vpc)).id } })
    await settledEip(bound.id)
    expect(await create(bound.id)).toMatchObject({ code: 94135, message: `地址${bound.address}不可用`, fields: [{ field: 'snat_eip_id' }] })
    expect(await getVpc(vpc.id)).toMatchObject({ nat: null, status: 'active' })
  })
})

describe('rules', () => {
  it('lead ports inside, to an instance or an address, and bind the address', async () => {
    const { createVpc, allocate, addVm, settledNat, settledEip, onEngine } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const vm = await addVm(vpc)
    expect(await added(vpc.nat, { eip_id: eip.id, outside_ports: '443', vm_id: vm.id, description: 'HTTPS' })).toMatchObject({
      status: 'applying',
      rules: [
        {
          id: expect.any(String),
          eip: { id: eip.id, address: eip.address },
          protocol: 'tcp',
          outside_ports: '443',
          inside_address: vm.address,
          inside_ports: '443',
          vm: { id: vm.id, name: vm.name },
          description: 'HTTPS',
        },
      ],
    })
    await added(vpc.nat, { eip_id: eip.id, protocol: 'udp', outside_ports: '5000-5009', inside_address: inside(vpc, 77), inside_ports: '6000-6009' })
    await added(vpc.nat, { eip_id: eip.id, outside_ports: '8000-8010', inside_address: vm.address, inside_ports: '80' })
    const { rules } = await settledNat(vpc.nat?.id ?? '')
    // Whoever has the address is named, also where the address was.
    expect(rules.map(({ vm: named }) => named?.id ?? null)).toEqual([vm.id, null, vm.id])
    expect(await settledEip(eip.id)).toMatchObject({ status: 'bound', bound_to: { kind: 'nat', id: vpc.nat?.id } })
    expect((await onEngine(vpc)).forwards).toEqual([
      {
        address: eip.address,
        description: '',
        target: null,
        ports: [
          { protocol: 'tcp', listenPorts: '443', targetAddress: vm.address, targetPorts: null, description: 'HTTPS' },
          { protocol: 'tcp', listenPorts: '8000-8010', targetAddress: vm.address, targetPorts: '80', description: '' },
          { protocol: 'udp', listenPorts: '5000-5009', targetAddress: inside(vpc, 77), targetPorts: '6000-6009', description: '' },
        ],
      },
    ])
  })

  it('are removed one by one; without any, nothing is forwarded', async () => {
    const { app, createVpc, allocate, settledNat, onEngine } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    await added(vpc.nat, { eip_id: eip.id, inside_address: inside(vpc, 5) })
    const { rules } = await added(vpc.nat, { eip_id: eip.id, outside_ports: '81', inside_address: inside(vpc, 5) })
    for (const left of [1, 0]) {
      const answer = await call(app, natGateways.removeRule, { token: stage.owner.token, params: { id: vpc.nat?.id ?? '', rule_id: rules[left]?.id ?? '' } })
      expect(answer.rules).toHaveLength(left)
      await settledNat(answer.id)
      expect((await onEngine(vpc)).forwards.flatMap(({ ports }) => ports)).toHaveLength(left)
    }
    expect((await onEngine(vpc)).forwards).toEqual([])
    expect(
      (await refused(app, natGateways.removeRule, { token: stage.owner.token, params: { id: vpc.nat?.id ?? '', rule_id: rules[0]?.id ?? '' } })).code,
    ).toBe(90006)
  })

  it.each([
    ['vm_id', {}],
    ['vm_id', { vm_id: randomUUID(), inside_address: '10.1.0.5' }],
    ['inside_address', { inside_address: '10.1.0' }],
    ['outside_ports', { outside_ports: '0', inside_address: '10.1.0.5' }],
    ['outside_ports', { outside_ports: '9-8', inside_address: '10.1.0.5' }],
    ['outside_ports', { outside_ports: '1000-3000', inside_address: '10.1.0.5' }],
    ['inside_ports', { inside_ports: 'x', inside_address: '10.1.0.5' }],
    ['protocol', { protocol: 'icmp', inside_address: '10.1.0.5' }],
    ['eip_id', { eip_id: 'x', inside_address: '10.1.0.5' }],
  ])('are refused for a wrong %s', async (field, wish) => {
    const vpc = await stage.createVpc()
    expect(await refuseRule(vpc.nat, { eip_id: randomUUID(), ...wish })).toMatchObject({ code: 90001, fields: [{ field }] })
  })

  it('are refused for ports that are led elsewhere, in part too, of the same protocol', async () => {
    const { createVpc, allocate } = stage
    const [vpc, eip, other] = [await createVpc(), await allocate(), await allocate()]
    const to = { eip_id: eip.id, inside_address: inside(vpc, 5) }
    await added(vpc.nat, { ...to, outside_ports: '8000-8010' })
    for (const outside_ports of ['8000', '8005-8006', '8010-8020', '7999-8000', '08010']) {
      expect(await refuseRule(vpc.nat, { ...to, outside_ports })).toMatchObject({ status: 400, code: 94122, fields: [{ field: 'outside_ports' }] })
    }
    await added(vpc.nat, { ...to, outside_ports: '8011' })
    await added(vpc.nat, { ...to, outside_ports: '8000', protocol: 'udp' })
    await added(vpc.nat, { ...to, outside_ports: '8000', eip_id: other.id })
  })

  it('of ten who want one port at once are one', async () => {
    const { createVpc, allocate, settledNat } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => addRule(vpc.nat, { eip_id: eip.id, outside_ports: `${75 + index}-85`, inside_address: inside(vpc, 5) })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(400)])
    expect((await settledNat(vpc.nat?.id ?? '')).rules).toHaveLength(1)
  })

  it('are refused for as many ports inside as there are not outside', async () => {
    const { createVpc, allocate } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const to = { eip_id: eip.id, inside_address: inside(vpc, 5) }
    for (const [outside_ports, inside_ports] of [
      ['80-89', '80-88'],
      ['80', '80-81'],
    ]) {
      expect(await refuseRule(vpc.nat, { ...to, outside_ports, inside_ports })).toMatchObject({ status: 400, code: 94124, fields: [{ field: 'inside_ports' }] })
    }
  })

  it('are refused for a target that is not in the network', async () => {
    const { createVpc, allocate, addVm, addPlainVm, stranger, inTx, members } = stage
    const [vpc, elsewhere, eip] = [await createVpc(), await createVpc(), await allocate()]
    const leaving = await addVm(vpc)
    await inTx((tx) => members.leaving(tx, leaving.id))
    const theirs = await addVm(await createVpc({}, stranger.token))
    for (const { id } of [await addVm(elsewhere), await addPlainVm(), theirs, leaving, { id: randomUUID() }]) {
      expect(await refuseRule(vpc.nat, { eip_id: eip.id, vm_id: id })).toMatchObject({ status: 400, code: 94123, fields: [{ field: 'vm_id' }] })
    }
    for (const address of [elsewhere.gateway, vpc.gateway, inside(vpc, 0), inside(vpc, 255)]) {
      expect(await refuseRule(vpc.nat, { eip_id: eip.id, inside_address: address })).toMatchObject({
        status: 400,
        code: 94123,
        fields: [{ field: 'inside_address' }],
      })
    }
    expect(await stage.getEip(eip.id)).toMatchObject({ status: 'available' })
  })

  it('are refused with an address that is another’s, or bound elsewhere', async () => {
    const { createVpc, allocate, stranger } = stage
    const [vpc, other, eip] = [await createVpc(), await createVpc(), await allocate()]
    const to = { inside_address: inside(vpc, 5) }
    for (const id of [randomUUID(), (await allocate({}, stranger.token)).id])
      expect(await refuseRule(vpc.nat, { ...to, eip_id: id })).toMatchObject({ status: 404, code: 90006 })
    await added(other.nat, { eip_id: eip.id, inside_address: inside(other, 5) })
    expect(await refuseRule(vpc.nat, { ...to, eip_id: eip.id })).toMatchObject({ code: 94135, fields: [{ field: 'eip_id' }] })
  })

  it('go with the instance that they named', async () => {
    const { createVpc, allocate, addVm, inTx, members, deleteVmRow, settledVpc, settledNat, onEngine } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const vm = await addVm(vpc)
    await added(vpc.nat, { eip_id: eip.id, vm_id: vm.id })
    await added(vpc.nat, { eip_id: eip.id, outside_ports: '81', inside_address: vm.address })
    await settledVpc(vpc.id)
    await inTx((tx) => members.leaving(tx, vm.id))
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).forwards.flatMap(({ ports }) => ports.map(({ listenPorts }) => listenPorts))).toEqual(['81'])
    await inTx((tx) => members.gone(tx, vm.id))
    await deleteVmRow(vm.id)
    expect((await settledNat(vpc.nat?.id ?? '')).rules.map(({ outside_ports, vm: named }) => [outside_ports, named])).toEqual([['81', null]])
  })
})

describe('changing', () => {
  it('how instances get out', async () => {
    const { app, createVpc, allocate, settledNat, onEngine, settledEip } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const update = (body: { name: string; snat: boolean; snat_eip_id?: string | null }) => call(app, natGateways.update, { ...params(vpc.nat), body })
    expect(await update({ name: '新名', snat: true })).toMatchObject({ name: '新名', status: 'active' })
    expect(await update({ name: '新名', snat: true, snat_eip_id: eip.id })).toMatchObject({ status: 'applying', snat_eip: { address: eip.address } })
    await settledNat(vpc.nat?.id ?? '')
    expect(await settledEip(eip.id)).toMatchObject({ status: 'bound' })
    expect(await update({ name: '新名', snat: false })).toMatchObject({ status: 'applying', snat: false, snat_eip: null })
    await settledNat(vpc.nat?.id ?? '')
    expect((await onEngine(vpc)).network?.nat).toBe(false)
    // It stays the gateway's until it is unbound.
    await call(app, eips.unbind, params(eip))
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available' })
  })

  it('is refused on a cloud in maintenance', async () => {
    const { app, admin, owner, settledVpc } = stage
    const { cloud_id } = await stage.addCloud()
    const vpc = await settledVpc((await call(app, vpcs.create, { token: owner.token, body: { cloud_id, name: 'x', cidr: '10.1.0.0/24' } })).id)
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'maintenance' } })
    expect((await refused(app, natGateways.update, { ...params(vpc.nat), body: { name: 'x', snat: false } })).code).toBe(12005)
    expect((await refused(app, natGateways.delete, params(vpc.nat))).code).toBe(12005)
  })
})

describe('deleting', () => {
  it('takes its rules along; its addresses become free to bind, and not before nothing leads there', async () => {
    const { app, createVpc, allocate, settledVpc, settledEip, onEngine, engine, getEip } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    await added(vpc.nat, { eip_id: eip.id, inside_address: inside(vpc, 5) })
    await settledVpc(vpc.id)
    const gate = engine.hold('networks.forwards.delete')
    expect(await call(app, natGateways.delete, params(vpc.nat))).toMatchObject({ status: 'deleting' })
    await gate.reached
    expect(await getEip(eip.id)).toMatchObject({ status: 'unbinding' })
    expect((await refused(app, eips.release, params(eip))).code).toBe(90010)
    for (const declared of [natGateways.delete, natGateways.update])
      expect((await refused(app, declared, { ...params(vpc.nat), ...(declared === natGateways.update && { body: { name: 'x', snat: true } }) })).code).toBe(
        90010,
      )
    gate.open()
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', bound_to: null })
    expect((await refused(app, natGateways.get, params(vpc.nat))).code).toBe(90006)
    const { network, forwards } = await onEngine(vpc)
    expect([network?.nat, forwards]).toEqual([false, []])
    expect(await stage.getVpc(vpc.id)).toMatchObject({ nat: null, status: 'active' })
  })
})

describe('a gateway of another organisation does not exist', () => {
  const ofOne = allCalls.filter(({ id, path }) => id.startsWith('nextstack.nat.') && path.includes('{id}'))

  it.each(ofOne.map((declared) => [declared.id, declared] as const))('%s', async (_, declared) => {
    const { app, createVpc, allocate, stranger, owner } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    const { rules } = await added(vpc.nat, { eip_id: eip.id, inside_address: inside(vpc, 5) })
    const bodies: Readonly<Record<string, object>> = {
      'nextstack.nat.update': { name: 'x', snat: false },
      'nextstack.nat.addRule': { eip_id: eip.id, protocol: 'tcp', outside_ports: '90', inside_address: inside(vpc, 5) },
    }
    const sent = bodies[declared.id] === undefined ? {} : { body: bodies[declared.id] }
    const at = (id: string) => ({ id, rule_id: rules[0]?.id ?? '' })
    expect(await refused(app, declared, { token: stranger.token, params: at(vpc.nat?.id ?? ''), ...sent })).toMatchObject({ status: 404, code: 90006 })
    for (const id of [randomUUID(), 'x'])
      expect(await refused(app, declared, { token: owner.token, params: at(id), ...sent })).toMatchObject({ status: 404, code: 90006 })
    expect((await send(app, declared, { token: owner.token, params: at(vpc.nat?.id ?? ''), ...sent })).status).toBe(declared.status)
  })

  it('covers the calls there are', () => {
    expect(ofOne).toHaveLength(5)
  })
})

describe('lists', () => {
  it('show the organisation’s, by cloud, network and keyword', async () => {
    const { app, createVpc } = stage
    const person = await someone(app)
    const list = (query: object = {}, token = person.token) => call(app, natGateways.list, { token, query })
    const [one, other] = [await createVpc({ name: 'b-net' }, person.token), await createVpc({ name: 'a-net' }, person.token)]
    expect((await list()).items.map(({ vpc }) => vpc.id)).toEqual([other.id, one.id])
    expect((await list({ sort: '-name' })).items.map(({ name }) => name)).toEqual(['b-net', 'a-net'])
    expect((await list({ vpc_id: one.id })).items.map(({ id }) => id)).toEqual([one.nat?.id])
    expect((await list({ keyword: 'A-NE' })).total).toBe(1)
    expect((await list({ cloud_id: stage.cloud_id })).total).toBe(2)
    expect((await list({ vpc_id: one.id }, stage.stranger.token)).total).toBe(0)
  })
})
