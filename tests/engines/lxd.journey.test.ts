import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, terminals, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { register } from '../browser/people.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/** What has to work on LXD before anything lands; all else of it is looked at by the files beside this one. */
describe.skipIf(!existsSync(socketPath) && process.env['CI'] === undefined)('an instance on LXD', () => {
  const engine = createLxdEngine({ socketPath })
  let data: TemporaryFolder
  let server: RunningServer | undefined
  let owner: Client
  let name = ''

  beforeAll(async () => {
    data = temporaryFolder('lxd-journey')
    server = await startServer(data.path)
    await asAdministrator(server)
    const { username, password } = await register(server.url, 'lxd-journey')
    owner = new Client(server.url)
    await owner.signIn(username, password)
  })
  afterAll(async () => {
    await server?.stop()
    if ((await engine.instances.list()).some((one) => one.name === name)) await engine.instances.delete(name)
    await engine.close()
    data.remove()
  })

  it('is made, typed into, and leaves nothing when it is deleted', async () => {
    const cloud_id = (await owner.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    const image = await until(async () => (await owner.call(images.list, { query })).items.find((one) => one.name === 'busybox'), 'the first image')
    const [network] = (await owner.call(networks.list, { query })).items
    const flavor = (await owner.call(flavors.list)).items.find((one) => one.name === 'nano')
    const { items } = await owner.call(vms.create, {
      body: {
        cloud_id,
        name: 'journey',
        type: 'container',
        image_fingerprint: image.fingerprint,
        network: network?.name,
        flavor_id: flavor?.id,
        password: 'Journey-test-1',
      },
    })
    const id = items[0]?.id ?? ''
    name = `zs-${id.replaceAll('-', '')}`
    const vm = await until(async () => {
      const now = await owner.call(vms.get, { params: { id } })
      return now.operation_id === null && now
    }, 'the instance to come to rest')
    expect(vm).toMatchObject({ status: 'running', error: null })

    const { socket_path: path } = await owner.call(terminals.open, { params: { id }, body: { columns: 100, rows: 30 } })
    const socket = new WebSocket(`${server?.url.replace('http', 'ws')}${path}`)
    let said = ''
    socket.on('message', (text: Buffer, binary: boolean) => {
      if (binary) said += text.toString('utf8')
    })
    await once(socket, 'open')
    socket.send(Buffer.from('echo $((6*7))-$(stty size)\n'), { binary: true })
    await until(async () => said.includes('42-30 100'), 'the echo')
    socket.close()

    await owner.call(vms.delete, { params: { id } })
    const there = async () => (await engine.instances.list()).some((one) => one.name === name)
    await until(async () => !(await there()), 'the instance to go')
    await until(async () => (await owner.call(vms.list)).total === 0, 'its row to go')
  })
})
