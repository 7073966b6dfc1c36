import type { Page } from '@playwright/test'
import type { MonthOverview, ResourceMonth, UsageForecast, UsageLineShape } from '@zhisuan/contract/bill/consume'
import { accessible, button, dialog, pick, savedBy } from './console.ts'
import { expect, signIn, test } from './test.ts'

const ids = {
  vm: '0198a000-0000-7000-8000-000000000001',
  organisation: '0198a000-0000-7000-8000-000000000002',
  product: '0198a000-0000-7000-8000-000000000003',
  sku: '0198a000-0000-7000-8000-000000000004',
  price: '0198a000-0000-7000-8000-000000000005',
  project: '0198a000-0000-7000-8000-000000000006',
}
const at = new Date(Date.now() + 8 * 3_600_000)
const month = at.toISOString().slice(0, 7)
const nextMonth = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)).toISOString().slice(0, 7)
const resource = { id: ids.vm, name: '训练任务-一个名字很长很长很长很长很长很长的云主机', type: 'vm', cloud_id: null }
const organisation = { id: ids.organisation, name: '浏览器测试组织' }
const product = { id: ids.product, name: '云主机' }
const sku = { id: ids.sku, name: 'vCPU 按小时' }
const from = `${month}-01T00:00:00.000Z`

const overview: MonthOverview = {
  month,
  total: '1234.56789012',
  previous_total: '1000.00',
  prepaid: '88.8888',
  days: [
    { day: `${month}-01`, amount: '1000.50' },
    { day: `${month}-02`, amount: '234.06789012' },
  ],
  products: [{ ...product, amount: '1234.56789012' }],
  products_by_day: [
    { day: `${month}-01`, product_id: ids.product, amount: '1000.50' },
    { day: `${month}-02`, product_id: ids.product, amount: '234.06789012' },
  ],
  projects: [
    { id: ids.project, name: '大模型', amount: '1000.00' },
    { id: null, name: '', amount: '234.56789012' },
  ],
  resources: [{ ...resource, amount: '1234.56789012' }],
  resource_count: 1,
}
const forecast: UsageForecast = {
  month,
  next_month: nextMonth,
  rated_until: from,
  used: '1234.56789012',
  hourly: '2.50',
  current: { expected: '2000.00', low: '1800.00', high: '2200.00' },
  next: { expected: '1860.00', low: '1500.00', high: '2220.00' },
  days_known: 12,
  days: [{ day: `${month}-03`, amount: '60.00' }],
  changes: [{ at: `${nextMonth}-01T00:00:00.000Z`, sku, kind: 'price', hourly_before: '0.063', hourly_after: '0.07' }],
}
const line = (id: number): UsageLineShape => ({
  id,
  organisation,
  resource,
  project: null,
  product,
  sku,
  meter: 'vm.vcpu',
  variant: '',
  from,
  seconds: 1800,
  quantity: 6,
  price: { id: ids.price, effective_from: `${month}-01T00:00:00.000Z`, effective_to: null },
  discount: { id: ids.product, name: '老客户', effective_from: from, effective_to: `${nextMonth}-01T00:00:00.000Z` },
  formula: {
    parts: [
      { units: '4', price: '0.063' },
      { units: '2', price: '0.05' },
    ],
    seconds: 1800,
    fraction: '0.85',
  },
  amount: '0.1496',
})
const detail: ResourceMonth = {
  resource,
  organisation,
  ended: { at: from, reason: 'project_deleted' },
  month,
  total: '1234.56789012',
  previous_total: '1000.00',
  meters: [{ meter: 'vm.vcpu', variant: '', sku, seconds: 5400, amount: '1234.56789012', hours: [{ from, amount: '0.1496' }] }],
}

/** Usage is rated when its hour is over, which no test waits for: what the server would answer then is given here. */
async function bills(page: Page): Promise<void> {
  const answer = (path: string, json: (url: URL) => unknown) =>
    page.route(
      (url) => url.pathname === `/api/bill/v1/consumes${path}`,
      (route) => route.fulfill({ json: json(new URL(route.request().url())) }),
    )
  await answer('/summary', (url) =>
    url.searchParams.get('month') === month
      ? overview
      : {
          ...overview,
          month: url.searchParams.get('month'),
          total: '0.00',
          days: [],
          products: [],
          products_by_day: [],
          projects: [],
          resources: [],
          resource_count: 0,
        },
  )
  await answer('/forecast', () => forecast)
  await answer('/monthly', () => ({ items: [{ month, amount: '1234.56789012' }] }))
  await answer('/resources', () => ({ total: 1, items: [{ ...resource, organisation, amount: '1234.56789012', previous_amount: '1300.00' }] }))
  await answer(`/resources/${ids.vm}`, () => detail)
  await answer('', ({ searchParams }) =>
    searchParams.has('after') ? { items: [line(1)], next: null, amount: '0.1496' } : { items: [line(3), line(2)], next: '1795219200.2', amount: '0.4488' },
  )
}
const narrow = async (page: Page): Promise<void> => {
  await page.setViewportSize({ width: 390, height: 800 })
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
}

test('a month is told in all, by day and by what it is of, with what it will come to', async ({ page, context }) => {
  await signIn(context, 'tenantAdmin')
  await bills(page)
  await page.goto('/monthOverview')
  await expect(page.locator('.br-sum')).toHaveText('¥1,234.56')
  await expect(page.getByText('预付订单 ¥88.88（已减退订）')).toBeVisible()
  await expect(page.getByText('比上月多 ¥234.56（23.45%）')).toBeVisible()
  await expect(page.getByRole('img', { name: /每日消费：共 2 天有消费.*最高 \d{4}-\d\d-01 ¥1,000.50/ })).toBeVisible()
  const forecasted = page.getByRole('region', { name: '费用预测' })
  await expect(forecasted).toContainText('¥2,000.00')
  await expect(forecasted).toContainText('80% 的可能在 ¥1,800.00 至 ¥2,200.00 之间')
  await expect(forecasted).toContainText('vCPU 按小时调价')
  await forecasted.getByText('怎么算的').click()
  await expect(forecasted).toContainText('与过去 12 个完整的天一样多')
  await expect(page.getByRole('row', { name: /训练任务/ })).toContainText('-¥65.43210988')
  await accessible(page, 'the overview')
  await narrow(page)
  await button(page, '上个月').click()
  await expect(page.getByText('该月还没有消费').first()).toBeVisible()
  await expect(page).toHaveURL(/month=\d{4}-\d\d/)
})

test('an amount is explained to the single hour', async ({ page, context }) => {
  await signIn(context, 'tenantAdmin')
  await bills(page)
  await page.goto('/monthOverview')
  await page
    .getByRole('row', { name: /训练任务/ })
    .getByRole('link')
    .click()
  await expect(page).toHaveURL(new RegExp(`/consumerdesc/${ids.vm}/${month}`))
  await expect(page.getByRole('img', { name: /每小时金额：1 个小时有用量/ })).toBeVisible()
  await expect(page.getByText('(4 核 × 0.063 + 2 核 × 0.05) × 1800 ÷ 3600 × 0.85').first()).toBeVisible()
  await expect(page.getByText('项目已在云平台上删除')).toBeVisible()
  await accessible(page, 'a resource')
  await button(page.getByRole('row', { name: /1800/ }).first(), '计算过程').click()
  const how = dialog(page)
  for (const step of ['4 核 × 每小时 ¥0.063 = ¥0.252', '各档合计：每小时 ¥0.352', '一小时的 1800 ÷ 3600', '“老客户”，实付 0.85', '= ¥0.1496'])
    await expect(how).toContainText(step)
  await accessible(page, 'how an amount was made')
  await page.keyboard.press('Escape')
  await expect(how).toBeHidden()
  await narrow(page)
})

test('lines are filtered, read on and saved', async ({ page, context }) => {
  await signIn(context, 'tenantAdmin')
  await bills(page)
  await page.goto('/consumerDetails')
  await expect(page.getByText('本页 2 行 · 合计 ¥0.44')).toBeVisible()
  await button(page, '更早的').click()
  await expect(page.getByText('本页 1 行')).toBeVisible()
  await expect(button(page, '更早的')).toBeDisabled()
  await button(page, '回到最新').click()
  const asked = page.waitForRequest((request) => new URL(request.url()).searchParams.get('meter') === 'vm.memory')
  await page.getByLabel('计量项').and(page.locator('input[role=combobox]')).click()
  await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: '内存' }).click()
  await asked
  await expect(page).toHaveURL(/meter=vm\.memory/)
  await accessible(page, 'the lines')
  // A file is saved by the browser itself, past what answers for the server above.
  await page.unrouteAll({ behavior: 'wait' })
  for (const [name, ending] of [
    ['导出 CSV', 'csv'],
    ['导出 Excel', 'xlsx'],
  ] as const) {
    const { name: file, content } = await savedBy(page, () => page.getByRole('button', { name }).click())
    expect(file).toBe(`消费明细-${month}.${ending}`)
    // Of a person who used nothing: the headings alone.
    expect(content.subarray(0, 2).toString('latin1')).toBe(ending === 'xlsx' ? 'PK' : '\xEF\xBB')
  }
  await narrow(page)
})

test('an administrator looks at all organisations or at one', async ({ page, context }) => {
  await signIn(context, 'admin')
  await page.goto('/monthOverview')
  const asked = page.waitForRequest((request) => new URL(request.url()).searchParams.has('bp_id'))
  await pick(page, '组织', '浏览器测试组织')
  await asked
  await expect(page.getByRole('img', { name: /近 12 个月/ }).or(page.getByText('该月还没有消费').first())).toBeVisible()
  await expect(page.getByRole('region', { name: '费用预测' })).toContainText('当前每小时')
})
