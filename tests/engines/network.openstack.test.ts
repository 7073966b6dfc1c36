import { clouds } from '@zhisuan/contract/cmp/cloud'
import { computeNetworks, computeSubnets } from '@zhisuan/contract/compute/network'
import { computeRouters } from '@zhisuan/contract/compute/router'
import { computeSecurityGroups } from '@zhisuan/contract/compute/security-group'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { administrator, cloudIsThere, registration } from '@zhisuan/engines/openstack/local'
import { createFaultyCloud, ownName } from '@zhisuan/engines/openstack/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, type Client, type RunningServer } from '../support/server.ts'

/**
 * What is made by several requests to Neutron is no operation of ours: killed (-9) between two of them, what was made so
 * far is there, is seen as what it is, and can be completed or deleted.
 */
describe.runIf(cloudIsThere)('networks of an OpenStack, with the server killed in the middle', () => {
  const direct = createOpenStack(administrator())
  let faulty: Awaited<ReturnType<typeof createFaultyCloud>>
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let client: Client
  let cloud_id: string
  /** By what they are called, since nobody was told their ids. */
  const names: string[] = []

  const restart = async (): Promise<void> => {
    const started = await startServer(data.path, { LOCAL_CLOUD: 'none' })
    server = started
    client = await asAdministrator(started)
  }
  const params = (id = '') => ({ cloud_id, id })
  const named = (what: string): string => {
    const name = ownName(what)
    names.push(name)
    return name
  }
  /** Asks with a server that dies when it asks Neutron for that: before Neutron hears of it, or when it was done. */
  const killedAsking = async (what: RegExp, done: boolean, ask: () => Promise<unknown>): Promise<void> => {
    faulty.breaks('network', ({ method, url }, response) => {
      if (!what.test(`${method} ${url}`)) return false
      if (done) response.once('pipe', () => server?.process.kill('SIGKILL'))
      else server?.process.kill('SIGKILL')
      return !done
    })
    await expect(ask()).rejects.toThrow()
    expect(await server?.ended).toBe('SIGKILL')
    faulty.breaks('network', null)
    await restart()
  }

  beforeAll(async () => {
    data = temporaryFolder('network-faults')
    faulty = await createFaultyCloud()
    await restart()
    cloud_id = (
      await client.call(clouds.create, { body: { name: '测试云', product: 'openstack', connection: { ...registration(), auth_url: faulty.authUrl } } })
    ).cloud_id
  })
  afterAll(async () => {
    await server?.stop()
    const { network } = direct
    for (const name of names) {
      for (const { id } of await all(network.routers.list({ name }))) {
        for (const port of await all(network.ports.list({ device_id: id }))) await network.routers.removeInterface(id, { portId: port.id })
        await network.routers.delete(id)
      }
      for (const { id } of await all(network.networks.list({ name }))) await network.networks.delete(id)
      for (const { id } of await all(network.securityGroups.list({ name }))) await network.securityGroups.delete(id)
    }
    await direct.close()
    await faulty.close()
    data.remove()
  })

  it.each([
    { when: 'before Neutron hears of its first subnet', done: false },
    { when: 'when its first subnet is there', done: true },
  ])('a network, $when', async ({ done }) => {
    const name = named('net')
    await killedAsking(/^POST .*\/subnets$/, done, () =>
      client.call(computeNetworks.create, { params: params(), body: { name, subnet: { cidr: '10.84.0.0/24' } } }),
    )
    const left = await all(direct.network.networks.list({ name }))
    expect(left).toHaveLength(1)
    const id = left[0]?.id ?? ''
    expect((await client.call(computeNetworks.get, { params: params(id) })).subnets).toHaveLength(done ? 1 : 0)
    if (!done) await client.call(computeSubnets.create, { params: params(), body: { network_id: id, cidr: '10.84.0.0/24' } })
    expect((await client.call(computeNetworks.get, { params: params(id) })).subnets).toMatchObject([{ cidr: '10.84.0.0/24' }])
    await client.call(computeNetworks.delete, { params: params(id) })
    expect(await all(direct.network.networks.list({ name }))).toEqual([])
  })

  it('a router before it is joined to its subnets', async () => {
    const network = await client.call(computeNetworks.create, { params: params(), body: { name: named('net'), subnet: { cidr: '10.85.0.0/24' } } })
    const subnet_id = network.subnets[0]?.id ?? ''
    const name = named('router')
    await killedAsking(/^PUT .*\/add_router_interface$/, false, () =>
      client.call(computeRouters.create, { params: params(), body: { name, subnet_ids: [subnet_id] } }),
    )
    const [left] = await all(direct.network.routers.list({ name }))
    const id = left?.id ?? ''
    expect(await client.call(computeRouters.get, { params: params(id) })).toMatchObject({ name, interfaces: [] })
    expect(await client.call(computeRouters.addInterface, { params: params(id), body: { subnet_id } })).toMatchObject({
      interfaces: [{ addresses: [{ subnet_id }] }],
    })
    await client.call(computeRouters.removeInterface, { params: params(id), body: { subnet_id } })
    await client.call(computeRouters.delete, { params: params(id) })
    await client.call(computeNetworks.delete, { params: params(network.id) })
  })

  it('a security group before its rules: it lets nothing in that nobody asked for', async () => {
    const name = named('group')
    await killedAsking(/^POST .*\/security-group-rules$/, false, () =>
      client.call(computeSecurityGroups.create, { params: params(), body: { name, template: 'web' } }),
    )
    const [left] = await all(direct.network.securityGroups.list({ name }))
    const id = left?.id ?? ''
    expect((await client.call(computeSecurityGroups.get, { params: params(id) })).rules.filter(({ direction }) => direction === 'ingress')).toEqual([])
    await client.call(computeSecurityGroups.addRule, { params: params(id), body: { direction: 'ingress', protocol: 'tcp', port_from: 80 } })
    await client.call(computeSecurityGroups.delete, { params: params(id) })
    expect(await all(direct.network.securityGroups.list({ name }))).toEqual([])
  })
})
