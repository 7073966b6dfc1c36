import type { Page } from '@playwright/test'
import { natGateways } from '@zhisuan/contract/nextstack/nat'
import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { vpcs } from '@zhisuan/contract/nextstack/vpc'
import { Client } from '../support/server.ts'
import { still, violations, wcag } from './axe.ts'
import { button, dialog, visit } from './console.ts'
import { newName, register, someAddress } from './people.ts'
import { someAtATime, pagesFor } from './routeTable.ts'
import { field } from './forms.ts'
import { expect, signIn, stage, test } from './test.ts'

// A trace of axe at work is larger than all that it looks at.
test.use({ trace: 'off' })
test.describe.configure({ mode: 'parallel' })

const tags = [...wcag, 'best-practice']

/** Until nothing is on its way any more. */
async function settled(page: Page): Promise<void> {
  await expect(page.locator('h1').first()).toBeAttached()
  await expect(page.locator('.zs-placeholder, .zs-spinner, .ant-skeleton, .ant-spin-spinning')).toHaveCount(0)
  await still(page)
}

/** That axe finds nothing wrong on what is seen now. */
async function check(
  page: Page,
  what: string,
  except: { readonly withoutRules?: readonly string[]; readonly exclude?: readonly string[] } = {},
): Promise<void> {
  await settled(page)
  expect.soft(await violations(page, { tags, ...except }), what).toEqual([])
}

/** While a menu, a popover or a list of choices is open. */
const checkPopup = (page: Page, what: string): Promise<void> =>
  check(page, what, {
    // antd hangs it at the end of the body, beside all landmarks; what opened it names and owns it.
    withoutRules: ['region'],
    // The combobox itself scrolls its choices: its arrow keys move through them, and they are no stop of the Tab key.
    exclude: ['.ant-select-dropdown-list-holder'],
  })

/** Pages, and of each list the page of the first thing in it. */
async function checkAll(page: Page, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await visit(page, path)
    await check(page, path)
    const first = page.locator('main tbody a').first()
    const inList = (await first.count()) === 0 ? null : await first.getAttribute('href')
    if (inList === null) continue
    await visit(page, inList)
    await check(page, inList)
  }
}

/** Looks at a dialog, closes it as it was opened: with nothing done. */
async function checkDialog(page: Page, what: string): Promise<void> {
  await expect(dialog(page)).toBeVisible()
  await check(page, what)
  await dialog(page)
    .getByRole('button', { name: /^(取消|关闭)$/ })
    .first()
    .click()
  await expect(dialog(page)).toHaveCount(0)
}

test('public pages, and their forms when refused', async ({ page, trouble }) => {
  trouble.expect(/^404 GET \/api\/models\/v1\/models\/made-up$/)
  await checkAll(page, [...pagesFor(['public']), '/market', '/warehouse/made-up'])
  await page.goto('/register')
  await button(page, '注册').click()
  await expect(page.getByText('用户名不能为空')).toBeVisible()
  await check(page, '/register, nothing typed')
  await page.goto('/login')
  await button(page, '登录').click()
  await expect(page.getByText('密码不能为空')).toBeVisible()
  await check(page, '/login, nothing typed')
  await page.getByRole('tab', { name: '验证码登录' }).click()
  await check(page, '/login by code')
  await button(page, '忘记密码').click()
  await check(page, '/login, password forgotten')
  await page.goto('/messageBoard')
  await button(page, '提交留言').click()
  await expect(page.locator('.ant-form-item-explain-error').first()).toBeVisible()
  await check(page, '/messageBoard, nothing typed')
})

for (const [group, paths] of someAtATime(pagesFor(['TENANT']).filter((path) => !pagesFor(['public']).includes(path)))) {
  test(`what tenants see: ${group}`, async ({ page, context }) => {
    await signIn(context, 'tenant')
    await checkAll(page, paths)
  })
}

test('instances: list, instance, and all that opens on them', async ({ page, context }) => {
  await signIn(context, 'tenant')

  await page.goto(`/nextStack/vm?keyword=${encodeURIComponent('示例')}`)
  await page
    .getByRole('row', { name: /示例实例/ })
    .getByRole('checkbox')
    .check()
  await check(page, 'list, one selected')
  await page.getByRole('region', { name: '批量操作' }).getByRole('button', { name: '关机', exact: true }).click()
  await checkDialog(page, 'list, batch confirmation')
  await button(page, '列设置').click()
  await checkPopup(page, 'list, column settings')
  await page.keyboard.press('Escape')
  await page.getByRole('combobox', { name: '状态' }).click()
  await checkPopup(page, 'list, a filter open')
  await page.keyboard.press('Escape')
  await page
    .getByRole('row', { name: /示例实例/ })
    .getByRole('button', { name: '更多' })
    .click()
  await checkPopup(page, 'list, menu of a row')
  await page.keyboard.press('Escape')
  await button(page, '产品').click()
  await checkDialog(page, 'product drawer')
  await page.getByRole('button', { name: /^切换云平台/ }).click()
  await checkPopup(page, 'cloud switcher')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /的账号菜单$/ }).click()
  await checkPopup(page, 'user menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^消息/ }).click()
  await expect(page.getByRole('link', { name: '查看全部' })).toBeVisible()
  await checkPopup(page, 'bell')
  for (const query of ['keyword=nobody-has-this-name', 'page=99']) {
    await page.goto(`/nextStack/vm?${query}`)
    await check(page, `list?${query}`)
  }

  for (const tab of ['overview', 'metrics', 'operations', 'console', 'terminal']) {
    await page.goto(`/nextStack/vm/detail/${stage().vmId}?tab=${tab}`)
    await expect(page.getByRole('heading', { name: '示例实例' })).toBeVisible()
    if (tab === 'terminal') await expect(page.getByText('已连接')).toBeVisible()
    await check(page, `instance, ${tab}`)
  }
  await button(page, '快捷键').click()
  await checkPopup(page, 'terminal, help')
  await page.goto(`/nextStack/vm/detail/${stage().vmId}`)
  await button(page, '关机').click()
  await checkDialog(page, 'instance, confirmation')
  for (const action of ['编辑', '调整规格', '重装系统', '删除']) {
    await button(page, '更多').click()
    await page.getByRole('menuitem', { name: action }).click()
    await checkDialog(page, `instance, ${action}`)
  }

  await page.goto('/nextStack/vmCommand')
  await check(page, 'terminals, none open')
  await page.goto(`/nextStack/vmCommand?id=${stage().vmId}`)
  await expect(page.getByText('已连接')).toBeVisible()
  await check(page, 'terminals, one open')

  await page.goto('/nextStack/vm/add')
  await expect(page.getByText('还需填写：')).toBeVisible()
  await check(page, 'creation')
  await button(page, '立即创建').click()
  await expect(page.locator('.ant-form-item-explain-error').first()).toBeVisible()
  await check(page, 'creation, refused')
})

test('a network of their own: what is in it, how it is reached, and what guards it', async ({ page, context }) => {
  const person = await register(stage().url, newName('network'))
  const client = new Client(stage().url, someAddress())
  await client.signIn(person.username, person.password)
  const cloud_id = stage().cloudId
  const { id } = await client.call(vpcs.create, { body: { name: newName('vpc'), cloud_id, cidr: '10.213.64.0/24' } })
  const nat = (await client.call(natGateways.list, { query: { vpc_id: id } })).items[0]?.id ?? ''
  const group = await client.call(securityGroups.create, { body: { cloud_id, name: newName('group'), template: 'web' } })
  await signIn(context, person)
  for (const path of [`/nextStack/vpc/detail/${id}`, `/nextStack/Nat/detail/${nat}`, `/nextStack/secGroups/detail/${group.id}`]) {
    await visit(page, path)
    await check(page, path)
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      await check(page, `${path}, ${await tab.innerText()}`)
    }
  }
})

for (const [group, paths] of someAtATime([
  ...pagesFor(['TENANT_ADMIN']).filter((path) => !pagesFor(['public']).includes(path)),
  '/nextStack/vm/detail/made-up',
])) {
  test(`one without anything, on every list: ${group}`, async ({ page, context, trouble }) => {
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/vms\//)
    await signIn(context, await register(stage().url, newName('empty'), newName('空组织')))
    await page.goto('/nextStack/vm')
    await expect(page.getByText('上还没有云主机')).toBeVisible()
    await checkAll(page, paths)
  })
}

for (const [group, paths] of someAtATime([
  ...pagesFor(['ADMIN']).filter((path) => !pagesFor(['public']).includes(path)),
  '/infrastructure/cloudy?keyword=nobody-has-this-name',
  '/messageBoard?tab=leave',
])) {
  test(`what administrators see: ${group}`, async ({ page, context }) => {
    await signIn(context, 'admin')
    await checkAll(page, paths)
  })
}

test('clouds, and what is shown without any', async ({ page, context }) => {
  await signIn(context, 'admin')
  await page.goto('/infrastructure/cloudy')
  await button(page, '登记云平台').click()
  await check(page, 'register a cloud')
  await dialog(page).getByText('HTTPS', { exact: false }).first().click()
  await dialog(page).getByRole('button', { name: '添加标签' }).click()
  await check(page, 'register a cloud, by HTTPS, with a label')
  await dialog(page).getByRole('button', { name: '登记', exact: true }).click()
  await expect(dialog(page).locator('.ant-form-item-explain-error').first()).toBeVisible()
  await check(page, 'register a cloud, refused')
  await dialog(page).getByRole('button', { name: '取消' }).click()
  await expect(dialog(page)).toHaveCount(2)
  await check(page, 'register a cloud, leaving')
  await page.goto('/infrastructure/cloudy')
  await button(page, '编辑').click()
  await checkDialog(page, 'edit a cloud')

  // No cloud at all, which the shared server cannot be without.
  await page.route(/\/api\/cmp\/v1\/clouds/, (route) => route.fulfill({ json: { clouds: [], total: 0 } }))
  for (const path of ['/infrastructure/cloudy', '/nextStack/vm', '/nextStack/vm/add', '/nextStack/vmCommand', '/index']) {
    await page.goto(path)
    await check(page, `${path} without clouds`)
  }
})

test('account and help', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.goto('/userMsg')
  await check(page, 'account')
  await button(page, '修改密码').click()
  await expect(page.locator('.ant-form-item-explain-error').first()).toBeVisible()
  await check(page, 'account, refused')
  await page.goto('/help')
  await check(page, 'help')
  await page.getByRole('searchbox').or(page.getByRole('textbox')).first().fill('nobody wrote of this')
  await check(page, 'help, nothing found')
  const articles = await page.evaluate(async () =>
    [...document.querySelectorAll<HTMLAnchorElement>('main a[href^="/help/helpCenter/"]')].map((link) => link.pathname),
  )
  for (const path of articles.length > 0
    ? articles
    : ['/help/helpCenter/sign-in', '/help/helpCenter/terminal', '/help/helpCenter/error-codes', '/help/helpCenter/api']) {
    await page.goto(path)
    await check(page, path)
  }
  await page.goto('/help/helpCenter/none')
  await check(page, 'an article that is none')
})

test('on a phone', async ({ page, context }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of ['/', '/login']) {
    await page.goto(path)
    await check(page, path)
  }
  await signIn(context, 'tenant')
  for (const path of ['/nextStack/vm', `/nextStack/vm/detail/${stage().vmId}`, '/nextStack/vm/add']) {
    await page.goto(path)
    await check(page, path)
  }
  await button(page, '菜单').click()
  await check(page, 'menu')
})

test('the page that asks for another password', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.route('**/api/ums/v1/users/current', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), must_change_password: true } })
  })
  await page.goto('/nextStack/vm')
  await expect(field(page, '初始密码')).toBeVisible()
  await check(page, 'initial password')
})
