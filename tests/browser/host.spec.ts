import type { Locator, Page } from '@playwright/test'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { administratorPassword, Client, until } from '../support/server.ts'
import { accessible, dialog } from './console.ts'
import { newName } from './people.ts'
import { password } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const node = (page: Page): Locator => page.getByRole('row', { name: /sandbox/ })

async function asAdministrator(): Promise<Client> {
  const client = new Client(stage().url)
  await client.signIn('admin', administratorPassword)
  return client
}

/** An instance with a GPU of its own, and what takes it away again. */
async function withGpu(): Promise<{ name: string; remove: () => Promise<void> }> {
  const client = await asAdministrator()
  const { cloudId: cloud_id } = stage()
  const name = newName('gpu')
  const flavor = await client.call(flavors.create, {
    body: { name, cpu_cores: 2, memory_bytes: 2 ** 32, disk_bytes: 2 ** 34, gpu: { model: 'Sandbox GPU', count: 1 } },
  })
  const [image] = (await client.call(images.list, { query: { cloud_id, type: 'container' } })).items
  const [network] = (await client.call(networks.list, { query: { cloud_id } })).items
  const wish = { cloud_id, name, type: 'container', image_fingerprint: image?.fingerprint, network: network?.name, flavor_id: flavor.id, password }
  const { items } = await client.call(vms.create, { body: wish })
  const params = { id: items[0]?.id ?? '' }
  await until(async () => (await client.call(vms.get, { params })).status === 'running', 'the instance to run')
  return {
    name,
    async remove() {
      await client.call(vms.delete, { params })
      await until(async () => (await client.call(vms.list, { query: { keyword: name } })).total === 0, 'the instance to be gone')
      await client.call(flavors.delete, { params: { id: flavor.id } })
    },
  }
}

test.describe('hypervisor nodes', () => {
  test('say how full they are, what runs on them and what they are made of', async ({ page, context }) => {
    const gpu = await withGpu()
    try {
      await signIn(context, 'admin')
      await page.goto('/nextStack/hypervisorNodes')
      await expect(node(page)).toContainText('Sandbox CPU')
      await expect(node(page)).toContainText('在线')
      await expect(node(page)).toContainText('/ 128 线程')
      await expect(node(page)).toContainText('/ 512 GB')
      await expect(node(page)).toContainText('1 / 2')
      await accessible(page, 'the list')

      await node(page).getByRole('link', { name: 'sandbox' }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'sandbox' })).toBeVisible()
      await expect(page.getByRole('progressbar', { name: /^CPU 已分配 / })).toBeVisible()
      await expect(page.getByRole('row', { name: new RegExp(gpu.name) })).toContainText('运行中')
      await accessible(page, 'the page of one')
      await page.getByRole('tab', { name: 'GPU' }).click()
      const card = page.getByRole('row', { name: new RegExp(gpu.name) })
      await expect(card).toContainText('Sandbox GPU')
      await expect(page.getByRole('row', { name: /空闲/ })).toHaveCount(1)
      await accessible(page, 'its GPUs')
      await card.getByRole('link', { name: gpu.name }).click()
      await expect(page.getByText('Sandbox GPU × 1')).toBeVisible()
      await page.goBack()
      await page.getByRole('tab', { name: '磁盘' }).click()
      await expect(page.getByRole('row', { name: /sda/ })).toContainText('4 TB')
      await page.getByRole('tab', { name: '网卡' }).click()
      await expect(page.getByRole('row', { name: /eth0/ })).toContainText('10 Gb/s')
      // What others do shows without being asked for.
      await page.getByRole('tab', { name: 'GPU' }).click()
      await gpu.remove()
      await expect(page.getByRole('row', { name: /空闲/ })).toHaveCount(2)
    } finally {
      await gpu.remove().catch(() => undefined)
    }
  })

  test('take no new instances while an administrator says so', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/nextStack/hypervisorNodes')
    await node(page).getByRole('button', { name: '停止调度' }).click()
    await expect(dialog(page)).toContainText('台云主机继续运行，不受影响')
    await accessible(page, 'the question')
    await dialog(page).getByRole('button', { name: '停止调度' }).click()
    await expect(toast(page, '“sandbox”不再接收新的云主机')).toBeVisible()
    await expect(node(page)).toContainText('不接收新实例')
    await node(page).getByRole('button', { name: '恢复调度' }).click()
    await expect(node(page)).not.toContainText('不接收新实例')
  })

  test('of a cluster are evacuated after a warning; alone there is nowhere to go', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/nextStack/hypervisorNodes')
    await expect(node(page).getByRole('button', { name: '疏散' })).toHaveAttribute('aria-disabled', 'true')
    await node(page).getByRole('button', { name: '疏散' }).hover()
    await expect(page.getByText('没有其他节点可以接收云主机')).toBeVisible()

    // The sandbox here is one host: it says that it is one of several.
    await page.route('**/api/nextstack/v1/hosts?*', async (route) => {
      const response = await route.fetch()
      return route.fulfill({ response, body: (await response.text()).replaceAll('"clustered":false', '"clustered":true') })
    })
    const asked = page.waitForRequest((request) => request.method() === 'POST' && /\/hosts\/[\w-]+\/evacuate$/.test(request.url()))
    await page.route('**/api/nextstack/v1/hosts/*/evacuate', (route) => route.abort())
    await page.reload()
    await node(page).getByRole('button', { name: '疏散' }).click()
    await expect(dialog(page)).toContainText('会迁移到其他节点')
    await expect(dialog(page)).toContainText('期间服务中断')
    await dialog(page).getByRole('button', { name: '疏散' }).click()
    await asked
  })

  test('are no page for tenants', async ({ page, context }) => {
    await signIn(context, 'tenantAdmin')
    await page.goto('/nextStack/hypervisorNodes')
    await expect(page.getByRole('heading', { level: 1, name: '没有权限' })).toBeVisible()
  })
})

test('a flavor names a GPU that there is', async ({ page, context }) => {
  await signIn(context, 'admin')
  await page.goto('/nextStack/flavors')
  await page.getByRole('button', { name: '创建规格' }).first().click()
  await dialog(page).getByRole('switch', { name: '直通整块 GPU' }).click()
  await page.getByLabel('GPU 型号', { exact: true }).click()
  await page.getByTitle('Sandbox GPU', { exact: false }).first().click()
  await expect(page.getByLabel('GPU 型号', { exact: true })).toHaveValue('Sandbox GPU')
})
