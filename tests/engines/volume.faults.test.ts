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
import { asAdministrator, killing, pointsOf, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const mib = 2 ** 20

/**
 * The server is killed (-9) with operations on volumes before and after each of their steps, started again,
 * and each ends as it was asked for: once, with nothing left over on the engine or in the files.
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
  const settledBackup = (name: string) =>
    until(async () => {
      const backup = (await client.call(volumeBackups.list)).items.find((one) => one.name === name)
      return backup?.operation_id === null && backup
    }, 'the backup to end')
  const files = () => readdirSync(join(data.path, 'volume-backups'))
  const sumOf = ({ id }: { id: string }): string =>
    createHash('sha256')
      .update(readFileSync(join(data.path, 'volume-backups', id)))
      .digest('hex')

  beforeAll(async () => {
    data = temporaryFolder('volume-faults')
    await restart()
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    const image = await until(async () => (await client.call(images.list, { query })).items.find(({ name }) => name === 'busybox'), 'the first image')
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

  it('made and attached, killed before and after each step', async () => {
    const points = [...pointsOf('nextstack.volume.create', 'create', 'attach'), 'nextstack.volume.create:observe:after']
    const names = points.map((_, index) => `made-${index}`)
    await killedAt(points, ...names.map((name) => () => client.call(volumes.create, { body: body(name) })))
    for (const name of names) {
      const volume = await settledNamed(name)
      expect(volume).toMatchObject({ status: 'in_use', error: null, attached_to: { vm: { id: vm_id }, path: `/${name}` } })
      const [there, ...others] = await ours(volume)
      expect([there?.attached.map(({ path }) => path), others]).toEqual([[`/${name}`], []])
      expect(await run(`echo 1 > /${name}/a && cat /${name}/a`)).toBe('1')
      await remove(volume)
    }
  })

  it('set back, killed before and after its step', async () => {
    const points = pointsOf('nextstack.volume.restore', 'restore')
    const all = await Promise.all(
      points.map(async (_, index) => {
        const name = `back-${index}`
        const volume = await create(name)
        await run(`echo then > /${name}/a && sync`)
        const snapshot_id = await snapshotOf(volume)
        await run(`echo now > /${name}/a && sync`)
        await detach(volume)
        return { name, volume, snapshot_id }
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ volume, snapshot_id }) =>
          () =>
            client.call(volumes.restore, { params: { id: volume.id }, body: { snapshot_id } }),
      ),
    )
    for (const { name, volume } of all) {
      expect(await settled(volume.id)).toMatchObject({ status: 'available', error: null })
      await client.call(volumes.attach, { params: { id: volume.id }, body: { vm_id, path: `/${name}` } })
      await settled(volume.id)
      expect(await run(`cat /${name}/a`)).toBe('then')
      await remove(volume)
    }
  })

  it('backed up, killed before and after its step, and made anew from it, killed too', async () => {
    const points = pointsOf('nextstack.volumeBackup.create', 'write')
    const all = await Promise.all(
      points.map(async (_, index) => {
        const name = `kept-${index}`
        const volume = await create(name)
        await run(`echo ${name} > /${name}/a && sync`)
        return { name, volume }
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ name, volume }) =>
          () =>
            client.call(volumeBackups.create, { body: { volume_id: volume.id, name } }),
      ),
    )
    const backups = await Promise.all(all.map(({ name }) => settledBackup(name)))
    expect(files().toSorted()).toEqual(backups.map(({ id }) => id).toSorted())
    for (const backup of backups) {
      expect(backup).toMatchObject({ status: 'available', error: null })
      expect(sumOf(backup)).toBe(backup.sha256)
    }
    for (const { volume } of all) {
      expect(await settled(volume.id)).toMatchObject({ status: 'in_use', error: null })
      await remove(volume)
    }

    const made = 'nextstack.volume.create:create:after'
    await killedAt(
      backups.map(() => made),
      ...backups.map(
        ({ id, name }) =>
          () =>
            client.call(volumes.create, { body: { ...body(`again-${name}`), backup_id: id } }),
      ),
    )
    for (const { id, name } of backups) {
      const again = await settledNamed(`again-${name}`)
      expect(await run(`cat /again-${name}/a`)).toBe(name)
      expect(await ours(again)).toHaveLength(1)
      await remove(again)
      await client.call(volumeBackups.delete, { params: { id } })
    }
    await until(async () => (await client.call(volumeBackups.list)).total === 0, 'the backups to be gone')
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
    const backup = await settledBackup('halfway')
    expect(backup).toMatchObject({ status: 'available', error: null })
    expect(files()).toEqual([backup.id])
    expect(sumOf(backup)).toBe(backup.sha256)
    await client.call(volumeBackups.delete, { params: { id: backup.id } })
    await remove(await settled(volume.id))
  })

  it('deleted, killed before and after its step', async () => {
    const points = pointsOf('nextstack.volume.delete', 'delete')
    const all = await Promise.all(
      points.map(async (_, index) => {
        const volume = await create(`doomed-${index}`)
        await snapshotOf(volume)
        await detach(volume)
        return volume
      }),
    )
    await killedAt(
      points,
      ...all.map(
        ({ id }) =>
          () =>
            client.call(volumes.delete, { params: { id } }),
      ),
    )
    for (const volume of all) {
      await gone(volume)
      expect(await ours(volume)).toEqual([])
      await expect(engine.storage.volumes.snapshots.list(nameOf(volume))).rejects.toMatchObject({ kind: 'not_found' })
    }
  })
})
