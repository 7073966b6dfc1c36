import type { Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { computeNetworks } from '@zhisuan/contract/compute/network'
import { keystoneProjects } from '@zhisuan/contract/compute/project'
import { organisations } from '@zhisuan/contract/ums/user'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import { administrator, cloudIsThere, registration } from '@zhisuan/engines/openstack/local'
import { all } from '@zhisuan/engines/openstack/session'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, pick, rowOf, shot } from './console.ts'
import { fill, wrong } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test.describe('projects of a real Keystone, and their quotas', () => {
  test.skip(!cloudIsThere, 'there is no OpenStack on this host')
  test.describe.configure({ mode: 'serial' })
  const organisation = newName('浏览器组织')
  let direct: ReturnType<typeof createOpenStack>
  const ends: (() => Promise<unknown>)[] = []
  let cloudId = ''
  let owner = { username: '', password: '' }
  let tenant: Client
  let admin: Client

  test.beforeAll(async () => {
    direct = createOpenStack(administrator())
    admin = new Client(stage().url, someAddress())
    await admin.signIn('admin', administratorPassword)
    const { cloud_id } = await admin.call(clouds.create, { body: { name: newName('华东'), product: 'openstack', connection: registration() } })
    cloudId = cloud_id
    owner = await register(stage().url, newName('owner'), organisation)
    tenant = new Client(stage().url, someAddress())
    await tenant.signIn(owner.username, owner.password)
  })
  test.afterAll(async () => {
    for (const end of ends.toReversed()) await end().catch(() => undefined)
    if (cloudId !== '') await admin.call(clouds.delete, { params: { id: cloudId }, query: { force: 'true' } })
    await direct.close()
  })

  /** As it is after whoever made it was killed, or after its owner went; without a tag: somebody else's. */
  const project = async (start: string, tags: readonly string[] = ['zhisuan']) => {
    const made = await direct.identity.projects.create({ name: newName(start), domainId: 'default', tags })
    ends.push(async () => {
      for (const group of await all(direct.network.securityGroups.list({ project_id: made.id }))) await direct.network.securityGroups.delete(group.id)
      await direct.identity.projects.delete(made.id)
    })
    return made
  }
  const narrow = async (page: Page): Promise<void> => {
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await page.setViewportSize({ width: 1440, height: 900 })
  }
  const drawer = (page: Page) => page.locator('.ant-drawer').filter({ has: page.getByRole('tab', { name: 'Keystone 项目' }) })
  const open = async (page: Page, keyword: string): Promise<void> => {
    await page.goto(`/infrastructure/cloudy?cloud=${cloudId}&tab=projects&projects.keyword=${keyword}`)
    await expect(rowOf(drawer(page), keyword)).toBeVisible()
  }

  test('an administrator finds an orphan, gives it to an organisation’s project, and sets what it may have', async ({ page, context, trouble }) => {
    trouble.expect(/^400 PUT .*\/quota$/, /^409 POST .*\/adopt$/)
    const [orphan, foreign] = [await project('orphan'), await project('foreign', [])]
    const network = await direct.network.networks.create({ name: newName('held'), projectId: orphan.id })
    ends.push(() => direct.network.networks.delete(network.id))
    await signIn(context, 'admin')
    await page.goto(`/infrastructure/cloudy?cloud=${cloudId}`)
    await page.getByRole('tab', { name: 'Keystone 项目' }).click()
    await expect(rowOf(drawer(page), '云平台登记所用')).toBeVisible()
    await accessible(page, 'the list')
    await shot(page, 'projects')
    await narrow(page)

    await open(page, foreign.name)
    await expect(rowOf(drawer(page), foreign.name)).toContainText('非本平台')
    await expect(button(rowOf(drawer(page), foreign.name), '删除')).toHaveAttribute('aria-disabled', 'true')

    await open(page, orphan.name)
    const row = rowOf(drawer(page), orphan.name)
    await expect(row).toContainText('无主')
    await button(row, `查看“${orphan.name}”的占用与配额`).click()
    await expect(row).toContainText('网络 1')
    await button(row, '接管').click()
    const adopting = page.getByRole('dialog', { name: `接管“${orphan.name}”` })
    await button(adopting, '接管').click()
    await expect(wrong(adopting, '组织')).toHaveText('请选择组织')
    await pick(adopting, '组织', organisation)
    await pick(adopting, '项目', 'default')
    await accessible(page, 'adopting')
    await shot(page, 'adopt')
    await button(adopting, '接管').click()
    await expect(toast(page, `“${orphan.name}”已接管`)).toBeVisible()
    await expect(row).toContainText('已归属')
    await expect(row).toContainText('接管而来')
    await expect(row).toContainText(`${organisation} / default`)
    await expect(button(row, '接管')).toHaveAttribute('aria-disabled', 'true')

    // The same owner a second time is refused at what was chosen.
    await open(page, foreign.name)
    await button(rowOf(drawer(page), foreign.name), '接管').click()
    const again = page.getByRole('dialog', { name: `接管“${foreign.name}”` })
    await pick(again, '组织', organisation)
    await pick(again, '项目', 'default')
    await button(again, '接管').click()
    await expect(wrong(again, '项目')).toContainText(orphan.id)
    await button(again, '取消').click()

    await open(page, orphan.name)
    await button(row, '配额').click()
    const quotas = page.getByRole('dialog', { name: `“${orphan.name}”的配额` })
    await fill(quotas, { 网络: '0' })
    await button(quotas, '保存').click()
    await expect(wrong(quotas, '网络')).toHaveText('不能小于已使用的1')
    await fill(quotas, { 网络: '3', 实例: '2', 云硬盘容量: '20' })
    await quotas.getByRole('checkbox', { name: 'vCPU不限' }).check()
    await accessible(page, 'quotas')
    await shot(page, 'quotas')
    await button(quotas, '保存').click()
    await expect(toast(page, `“${orphan.name}”的配额已保存`)).toBeVisible()
    const { kinds } = await admin.call(keystoneProjects.quota, { params: { cloud_id: cloudId, id: orphan.id } })
    expect(kinds).toMatchObject({ networks: { limit: 3, used: 1 }, instances: { limit: 2 }, cores: { limit: null }, volume_bytes: { limit: 20 * 2 ** 30 } })
    expect(await direct.compute.quotas.get(orphan.id)).toMatchObject({ instances: { limit: 2 }, cores: { limit: null } })
  })

  test('an orphan is deleted only while it holds nothing, and its name is typed first', async ({ page, context, trouble }) => {
    trouble.expect(/^409 DELETE .*\/projects\//)
    const orphan = await project('empty')
    const network = await direct.network.networks.create({ name: newName('held'), projectId: orphan.id })
    await signIn(context, 'admin')
    await open(page, orphan.name)
    const row = rowOf(drawer(page), orphan.name)
    await button(row, '删除').click()
    const asked = page.getByRole('dialog', { name: `删除 Keystone 项目“${orphan.name}”？` })
    await expect(button(asked, '删除')).toBeDisabled()
    await asked.getByRole('textbox').fill(orphan.name)
    await shot(page, 'delete')
    await button(asked, '删除').click()
    await expect(toast(page, '1个网络')).toBeVisible()
    await direct.network.networks.delete(network.id)
    await button(asked, '删除').click()
    await expect(toast(page, `“${orphan.name}”已删除`)).toBeVisible()
    await expect(row).toHaveCount(0)
    expect(await direct.identity.projects.get(orphan.id).catch(() => null)).toBeNull()
  })

  test('a tenant sees what their projects have and may have, chooses where a thing is made, and is told before what will not fit', async ({
    page,
    context,
  }) => {
    await signIn(context, owner)
    await context.addInitScript((id) => {
      // An empty page has no storage.
      if (origin !== 'null') localStorage.setItem('zhisuan.cloud', id)
    }, cloudId)
    await page.goto('/instance')
    const card = page.getByRole('region', { name: '项目配额' })
    await expect(card).toContainText('已用0，配额2')
    await button(card, '查看全部配额').click()
    await expect(card).toContainText('已用1，配额3')
    await accessible(page, 'the card')
    await shot(page, 'card')
    await narrow(page)

    // Of the organisation itself there is no project yet: what it will begin with is known all the same.
    await page.goto('/instanceadd')
    await fill(page, { 数量: '11' })
    const warning = page.getByRole('alert').filter({ hasText: '配额不足' })
    await expect(warning).toContainText('实例：需要11，还可用10')
    await pick(page, '项目', 'default')
    await fill(page, { 数量: '3' })
    await expect(warning).toContainText(`“${organisation} / default”的配额不足`)
    await expect(warning).toContainText('实例：需要3，还可用2（配额2，已用0）')
    await accessible(page, 'creating instances')
    await shot(page, 'instanceadd')
    await fill(page, { 数量: '2' })
    await expect(warning).toHaveCount(0)

    await page.goto('/volumeadd')
    await pick(page, '项目', 'default')
    await fill(page, { 容量: '21' })
    await expect(page.getByRole('alert').filter({ hasText: '配额不足' })).toContainText('云硬盘容量：需要21 GB，还可用20 GB')
    await shot(page, 'volumeadd')

    const name = newName('net')
    await page.goto('/networks')
    await expect(card).toContainText('已用1，配额3')
    await shot(page, 'networks')
    await button(page, '创建网络').first().click()
    await fill(dialog(page), { 名称: name })
    await dialog(page).getByRole('switch').first().click()
    await pick(dialog(page), '项目', 'default')
    await shot(page, 'network-create')
    await button(dialog(page), '创建网络').click()
    await expect(rowOf(page, name)).toBeVisible()
    await expect(card).toContainText('已用2，配额3')
    const made = (await all(direct.network.networks.list({ name })))[0]
    ends.push(() => direct.network.networks.delete(made?.id ?? ''))
    const { items } = await tenant.call(keystoneProjects.mine, { params: { cloud_id: cloudId } })
    expect(items.map(({ keystone_project_id }) => keystone_project_id)).toEqual([made?.projectId])
    await tenant.call(computeNetworks.delete, { params: { cloud_id: cloudId, id: made?.id ?? '' } })
  })

  test('a project that was disabled behind our back is told of where an administrator looks, and no more once it is enabled', async ({ page, context }) => {
    const name = newName('停用组织')
    await register(stage().url, newName('disabled'), name)
    const bp_id = (await admin.call(organisations.list, { query: { keyword: name } })).items[0]?.id ?? ''
    const made = await project('disabled')
    await admin.call(keystoneProjects.adopt, { params: { cloud_id: cloudId, id: made.id }, body: { bp_id } })
    await direct.identity.projects.update(made.id, { enabled: false })
    // Whatever is changed on the cloud has it looked at soon.
    const looks = () => admin.call(keystoneProjects.setQuota, { params: { cloud_id: cloudId, id: made.id }, body: { limits: { networks: 9 } } })
    await looks()
    const card = page.getByRole('region', { name: '项目问题' })
    await signIn(context, 'admin')
    await page.goto(`/infrastructure/cloudy?cloud=${cloudId}`)
    await expect(card).toContainText('已停用')
    await expect(card.getByRole('listitem').filter({ hasText: made.id })).toContainText(name)
    await expect(card).toContainText('请在云平台的 Keystone 中启用该项目')
    await accessible(page, 'the cloud')
    await shot(page, 'problems')
    await narrow(page)
    await page.goto(`/iam/partners?id=${bp_id}`)
    await expect(card).toContainText(made.id)
    await accessible(page, 'the organisation')
    await direct.identity.projects.update(made.id, { enabled: true })
    await looks()
    await expect(card).toHaveCount(0)
  })
})
