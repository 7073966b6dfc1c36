import type { Locator, Page } from '@playwright/test'
import { customRoles } from '@zhisuan/contract/iam/role'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, act, button, dialog, heading, more, pick, rowOf, shot } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const builder = (page: Page): Locator => page.getByRole('region', { name: '可视化' })
const editor = (page: Page): Locator => page.getByRole('textbox', { name: '策略文档 JSON' })
const problems = (page: Page): Locator => page.locator('.ia-problems')
/** What is in the editor becomes this, as if it were pasted. */
async function write(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}

/** Somebody who has only the roles that they are given here, and a client of theirs. */
async function someone(): Promise<{ username: string; client: Client; administrator: Client }> {
  const { url } = stage()
  const { username, password } = await register(url, newName('iam-user'), newName('iam-org'))
  const client = new Client(url, someAddress())
  await client.signIn(username, password)
  const administrator = new Client(url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  return { username, client, administrator }
}
const mayList = (client: Client): Promise<boolean> =>
  client.call(vms.list).then(
    () => true,
    (thrown: unknown) => {
      if (!String(thrown).includes(`${vms.list.id}: 403 `)) throw thrown
      return false
    },
  )

test('a policy is made, given by a role, asked about, changed by another version and put away', { tag: '@journey' }, async ({ page, context, trouble }) => {
  // Their pages are still open when they are deleted.
  trouble.expect(/^404 GET \/api\/iam\/v1\/(policies|roles)\//)
  const { username, client } = await someone()
  const [policy, role] = [newName('policy'), newName('role')]
  await signIn(context, 'admin')

  // Made by the builder, which tells what is missing once it was sent; what is wrong is told at its line.
  await page.goto('/iam/policie/addForm')
  await expect(problems(page)).toHaveText('还没有填写完整')
  await expect(page.locator('.zs-bad, .ant-form-item-explain-error, .cm-lint-marker-error')).toHaveCount(0)
  await fill(page, { 名称: policy, 描述: '浏览器测试' })
  await button(page, '创建策略').click()
  await expect(problems(page)).toContainText('不能为空')
  await expect(builder(page)).toContainText('不能为空')
  await builder(page).getByText('拒绝', { exact: true }).click()
  await builder(page).getByLabel('操作', { exact: true }).and(page.locator('input[role=combobox]')).fill('nextstack.vm.list')
  await page.locator('.ant-select-dropdown:visible .ant-select-tree-treenode', { hasText: 'nextstack.vm.list' }).locator('.ant-select-tree-checkbox').click()
  await page.keyboard.press('Escape')
  await expect(editor(page)).toContainText('"nextstack.vm.list"')
  await expect(problems(page)).toContainText('没有问题')
  await builder(page).getByLabel('名称（Sid）').fill('NoList')
  await accessible(page, 'the form of a policy')
  await shot(page, 'policy-form')

  // What the builder cannot show stays, and what is written shows in it.
  const text = { Version: '2026-11-21', Statement: [{ Sid: 'NoList', Effect: 'Deny', Action: ['nextstack.vm.list', 'nextstack.vm.fly'], Resource: '*' }] }
  await write(page, JSON.stringify(text, null, 2))
  await expect(page.locator('.cm-lint-marker-error')).toBeVisible()
  await expect(problems(page)).toContainText('没有这样的操作')
  await expect(builder(page)).toContainText('nextstack.vm.fly')
  await button(page, '创建策略').click()
  await expect(page.getByText('策略文档有 1 处问题')).toBeVisible()
  await accessible(page, 'a problem')
  await builder(page).locator('.ant-select-selection-item', { hasText: 'nextstack.vm.fly' }).locator('.ant-select-selection-item-remove').click()
  await expect(problems(page)).toContainText('没有问题')
  await write(page, '{ "Version": ')
  await expect(builder(page)).toContainText('现在的 JSON 不能显示为可视化视图')
  await expect(problems(page)).toContainText('JSON 语法有误')
  await write(page, JSON.stringify({ ...text, Statement: [{ ...text.Statement[0], Action: 'nextstack.vm.l' }] }, null, 2))
  // Completed in the editor.
  await page.getByText('nextstack.vm.l"').click()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.type('i')
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'nextstack.vm.list' }).first().click()
  await expect(problems(page)).toContainText('没有问题')
  await expect(builder(page)).toContainText('云主机 · 查看列表')
  await builder(page).getByLabel('添加条件…').fill('来源')
  await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: 'zs:SourceIp' }).click()
  const condition = page.getByRole('group', { name: '来源 IP' })
  await condition.getByLabel('值', { exact: true }).fill('10.0.0.0/8')
  await page.keyboard.press('Enter')
  await expect(editor(page)).toContainText('"IpAddress"')
  await accessible(page, 'a condition')
  await button(condition, '删除条件 来源 IP').click()
  await expect(editor(page)).not.toContainText('Condition')
  await button(page, '创建策略').click()
  await expect(heading(page, policy)).toBeVisible()
  await accessible(page, 'its versions')

  // Given by a role.
  await page.goto('/iam/role/addForm')
  await fill(page, { 名称: role })
  await accessible(page, 'the form of a role')
  await button(page, '创建角色').click()
  await expect(heading(page, role)).toBeVisible()
  await page.getByRole('main').getByRole('button', { name: '授予策略' }).first().click()
  await pick(dialog(page), '策略', policy)
  await accessible(page, 'giving')
  await button(dialog(page), '授予策略').click()
  await expect(rowOf(page, policy)).toBeVisible()
  await page.getByRole('tab', { name: '成员' }).click()
  await page.getByRole('main').getByRole('button', { name: '添加成员' }).first().click()
  await pick(dialog(page), '用户', username)
  await button(dialog(page), '添加成员').click()
  await expect(rowOf(page, username)).toBeVisible()
  await accessible(page, 'members')
  await page.getByRole('tab', { name: '允许的操作' }).click()
  await expect(page.getByText('查看列表（明确拒绝）').first()).toBeVisible()
  await accessible(page, 'what it allows')
  expect(await mayList(client)).toBe(false)

  // Why.
  await page.goto('/iam/authorize?tab=who&action=nextstack.vm.list&allowed=false')
  const refusedRow = rowOf(page, username)
  await expect(refusedRow).toContainText('明确拒绝')
  await expect(refusedRow).toContainText(policy)
  await accessible(page, 'who may')
  await refusedRow.getByRole('link', { name: '为什么' }).click()
  const verdict = page.getByRole('region', { name: '结果' })
  await expect(verdict).toContainText(`“${username}”不能执行：下面这条语句明确拒绝`)
  await expect(verdict.locator('mark')).toContainText('"NoList"')
  await expect(verdict).toContainText('适用，但拒绝优先')
  await accessible(page, 'why')
  await verdict.getByRole('link', { name: '打开策略' }).click()

  // Another version lets them.
  await expect(heading(page, policy)).toBeVisible()
  await act(page, '编辑')
  await expect(heading(page, `“${policy}”的新版本`)).toBeVisible()
  await builder(page).getByText('允许', { exact: true }).click()
  await expect(editor(page)).toContainText('"Allow"')
  await page.getByRole('checkbox', { name: '设为默认版本，保存后立即生效' }).check()
  await expect(page.getByText('立即影响以下 1 处：')).toBeVisible()
  await page.getByRole('checkbox', { name: '设为默认版本，保存后立即生效' }).uncheck()
  await button(page, '保存为新版本').click()
  await expect(rowOf(page, '版本 2')).toContainText('未生效')
  expect(await mayList(client)).toBe(false)
  await rowOf(page, '版本 2').getByRole('link', { name: '版本 2' }).click()
  await expect(page.getByText('左边是版本 1，右边是版本 2')).toBeVisible()
  await expect(page.locator('.cm-changedLine').first()).toBeVisible()
  await accessible(page, 'the difference')
  await act(page, '设为默认')
  await expect(dialog(page)).toContainText(role)
  await accessible(page, 'whom it touches')
  await button(dialog(page), '设为默认').click()
  await expect(toast(page, '版本 2 已生效')).toBeVisible()
  expect(await mayList(client)).toBe(true)

  // The old one goes; so do role and policy.
  await page.locator('.frame-crumbs').getByRole('link', { name: '策略' }).click()
  await page.getByRole('combobox', { name: '名称', exact: true }).fill(policy)
  await page.keyboard.press('Enter')
  await accessible(page, 'the list of policies')
  await shot(page, 'policies')
  await rowOf(page, policy).getByRole('link', { name: policy }).click()
  // In the list, too, each row says which version it is of.
  await expect(heading(page, policy)).toBeVisible()
  await more(rowOf(page, '版本 1'), '删除')
  await button(dialog(page), '删除').click()
  await expect(rowOf(page, '版本 1')).toHaveCount(0)
  await page.locator('.frame-head-actions').getByRole('button', { name: '关联' }).click()
  await expect(rowOf(page, role)).toContainText('角色')
  await accessible(page, 'contacts')
  await button(rowOf(page, role), '解除').click()
  await button(dialog(page), '解除').click()
  await expect(page.getByText('没有关联')).toBeVisible()
  await act(page, '删除')
  await button(dialog(page), '删除').click()
  await expect(heading(page, '策略')).toBeVisible()
  await page.goto('/iam/role')
  await page.getByRole('link', { name: role }).click()
  await button(rowOf(page, username), '移除').click()
  await button(dialog(page), '移除').click()
  await expect(rowOf(page, username)).toHaveCount(0)
  await act(page, '删除')
  await expect(dialog(page)).toContainText('没有成员，也没有授予任何策略')
  await button(dialog(page), '删除').click()
  await expect(heading(page, '角色')).toBeVisible()
  await expect(page.getByRole('link', { name: role })).toHaveCount(0)
})

test('built-in roles stand first and stay; grants and boundaries are given and taken back', async ({ page, context, trouble }) => {
  const { username, administrator } = await someone()
  await signIn(context, 'admin')
  await page.goto('/iam/role?kind=builtIn')
  await expect(rowOf(page, '平台管理员')).toContainText('内置')
  await expect(button(rowOf(page, '平台管理员'), '删除')).toHaveAttribute('aria-disabled', 'true')
  await accessible(page, 'the list of roles')
  await shot(page, 'roles')
  const { items } = await administrator.call(customRoles.list, { query: { keyword: 'TENANT_ADMIN' } })
  await page.goto(`/iam/role/detail/${items[0]?.id ?? ''}?tab=allows`)
  await expect(heading(page, '租户管理员')).toBeVisible()
  await expect(page.getByText(/允许 \d+ 个操作/)).toBeVisible()

  const policy = newName('policy')
  await page.goto('/iam/policie/addForm')
  await fill(page, { 名称: policy })
  await write(page, JSON.stringify({ Version: '2026-11-21', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] }))
  await button(page, '创建策略').click()
  await expect(heading(page, policy)).toBeVisible()
  await page.goto('/iam/authorize')
  await page.getByRole('main').getByRole('button', { name: '授予策略' }).first().click()
  await pick(dialog(page), '策略', policy)
  await pick(dialog(page), '用户', username)
  await button(dialog(page), '授予策略').click()
  await expect(rowOf(page, policy)).toContainText(username)
  await accessible(page, 'grants')
  // Twice is refused where it is asked.
  trouble.expect(/^400 POST \/api\/iam\/v1\/grants/, /^404 GET \/api\/iam\/v1\/policies\//)
  await page.getByRole('main').getByRole('button', { name: '授予策略' }).first().click()
  await pick(dialog(page), '策略', policy)
  await pick(dialog(page), '用户', username)
  await button(dialog(page), '授予策略').click()
  await expect(dialog(page)).toContainText('该策略已授予')
  // The same dialog makes it a boundary.
  await dialog(page).getByText('用户的权限边界', { exact: true }).first().click()
  await pick(dialog(page), '用户的权限边界', username)
  await button(dialog(page), '授予策略').click()
  await rowOf(page, policy).getByRole('link', { name: policy }).click()
  await page.locator('.frame-head-actions').getByRole('button', { name: '关联' }).click()
  for (const [kind, title] of [
    ['用户的权限边界', /去掉“.*”的权限边界/],
    ['用户', /解除“.*”对“.*”的授权/],
  ] as const) {
    const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name: kind, exact: true }) })
    await button(row, '解除').click()
    await expect(dialog(page)).toContainText(title)
    await button(dialog(page), '解除').click()
    await expect(row).toHaveCount(0)
  }
  await act(page, '删除')
  await button(dialog(page), '删除').click()
  await expect(heading(page, '策略')).toBeVisible()
})

test('services and kinds of resources tell their names, and lead to each other and to who may', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await signIn(context, 'admin')
  await page.goto('/iam/serve')
  await accessible(page, 'services')
  await page.getByRole('link', { name: '云主机、网络与存储' }).click()
  await expect(heading(page, '云主机、网络与存储')).toBeVisible()
  await page.getByRole('searchbox', { name: '名称、标识或操作' }).fill('vm.start')
  await expect(page.getByText('1 个操作', { exact: true })).toBeVisible()
  await button(page, '复制“nextstack.vm.start”').click()
  await expect(toast(page, /复制/)).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('nextstack.vm.start')
  await accessible(page, 'actions')
  await page
    .getByRole('row', { name: /nextstack\.vm\.start/ })
    .getByRole('link', { name: '云主机', exact: true })
    .click()
  await expect(heading(page, '云主机')).toBeVisible()
  await expect(page.getByText('zrn:nextstack:{organisation}:vm/{id}')).toBeVisible()
  await accessible(page, 'a kind of resource')
  await page
    .getByRole('row', { name: /nextstack\.vm\.start/ })
    .getByRole('link', { name: '谁可以执行' })
    .click()
  await expect(page.getByRole('heading', { name: '云主机 · 启动' })).toBeVisible()
  await page.goto('/iam/resource')
  await accessible(page, 'kinds of resources')
  // Both cloud families have some.
  await page.locator('a[href="/iam/resource/nextstack.securityGroup"]').click()
  await expect(heading(page, '安全组')).toBeVisible()
})

test('a service of somebody’s own is made, gets a kind of resources, and is named by policies', async ({ page, context }) => {
  const id = newName('erp')
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .slice(0, 32)
  await signIn(context, 'admin')
  await page.goto('/iam/serve/addForm')
  await page.getByLabel('服务标识').fill(id)
  await page.getByLabel('名称', { exact: true }).fill('进销存')
  await page.getByLabel('第 1 个操作的标识').fill('approve')
  await button(page, '创建自定义服务').click()
  const refused = page.getByText('写作 类型.动作，例如 invoice.approve：', { exact: false })
  await expect(refused).toBeVisible()
  await page.getByLabel('第 1 个操作的标识').fill('invoice.approve')
  // What is below it moves up when it goes: a press in that moment begins on a button and ends beside it.
  await expect(refused).toHaveCount(0)
  await button(page, '添加条件键').click()
  await page.getByLabel('第 1 个条件键的名称').fill('Amount')
  await accessible(page, 'the form of a service')
  await button(page, '创建自定义服务').click()
  await expect(heading(page, '进销存')).toBeVisible()
  await page.goto(`/iam/resource/addForm?service=${id}`)
  await page.getByLabel('类型标识').fill('ledger')
  await expect(page.getByText(`zrn:${id}:{organisation}:ledger/{id}`)).toBeVisible()
  await accessible(page, 'the form of a kind of resources')
  await button(page, '创建资源类型').click()
  await expect(page.getByText('自定义', { exact: true })).toBeVisible()
})
