import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors, images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/**
 * The server is killed (-9) at each step of an operation, started again, and the operation ends as
 * it was asked for: once, with nothing left over on the engine.
 */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('operations on instances, with the server killed at every step', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'zhisuan-faults-'))
  const engine = createLxdEngine({ socketPath })
  let server: RunningServer | undefined
  let client: Client
  let cloud_id: string

  const restart = async (env: Record<string, string> = {}): Promise<void> => {
    const started = await startServer(dataDir, env)
    server = started
    client = await asAdministrator(started)
  }
  const ours = async (id: string) => (await engine.instances.list()).filter((one) => one.tags['vm_id'] === id)
  const create = async (name: string): Promise<string> => {
    const query = { cloud_id }
    const [image] = (await client.call(images.list, { query })).items
    const [network] = (await client.call(networks.list, { query })).items
    const [flavor] = (await client.call(flavors.list)).items
    const { items } = await client.call(vms.create, {
      body: {
        cloud_id,
        name,
        type: 'container',
        image_fingerprint: image?.fingerprint,
        network: network?.name,
        flavor_id: flavor?.id,
        password: 'Fault-test-1',
      },
    })
    return items[0]?.id ?? ''
  }
  const status = async (nameOrId: string) => (await client.call(vms.list, { query: { keyword: nameOrId } })).items[0]

  beforeAll(async () => {
    await restart()
    cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    // Built on this host at the first start.
    await until(async () => (await client.call(images.list, { query: { cloud_id } })).total > 0, 'the first image')
    await server?.stop()
  })
  afterAll(async () => {
    await server?.stop()
    await engine.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it.each(['create:before', 'create:after', 'start:before', 'start:after', 'access:before', 'access:after'])('create, killed at %s', async (point) => {
    await restart({ FAULT_POINT: `nextstack.vm.create:${point}` })
    const name = `killed-${point.replace(':', '-')}`
    // It may die before it has answered; what was asked for counts all the same.
    await create(name).catch(() => undefined)
    expect(await server?.ended).toBe('SIGKILL')

    await restart()
    const id = (await status(name))?.id ?? ''
    const vm = await until(async () => {
      const now = await status(id)
      return now?.operation_id === null && now
    }, 'the creation to end')
    expect(vm.status).toBe('running')
    const [instance, ...others] = await ours(id)
    expect(others).toEqual([])
    expect(instance?.power).toBe('running')
    const shadow = await engine.instances.exec(instance?.name ?? '', { command: ['grep', '^root:', '/etc/shadow'] })
    expect(shadow.stdout.toString()).toMatch(/^root:\$6\$/)

    await client.call(vms.delete, { params: { id } })
    await until(async () => (await status(id)) === undefined, 'the instance to be gone')
    expect(await ours(id)).toEqual([])
    await server?.stop()
  })

  it.each(['delete:before', 'delete:after'])('delete, killed at %s', async (point) => {
    await restart({ FAULT_POINT: `nextstack.vm.delete:${point}` })
    const id = await create(`doomed-${point.replace(':', '-')}`)
    await until(async () => (await status(id))?.status === 'running', 'the instance to run')
    await client.call(vms.delete, { params: { id } }).catch(() => undefined)
    expect(await server?.ended).toBe('SIGKILL')

    await restart()
    await until(async () => (await status(id)) === undefined, 'the instance to be gone')
    expect(await ours(id)).toEqual([])
    await server?.stop()
  })
})
