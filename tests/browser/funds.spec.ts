import { accounts } from '@zhisuan/contract/bill/account'
import { categories, discounts, products, skus } from '@zhisuan/contract/bill/catalogue'
import { invoiceTitles } from '@zhisuan/contract/bill/invoice'
import { orders, type Order } from '@zhisuan/contract/bill/order'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { snapshots } from '@zhisuan/contract/nextstack/snapshot'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { until } from '../support/server.ts'
import { accessible, button, dialog, more, rowOf, shot } from './console.ts'
import { fill, fillDate } from './forms.ts'
import { newName } from './people.ts'
import { password } from './stage.ts'
import { startMarket, type Market, type Member } from './market.ts'
import { expect, signIn, test, toast } from './test.ts'

const gib = 2 ** 30

test.describe('money', () => {
  let market: Market
  let cloudId: string
  const product = '云硬盘产品'
  let productId: string
  test.beforeAll(async () => {
    market = await startMarket('funds')
    const { admin } = market
    cloudId = (await admin.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    const category = await admin.call(categories.create, { body: { name: '存储' } })
    productId = (await admin.call(products.create, { body: { name: product, category_id: category.id } })).id
    const sku = await admin.call(skus.create, { body: { product_id: productId, name: '容量', meter: 'volume.size' } })
    // For a month and an hour, and not for a year.
    for (const [period, price] of [
      ['month', '0.5'],
      ['hour', '0.01'],
    ] as const)
      await admin.call(skus.setPrice, { params: { id: sku.id }, body: { period, tiers: [{ above: 0, price }] } })
    const cores = await admin.call(skus.create, { body: { product_id: productId, name: '核', meter: 'vm.vcpu' } })
    await admin.call(skus.setPrice, { params: { id: cores.id }, body: { period: 'hour', tiers: [{ above: 0, price: '0.1' }] } })
  })
  test.afterAll(() => market.stop())

  const charge = (bpId: string, amount: string) => market.admin.call(accounts.charge, { params: { id: bpId }, body: { amount } })
  /** Prices begin with the next second. */
  const ordered = ({ client }: Member, name: string): Promise<Order> =>
    until(
      () =>
        client
          .call(orders.create, { body: { resource_type: 'nextstack.volume', period: 'month', create: { cloud_id: cloudId, name, size_bytes: 10 * gib } } })
          .catch(() => null),
      'the order',
      10_000,
    )
  const paid = async (member: Member, name: string): Promise<Order> => {
    await charge(member.bpId, '5')
    const { id } = await ordered(member, name)
    await member.client.call(orders.pay, { params: { id } })
    return until(async () => {
      const order = await member.client.call(orders.get, { params: { id } })
      return order.status === 'delivered' && order
    }, 'the volume')
  }

  test('is paid in and lent by administrators', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST .*\/adjustments$/)
    const { bpId, organisation } = await market.member()
    await charge(bpId, '1')
    await signIn(context, 'admin', market.url)
    await page.goto(`${market.url}/account?keyword=${organisation}`)
    const row = rowOf(page, organisation)
    // A head stands above its numbers, also where it sorts them: at their end, and not at the other side of the column.
    await expect(row).toBeVisible()
    const head = page.getByRole('columnheader', { name: /^余额/ })
    const [column, sorter] = [await head.boundingBox(), await head.locator('.ant-table-column-sorter').boundingBox()]
    expect((column?.x ?? 0) + (column?.width ?? 0) - (sorter?.x ?? 0) - (sorter?.width ?? 0)).toBeLessThan(24)
    await button(row, '充值').click()
    await expect(dialog(page)).toContainText(`为“${organisation}”充值`)
    await fill(dialog(page), { 金额: '12.34', 备注: '线下收款' })
    await accessible(page, 'paying in')
    await button(dialog(page), '充值').click()
    await expect(toast(page, '已充值')).toBeVisible()
    await expect(row).toContainText('13.34')
    await button(row, '调整').click()
    await fill(dialog(page), { 金额: '-20', 原因: '重复入账' })
    await button(dialog(page), '调整').click()
    await expect(dialog(page)).toContainText('余额不足，请充值')
    await fill(dialog(page), { 金额: '-3' })
    await accessible(page, 'correcting an account')
    await button(dialog(page), '调整').click()
    await expect(toast(page, '已调整')).toBeVisible()
    await expect(row).toContainText('10.34')
    await button(row, '信用额度').click()
    await expect(dialog(page)).toContainText('还可以在额度内继续消费')
    await fill(dialog(page), { 信用额度: '100' })
    await button(dialog(page), '保存').click()
    await expect(toast(page, '信用额度已设置')).toBeVisible()
    await expect(row).toContainText('110.34')
    expect(await market.admin.call(accounts.wallet, { params: { id: bpId } })).toMatchObject({ balance: '10.34', credit_limit: '100.00' })
  })

  test('waits for an order, which is cancelled or paid', async ({ page, context }) => {
    const member = await market.member()
    await charge(member.bpId, '5')
    const [never, later] = [await ordered(member, newName('never')), await ordered(member, newName('later'))]
    await signIn(context, member.account, market.url)
    await page.goto(`${market.url}/order?status=unpaid`)
    await button(rowOf(page, never.resource.name), '取消订单').click()
    await expect(dialog(page)).toContainText('取消后不能再支付')
    await button(dialog(page), '取消订单').click()
    await expect(toast(page, `订单 ${never.number} 已取消`)).toBeVisible()
    await expect(rowOf(page, never.resource.name)).toHaveCount(0)
    await button(rowOf(page, later.resource.name), '支付').click()
    await dialog(page).getByRole('button', { name: '支付 ¥5.00' }).click()
    await expect(toast(page, new RegExp(`订单 ${later.number} 已支付`))).toBeVisible()
    await page.goto(`${market.url}/order`)
    await expect(rowOf(page, never.resource.name)).toContainText('已取消')
    await expect(rowOf(page, later.resource.name)).toContainText('已交付')
  })

  test('is not asked for what has no price for that time', async ({ page, context }) => {
    const member = await market.member()
    const order = await paid(member, newName('kept'))
    await signIn(context, member.account, market.url)
    await page.goto(`${market.url}/nextStack/volumes/add`)
    await page.getByText('包年', { exact: true }).click()
    const refused = page.getByText('产品未定价：云硬盘容量没有所选时长的价格，不能下单。')
    await expect(refused).toBeVisible()
    await expect(button(page, '下单并支付')).toBeDisabled()
    await accessible(page, 'no price for a year')
    await shot(page, 'unorderable')
    await page.getByText('包月', { exact: true }).click()
    await expect(button(page, '下单并支付')).toBeEnabled()
    await expect(refused).toHaveCount(0)
    await page.goto(`${market.url}/orderdesc/${order.id}`)
    await expect(page.locator('.or-total')).toHaveText('合计 ¥5.00')
    await button(page.locator('.frame-head-actions'), '续费').click()
    await dialog(page).getByText('包年', { exact: true }).click()
    await expect(refused).toBeVisible()
    await expect(button(dialog(page), '去支付')).toBeDisabled()
    await shot(page, 'unrenewable')
  })

  test('that was paid in advance is not lost with what is deleted, and its owner is told', async ({ page, context, trouble }) => {
    // What is paid in advance of what is deleted.
    trouble.expect(/^404 GET \/api\/bill\/v1\/prepaid\//)
    const member = await market.member()
    const order = await paid(member, newName('gone'))
    const second = await paid(member, newName('gone'))
    const hourly = newName('hourly')
    const { id } = await member.client.call(volumes.create, { body: { cloud_id: cloudId, name: hourly, size_bytes: gib } })
    await until(async () => (await member.client.call(volumes.get, { params: { id } })).status === 'available', 'the volume')
    await signIn(context, member.account, market.url)
    await page.goto(`${market.url}/nextStack/volumes`)
    await more(rowOf(page, hourly), '删除')
    await expect(dialog(page)).toContainText('删除')
    await expect(dialog(page)).not.toContainText('已预付')
    await button(dialog(page), '取消').click()
    await page
      .getByRole('checkbox', { name: /全选|Select all/ })
      .first()
      .check()
    await button(page.locator('.zs-batch'), '删除').click()
    await expect(dialog(page)).toContainText('其中 2 个已预付。删除不会自动退款')
    await shot(page, 'lost-many')
    await button(dialog(page), '取消').click()
    await expect(dialog(page)).toHaveCount(0)
    await page.reload()
    await more(rowOf(page, order.resource.name), '删除')
    await expect(dialog(page)).toContainText(/已预付到 \d{4}-\d\d-\d\d .*删除不会自动退款/)
    await accessible(page, 'what deleting costs')
    await shot(page, 'lost')
    await dialog(page).getByRole('link', { name: '查看订单并退订' }).click()
    await expect(page).toHaveURL(new RegExp(order.id))

    // As the confirmation says, the order gives the rest back afterwards, too.
    await member.client.call(volumes.delete, { params: { id: second.resource.id ?? '' } })
    await page.goto(`${market.url}/orderdesc/${second.id}`)
    await expect(page.getByText('资源已删除')).toBeVisible()
    await button(page.locator('.frame-head-actions'), '退订').click()
    await expect(dialog(page)).toContainText('¥4.99')
    await button(dialog(page), '退订').click()
    await expect(page.locator('.zs-status').first()).toHaveText('已退款')
  })

  test('is quoted to administrators as its owner pays it', async ({ page, context }) => {
    const member = await market.member()
    await market.admin.call(discounts.create, { body: { name: newName('half'), fraction: '0.5', bp_id: member.bpId } })
    const order = await paid(member, newName('theirs'))
    await signIn(context, 'admin', market.url)
    await page.goto(`${market.url}/nextStack/volumes/detail/${order.resource.id ?? ''}`)
    await button(page.locator('.frame-head-actions'), '扩容').click()
    // 10 GB, and 20 GB afterwards.
    await expect(dialog(page)).toContainText('¥0.05 / 小时')
    await expect(dialog(page)).toContainText('原价 ¥0.20')
    await expect(dialog(page)).toContainText('约 ¥72.00 / 月（720 小时）')
    await shot(page, 'discounted')
    await page.goto(`${market.url}/orderdesc/${order.id}`)
    await button(page.locator('.frame-head-actions'), '续费').click()
    await expect(dialog(page)).toContainText('¥2.50')
  })

  test('is named where an instance is made of a snapshot', async ({ page, context }) => {
    const { account, client } = await market.member()
    const [image] = (await client.call(images.list, { query: { cloud_id: cloudId, type: 'container' } })).items
    const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
    const [flavor, larger] = (await client.call(flavors.list)).items
      .toSorted((one, other) => one.cpu_cores - other.cpu_cores)
      .filter(({ cpu_cores }, at, all) => cpu_cores !== all[at - 1]?.cpu_cores)
    const name = newName('source')
    const { items } = await client.call(vms.create, {
      body: { cloud_id: cloudId, name, type: 'container', image_fingerprint: image?.fingerprint, network: network?.name, flavor_id: flavor?.id, password },
    })
    const id = items[0]?.id ?? ''
    await until(async () => (await client.call(vms.get, { params: { id } })).status === 'running', 'the instance')
    const kept = await client.call(snapshots.create, { body: { vm_id: id, name: newName('snap') } })
    await until(async () => (await client.call(snapshots.get, { params: { id: kept.id } })).status === 'available', 'the snapshot')
    await signIn(context, account, market.url)
    await page.goto(`${market.url}/nextStack/snaps`)
    await button(rowOf(page, kept.name), '克隆').click()
    const price = dialog(page).getByRole('region', { name: '费用' })
    const hourly = (cores = 0): string => `¥${(cores * 0.1).toFixed(2)} / 小时`
    await expect(price).toContainText(hourly(flavor?.cpu_cores))
    await accessible(page, 'a clone with its price')
    await dialog(page).getByLabel('规格', { exact: true }).click()
    await page
      .locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: larger?.name ?? '' })
      .first()
      .click()
    await expect(price).toContainText(hourly(larger?.cpu_cores))
    await shot(page, 'clone')
  })

  test('is invoiced, unless that is rejected or withdrawn', async ({ page, context, browser }) => {
    const member = await market.member()
    await paid(member, newName('billed'))
    const title = await member.client.call(invoiceTitles.create, { body: { kind: 'company', name: '深圳某某科技有限公司', tax_number: '914403001922038216' } })
    await signIn(context, member.account, market.url)
    const ask = async (): Promise<void> => {
      await page.goto(`${market.url}/fund?tab=invoices`)
      await button(page, '申请开票').first().click()
      const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Shanghai' }).format()
      for (const end of ['开始日期', '结束日期']) await fillDate(dialog(page), end, today)
      await expect(dialog(page)).toContainText('该期间未开票的消费 ¥5.00')
      await dialog(page).getByLabel('抬头', { exact: true }).click()
      await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: title.name }).click()
      await button(dialog(page), '提交申请').click()
      await expect(rowOf(page, '待开具')).toBeVisible()
    }
    await ask()
    const desk = await browser.newContext({ locale: 'zh-CN', timezoneId: 'Asia/Shanghai' })
    await signIn(desk, 'admin', market.url)
    const office = await desk.newPage()
    await office.goto(`${market.url}/fund?tab=invoices`)
    const asked = rowOf(office, member.organisation)
    await more(asked, '驳回')
    await expect(dialog(office)).toContainText('所涉消费可以重新申请开票')
    await fill(dialog(office), { 原因: '税号与抬头不符' })
    await button(dialog(office), '驳回').click()
    await expect(toast(office, '申请已驳回')).toBeVisible()
    await desk.close()
    await expect(rowOf(page, '已驳回')).toContainText('税号与抬头不符')

    await ask()
    await button(rowOf(page, '待开具'), '撤回').click()
    await button(dialog(page), '撤回').click()
    await expect(toast(page, '申请已撤回')).toBeVisible()
    await expect(rowOf(page, '已撤回')).toBeVisible()
    await expect(rowOf(page, '待开具')).toHaveCount(0)
  })

  test('has a budget for one product', async ({ page, context }) => {
    const member = await market.member()
    await market.usesProduct(member.bpId, productId, '1')
    const name = newName('budget')
    await signIn(context, member.account, market.url)
    await page.goto(`${market.url}/monthOverview?tab=budgets`)
    await button(page, '新建预算').first().click()
    await fill(dialog(page), { 名称: name, 每月预算: '80' })
    await dialog(page).getByLabel('一个产品').check()
    await dialog(page).getByRole('combobox', { name: '产品' }).click()
    await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: product }).click()
    await accessible(page, 'a budget for a product')
    await button(dialog(page), '保存').click()
    await expect(toast(page, '预算已保存')).toBeVisible()
    await expect(rowOf(page, name)).toContainText(`产品 ${product}`)
  })
})
