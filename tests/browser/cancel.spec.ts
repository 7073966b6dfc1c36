import { existsSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'
import { begin } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

const lxd = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

/** A socket that leads to LXD, and holds back what is asked while it is shut. */
class Door {
  readonly #server: Server
  readonly #held = new Set<Socket>()
  #shut = false

  constructor(path: string) {
    this.#server = createServer((client) => {
      const engine = connect(lxd)
      for (const [one, other] of [
        [client, engine],
        [engine, client],
      ] as const) {
        one.on('error', () => undefined)
        one.on('close', () => other.destroy())
      }
      engine.pipe(client)
      client.pipe(engine)
      this.#held.add(client)
      client.on('close', () => this.#held.delete(client))
      if (this.#shut) client.pause()
    }).listen(path)
  }

  shut(): void {
    this.#shut = true
    for (const client of this.#held) client.pause()
  }

  open(): void {
    this.#shut = false
    for (const client of this.#held) client.resume()
  }

  close(): void {
    this.open()
    this.#server.close()
  }
}

/** On real LXD, which takes its time when it is asked to. */
test.describe('an operation that goes on', () => {
  test.skip(!existsSync(lxd) && process.env['CI'] === undefined, `no LXD at ${lxd}: scripts/engines.sh starts one`)

  let data: TemporaryFolder
  let door: Door
  let server: RunningServer
  let client: Client
  test.beforeAll(async () => {
    data = temporaryFolder('cancel')
    door = new Door(join(data.path, 'unix.socket'))
    server = await startServer(begin(join(data.path, 'server')), { LXD_DIR: data.path })
    client = await asAdministrator(server)
  })
  test.afterAll(async () => {
    await server?.stop()
    door?.close()
    data?.remove()
  })

  async function create(): Promise<string> {
    const cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const query = { cloud_id }
    await until(async () => (await client.call(images.list, { query })).total > 0, 'the first image')
    const [image] = (await client.call(images.list, { query })).items
    const [network] = (await client.call(networks.list, { query })).items
    const flavor = (await client.call(flavors.list)).items.find(({ name }) => name === 'nano')
    door.shut()
    const body = {
      cloud_id,
      name: 'cancelled',
      type: 'container',
      image_fingerprint: image?.fingerprint,
      network: network?.name,
      flavor_id: flavor?.id,
      password: 'Cancel-test-1',
    }
    return (await client.call(vms.create, { body })).items[0]?.id ?? ''
  }

  test('is cancelled from its history, after a question; a creation leaves nothing', async ({ page, context, trouble }) => {
    // The page may ask for what it shows once more, after it is gone.
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/vms\//)
    await signIn(context, 'admin', server.url)
    const id = await create()
    await page.goto(`${server.url}/nextStack/vm/detail/${id}?tab=operations`)
    const button = page.getByRole('row', { name: /创建/ }).getByRole('button', { name: '取消操作' })
    const dialog = page.getByRole('dialog')
    await button.click()
    await expect(dialog).toContainText('已经创建的部分会被清除')
    await dialog.getByRole('button', { name: '继续执行' }).click()
    await expect(dialog).toBeHidden()
    await button.click()
    await dialog.getByRole('button', { name: '取消操作' }).click()
    await expect(toast(page, '正在取消')).toBeVisible()
    door.open()
    await expect(page.getByText('云主机不存在或已被删除')).toBeVisible()
    const engine = createLxdEngine({ socketPath: lxd })
    expect((await engine.instances.list()).filter(({ tags }) => tags['vm_id'] === id)).toEqual([])
    await engine.close()
  })
})
