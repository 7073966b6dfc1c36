import type { Page } from '@playwright/test'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { grants } from '@zhisuan/contract/iam/grant'
import { customRoles } from '@zhisuan/contract/iam/role'
import { policies } from '@zhisuan/contract/iam/policy'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { invitations } from '@zhisuan/contract/ums/invitation'
import { users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, heading, more, pick, rowOf, visit } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

interface Organisation {
  readonly name: string
  readonly administrator: Account
  readonly client: Client
  readonly bpId: string
  readonly member: string
  readonly memberId: string
  readonly projectId: string
  readonly roleId: string
  readonly policyId: string
  /** What the names of its things begin with. */
  readonly mark: string
}

const longest = '很长的名称'.repeat(12)

/** An organisation with one of each thing that its administrator keeps. */
async function organisation(mark: string): Promise<Organisation> {
  const name = newName(mark)
  const administrator = await register(stage().url, newName(`${mark}-boss`), name)
  const client = new Client(stage().url, someAddress())
  await client.signIn(administrator.username, password)
  const { bp_id } = await client.call(users.current)
  const member = newName(`${mark}-member`)
  const { user } = await client.call(users.create, { body: { username: member, nickname: longest } })
  const project = await client.call(keptProjects.create, { body: { name: newName(`${mark}-project`), key: newName('key'), description: longest, bp_id } })
  const role = await client.call(customRoles.create, { body: { name: newName(`${mark}-role`), base: 'TENANT', description: longest } })
  const policy = await client.call(policies.create, {
    body: {
      name: newName(`${mark}-policy`),
      description: longest,
      document: { Version: policyLanguage, Statement: [{ Effect: 'Deny', Action: 'nextstack.vm.delete', Resource: '*' }] },
    },
  })
  await client.call(invitations.create, { body: { note: `${mark}-invitation`, role: 'TENANT', days: 7 } })
  await client.call(accessKeys.create, { body: { name: `${mark}-key`, scheme: 'bearer', password } })
  return {
    name,
    administrator,
    client,
    bpId: bp_id ?? '',
    member,
    memberId: user.id,
    projectId: project.id,
    roleId: role.id,
    policyId: policy.id,
    mark,
  }
}

/** Lists, and what is in each of them. */
const lists: readonly (readonly [path: string, title: string, holds: string])[] = [
  ['/organisation/members', '成员', 'member'],
  ['/organisation/members?tab=invitations', '成员', 'invitation'],
  ['/organisation/projects', '项目', 'project'],
  ['/organisation/roles', '角色', 'role'],
  ['/organisation/policies', '策略', 'policy'],
  ['/organisation/access-keys', '访问密钥', 'key'],
  ['/organisation/audit', '审计日志', 'boss'],
]

const openAt = async (page: Page, path: string, title: string | RegExp): Promise<void> => {
  await visit(page, path)
  await expect(heading(page, title)).toBeVisible()
}

test('each of two organisations has its own pages, and nothing of the other', async ({ page, context, trouble }) => {
  const [ours, theirs] = [await organisation('ours'), await organisation('theirs')]
  await signIn(context, ours.administrator)
  await page.goto('/organisation/members')

  // In the menu, and all of it.
  const sidebar = page.locator('.frame-side')
  for (const entry of ['成员', '项目', '角色', '策略', '授权', '访问密钥', '审计日志'])
    await expect(sidebar.getByRole('link', { name: entry, exact: true })).toBeVisible()

  for (const [path, title, holds] of lists) {
    await openAt(page, path, title)
    await expect(
      page
        .getByRole('row')
        .filter({ hasText: `ours-${holds}` })
        .first(),
      path,
    ).toBeVisible()
    await expect(page.getByText('theirs-'), path).toHaveCount(0)
    await accessible(page, path)
  }
  for (const add of ['members', 'projects', 'roles', 'policies']) {
    await visit(page, `/organisation/${add}/add`)
    await expect(page.getByLabel(add === 'members' ? '用户名' : '名称', { exact: true }).first(), add).toBeVisible()
    // Whose it will be is no question here.
    await expect(page.getByText(/归属组织|所属组织/), add).toHaveCount(0)
    await accessible(page, add)
  }
  const detail = (of: Organisation): readonly string[] => [
    `/organisation/members/${of.memberId}`,
    `/organisation/projects/${of.projectId}`,
    `/organisation/roles/${of.roleId}`,
    `/organisation/policies/${of.policyId}`,
    `/organisation/policies/${of.policyId}/contacts`,
    `/organisation/policies/${of.policyId}/versions/1`,
  ]
  for (const path of detail(ours)) {
    await openAt(page, path, /ours-/)
    await accessible(page, path)
  }
  for (const tab of ['rights', 'projects', 'sessions', 'keys', 'audit']) {
    await openAt(page, `/organisation/members/${ours.memberId}?tab=${tab}`, /ours-/)
    await expect(page.getByRole('tabpanel')).toBeVisible()
    await accessible(page, tab)
  }
  for (const tab of ['grants', 'who', 'why']) {
    await openAt(page, `/organisation/authorization?tab=${tab}`, '授权')
    await accessible(page, tab)
  }
  // Another's things are not there.
  trouble.expect(/^404 GET \/api\/(ums|iam)\/v1\//)
  for (const path of detail(theirs)) {
    await page.goto(path)
    await expect(page.getByText(/不存在/).first(), path).toBeVisible()
    await expect(page.getByText('theirs-'), path).toHaveCount(0)
  }
})

test('a member is made and given a role and a policy, and nothing more than one has', async ({ page, context, trouble }) => {
  const { administrator, client, roleId, policyId } = await organisation('give')
  const { name: role } = await client.call(customRoles.get, { params: { id: roleId } })
  const { name: policy } = await client.call(policies.get, { params: { id: policyId } })
  await signIn(context, administrator)
  await page.goto('/organisation/members/add')
  const name = newName('given')
  await fill(page, { 用户名: name })
  // Whom an organisation's administrator makes is one of its people.
  await expect(page.getByRole('radio', { name: /平台管理员/ })).toHaveCount(0)
  await button(page, '创建用户').click()
  await button(dialog(page), '我已保存').click()
  await expect(heading(page, name)).toBeVisible()
  await expect(page).toHaveURL(/\/organisation\/members\/[^/]+$/)

  const roles = page.getByRole('region', { name: '角色' })
  await button(roles, '授予角色').click()
  // Roles of the platform are nobody's here to give.
  await dialog(page).getByRole('combobox', { name: '角色' }).fill('运营支撑')
  await expect(page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: '运营支撑' })).toHaveCount(0)
  await pick(dialog(page), '角色', role)
  await button(dialog(page), '授予角色').click()
  await expect(roles.getByRole('link', { name: role })).toHaveAttribute('href', `/organisation/roles/${roleId}`)
  await page.getByRole('region', { name: '直接授予的策略' }).getByRole('button', { name: '授予策略' }).first().click()
  await pick(dialog(page), '策略', policy)
  await button(dialog(page), '授予策略').click()
  await expect(rowOf(page, policy)).toBeVisible()
  await expect(page.getByRole('region', { name: '权限边界' }).getByRole('button')).toHaveCount(0)

  // Oneself is kept by others.
  const { id } = await client.call(users.current)
  await visit(page, `/organisation/members/${id}`)
  trouble.expect(/^403 DELETE \/api\/iam\/v1\/roles\//)
  await button(page.getByRole('region', { name: '角色' }), '移除')
    .first()
    .click()
  await button(dialog(page), '移除').click()
  await expect(toast(page, '不能修改自己的权限')).toBeVisible()
})

test('what policies refuse is off before anybody fills anything in, and a refusal says which statement it was', async ({ page, context, trouble }) => {
  const { administrator, client } = await organisation('refused')
  const { id } = await client.call(users.current)
  const root = new Client(stage().url, someAddress())
  await root.signIn('admin', administratorPassword)
  const name = newName('refusing')
  const policy = await root.call(policies.create, {
    body: {
      name,
      document: {
        Version: policyLanguage,
        Statement: [
          { Sid: 'NoNew', Effect: 'Deny', Action: ['nextstack.vm.create', 'ums.user.create'], Resource: '*' },
          // True of every moment, which nobody can know before.
          { Effect: 'Deny', Action: 'ums.accessKey.block', Resource: '*', Condition: { DateGreaterThan: { 'zs:CurrentTime': '2020-01-01' } } },
        ],
      },
    },
  })
  await root.call(grants.create, { body: { policy_id: policy.id, user_id: id } })
  await signIn(context, administrator)
  for (const [path, label, action] of [
    ['/nextStack/vm', '创建云主机', 'nextstack.vm.create'],
    ['/organisation/members', '创建用户', 'ums.user.create'],
  ] as const) {
    await page.goto(path)
    const create = button(page.getByRole('main'), label).first()
    await expect(create).toHaveAttribute('aria-disabled', 'true')
    await create.hover()
    await expect(page.getByRole('tooltip')).toHaveText(`无操作权限：策略“${name}”的“NoNew”拒绝了 ${action}`)
    // It says that it is off, and does nothing, whoever presses it.
    await create.click({ force: true })
    await expect(page).toHaveURL(path)
  }
  trouble.expect(/^403 POST \/api\/ums\/v1\/users\/.*\/block$/)
  await page.goto('/organisation/access-keys')
  await button(rowOf(page, 'refused-key'), '封禁').click()
  await button(dialog(page), '封禁').click()
  const said = toast(page, '无操作权限：策略的第 2 条语句拒绝了 ums.accessKey.block')
  await expect(said).toBeVisible()
  await expect(said.getByRole('link', { name: '为什么' })).toHaveAttribute('href', `/organisation/policies/${policy.id}?statement=2`)
})

test('an access key of a member is blocked, let go and deleted', async ({ page, context }) => {
  const { administrator, client } = await organisation('keys')
  await signIn(context, administrator)
  await page.goto('/organisation/access-keys')
  const row = rowOf(page, 'keys-key')
  await button(row, '封禁').click()
  await button(dialog(page), '封禁').click()
  await expect(row).toContainText('已被管理员封禁')
  await button(row, '解除封禁').click()
  await expect(row).toContainText('已停用')
  await button(row, '删除').click()
  await button(dialog(page), '删除').click()
  await expect(page.getByText('还没有访问密钥')).toBeVisible()
  await accessible(page, 'no key')
  expect((await client.call(accessKeys.list)).total).toBe(0)
})

test('pages say that they are loading, and what failed, and fit on a phone', async ({ page, context, trouble }) => {
  const { administrator } = await organisation('states')
  await signIn(context, administrator)
  await page.setViewportSize({ width: 390, height: 800 })
  for (const [path, title] of lists) {
    await page.goto(path)
    await expect(heading(page, title)).toBeVisible()
    await expect(page.getByRole('row').nth(1), path).toBeVisible()
    // What is wide scrolls within itself.
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390)
  }
  trouble.expect(/^500 GET /)
  const asked = /\/api\/(ums|iam)\/v1\/(users|invitations|projects|roles|policies|access-keys|audits)\?/
  await page.route(asked, (route) => route.fulfill({ status: 500, json: { code: 90000, message: '服务器内部错误', request_id: 'mocked' } }))
  for (const [path, title] of lists) {
    await page.goto(path)
    await expect(heading(page, title)).toBeVisible()
    await expect(page.getByRole('button', { name: '重试' }).first(), path).toBeVisible()
  }
  await page.unroute(asked)
  await button(page, '重试').first().click()
  await expect(page.getByRole('row').nth(1)).toBeVisible()
})

test('who keeps no organisation, or the platform, has none of these pages', async ({ page, context }) => {
  for (const who of ['tenant', 'admin'] as const) {
    // A page that is still asking would be refused.
    await page.goto('about:blank')
    await context.clearCookies()
    await signIn(context, who)
    await page.goto('/userMsg')
    await expect(heading(page, '个人中心')).toBeVisible()
    await button(page, '产品').click()
    await expect(page.getByRole('dialog').getByRole('heading', { name: '组织管理' })).toHaveCount(0)
    await page.goto('/organisation/members')
    await expect(page.getByRole('table')).toHaveCount(0)
  }
})

test('what is ready-made is found, copied, and given to who is invited', async ({ page, context }) => {
  const { administrator, client } = await organisation('ready')
  await signIn(context, administrator)

  // Told by a mark, and by it found; nobody changes it.
  await page.goto(`/organisation/policies?owner=system&keyword=${encodeURIComponent('全部只读')}`)
  const row = rowOf(page, '全部只读')
  await expect(row).toContainText('系统')
  await expect(button(row, '编辑')).toHaveAttribute('aria-disabled', 'true')
  await accessible(page, 'policies of the system')
  await row.getByRole('link', { name: '全部只读' }).click()
  await expect(heading(page, '全部只读')).toBeVisible()

  // The start of one's own.
  await more(page.locator('.frame-head-actions'), '复制为自定义策略')
  await expect(page.getByLabel('名称', { exact: true })).toHaveValue('全部只读-副本')
  await expect(page.getByText('内容来自“全部只读”')).toBeVisible()
  await accessible(page, 'a copy')
  await button(page, '创建策略').click()
  await expect(heading(page, '全部只读-副本')).toBeVisible()

  // A role of the same name has it, and no other.
  await page.goto('/organisation/roles?kind=system')
  await page.getByRole('link', { name: '财务' }).click()
  await expect(heading(page, '财务')).toBeVisible()
  await page.getByRole('tab', { name: '策略' }).click()
  await expect(button(rowOf(page, '财务'), '解除')).toHaveAttribute('aria-disabled', 'true')

  // Chosen for somebody new.
  await page.goto('/organisation/members?tab=invitations')
  await page.getByRole('main').getByRole('button', { name: '邀请成员' }).first().click()
  await dialog(page).getByText('按岗位选择', { exact: true }).click()
  await button(dialog(page), '生成邀请链接').click()
  await expect(dialog(page).getByText('请选择')).toBeVisible()
  await pick(dialog(page), '岗位角色', '容器与应用运维')
  await page.keyboard.press('Escape')
  await accessible(page, 'an invitation to a role')
  await button(dialog(page), '生成邀请链接').click()
  await button(dialog(page), '我已复制').click()
  await expect(rowOf(page, '容器与应用运维')).toBeVisible()

  await page.goto('/organisation/members/add')
  const name = newName('ready')
  await fill(page, { 用户名: name })
  await pick(page, '角色', '网络管理员')
  await page.keyboard.press('Escape')
  await button(page, '创建用户').click()
  await button(dialog(page), '我已保存').click()
  await expect(page.getByRole('region', { name: '角色' })).toContainText('网络管理员')
  const { items } = await client.call(users.list, { query: { keyword: name } })
  expect(items.map(({ permissions }) => permissions)).toEqual([[{ role: 'TENANT' }]])
})
