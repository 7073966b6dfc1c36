import { randomUUID } from 'node:crypto'
import { errors } from '@zhisuan/contract/errors'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import type { BodyInput } from '@zhisuan/contract/define'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, refused } from '../../../testing/call.ts'
import { networkStage } from '../vpc/testing.ts'

let stage: Awaited<ReturnType<typeof networkStage>>
let image_fingerprint: string
let flavor_id: string
beforeAll(async () => {
  stage = await networkStage()
  const { token } = stage.owner
  image_fingerprint = (await call(stage.app, images.list, { token, query: { cloud_id: stage.cloud_id, type: 'container' } })).items[0]?.fingerprint ?? ''
  flavor_id = (await call(stage.app, flavors.list, { token, query: {} })).items[0]?.id ?? ''
})
afterAll(() => stage.app.close())

type Wish = Partial<BodyInput<typeof vms.create>>
const body = (wish: Wish): BodyInput<typeof vms.create> => ({
  cloud_id: stage.cloud_id,
  name: `vm-${randomUUID()}`,
  type: 'container',
  image_fingerprint,
  flavor_id,
  password: 'Correct-horse-1',
  ...wish,
})
const get = (id: string) => call(stage.app, vms.get, { token: stage.owner.token, params: { id } })
const rests = (id: string): Promise<Vm> =>
  vi.waitFor(
    async () => {
      const vm = await get(id)
      expect(vm.operation_id).toBeNull()
      return vm
    },
    { interval: 20 },
  )
const create = async (wish: Wish): Promise<Vm> => {
  const { items } = await call(stage.app, vms.create, { token: stage.owner.token, body: body(wish) })
  return rests(items[0]?.id ?? '')
}
const nicOf = async (vm: Vm) => (await stage.engine.direct.instances.get(`zs-${vm.id.replaceAll('-', '')}`))?.nic

describe('an instance in a private network', () => {
  it('takes the lowest free address, waits for a network that is just being made, and is shown where it is', async () => {
    const vpc = await stage.beginVpc()
    const vm = await create({ vpc_id: vpc.id })
    const [a, b, c] = vpc.gateway.split('.')
    expect(vm).toMatchObject({ status: 'running', vpc: { id: vpc.id, name: vpc.name }, security_groups: [], eip: null })
    expect(await nicOf(vm)).toMatchObject({ network: vm.network, address: `${a}.${b}.${c}.2` })
    expect((await call(stage.app, vms.list, { token: stage.owner.token, query: { vpc_id: vpc.id } })).items).toMatchObject([{ id: vm.id, vpc: { id: vpc.id } }])
    expect((await create({ vpc_id: vpc.id })).network).toBe(vm.network)
    // Off it has none, and will have the same.
    await call(stage.app, vms.stop, { token: stage.owner.token, params: { id: vm.id }, body: { force: true } })
    expect(await rests(vm.id)).toMatchObject({ status: 'stopped', reserved_address: `${a}.${b}.${c}.2` })
  })
  it('takes the address that is asked for, once', async () => {
    const vpc = await stage.beginVpc()
    const address = vpc.gateway.replace(/\.\d+$/, '.77')
    expect(await nicOf(await create({ vpc_id: vpc.id, address }))).toMatchObject({ address })
    const answer = await refused(stage.app, vms.create, { token: stage.owner.token, body: body({ vpc_id: vpc.id, address }) })
    expect(answer).toMatchObject({ code: errors.vpcAddressTaken.code })
  })
  it('is not to be in another organisation’s network, by record or by the engine’s name', async () => {
    const vpc = await stage.settledVpc((await stage.beginVpc()).id)
    const theirs = await refused(stage.app, vms.create, { token: stage.stranger.token, body: body({ vpc_id: vpc.id }) })
    expect(theirs).toMatchObject({ code: errors.vpcMissing.code })
    const vm = await create({ vpc_id: vpc.id })
    const byName = await refused(stage.app, vms.create, { token: stage.stranger.token, body: body({ network: vm.network }) })
    expect(byName).toMatchObject({ code: errors.networkMissing.code })
    const offered = await call(stage.app, networks.list, { token: stage.stranger.token, query: { cloud_id: stage.cloud_id } })
    expect(offered.items.map(({ name }) => name)).toEqual(['sandbox0'])
  })
  it('needs one network and no more', async () => {
    const vpc = await stage.beginVpc()
    for (const wish of [
      {},
      { vpc_id: vpc.id, network: 'sandbox0' },
      { network: 'sandbox0', address: '10.0.0.9' },
      { network: 'sandbox0', security_group_ids: [randomUUID()] },
    ]) {
      expect(await refused(stage.app, vms.create, { token: stage.owner.token, body: body(wish) })).toMatchObject({ code: errors.fieldsInvalid.code })
    }
  })
  it('keeps nothing of a creation that is refused', async () => {
    const vpc = await stage.beginVpc()
    const name = `vm-${randomUUID()}`
    const answer = await refused(stage.app, vms.create, { token: stage.owner.token, body: body({ name, vpc_id: vpc.id, security_group_ids: [randomUUID()] }) })
    expect(answer).toMatchObject({ code: errors.securityGroupMissing.code })
    expect((await call(stage.app, vms.list, { token: stage.owner.token, query: { keyword: name } })).total).toBe(0)
    expect((await stage.getVpc(vpc.id)).address_used).toBe(0)
  })
  it('frees its address when it is gone', async () => {
    const vpc = await stage.beginVpc()
    const vm = await create({ vpc_id: vpc.id })
    expect((await stage.getVpc(vpc.id)).address_used).toBe(1)
    await call(stage.app, vms.delete, { token: stage.owner.token, params: { id: vm.id } })
    await vi.waitFor(async () => expect((await stage.getVpc(vpc.id)).address_used).toBe(0), { interval: 20 })
  })
})

describe('keys of the organisation', () => {
  it('are put into the instance, several at once, and say where they are', async () => {
    const { token } = stage.owner
    const made = await Promise.all(['first', 'second'].map((name) => call(stage.app, keyPairs.create, { token, body: { name: `${name}-${randomUUID()}` } })))
    const busybox = (await call(stage.app, images.list, { token, query: { cloud_id: stage.cloud_id, type: 'container' } })).items.find(
      ({ cloud_init }) => !cloud_init,
    )
    const vm = await create({ network: 'sandbox0', image_fingerprint: busybox?.fingerprint ?? '', password: undefined, key_pair_ids: made.map(({ id }) => id) })
    const { stdout } = await stage.engine.direct.instances.exec(`zs-${vm.id.replaceAll('-', '')}`, { command: ['cat', '/root/.ssh/authorized_keys'] })
    expect(stdout.toString()).toBe(made.map(({ public_key }) => `${public_key}\n`).join(''))
    expect((await call(stage.app, keyPairs.get, { token, params: { id: made[0]?.id ?? '' } })).vms).toEqual([{ id: vm.id, name: vm.name }])
  })
  it('of another organisation do not exist', async () => {
    const key = await call(stage.app, keyPairs.create, { token: stage.stranger.token, body: { name: `k-${randomUUID()}` } })
    const answer = await refused(stage.app, vms.create, { token: stage.owner.token, body: body({ network: 'sandbox0', key_pair_ids: [key.id] }) })
    expect(answer).toMatchObject({ code: errors.keyPairMissing.code })
  })
})
