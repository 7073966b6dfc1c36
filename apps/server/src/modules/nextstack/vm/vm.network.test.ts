import { randomUUID } from 'node:crypto'
import { errors } from '@zhisuan/contract/errors'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import type { BodyInput } from '@zhisuan/contract/define'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { call, refused, send } from '../../../testing/call.ts'
import { makeUser, signIn } from '../../../testing/people.ts'
import { allow, deny, keeping } from '../../../testing/policies.ts'
import { storageStage } from '../volume/testing.ts'

let stage: Awaited<ReturnType<typeof storageStage>>
let image_fingerprint: string
let flavor_id: string
beforeAll(async () => {
  stage = await storageStage()
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

describe('what stays of an instance that is deleted', () => {
  /** One with an outside address and a volume. */
  const furnished = async () => {
    const [vpc, eip, volume] = [await stage.beginVpc(), await stage.allocate({ bandwidth_mbps: 5 }), await stage.createVolume()]
    const vm = await create({ vpc_id: vpc.id })
    const { token } = stage.owner
    await call(stage.app, eips.bind, { token, params: { id: eip.id }, body: { kind: 'vm', target_id: vm.id } })
    await stage.settledEip(eip.id)
    await call(stage.app, volumes.attach, { token, params: { id: volume.id }, body: { vm_id: vm.id, path: '/data' } })
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'in_use' })
    return { vm, eip, volume, vpc }
  }
  const remove = (vm: Vm, query: { release_eip?: 'true' | 'false'; release_volumes?: 'true' | 'false' } = {}, token = stage.owner.token) =>
    send(stage.app, vms.delete, { token, params: { id: vm.id }, query })
  const isGone = (declared: typeof vms.get | typeof eips.get | typeof volumes.get, id: string) =>
    vi.waitFor(async () => expect((await send(stage.app, declared, { token: stage.owner.token, params: { id } })).status).toBe(404), {
      interval: 20,
      timeout: 10_000,
    })

  it('is its address and its volumes, which go on being paid for', async () => {
    const { vm, eip, volume } = await furnished()
    expect((await remove(vm)).status).toBe(202)
    await isGone(vms.get, vm.id)
    expect(await stage.settledEip(eip.id)).toMatchObject({ status: 'available' })
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available' })
  })

  it('goes too where that is said, and nothing of it is paid for any more', async () => {
    const { vm, eip, volume } = await furnished()
    expect((await remove(vm, { release_eip: 'true', release_volumes: 'true' })).status).toBe(202)
    await isGone(vms.get, vm.id)
    await isGone(eips.get, eip.id)
    await isGone(volumes.get, volume.id)
    for (const id of [eip.id, volume.id]) {
      const { rows } = await stage.app.platform.database.pool.query<{ usage: object }>(
        'select usage from usage_events where resource_id = $1 order by revision desc limit 1',
        [id],
      )
      expect(rows).toEqual([{ usage: {} }])
    }
  })

  it('stays with an instance that could not be deleted', async () => {
    const { vm, eip, volume } = await furnished()
    stage.engine.fail('failed', { method: 'instances.delete' })
    await remove(vm, { release_eip: 'true', release_volumes: 'true' })
    await rests(vm.id)
    stage.engine.recover()
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'in_use' })
    expect(await stage.settledEip(eip.id)).toMatchObject({ status: 'available' })
    // What was wished for then is not done the next time.
    await remove(vm)
    await isGone(vms.get, vm.id)
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available' })
    expect(await stage.settledEip(eip.id)).toMatchObject({ status: 'available' })
  })

  it('asks for the right to release it, as its own call does', async () => {
    const { makePolicy, give } = keeping(stage.app)
    const { vm, eip, volume } = await furnished()
    const member = await makeUser(stage.app, { organisation: stage.owner.bp_id, kind: 4 })
    const { token } = await signIn(stage.app, member)
    await give(stage.owner, await makePolicy(stage.owner, [allow('nextstack.*'), deny('nextstack.eip.release'), deny('nextstack.volume.delete')]), {
      user_id: member.id,
    })
    for (const query of [{ release_eip: 'true' }, { release_volumes: 'true' }] as const) expect((await remove(vm, query, token)).status).toBe(403)
    expect(await get(vm.id)).toMatchObject({ status: 'running' })
    expect((await remove(vm, {}, token)).status).toBe(202)
    await isGone(vms.get, vm.id)
    expect(await stage.settledEip(eip.id)).toMatchObject({ status: 'available' })
    expect(await stage.settledVolume(volume.id)).toMatchObject({ status: 'available' })
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
