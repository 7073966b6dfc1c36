import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { hosts, type Host } from '@zhisuan/contract/nextstack/host'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { vms, vmTransitional, type Vm } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { ownImage, shell, socketPath } from '@zhisuan/engines/lxd/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const there = existsSync(socketPath) || process.env['CI'] !== undefined
const script = new URL('../support/lxd-cluster.sh', import.meta.url).pathname
const cluster = join(tmpdir(), 'zhisuan-host-cluster')

describe.skipIf(!there)('hosts of LXD, by the API', () => {
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let client: Client
  const restart = async (): Promise<void> => {
    await server?.stop()
    server = await startServer(data.path, { LOCAL_CLOUD: 'auto' })
    client = await asAdministrator(server)
  }
  beforeAll(async () => {
    data = temporaryFolder('hosts')
    await restart()
  })
  afterAll(async () => {
    await server?.stop()
    data?.remove()
  })
  const listed = async (cloud_id: string): Promise<Host[]> => (await client.call(hosts.list, { query: { cloud_id } })).items

  it('is told what this machine is, as its own programs tell', async () => {
    const local = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? expect.fail('no cloud')
    const [host] = await until(async () => {
      const all = await listed(local)
      return all.length > 0 && all
    }, 'the host to be known')
    const { disks, nics, system, ...said } = await client.call(hosts.get, { params: { id: host?.id ?? '' } })
    const columns = (await shell('lscpu', '-p=CPU,CORE,SOCKET'))
      .split('\n')
      .filter((line) => /^\d/.test(line))
      .map((line) => line.split(','))
    const different = (index: number) => new Set(columns.map((line) => line[index])).size
    expect(said).toMatchObject({
      name: (await shell('hostname')).trim(),
      status: 'online',
      clustered: false,
      architecture: (await shell('uname', '-m')).trim(),
      cpu: { threads: columns.length, cores: different(1), sockets: different(2) },
    })
    expect(said.cpu.model).not.toBe('')
    // What the kernel keeps for itself is not in what `free` says.
    const usable = Number((await shell('free', '-b')).match(/^Mem:\s+(\d+)/m)?.[1])
    expect(said.memory.total_bytes).toBeGreaterThanOrEqual(usable)
    expect(said.memory.total_bytes).toBeLessThan(usable * 1.15)
    expect(said.memory.used_bytes).toBeGreaterThan(0)
    expect(system.kernel).toContain((await shell('uname', '-r')).trim())
    const blocks = (await shell('lsblk', '-dnbo', 'NAME,SIZE'))
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
    for (const disk of disks) expect(blocks).toContainEqual([disk.id, String(disk.size_bytes)])
    expect(nics.length + disks.length).toBeGreaterThan(0)
  })

  describe('of a cluster', () => {
    const engine = createLxdEngine({ socketPath: join(cluster, 'one', 'unix.socket') })
    const network = 'zshosts'
    let cloud_id: string
    let made: readonly Vm[]
    beforeAll(async () => {
      // What a killed run left.
      await shell('bash', script, 'down', cluster)
      await shell('bash', script, 'up', cluster)
      await engine.networks.apply({
        name: network,
        description: '',
        ipv4: '10.89.0.1/24',
        dhcp: true,
        dnsDomain: null,
        nat: true,
        natAddress: null,
        acl: null,
        tags: {},
      })
      const { imageFingerprint } = await ownImage(engine, 'zs-hosts-by-api')
      const body = { name: 'cluster', product: 'nextstack', connection: { type: 'lxd-socket', socket_path: join(cluster, 'one', 'unix.socket') } }
      cloud_id = (await client.call(clouds.create, { body })).cloud_id
      await until(async () => (await listed(cloud_id)).length === 2, 'the members to be known')
      const flavor = (await client.call(flavors.list, { query: { sort: 'memory_bytes' } })).items[0]
      const wish = {
        cloud_id,
        name: 'moving',
        type: 'container',
        image_fingerprint: imageFingerprint,
        flavor_id: flavor?.id,
        network,
        password: 'Correct-horse-1',
        count: 2,
      }
      const { items } = await client.call(vms.create, { body: wish })
      made = await Promise.all(items.map(({ id }) => settled(id)))
    })
    afterAll(async () => {
      await engine.close()
      await shell('bash', script, 'down', cluster)
    })
    const settled = (id: string): Promise<Vm> =>
      until(async () => {
        const vm = await client.call(vms.get, { params: { id } })
        return !vmTransitional.includes(vm.status) && vm
      }, 'the instance to come to rest')
    const resting = (id: string): Promise<Host> =>
      until(
        async () => {
          const host = await client.call(hosts.get, { params: { id } })
          return host.operation_id === null && host
        },
        'the member to come to rest',
        90_000,
      )
    /** An init that has not booted does not hear that it is to shut down, as it is to be moved: that is waited for in vain. */
    const booted = async (): Promise<void> => {
      for (const { name } of await engine.instances.list()) await until(async () => (await engine.instances.get(name))?.addresses.length, `${name} to boot`)
    }
    const places = async () => (await engine.instances.list()).map(({ location }) => location).sort()

    it('has an instance on each member, and moves them away and back', async () => {
      expect(made.map(({ status, error }) => ({ status, error }))).toEqual([1, 2].map(() => ({ status: 'running', error: null })))
      expect(await places()).toEqual(['one', 'two'])
      const [one, two] = await listed(cloud_id)
      expect([one, two]).toMatchObject([
        { name: 'one', clustered: true, vm_count: 1 },
        { name: 'two', vm_count: 1 },
      ])

      const params = { id: two?.id ?? '' }
      await booted()
      expect(await client.call(hosts.evacuate, { params })).toMatchObject({ status: 'evacuating' })
      expect(await resting(params.id)).toMatchObject({ status: 'evacuated', error: null, vm_count: 0 })
      expect(await places()).toEqual(['one', 'one'])
      for (const { id } of made) expect(await client.call(vms.get, { params: { id } })).toMatchObject({ status: 'running', node: 'one' })
      // Where the other must not be given any more either, nothing is made.
      await client.call(hosts.setSchedulable, { params: { id: one?.id ?? '' }, body: { schedulable: false } })
      const { image, flavor } = made[0] ?? expect.fail('none')
      const more = {
        cloud_id,
        name: 'no-place',
        type: 'container',
        image_fingerprint: image.fingerprint,
        flavor_id: flavor.id,
        network,
        password: 'Correct-horse-1',
      }
      await expect(client.call(vms.create, { body: more })).rejects.toThrow('94172')

      await booted()
      expect(await client.call(hosts.restore, { params })).toMatchObject({ status: 'restoring' })
      expect(await resting(params.id)).toMatchObject({ status: 'online', error: null, vm_count: 1 })
      expect(await places()).toEqual(['one', 'two'])
      const { items } = await client.call(vms.create, { body: more })
      expect(await settled(items[0]?.id ?? '')).toMatchObject({ status: 'running', node: 'two' })
    })

    it('has copies of an instance on another member than its own', async () => {
      const source = await until(
        async () => (await client.call(vms.list, { query: { cloud_id } })).items.find(({ node }) => node === 'one'),
        'an instance on the first member',
      )
      const snapshot = await client.call(snapshots.create, { body: { vm_id: source.id, name: 'before' } })
      await until(async () => (await client.call(snapshots.get, { params: { id: snapshot.id } })).status === 'available', 'the snapshot')
      // The first member is not schedulable since the test before.
      const copy = await client.call(snapshots.clone, { params: { id: snapshot.id }, body: { name: 'copy' } })
      expect(await settled(copy.id)).toMatchObject({ status: 'running', node: 'two', error: null })
    })

    it('is evacuated once though the server is killed meanwhile', async () => {
      const two = (await listed(cloud_id)).find(({ name }) => name === 'two') ?? expect.fail('no second member')
      const params = { id: two.id }
      const before = await places()
      await booted()
      server?.dieAt('nextstack.host.evacuate:evacuate:after')
      await client.call(hosts.evacuate, { params })
      expect(await server?.ended).toBe('SIGKILL')
      await restart()
      expect(await resting(two.id)).toMatchObject({ status: 'evacuated', error: null, vm_count: 0 })
      expect(await places()).toEqual(before.map(() => 'one'))
      await booted()
      await client.call(hosts.restore, { params })
      expect(await resting(two.id)).toMatchObject({ status: 'online', error: null })
      expect(await places()).toEqual(before)
    })
  })
})
