import type { BrowserContext, Locator, Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { createFirewallCloud } from '@zhisuan/engines/openstack/firewallTesting'
import { cloudIsThere, registration } from '@zhisuan/engines/openstack/local'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, heading, pick, rowOf } from './console.ts'
import { field, fill } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

/** The stage has no OpenStack: each test registers one, chooses it, and takes it away again. */
async function withCloud(context: BrowserContext, connection: object, act: (name: string) => Promise<void>): Promise<void> {
  const administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  const name = newName('防火墙云')
  const { cloud_id } = await administrator.call(clouds.create, { body: { name, product: 'openstack', connection } })
  try {
    // A document of no address has no storage.
    await context.addInitScript((id) => {
      if (location.protocol.startsWith('http')) localStorage.setItem('zhisuan.cloud', id)
    }, cloud_id)
    await act(name)
  } finally {
    await administrator.call(clouds.delete, { params: { id: cloud_id }, query: { force: 'true' } })
  }
}

const look = async (page: Page, name: string): Promise<void> => {
  await accessible(page, name)
  const folder = process.env['SHOTS']
  if (folder === undefined) return
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    await page.waitForTimeout(400)
    await page.screenshot({ path: `${folder}/${name.replaceAll(' ', '-').replaceAll('/', '')}-${width}.png` })
  }
}
/** In a select that is not searched. */
const choose = async (within: Locator, label: string, text: string): Promise<void> => {
  await field(within, label).click()
  await within.page().locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: text }).first().click()
}
const drawer = (page: Page, name: string) => page.getByRole('dialog', { name })
/** Where the page is narrow enough that each row is a card. */
const narrow = { width: 390, height: 844 }

test('a firewall is made of rules and a policy, put on ports, rearranged, and taken down again', async ({ page, context }) => {
  const cloud = await createFirewallCloud()
  await withCloud(context, cloud.registration, async () => {
    await signIn(context, 'tenant')
    const [web, office, open, policy, firewall] = ['web', 'office', 'open', 'policy', 'edge'].map(newName) as [string, string, string, string, string]

    await test.step('rules: what does not fit stands beside its field, what opens everything is said', async () => {
      await page.goto('/firewall-rule')
      await expect(page.getByText('还没有规则')).toBeVisible()
      const make = async (name: string, values: Record<string, string>): Promise<void> => {
        await button(page, '创建规则').first().click()
        await fill(dialog(page), { 名称: name, ...values })
      }
      await make(web, { 目标端口: '8010-8000', 来源地址: '10.1.0.5/24' })
      await button(dialog(page), '创建规则').click()
      await expect(dialog(page).getByText('结束地址不能小于起始地址')).toBeVisible()
      await expect(dialog(page).getByText('网段须写成网络地址')).toBeVisible()
      await fill(dialog(page), { 目标端口: '443', 来源地址: '2001:db8::/64' })
      await expect(dialog(page).getByText('须与规则的IP版本一致')).toBeVisible()
      await fill(dialog(page), { 来源地址: '' })
      await look(page, 'the form of a rule')
      await button(dialog(page), '创建规则').click()
      await expect(toast(page, `规则“${web}”已创建`)).toBeVisible()
      await make(office, { 来源地址: '203.0.113.0/24', 目标端口: '22' })
      await button(dialog(page), '创建规则').click()
      await expect(rowOf(page, office)).toContainText('203.0.113.0/24')
      await make(open, {})
      await choose(dialog(page), '协议', '任意')
      await expect(dialog(page).getByText('这条规则放行全部 IPv4 流量')).toBeVisible()
      await button(dialog(page), '创建规则').click()
      await expect(rowOf(page, open)).toContainText('放行全部')
      await look(page, 'the list of rules')
    })

    const [project] = cloud.projects()
    cloud.furnish(project?.id ?? '', '前端')

    await test.step('a policy: rules are put in at a place, moved by keyboard and by dragging', async () => {
      await page.goto('/firewall-strategy')
      await button(page, '创建策略').first().click()
      await fill(dialog(page), { 名称: policy })
      for (const rule of [open, web]) await pick(dialog(page), '规则', rule)
      await page.keyboard.press('Escape')
      await button(dialog(page), '创建策略').click()
      await expect(toast(page, `策略“${policy}”已创建`)).toBeVisible()
      await rowOf(page, policy).getByRole('link', { name: policy }).click()
      const one = drawer(page, policy)
      const order = one.getByRole('listitem')
      await expect(order).toHaveCount(2)
      await expect(order.nth(1)).toContainText('这条规则不会生效')
      await button(one, '添加规则').click()
      const adding = drawer(page, `为“${policy}”添加规则`)
      await pick(adding, '规则', office)
      await choose(adding, '位置', '最前')
      await button(adding, '添加规则').click()
      await expect(order.nth(0)).toContainText(office)
      await button(one, `上移“${web}”`).press('Enter')
      await expect(order.nth(1)).toContainText(web)
      await expect(one.getByRole('status')).toHaveText(`“${web}”现在是第2条，共3条`)
      // The row has moved, and the keyboard with it.
      await expect(button(one, `上移“${web}”`)).toBeFocused()
      await expect(one.getByText('这条规则不会生效')).toHaveCount(0)
      await order.nth(0).dragTo(order.nth(2))
      await expect(order.nth(2)).toContainText(office)
      await expect
        .poll(() => cloud.rows('firewall_policies').find(({ name }) => name === policy)?.['firewall_rules'])
        .toEqual([web, open, office].map((name) => cloud.rows('firewall_rules').find((rule) => rule.name === name)?.id))
      await expect(order.nth(2)).toContainText('这条规则不会生效')
      await look(page, 'a policy')
      await order.nth(1).getByRole('button', { name: '移出' }).click()
      await button(drawer(page, `从“${policy}”移出规则“${open}”`), '移出').click()
      await expect(order).toHaveCount(2)
    })

    await test.step('a firewall: ports are chosen by network, address and who uses them', async () => {
      await page.goto('/firewall')
      await expect(rowOf(page, 'default')).toContainText('默认')
      await button(page, '创建防火墙').first().click()
      await fill(dialog(page), { 名称: firewall })
      await pick(dialog(page), '入方向策略', policy)
      await pick(dialog(page), '端口', '前端-web')
      await page.keyboard.press('Escape')
      await look(page, 'the form of a firewall')
      await button(dialog(page), '创建防火墙').click()
      await expect(rowOf(page, firewall)).toContainText('生效中')
      await expect(rowOf(page, firewall)).toContainText('未设置，全部拒绝')
      await look(page, 'the list of firewalls')
      await rowOf(page, firewall).getByRole('link', { name: firewall }).click()
      const one = drawer(page, firewall)
      await expect(one.getByRole('region', { name: '端口' })).toContainText('前端-web')
      await button(one, '添加端口').click()
      const adding = drawer(page, `为“${firewall}”添加端口`)
      await field(adding, '端口').fill('前端-web')
      await expect(page.locator('.ant-select-dropdown:visible .ant-select-item-option-disabled')).toContainText(`已在“${firewall}”中`)
      await pick(adding, '端口', '前端-router')
      await page.keyboard.press('Escape')
      await button(adding, '添加端口').click()
      await expect(one.getByRole('region', { name: '端口' })).toContainText('10.60.0.1')
      await look(page, 'a firewall')
      await page.setViewportSize(narrow)
      await look(page, 'a firewall on a phone')
      await page.setViewportSize({ width: 1440, height: 900 })

      // What is in use says by whom, and stays.
      await expect(button(one, '删除')).toHaveAttribute('aria-disabled', 'true')
      await button(one, '停用').click()
      await expect(drawer(page, `停用防火墙“${firewall}”`)).toContainText('阻断它的2个端口')
      await button(drawer(page, `停用防火墙“${firewall}”`), '停用').click()
      await expect(one.getByText('已停用').first()).toBeVisible()
      for (let left = 2; left > 0; left -= 1) {
        await one.getByRole('region', { name: '端口' }).getByRole('button', { name: '移除' }).first().click()
        await button(page.getByRole('dialog', { name: /移除端口/ }), '移除').click()
        await expect(one.getByRole('region', { name: '端口' }).getByRole('listitem')).toHaveCount(left - 1)
      }
      await button(one, '删除').click()
      await button(drawer(page, `删除防火墙“${firewall}”`), '删除').click()
      await expect(one).toHaveCount(0)
      await expect(rowOf(page, firewall)).toHaveCount(0)
      await expect(page).not.toHaveURL(/open=/)
    })
  })
  await cloud.close()
})

test('a real cloud without a firewall service says so, on each of the three pages', async ({ page, context }) => {
  test.skip(!cloudIsThere, 'there is no OpenStack on this host')
  await withCloud(context, registration(), async (name) => {
    await signIn(context, 'tenant')
    for (const [path, title] of [
      ['/firewall', '防火墙'],
      ['/firewall-strategy', '防火墙策略'],
      ['/firewall-rule', '防火墙规则'],
    ] as const) {
      await page.goto(path)
      await expect(heading(page, title)).toBeVisible()
      await expect(page.getByText('该云平台没有防火墙服务')).toBeVisible()
      await expect(page.getByText(`“${name}”没有安装网络服务的防火墙扩展（FWaaS v2）`)).toBeVisible()
      await expect(page.getByRole('button', { name: /^创建/ })).toHaveCount(0)
      await look(page, path)
    }
  })
})
