import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { accounts } from '@zhisuan/contract/bill/account'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { invoiceTitles } from '@zhisuan/contract/bill/invoice'
import { configs } from '@zhisuan/contract/sys/sys'
import { users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, rowOf } from './console.ts'
import { fill, fillDate } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

async function clientOf(username: string, password: string): Promise<Client> {
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, password)
  return client
}

test('a volume is ordered for a month, paid when there is money, explained, and given back', async ({ page, context, browser }) => {
  const organisation = newName('org')
  const person = await register(stage().url, newName('payer'), organisation)
  const [admin, tenant] = [await clientOf('admin', administratorPassword), await clientOf(person.username, person.password)]
  const bpId = (await tenant.call(users.current)).bp_id ?? ''
  const category = await admin.call(categories.create, { body: { name: newName('c') } })
  const product = await admin.call(products.create, { body: { name: newName('p'), category_id: category.id } })
  const sku = await admin.call(skus.create, { body: { product_id: product.id, name: newName('s'), meter: 'volume.size' } })
  // None by the hour: whoever else has volumes here would owe something once an hour has ended.
  await admin.call(skus.setPrice, { params: { id: sku.id }, body: { period: 'month', tiers: [{ above: 0, price: '0.5' }] } })
  const name = newName('prepaid')
  await signIn(context, person)

  await test.step('the form says what it costs, and why', async () => {
    await page.goto('/nextStack/volumes/add')
    // Prices begin with the next second.
    await expect(async () => {
      await page.reload()
      await page.getByText('包月', { exact: true }).click()
      await expect(page.getByText('¥5.00', { exact: true })).toBeVisible({ timeout: 3_000 })
    }).toPass()
    await fill(page, { 名称: name })
    await button(page, '价格明细').click()
    await expect(page.getByText('10 GB × 0.50')).toBeVisible()
    await page.keyboard.press('Escape')
    await accessible(page, 'the form')
  })

  await test.step('without money it waits', async () => {
    await button(page, '下单并支付').click()
    await expect(dialog(page).getByText('余额不足，请先充值 ¥5.00。')).toBeVisible()
    await expect(dialog(page).getByRole('button', { name: /支付 ¥5/ })).toBeDisabled()
    await accessible(page, 'the payment')
    await admin.call(accounts.charge, { params: { id: bpId }, body: { amount: '20' } })
    await expect(dialog(page).getByText('支付后可用')).toBeVisible()
    await dialog(page)
      .getByRole('button', { name: /支付 ¥5/ })
      .click()
    await expect(page.locator('.zs-status').first()).toHaveText('已交付')
    await expect(page.getByText('预付到期')).toBeVisible()
    await accessible(page, 'the order')
  })

  await test.step('it is renewed by itself where that is wanted', async () => {
    await button(page, '开启自动续费').click()
    await expect(page.getByText('下次自动续费')).toBeVisible()
  })

  let renewal = ''
  await test.step('it is renewed at once by whoever wants to', async () => {
    await button(page.locator('.frame-head-actions'), '续费').click()
    await expect(dialog(page).getByText('¥5.00', { exact: true })).toBeVisible()
    await accessible(page, 'a renewal')
    await button(dialog(page), '去支付').click()
    await dialog(page)
      .getByRole('button', { name: /支付 ¥5/ })
      .click()
    await expect(page.locator('.zs-status').first()).toHaveText('已交付')
    renewal = new URL(page.url()).pathname
    await page.goto('/order')
    await expect(rowOf(page, name)).toHaveCount(2)
    for (const row of await rowOf(page, name).all()) await expect(row).toContainText('已交付')
  })

  await test.step('what was paid is invoiced, and the invoice is a file', async () => {
    const title = await tenant.call(invoiceTitles.create, { body: { kind: 'company', name: '深圳某某科技有限公司', tax_number: '914403001922038216' } })
    await page.goto('/fund?tab=invoices')
    await button(page, '申请开票').first().click()
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format()
    for (const end of ['开始日期', '结束日期']) await fillDate(dialog(page), end, today)
    await expect(dialog(page)).toContainText('该期间未开票的消费 ¥10.00')
    await dialog(page).getByLabel('抬头', { exact: true }).click()
    await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: title.name }).click()
    await button(dialog(page), '提交申请').click()
    await expect(rowOf(page, title.name)).toContainText('待开具')

    for (const [key, value] of [
      ['remittance_receiver', '智算云有限公司'],
      ['invoice_tax_number', '91440300708461136T'],
    ] as const)
      await admin.call(configs.set, { body: { key, value } })
    const number = String(randomInt(1e9, 1e10)).padStart(20, '2')
    const desk = await browser.newContext({ baseURL: stage().url, locale: 'zh-CN', timezoneId: 'Asia/Shanghai' })
    await signIn(desk, 'admin')
    const bank = await desk.newPage()
    await bank.goto('/fund?tab=invoices')
    await rowOf(bank, organisation).getByRole('button', { name: '开具' }).click()
    await expect(dialog(bank)).toContainText('10.00')
    await fill(dialog(bank), { 发票号码: number })
    await accessible(bank, 'issuing an invoice')
    await button(dialog(bank), '开具').click()
    await expect(toast(bank, '发票已开具')).toBeVisible()
    await desk.close()

    // The list learns of it by itself.
    await expect(rowOf(page, title.name)).toContainText('已开具')
    await expect(rowOf(page, title.name)).toContainText(number)
    await accessible(page, 'an invoice')
    const downloading = page.waitForEvent('download')
    await rowOf(page, title.name).getByRole('button', { name: '下载' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`发票-${number}.pdf`)
    const file = readFileSync(await download.path())
    expect(file.subarray(0, 5).toString()).toBe('%PDF-')
    expect(file.subarray(-6).toString()).toContain('%%EOF')
  })

  await test.step('what was not used comes back', async () => {
    await page.goto(renewal)
    await button(page.locator('.frame-head-actions'), '退订').click()
    await expect(dialog(page).getByText('可退')).toBeVisible()
    await button(dialog(page), '退订').click()
    await expect(page.locator('.zs-status').first()).toHaveText('已退款')
    await page.goto('/order')
    await expect(rowOf(page, name).first()).toContainText('已退款')
    await accessible(page, 'the list')
    await page.setViewportSize({ width: 390, height: 800 })
    await expect(rowOf(page, name).first()).toBeVisible()
    await accessible(page, 'the list on a phone')
  })
})
