import type { Locator } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { emptyProject } from '@zhisuan/engines/openstack/clear'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import { administrator, cloudIsThere, registration } from '@zhisuan/engines/openstack/local'
import { all } from '@zhisuan/engines/openstack/session'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, act, button, dialog, heading, more, pick, rowOf, shot } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

/** A cloud that others use too takes its time. */
const patiently = { timeout: 120_000 }

/** A network of one's own, a way out of it, an instance that is reached from outside, its data; and it lost and found again: on a real OpenStack. */
test.describe('everything a service needs, on OpenStack', () => {
  test.skip(!cloudIsThere, 'there is no OpenStack on this host')

  let direct: ReturnType<typeof createOpenStack>
  let admin: Client
  let owner = { username: '', password: '' }
  let cloudId = ''
  test.beforeAll(async () => {
    direct = createOpenStack(administrator())
    admin = new Client(stage().url, someAddress())
    await admin.signIn('admin', administratorPassword)
    cloudId = (await admin.call(clouds.create, { body: { name: newName('华南'), product: 'openstack', connection: registration() } })).cloud_id
    owner = await register(stage().url, newName('owner'), newName('旅程组织'))
  })
  test.afterAll(async () => {
    if (cloudId !== '') await admin.call(clouds.delete, { params: { id: cloudId }, query: { force: 'true' } })
    await direct.close()
  })

  /** Beside deleting it for good. */
  const recycle = async (row: Locator): Promise<void> => {
    await row.getByRole('button', { name: /更多/ }).click()
    await row.page().getByRole('menuitem', { name: '删除', exact: true }).click()
  }

  test('is built, deleted, brought back, and deleted for good', async ({ page, context, trouble }) => {
    // A page asks for what it shows once more after it is gone.
    trouble.expect(/^404 GET \/api\/compute\/v1\/clouds\/[^/]+\/(instances|volumes)\//)
    const [network, router, instance, volume, snapshot] = [newName('net'), newName('router'), newName('web'), newName('data'), newName('snap')]
    let projectId = ''
    await signIn(context, owner)
    await context.addInitScript((id) => {
      // An empty page has no storage.
      if (origin !== 'null') localStorage.setItem('zhisuan.cloud', id)
    }, cloudId)
    try {
      await test.step('a network with a subnet', async () => {
        await page.goto('/networks')
        await button(page, '创建网络').first().click()
        await fill(dialog(page), { 名称: network, 网段: '10.61.0.0/24' })
        await button(dialog(page), '创建网络').click()
        await expect(toast(page, `网络“${network}”已创建`)).toBeVisible(patiently)
        await expect(rowOf(page, network)).toContainText('10.61.0.0/24')
        projectId = (await all(direct.network.networks.list({ name: network })))[0]?.projectId ?? ''
      })

      await test.step('a router that leads it out', async () => {
        await page.goto('/router')
        await button(page, '创建路由器').first().click()
        await fill(dialog(page), { 名称: router })
        await pick(dialog(page), '外部网关', 'public')
        await pick(dialog(page), '已连接的子网', network)
        await page.keyboard.press('Escape')
        await button(dialog(page), '创建路由器').click()
        await expect(toast(page, `路由器“${router}”已创建`)).toBeVisible(patiently)
        await expect(rowOf(page, router)).toContainText('public')
        await shot(page, 'journey-router')
      })

      await test.step('an instance in it, which comes to run', async () => {
        await page.goto('/instanceadd')
        await pick(page, '镜像', 'empty')
        await page.getByRole('radio', { name: 'm1.tiny', exact: true }).check()
        await pick(page, '网络1', network)
        await fill(page, { 名称: instance })
        await button(page, '创建').click()
        await expect(toast(page, `“${instance}”正在创建`)).toBeVisible(patiently)
        await expect(rowOf(page, instance)).toContainText('运行中', patiently)
        await expect(rowOf(page, instance)).toContainText('10.61.0.')
      })

      const row = rowOf(page, instance)
      let address = ''
      await test.step('a floating IP that leads to it', async () => {
        await more(row, '绑定浮动 IP')
        await pick(dialog(page), '浮动 IP', 'public')
        await button(dialog(page), '绑定').click()
        await expect(toast(page, '浮动 IP 已绑定')).toBeVisible(patiently)
        await page.goto('/floatingip')
        await expect(rowOf(page, instance)).toContainText('已绑定')
        address = (await all(direct.network.floatingIps.list({ project_id: projectId })))[0]?.address ?? ''
        await expect(rowOf(page, instance)).toContainText(address)
        await shot(page, 'journey-floatingip')
      })

      await test.step('a volume, and a snapshot of it', async () => {
        await page.goto('/volumeadd')
        await fill(page, { 名称: volume, 容量: '1' })
        await button(page, '创建').click()
        await expect(heading(page, volume)).toBeVisible(patiently)
        await act(page, '创建快照')
        await fill(dialog(page), { 名称: snapshot })
        await button(dialog(page), '创建快照').click()
        await expect(toast(page, `已开始为“${volume}”创建快照`)).toBeVisible(patiently)
        await expect(rowOf(page, snapshot)).toContainText('可用', patiently)
        await accessible(page, 'the volume')
      })

      await test.step('attached to the instance', async () => {
        await act(page, '挂载')
        await pick(dialog(page), '实例', instance)
        await button(dialog(page), '挂载').click()
        await expect(toast(page, `已开始挂载“${volume}”`)).toBeVisible(patiently)
        await expect(page.getByText('使用中', { exact: true })).toBeVisible(patiently)
        await shot(page, 'journey-volume')
      })

      await test.step('the picture of how all of it hangs together', async () => {
        await page.goto('/networks?tab=topology')
        const picture = page
          .getByRole('region', { name: /网络拓扑/ })
          .or(page.getByLabel(/网络拓扑/))
          .first()
        for (const part of ['public', router, network, instance]) await expect(picture).toContainText(part)
        await shot(page, 'journey-topology')
      })

      await test.step('deleted, it lies in the recycle bin without its address', async () => {
        await page.goto('/instance')
        await recycle(row)
        await button(dialog(page), '删除').click()
        await expect(toast(page, `“${instance}”正在移入回收站`)).toBeVisible(patiently)
        await expect(row).toHaveCount(0, patiently)
        await page.goto('/instance-recovery')
        await expect(row).toContainText('已回收', patiently)
        await expect(row).toContainText(address)
        expect((await all(direct.network.floatingIps.list({ project_id: projectId })))[0]).toMatchObject({ address, portId: null })
        await accessible(page, 'the recycle bin')
        await shot(page, 'journey-bin')
      })

      await test.step('restored, it runs as before: with its address and its volume', async () => {
        await button(row, '恢复').click()
        await button(dialog(page), '恢复').click()
        await expect(toast(page, `“${instance}”正在恢复`)).toBeVisible(patiently)
        await expect(row).toHaveCount(0, patiently)
        await page.goto('/instance')
        await expect(row).toContainText('运行中', patiently)
        await row.getByRole('link', { name: instance }).click()
        await expect(heading(page, instance)).toBeVisible()
        await expect(page.getByText(address).first()).toBeVisible()
        await page.getByRole('tab', { name: '云硬盘', exact: true }).click()
        await expect(rowOf(page, volume)).toContainText('/dev/')
        await shot(page, 'journey-restored')
      })

      await test.step('deleted for good, it is gone, and its volume is free', async () => {
        await page.goto('/instance')
        await recycle(row)
        await button(dialog(page), '删除').click()
        await expect(row).toHaveCount(0, patiently)
        await page.goto('/instance-recovery')
        await expect(row).toContainText('已回收', patiently)
        await button(row, '彻底删除').click()
        await expect(button(dialog(page), '彻底删除')).toBeDisabled()
        await dialog(page).getByRole('textbox').fill(instance)
        await button(dialog(page), '彻底删除').click()
        await expect(toast(page, `“${instance}”正在彻底删除`)).toBeVisible(patiently)
        await expect(row).toHaveCount(0, patiently)
        await page.goto('/instance')
        await expect(page.getByText(/还没有实例/)).toBeVisible()
        await page.goto('/volume')
        await expect(rowOf(page, volume)).toContainText('可用', patiently)
      })
    } finally {
      if (projectId !== '') {
        await emptyProject(direct, projectId)
        await direct.identity.projects.delete(projectId)
      }
    }
  })
})
