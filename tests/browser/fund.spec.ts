import { paymentChannels } from '@zhisuan/contract/bill/topup'
import { configs } from '@zhisuan/contract/sys/sys'
import { notifyPath } from '../../apps/server/src/modules/bill/topup/channel.service.ts'
import { startGateway } from '../../apps/server/src/testing/payment-gateway.ts'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, rowOf } from './console.ts'
import { fill, field, wrong } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test.describe('money', () => {
  let admin: Client
  const keys = { remittance_receiver: '智算云有限公司', remittance_bank: '工商银行', remittance_account: '6222 0000 1111' }
  test.beforeAll(async () => {
    admin = new Client(stage().url, someAddress())
    await admin.signIn('admin', administratorPassword)
    for (const [key, value] of Object.entries(keys)) await admin.call(configs.set, { body: { key, value } })
  })
  test.afterAll(async () => {
    // Invoices of other tests say who sells.
    for (const key of Object.keys(keys).filter((one) => one !== 'remittance_receiver')) await admin.call(configs.reset, { query: { key } })
  })

  test('is sent by a transfer, confirmed by an administrator, and explained', async ({ page, context, browser, trouble }) => {
    const organisation = newName('fund')
    const tenant = await register(stage().url, newName('payer'), organisation)
    await signIn(context, tenant)
    await page.goto('/wallet')
    await expect(page.getByText('还没有收支')).toBeVisible()
    await accessible(page, 'an empty wallet')
    await button(page, '充值').click()
    trouble.expect(/^400 POST .*\/topups\/remittances$/)
    await fill(dialog(page), { 金额: '0' })
    await button(dialog(page), '下一步').click()
    await expect(wrong(dialog(page), '金额')).toHaveText('金额不能为0')
    await fill(dialog(page), { 金额: '100.50' })
    await button(dialog(page), '下一步').click()
    const guide = page.getByRole('dialog', { name: '汇款信息' })
    await expect(guide).toContainText('6222 0000 1111')
    const code = /HK[A-Z0-9]{8}/.exec(await guide.innerText())?.[0] ?? ''
    expect(code).not.toBe('')
    await accessible(page, 'where to send a transfer')
    await button(guide, '知道了').click()
    await expect(page.getByText('有 1 笔充值等待付款或到账')).toBeVisible()

    const desk = await browser.newContext()
    const bank = await desk.newPage()
    await signIn(desk, 'admin')
    await bank.goto(`${stage().url}/charge-records?keyword=${code}`)
    await rowOf(bank, code).getByRole('button', { name: '确认到账' }).click()
    await expect(field(dialog(bank), '汇款码')).toHaveValue(code)
    await fill(dialog(bank), { 实际到账金额: '99.99' })
    await button(dialog(bank), '确认到账').click()
    await expect(toast(bank, '汇款已入账')).toBeVisible()
    await expect(rowOf(bank, code)).toContainText('已到账')
    await accessible(bank, 'top-ups')
    await bank.goto(`${stage().url}/account?keyword=${organisation}`)
    await bank.getByRole('link', { name: organisation }).click()
    await expect(bank.getByRole('dialog', { name: '账户' })).toContainText('99.99')
    await accessible(bank, 'an account')
    await desk.close()

    await page.goto('/wallet')
    await expect(page.locator('.bf-big').first()).toContainText('99.99')
    await page.getByRole('main').getByRole('link', { name: '充值', exact: true }).click()
    await expect(page).toHaveURL(/\/fund\?movement=/)
    await expect(page.getByRole('dialog', { name: '资金流水' })).toContainText('+¥99.99')
    await accessible(page, 'a movement')
  })

  test('is invoiced to those whose tax number can be', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST .*\/invoice(-title)?s$/)
    await signIn(context, await register(stage().url, newName('invoiced'), newName('fund')))
    await page.goto('/fund?tab=titles')
    await button(page, '添加抬头').first().click()
    await fill(dialog(page), { 抬头名称: '深圳某某科技有限公司', 税号: '914403001922038217' })
    await button(dialog(page), '保存').click()
    await expect(wrong(dialog(page), '税号')).toHaveText('税号不正确，请核对每一位')
    await fill(dialog(page), { 税号: '914403001922038216' })
    await button(dialog(page), '保存').click()
    await expect(toast(page, '抬头已保存')).toBeVisible()
    await expect(rowOf(page, '深圳某某科技有限公司')).toContainText('914403001922038216')
    await page.getByRole('tab', { name: '发票', exact: true }).click()
    await button(page, '申请开票').first().click()
    await expect(dialog(page)).toContainText('该期间未开票的消费 ¥0.00')
    await dialog(page).getByLabel('抬头', { exact: true }).click()
    await page.locator('.ant-select-dropdown:visible .ant-select-item-option').first().click()
    await button(dialog(page), '提交申请').click()
    await expect(wrong(dialog(page), '开始日期')).toHaveText('该时间段内没有可开票的消费')
    await accessible(page, 'asking for an invoice')
  })

  test('comes through gateways that administrators set up', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST .*\/payment-channels$/)
    await signIn(context, 'admin')
    await page.goto('/account?tab=channels')
    await button(page, '添加支付渠道').first().click()
    const name = newName('gateway')
    await dialog(page).getByLabel('HMAC-SHA256').check()
    await fill(dialog(page), { 名称: name, 网关地址: 'http://pay.example.com', 商户号: 'm-1', 共享密钥: 'a-secret-of-both-sides' })
    await dialog(page).getByLabel('启用：用户可以选择').uncheck()
    await button(dialog(page), '保存').click()
    await expect(wrong(dialog(page), '网关地址')).toContainText('https://')
    await fill(dialog(page), { 网关地址: 'https://pay.example.com' })
    await button(dialog(page), '保存').click()
    await expect(toast(page, '支付渠道已保存')).toBeVisible()
    await expect(rowOf(page, name)).toContainText('已停用')
    await accessible(page, 'payment channels')
    await rowOf(page, name).getByRole('button', { name: '删除' }).click()
    await button(dialog(page), '删除').click()
    await expect(rowOf(page, name)).toHaveCount(0)
  })

  test('is paid at a gateway: credited when that says so, once, and not where it says otherwise', async ({ page, context }) => {
    const keys = { sign_type: 'HMAC-SHA256', key: 'a-secret-of-both-sides', gateway_public_key: '' } as const
    const merchant_id = newName('m')
    const gateway = await startGateway(keys, merchant_id, () => new Date())
    const name = newName('gateway')
    const channel = await admin.call(paymentChannels.create, { body: { name, enabled: true, gateway: gateway.url, merchant_id, ...keys } })
    /** What the gateway sends the platform, about the payment whose page was asked for. */
    const tells = async (url: string, status: 'paid' | 'closed', signature?: string): Promise<string> => {
      const { order_id = '', amount = '' } = gateway.visit(url)
      const message = gateway.message({ order_id, amount, status, trade_id: `T-${order_id}` })
      const answer = await fetch(new URL(notifyPath(channel.id), stage().url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...someAddress() },
        body: JSON.stringify({ ...message, ...(signature !== undefined && { sign: signature }) }),
      })
      return ((await answer.json()) as { result: string }).result
    }
    await page.route(`${gateway.url}**`, (route) =>
      route.fulfill({ contentType: 'text/html; charset=utf-8', body: '<html lang="zh"><title>收银台</title><h1>收银台</h1></html>' }),
    )
    /** Leads to the gateway's page; answers its address. */
    const pay = async (amount: string): Promise<string> => {
      await button(page, '充值').first().click()
      await dialog(page).getByLabel(name, { exact: true }).check()
      await fill(dialog(page), { 金额: amount })
      await button(dialog(page), '下一步').click()
      await expect(page.getByRole('heading', { name: '收银台' })).toBeVisible()
      return page.url()
    }
    const funds = page.locator('.bf-big').first()
    await signIn(context, await register(stage().url, newName('payer'), newName('fund')))
    await page.goto('/wallet')
    const first = await pay('10.01')
    expect(gateway.visit(first)).toMatchObject({ amount: '10.01', currency: 'CNY' })

    await page.goto('/wallet')
    await expect(page.getByText('有 1 笔充值等待付款或到账')).toBeVisible()
    await expect(funds).toContainText('0.00')
    expect(await tells(first, 'paid', 'bm90IGl0cyBzaWduYXR1cmU=')).toBe('failure')
    expect(await tells(first, 'paid')).toBe('success')
    // Without a reload, and what waited does not any more.
    await expect(funds).toContainText('10.01')
    await expect(page.getByText('有 1 笔充值等待付款或到账')).toBeHidden()
    expect(await tells(first, 'paid')).toBe('success')

    await page.goto('/charge-records')
    const { order_id: paid = '' } = gateway.visit(first)
    await expect(rowOf(page, paid)).toContainText('已到账')
    await expect(rowOf(page, paid)).toContainText(name)
    const second = await pay('5')
    const { order_id: failed = '' } = gateway.visit(second)
    await page.goto('/charge-records')
    await expect(rowOf(page, failed)).toContainText('待付款')
    expect(await tells(second, 'closed')).toBe('success')
    await expect(rowOf(page, failed)).toContainText('已取消')
    await expect(rowOf(page, failed)).toContainText('支付渠道已关闭该笔支付')
    await accessible(page, 'top-ups of a tenant')
    await page.goto('/wallet')
    await expect(funds).toContainText('10.01')
    await expect(page.getByRole('row', { name: /充值/ })).toHaveCount(1)

    await admin.call(paymentChannels.update, {
      params: { id: channel.id },
      body: { name, enabled: false, gateway: gateway.url, merchant_id, sign_type: keys.sign_type, gateway_public_key: '' },
    })
    await gateway.close()
  })
})
