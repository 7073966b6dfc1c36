import { randomUUID } from 'node:crypto'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { isEngineError } from '@zhisuan/engines/errors'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { retryDelays } from '../../../platform/operations.ts'
import { shortened, testApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { openTestEngine } from '../../../testing/engine.ts'
import { networkStage, type NetworkStage } from './testing.ts'
import { lookEveryMs } from './vpc.members.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage(await testApp({}, { openEngine: openTestEngine, pause: shortened([lookEveryMs, ...retryDelays]) }))
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string }) => ({ token: stage.owner.token, params: { id: one.id } })
const nth = (vpc: Pick<Vpc, 'gateway'>, last: number): string => vpc.gateway.replace(/1$/, String(last))
const refusal = async (attempt: Promise<unknown>): Promise<Pick<Refusal, 'refusal' | 'message' | 'fields'>> => {
  const error = await attempt.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof Refusal)) throw new Error('it was not refused', { cause: error })
  return error
}
const gone = async (vm: { id: string }) => {
  await stage.inTx((tx) => stage.members.gone(tx, vm.id))
  await stage.deleteVmRow(vm.id)
}
const leaving = (vm: { id: string }) => stage.inTx((tx) => stage.members.leaving(tx, vm.id))

describe('joining', () => {
  it('takes the lowest free address, or the one wished for', async () => {
    const vpc = await stage.createVpc()
    const first = await stage.addVm(vpc)
    expect(first).toMatchObject({ network: stage.engineName(vpc), address: nth(vpc, 2), guarded: true })
    expect((await stage.addVm(vpc, { address: nth(vpc, 4) })).address).toBe(nth(vpc, 4))
    expect((await stage.addVm(vpc)).address).toBe(nth(vpc, 3))
    expect((await stage.addVm(vpc)).address).toBe(nth(vpc, 5))
    await gone(first)
    expect((await stage.addVm(vpc)).address).toBe(nth(vpc, 2))
    expect(await stage.getVpc(vpc.id)).toMatchObject({ vm_count: 4, address_used: 4 })
  })

  it('is refused with an address that is taken, outside, the gateway’s, or none at all', async () => {
    const vpc = await stage.createVpc()
    await stage.addVm(vpc)
    for (const address of [nth(vpc, 2), vpc.gateway, nth(vpc, 0), nth(vpc, 255), '10.255.0.5', 'x']) {
      expect(await refusal(stage.addVm(vpc, { address }))).toMatchObject({
        refusal: 'vpcAddressTaken',
        message: `地址${address}已被占用，或不在该网络中`,
        fields: [{ field: 'address' }],
      })
    }
  })

  it('is refused once all addresses are given, and then leaves nothing behind', async () => {
    const vpc = await stage.createVpc({ cidr: stage.range(29) })
    const vms = []
    for (let count = 0; count < 5; count++) vms.push(await stage.addVm(vpc))
    expect(await refusal(stage.addVm(vpc))).toMatchObject({
      refusal: 'vpcAddressesExhausted',
      message: `网络“${vpc.name}”的地址已用完`,
      fields: [{ field: 'vpc_id' }],
    })
    expect(await stage.getVpc(vpc.id)).toMatchObject({ vm_count: 5, address_count: 5 })
    await gone(vms[2] ?? { id: '' })
    expect((await stage.addVm(vpc)).address).toBe(vms[2]?.address)
  })

  it('of fifty at once gives fifty different addresses', async () => {
    const vpc = await stage.createVpc()
    const joined = await Promise.all(Array.from({ length: 50 }, () => stage.addVm(vpc)))
    expect(joined.map(({ address }) => Number(address.split('.')[3])).sort((left, right) => left - right)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 2),
    )
  })

  it('is refused for a network that is not there, another’s, of another cloud, or takes nobody now', async () => {
    const { stranger, createVpc, addCloud, engine } = stage
    const [vpc, theirs] = [await createVpc(), await createVpc({}, stranger.token)]
    const far = await createVpc({ cloud_id: (await addCloud()).cloud_id })
    for (const other of [theirs, far, { id: randomUUID() }]) {
      expect(await refusal(stage.addVm({ ...vpc, id: other.id }))).toMatchObject({ refusal: 'vpcMissing', fields: [{ field: 'vpc_id' }] })
    }
    const gate = engine.hold('networks.delete')
    await call(stage.app, vpcs.delete, params(vpc))
    await gate.reached
    expect(await refusal(stage.addVm(vpc))).toMatchObject({ refusal: 'stateForbids', fields: [{ field: 'vpc_id' }] })
    gate.open()
    await stage.goneVpc(vpc.id)
  })

  it('is refused with groups that are not there, another’s, or of another cloud', async () => {
    const { stranger, createVpc, createGroup, addCloud, addVm } = stage
    const vpc = await createVpc()
    for (const group of [await createGroup({}, stranger.token), await createGroup({ cloud_id: (await addCloud()).cloud_id }), { id: randomUUID() }]) {
      expect(await refusal(addVm(vpc, { groups: [(await createGroup()).id, group.id] }))).toMatchObject({
        refusal: 'securityGroupMissing',
        fields: [{ field: 'security_group_ids' }],
      })
    }
    expect(await stage.getVpc(vpc.id)).toMatchObject({ vm_count: 0, status: 'active' })
  })

  it('troubles the engine only where a group guards it', async () => {
    const vpc = await stage.createVpc()
    await stage.addVm(vpc)
    expect(await stage.getVpc(vpc.id)).toMatchObject({ status: 'active', operation_id: null })
    const group = await stage.createGroup({ template: 'ssh' })
    const vm = await stage.addVm(vpc, { groups: [group.id] })
    await stage.settledVpc(vpc.id)
    expect((await stage.onEngine(vpc)).acl?.ingress).toMatchObject([{ destination: [`${vm.address}/32`], destinationPorts: ['22'] }])
  })
})

describe('groups of an instance', () => {
  const setGroups = (vm: { id: string; cloud_id: string; bp_id: string | null }, ids: readonly string[]) =>
    stage.inTx((tx) => stage.members.setGroups(tx, { user_id: stage.owner.id, name: stage.owner.name }, vm, ids))

  it('are exactly those given', async () => {
    const { createVpc, addVm, createGroup, settledVpc, onEngine, getGroup } = stage
    const [vpc, ssh, all] = [await createVpc(), await createGroup({ template: 'ssh' }), await createGroup({ template: 'all' })]
    const vm = await addVm(vpc, { groups: [ssh.id] })
    await setGroups(vm, [all.id, all.id])
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).acl?.ingress).toMatchObject([{ protocol: null, destination: [`${vm.address}/32`] }])
    expect([(await getGroup(ssh.id)).vm_count, (await getGroup(all.id)).vms]).toEqual([0, [{ id: vm.id, name: vm.name }]])
    await setGroups(vm, [])
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).acl?.ingress).toEqual([])
  })

  it('are refused for who is in no private network, or where there is no such group', async () => {
    const { createVpc, addVm, addPlainVm, createGroup, stranger } = stage
    const group = await createGroup()
    expect(await refusal(setGroups(await addPlainVm(), [group.id]))).toMatchObject({
      refusal: 'securityGroupNeedsVpc',
      fields: [{ field: 'security_group_ids' }],
    })
    const vm = await addVm(await createVpc(), { groups: [group.id] })
    expect(await refusal(setGroups(vm, [(await createGroup({}, stranger.token)).id]))).toMatchObject({ refusal: 'securityGroupMissing' })
    expect((await stage.getGroup(group.id)).vm_count).toBe(1)
  })
})

describe('leaving', () => {
  it('unbinds its outside address and takes it out of the plan; its address stays its own', async () => {
    const { createVpc, createGroup, addVm, allocate, settledEip, settledVpc, onEngine, app } = stage
    const [vpc, group, eip] = [await createVpc(), await createGroup({ template: 'ssh' }), await allocate()]
    const vm = await addVm(vpc, { groups: [group.id] })
    await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: vm.id } })
    await settledEip(eip.id)
    await leaving(vm)
    expect(await stage.getEip(eip.id)).toMatchObject({ status: 'unbinding', bound_to: { id: vm.id } })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', bound_to: null })
    await settledVpc(vpc.id)
    const { acl, forwards } = await onEngine(vpc)
    expect([acl?.ingress, forwards]).toEqual([[], []])
    expect(await refusal(addVm(vpc, { address: vm.address }))).toMatchObject({ refusal: 'vpcAddressTaken' })
    await gone(vm)
    expect(await addVm(vpc, { address: vm.address })).toMatchObject({ address: vm.address })
  })

  it('ends as staying where it was not deleted after all', async () => {
    const { createVpc, createGroup, addVm, settledVpc, onEngine } = stage
    const [vpc, group] = [await createVpc(), await createGroup({ template: 'ssh' })]
    const vm = await addVm(vpc, { groups: [group.id] })
    await leaving(vm)
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).acl?.ingress).toEqual([])
    await stage.inTx((tx) => stage.members.stays(tx, vm.id))
    await settledVpc(vpc.id)
    expect((await onEngine(vpc)).acl?.ingress).toMatchObject([{ destination: [`${vm.address}/32`] }])
  })

  it('of who is in no private network is nothing', async () => {
    const vm = await stage.addPlainVm()
    for (const act of ['leaving', 'stays', 'gone'] as const) await stage.inTx((tx) => stage.members[act](tx, vm.id))
    await stage.deleteVmRow(vm.id)
  })
})

describe('an address is free only when nothing on the engine leads to it any more', () => {
  it.each([
    ['a rule', 'networks.acls.apply', false],
    ['a forward', 'networks.forwards.delete', true],
  ])('%s may: not while it is being taken away', async (_, method, bound) => {
    const { createVpc, createGroup, addVm, allocate, settledEip, settledVpc, engine, app } = stage
    const [vpc, group, eip] = [await createVpc(), await createGroup({ template: 'ssh' }), await allocate()]
    const vm = await addVm(vpc, { groups: [group.id] })
    if (bound) {
      await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: vm.id } })
      await settledEip(eip.id)
    }
    await settledVpc(vpc.id)
    const gate = engine.hold(method)
    await leaving(vm)
    await gate.reached
    await gone(vm)
    expect(await stage.getVpc(vpc.id)).toMatchObject({ status: 'applying', vm_count: 0, address_used: 1 })
    expect(await refusal(addVm(vpc, { address: vm.address }))).toMatchObject({ refusal: 'vpcAddressTaken' })
    // Whoever comes now is given another.
    expect((await addVm(vpc)).address).toBe(nth(vpc, 3))
    if (bound) expect((await refused(app, eips.release, params(eip))).code).toBe(90010)
    gate.open()
    await settledVpc(vpc.id)
    expect((await addVm(vpc, { address: vm.address })).address).toBe(vm.address)
    if (bound) await call(app, eips.release, params(eip))
  })

  it('nor while that fails', async () => {
    const { createVpc, createGroup, addVm, allocate, settledEip, settledVpc, engine, app } = stage
    const [vpc, group, eip] = [await createVpc(), await createGroup({ template: 'ssh' }), await allocate()]
    const vm = await addVm(vpc, { groups: [group.id] })
    await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: vm.id } })
    await settledEip(eip.id)
    engine.fail('failed', { method: 'networks.forwards.delete' })
    await leaving(vm)
    await gone(vm)
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'error', address_used: 1 })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'error' })
    expect(await refused(app, eips.release, params(eip))).toMatchObject({ code: 90010 })
    engine.recover()
    await call(app, vpcs.apply, params(vpc))
    expect(await settledVpc(vpc.id)).toMatchObject({ status: 'active', address_used: 0 })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available', bound_to: null })
  })

  it('where somebody goes who never left', async () => {
    const { createVpc, createGroup, addVm, settledVpc, engine } = stage
    const [vpc, group] = [await createVpc(), await createGroup({ template: 'ssh' })]
    const vm = await addVm(vpc, { groups: [group.id] })
    await settledVpc(vpc.id)
    const gate = engine.hold('networks.acls.apply')
    await gone(vm)
    await gate.reached
    expect(await refusal(addVm(vpc, { address: vm.address }))).toMatchObject({ refusal: 'vpcAddressTaken' })
    gate.open()
    expect(await settledVpc(vpc.id)).toMatchObject({ address_used: 0 })
  })

  it('and an instance’s record does not go before that was said', async () => {
    const vm = await stage.addVm(await stage.createVpc())
    await expect(stage.deleteVmRow(vm.id)).rejects.toThrow(/foreign key/)
  })
})

describe('waiting for a network', () => {
  it('ends when it is there', async () => {
    const { beginVpc, engine, members } = stage
    const gate = engine.hold('networks.apply')
    const vpc = await beginVpc()
    let ready = false
    const waits = members.whenReady(vpc.id, new AbortController().signal).then(() => {
      ready = true
    })
    await gate.reached
    expect(ready).toBe(false)
    gate.open()
    await waits
    expect((await stage.onEngine(vpc)).network).not.toBeNull()
    // One that is only changed is there.
    const again = engine.hold('networks.apply')
    await call(stage.app, vpcs.apply, params(await stage.settledVpc(vpc.id)))
    await again.reached
    await members.whenReady(vpc.id, new AbortController().signal)
    again.open()
    await stage.settledVpc(vpc.id)
  })

  it('in vain is worth another try; for one that could not be made, is lost or gone it is not', async () => {
    const { beginVpc, createVpc, settledVpc, engine, members, db } = stage
    const gate = engine.hold('networks.apply')
    const vpc = await beginVpc()
    await gate.reached
    const error = await members.whenReady(vpc.id, new AbortController().signal).catch((error: unknown) => error)
    expect(isEngineError(error, 'busy')).toBe(true)
    engine.fail('failed', { method: 'networks.apply' })
    gate.open()
    await settledVpc(vpc.id)
    expect(await refusal(members.whenReady(vpc.id, new AbortController().signal))).toMatchObject({
      refusal: 'vpcNotMade',
      message: expect.stringContaining(vpc.name),
    })
    engine.recover()
    const lost = await createVpc()
    await db.updateTable('vpcs').set({ status: 'lost' }).where('id', '=', lost.id).execute()
    expect(await refusal(members.whenReady(lost.id, new AbortController().signal))).toMatchObject({ refusal: 'vpcNotMade' })
    expect(await refusal(members.whenReady(randomUUID(), new AbortController().signal))).toMatchObject({ refusal: 'vpcMissing' })
    const unmade = engine.hold('networks.apply')
    const other = await beginVpc()
    await unmade.reached
    await expect(members.whenReady(other.id, AbortSignal.abort())).rejects.toThrow(/abort/i)
    unmade.open()
    await settledVpc(other.id)
  })
})

describe('what lists show of instances', () => {
  it('is where they are, what guards and what leads to them', async () => {
    const { createVpc, createGroup, addVm, addPlainVm, allocate, settledEip, members, db, app } = stage
    const [vpc, group, eip] = [await createVpc(), await createGroup(), await allocate()]
    const [one, other, plain] = [await addVm(vpc, { groups: [group.id] }), await addVm(vpc), await addPlainVm()]
    await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: one.id } })
    await settledEip(eip.id)
    const place = { vpc: { id: vpc.id, name: vpc.name } }
    expect(await members.shownOf(db, [one.id, other.id, plain.id])).toEqual(
      new Map([
        [
          one.id,
          { ...place, vm_id: one.id, address: one.address, security_groups: [{ id: group.id, name: group.name }], eip: { id: eip.id, address: eip.address } },
        ],
        [other.id, { ...place, vm_id: other.id, address: other.address, security_groups: [], eip: null }],
      ]),
    )
    expect((await members.shownOf(db, [])).size).toBe(0)
  })
})
