import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { parametersOf, startAgent } from '../support/agent.ts'
import { temporaryFolder } from '../support/folder.ts'
import { accessible, dialog, heading } from './console.ts'
import { field, fill } from './forms.ts'
import { newName } from './people.ts'
import { expect, signIn, test, toast } from './test.ts'

const more = async (page: Page, action: string): Promise<void> => {
  await page.locator('.frame-head-actions').getByRole('button', { name: /更多/ }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** Registers a node by the page; answers what the printed command hands to the agent. */
async function add(page: Page, name: string): Promise<string[]> {
  await page.goto('/infrastructure/addNodes')
  await fill(page, { 名称: name })
  await page.getByRole('button', { name: '下一步' }).click()
  await expect(page.getByText('正在等待节点接入…')).toBeVisible()
  return parametersOf((await page.locator('pre').textContent()) ?? '')
}

test('a node is brought in by the printed command, looked at, marked and sent away', async ({ page, context, trouble }) => {
  // Its page is still open when it is deleted.
  trouble.expect(/^404 GET \/api\/ecrm\/v1\/edges\//)
  const folder = temporaryFolder('browser-agent')
  const name = newName('edge')
  await signIn(context, 'tenantAdmin')
  const parameters = await add(page, name)
  await expect(page.getByRole('img', { name: /接入二维码/ })).toBeVisible()
  await accessible(page, 'the command')
  const agent = startAgent(['serve', '--data', folder.path, '--docker', `${folder.path}/none.sock`, ...parameters])
  try {
    // The page says by itself that somebody has come, and the node itself says who it is.
    await expect(page.getByText('有节点使用这个令牌接入')).toBeVisible()
    const fingerprint = /SHA256:\S+/.exec(agent.said())?.[0] ?? ''
    await expect(page.getByText(fingerprint, { exact: true })).toBeVisible()
    await accessible(page, 'the question')
    await page.getByRole('button', { name: '是这个节点，允许加入' }).click()
    await expect(page.getByText(`“${name}”已经在线`)).toBeVisible()

    await page.getByRole('link', { name: '查看节点' }).click()
    await expect(heading(page, name)).toBeVisible()
    await expect(page.getByText('节点上的 Docker 不可用，不能部署容器')).toBeVisible()
    await expect(page.getByRole('figure').filter({ hasText: '内存' })).toContainText('B')
    await accessible(page, 'the page of one')
    await page.getByRole('tab', { name: '硬件' }).click()
    await expect(page.getByRole('heading', { name: '网卡' })).toBeVisible()
    await accessible(page, 'its parts')
    await page.getByRole('tab', { name: '节点程序' }).click()
    await expect(page.getByRole('tabpanel')).toContainText(fingerprint)

    await more(page, '标签与污点')
    await field(dialog(page), '标签').fill('zone=a')
    await page.keyboard.press('Enter')
    await field(dialog(page), '污点').fill('gpu=only')
    await page.keyboard.press('Enter')
    await accessible(page, 'its labels')
    await dialog(page).getByRole('button', { name: '保存' }).click()
    await expect(page.locator('.ant-descriptions').first()).toContainText('gpu=only:NoSchedule')

    // The list finds it by its label, and says at once what happens to it.
    await page.goto('/infrastructure/node?labels=zone=a')
    const row = page.getByRole('row', { name: new RegExp(name) })
    await expect(row).toContainText('在线')
    await accessible(page, 'the list')
    await row.getByRole('button', { name: '停用' }).click()
    await dialog(page).getByRole('button', { name: '停用' }).click()
    await expect(row).toContainText('已停用')
    await row.getByRole('link', { name }).click()
    await more(page, '解绑')
    await dialog(page).getByRole('button', { name: '解绑' }).click()
    await expect(page.getByText('节点已解绑：重新接入需要执行新的接入命令')).toBeVisible()
    await more(page, '删除')
    await dialog(page).getByRole('textbox').fill(name)
    await dialog(page).getByRole('button', { name: '删除' }).click()
    await expect(heading(page, '节点')).toBeVisible()
    await expect(page.getByRole('row', { name: new RegExp(name) })).toHaveCount(0)
  } finally {
    await agent.kill()
    folder.remove()
  }
})

test('the command is shown once; another one takes its place', async ({ page, context }) => {
  await signIn(context, 'tenantAdmin')
  const [, , , first] = await add(page, newName('edge'))
  await page.reload()
  await expect(page.getByText('接入命令只显示一次')).toBeVisible()
  await page.getByRole('button', { name: '生成新的命令' }).click()
  await expect(page.locator('pre')).toContainText('ZHISUAN_TOKEN')
  await expect(page.locator('pre')).not.toContainText(first ?? 'ZHISUAN_TOKEN')
})

test('a pull shows its layers, and a reload shows them again; pruning says before what will go', async ({ page, context }) => {
  const folder = temporaryFolder('browser-agent')
  const name = newName('edge')
  await signIn(context, 'tenantAdmin')
  const agent = startAgent(['serve', '--data', folder.path, '--docker', `${folder.path}/none.sock`, ...(await add(page, name))])
  try {
    await page.getByRole('button', { name: '是这个节点，允许加入' }).click()
    await page.getByRole('link', { name: '查看节点' }).click()
    await expect(heading(page, name)).toBeVisible()

    // There is no Docker here: what it would answer is put in its place.
    const image = { id: `sha256:${'ab'.repeat(32)}`, tags: ['busybox:1'], size_bytes: 5 * 2 ** 20, created_at: '2026-01-01T00:00:00Z', used_by: ['web'] }
    let status = 'running'
    await page.route('**/api/ecrm/v1/edges/*/images', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 202, json: { pull_id: randomUUID() } }) : route.fulfill({ json: { items: [image] } }),
    )
    await page.route('**/api/ecrm/v1/edges/*/images/pulls/*', (route) =>
      route.fulfill({
        json: {
          image: 'nginx:1.27',
          status,
          error: null,
          layers: [{ id: 'aaaaaaaaaaaa', status: 'Downloading', current_bytes: 2 ** 20, total_bytes: 2 ** 21 }],
        },
      }),
    )
    await page.route('**/api/ecrm/v1/edges/*/images/prune', (route) =>
      route.fulfill({ json: { items: [{ id: image.id, tags: [], size_bytes: 2 ** 20 }], freed_bytes: 2 ** 20 } }),
    )

    await page.locator('.frame-head-actions').getByRole('button', { name: '镜像' }).click()
    await expect(heading(page, `“${name}”上的镜像`)).toBeVisible()
    const row = page.getByRole('row', { name: /busybox:1/ })
    await expect(row.getByRole('button', { name: '删除' })).toHaveAttribute('aria-disabled', 'true')
    await field(page, '拉取镜像').fill('nginx:1.27')
    await page.getByRole('button', { name: '拉取', exact: true }).click()
    await expect(page.getByText('1 MB / 2 MB')).toBeVisible()
    await accessible(page, 'a pull')
    await page.reload()
    await expect(page.getByText('正在拉取 nginx:1.27')).toBeVisible()
    status = 'succeeded'
    await expect(page.getByText('nginx:1.27 已拉取完成')).toBeVisible()

    await page.getByRole('button', { name: '清理镜像' }).click()
    await expect(dialog(page)).toContainText('将删除 1 个镜像，最多释放 1 MB')
    await accessible(page, 'the question')
  } finally {
    await agent.kill()
    folder.remove()
  }
})

test('regions hold sites, and both are deleted only when they are empty', async ({ page, context }) => {
  const [region, site] = [newName('region'), newName('site')]
  await signIn(context, 'admin')
  await page.goto('/area')
  await page.getByRole('button', { name: '创建区域' }).first().click()
  await fill(dialog(page), { 名称: region })
  await accessible(page, 'a new region')
  await dialog(page)
    .getByRole('button', { name: /^创\s*建$/ })
    .click()
  await expect(toast(page, '区域已创建')).toBeVisible()
  await page.getByRole('link', { name: region }).click()
  await expect(heading(page, '站点')).toBeVisible()

  await page.getByRole('button', { name: '创建站点' }).first().click()
  await fill(dialog(page), { 名称: site, 详细地址: '示例路 1 号', 经度: '121.47' })
  await dialog(page).getByLabel('省、自治区、直辖市').fill('上海')
  await page.getByTitle('上海市').click()
  await dialog(page)
    .getByRole('button', { name: /^创\s*建$/ })
    .click()
  await expect(dialog(page)).toContainText('经度和纬度须同时填写')
  await fill(dialog(page), { 纬度: '31.23' })
  await accessible(page, 'a new site')
  await dialog(page)
    .getByRole('button', { name: /^创\s*建$/ })
    .click()
  await expect(toast(page, '站点已创建')).toBeVisible()
  await page.getByRole('link', { name: site }).click()
  await expect(heading(page, site)).toBeVisible()
  await expect(page.getByText('上海市')).toBeVisible()
  await page.getByRole('tab', { name: '网关' }).click()
  await expect(page.getByText('还没有网关')).toBeVisible()
  await accessible(page, 'the page of one')

  await page.goto('/area')
  await expect(page.getByRole('row', { name: new RegExp(region) }).getByRole('button', { name: '删除' })).toHaveAttribute('aria-disabled', 'true')
  await page.goto('/website')
  await page
    .getByRole('row', { name: new RegExp(site) })
    .getByRole('button', { name: '删除' })
    .click()
  await dialog(page).getByRole('button', { name: '删除' }).click()
  await expect(page.getByRole('row', { name: new RegExp(site) })).toHaveCount(0)
  await page.goto('/area')
  await page
    .getByRole('row', { name: new RegExp(region) })
    .getByRole('button', { name: '删除' })
    .click()
  await dialog(page).getByRole('button', { name: '删除' }).click()
  await expect(page.getByRole('row', { name: new RegExp(region) })).toHaveCount(0)
})
