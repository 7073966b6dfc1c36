import { accounts } from '@zhisuan/contract/bill/account'
import { users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, heading, pick, rowOf } from './console.ts'
import { field, fill, wrong } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test('an organisation with an exception is told that its money runs low, until it has paid in', async ({ page, context, browser }) => {
  const organisation = newName('arrears')
  const tenant = await register(stage().url, newName('low'), organisation)
  const administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  const person = new Client(stage().url, someAddress())
  await person.signIn(tenant.username, tenant.password)
  const id = (await person.call(users.current)).bp_id ?? ''
  const charge = (amount: string) => administrator.call(accounts.charge, { params: { id }, body: { amount } })
  // Accounts are looked at from their first movement on.
  await charge('5')
  await signIn(context, 'admin')
  await page.goto('/configure?tab=arrears')
  await expect(page.getByRole('heading', { name: '欠费策略' })).toBeVisible()
  await button(page, '添加例外').first().click()
  await button(dialog(page), '保存').click()
  await expect(wrong(dialog(page), '组织')).toHaveText('请选择组织')
  await pick(dialog(page), '组织', organisation)
  await fill(dialog(page), { 余额提醒线: '1000' })
  await expect(page.locator('.ant-select-dropdown:visible')).toHaveCount(0)
  await accessible(page, 'an exception')
  await button(dialog(page), '保存').click()
  await expect(toast(page, '例外已添加')).toBeVisible()
  await expect(rowOf(page, organisation).first()).toContainText('1,000.00')
  await accessible(page, 'policies')

  const theirs = await browser.newContext({ baseURL: stage().url, locale: 'zh-CN', timezoneId: 'Asia/Shanghai' })
  await signIn(theirs, tenant)
  const console = await theirs.newPage()
  const banner = console.getByRole('alert').filter({ hasText: '可用余额为 ¥5.00，已低于提醒线' })
  // It is told by a job, and asked for once a minute.
  await expect(async () => {
    await console.goto('/nextStack/volumes')
    await expect(banner).toBeVisible({ timeout: 3_000 })
  }).toPass()
  await accessible(console, 'the banner')
  await banner.getByRole('link', { name: '去充值' }).click()
  await expect(heading(console, '钱包')).toBeVisible()

  await charge('2000')
  await expect(async () => {
    await console.reload()
    await expect(heading(console, '钱包')).toBeVisible()
    await expect(console.getByText('2,005.00').first()).toBeVisible({ timeout: 3_000 })
    await expect(banner).toBeHidden({ timeout: 1_000 })
  }).toPass()
  await theirs.close()
})

test('a budget is set for a month, changed and deleted', async ({ page, context }) => {
  const name = newName('budget')
  await signIn(context, 'tenantAdmin')
  await page.goto('/monthOverview')
  await page.getByRole('tab', { name: '预算' }).click()
  await button(page, '新建预算').first().click()
  await button(dialog(page), '保存').click()
  await expect(wrong(dialog(page), '名称')).toBeVisible()
  await fill(dialog(page), { 名称: name, 每月预算: '100' })
  await accessible(page, 'a new budget')
  await button(dialog(page), '保存').click()
  await expect(toast(page, '预算已保存')).toBeVisible()
  const row = rowOf(page, name)
  await expect(row).toContainText('预算内')
  await row.getByRole('button', { name: '修改' }).click()
  await expect(field(dialog(page), '每月预算')).toHaveValue('100.00')
  await fill(dialog(page), { 每月预算: '250.5' })
  await button(dialog(page), '保存').click()
  await expect(row).toContainText('250.50')
  await accessible(page, 'budgets')
  await row.getByRole('button', { name: '删除' }).click()
  await expect(dialog(page)).toContainText('已发送的通知保留')
  await button(dialog(page), '删除').click()
  await expect(row).toHaveCount(0)
})
