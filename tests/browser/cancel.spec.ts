import { existsSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'
import { accessible, button, heading, rowOf, shot } from './console.ts'
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
    const cancel = page.getByRole('row', { name: /创建/ }).getByRole('button', { name: '取消操作' })
    const dialog = page.getByRole('dialog')
    await cancel.click()
    await expect(dialog).toContainText('已经创建的部分会被清除')
    await dialog.getByRole('button', { name: '继续执行' }).click()
    await expect(dialog).toBeHidden()
    await cancel.click()
    await dialog.getByRole('button', { name: '取消操作' }).click()
    await expect(toast(page, '正在取消')).toBeVisible()
    door.open()
    await expect(page.getByText('云主机不存在或已被删除')).toBeVisible()
    const engine = createLxdEngine({ socketPath: lxd })
    expect((await engine.instances.list()).filter(({ tags }) => tags['vm_id'] === id)).toEqual([])
    await engine.close()
  })

  test('is seen beside the bell on whatever page, also after a reload, leads to what it works on, and is cancelled there', async ({
    page,
    context,
    trouble,
  }) => {
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/vms\//)
    await signIn(context, 'admin', server.url)
    await page.goto(`${server.url}/messages`)
    const tasks = page.locator('.frame-tasks')
    await expect(button(tasks, '任务')).toBeVisible()
    const id = await create()
    // Told, and not only found by the next page.
    await expect(button(tasks, '任务，1 个进行中')).toBeVisible()
    await page.reload()
    await button(tasks, '任务，1 个进行中').click()
    const newest = page.getByRole('region', { name: '最近的任务' })
    const line = newest.getByRole('list', { name: '正在执行' }).getByRole('listitem')
    await expect(line).toContainText('云主机 · 创建')
    await accessible(page, 'the newest tasks')
    await shot(page, 'tasks-newest')
    await page.setViewportSize({ width: 1440, height: 900 })
    await line.getByRole('link', { name: 'cancelled' }).click()
    await expect(page).toHaveURL(new RegExp(`/nextStack/vm/detail/${id}`))
    await expect(newest).toHaveCount(0)

    await page.goto(`${server.url}/tasks`)
    await expect(heading(page, '任务中心')).toBeVisible()
    await expect(rowOf(page, '云主机 · 创建').first()).toContainText('执行中')
    await accessible(page, 'the task centre')
    await shot(page, 'tasks')
    await page.setViewportSize({ width: 1440, height: 900 })
    await button(tasks, '任务，1 个进行中').click()
    await button(line, '取消任务').click()
    await page.getByRole('dialog').getByRole('button', { name: '取消任务' }).click()
    await expect(toast(page, '正在取消')).toBeVisible()
    door.open()
    await expect(button(tasks, '任务')).toBeVisible()
    await expect(rowOf(page, '云主机 · 创建').first()).toContainText('已取消')
  })
})
