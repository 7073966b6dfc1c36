import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { images, vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { createLxdEngine } from '@zhisuan/engines/lxd/engine'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startServer, until, type Client, type RunningServer } from '../support/server.ts'
import { openWorld, type World } from '../support/world.ts'
import { field, fill } from './forms.ts'
import { begin } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

const socketPath = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const outside = '198.18.233.10'

/** A network of one's own, an instance in it, its data and the way in to it, on the real LXD of this machine. */
test.describe('everything a service needs', () => {
  test.skip(!existsSync(socketPath) && process.env['CI'] === undefined, `no LXD at ${socketPath}: scripts/engines.sh starts one`)

  const engine = createLxdEngine({ socketPath })
  let server: RunningServer
  let data: TemporaryFolder
  let world: World
  let client: Client
  /** Ids of instances, networks and volumes that there ever were. */
  const made: [string[], string[], string[]] = [[], [], []]
  test.beforeAll(async () => {
    data = temporaryFolder('nextstack')
    server = await startServer(begin(join(data.path, 'server')))
    client = await asAdministrator(server)
    const cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    await until(async () => (await client.call(images.list, { query: { cloud_id } })).total > 0, 'the first image')
    world = await openWorld('zs-web', '198.19.233')
  })
  test.afterAll(async () => {
    if (client !== undefined) await clear()
    await server?.stop()
    await engine.close()
    await world?.remove()
    data?.remove()
  })

  /** What there is on the engine of what this platform made; other tests may be at work on it. */
  async function onEngine() {
    const [vm, vpc, volume] = [await client.call(vms.list), await client.call(vpcs.list), await client.call(volumes.list)].map(({ items }) =>
      items.map(({ id }) => id),
    )
    for (const [index, ids] of [vm, vpc, volume].entries()) made[index]?.push(...(ids ?? []))
    const of = (index: number, tags: Readonly<Record<string, string>>, key: string): boolean => made[index]?.includes(tags[key] ?? '') === true
    const names = {
      instances: (await engine.instances.list()).filter(({ tags }) => of(0, tags, 'vm_id')).map(({ name }) => name),
      networks: (await engine.networks.list()).filter(({ tags }) => of(1, tags, 'vpc_id')).map(({ name }) => name),
      acls: [] as string[],
      volumes: (await engine.storage.volumes.list()).filter(({ tags }) => of(2, tags, 'volume_id')).map(({ pool, volume }) => ({ pool, volume })),
    }
    for (const id of new Set(made[1])) {
      const name = `zs-${id.slice(-12)}`
      if ((await engine.networks.acls.get(name)) !== null) names.acls.push(name)
    }
    return names
  }
  /** What a failed test left behind. */
  async function clear(): Promise<void> {
    const left = await onEngine()
    for (const name of left.instances) await engine.instances.delete(name)
    for (const name of left.networks) await engine.networks.delete(name)
    for (const name of left.acls) await engine.networks.acls.delete(name)
    for (const name of left.volumes) await engine.storage.volumes.delete(name)
  }
  const rowOf = (page: Page, name: string): Locator => page.getByRole('row', { name: new RegExp(name) })
  const dialog = (page: Page): Locator => page.getByRole('dialog')
  const button = (within: Page | Locator, name: string): Locator => within.getByRole('button', { name, exact: true })
  const type = async (page: Page, line: string): Promise<void> => {
    await expect(page.getByText('已连接', { exact: true })).toBeVisible()
    await page.locator('.zs-terminal-screen').click()
    await page.keyboard.type(line)
    await page.keyboard.press('Enter')
  }
  const screen = (page: Page): Locator => page.locator('.xterm-rows')
  /** What the world reads there. */
  const fromOutside = () => world.read(`http://${outside}/name`)
  /** One of the actions of a row, wherever it stands. */
  const act = async (row: Locator, name: string): Promise<void> => {
    const shown = button(row, name)
    await expect(row.getByRole('button').first()).toBeVisible()
    if ((await shown.count()) > 0) return shown.click()
    await button(row, '更多').click()
    await row.page().getByRole('menuitem', { name, exact: true }).click()
  }

  test('network, security group, instance, volume, snapshot, outside address; and all of it away again', async ({ page, context, trouble }) => {
    // Pages may ask for what they show once more, after it is gone.
    trouble.expect(/^404 GET \/api\/nextstack\//)
    await signIn(context, 'admin', server.url)
    const go = (path: string) => page.goto(`${server.url}${path}`)

    await test.step('a network', async () => {
      await go('/nextStack/vpc')
      await button(page, '创建专有网络').first().click()
      await fill(dialog(page), { 名称: 'net', 网段: '10.233.0.0/24' })
      await button(dialog(page), '创建').click()
      await expect(rowOf(page, 'net')).toContainText('正常')
    })

    await test.step('a security group for web sites', async () => {
      await go('/nextStack/secGroups')
      await button(page, '创建安全组').first().click()
      await fill(dialog(page), { 名称: 'web' })
      await dialog(page).getByRole('radio', { name: /网站/ }).check()
      await button(dialog(page), '创建').click()
      await expect(rowOf(page, 'web')).toBeVisible()
    })

    await test.step('an instance in both', async () => {
      await go('/nextStack/vm/add')
      // The one that the platform made; others may be on this engine.
      await page.getByRole('radio', { name: 'busybox', exact: true }).check()
      await page.getByRole('radio', { name: 'nano' }).check()
      await page.getByRole('combobox', { name: '网络' }).click()
      await page
        .getByRole('option', { name: /10\.233\.0\.0/ })
        .or(page.locator('.ant-select-item-option', { hasText: '10.233.0.0/24' }))
        .first()
        .click()
      await page.getByRole('combobox', { name: '安全组' }).click()
      await page.locator('.ant-select-item-option', { hasText: 'web' }).click()
      await page.keyboard.press('Escape')
      await field(page, '登录密码').fill('Root-of-it-1')
      await field(page, '名称').fill('server')
      await button(page, '立即创建').click()
      const row = rowOf(page, 'server')
      await expect(row).toContainText('运行中')
      await expect(row).toContainText('10.233.0.')
    })

    await test.step('a volume on it', async () => {
      await go('/nextStack/volumes/add')
      await fill(page, { 名称: 'data', 容量: '1' })
      await page.getByRole('switch', { name: '创建后挂载到云主机' }).click()
      await field(page, '云主机').fill('server')
      await page.getByTitle(/^server/).click()
      await field(page, '挂载路径').fill('/srv/data')
      await button(page, '创建').click()
      await expect(page.getByRole('heading', { level: 1, name: 'data' })).toBeVisible()
      await expect(page.locator('.zs-status').first()).toHaveText('已挂载')
    })

    await test.step('something in both, served', async () => {
      await go('/nextStack/vm?keyword=server')
      await rowOf(page, 'server').getByRole('link', { name: 'server', exact: true }).click()
      await page.getByRole('tab', { name: '终端' }).click()
      await type(page, 'echo first > /root/kept; echo first > /srv/data/name; httpd -p 80 -h /srv/data; echo do-$((1+1))-ne')
      await expect(screen(page)).toContainText('do-2-ne')
    })

    await test.step('a snapshot, which it is set back to', async () => {
      await page.getByRole('tab', { name: '快照', exact: true }).click()
      await button(page, '创建快照').first().click()
      await fill(dialog(page), { 名称: 'then' })
      await button(dialog(page), '创建快照').click()
      await expect(rowOf(page, 'then')).toContainText('可用')
      await page.getByRole('tab', { name: '终端' }).click()
      await type(page, 'clear; echo second > /root/kept; cat /root/kept; echo do-$((2+2))-ne')
      await expect(screen(page)).toContainText('do-4-ne')
      await page.getByRole('tab', { name: '快照', exact: true }).click()
      await act(rowOf(page, 'then'), '恢复')
      await dialog(page).getByRole('textbox').fill('server')
      await button(dialog(page), '恢复').click()
      await expect(rowOf(page, 'then')).toContainText('恢复中')
      await expect(rowOf(page, 'then')).toContainText('可用')
      await page.getByRole('tab', { name: '终端' }).click()
      // It was stopped for that: the terminal says so.
      await button(page, '重新打开').click()
      // What is on the volume is no part of it.
      await type(page, 'clear; cat /root/kept /srv/data/name; httpd -p 80 -h /srv/data; echo do-$((3+3))-ne')
      await expect(screen(page)).toContainText('do-6-ne')
      await expect(screen(page)).not.toContainText('second')
    })

    await test.step('an outside address, which leads to it', async () => {
      await go('/nextStack/eipPool')
      await button(page, '创建地址池').first().click()
      await fill(dialog(page), { 名称: 'pool', 地址段: outside })
      await button(dialog(page), '创建').click()
      await expect(rowOf(page, 'pool')).toBeVisible()
      await go('/nextStack/eip/add')
      await button(page, '立即申请').click()
      await expect(rowOf(page, outside)).toContainText('未绑定')
      expect(await fromOutside()).toBeNull()
      await act(rowOf(page, outside), '绑定')
      await dialog(page).getByRole('combobox', { name: '云主机' }).click()
      await page.locator('.ant-select-item-option', { hasText: 'server' }).click()
      await button(dialog(page), '绑定').click()
      await expect(rowOf(page, outside)).toContainText('已绑定')
      await expect.poll(fromOutside).toBe('first')
    })

    await test.step('the picture of the network shows them', async () => {
      await go('/nextStack/vpc')
      await rowOf(page, 'net').getByRole('link', { name: 'net', exact: true }).first().click()
      await page.getByRole('tab', { name: '拓扑' }).click()
      const picture = page.getByRole('figure', { name: '“net”的拓扑图' })
      await expect(picture).toContainText('server')
      await expect(picture).toContainText(outside)
    })

    await test.step('and all of it away', async () => {
      expect(await onEngine()).toMatchObject({
        instances: [expect.any(String)],
        networks: [expect.any(String)],
        acls: [expect.any(String)],
        volumes: [{ pool: expect.any(String) }],
      })
      await go('/nextStack/eip')
      await act(rowOf(page, outside), '解绑')
      await button(dialog(page), '解绑').click()
      await expect(rowOf(page, outside)).toContainText('未绑定')
      expect(await fromOutside()).toBeNull()
      await act(rowOf(page, outside), '释放')
      await button(dialog(page), '释放').click()
      await expect(toast(page, `已释放 ${outside}`)).toBeVisible()
      await go('/nextStack/eipPool')
      await act(rowOf(page, 'pool'), '删除')
      await dialog(page).getByRole('textbox').fill('pool')
      await button(dialog(page), '删除').click()
      await expect(toast(page, '已删除“pool”')).toBeVisible()

      await go('/nextStack/vm?keyword=server')
      await act(rowOf(page, 'server'), '强制关机')
      await button(dialog(page), '强制关机').click()
      await expect(rowOf(page, 'server')).toContainText('已关机')
      await act(rowOf(page, 'server'), '删除')
      // What stays of it is named, and stays where nobody says otherwise.
      await expect(dialog(page).getByRole('checkbox', { name: /data（/ })).not.toBeChecked()
      await dialog(page).getByRole('textbox').fill('server')
      await button(dialog(page), '删除').click()
      await expect(page.getByText('没有符合条件的结果')).toBeVisible()

      // The volume outlives it.
      await go('/nextStack/volumes?keyword=data')
      await expect(rowOf(page, 'data')).toContainText('未挂载')
      await act(rowOf(page, 'data'), '删除')
      await dialog(page).getByRole('textbox').fill('data')
      await button(dialog(page), '删除').click()
      await expect(page.getByText('没有符合条件的结果')).toBeVisible()

      await go('/nextStack/secGroups')
      await act(rowOf(page, 'web'), '删除')
      await button(dialog(page), '删除').click()
      await expect(toast(page, '已删除“web”')).toBeVisible()
      await go('/nextStack/vpc')
      await act(rowOf(page, 'net'), '删除')
      await dialog(page).getByRole('textbox').fill('net')
      await button(dialog(page), '删除').click()
      await expect(rowOf(page, 'net')).toHaveCount(0)
    })

    expect(await onEngine()).toEqual({ instances: [], networks: [], acls: [], volumes: [] })
    expect(made.map((ids) => new Set(ids).size)).toEqual([1, 1, 1])
  })
})
