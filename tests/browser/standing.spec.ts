import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies } from '@zhisuan/contract/bill/arrears'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { until } from '../support/server.ts'
import { accessible, button, dialog, rowOf, shot } from './console.ts'
import { fill, field } from './forms.ts'
import { startMarket, type Market, type Member } from './market.ts'
import { password } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

const policy = { low_balance: '0', grace_hours: 24, warning_hours: 0, suspends: true, stop_vms: true, stop_containers: true, refuse_new: true, resume: true }

test.describe('an account that ran dry', () => {
  let market: Market
  test.beforeAll(async () => {
    market = await startMarket('standing')
  })
  test.afterAll(() => market.stop())

  /** A running instance of somebody's; answers its name. */
  async function instance({ client }: Member): Promise<string> {
    const cloud_id = (await market.admin.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const [image] = (await client.call(images.list, { query: { cloud_id, type: 'container' } })).items
    const [network] = (await client.call(networks.list, { query: { cloud_id } })).items
    const [flavor] = (await client.call(flavors.list)).items
    const name = 'trainer'
    const { items } = await client.call(vms.create, {
      body: { cloud_id, name, type: 'container', image_fingerprint: image?.fingerprint, network: network?.name, flavor_id: flavor?.id, password },
    })
    const id = items[0]?.id ?? ''
    await until(async () => (await client.call(vms.get, { params: { id } })).status === 'running', 'the instance')
    return name
  }

  test('tells its members what was stopped and when, and goes on once it is paid', async ({ page, context }) => {
    const member = await market.member()
    const name = await instance(member)
    const exception = { params: { id: member.bpId }, body: policy }
    await market.admin.call(arrearsPolicies.setException, exception)
    await market.uses(member.bpId, '3.5')
    await signIn(context, member.account, market.url)
    const banner = page.getByRole('alert').filter({ has: page.getByRole('link', { name: '去充值' }) })
    const comesTo = (text: string | RegExp) =>
      expect(async () => {
        await page.goto(`${market.url}/wallet`)
        await expect(banner).toContainText(text, { timeout: 3_000 })
      }).toPass()
    await comesTo(/账户已欠费 ¥3.50，将于 .* 暂停服务/)
    await button(banner, '查看详情').click()
    await expect(rowOf(dialog(page), '正常 → 已欠费')).toContainText('-¥3.50')
    await expect(dialog(page)).toContainText('没有因欠费停止过资源')
    await accessible(page, 'arrears')

    await market.admin.call(arrearsPolicies.setException, { ...exception, body: { ...policy, grace_hours: 0 } })
    await comesTo('服务已暂停')
    await button(banner, '查看详情').click()
    await expect(rowOf(dialog(page), '已欠费 → 已暂停服务')).toBeVisible()
    await expect(rowOf(dialog(page), name)).toContainText('已停止')
    // What it was told, and where that went.
    await expect(rowOf(dialog(page), '因欠费 ?3.50 ?元已暂停服务')).toContainText(member.account.phone)
    await accessible(page, 'a suspension')
    await shot(page, 'standing')
    await page.keyboard.press('Escape')
    await shot(page, 'standing-banner')

    await market.admin.call(accounts.charge, { params: { id: member.bpId }, body: { amount: '10' } })
    await expect(async () => {
      await page.goto(`${market.url}/wallet`)
      await expect(page.getByText('6.50').first()).toBeVisible({ timeout: 3_000 })
      await expect(banner).toBeHidden({ timeout: 1_000 })
    }).toPass()
    // Without a banner it is found from the wallet.
    await button(page, '账户状态记录').click()
    await expect(rowOf(dialog(page), '已暂停服务 → ')).toBeVisible()
    await expect(rowOf(dialog(page), name)).toContainText('已恢复')
  })

  test('follows what administrators decide for all, and the exceptions that they take back', async ({ page, context }) => {
    const { bpId, organisation } = await market.member()
    await market.admin.call(accounts.charge, { params: { id: bpId }, body: { amount: '1' } })
    await market.admin.call(arrearsPolicies.setException, { params: { id: bpId }, body: policy })
    await signIn(context, 'admin', market.url)
    await page.goto(`${market.url}/configure?tab=arrears`)
    await expect(page.getByRole('heading', { name: '欠费策略' })).toBeVisible()
    await button(page.getByRole('region', { name: '欠费策略' }), '修改策略').click()
    await fill(dialog(page), { '宽限期（小时）': '36', 余额提醒线: '12.5' })
    await field(dialog(page), '欠费期间不能新建资源').click()
    await button(dialog(page), '保存').click()
    await expect(toast(page, '欠费策略已保存')).toBeVisible()
    const { grace_hours, low_balance, refuse_new } = await market.admin.call(arrearsPolicies.get)
    expect({ grace_hours, low_balance, refuse_new }).toEqual({ grace_hours: 36, low_balance: '12.50', refuse_new: false })
    await expect(page.getByRole('region', { name: '欠费策略' })).toContainText('36')

    const exception = rowOf(page, organisation).filter({ has: button(page, '取消例外') })
    await button(exception, '取消例外').click()
    await expect(dialog(page)).toContainText('之后按平台的欠费策略')
    await button(dialog(page), '取消例外').click()
    await expect(toast(page, `已取消“${organisation}”的例外`)).toBeVisible()
    await expect(exception).toHaveCount(0)
    // By the platform's policy its balance is low.
    await expect(rowOf(page, organisation)).toContainText('余额不足')
    await button(rowOf(page, organisation), '查看记录').click()
    await expect(rowOf(dialog(page), '→ 余额不足').first()).toBeVisible()
  })
})
