import type { Page } from '@playwright/test'
import { overview } from '@zhisuan/contract/nextstack/overview'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { administratorPassword, Client, until } from '../support/server.ts'
import { wcag } from './axe.ts'
import { accessible } from './console.ts'
import { newName, register } from './people.ts'
import { expect, signIn, stage, test } from './test.ts'

const tile = (page: Page, name: string) => page.getByRole('region', { name: '资源' }).getByRole('link', { name: new RegExp(`^${name} \\d`) })

test.describe('the overview', () => {
  test('tells an administrator what there is, how it grew and what was done, as it happens', async ({ page, context }) => {
    const client = new Client(stage().url)
    await client.signIn('admin', administratorPassword)
    await signIn(context, 'admin')
    await page.goto('/index')
    const running =
      (await client.call(overview.get)).resources.find(({ kind }) => kind === 'nextstack.vm')?.statuses.find(({ status }) => status === 'running')?.count ?? 0
    expect(running).toBeGreaterThan(12)
    await expect(tile(page, '云主机')).toContainText(`${running} 运行中`)
    await expect(page.getByRole('img', { name: /云主机数量/ })).toBeVisible()
    await expect(page.getByRole('heading', { name: '配额', exact: true })).toBeVisible()
    await accessible(page, 'for an administrator', [...wcag, 'best-practice'])

    const params = { id: stage().vmId }
    await client.call(vms.stop, { params, body: { force: true } })
    const done = page.getByRole('listitem').filter({ hasText: /^成功关闭云主机示例实例/ })
    await expect(done).toContainText('成功')
    await expect(tile(page, '云主机')).toContainText(`${running - 1} 运行中`)
    await client.call(vms.start, { params })
    await until(async () => (await client.call(vms.get, { params })).status === 'running', 'the instance to run again')
    await done.getByRole('link', { name: '示例实例' }).click()
    await expect(page).toHaveURL(new RegExp(`/nextStack/vm/detail/${stage().vmId}`))
  })

  test('has a chart for each range, and says from when on it knows', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/index')
    await expect(page.getByText(/刚开始记录|开始记录，之前没有数据/)).toBeVisible()
    for (const range of ['7 天', '30 天']) {
      const answered = page.waitForResponse(/overview\/trends\?range=(week|month)/)
      await page.getByRole('radiogroup', { name: '时间范围' }).getByText(range).click()
      expect((await answered).ok()).toBe(true)
      await expect(page.getByRole('img', { name: /已分配内存/ })).toBeVisible()
    }
  })

  test('says what needs somebody, and leads there', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.route('**/api/nextstack/v1/overview', async (route) => {
      const response = await route.fetch()
      const alarms = [
        { type: 'cloud', id: stage().cloudId, name: '体验云', health: 'unreachable' },
        { type: 'resource', kind: 'nextstack.vm', status: 'error', count: 2 },
      ]
      return route.fulfill({ response, json: { ...((await response.json()) as object), alarms } })
    })
    await page.goto('/index')
    const alarms = page.getByRole('region', { name: /需要处理/ })
    await expect(alarms).toContainText('云平台“体验云”无法连接')
    await accessible(page, 'with alarms', [...wcag, 'best-practice'])
    await alarms.getByRole('link', { name: '2 个云主机异常' }).click()
    await expect(page).toHaveURL(/\/nextStack\/vm\?status=error/)
  })

  test('shows a new organisation the first step, also in a narrow window', async ({ page, context }) => {
    const person = await register(stage().url, newName('owner'), newName('组织'))
    await signIn(context, person)
    await page.goto('/index')
    await expect(page.getByRole('heading', { name: '开始使用' })).toBeVisible()
    await expect(page.getByRole('table', { name: '配额' }).getByRole('row', { name: /^文件与模型容量 0 B/ })).toBeVisible()
    await expect(page.getByRole('region', { name: '资源' })).toHaveCount(0)
    await accessible(page, 'for a new organisation', [...wcag, 'best-practice'])
    await page.setViewportSize({ width: 390, height: 800 })
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    const steps = page.getByRole('region', { name: '开始使用' })
    await expect(steps.getByRole('listitem')).toHaveCount(3)
    await expect(steps.getByRole('img', { name: '已完成' })).toHaveCount(0)
    await page.getByRole('link', { name: '创建第一台云主机' }).click()
    await expect(page).toHaveURL(/\/nextStack\/vm\/add/)
  })

  test('tells an administrator how far they are, until they have seen enough', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/index')
    const steps = page.getByRole('region', { name: '开始使用' })
    // The stage has a cloud and organisations.
    for (const done of ['登记云平台或添加节点', '创建组织'])
      await expect(steps.getByRole('listitem').filter({ hasText: done }).getByRole('img', { name: '已完成' })).toBeVisible()
    await expect(steps.getByRole('link', { name: '设置价格' })).toHaveAttribute('href', '/product')
    await steps.getByRole('button', { name: '不再显示' }).click()
    await expect(steps).toHaveCount(0)
    await page.reload()
    await expect(page.getByRole('heading', { name: '配额', exact: true })).toBeVisible()
    await expect(steps).toHaveCount(0)
  })
})
