import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { storagePools, volumeBackups, volumes, volumeSnapshots, volumeTransitional, type Volume } from '@zhisuan/contract/nextstack/volume'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer, untilTold } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const mib = 2 ** 20

/** What people do with volumes, by the API, on a real engine: what is written is what is read, all the way. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('volumes on LXD', () => {
  const engine = createLxdEngine({ socketPath })
  let server: RunningServer | undefined
  let client: Client
  let cloud_id: string
  let data: TemporaryFolder
  const made: { vms: string[]; volumes: string[] } = { vms: [], volumes: [] }

  const run = async (vm: Vm, script: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await engine.instances.exec(`zs-${vm.id.replaceAll('-', '')}`, { command: ['sh', '-c', script] })
    if (exitCode !== 0) throw new Error(`${script}: ${stderr.toString()}`)
    return stdout.toString().trim()
  }
  const sumOf = async (vm: Vm, path: string): Promise<string> => (await run(vm, `sha256sum ${path}`)).split(' ')[0] ?? ''
  const settled = (id: string): Promise<Volume> =>
    until(async () => {
      const volume = await client.call(volumes.get, { params: { id } })
      return !volumeTransitional.includes(volume.status) && volume
    }, 'the volume to come to rest')
  const create = async (body: object): Promise<Volume> => {
    const { id } = await client.call(volumes.create, { body: { cloud_id, size_bytes: 64 * mib, ...body } })
    made.volumes.push(id)
    return settled(id)
  }
  const attach = async ({ id }: Volume, vm: Vm, path = '/data'): Promise<Volume> => {
    await client.call(volumes.attach, { params: { id }, body: { vm_id: vm.id, path } })
    return settled(id)
  }
  const detach = async ({ id }: Volume, force = false): Promise<Volume> => {
    await client.call(volumes.detach, { params: { id }, body: { force } })
    return settled(id)
  }
  const gone = ({ id }: Volume) => until(async () => (await client.call(volumes.list, { query: { keyword: id } })).total === 0, 'the volume to be gone')
  const onEngine = async ({ id }: Volume) => (await engine.storage.volumes.list()).find(({ tags }) => tags['volume_id'] === id)

  let one: Vm
  let other: Vm
  beforeAll(async () => {
    data = temporaryFolder('volumes')
    server = await startServer(data.path)
    client = await asAdministrator(server)
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    const image = await until(async () => (await client.call(images.list, { query })).items.find(({ name }) => name === 'busybox'), 'the first image')
    const [network] = (await client.call(networks.list, { query })).items
    const [flavor] = (await client.call(flavors.list)).items
    const body = {
      cloud_id,
      name: 'volumes',
      count: 2,
      type: 'container',
      image_fingerprint: image.fingerprint,
      network: network?.name,
      flavor_id: flavor?.id,
      password: 'Volume-test-1',
    }
    const { items } = await client.call(vms.create, { body })
    made.vms.push(...items.map(({ id }) => id))
    const running = await Promise.all(
      items.map(({ id }) =>
        until(
          async () => {
            const vm = await client.call(vms.get, { params: { id } })
            return vm.operation_id === null && vm
          },
          'the instances to run',
          60_000,
        ),
      ),
    )
    expect(running.map(({ status, error }) => [status, error])).toEqual([
      ['running', null],
      ['running', null],
    ])
    one = running[0] ?? expect.fail('no instance')
    other = running[1] ?? expect.fail('no instance')
  })
  afterAll(async () => {
    await server?.stop()
    // Whatever a test left when it failed.
    for (const instance of await engine.instances.list()) {
      if (!made.vms.includes(instance.tags['vm_id'] ?? '')) continue
      await engine.instances.stop(instance.name, { force: true }).catch(() => undefined)
      await engine.instances.delete(instance.name)
    }
    for (const volume of await engine.storage.volumes.list())
      if (made.volumes.includes(volume.tags['volume_id'] ?? '')) await engine.storage.volumes.delete(volume)
    await engine.close()
    data.remove()
  })

  it('keep what is written through snapshot, restore, backup and import, in one instance and another', async () => {
    const volume = await create({ name: 'data', attach: { vm_id: one.id, path: '/data' } })
    expect(volume).toMatchObject({ status: 'in_use', attached_to: { vm: { id: one.id }, path: '/data' } })
    await run(
      one,
      'mkdir -p /data/deep && head -c 5000000 /dev/urandom > /data/deep/file && chown 1000:1001 /data/deep/file && chmod 640 /data/deep/file && sync',
    )
    const sum = await sumOf(one, '/data/deep/file')

    const { id: snapshot_id } = await client.call(volumeSnapshots.create, { body: { volume_id: volume.id, name: 'before' } })
    await until(async () => (await client.call(volumeSnapshots.get, { params: { id: snapshot_id } })).status === 'available', 'the snapshot')
    await run(one, 'echo changed > /data/deep/file && echo new > /data/new')
    await expect(client.call(volumes.restore, { params: { id: volume.id }, body: { snapshot_id } })).rejects.toThrow('94155')
    expect(await detach(volume)).toMatchObject({ status: 'available', error: null })
    await client.call(volumes.restore, { params: { id: volume.id }, body: { snapshot_id } })
    expect(await settled(volume.id)).toMatchObject({ status: 'available', error: null })
    await attach(volume, one)
    expect(await sumOf(one, '/data/deep/file')).toBe(sum)
    expect(await run(one, 'stat -c "%a %u %g" /data/deep/file; ls /data')).toBe('640 1000 1001\ndeep')

    // While it is in use.
    const { id: backup_id } = await client.call(volumeBackups.create, { body: { volume_id: volume.id, name: 'data' } })
    const backup = await until(async () => {
      const now = await client.call(volumeBackups.get, { params: { id: backup_id } })
      return now.status !== 'creating' && now
    }, 'the backup')
    expect(backup).toMatchObject({ status: 'available', error: null })
    const { path } = await client.call(volumeBackups.download, { params: { id: backup_id } })
    const file = Buffer.from(await (await fetch(`${server?.url}${path}`)).arrayBuffer())
    expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([backup.file_bytes, backup.sha256])

    await detach(volume)
    await client.call(volumes.delete, { params: { id: volume.id } })
    await gone(volume)
    expect(await onEngine(volume)).toBeUndefined()

    const again = await create({ name: 'again', size_bytes: 96 * mib, backup_id, attach: { vm_id: other.id, path: '/srv/again' } })
    expect(again).toMatchObject({ status: 'in_use', error: null, size_bytes: 96 * mib })
    expect(await sumOf(other, '/srv/again/deep/file')).toBe(sum)
    expect(await run(other, 'stat -c "%a %u %g" /srv/again/deep/file')).toBe('640 1000 1001')
    expect((await onEngine(again))?.sizeBytes).toBe(96 * mib)
    await client.call(volumeBackups.delete, { params: { id: backup_id } })
    await until(async () => (await client.call(volumeBackups.list)).total === 0, 'the backup to be gone')
    expect(existsSync(join(data.path, 'volume-backups', backup_id))).toBe(false)
    await detach(again)
    await client.call(volumes.delete, { params: { id: again.id } })
    await gone(again)
  })

  it('become copies by snapshots, grow, and are not taken from a process that uses them', async () => {
    const volume = await create({ name: 'busy', attach: { vm_id: one.id, path: '/busy' } })
    await run(one, 'head -c 3000000 /dev/urandom > /busy/file && sync')
    const sum = await sumOf(one, '/busy/file')
    const { id: snapshot_id } = await client.call(volumeSnapshots.create, { body: { volume_id: volume.id, name: 'copied' } })
    await until(async () => (await client.call(volumeSnapshots.get, { params: { id: snapshot_id } })).status === 'available', 'the snapshot')
    const copy = await create({ name: 'copy', snapshot_id, attach: { vm_id: other.id, path: '/copy' } })
    expect(await sumOf(other, '/copy/file')).toBe(sum)

    await client.call(volumes.grow, { params: { id: volume.id }, body: { size_bytes: 128 * mib } })
    expect(await settled(volume.id)).toMatchObject({ status: 'in_use', error: null, size_bytes: 128 * mib })
    expect((await onEngine(volume))?.sizeBytes).toBe(128 * mib)
    expect(await sumOf(one, '/busy/file')).toBe(sum)

    await run(one, 'cd /busy && (sleep 600 >/dev/null 2>&1 & echo $! > /tmp/holder)')
    expect(await detach(volume)).toMatchObject({
      status: 'in_use',
      attached_to: { vm: { id: one.id } },
      error: '实例中有程序正在使用该云硬盘，请先停止程序或卸载',
    })
    expect(await sumOf(one, '/busy/file')).toBe(sum)
    await run(one, 'kill $(cat /tmp/holder)')
    expect(await detach(volume)).toMatchObject({ status: 'available', error: null })
    for (const each of [volume, await detach(copy)]) {
      await client.call(volumes.delete, { params: { id: each.id } })
      await gone(each)
      expect(await onEngine(each)).toBeUndefined()
    }
  })

  it('show at once what others do with them', async () => {
    const volume = await create({ name: 'followed' })
    const name = { pool: volume.pool, volume: `zs-${volume.id.replaceAll('-', '')}` }
    const get = () => client.call(volumes.get, { params: { id: volume.id } })
    await engine.storage.volumes.attach(name, { instance: `zs-${one.id.replaceAll('-', '')}`, device: 'byhand', path: '/byhand' })
    const shows = (so: () => Promise<boolean>, what: string) => untilTold(so, `${what} to show`)
    await shows(async () => (await get()).attached_to?.path === '/byhand', 'the attachment')
    await engine.storage.volumes.grow(name, 80 * mib)
    await shows(async () => (await get()).size_bytes === 80 * mib, 'the size')
    await engine.storage.volumes.detach(name, { instance: `zs-${one.id.replaceAll('-', '')}`, device: 'byhand' })
    await shows(async () => (await get()).status === 'available', 'the detachment')
    await engine.storage.volumes.delete(name)
    await shows(async () => (await get()).status === 'lost', 'the loss')
    await client.call(volumes.delete, { params: { id: volume.id } })
    await gone(volume)
    const [pool] = (await client.call(storagePools.list, { query: { cloud_id } })).items
    expect(pool?.total_bytes).toBeGreaterThan(0)
  })

  it('stay when their instance is rebuilt, is set back, and when it goes', async () => {
    const volume = await create({ name: 'survivor', attach: { vm_id: one.id, path: '/kept' } })
    await run(one, 'echo kept > /kept/file && sync')
    await client.call(vms.rebuild, { params: { id: one.id }, body: { image_fingerprint: one.image.fingerprint, password: 'Volume-test-2' } })
    await until(async () => (await client.call(vms.get, { params: { id: one.id } })).operation_id === null, 'the rebuild to end')
    expect(await run(one, 'cat /kept/file')).toBe('kept')
    const { id: snapshot } = await client.call(snapshots.create, { body: { vm_id: one.id, name: 'then' } })
    await until(async () => (await client.call(snapshots.get, { params: { id: snapshot } })).status === 'available', 'the snapshot of the instance')
    await run(one, 'echo newer > /kept/file && sync')
    await client.call(snapshots.restore, { params: { id: snapshot }, body: {} })
    await until(async () => (await client.call(vms.get, { params: { id: one.id } })).operation_id === null, 'the instance to be set back')
    // Its own disk is as it was then, the volume as it is now.
    expect(await run(one, 'cat /kept/file')).toBe('newer')
    await client.call(vms.delete, { params: { id: one.id } })
    await until(async () => (await client.call(vms.list, { query: { keyword: one.id } })).total === 0, 'the instance to be gone')
    expect(await settled(volume.id)).toMatchObject({ status: 'available', attached_to: null })
    await attach(volume, other, '/kept')
    expect(await run(other, 'cat /kept/file')).toBe('newer')
    await detach(volume, true)
    await client.call(volumes.delete, { params: { id: volume.id } })
    await gone(volume)
  })
})
