import type { Page } from '@playwright/test'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { createSigner, httpbis } from 'http-message-signatures'
import { randomUUID } from 'node:crypto'
import { accessible, dialog } from './console.ts'
import { field, fill, wrong } from './forms.ts'
import { newName, register } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const currentUrl = () => `${stage().url}${users.current.path}`
const byToken = async (token: string, url = currentUrl()): Promise<number> => (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
/** As a program signs its request. */
async function bySignature(id: string, secret: string): Promise<number> {
  const signed = await httpbis.signMessage(
    {
      key: createSigner(secret, 'hmac-sha256', id),
      fields: ['@method', '@target-uri'],
      params: ['created', 'nonce', 'keyid'],
      paramValues: { nonce: randomUUID() },
    },
    { method: 'GET', url: currentUrl(), headers: {} },
  )
  return (await fetch(currentUrl(), { headers: Object.entries(signed.headers).map(([name, value]): [string, string] => [name, String(value)]) })).status
}

const section = (page: Page) => page.getByRole('region', { name: '访问密钥' })
const row = (page: Page, name: string) => section(page).getByRole('listitem').filter({ hasText: name })
/** Copies what is told, and says that it is kept. */
async function keep(page: Page, ...labels: string[]): Promise<string[]> {
  const told: string[] = []
  for (const label of labels) {
    await dialog(page)
      .getByRole('button', { name: `复制 ${label}`, exact: true })
      .click()
    told.push(await page.evaluate(() => navigator.clipboard.readText()))
  }
  await dialog(page).getByRole('button', { name: '我已保存' }).click()
  await expect(dialog(page)).toHaveCount(0)
  return told
}
async function rowAction(page: Page, name: string, action: string): Promise<void> {
  const shown = row(page, name).getByRole('button', { name: action, exact: true })
  if ((await shown.count()) === 0) {
    await row(page, name).getByRole('button', { name: '更多' }).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  } else await shown.click()
}
async function openPage(page: Page): Promise<void> {
  const person = await register(stage().url, newName('programmer'))
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage().url })
  await signIn(page.context(), person)
  await page.goto('/userMsg#accessKeys')
  await expect(section(page)).toContainText('还没有访问密钥')
}

test('a token is made, used, rotated, switched off and on, and deleted', async ({ page }) => {
  await openPage(page)
  await section(page).getByRole('button', { name: '创建访问密钥' }).click()
  await accessible(page)
  await dialog(page).getByRole('button', { name: '创建', exact: true }).click()
  await expect(wrong(dialog(page), '名称')).toBeVisible()
  await fill(dialog(page), { 名称: '发布脚本', 来源地址: '不是地址' })
  await field(dialog(page), '名称').focus()
  await expect(wrong(dialog(page), '来源地址')).toContainText('IP地址或网段')
  await field(dialog(page), '来源地址').fill('127.0.0.0/8\n::1')
  await dialog(page).getByRole('button', { name: '创建', exact: true }).click()
  await expect(dialog(page)).toContainText('只显示这一次')
  await accessible(page)
  const [first = ''] = await keep(page, '令牌')
  expect(first).toMatch(/^zsk_\w{49}$/)
  expect(await byToken(first)).toBe(200)
  await expect(row(page, '发布脚本')).toContainText(`以 ${first.slice(-4)} 结尾`)
  await expect(row(page, '发布脚本')).toContainText('只能从 127.0.0.0/8、::1 使用')
  // Told once: nowhere on the page any more.
  expect(await page.content()).not.toContain(first)

  await rowAction(page, '发布脚本', '轮换')
  await dialog(page).getByRole('button', { name: '轮换' }).click()
  const [second = ''] = await keep(page, '令牌')
  expect([await byToken(first), await byToken(second)]).toEqual([401, 200])
  await page.reload()
  await expect(row(page, '发布脚本')).toContainText('使用过')
  await accessible(page)

  await rowAction(page, '发布脚本', '停用')
  await dialog(page).getByRole('button', { name: '停用' }).click()
  await expect(toast(page, '“发布脚本”已停用')).toBeVisible()
  await expect(row(page, '发布脚本')).toContainText('已停用')
  expect(await byToken(second)).toBe(401)
  await rowAction(page, '发布脚本', '启用')
  await expect(toast(page, '“发布脚本”已启用')).toBeVisible()
  expect(await byToken(second)).toBe(200)

  await rowAction(page, '发布脚本', '删除')
  await dialog(page).getByRole('button', { name: '删除' }).click()
  await expect(section(page)).toContainText('还没有访问密钥')
  expect(await byToken(second)).toBe(401)
})

test('a signing key is made and signs, also while it is rotated; what it may is changed', async ({ page, trouble }) => {
  trouble.expect(/^400 PUT \/api\/ums\/v1\/users\/current\/access-keys\//)
  await openPage(page)
  await section(page).getByRole('button', { name: '创建访问密钥' }).click()
  await field(dialog(page), '名称').fill('结算')
  await dialog(page).getByRole('radio', { name: /^签名/ }).check()
  await dialog(page).getByRole('button', { name: '创建', exact: true }).click()
  const [id = '', first = ''] = await keep(page, '密钥 ID', '密钥')
  expect(first).toMatch(/^zss_\w{49}$/)
  expect(await bySignature(id, first)).toBe(200)

  await rowAction(page, '结算', '轮换')
  const overlap = dialog(page).getByRole('combobox', { name: '原来的密钥' })
  await overlap.focus()
  await overlap.press('ArrowDown')
  await expect(overlap).toHaveAttribute('aria-expanded', 'true')
  await overlap.press('ArrowDown')
  await overlap.press('Enter')
  await expect(overlap).toHaveAttribute('aria-expanded', 'false')
  await expect(dialog(page).getByTitle('1 小时后失效')).toBeVisible()
  await dialog(page).getByRole('button', { name: '轮换' }).click()
  const [, second = ''] = await keep(page, '密钥 ID', '密钥')
  expect([await bySignature(id, first), await bySignature(id, second)]).toEqual([200, 200])
  await expect(row(page, '结算')).toContainText('前仍有效')

  await rowAction(page, '结算', '修改')
  await dialog(page)
    .getByRole('radio', { name: /^自定义/ })
    .check()
  await field(dialog(page), '策略文档').fill('{')
  await dialog(page).getByRole('button', { name: '保存' }).click()
  await expect(wrong(dialog(page), '策略文档')).toContainText('不是有效的JSON')
  // What only the server knows is said at the same place.
  await field(dialog(page), '策略文档').fill('{"Version":"2026-11-21","Statement":[{"Effect":"Allow","Action":"no.such.call","Resource":"*"}]}')
  await dialog(page).getByRole('button', { name: '保存' }).click()
  await expect(wrong(dialog(page), '策略文档')).toContainText('没有这样的操作')
  await dialog(page).getByRole('radio', { name: /^只读/ }).check()
  await field(dialog(page), '名称').fill('结算（只读）'.replace(/[（）]/g, '-'))
  await dialog(page).getByRole('button', { name: '保存' }).click()
  await expect(row(page, '结算-只读-')).toContainText('权限受限')
})

test('on a narrow screen it fits', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await openPage(page)
  await section(page).getByRole('button', { name: '创建访问密钥' }).click()
  await field(dialog(page), '名称').fill('a'.repeat(64))
  await dialog(page).getByRole('radio', { name: /^签名/ }).check()
  await field(dialog(page), '来源地址').fill('203.0.113.0/24 198.51.100.0/24 2001:db8:1234:5678::/64')
  await dialog(page).getByRole('button', { name: '创建', exact: true }).click()
  await keep(page, '密钥')
  await expect(row(page, 'aaaa')).toBeVisible()
  await section(page).scrollIntoViewIfNeeded()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('a key does not make keys, and what its person sees, it sees', async ({ page }) => {
  await openPage(page)
  await section(page).getByRole('button', { name: '创建访问密钥' }).click()
  await field(dialog(page), '名称').fill('机器')
  await dialog(page).getByRole('button', { name: '创建', exact: true }).click()
  const [token = ''] = await keep(page, '令牌')
  expect([await byToken(token, `${stage().url}${organisations.list.path}`), await byToken(token, `${stage().url}${accessKeys.list.path}`)]).toEqual([200, 403])
})
