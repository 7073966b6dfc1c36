import { customRoles } from '@zhisuan/contract/iam/role'
import { readyMade } from '@zhisuan/contract/iam/readyMade'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { isRefused } from '@zhisuan/contract/policy/refused'
import { users } from '@zhisuan/contract/ums/user'
import { Client } from '../support/server.ts'
import { accessible, button, heading, rowOf, shot, visit } from './console.ts'
import { newName, register, someAddress } from './people.ts'
import { registered } from './registeredCloud.ts'
import { mayOpen, table } from './routeTable.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

interface Member {
  readonly boss: Account
  readonly bossClient: Client
  readonly username: string
  readonly id: string
  readonly client: Client
}

// Recording a walk through all menus takes longer than the walk.
test.use({ trace: 'off' })

/** An organisation, and one of its people who has a ready-made role and nothing else. */
async function member(role: string): Promise<Member> {
  const boss = await register(stage().url, newName('rights-boss'), newName('rights'))
  const bossClient = new Client(stage().url, someAddress())
  await bossClient.signIn(boss.username, password)
  const { items } = await bossClient.call(customRoles.list, { query: { kind: 'system', page_size: '100' } })
  const username = newName('rights-member')
  const { user, one_time_password } = await bossClient.call(users.create, {
    body: { username, role_ids: items.filter(({ name }) => name === role).map(({ id }) => id) },
  })
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, one_time_password)
  await client.call(users.changePassword, { body: { old_password: one_time_password, password } })
  return { boss, bossClient, username, id: user.id, client }
}

test('a member with a ready-made role is offered what it allows; of the rest they learn why, and ask for it', async ({ page, context, browser, trouble }) => {
  const { boss, bossClient, username, client } = await member('全部只读')
  await bossClient.call(keyPairs.create, { body: { name: 'of-the-boss' } })
  await signIn(context, { username, password })

  // What they may read is in the menu, and what is done there is off, with the reason.
  await page.goto('/nextStack/publicKey')
  await expect(page.locator('.frame-side').getByRole('link', { name: '云主机', exact: true })).toBeVisible()
  const remove = button(rowOf(page, 'of-the-boss'), '删除')
  await expect(remove).toHaveAttribute('aria-disabled', 'true')
  await remove.hover()
  await expect(page.getByRole('tooltip', { name: '无操作权限：没有策略允许 nextstack.keyPair.delete' })).toBeVisible()
  // Whoever presses it all the same is told how to come by it.
  await remove.press('Enter')
  const told = toast(page, 'nextstack.keyPair.delete')
  await expect(told.getByRole('link', { name: '为什么' })).toBeVisible()
  await button(told, '申请权限').click()
  await expect(told.getByText('已向组织的管理员申请角色“云主机运维”')).toBeVisible()
  await accessible(page, 'asked for')

  // An address that they may not open says so, with the same offer; nothing failed to load.
  await visit(page, '/infrastructure/addNodes')
  await expect(heading(page, '没有权限')).toBeVisible()
  await expect(page.getByText('没有策略允许 ecrm.edge.create')).toBeVisible()
  await expect(page.getByRole('button', { name: '重试' })).toHaveCount(0)
  await shot(page, 'rights-forbidden')
  await accessible(page, 'no right')
  await button(page.getByRole('main'), '申请权限').click()
  await expect(page.getByRole('main').getByText('已向组织的管理员申请角色“节点运维”')).toBeVisible()

  // Who manages the organisation is told, and led to where the role is given.
  const other = await browser.newContext({ extraHTTPHeaders: { ...someAddress() } })
  await signIn(other, boss)
  const theirs = await other.newPage()
  await theirs.goto(`${stage().url}/messages`)
  const message = rowOf(theirs, 'ecrm.edge.create')
  await expect(message).toContainText(`“${username}”申请执行“ecrm.edge.create”的权限。授予角色“节点运维”即可执行。`)
  await shot(theirs, 'rights-message')
  await message.getByRole('link', { name: username }).first().click()
  await expect(heading(theirs, username)).toBeVisible()
  await expect(button(theirs.getByRole('main'), '授予角色')).toBeVisible()
  await other.close()

  // Rights that came meanwhile are there with the next look.
  const { items } = await bossClient.call(customRoles.list, { query: { kind: 'system', page_size: '100' } })
  const { id: user_id } = await client.call(users.current)
  for (const { id } of items.filter(({ name }) => name === '节点运维')) await bossClient.call(customRoles.addMember, { params: { id }, body: { user_id } })
  await page.goto('/infrastructure/addNodes')
  await expect(heading(page, '添加节点')).toBeVisible()
  expect(trouble.take()).toEqual([])
})

test('a page that fails for want of a right says so, names the statement, and leads to it', async ({ page, context, trouble }) => {
  const { boss } = await member('财务')
  await signIn(context, boss)
  trouble.expect(/^403 GET /)
  const refused = { action: 'nextstack.keyPair.list', outcome: 'explicitDeny', by: { policy_id: '01900000-0000-7000-8000-000000000000', index: 1, sid: null } }
  await page.route('**/api/nextstack/v1/key-pairs?*', (route) =>
    route.fulfill({ status: 403, json: { code: 3000, message: '无操作权限', request_id: 'played', refused } }),
  )
  await page.goto('/nextStack/publicKey')
  const panel = page.getByRole('main').getByRole('alert')
  await expect(panel).toContainText('没有权限')
  await expect(panel).toContainText('策略的第 2 条语句拒绝了 nextstack.keyPair.list')
  await expect(panel.getByRole('button', { name: '重试' })).toHaveCount(0)
  await expect(panel.getByRole('link', { name: '为什么' })).toHaveAttribute('href', `/organisation/policies/${refused.by.policy_id}?statement=2`)
})

// A journey through all of the menu: what is refused there is what this looks for.
test.describe('no entry of the menu leads to a refusal', () => {
  for (const { name } of readyMade) {
    test(name, async ({ page, context, trouble }) => {
      const { username, client } = await member(name)
      const { refused, permissions } = await client.call(users.current)
      const roles = permissions.map(({ role }) => role as string)
      const entries = table.filter((row) => row.built && row.menu && mayOpen(row, roles) && (row.asks === null || !isRefused(refused, row.asks)))
      const cloud = await registered(context)
      try {
        await signIn(context, { username, password })
        await page.goto('/userMsg')
        for (const { path, title } of entries) {
          await visit(page, path)
          await expect.soft(heading(page, title), path).toBeVisible()
          await expect.soft(page.locator('main [aria-busy=true]'), path).toHaveCount(0)
          await expect.soft(page.locator('main').getByText('没有权限', { exact: true }), path).toHaveCount(0)
          expect.soft(trouble.take(), path).toEqual([])
        }
      } finally {
        await cloud.end()
      }
    })
  }
})
