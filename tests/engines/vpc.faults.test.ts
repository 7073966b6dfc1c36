import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { eipPools, eips, type Eip } from '@zhisuan/contract/nextstack/eip'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { vpcs, vpcTransitional, type Vpc } from '@zhisuan/contract/nextstack/vpc'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, killing, pointsOf, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/**
 * The server is killed (-9) with operations on networks before and after each of their steps, started
 * again, and each network ends as it was asked for: once, with nothing left over on the engine.
 */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('private networks on LXD, with the server killed at every step', () => {
  const engine = createLxdEngine({ socketPath })
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let client: Client
  let cloud_id: string
  let pool_id: string
  let count = 0

  const restart = async (): Promise<void> => {
    const started = await startServer(data.path)
    server = started
    client = await asAdministrator(started)
  }
  const get = (id: string) => client.call(vpcs.get, { params: { id } })
  const settled = (id: string): Promise<Vpc> =>
    until(async () => {
      const vpc = await get(id)
      return !vpcTransitional.includes(vpc.status) && vpc
    }, 'the network to come to rest')
  const create = async (): Promise<Vpc> => {
    const number = ++count
    return settled((await client.call(vpcs.create, { body: { cloud_id, name: `faults-${number}`, cidr: `10.231.${number}.0/24` } })).id)
  }
  const allocate = async (): Promise<Eip> => (await client.call(eips.allocate, { body: { pool_id } })).items[0] ?? expect.fail('no address')
  const rule = (vpc: Vpc, eip: Eip, port: number) => ({
    params: { id: vpc.nat?.id ?? '' },
    body: { eip_id: eip.id, protocol: 'tcp', outside_ports: String(port), inside_address: vpc.gateway.replace(/1$/, '20') },
  })
  const remove = async (vpc: Vpc): Promise<void> => {
    await client.call(vpcs.delete, { params: { id: vpc.id } })
    await gone(vpc)
  }
  /** One goes after the other: the last of ten waits for all of them. */
  const gone = (vpc: Vpc) => until(async () => (await client.call(vpcs.list, { query: { keyword: vpc.id } })).total === 0, 'the network to be gone', 400_000)
  const onEngine = async (vpc: Vpc) => {
    const networks = (await engine.networks.list()).filter(({ tags }) => tags['vpc_id'] === vpc.id)
    const [network] = networks
    const name = `zs-${vpc.id.slice(-12)}`
    return { networks, acl: await engine.networks.acls.get(name), forwards: network === undefined ? [] : await engine.networks.forwards.list(name) }
  }

  beforeAll(async () => {
    data = temporaryFolder('vpc-faults')
    await restart()
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    pool_id = (await client.call(eipPools.create, { body: { cloud_id, name: 'faults', ranges: [{ from: '198.18.231.1', to: '198.18.231.200' }] } })).id
  })
  afterAll(async () => {
    await server?.stop()
    // What a failed test left behind.
    for (const { name, description } of await engine.networks.list()) {
      if (!description.startsWith('faults-')) continue
      await engine.networks.delete(name)
      await engine.networks.acls.delete(name)
    }
    await engine.close()
    data.remove()
  })

  const killedAt = killing(() => server, restart)

  it('apply, killed before and after each step', async () => {
    const points = pointsOf('nextstack.vpc.apply', 'acl', 'network', 'forwards', 'obsolete', 'bandwidth')
    const all = await Promise.all(
      points.map(async () => {
        const [vpc, old, next] = [await create(), await allocate(), await allocate()]
        const { rules } = await client.call(natGateways.addRule, rule(vpc, old, 80))
        const group = await client.call(securityGroups.create, { body: { cloud_id, name: vpc.name, template: 'ssh' } })
        await settled(vpc.id)
        return { vpc, next, former: rules[0]?.id ?? '', group }
      }),
    )
    // Each of them begins an apply, or is taken up by the next; the server may die before it answers.
    const asks = all.flatMap(({ vpc, next, former, group }) => [
      () => client.call(vpcs.setSecurityGroups, { params: { id: vpc.id }, body: { security_group_ids: [group.id] } }),
      () => client.call(natGateways.addRule, rule(vpc, next, 81)),
      () => client.call(natGateways.removeRule, { params: { id: vpc.nat?.id ?? '', rule_id: former } }),
    ])
    await killedAt(points, ...asks)

    for (const { vpc } of all) {
      const now = await settled(vpc.id)
      expect(now).toMatchObject({ status: 'active', error: null, operation_id: null })
      const nat = await client.call(natGateways.get, { params: { id: vpc.nat?.id ?? '' } })
      const addresses = (await client.call(eips.list, { query: { vpc_id: vpc.id, sort: 'address' } })).items
      expect(addresses.map(({ status }) => status)).toEqual(addresses.map(() => 'bound'))
      const seen = await onEngine(vpc)
      expect(seen.networks).toHaveLength(1)
      expect(seen.acl?.ingress).toHaveLength(now.security_groups.length)
      const ports = seen.forwards.flatMap(({ address, ports }) => ports.map(({ listenPorts }) => `${address}:${listenPorts}`))
      expect(ports.sort()).toEqual(nat.rules.map(({ eip, outside_ports }) => `${eip.address}:${outside_ports}`).sort())
      expect(seen.forwards.every((forward) => forward.ports.length > 0)).toBe(true)
    }
    await Promise.all(all.map(({ vpc }) => remove(vpc)))
    expect((await client.call(eips.list, { query: { pool_id, status: 'bound' } })).total).toBe(0)
  })

  it('delete, killed before and after each step', async () => {
    const points = pointsOf('nextstack.vpc.delete', 'network', 'acl')
    const all = await Promise.all(
      points.map(async () => {
        const [vpc, eip] = [await create(), await allocate()]
        await client.call(natGateways.addRule, rule(vpc, eip, 80))
        await settled(vpc.id)
        return { vpc, eip }
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ vpc }) =>
          () =>
            client.call(vpcs.delete, { params: { id: vpc.id } }),
      ),
    )
    for (const { vpc, eip } of all) {
      await gone(vpc)
      expect(await client.call(eips.get, { params: { id: eip.id } })).toMatchObject({ status: 'available', bound_to: null })
      expect(await onEngine(vpc)).toEqual({ networks: [], acl: null, forwards: [] })
    }
  })
})
