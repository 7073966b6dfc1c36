import type { Page } from '@playwright/test'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies, standings } from '@zhisuan/contract/bill/arrears'
import { messages } from '@zhisuan/contract/sys/message'
import { users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, heading, rowOf, shot, visit } from './console.ts'
import { newName, register, someAddress } from './people.ts'
import type { Account } from './stage.ts'
import { expect, signIn, stage, test } from './test.ts'

/** Somebody who manages an organisation of their own, and their requests. */
async function manager(): Promise<{ account: Account; client: Client; id: string; organisation: string }> {
  const account = await register(stage().url, newName('told'), newName('messages'))
  const client = new Client(stage().url, someAddress())
  await client.signIn(account.username, account.password)
  const { id, bp_id } = await client.call(users.current)
  return { account, client, id, organisation: bp_id ?? '' }
}

/** Guesses at somebody's password from three addresses, as often as freezes each: that is told. */
async function attack({ username }: Account): Promise<void> {
  for (let from = 1; from <= 3; from++) {
    const stranger = new Client(stage().url, someAddress())
    for (let guess = 1; guess <= 5; guess++) await expect(stranger.signIn(username, `Wrong-guess-${guess}`)).rejects.toThrow('signing in')
  }
}

/** Lets an organisation's money run low by a line of its own. */
async function runLow(client: Client, id: string): Promise<void> {
  const administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  await administrator.call(accounts.charge, { params: { id }, body: { amount: '2000' } })
  // Where an account begins, being low is no news.
  await expect.poll(async () => (await client.call(standings.get, { params: { id } })).since).not.toBeNull()
  await administrator.call(arrearsPolicies.setException, {
    params: { id },
    body: { low_balance: '5000', grace_hours: 72, warning_hours: 24, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true },
  })
  await expect.poll(async () => (await client.call(messages.list, { query: { category: 'money' } })).total).toBe(1)
}

/** Opens a page of the console, and waits until it knows the number. */
async function opened(page: Page, path: string): Promise<void> {
  const asked = page.waitForResponse((response) => new URL(response.url()).pathname === messages.unread.path)
  await page.goto(path)
  await asked
}

test('what is told while a page is open shows at once at the bell, leads to what it is about, and is read by that', async ({ page, context }) => {
  const { account, id } = await manager()
  await signIn(context, account)
  await opened(page, '/nextStack/volumes')
  const bell = page.locator('.frame-bell')
  await expect(button(bell, '消息')).toBeVisible()
  await attack(account)
  await expect(button(bell, '消息，1 条未读')).toBeVisible()
  await expect(bell.getByRole('status')).toHaveText('收到新消息，共 1 条未读')

  await button(bell, '消息，1 条未读').click()
  const newest = page.getByRole('region', { name: '最新消息' })
  const told = newest.getByRole('link', { name: /未读 密码被猜测/ })
  await expect(told).toContainText(`正在猜测用户“${account.username}”的密码`)
  await accessible(page, 'the bell')
  await shot(page, 'bell')
  await told.click()
  await expect(page).toHaveURL(new RegExp(`/organisation/members/${id}$`))
  await expect(newest).toHaveCount(0)
  await expect(button(bell, '消息')).toBeVisible()
})

test('the message centre finds by category and as unread, and marks one, a category and all as read', async ({ page, context }) => {
  const { account, client, organisation } = await manager()
  await signIn(context, account)
  await opened(page, '/messages')
  await expect(heading(page, '消息中心')).toBeVisible()
  await expect(page.getByText('还没有消息')).toBeVisible()
  await accessible(page, 'no messages')
  await shot(page, 'no-messages')

  await runLow(client, organisation)
  await attack(account)
  const bell = page.locator('.frame-bell')
  await expect(button(bell, '消息，2 条未读')).toBeVisible()
  const [money, security] = [rowOf(page, '余额不足提醒'), rowOf(page, '密码被猜测')]
  await expect(money).toContainText('未读')
  await expect(security).toContainText('未读')
  await accessible(page, 'messages')
  await shot(page, 'messages')

  await visit(page, '/messages?category=money')
  await expect(security).toHaveCount(0)
  await button(page, '“费用”全部标为已读').click()
  await expect(button(bell, '消息，1 条未读')).toBeVisible()
  await expect(money).not.toContainText('未读')
  await visit(page, '/messages?unread=true')
  await expect(money).toHaveCount(0)
  await button(security, '标为已读').click()
  await expect(page.getByText('没有符合条件的结果')).toBeVisible()
  await expect(button(bell, '消息')).toBeVisible()
  await expect(button(page, '全部标为已读')).toBeDisabled()

  await visit(page, '/messages')
  await money.getByRole('link').click()
  await expect(heading(page, '钱包')).toBeVisible()
})

test('by the keyboard: the bell is opened, marked as read, closed, and led on from', async ({ page, context }) => {
  const { account } = await manager()
  await attack(account)
  await signIn(context, account)
  await opened(page, '/nextStack/volumes')
  const bell = page.locator('.frame-bell').getByRole('button').first()
  await expect(bell).toHaveAccessibleName('消息，1 条未读')
  // What was told before somebody came is seen, and not said.
  await expect(page.locator('.frame-bell').getByRole('status')).toHaveText('')
  await bell.focus()
  await page.keyboard.press('Enter')
  const newest = page.getByRole('region', { name: '最新消息' })
  await expect(newest.getByRole('link', { name: /密码被猜测/ })).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(button(newest, '全部标为已读')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(bell).toHaveAccessibleName('消息')
  await page.keyboard.press('Escape')
  await expect(newest).toHaveCount(0)
  await expect(bell).toBeFocused()
  await page.keyboard.press('Enter')
  await newest.getByRole('link', { name: '查看全部' }).focus()
  await page.keyboard.press('Enter')
  await expect(heading(page, '消息中心')).toBeFocused()
})

test('on a phone what the bell opens stands within the window', async ({ page, context }) => {
  const { account } = await manager()
  await attack(account)
  await page.setViewportSize({ width: 390, height: 844 })
  await signIn(context, account)
  await opened(page, '/nextStack/volumes')
  await page.locator('.frame-bell').getByRole('button').first().click()
  const newest = page.getByRole('region', { name: '最新消息' })
  await expect(newest.getByRole('link', { name: /密码被猜测/ })).toBeVisible()
  await accessible(page, 'the bell on a phone')
  const box = await newest.boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
  if (process.env['SHOTS'] !== undefined) await page.screenshot({ path: `${process.env['SHOTS']}/bell-phone.png` })
})

test('what cannot be read says so at the bell, and is asked again', async ({ page, context, trouble }) => {
  trouble.expect(new RegExp(`^503 GET ${messages.list.path}$`))
  await signIn(context, 'tenantAdmin')
  await opened(page, '/nextStack/volumes')
  await page.route(
    (url) => url.pathname === messages.list.path,
    (route) => route.fulfill({ status: 503, json: { code: 90003, message: '服务器正忙', request_id: 'r' } }),
  )
  await page.locator('.frame-bell').getByRole('button').first().click()
  const newest = page.getByRole('region', { name: '最新消息' })
  await expect(newest.getByRole('alert')).toContainText('消息未能加载')
  await page.unrouteAll()
  await button(newest, '重试').click()
  await expect(newest.getByRole('alert')).toHaveCount(0)
})
