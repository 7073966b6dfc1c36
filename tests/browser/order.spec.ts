import { accounts } from '@zhisuan/contract/bill/account'
import { categories, products, skus } from '@zhisuan/contract/bill/catalogue'
import { users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, rowOf } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test } from './test.ts'

async function clientOf(username: string, password: string): Promise<Client> {
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, password)
  return client
}

test('a volume is ordered for a month, paid when there is money, explained, and given back', async ({ page, context }) => {
  const person = await register(stage().url, newName('payer'), newName('org'))
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
    await expect(page.getByText('10 GiB × 0.50')).toBeVisible()
    await page.keyboard.press('Escape')
    await accessible(page, 'the form')
  })

  await test.step('without money it waits', async () => {
    await button(page, '下单并支付').click()
    await expect(dialog(page).getByText('余额不足，请先充值 ¥5.00。')).toBeVisible()
    await expect(dialog(page).getByRole('button', { name: /支付 ¥5/ })).toBeDisabled()
    await accessible(page, 'the payment')
    await admin.call(accounts.charge, { params: { id: bpId }, body: { amount: '20' } })
    await expect(dialog(page).getByText('支付后可用')).toBeVisible({ timeout: 15_000 })
    await dialog(page).getByRole('button', { name: /支付 ¥5/ }).click()
    await expect(page.locator('.zs-status').first()).toHaveText('已交付', { timeout: 30_000 })
    await expect(page.getByText('预付到期')).toBeVisible()
    await accessible(page, 'the order')
  })

  await test.step('it is renewed by itself where that is wanted', async () => {
    await button(page, '开启自动续费').click()
    await expect(page.getByText('下次自动续费')).toBeVisible()
  })

  await test.step('what was not used comes back', async () => {
    await button(page.locator('.zs-head-actions'), '退订').click()
    await expect(dialog(page).getByText('可退')).toBeVisible()
    await button(dialog(page), '退订').click()
    await expect(page.locator('.zs-status').first()).toHaveText('已退款')
    await page.goto('/order')
    await expect(rowOf(page, name)).toContainText('已退款')
    await accessible(page, 'the list')
    await page.setViewportSize({ width: 390, height: 800 })
    await expect(rowOf(page, name)).toBeVisible()
    await accessible(page, 'the list on a phone')
  })
})
