import { receivers } from '@zhisuan/contract/omc/alarm'
import { Client } from '../support/server.ts'
import { accessible, button, dialog, pick, rowOf, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test('receivers are told of events: a subscription is added, turned off and taken away where receivers are kept', async ({ page, context }) => {
  const account = await register(stage().url, newName('events'), newName('events'))
  const client = new Client(stage().url, someAddress())
  await client.signIn(account.username, account.password)
  await client.call(receivers.create, { body: { name: '值班邮箱', kind: 'mail', addresses: ['duty@example.com'] } })
  await signIn(context, account)
  await visit(page, '/alarmmanagement?tab=subscriptions')
  await expect(page.getByText('没有事件订阅')).toBeVisible()
  await button(page, '添加事件订阅').first().click()
  await fill(dialog(page), { 名称: '变更通知' })
  await pick(dialog(page), '通知', '值班邮箱')
  await page.keyboard.press('Escape')
  await pick(dialog(page), '产品', '云主机')
  await page.keyboard.press('Escape')
  await accessible(page, 'the dialog of a subscription')
  await shot(page, 'subscription-add')
  await page.setViewportSize({ width: 1440, height: 900 })
  await button(dialog(page), '保存').click()
  await expect(toast(page, '变更通知')).toBeVisible()
  const row = rowOf(page, '变更通知')
  await expect(row).toContainText('启用')
  await expect(row).toContainText('值班邮箱')
  await accessible(page, 'subscriptions')
  await shot(page, 'subscriptions')
  await page.setViewportSize({ width: 1440, height: 900 })

  await button(row, '编辑').click()
  await dialog(page).getByRole('switch').click()
  await button(dialog(page), '保存').click()
  await expect(row).toContainText('停用')
  await button(row, '删除').click()
  await button(dialog(page), '删除').click()
  await expect(row).toHaveCount(0)
})

test('an alarm watches what one has left, or instances, and asks for no node then', async ({ page, context }) => {
  await signIn(context, await register(stage().url, newName('money'), newName('money')))
  await visit(page, '/addalarm')
  await expect(page.getByLabel('节点', { exact: true })).toBeVisible()
  await pick(page, '指标', '账户余额不足')
  await expect(page.getByLabel('节点', { exact: true })).toHaveCount(0)
  await fill(page, { 名称: '余额不足' })
  await accessible(page, 'an alarm of money')
  await shot(page, 'alarm-money')
  await page.setViewportSize({ width: 1440, height: 900 })
  await button(page, '保存').click()
  await expect(toast(page, '余额不足')).toBeVisible()
  await expect(page.getByText('账户余额不足 < 100元')).toBeVisible()
})
