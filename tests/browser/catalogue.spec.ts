import { categories, discounts, products, skus } from '@zhisuan/contract/bill/catalogue'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, heading, rowOf } from './console.ts'
import { fill, fillDate, wrong } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const asAdministrator = async (): Promise<Client> => {
  const client = new Client(stage().url, someAddress())
  await client.signIn('admin', administratorPassword)
  return client
}

/** Prices stay for ever, and a meter is priced in one place: each run has a kind of card of its own. */
const makeSku = async (client: Client, product: string) => {
  const category = await client.call(categories.create, { body: { name: newName('分类') } })
  const made = await client.call(products.create, { body: { name: product, category_id: category.id } })
  return { product: made, sku: await client.call(skus.create, { body: { product_id: made.id, name: '显卡', meter: 'vm.gpu', variant: newName('card') } }) }
}

test('a category and a product are made, a SKU is priced by steps, and its history told', async ({ page, context }) => {
  const [category, product, card] = [newName('计算'), newName('云主机'), newName('H100')]
  await signIn(context, 'admin')
  await page.goto('/category')
  await button(page, '创建分类').first().click()
  await fill(dialog(page), { 名称: category, 描述: '按量使用的计算资源' })
  await button(dialog(page), '创建').click()
  await expect(toast(page, '分类已创建')).toBeVisible()
  await expect(rowOf(page, category)).toContainText('admin')
  await accessible(page, 'categories')

  await rowOf(page, category).getByRole('link', { name: category }).click()
  await expect(page).toHaveURL(/\/product\?category_id=/)
  await button(page, '清除筛选').first().waitFor()
  await button(page, '创建产品').first().click()
  await fill(dialog(page), { 名称: product })
  await button(dialog(page), '创建').click()
  await expect(heading(page, product)).toBeVisible()
  await expect(page.getByText('生效之前的用量已按当时的价格计费')).toBeVisible()

  await button(page, '添加计费项').click()
  await fill(dialog(page), { 名称: '显卡' })
  await dialog(page).getByLabel('计量项').fill('GPU')
  await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: '云主机 GPU' }).click()
  await dialog(page).getByLabel('显卡型号').fill(card)
  await accessible(page, 'a new SKU')
  await button(dialog(page), '创建').click()
  const sku = page.getByRole('region', { name: '显卡' })
  await expect(sku).toContainText(card)
  await expect(sku).toContainText('未定价')

  await button(sku, '定价 显卡 按小时').click()
  await expect(dialog(page)).toContainText('填写正确的价格后显示影响')
  await dialog(page).getByLabel('第 1 阶单价').fill('8')
  await button(dialog(page), '添加阶梯').click()
  await dialog(page).getByLabel('第 2 阶起点').fill('4')
  await dialog(page).getByLabel('第 2 阶单价').fill('-1')
  await button(dialog(page), '确认定价').click()
  await expect(dialog(page)).toContainText('价格不能低于0')
  await dialog(page).getByLabel('第 2 阶单价').fill('6.5')
  await expect(dialog(page)).toContainText('目前没有资源按此计费')
  await accessible(page, 'a price')
  await button(dialog(page), '确认定价').click()
  await expect(toast(page, '价格已设置')).toBeVisible()
  // It begins with the next second.
  await expect(sku.getByRole('row', { name: /4 以上/ })).toContainText('¥6.5')
  await sku.getByLabel('试算 张数').fill('6')
  await expect(sku).toContainText('4 × 8.00 + 2 × 6.50 = ¥45.00 / 小时')

  await button(sku, '定价 显卡 按小时').click()
  await button(dialog(page), '删除第 2 阶').click()
  await dialog(page).getByLabel('第 1 阶单价').fill('9')
  await dialog(page).getByText('从指定时间起').click()
  await fillDate(dialog(page), '生效于', '2099-01-01')
  await button(dialog(page), '确认定价').click()
  await expect(sku).toContainText('另有 1 个价格尚未生效')
  await button(sku, '价格历史').click()
  await expect(sku.getByRole('figure')).toContainText('价格时间线')
  await expect(sku.getByRole('row', { name: /待生效/ })).toContainText('¥9.00 / 张 / 小时')
  await expect(sku.getByRole('row', { name: /生效中/ })).toContainText('2099-01-01')
  await accessible(page, 'a product')

  // What stands in the way is said where it stands.
  await page.goto('/category')
  await rowOf(page, category).getByRole('button', { name: '删除' }).hover()
  await expect(page.getByRole('tooltip')).toContainText('还有 1 个产品')
})

test('a discount is granted within its bounds, listed, and ended', async ({ page, context, trouble }) => {
  trouble.expect(/^400 POST \/api\/bill\/v1\/discounts$/)
  const client = await asAdministrator()
  const { product } = await makeSku(client, newName('折扣产品'))
  const name = newName('新春')
  await signIn(context, 'admin')
  await page.goto(`/productdesc/${product.id}?tab=discounts`)
  await button(page, '授予折扣').first().click()
  await fill(dialog(page), { 名称: name, 折扣比例: '1.2' })
  await dialog(page).getByRole('button', { name: '授予折扣' }).click()
  await expect(wrong(dialog(page), '折扣比例')).toHaveText('百分比折扣必须在0到1之间')
  await fill(dialog(page), { 折扣比例: '0.85' })
  await expect(dialog(page)).toContainText('8.5 折，原价 ¥100.00 支付 ¥85.00')
  await accessible(page, 'a new discount')
  await dialog(page).getByRole('button', { name: '授予折扣' }).click()
  await expect(toast(page, '折扣已授予')).toBeVisible()

  await page.goto(`/discount?keyword=${name}`)
  const row = rowOf(page, name)
  await expect(row).toContainText(product.name)
  await expect(row).toContainText('8.5 折')
  await expect(row).toContainText('生效中')
  await accessible(page, 'discounts')
  await row.getByRole('button', { name: '立即结束' }).click()
  await expect(dialog(page)).toContainText('已经优惠的部分不会收回')
  await button(dialog(page), '立即结束').click()
  await expect(row).toContainText('由 admin 提前结束')
  await expect(row.getByRole('button', { name: '立即结束' })).toHaveAttribute('aria-disabled', 'true')
  expect((await client.call(discounts.list, { query: { product_id: product.id } })).items).toMatchObject([{ status: 'ended', fraction: '0.85' }])
})

test('what is used without a price is listed, and a starter list prices only what was looked at', async ({ page, context }) => {
  await signIn(context, 'admin')
  await page.goto('/product?tab=unpriced')
  await expect(page.getByText('以后定价也不会补收').first()).toBeVisible()
  await expect(page.getByRole('row').nth(1)).toBeVisible()
  await accessible(page, 'what has no price')
  await page.getByRole('tab', { name: '产品' }).click()
  await button(page, '导入入门价目表').first().click()
  await expect(dialog(page)).toContainText('点击“应用”之前不会为任何资源定价')
  await accessible(page, 'the starter list')
  // Only what no test uses is applied, so that what others find free stays free.
  for (const box of await dialog(page).getByRole('checkbox').all())
    if ((await box.getAttribute('aria-label')) !== '采用“云主机 GPU · 其他全部”') await box.uncheck()
  await dialog(page).getByLabel('云主机 GPU · 其他全部包年价格').fill('x')
  await expect(dialog(page).getByRole('alert').filter({ hasText: '请填写不低于 0 的价格' })).toBeVisible()
  await expect(dialog(page).getByRole('button', { name: '应用 3 项价格' })).toBeDisabled()
  await dialog(page).getByLabel('云主机 GPU · 其他全部包年价格').fill('')
  await dialog(page).getByRole('button', { name: '应用 2 项价格' }).click()
  await expect(toast(page, '已添加 1 个计费项和 2 个价格')).toBeVisible()
  await expect(rowOf(page, '全部已定价').first()).toBeVisible()
  await button(page, '导入入门价目表').first().click()
  await expect(dialog(page)).toContainText('备份容量')
  await expect(dialog(page)).not.toContainText('云主机 GPU')
})
