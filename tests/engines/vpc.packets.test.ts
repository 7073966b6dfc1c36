import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eipPools, eips, eipTransitional, type Eip } from '@zhisuan/contract/nextstack/eip'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { securityGroups, type SecurityGroup, type SecurityRule } from '@zhisuan/contract/nextstack/security-group'
import { images, vmTransitional, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { vpcs, vpcTransitional, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asAdministrator, startServer, until, type Client, type RunningServer, untilTold } from '../support/server.ts'
import { bodyOf, openWorld, type World } from '../support/world.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const run = promisify(execFile)

/**
 * Real packets between the world and instances: in by outside addresses and NAT rules as far as
 * groups let them, out by the gateway, and not otherwise. Afterwards nothing is left on the engine.
 */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('private networks on LXD, with real packets', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'zhisuan-packets-'))
  const engine = createLxdEngine({ socketPath })
  let server: RunningServer
  let client: Client
  let cloud_id: string
  let world: World
  let [hostSide, worldSide] = ['', '']
  let listener: ChildProcess
  let vpc: Vpc
  let group: SecurityGroup
  let web: Vm
  let other: Vm

  const engineName = (vm: { id: string }) => `zs-${vm.id.replaceAll('-', '')}`
  const settledVpc = (): Promise<Vpc> =>
    until(async () => {
      const now = await client.call(vpcs.get, { params: { id: vpc.id } })
      return !vpcTransitional.includes(now.status) && now
    }, 'the network to come to rest')
  const settledEip = (id: string): Promise<Eip> =>
    until(async () => {
      const now = await client.call(eips.get, { params: { id } })
      return !eipTransitional.includes(now.status) && now
    }, 'the address to come to rest')
  const settledVm = (id: string): Promise<Vm> =>
    until(
      async () => {
        const now = await client.call(vms.get, { params: { id } })
        return !vmTransitional.includes(now.status) && now
      },
      'the instance to come to rest',
      60_000,
    )
  const make = async (name: string, security_group_ids: string[]): Promise<Vm> => {
    const image = (await client.call(images.list, { query: { cloud_id, type: 'container' } })).items.find(({ name }) => name === 'busybox')
    const [flavor] = (await client.call(flavors.list)).items
    const body = {
      cloud_id,
      name,
      type: 'container',
      image_fingerprint: image?.fingerprint,
      flavor_id: flavor?.id,
      vpc_id: vpc.id,
      security_group_ids,
      password: 'Packet-test-1',
    }
    const vm = await settledVm((await client.call(vms.create, { body })).items[0]?.id ?? '')
    expect(vm).toMatchObject({ status: 'running', error: null })
    return vm
  }
  const allocate = async (body: object = {}): Promise<Eip> => {
    const [pool] = (await client.call(eipPools.list)).items
    return (await client.call(eips.allocate, { body: { pool_id: pool?.id, ...body } })).items[0] ?? expect.fail('no address')
  }
  const bind = async (eip: Eip, vm: Vm): Promise<Eip> => {
    await client.call(eips.bind, { params: { id: eip.id }, body: { kind: 'vm', target_id: vm.id } })
    return settledEip(eip.id)
  }
  const setRules = async (rules: readonly Partial<SecurityRule>[]): Promise<void> => {
    const { revision } = await client.call(securityGroups.get, { params: { id: group.id } })
    await client.call(securityGroups.setRules, { params: { id: group.id }, body: { revision, rules } })
    expect(await settledVpc()).toMatchObject({ status: 'active' })
  }
  const allow = (ports: string): Partial<SecurityRule> => ({ direction: 'ingress', action: 'allow', protocol: 'tcp', ports })
  /** What the world gets from there; null where nothing answers. */
  const fromWorld = (address: string, port: number): Promise<string | null> => world.read(`http://${address}:${port}/name`)
  /** What an instance gets from there; null where nothing answers. */
  const fromVm = async (vm: Vm, address: string, port: number): Promise<string | null> => {
    // By hand: the wget of Debian's static busybox crashes.
    const ask = `printf 'GET /name HTTP/1.0\\r\\n\\r\\n' | timeout 20 nc -w 5 ${address} ${port}`
    const { stdout } = await engine.instances.exec(engineName(vm), { command: ['sh', '-c', ask] })
    return bodyOf(stdout.toString())
  }
  /** Answers with the instance's name. */
  const serve = async (vm: Vm, ...ports: number[]): Promise<void> => {
    const script = [`mkdir -p /tmp/www`, `echo ${vm.name} > /tmp/www/name`, ...ports.map((port) => `httpd -p ${port} -h /tmp/www`)].join(' && ')
    expect((await engine.instances.exec(engineName(vm), { command: ['sh', '-c', script] })).exitCode).toBe(0)
    await until(async () => (await engine.instances.get(engineName(vm)))?.addresses.length, 'its address')
  }

  beforeAll(async () => {
    world = await openWorld('zs-out', '198.19.231')
    ;({ hostSide, worldSide } = world)
    // Tells who asks.
    const script = `require('http').createServer((question, answer) => answer.end(question.socket.remoteAddress)).listen(9000, '${worldSide}', () => console.log('up'))`
    listener = spawn('ip', ['netns', 'exec', 'zs-out', process.execPath, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(listener.stdout ?? listener, 'data')

    server = await startServer(dataDir)
    client = await asAdministrator(server)
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    await until(async () => (await client.call(images.list, { query: { cloud_id } })).items.some(({ name }) => name === 'busybox'), 'the first image')
    await client.call(eipPools.create, { body: { cloud_id, name: 'packets', ranges: [{ from: '198.18.232.1', to: '198.18.232.50' }] } })
    group = await client.call(securityGroups.create, { body: { cloud_id, name: 'packets', rules: [allow('80')] } })
    vpc = await client.call(vpcs.create, { body: { cloud_id, name: 'packets', cidr: '10.232.0.0/24', dns_domain: 'packets.internal' } })
    ;[web, other] = await Promise.all([make('web', [group.id]), make('other', [])])
    await Promise.all([serve(web, 80, 8080), serve(other, 80)])
    await settledVpc()
  })
  afterAll(async () => {
    listener?.kill()
    await server?.stop()
    // What a failed test left behind.
    for (const { name, tags } of await engine.instances.list()) if ([web?.id, other?.id].includes(tags['vm_id'] ?? '')) await engine.instances.delete(name)
    for (const { name, description } of await engine.networks.list()) {
      if (!['packets', 'deleted-by-hand'].includes(description)) continue
      await engine.networks.delete(name)
      await engine.networks.acls.delete(name)
    }
    await engine.close()
    await world?.remove()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('instances have the addresses that they were given, and talk to each other', async () => {
    expect([web.vpc?.id, other.vpc?.id]).toEqual([vpc.id, vpc.id])
    for (const vm of [web, other]) {
      const { addresses } = await until(async () => {
        const now = await client.call(vms.get, { params: { id: vm.id } })
        return now.addresses.length > 0 && now
      }, 'its address')
      expect((await engine.instances.get(engineName(vm)))?.nic?.address).toBe(addresses[0]?.address)
    }
    expect(await fromVm(other, (await addressOf(web)) ?? '', 8080)).toBe('web')
    expect(await fromVm(web, (await addressOf(other)) ?? '', 80)).toBe('other')
  })

  it('instances have names, and their leases show', async () => {
    const names = new Resolver({ timeout: 2_000, tries: 3 })
    names.setServers([vpc.gateway])
    const { items } = await client.call(vpcs.leases, { params: { id: vpc.id } })
    expect(items).toContainEqual(expect.objectContaining({ kind: 'gateway', address: vpc.gateway, vm: null }))
    for (const vm of [web, other]) {
      const address = (await addressOf(vm)) ?? ''
      expect(items).toContainEqual(expect.objectContaining({ kind: 'static', address, vm: { id: vm.id, name: vm.name } }))
      expect(await names.resolve4(`${engineName(vm)}.packets.internal`)).toEqual([address])
    }
  })

  it('the world reaches nothing that no group allows, by whatever address', async () => {
    expect(await fromWorld((await addressOf(web)) ?? '', 8080)).toBeNull()
    expect(await fromWorld((await addressOf(other)) ?? '', 80)).toBeNull()
  })

  it('an outside address leads to its instance, as far as its groups let, and no longer once it is unbound', async () => {
    const eip = await allocate()
    expect(await fromWorld(eip.address, 80)).toBeNull()
    expect(await bind(eip, web)).toMatchObject({ status: 'bound', error: null })
    expect(await fromWorld(eip.address, 80)).toBe('web')
    expect(await fromWorld(eip.address, 8080)).toBeNull()
    await setRules([allow('8080')])
    expect(await fromWorld(eip.address, 8080)).toBe('web')
    expect(await fromWorld(eip.address, 80)).toBeNull()
    await setRules([allow('80,8080'), { direction: 'ingress', action: 'drop', protocol: 'tcp', ports: '8080', remote: `${worldSide}/32` }])
    expect(await fromWorld(eip.address, 80)).toBe('web')
    expect(await fromWorld(eip.address, 8080)).toBeNull()
    await client.call(vms.setSecurityGroups, { params: { id: web.id }, body: { security_group_ids: [] } })
    await settledVpc()
    expect(await fromWorld(eip.address, 80)).toBeNull()
    await client.call(vms.setSecurityGroups, { params: { id: web.id }, body: { security_group_ids: [group.id] } })
    await settledVpc()
    expect(await fromWorld(eip.address, 80)).toBe('web')
    await client.call(eips.unbind, { params: { id: eip.id } })
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available' })
    expect(await fromWorld(eip.address, 80)).toBeNull()
    await setRules([allow('80')])
  })

  it('an outside address moves to another instance, and leads to the former no more', async () => {
    const eip = await allocate()
    await client.call(vms.setSecurityGroups, { params: { id: other.id }, body: { security_group_ids: [group.id] } })
    for (const vm of [web, other]) {
      expect(await bind(eip, vm)).toMatchObject({ status: 'bound' })
      expect(await fromWorld(eip.address, 80)).toBe(vm.name)
      await client.call(eips.unbind, { params: { id: eip.id } })
      await settledEip(eip.id)
    }
    await client.call(vms.setSecurityGroups, { params: { id: other.id }, body: { security_group_ids: [] } })
    await settledVpc()
  })

  it('a gateway leads ports in, as far as the network’s groups let', async () => {
    const eip = await allocate()
    const nat = { id: vpc.nat?.id ?? '' }
    const rule = { eip_id: eip.id, protocol: 'tcp', outside_ports: '8000', inside_ports: '80', vm_id: other.id }
    const { rules } = await client.call(natGateways.addRule, { params: nat, body: rule })
    await settledVpc()
    expect(await fromWorld(eip.address, 8000)).toBeNull()
    await client.call(vpcs.setSecurityGroups, { params: { id: vpc.id }, body: { security_group_ids: [group.id] } })
    await settledVpc()
    expect(await fromWorld(eip.address, 8000)).toBe('other')
    expect(await fromWorld(eip.address, 80)).toBeNull()
    await client.call(vpcs.setSecurityGroups, { params: { id: vpc.id }, body: { security_group_ids: [] } })
    await client.call(natGateways.removeRule, { params: { ...nat, rule_id: rules[0]?.id ?? '' } })
    await settledVpc()
    expect(await fromWorld(eip.address, 8000)).toBeNull()
    await client.call(eips.unbind, { params: { id: eip.id } })
    await settledEip(eip.id)
  })

  it('instances get out by the gateway: as the host, as the gateway’s address, or not at all', async () => {
    const eip = await allocate()
    const update = async (body: object): Promise<void> => {
      await client.call(natGateways.update, { params: { id: vpc.nat?.id ?? '' }, body: { name: 'packets', ...body } })
      expect(await settledVpc()).toMatchObject({ status: 'active' })
    }
    expect(await fromVm(other, worldSide, 9000)).toBe(hostSide)
    await update({ snat: true, snat_eip_id: eip.id })
    expect(await fromVm(other, worldSide, 9000)).toBe(eip.address)
    await update({ snat: false })
    // It knows no way back to an inner address; where it does, it hears from that.
    expect(await fromVm(other, worldSide, 9000)).not.toBe(hostSide)
    await update({ snat: true })
    expect(await fromVm(other, worldSide, 9000)).toBe(hostSide)
  })

  it('what a group forbids on the way out does not get out', async () => {
    expect(await fromVm(web, worldSide, 9000)).toBe(hostSide)
    await setRules([allow('80'), { direction: 'egress', action: 'reject', protocol: 'tcp', ports: '9000', remote: `${worldSide}/32` }])
    expect(await fromVm(web, worldSide, 9000)).toBeNull()
    expect(await fromVm(other, worldSide, 9000)).toBe(hostSide)
    await setRules([allow('80')])
  })

  it('what is not said by its own address is not heard', async () => {
    // Guarded: another's address is of no use to it.
    const address = '10.232.0.200'
    await engine.instances.exec(engineName(other), { command: ['ip', 'address', 'add', `${address}/24`, 'dev', 'eth0'] })
    const { exitCode } = await engine.instances.exec(engineName(other), { command: ['ping', '-c', '1', '-W', '2', '-I', address, '10.232.0.1'] })
    expect(exitCode).not.toBe(0)
    await engine.instances.exec(engineName(other), { command: ['ip', 'address', 'delete', `${address}/24`, 'dev', 'eth0'] })
  })

  it('a bandwidth is a limit of the instance’s NIC where the host can, and said not to be where it cannot', async () => {
    const eip = await allocate({ bandwidth_mbps: 8 })
    const bound = await bind(eip, web)
    expect(bound.status).toBe('bound')
    expect(await fromWorld(eip.address, 80)).toBe('web')
    const { stdout } = await run('lxc', ['config', 'device', 'get', engineName(web), 'eth0', 'limits.egress'])
    if (bound.error === null) expect(stdout.trim()).toBe('8000000bit')
    else expect(bound.error).toBe('该云平台的主机不支持限制带宽')
    await client.call(eips.unbind, { params: { id: eip.id } })
    await settledEip(eip.id)
    expect((await run('lxc', ['config', 'device', 'get', engineName(web), 'eth0', 'limits.egress'])).stdout.trim()).toBe('')
  })

  it('what cannot be is refused with its own code, and nothing of it is on the engine', async () => {
    const refused = (call: Parameters<Client['call']>[0], input: object, code: string) => expect(client.call(call, input)).rejects.toThrow(`"code":${code}`)
    await refused(vpcs.create, { body: { cloud_id, name: 'within', cidr: '10.232.0.128/25' } }, '94101')
    const { ipv4 } = (await engine.networks.get('lxdbr0')) ?? expect.fail('no network of the host')
    const { address = '', prefix = '' } = /^(?<address>\d+\.\d+\.\d+)\.\d+\/(?<prefix>\d+)$/.exec(ipv4 ?? '')?.groups ?? {}
    await refused(vpcs.create, { body: { cloud_id, name: 'host', cidr: `${address}.0/${prefix}` } }, '94101,"message":"网段与该云平台上的网络“lxdbr0”重叠"')
    await refused(vpcs.delete, { params: { id: vpc.id } }, '94102')
    await refused(securityGroups.delete, { params: { id: group.id } }, '94111')
    const pool = await client.call(eipPools.create, {
      body: { cloud_id, name: 'tiny', ranges: [{ from: '198.18.232.101', to: '198.18.232.102' }], excluded: ['198.18.232.101'] },
    })
    const [eip] = (await client.call(eips.allocate, { body: { pool_id: pool.id } })).items
    expect(eip?.address).toBe('198.18.232.102')
    await refused(eips.allocate, { body: { pool_id: pool.id } }, '94134')
    await refused(eipPools.delete, { params: { id: pool.id } }, '94133')
    await client.call(eips.release, { params: { id: eip?.id ?? '' } })
    await client.call(eipPools.delete, { params: { id: pool.id } })
    expect((await engine.networks.list()).filter(({ description }) => ['within', 'host'].includes(description))).toEqual([])
  })

  it('rules that somebody takes from the engine are put back; a network that somebody deletes there shows within two seconds', async () => {
    const acl = async () => (await engine.networks.acls.get(`zs-${vpc.id.slice(-12)}`)) ?? expect.fail('no rules')
    const { ingress, name, description, egress, tags } = await acl()
    expect(ingress.length).toBeGreaterThan(0)
    await engine.networks.acls.apply({ name, description, ingress: [], egress, tags })
    await until(async () => (await acl()).ingress.length === ingress.length, 'the rules to be back', 10_000)
    expect((await acl()).ingress).toEqual(ingress)
    expect(await settledVpc()).toMatchObject({ status: 'active', error: null })

    const { id } = await client.call(vpcs.create, { body: { cloud_id, name: 'deleted-by-hand', cidr: '10.234.0.0/28' } })
    const isNow = (status: Vpc['status']) => async () => (await client.call(vpcs.get, { params: { id } })).status === status
    await until(isNow('active'), 'the network to be made')
    // As a person does: in one go.
    await run('lxc', ['network', 'delete', `zs-${id.slice(-12)}`])
    await untilTold(isNow('lost'), 'the loss to show')
    await client.call(vpcs.delete, { params: { id } })
    await until(async () => (await client.call(vpcs.list)).total === 1, 'the network to be gone')
    expect(await engine.networks.acls.get(`zs-${id.slice(-12)}`)).toBeNull()
  })

  it('instances that go take their outside address’s way along; then the network goes, and nothing is left', async () => {
    const eip = await allocate()
    await bind(eip, web)
    for (const vm of [web, other]) await client.call(vms.delete, { params: { id: vm.id } })
    await until(async () => (await client.call(vms.list)).total === 0, 'the instances to be gone')
    expect(await settledEip(eip.id)).toMatchObject({ status: 'available' })
    expect(await fromWorld(eip.address, 80)).toBeNull()
    expect(await settledVpc()).toMatchObject({ vm_count: 0, address_used: 0 })
    expect(await engine.networks.forwards.list(`zs-${vpc.id.slice(-12)}`)).toEqual([])
    await client.call(vpcs.delete, { params: { id: vpc.id } })
    await until(async () => (await client.call(vpcs.list)).total === 0, 'the network to be gone')
    expect((await engine.networks.list()).filter(({ tags }) => tags['vpc_id'] === vpc.id)).toEqual([])
    expect(await engine.networks.acls.get(`zs-${vpc.id.slice(-12)}`)).toBeNull()
    expect((await run('nft', ['list', 'ruleset'])).stdout).not.toContain(`zs-${vpc.id.slice(-12)}`)
  })

  const addressOf = async (vm: Vm): Promise<string | undefined> => (await engine.instances.get(engineName(vm)))?.nic?.address ?? undefined
})
