import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { audits } from '@zhisuan/contract/iam/audit'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { policies } from '@zhisuan/contract/iam/policy'
import { securityGroups } from '@zhisuan/contract/nextstack/security-group'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { configs } from '@zhisuan/contract/sys/sys'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, act, button, dialog, heading, more, pick, rowOf } from './console.ts'
import { fill, fillDate } from './forms.ts'
import { codeFor, newPhone } from './inbox.ts'
import { newName, register, someAddress } from './people.ts'
import { password } from './stage.ts'
import { expect, signIn, stage, test, toast, Trouble } from './test.ts'

async function administrator(): Promise<Client> {
  const client = new Client(stage().url, someAddress())
  await client.signIn('admin', administratorPassword)
  return client
}

/** Somebody who keeps an organisation of their own. */
async function keeper(): Promise<{ username: string; organisation: string; bpId: string; id: string; client: Client }> {
  const [username, organisation] = [newName('keeper'), newName('org')]
  await register(stage().url, username, organisation)
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, password)
  const { id, bp_id } = await client.call(users.current)
  return { username, organisation, bpId: bp_id ?? '', id, client }
}

const signsIn = (username: string, typed = password): Promise<string> =>
  new Client(stage().url, someAddress()).signIn(username, typed).then(
    () => 'in',
    (thrown: unknown) => /"code":(\d+)/.exec(String(thrown))?.[1] ?? String(thrown),
  )
const menu = (page: Page, action: string): Promise<void> => more(page.locator('.frame-head-actions'), action)
/** What a one-time password's dialog tells. */
const told = async (page: Page): Promise<string> => (await dialog(page).locator('code').textContent()) ?? ''

test('an organisation is made, somebody accepts its invitation, and it is frozen and thawed', async ({ page, context, browser, trouble }) => {
  const [organisation, renamed, invited] = [newName('组织'), newName('新组织'), newName('invited')]
  await signIn(context, 'admin')
  await page.goto('/iam/partners')
  await accessible(page, 'the list of organisations')

  // What is wrong is told beside its field.
  trouble.expect(/^400 POST \/api\/ums\/v1\/bps$/)
  await page.getByRole('main').getByRole('button', { name: '创建组织' }).click()
  await fill(dialog(page), { 名称: '浏览器测试组织' })
  await button(dialog(page), '创建组织').click()
  await expect(dialog(page).getByText('组织名称已存在')).toBeVisible()
  await fill(dialog(page), { 名称: organisation, 描述: '为测试而设' })
  await accessible(page, 'making one')
  await button(dialog(page), '创建组织').click()
  await expect(heading(page, organisation)).toBeVisible()
  await expect(page.getByText('还没有租户管理员').first()).toBeVisible()

  // Asked in by a link that is told once.
  await page.getByRole('main').getByRole('button', { name: '邀请成员' }).first().click()
  await fill(dialog(page), { 备注: '新同事' })
  await accessible(page, 'inviting')
  await button(dialog(page), '生成邀请链接').click()
  const link = await dialog(page).getByLabel('邀请链接').inputValue()
  expect(link).toContain('/register?invitation=')
  await accessible(page, 'the link')
  await button(dialog(page), '我已复制').click()
  await expect(rowOf(page, '新同事')).toContainText('有效')
  await expect(page.getByText(link)).toHaveCount(0)

  // Somebody else, elsewhere.
  const other = await browser.newContext({ baseURL: stage().url, extraHTTPHeaders: { ...someAddress() } })
  const elsewhere = await other.newPage()
  const unseen = new Trouble()
  unseen.watch(other)
  await elsewhere.goto(link)
  await expect(elsewhere.getByText(`邀请您加入组织“${organisation}”`)).toBeVisible()
  await expect(elsewhere.getByText('admin 邀请您以“租户”的身份加入')).toBeVisible()
  await expect(elsewhere.getByLabel('组织名称（选填）')).toHaveCount(0)
  await accessible(elsewhere, 'an invitation')
  const phone = newPhone()
  await fill(elsewhere, { 用户名: invited, 手机号: phone })
  await button(elsewhere, '获取验证码').click()
  await expect(toast(elsewhere, '验证码已发送')).toBeVisible()
  await fill(elsewhere, { 验证码: await codeFor(stage().url, phone), 密码: password, 确认密码: password })
  await elsewhere.getByRole('checkbox').check()
  await button(elsewhere, '注册').click()
  await expect(elsewhere).toHaveURL(/\/login/)
  await expect(elsewhere.getByText('注册成功，请登录')).toBeVisible()
  await fill(elsewhere, { 密码: password })
  await button(elsewhere, '登录').click()
  await expect(elsewhere).toHaveURL(/\/nextStack\/vm/)
  // A link lets one in, and then nobody.
  unseen.expect(/^400 GET \/api\/ums\/v1\/anonymous\/invitations\//)
  const late = await other.newPage()
  await late.goto(link)
  await expect(late.getByText('邀请链接无效')).toBeVisible()
  await expect(late.getByLabel('用户名')).toHaveCount(0)
  await accessible(late, 'a spent invitation')
  await late.close()

  // They are there, and keep it now.
  await expect(rowOf(page, '新同事')).toContainText('已使用')
  await expect(rowOf(page, '新同事')).toContainText(invited)
  await page.getByRole('tab', { name: '租户管理员' }).click()
  await page.getByRole('main').getByRole('button', { name: '指定租户管理员' }).first().click()
  await pick(dialog(page), '用户', invited)
  await accessible(page, 'an administrator')
  await button(dialog(page), '指定租户管理员').click()
  await expect(page.getByRole('tabpanel').getByRole('link', { name: invited })).toBeVisible()
  await accessible(page, 'administrators')
  await page.getByRole('tab', { name: '成员' }).click()
  await expect(page.getByRole('tabpanel').getByRole('row', { name: invited })).toContainText('租户管理员')
  await page.getByRole('tab', { name: '项目' }).click()
  await expect(rowOf(page, 'default')).toBeVisible()
  await act(page, '配额')
  await expect(page.getByRole('dialog', { name: '配额管理' })).toContainText(organisation)
  await expect(page.getByRole('dialog', { name: '配额管理' }).getByRole('button', { name: '保存' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await act(page, '修改')
  await fill(dialog(page), { 名称: renamed })
  await button(dialog(page), '保存').click()
  await expect(heading(page, renamed)).toBeVisible()

  // Frozen: what stops is said first.
  await act(page, '冻结')
  await expect(dialog(page)).toContainText('1 名成员全部退出登录')
  await expect(dialog(page)).toContainText('继续运行')
  await accessible(page, 'freezing')
  await button(dialog(page), '冻结').click()
  await expect(page.getByText('组织已冻结：成员不能登录，资源继续运行。')).toBeVisible()
  await accessible(page, 'a frozen one')
  unseen.expect(/^401 /)
  await elsewhere.goto('/userMsg')
  await expect(elsewhere).toHaveURL(/\/(login|index|)(\?.*)?$/)
  await elsewhere.goto('/login')
  await fill(elsewhere, { '用户名、手机号或邮箱': invited, 密码: password })
  await button(elsewhere, '登录').click()
  await expect(elsewhere.getByRole('alert').filter({ hasText: '所属组织已被冻结' })).toBeVisible()
  await act(page, '解冻')
  await button(dialog(page), '解冻').click()
  await expect(page.getByText('组织已冻结')).toHaveCount(0)
  await button(elsewhere, '登录').click()
  await expect(elsewhere).toHaveURL(/\/nextStack\/vm/)
  expect(unseen.take()).toEqual([])
  await other.close()

  // Back to all; another invitation is taken back.
  await page.getByRole('tab', { name: '邀请' }).click()
  await page.getByRole('main').getByRole('button', { name: '邀请成员' }).first().click()
  await fill(dialog(page), { 备注: '发错了' })
  await button(dialog(page), '生成邀请链接').click()
  await button(dialog(page), '我已复制').click()
  await button(rowOf(page, '发错了'), '撤销').click()
  await button(dialog(page), '撤销').click()
  await expect(rowOf(page, '发错了')).toContainText('已撤销')
  await page.getByRole('link', { name: '全部组织' }).click()
  await page.getByRole('combobox', { name: '组织名称' }).fill(renamed)
  await page.keyboard.press('Enter')
  await expect(rowOf(page, renamed)).toContainText('正常')
})

test('a user is made, given rights, bounded, reset, disabled and deleted', async ({ page, context, trouble }) => {
  trouble.expect(/^404 GET \/api\/ums\/v1\/users\//, /^404 GET \/api\/iam\/v1\//)
  const { organisation, bpId } = await keeper()
  const root = await administrator()
  const bound = newName('bound')
  await root.call(policies.create, {
    body: { name: bound, document: { Version: policyLanguage, Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] } },
  })
  const name = newName('user')
  await signIn(context, 'admin')
  // Others may have come by the page's worth.
  await page.goto('/iam/user?keyword=admin')
  await expect(rowOf(page, 'admin').first()).toBeVisible()
  await accessible(page, 'the list of users')
  await page.getByRole('main').getByRole('button', { name: '创建用户' }).click()

  // Who belongs nowhere is refused beside the field.
  trouble.expect(/^400 POST \/api\/ums\/v1\/users$/)
  await fill(page, { 用户名: name, 昵称: '小李' })
  await button(page, '创建用户').click()
  await expect(page.getByText('该类型的用户须属于一个组织').first()).toBeVisible()
  await pick(page, '所属组织', organisation)
  await accessible(page, 'the form of a user')
  await button(page, '创建用户').click()
  await expect(dialog(page)).toContainText('只显示这一次')
  const first = await told(page)
  await accessible(page, 'a one-time password')
  await button(dialog(page), '我已保存').click()
  await expect(heading(page, name)).toBeVisible()
  await expect(page.getByText('还没有修改一次性密码')).toBeVisible()
  expect(await signsIn(name, first)).toBe('in')

  // What they may.
  await expect(page.getByRole('region', { name: '角色' })).toContainText('租户')
  await button(page.getByRole('region', { name: '角色' }), '授予角色').click()
  await pick(dialog(page), '角色', '运营支撑')
  await button(dialog(page), '授予角色').click()
  const supporter = page.getByRole('listitem').filter({ hasText: '运营支撑' })
  await expect(supporter).toBeVisible()
  await page.getByRole('region', { name: '直接授予的策略' }).getByRole('button', { name: '授予策略' }).first().click()
  await pick(dialog(page), '策略', bound)
  await button(dialog(page), '授予策略').click()
  await expect(rowOf(page, bound)).toBeVisible()
  const boundary = page.getByRole('region', { name: '权限边界' })
  await button(boundary, '设置').click()
  await pick(dialog(page), '策略', bound)
  await accessible(page, 'a boundary')
  await button(dialog(page), '设置').click()
  await expect(boundary.getByRole('link', { name: bound })).toBeVisible()
  await accessible(page, 'rights')
  await button(boundary, '去掉').click()
  await expect(dialog(page)).toContainText(bound)
  await button(dialog(page), '去掉').click()
  await expect(boundary).toContainText('未设置')
  await button(supporter, '移除').click()
  await button(dialog(page), '移除').click()
  await expect(supporter).toHaveCount(0)

  // Where they work.
  await page.getByRole('tab', { name: '项目' }).click()
  await expect(page.getByRole('tabpanel').getByRole('link', { name: 'default' })).toBeVisible()
  await button(page.getByRole('tabpanel'), '移除').click()
  await button(dialog(page), '移除').click()
  await expect(page.getByText('不在任何项目中')).toBeVisible()
  await button(page.getByRole('tabpanel'), '加入项目').click()
  await pick(dialog(page), '项目', 'default')
  await button(dialog(page), '加入项目').click()
  await expect(page.getByRole('tabpanel').getByRole('link', { name: 'default' })).toBeVisible()

  // Where they are signed in: one ends, then all.
  await page.getByRole('tab', { name: '登录' }).click()
  await expect(page.getByRole('tabpanel').getByRole('row')).toHaveCount(2)
  await accessible(page, 'sessions')
  await page.getByRole('tabpanel').getByRole('button', { name: '退出', exact: true }).click()
  await button(dialog(page), '退出').click()
  await expect(page.getByText('没有登录', { exact: true })).toBeVisible()
  expect(await signsIn(name, first)).toBe('in')
  await menu(page, '强制下线')
  await button(dialog(page), '强制下线').click()
  await expect(toast(page, `“${name}”的登录已全部退出`)).toBeVisible()
  expect((await root.call(users.sessions, { params: { id: page.url().split('/').at(-1)?.split('?')[0] ?? '' } })).total).toBe(0)

  // Another password, and none at all.
  await act(page, '重置密码')
  await expect(dialog(page)).toContainText('原来的密码立即失效')
  await button(dialog(page), '重置密码').click()
  await expect(dialog(page)).toContainText('一次性密码')
  const second = await told(page)
  await button(dialog(page), '我已保存').click()
  expect(await signsIn(name, first)).toBe('1101')
  expect(await signsIn(name, second)).toBe('in')
  await act(page, '禁用')
  await button(dialog(page), '禁用').click()
  await expect(page.locator('.frame-head-status')).toContainText('已禁用')
  expect(await signsIn(name, second)).toBe('1135')
  await act(page, '启用')
  await expect(page.locator('.frame-head-status')).toContainText('正常')
  await act(page, '修改')
  await fill(dialog(page), { 手机号: '123' })
  await button(dialog(page), '保存').click()
  await expect(dialog(page).getByText('请输入正确的手机号')).toBeVisible()
  const phone = newPhone()
  await fill(dialog(page), { 手机号: phone, 邮箱: '' })
  await accessible(page, 'editing')
  await button(dialog(page), '保存').click()
  await expect(page.getByText(phone)).toBeVisible()

  // What was done to them stands in the log; their own tab tells only what they did.
  await page.getByRole('tab', { name: '审计日志' }).click()
  await expect(page.getByRole('tabpanel').getByText('ums.auth.password').or(page.getByText('没有记录')).first()).toBeVisible()
  await accessible(page, 'what they did')

  // Gone, once their name is typed.
  await menu(page, '删除')
  await expect(dialog(page)).toContainText('他立即退出全部登录')
  await expect(button(dialog(page), '删除')).toBeDisabled()
  await dialog(page).getByRole('textbox').fill(name)
  await accessible(page, 'deleting')
  await button(dialog(page), '删除').click()
  await expect(heading(page, '用户')).toBeVisible()
  expect(await signsIn(name, second)).toBe('1101')
  await pick(page, '按组织筛选', organisation)
  await expect(page.getByRole('link', { name: /^keeper-/ })).toBeVisible()
  await expect(page.getByRole('link', { name })).toHaveCount(0)
  await page.goto(`/iam/user?bp_id=${bpId}&role=OPERATION_SUPPORTER`)
  await expect(page.getByText('没有符合条件的结果')).toBeVisible()
})

test('who registers where that takes an approval is let in, or not', async ({ page, context }) => {
  const root = await administrator()
  const [welcome, unwelcome] = [newName('welcome'), newName('unwelcome')]
  await root.call(configs.set, { body: { key: 'register_mode', value: 'approval' } })
  try {
    await register(stage().url, welcome)
    await register(stage().url, unwelcome)
  } finally {
    await root.call(configs.reset, { query: { key: 'register_mode' } })
  }
  expect(await signsIn(welcome)).toBe('1134')
  await signIn(context, 'admin')
  await page.goto('/iam/user')
  await expect(page.getByText(/有 \d+ 个注册申请待审核/)).toBeVisible()
  await accessible(page, 'who waits')
  await page.getByRole('link', { name: '查看待审核的用户' }).click()
  await button(rowOf(page, welcome), '通过').click()
  await button(dialog(page), '通过').click()
  await expect(rowOf(page, `^${welcome}`)).toHaveCount(0)
  await button(rowOf(page, unwelcome), '拒绝').click()
  await button(dialog(page), '拒绝').click()
  await expect(rowOf(page, `^${unwelcome}`)).toHaveCount(0)
  expect(await signsIn(welcome)).toBe('in')
  expect(await signsIn(unwelcome)).toBe('1135')
})

test('a project has members and resources, and goes once it has none', async ({ page, context, trouble }) => {
  trouble.expect(/^404 GET \/api\/iam\/v1\/projects\//)
  const { username, organisation, id: userId, client } = await keeper()
  const [name, renamed] = [newName('项目'), newName('项目二')]
  const key = newName('p')
  await signIn(context, 'admin')
  await page.goto('/iam/project')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await accessible(page, 'the list of projects')
  await page.getByRole('main').getByRole('button', { name: '创建项目' }).click()
  await pick(page, '所属组织', organisation)
  await fill(page, { 名称: 'default', 标识: key })
  trouble.expect(/^400 POST \/api\/iam\/v1\/projects$/)
  await button(page, '创建项目').click()
  await expect(page.getByText('项目名称已存在').first()).toBeVisible()
  await fill(page, { 名称: name })
  await accessible(page, 'the form of a project')
  await button(page, '创建项目').click()
  await expect(heading(page, name)).toBeVisible()
  const id = page.url().split('/').at(-1) ?? ''

  // What comes into it while somebody asks to delete it is told by the refusal.
  await act(page, '删除')
  await expect(dialog(page)).toContainText('项目中没有成员和资源')
  await accessible(page, 'deleting an empty one')
  await client.call(keptProjects.addMember, { params: { id }, body: { user_id: userId } })
  trouble.expect(/^400 DELETE \/api\/iam\/v1\/projects\//)
  await button(dialog(page), '删除').click()
  await expect(dialog(page)).toContainText('没有删除：项目下存在用户')
  await expect(dialog(page)).toContainText('1 名成员')
  await expect(button(dialog(page), '删除')).toBeDisabled()
  await accessible(page, 'refused')
  await dialog(page).getByRole('link', { name: '1 名成员' }).click()
  await expect(rowOf(page, username)).toBeVisible()
  await button(rowOf(page, username), '移除').click()
  await button(dialog(page), '移除').click()
  await expect(page.getByText('还没有成员')).toBeVisible()
  await page.getByRole('main').getByRole('button', { name: '添加成员' }).first().click()
  await pick(dialog(page), '用户', username)
  await button(dialog(page), '添加成员').click()
  await expect(rowOf(page, username)).toBeVisible()
  await accessible(page, 'members')

  // What belongs to it.
  const { cloudId } = stage()
  const group = await client.call(securityGroups.create, { body: { cloud_id: cloudId, name: newName('web'), project_id: id } })
  await page.getByRole('tab', { name: '资源' }).click()
  await expect(page.getByRole('list', { name: '项目中的资源' })).toContainText('安全组1')
  await accessible(page, 'resources')
  await act(page, '修改')
  await fill(dialog(page), { 名称: renamed })
  await button(dialog(page), '保存').click()
  await expect(heading(page, renamed)).toBeVisible()
  await act(page, '删除')
  await expect(dialog(page)).toContainText('1 名成员')
  await expect(dialog(page)).toContainText('安全组 1')
  await expect(button(dialog(page), '删除')).toBeDisabled()
  await button(dialog(page), '取消').click()
  await client.call(securityGroups.delete, { params: { id: group.id } })
  await client.call(keptProjects.removeMember, { params: { id, user_id: userId } })
  await expect(page.getByText('项目中没有资源')).toBeVisible()
  await page.getByRole('tab', { name: '策略' }).click()
  await expect(page.getByText('还没有授予策略')).toBeVisible()
  await act(page, '删除')
  await expect(dialog(page)).toContainText('项目中没有成员和资源')
  await button(dialog(page), '删除').click()
  await expect(heading(page, '项目')).toBeVisible()
  await page.getByRole('combobox', { name: '名称或标识' }).fill(key)
  await page.keyboard.press('Enter')
  await expect(page.getByText('没有符合条件的结果')).toBeVisible()
})

test('the audit log is searched, saved and proved', async ({ page, context }) => {
  const { username, id, client } = await keeper()
  await client.call(users.updateCurrent, { body: { nickname: '审计', description: '' } })
  await expect(client.call(organisations.create, { body: { name: newName('no') } })).rejects.toThrow('403')
  await signIn(context, 'admin')
  await page.goto('/iam/audit')
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await accessible(page, 'the log')

  await pick(page, '按操作人筛选', username)
  await expect(rowOf(page, 'ums.user.updateCurrent')).toContainText('成功')
  await expect(rowOf(page, 'ums.user.updateCurrent')).toContainText(username)
  await page.getByRole('combobox', { name: '结果' }).click()
  await page.locator('.ant-select-dropdown:visible').getByText('被拒绝', { exact: true }).click()
  await expect(rowOf(page, 'ums.organisation.create')).toContainText('被拒绝：无操作权限')
  await expect(rowOf(page, 'ums.user.updateCurrent')).toHaveCount(0)
  await button(rowOf(page, 'ums.organisation.create'), '详情').click()
  const entry = page.getByRole('dialog')
  await expect(entry).toContainText('提交的内容不记入审计日志')
  await expect(entry).toContainText('3000')
  await accessible(page, 'an entry')
  await entry.getByRole('link', { name: '为什么被拒绝，由什么决定' }).click()
  await expect(page.getByRole('main')).toContainText('角色不可用')
  await page.goBack()
  await button(rowOf(page, 'ums.organisation.create'), '详情').click()
  await entry.getByRole('link', { name: '此人的全部记录' }).click()
  await expect(rowOf(page, 'ums.user.updateCurrent')).toBeVisible()
  await fillDate(page, '从', '2100-01-01 00:00')
  await expect(page.getByText('没有记录')).toBeVisible()
  await fillDate(page, '从', '')
  await pick(page, '按操作筛选', 'ums.user.updateCurrent')
  await expect(rowOf(page, 'ums.user.updateCurrent')).toBeVisible()
  await expect(page.getByRole('row')).toHaveCount(2)

  for (const [name, format] of [
    ['导出 CSV', 'csv'],
    ['导出 JSON', 'jsonl'],
  ] as const) {
    const saved = page.waitForEvent('download')
    await button(page, name).click()
    const download = await saved
    expect(download.suggestedFilename()).toMatch(new RegExp(String.raw`^audit-\d{4}-\d\d-\d\d\.${format}$`))
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split(/\r?\n/)
    expect(lines).toHaveLength(format === 'csv' ? 2 : 1)
    expect(lines[0]).toContain(format === 'csv' ? '编号,时间,操作,操作人ID,操作人' : '"call":"ums.user.updateCurrent"')
    expect(lines.at(-1)).toContain(id)
  }

  await button(page, '校验完整性').click()
  await expect(dialog(page)).toContainText(/完整：\d+ 条记录首尾相连/)
  const { items } = await (await administrator()).call(audits.list, { query: { page_size: '1000' } })
  const head = await dialog(page).locator('.zs-code').textContent()
  expect(items.map(({ hash }) => hash)).toContain(head)
  await accessible(page, 'proved')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('a log that was changed in the database is told', async ({ page, context }) => {
  await signIn(context, 'admin')
  // The database is nobody's to change here: what the server says of such a log is audit.test.ts.
  await page.route('**/api/iam/v1/audits/verification', (route) =>
    route.fulfill({ json: { intact: false, count: 9, head: { number: 9, hash: 'f'.repeat(64) }, first_broken: 4 } }),
  )
  await page.goto('/iam/audit')
  await button(page, '校验完整性').click()
  await expect(dialog(page)).toContainText('不完整：从第 4 条起与封存的内容不符')
  await accessible(page, 'a broken log')
})

test('one ends one’s other sessions', async ({ page, context }) => {
  const { username, client } = await keeper()
  await signIn(context, { username, password })
  const others = [
    client,
    ...(await Promise.all(
      [1, 2].map(async () => {
        const other = new Client(stage().url, someAddress())
        await other.signIn(username, password)
        return other
      }),
    )),
  ]
  await page.goto('/userMsg#sessions')
  const sessions = page.getByRole('region', { name: '登录的设备' })
  await expect(sessions.getByRole('listitem')).toHaveCount(4)
  await expect(sessions.getByText('当前', { exact: true })).toHaveCount(1)
  await accessible(page, 'one’s own sessions')
  await sessions.getByRole('button', { name: '退出', exact: true }).first().click()
  await button(dialog(page), '退出').click()
  await expect(sessions.getByRole('listitem')).toHaveCount(3)
  await button(sessions, '退出其他所有登录').click()
  await expect(dialog(page)).toContainText('其他 2 处登录')
  await button(dialog(page), '退出其他所有登录').click()
  await expect(sessions.getByRole('listitem')).toHaveCount(1)
  await expect(button(sessions, '退出其他所有登录')).toHaveCount(0)
  for (const other of others) await expect(other.call(users.current)).rejects.toThrow('401')
  await page.reload()
  await expect(sessions.getByRole('listitem')).toHaveCount(1)
})

test('on a phone nothing goes beyond the window', async ({ page, context }) => {
  const { id, bpId, client } = await keeper()
  const { items } = await client.call(keptProjects.list)
  await page.setViewportSize({ width: 390, height: 844 })
  await signIn(context, 'admin')
  for (const address of [
    '/iam/partners',
    `/iam/partners?id=${bpId}`,
    `/iam/partners?id=${bpId}&tab=administrators`,
    '/iam/user',
    '/iam/user?tab=invitations',
    '/iam/user/addForm',
    `/iam/user/detail/${id}`,
    `/iam/user/detail/${id}?tab=sessions`,
    '/iam/project',
    '/iam/project/addForm',
    `/iam/project/${items[0]?.id ?? ''}`,
    '/iam/audit',
    '/userMsg',
  ]) {
    await page.goto(address)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.locator('main .ant-skeleton, main [aria-busy=true] .zs-placeholder')).toHaveCount(0)
    await accessible(page, address)
    expect.soft(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), address).toBeLessThanOrEqual(0)
    if (process.env['SHOTS'] !== undefined)
      await page.screenshot({
        path: `${process.env['SHOTS']}/phone${address
          .replaceAll(/[/?&=]/g, '_')
          .replaceAll(bpId, 'B')
          .replaceAll(id, 'U')}.png`,
        fullPage: true,
      })
  }
})
