import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { ResponseOf } from '@zhisuan/contract/define'
import { button, dialog, heading, visit } from './console.ts'
import { newName, register } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

// What docs/specification.md leads to here is what no smaller test shows.

const switcher = (page: Page) => page.getByRole('button', { name: /^切换云平台/ })
const back = (page: Page) => page.locator('.frame-head').getByRole('button', { name: /^返回/ })

test.describe('the cloud switcher', () => {
  /** The clouds there are said to be: the one of the stage first, full to `usage` and labelled, and four others. */
  async function withClouds(page: Page, labels: readonly string[]): Promise<void> {
    await page.route(`**${clouds.basicInfo.path}`, async (route) => {
      const response = await route.fetch()
      const { clouds: there } = (await response.json()) as ResponseOf<typeof clouds.basicInfo>
      const first = there.find(({ cloud_id }) => cloud_id === stage().cloudId)
      const others = { 甲: 0.5, 乙: 0.9, 丙: 0.95, 丁: 1 }
      const json = {
        total: 5,
        clouds: [
          { ...first, name: '首个', usage: 0.1, labels: labels.map((label) => JSON.stringify({ label })) },
          ...Object.entries(others).map(([name, usage]) => ({ ...first, cloud_id: randomUUID(), name, usage, labels: [] })),
        ],
      }
      await route.fulfill({ response, json })
    })
  }

  test('says how full each cloud is; exactly 0.9 has no word', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await withClouds(page, [])
    await page.goto('/nextStack/vm')
    await switcher(page).click()
    const loads = /空闲|繁忙|紧张|已满/
    for (const [name, load] of Object.entries({ 首个: '空闲', 甲: '繁忙', 丙: '紧张', 丁: '已满' }))
      await expect(page.getByRole('menuitem', { name: new RegExp(`^${name}`) })).toContainText(load)
    await expect(page.getByRole('menuitem', { name: /^乙/ })).toBeVisible()
    await expect(page.getByRole('menuitem', { name: /^乙/ })).not.toContainText(loads)
  })

  test('shows three labels, and how many more there are', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await withClouds(page, ['一号', '二号', '三号', '四号', '五号'])
    await page.goto('/nextStack/vm')
    for (const label of ['一号', '二号', '三号', '+2']) await expect(switcher(page)).toContainText(label)
    for (const label of ['四号', '五号']) await expect(switcher(page)).not.toContainText(label)
  })

  test('has chosen the first cloud where the stored one is not in the list', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await withClouds(page, [])
    await page.goto('/help')
    await page.evaluate(() => localStorage.setItem('zhisuan.cloud', '00000000-0000-4000-8000-000000000000'))
    await page.goto('/nextStack/vm')
    await expect(switcher(page)).toContainText('首个')
    await expect(page.getByRole('row', { name: /batch/ }).first()).toBeVisible()
  })

  test('is on the pages of clouds, but not where an instance is made', async ({ page, context }) => {
    await signIn(context, 'tenant')
    for (const [path, title, there] of [
      ['/nextStack/vm', '云主机', true],
      ['/nextStack/vm/add', '创建云主机', false],
      ['/order', '订单', false],
    ] as const) {
      await page.goto(path)
      await expect(heading(page, title)).toBeVisible()
      await expect(switcher(page)).toHaveCount(there ? 1 : 0)
    }
  })
})

test.describe('the top bar', () => {
  test('of the console leads to the overview and the help, and to what is one’s own', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/nextStack/vm')
    const bar = page.getByRole('banner')
    await expect(bar.getByRole('link', { name: '概览' })).toHaveAttribute('href', '/index')
    await expect(bar.getByRole('link', { name: '帮助中心' })).toHaveAttribute('href', '/help')
    await bar.getByRole('button', { name: /的账号菜单$/ }).click()
    const menu = page.getByRole('menu')
    await expect(menu).toContainText(/余额.*\d\.\d\d/)
    await expect(menu.getByRole('link', { name: '充值' })).toHaveAttribute('href', '/wallet')
    await expect(menu.getByRole('link', { name: '个人中心' })).toHaveAttribute('href', '/userMsg')
    await expect(menu.getByRole('link', { name: '许可证' })).toHaveAttribute('href', '/license')
    await expect(menu).toContainText('退出登录')
  })

  test('has no licence for tenants', async ({ page, context }) => {
    await signIn(context, 'tenantAdmin')
    await page.goto('/nextStack/vm')
    await page.getByRole('button', { name: /的账号菜单$/ }).click()
    await expect(page.getByRole('menu').getByRole('link', { name: '个人中心' })).toBeVisible()
    await expect(page.getByRole('menu').getByRole('link', { name: '许可证' })).toHaveCount(0)
  })

  test('of the public site leads to the console, or to sign in and register', async ({ page, context }) => {
    await page.goto('/messageBoard')
    const bar = page.getByRole('banner')
    await expect(bar.getByRole('link', { name: '登录' })).toHaveAttribute('href', '/login')
    await expect(bar.getByRole('link', { name: '注册' })).toHaveAttribute('href', '/register')
    await signIn(context, 'tenant')
    await page.reload()
    await expect(bar.getByRole('link', { name: '控制台' })).toHaveAttribute('href', '/nextStack/vm')
    await expect(bar.getByRole('link', { name: '登录' })).toHaveCount(0)
  })
})

test('the drawer has all groups, the sidebar the current one; whether that is open outlives a reload', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.goto('/order')
  const sidebar = page.getByRole('navigation', { name: '费用中心' })
  await expect(sidebar.getByRole('link', { name: '订单' })).toHaveAttribute('aria-current', 'page')
  await expect(sidebar.getByRole('link', { name: '云主机' })).toHaveCount(0)
  await button(page, '产品').click()
  for (const group of ['nextStack 云', '费用中心']) await expect(dialog(page).getByRole('heading', { name: group })).toBeVisible()
  await expect(dialog(page).getByRole('link', { name: '云主机', exact: true })).toBeVisible()
  await page.keyboard.press('Escape')
  await button(page, '收起菜单').click()
  await expect(sidebar).toHaveCount(0)
  expect((await context.cookies()).find(({ name }) => name === 'sidebar')?.value).toBe('closed')
  await page.reload()
  await expect(button(page, '展开菜单')).toBeVisible()
  await expect(sidebar).toHaveCount(0)
})

test('menus leave out what nothing is there for; at its address it says what is missing', async ({ page, context }) => {
  await signIn(context, await register(stage().url, newName('menu'), newName('menu-org')))
  // A platform with the first family only, and nobody's node.
  await page.route('**/api/ums/v1/users/current', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), offers: ['nextStack'] } })
  })
  await page.goto('/infrastructure/node')
  const sidebar = page.getByRole('navigation', { name: '容器应用' })
  await expect(sidebar.getByRole('link', { name: '节点' })).toBeVisible()
  await expect(sidebar.getByRole('link', { name: '容器部署' })).toHaveCount(0)
  await button(page, '产品').click()
  await expect(dialog(page).getByRole('heading', { name: 'nextStack 云' })).toBeVisible()
  await expect(dialog(page).getByRole('link', { name: '路由器', exact: true })).toHaveCount(0)
  await page.keyboard.press('Escape')
  // Where one is stands in the menu all the same.
  await page.goto('/containerApplicationService/containerDeploy')
  await expect(page.getByText('还没有可以运行容器的节点')).toBeVisible()
  await expect(sidebar.getByRole('link', { name: '容器部署' })).toHaveAttribute('aria-current', 'page')
  await page.getByRole('main').getByText('添加节点').first().click()
  await expect(page).toHaveURL('/infrastructure/addNodes')
})

test('the way back is the parent, or where one was; to the overview where one was nowhere', async ({ page, context }) => {
  await signIn(context, 'admin')
  await page.goto(`/nextStack/vm/detail/${stage().vmId}`)
  await back(page).click()
  await expect(page).toHaveURL('/nextStack/vm')
  // A page that goes back in history, reached from another than its parent.
  await visit(page, '/order')
  await visit(page, '/nextStack/vmCommand')
  await back(page).click()
  await expect(page).toHaveURL('/order')
  await page.goto('/nextStack/vmCommand')
  await back(page).click()
  await expect(page).toHaveURL('/index')
})

test('the console is 1200 px wide at least, a phone’s below 992 px; public pages are as wide as the window', async ({ page, context }) => {
  const width = (selector: string) => page.locator(selector).evaluate((element) => element.getBoundingClientRect().width)
  await page.setViewportSize({ width: 1000, height: 800 })
  await page.goto('/messageBoard')
  await expect(heading(page, '留言板')).toBeVisible()
  expect(await width('.frame-public')).toBe(1000)
  await signIn(context, 'tenant')
  await page.goto('/order')
  await expect(heading(page, '订单')).toBeVisible()
  expect(await width('.frame-console')).toBe(1200)
  await page.setViewportSize({ width: 992, height: 800 })
  await expect(button(page, '产品')).toBeVisible()
  expect(await width('.frame-console')).toBe(1200)
  await page.setViewportSize({ width: 991, height: 800 })
  await expect(button(page, '菜单')).toBeVisible()
  expect(await width('.frame-console')).toBe(991)
})

test('a list has ten rows a page, or as many as one chooses of seven sizes', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.goto('/nextStack/vm')
  const rows = page.locator('tbody tr.ant-table-row')
  await expect(rows).toHaveCount(10)
  await page.locator('.ant-pagination-options').getByRole('combobox').click()
  const sizes = page.locator('.ant-select-dropdown:visible .ant-select-item-option')
  await expect(sizes).toHaveText([5, 10, 20, 30, 40, 50, 100].map((size) => new RegExp(`^${size} `)))
  await sizes.first().click()
  await expect(rows).toHaveCount(5)
  await expect(page).toHaveURL(/page_size=5$/)
})

test.describe('who cannot be let in is signed out, and told why', () => {
  const current = '**/api/ums/v1/users/current'
  const licence = '**/api/sys/v1/licenses'
  for (const [what, path, answer, told] of [
    ['nobody is named', current, { status: 200, body: '' }, '验证失败，请重新登录'],
    ['the server fails to say who', current, { status: 500, json: { code: 99_999, message: '' } }, '错误'],
    ['an administrator’s licence cannot be read', licence, { status: 500, json: { code: 99_999, message: '' } }, '错误'],
  ] as const) {
    test(what, async ({ page, context, trouble }) => {
      trouble.expect(/^500 GET/)
      await signIn(context, 'admin')
      await page.route(path, (route) => route.fulfill(answer))
      await page.goto('/order')
      await expect(page).toHaveURL('/login?redirect=%2Forder')
      await expect(toast(page, told)).toBeVisible()
      expect((await context.cookies()).map(({ name }) => name).filter((name) => name === 'token' || name === 'kind')).toEqual([])
    })
  }
})
