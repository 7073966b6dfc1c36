import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { volumeBackups, volumes, volumeSnapshots, volumeTransitional, type Volume } from '@zhisuan/contract/nextstack/volume'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, killing, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const mib = 2 ** 20

/**
 * The server is killed (-9) at each step of an operation on a volume, started again, and the
 * operation ends as it was asked for: once, with nothing left over on the engine or in the files.
 */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('volumes on LXD, with the server killed at every step', () => {
  const engine = createLxdEngine({ socketPath })
  let server: RunningServer | undefined
  let client: Client
  let cloud_id: string
  let data: TemporaryFolder
  let vm_id: string
  let instance: string
  /** Of volumes that were asked for: the engine keeps them as descriptions. */
  const names = new Set<string>()

  const restart = async (): Promise<void> => {
    const started = await startServer(data.path)
    server = started
    client = await asAdministrator(started)
  }
  const killedAt = killing(() => server, restart)
  const ours = async ({ id }: { id: string }) => (await engine.storage.volumes.list()).filter(({ tags }) => tags['volume_id'] === id)
  const nameOf = ({ id, pool }: Volume) => ({ pool, volume: `zs-${id.replaceAll('-', '')}` })
  const run = async (script: string): Promise<string> => (await engine.instances.exec(instance, { command: ['sh', '-c', script] })).stdout.toString().trim()
  const settled = (id: string): Promise<Volume> =>
    until(async () => {
      const volume = await client.call(volumes.get, { params: { id } })
      return !volumeTransitional.includes(volume.status) && volume
    }, 'the volume to come to rest')
  const settledNamed = async (name: string): Promise<Volume> => settled((await client.call(volumes.list, { query: { keyword: name } })).items[0]?.id ?? '')
  const body = (name: string) => {
    names.add(name)
    return { cloud_id, name, size_bytes: 64 * mib, attach: { vm_id, path: `/${name}` } }
  }
  const create = async (name: string): Promise<Volume> => settled((await client.call(volumes.create, { body: body(name) })).id)
  const detach = async ({ id }: Volume): Promise<Volume> => {
    await client.call(volumes.detach, { params: { id }, body: { force: true } })
    return settled(id)
  }
  const gone = ({ id }: Volume) => until(async () => (await client.call(volumes.list, { query: { keyword: id } })).total === 0, 'the volume to be gone')
  const remove = async (volume: Volume): Promise<void> => {
    if ((await settled(volume.id)).status === 'in_use') await detach(volume)
    await client.call(volumes.delete, { params: { id: volume.id } })
    await gone(volume)
    expect(await ours(volume)).toEqual([])
  }
  const snapshotOf = async ({ id }: Volume): Promise<string> => {
    const snapshot = await client.call(volumeSnapshots.create, { body: { volume_id: id, name: 'then' } })
    await until(async () => (await client.call(volumeSnapshots.get, { params: { id: snapshot.id } })).status === 'available', 'the snapshot')
    return snapshot.id
  }
  const settledBackup = () =>
    until(async () => {
      const [backup] = (await client.call(volumeBackups.list)).items
      return backup?.operation_id === null && backup
    }, 'the backup to end')
  const files = () => readdirSync(join(data.path, 'volume-backups'))

  beforeAll(async () => {
    data = temporaryFolder('volume-faults')
    await restart()
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    const image = await until(async () => (await client.call(images.list, { query })).items[0], 'the first image')
    const [network] = (await client.call(networks.list, { query })).items
    const [flavor] = (await client.call(flavors.list)).items
    const wish = {
      cloud_id,
      name: 'volumes',
      type: 'container',
      image_fingerprint: image.fingerprint,
      network: network?.name,
      flavor_id: flavor?.id,
      password: 'Fault-test-1',
    }
    vm_id = (await client.call(vms.create, { body: wish })).items[0]?.id ?? ''
    instance = `zs-${vm_id.replaceAll('-', '')}`
    await until(async () => (await client.call(vms.get, { params: { id: vm_id } })).status === 'running', 'the instance to run', 60_000)
  })
  afterAll(async () => {
    await server?.stop()
    await engine.instances.stop(instance, { force: true }).catch(() => undefined)
    await engine.instances.delete(instance)
    // Whatever a test left when it failed.
    for (const volume of await engine.storage.volumes.list()) {
      if (volume.tags['volume_id'] !== undefined && names.has(volume.description)) await engine.storage.volumes.delete(volume)
    }
    await engine.close()
    data.remove()
  })

  it.each(['create:before', 'create:after', 'attach:before', 'attach:after', 'observe:after'])('made and attached, killed at %s', async (point) => {
    const name = `made-${point.replace(':', '-')}`
    await killedAt(`nextstack.volume.create:${point}`, () => client.call(volumes.create, { body: body(name) }))
    const volume = await settledNamed(name)
    expect(volume).toMatchObject({ status: 'in_use', error: null, attached_to: { vm: { id: vm_id }, path: `/${name}` } })
    const [there, ...others] = await ours(volume)
    expect([there?.attached.map(({ path }) => path), others]).toEqual([[`/${name}`], []])
    expect(await run(`echo 1 > /${name}/a && cat /${name}/a`)).toBe('1')
    await remove(volume)
  })

  it.each(['restore:before', 'restore:after'])('set back, killed at %s', async (point) => {
    const name = `back-${point.replace(':', '-')}`
    const volume = await create(name)
    await run(`echo then > /${name}/a && sync`)
    const snapshot_id = await snapshotOf(volume)
    await run(`echo now > /${name}/a && sync`)
    await detach(volume)
    await killedAt(`nextstack.volume.restore:${point}`, () => client.call(volumes.restore, { params: { id: volume.id }, body: { snapshot_id } }))
    expect(await settled(volume.id)).toMatchObject({ status: 'available', error: null })
    await client.call(volumes.attach, { params: { id: volume.id }, body: { vm_id, path: `/${name}` } })
    await settled(volume.id)
    expect(await run(`cat /${name}/a`)).toBe('then')
    await remove(volume)
  })

  it.each(['write:before', 'write:after'])('backed up, killed at %s, and made anew from it', async (point) => {
    const name = `kept-${point.replace(':', '-')}`
    const volume = await create(name)
    await run(`echo kept > /${name}/a && sync`)
    await killedAt(`nextstack.volumeBackup.create:${point}`, () => client.call(volumeBackups.create, { body: { volume_id: volume.id, name } }))
    const backup = await settledBackup()
    expect(backup).toMatchObject({ name, status: 'available', error: null })
    expect(files()).toEqual([backup.id])
    expect(
      createHash('sha256')
        .update(readFileSync(join(data.path, 'volume-backups', backup.id)))
        .digest('hex'),
    ).toBe(backup.sha256)
    expect(await settled(volume.id)).toMatchObject({ status: 'in_use', error: null })
    await remove(volume)

    await killedAt('nextstack.volume.create:create:after', () => client.call(volumes.create, { body: { ...body(`again-${name}`), backup_id: backup.id } }))
    const again = await settledNamed(`again-${name}`)
    expect(await run(`cat /again-${name}/a`)).toBe('kept')
    expect(await ours(again)).toHaveLength(1)
    await remove(again)
    await client.call(volumeBackups.delete, { params: { id: backup.id } })
    await until(async () => (await client.call(volumeBackups.list)).total === 0, 'the backup to be gone')
    expect(files()).toEqual([])
  })

  it('backed up, killed while it is written', async () => {
    const volume = await create('halfway')
    await run('head -c 40000000 /dev/urandom > /halfway/a && sync')
    await client.call(volumeBackups.create, { body: { volume_id: volume.id, name: 'halfway' } })
    await until(async () => files().some((name) => name.endsWith('.part')), 'the file to be begun')
    server?.process.kill('SIGKILL')
    expect(await server?.ended).toBe('SIGKILL')
    await restart()
    const backup = await settledBackup()
    expect(backup).toMatchObject({ status: 'available', error: null })
    expect(files()).toEqual([backup.id])
    expect(
      createHash('sha256')
        .update(readFileSync(join(data.path, 'volume-backups', backup.id)))
        .digest('hex'),
    ).toBe(backup.sha256)
    await client.call(volumeBackups.delete, { params: { id: backup.id } })
    await remove(await settled(volume.id))
  })

  it.each(['delete:before', 'delete:after'])('deleted, killed at %s', async (point) => {
    const volume = await create(`doomed-${point.replace(':', '-')}`)
    await snapshotOf(volume)
    await detach(volume)
    await killedAt(`nextstack.volume.delete:${point}`, () => client.call(volumes.delete, { params: { id: volume.id } }))
    await gone(volume)
    expect(await ours(volume)).toEqual([])
    await expect(engine.storage.volumes.snapshots.list(nameOf(volume))).rejects.toMatchObject({ kind: 'not_found' })
  })
})
