import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eips } from '@zhisuan/contract/nextstack/eip'
import { vpcs, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import type { NetworkSpec } from '@zhisuan/engines/network'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { call } from '../../../testing/call.ts'
import { createVpcObserver } from './vpc.observer.ts'
import { networkStage, type NetworkStage } from './testing.ts'

let stage: NetworkStage
beforeAll(async () => {
  stage = await networkStage()
})
afterEach(() => stage.engine.recover())
afterAll(() => stage.app.close())

const params = (one: { id: string }) => ({ token: stage.owner.token, params: { id: one.id } })
const spec = (vpc: Vpc, wish: Partial<NetworkSpec> = {}): NetworkSpec => ({
  name: stage.engineName(vpc),
  description: vpc.name,
  ipv4: `${vpc.gateway}/24`,
  dhcp: true,
  dnsDomain: null,
  nat: true,
  natAddress: null,
  acl: stage.engineName(vpc),
  tags: { vpc_id: vpc.id },
  ...wish,
})
const until = (look: () => Promise<void>) => vi.waitFor(look, { interval: 20 })

/** A network with a group, an instance and an outside address on it. */
async function guarded() {
  const { createVpc, createGroup, addVm, allocate, settledEip, settledVpc, app } = stage
  const [vpc, group, eip] = [await createVpc(), await createGroup({ template: 'web' }), await allocate()]
  const vm = await addVm(vpc, { groups: [group.id] })
  await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: vm.id } })
  await settledEip(eip.id)
  await settledVpc(vpc.id)
  return { vpc, eip, before: await stage.onEngine(vpc) }
}

describe('what somebody changes on the engine by hand is put right', () => {
  it.each<[string, (vpc: Vpc, eip: { address: string }) => Promise<void>]>([
    [
      'rules',
      (vpc) =>
        stage.engine.direct.networks.acls.apply({ name: stage.engineName(vpc), description: vpc.name, ingress: [], egress: [], tags: { vpc_id: vpc.id } }),
    ],
    ['a forward taken away', (vpc, { address }) => stage.engine.direct.networks.forwards.delete(stage.engineName(vpc), address)],
    [
      'a forward added',
      (vpc) => stage.engine.direct.networks.forwards.apply(stage.engineName(vpc), { address: '203.0.113.254', description: '', target: null, ports: [] }),
    ],
    [
      'a forward led elsewhere',
      (vpc, { address }) =>
        stage.engine.direct.networks.forwards.apply(stage.engineName(vpc), { address, description: '', target: vpc.gateway.replace(/1$/, '99'), ports: [] }),
    ],
    ['NAT', (vpc) => stage.engine.direct.networks.apply(spec(vpc, { nat: false }))],
    ['the filter taken off', (vpc) => stage.engine.direct.networks.apply(spec(vpc, { acl: null }))],
  ])('%s', async (_, spoil) => {
    const { vpc, eip, before } = await guarded()
    await spoil(vpc, eip)
    await until(async () => {
      expect(await stage.onEngine(vpc)).toEqual(before)
      expect(await stage.engine.direct.networks.isAs(spec(vpc))).toBe(true)
      expect((await stage.getVpc(vpc.id)).status).toBe('active')
    })
  })

  it('but not twice in a breath: somebody insists', async () => {
    const { vpc, before } = await guarded()
    const spoil = () => stage.engine.direct.networks.apply(spec(vpc, { nat: false }))
    await spoil()
    await until(async () => expect(await stage.onEngine(vpc)).toEqual(before))
    await stage.settledVpc(vpc.id)
    const operations = async () => (await stage.db.selectFrom('operations').select('id').where('resource_id', '=', vpc.id).execute()).length
    const count = await operations()
    const reads = stage.engine.asked.length
    await spoil()
    // It was looked at, and left.
    await until(async () =>
      expect(
        stage.engine.asked.slice(reads).filter(({ method, args }) => method === 'networks.isAs' && (args[0] as NetworkSpec).name === stage.engineName(vpc)),
      ).not.toEqual([]),
    )
    expect(await operations()).toBe(count)
    expect((await stage.onEngine(vpc)).network?.nat).toBe(false)
  })

  it('but not on a cloud in maintenance', async () => {
    const { app, admin } = stage
    const { engine, cloud_id } = await stage.addCloud()
    const vpc = await stage.createVpc({ cloud_id })
    await call(app, clouds.action, { token: admin.token, params: { id: cloud_id }, body: { action: 'maintenance' } })
    const reads = engine.asked.length
    await engine.direct.networks.apply(spec(vpc, { nat: false }))
    await until(async () => expect(engine.asked.slice(reads).filter(({ method }) => method === 'networks.isAs')).not.toEqual([]))
    expect((await stage.getVpc(vpc.id)).status).toBe('active')
    expect((await engine.direct.networks.get(stage.engineName(vpc)))?.nat).toBe(false)
  })
})

describe('an outside address that cannot be led in', () => {
  it('is known, and not tried again and again', async () => {
    const { createVpc, addVm, allocate, settledEip, settledVpc, engine, engineName, app, db } = stage
    const [vpc, eip] = [await createVpc(), await allocate()]
    // A network of somebody else: what is put into ours by hand is taken away again.
    await engine.direct.networks.apply(spec(vpc, { name: 'theirs', ipv4: '192.168.250.1/24', acl: null, tags: {} }))
    await engine.direct.networks.forwards.apply('theirs', { address: eip.address, description: '', target: null, ports: [] })
    await call(app, eips.bind, { ...params(eip), body: { kind: 'vm', target_id: (await addVm(vpc)).id } })
    expect((await settledEip(eip.id)).status).toBe('error')
    await settledVpc(vpc.id)
    const observer = createVpcObserver({
      db,
      clouds: { forChange: async () => expect.fail('nothing is to be changed') },
      want: async () => expect.fail('nothing is wanted'),
    })
    await observer.look({ id: stage.cloud_id, engine: engine.direct, signal: new AbortController().signal }, [engineName(vpc)])
  })
})

describe('a look at everything', () => {
  it('sees what is gone and what differs, also where one cannot be looked at', async () => {
    const { engine, cloud_id } = await stage.addCloud()
    const { networks } = engine.direct
    const [gone, spoilt, broken] = [await stage.createVpc({ cloud_id }), await stage.createVpc({ cloud_id }), await stage.createVpc({ cloud_id })]
    const wanted: string[] = []
    const observer = createVpcObserver({
      db: stage.db,
      clouds: {
        forChange: async () => ({ id: cloud_id, name: '', product: 'nextstack', status: 'active', sandbox: false, local: false, instance_types: null }),
      },
      want: async (_, vpc) => {
        wanted.push(vpc.id)
        return 0
      },
    })
    // As somebody does while nobody looks: without the server's own follower.
    const list = async () => (await networks.list()).filter(({ name }) => name !== stage.engineName(gone))
    const isAs = async (wish: NetworkSpec) => {
      if (wish.name === stage.engineName(broken)) throw new Error('broken')
      return wish.name !== stage.engineName(spoilt) && networks.isAs(wish)
    }
    const blind = { ...engine.direct, networks: { ...networks, list, isAs } }
    await expect(observer.look({ id: cloud_id, engine: blind, signal: new AbortController().signal }, null)).rejects.toThrow('broken')
    expect((await stage.getVpc(gone.id)).status).toBe('lost')
    expect(wanted).toEqual([spoilt.id])
  })
})

describe('a network that is gone from the engine', () => {
  it('is lost, and made again when that is asked for', async () => {
    const { vpc, before } = await guarded()
    await stage.engine.direct.networks.delete(stage.engineName(vpc))
    await until(async () => expect(await stage.getVpc(vpc.id)).toMatchObject({ status: 'lost', operation_id: null }))
    await call(stage.app, vpcs.apply, params(vpc))
    expect(await stage.settledVpc(vpc.id)).toMatchObject({ status: 'active' })
    expect(await stage.onEngine(vpc)).toEqual(before)
  })

  it('is lost where another has its name, and is not made again over it', async () => {
    const vpc = await stage.createVpc()
    const { networks } = stage.engine.direct
    await networks.delete(stage.engineName(vpc))
    await networks.apply(spec(vpc, { acl: null, tags: { vpc_id: 'another' } }))
    await until(async () => expect((await stage.getVpc(vpc.id)).status).toBe('lost'))
    await call(stage.app, vpcs.apply, params(vpc))
    expect((await stage.settledVpc(vpc.id)).status).toBe('error')
    expect(await networks.get(stage.engineName(vpc))).toMatchObject({ tags: { vpc_id: 'another' } })
    await networks.delete(stage.engineName(vpc))
  })

  it('and comes back by itself is no longer lost', async () => {
    const vpc = await stage.createVpc()
    const { networks } = stage.engine.direct
    await networks.delete(stage.engineName(vpc))
    await until(async () => expect((await stage.getVpc(vpc.id)).status).toBe('lost'))
    await networks.apply(spec(vpc))
    await until(async () => expect((await stage.getVpc(vpc.id)).status).toBe('active'))
  })

  it('can be deleted', async () => {
    const vpc = await stage.createVpc()
    await stage.engine.direct.networks.delete(stage.engineName(vpc))
    await until(async () => expect((await stage.getVpc(vpc.id)).status).toBe('lost'))
    await call(stage.app, vpcs.delete, params(vpc))
    await stage.goneVpc(vpc.id)
    expect((await stage.onEngine(vpc)).acl).toBeNull()
  })
})

describe('what is as wanted', () => {
  it('is looked at and left alone, by what applies it too', async () => {
    const { vpc } = await guarded()
    const row = await stage.db.selectFrom('vpcs').select(['wanted', 'applied']).where('id', '=', vpc.id).executeTakeFirstOrThrow()
    const reads = stage.engine.asked.length
    const observer = createVpcObserver({
      db: stage.db,
      clouds: { forChange: async () => expect.fail('nothing is to be changed') },
      want: async () => expect.fail('nothing is wanted'),
    })
    const engine = stage.engine.direct
    await observer.look({ id: stage.cloud_id, engine, signal: new AbortController().signal }, [stage.engineName(vpc)])
    expect(stage.engine.asked.slice(reads).filter(({ method }) => /apply|delete/.test(method))).toEqual([])
    expect(await stage.db.selectFrom('vpcs').select(['wanted', 'applied']).where('id', '=', vpc.id).executeTakeFirstOrThrow()).toEqual(row)
  })

  it('concerns the network of a filter or a forward, and no other objects', () => {
    const observer = createVpcObserver({ db: stage.db, clouds: { forChange: async () => expect.fail() }, want: async () => 0 })
    const event = (kind: 'network' | 'acl' | 'forward' | 'volume', within: string | null = null) => ({
      type: 'object' as const,
      kind,
      name: 'zs-1',
      within,
      action: '',
      at: new Date(),
    })
    expect(observer.concerns(event('network'))).toBe('zs-1')
    expect(observer.concerns(event('acl'))).toBe('zs-1')
    expect(observer.concerns({ ...event('forward', 'zs-2'), name: '203.0.113.1' })).toBe('zs-2')
    expect(observer.concerns(event('volume', 'pool'))).toBeNull()
    expect(observer.concerns({ type: 'instance', name: 'zs-1', action: '', at: new Date() })).toBeNull()
  })
})
