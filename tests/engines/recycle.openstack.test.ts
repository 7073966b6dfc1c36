import { clouds } from '@zhisuan/contract/cmp/cloud'
import { computeInstances } from '@zhisuan/contract/compute/instance'
import { recycledInstances, type RecycledInstance } from '@zhisuan/contract/compute/recycled'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { administrator, cloudIsThere, registration } from '@zhisuan/engines/openstack/local'
import { ownName, until, untilGone } from '@zhisuan/engines/openstack/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, killing, startServer, type Client, type RunningServer } from '../support/server.ts'

/** The server is killed (-9) on the way into the recycle bin, out of it and to the end; started again, it gets there. */
describe.runIf(cloudIsThere)('the recycle bin of an OpenStack, with the server killed at every step', () => {
  const direct = createOpenStack(administrator())
  /** Newest first. */
  const undo: (() => Promise<unknown>)[] = []
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let client: Client
  let cloud_id: string
  let id: string
  let port: string
  let ip: { id: string; address: string }

  const restart = async (): Promise<void> => {
    const started = await startServer(data.path, { LOCAL_CLOUD: 'none' })
    server = started
    client = await asAdministrator(started)
  }
  const killedAt = killing(() => server, restart)
  const params = () => ({ cloud_id, id })
  const binned = async (): Promise<RecycledInstance | undefined> => {
    const response = await fetch(`${server?.url}${recycledInstances.list.path.replace('{cloud_id}', cloud_id)}`, { headers: client.authorization })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { items?: RecycledInstance[] })
    return lines.flatMap(({ items = [] }) => items).find((one) => one.id === id)
  }
  const recycle = () => client.call(computeInstances.recycle, { params: params() })
  const restore = () => client.call(recycledInstances.restore, { params: params() })
  const lies = () => until(binned, (one) => one?.status === 'recycled')
  const back = () => until(binned, (one) => one === undefined)

  beforeAll(async () => {
    data = temporaryFolder('recycle-faults')
    const { network, compute } = direct
    const [networks, images, flavors] = await Promise.all([
      all(network.networks.list({ 'router:external': true })),
      all(direct.images.list({ name: 'empty' })),
      all(compute.flavors.list()),
    ])
    const outside = networks.find(({ name }) => name === 'public')?.id ?? ''
    const own = await network.networks.create({ name: ownName('net') })
    undo.unshift(() => network.networks.delete(own.id))
    const subnet = await network.subnets.create({ networkId: own.id, name: 'subnet', cidr: '10.79.0.0/24', version: 4 })
    const router = await network.routers.create({ name: ownName('router'), gateway: { networkId: outside } })
    await network.routers.addInterface(router.id, { subnetId: subnet.id })
    undo.unshift(async () => {
      await network.routers.removeInterface(router.id, { subnetId: subnet.id })
      await network.routers.delete(router.id)
    })
    await restart()
    cloud_id = (await client.call(clouds.create, { body: { name: '测试云', product: 'openstack', connection: registration() } })).cloud_id
    const body = {
      name: ownName('vm'),
      flavor_id: flavors.find(({ name }) => name === 'm1.tiny')?.id,
      source: { type: 'image', image_id: images[0]?.id },
      networks: [{ network_id: own.id }],
    }
    id = (await client.call(computeInstances.create, { params: { cloud_id }, body })).items[0]?.id ?? ''
    undo.unshift(async () => {
      await compute.servers.act(id, 'forceDelete').catch(() => undefined)
      await untilGone(() => compute.servers.get(id))
    })
    await until(
      () => compute.servers.get(id),
      ({ state }) => state === 'running',
      ({ state }) => state === 'create_failed',
    )
    port = (await compute.servers.interfaces.list(id))[0]?.portId ?? ''
    const given = await network.floatingIps.create({ networkId: outside, portId: port })
    ip = { id: given.id, address: given.address }
    undo.unshift(() => network.floatingIps.delete(ip.id))
  })
  afterAll(async () => {
    await server?.stop()
    for (const one of undo) await one()
    await direct.close()
    data.remove()
  })

  it.each(['stop:before', 'stop:after', 'release:after', 'lock:after'])('an instance gets there, killed at %s', async (point) => {
    await killedAt(`compute.recycled.recycle:${point}`, recycle)
    expect(await lies()).toMatchObject({ ran: true, floating_ips: [ip.address], error: null })
    expect(await direct.compute.servers.get(id)).toMatchObject({ state: 'stopped', locked: true })
    expect((await direct.network.floatingIps.get(ip.id)).portId).toBeNull()
    await restore()
    await back()
    await until(
      () => direct.compute.servers.get(id),
      ({ state }) => state === 'running',
    )
  })

  it.each(['unlock:after', 'bind:after', 'start:after'])('it comes back, killed at %s', async (point) => {
    await recycle()
    await lies()
    await killedAt(`compute.recycled.restore:${point}`, restore)
    await back()
    expect(
      await until(
        () => direct.compute.servers.get(id),
        ({ state }) => state === 'running',
      ),
    ).toMatchObject({ locked: false })
    expect((await direct.network.floatingIps.get(ip.id)).portId).toBe(port)
  })

  it('and is purged once, killed when it was deleted', async () => {
    await recycle()
    await lies()
    await killedAt('compute.recycled.purge:delete:after', () => client.call(recycledInstances.purge, { params: params() }))
    await back()
    await untilGone(() => direct.compute.servers.get(id))
  })
})
