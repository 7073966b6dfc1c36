import type { Page } from '@playwright/test'
import { accounts } from '@zhisuan/contract/bill/account'
import type { quotes } from '@zhisuan/contract/bill/catalogue'
import { meters } from '@zhisuan/contract/bill/meter'
import { toDecimal, toMinor } from '@zhisuan/contract/bill/money'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { BodyInput, ResponseOf } from '@zhisuan/contract/define'
import { volumes } from '@zhisuan/contract/nextstack/volume'
import { users } from '@zhisuan/contract/ums/user'
import { administratorPassword, Client, until } from '../support/server.ts'
import { accessible, button, dialog, more, pick, rowOf, savedBy } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { PlayedCloud, playedPassword } from './playedCloud.ts'
import type { Account } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const clientOf = async ({ username, password }: Pick<Account, 'username' | 'password'>): Promise<Client> => {
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, password)
  return client
}
const narrow = async (page: Page): Promise<void> => {
  await page.setViewportSize({ width: 390, height: 800 })
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
}

/** A price that really held would be charged to whoever else keeps something here: what the server would answer is given instead. */
const priced = (page: Page, yuanOfUnit: bigint) =>
  page.route('**/api/bill/v1/quotes', async (route) => {
    // The console sends what the contract says.
    const { items } = route.request().postDataJSON() as BodyInput<typeof quotes.ask>
    const lines = items.map(({ meter, variant = '', quantity }) => {
      const [units, id] = [quantity / meters[meter].perUnit, '0198a000-0000-7000-8000-000000000004']
      const amount = toDecimal(yuanOfUnit * BigInt(units))
      return {
        meter,
        variant,
        sku: { id, name: '容量' },
        quantity,
        parts: [{ units: String(units), price: toDecimal(yuanOfUnit) }],
        fraction: '1.00',
        list_amount: amount,
        amount,
      }
    })
    const amount = toDecimal(lines.reduce((sum, line) => sum + toMinor(line.amount), 0n))
    const json: ResponseOf<typeof quotes.ask> = { period: 'hour', count: 1, list_amount: amount, amount, lines, unpriced: [] }
    await route.fulfill({ json })
  })

test('what is kept has its price where it is made', { tag: '@journey' }, async ({ page, context }) => {
  const person = await register(stage().url, newName('storer'), newName('org'))
  const client = await clientOf(person)
  const name = newName('vol')
  const { id } = await client.call(volumes.create, { body: { cloud_id: stage().cloudId, name, size_bytes: 20 * 2 ** 30 } })
  await until(async () => (await client.call(volumes.get, { params: { id } })).status === 'available', 'the volume')
  await signIn(context, person)
  const price = dialog(page).getByRole('region', { name: '费用' })

  await page.goto('/nextStack/volumesSnap')
  await button(page, '创建快照').first().click()
  await expect(dialog(page)).toBeVisible()
  await expect(price).toHaveCount(0)
  await pick(dialog(page), '云硬盘', name)
  await expect(price).toContainText('未定价')

  await priced(page, 1_000_000n)
  await page.reload()
  await button(page, '创建快照').first().click()
  await pick(dialog(page), '云硬盘', name)
  await expect(price).toContainText('¥0.20 / 小时')
  await expect(price).toContainText('约 ¥144.00 / 月')
  await expect(price).toContainText('按 20 GB 计费，删除后不再计费')
  await button(price, '价格明细').click()
  await expect(page.getByText('20 GB × 0.01', { exact: true })).toBeVisible()
  await page.keyboard.press('Escape')
  await accessible(page, 'a snapshot with its price')
  await narrow(page)

  await page.goto('/nextStack/privateImage')
  await button(page, '创建镜像').first().click()
  await dialog(page).getByText('从地址导入').click()
  await expect(price).toContainText('¥0.01 / 小时')
  await expect(price).toContainText('上面是每 GB 的费用')
})

test('what is made on an OpenStack has its price where it is made, grown and resized', async ({ page, context, trouble }) => {
  // The played cloud has no zones.
  trouble.expect(/^404 GET \/api\/compute\/v1\/clouds\/[^/]+\/zones/)
  const played = new PlayedCloud()
  const auth_url = await played.open()
  const admin = await clientOf({ username: 'admin', password: administratorPassword })
  const connection = {
    type: 'openstack-password' as const,
    auth_url,
    interface: 'public' as const,
    region: 'RegionOne',
    username: 'admin',
    password: playedPassword,
    user_domain: 'Default',
    project: 'admin',
    project_domain: 'Default',
  }
  const { cloud_id } = await admin.call(clouds.create, { body: { name: newName('华北'), product: 'openstack', connection } })
  const look = async (what: string): Promise<void> => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await accessible(page, what)
    await narrow(page)
    await page.setViewportSize({ width: 1440, height: 900 })
  }
  try {
    await signIn(context, 'admin')
    // What looks for barriers opens a page of nowhere beside, which may keep nothing.
    await context.addInitScript((id) => location.protocol.startsWith('http') && localStorage.setItem('zhisuan.cloud', id), cloud_id)
    await page.goto('/volumeadd')
    await expect(page.getByText('未定价').first()).toBeVisible()

    await priced(page, 1_000_000n)
    await page.reload()
    await expect(page.getByText('¥0.10 / 小时')).toBeVisible()
    const asked = page.waitForRequest((request) => request.url().endsWith('/quotes') && String(request.postData()).includes('ssd'))
    await page.getByLabel('类型', { exact: true }).click()
    await page.locator('.ant-select-item-option', { hasText: 'ssd' }).click()
    expect((await asked).postDataJSON()).toMatchObject({ items: [{ meter: 'volume.size', variant: 'ssd', quantity: 10 * 2 ** 30 }] })
    await look('a volume with its price')

    await page.goto('/imageadd')
    await expect(page.getByRole('region', { name: '费用' })).toContainText('/ 小时')
    await look('an image with its price')

    await page.goto('/instanceadd')
    await page.getByRole('radio', { name: /played-flavor/ }).check()
    // 2 processors, 4 GB of memory, and a disk of 20 GB.
    await expect(page.getByText('¥0.26 / 小时', { exact: true })).toBeVisible()
    await expect(page.getByRole('row', { name: /played-flavor/ })).toContainText('¥0.26 / 小时')
    await look('an instance with its price')

    await page.goto('/volume')
    await button(rowOf(page, 'played-volume'), '扩容').click()
    await expect(dialog(page).getByText('¥0.20 / 小时').first()).toBeVisible()
    await expect(dialog(page).getByText('¥0.40 / 小时')).toBeVisible()
    await look('a volume that is grown')
    await page.goto('/volume')
    await more(rowOf(page, 'played-volume'), '更改类型')
    await expect(dialog(page).getByText('¥0.20 / 小时').first()).toBeVisible()
    await look('a volume of another type')
    await page.goto('/volume')
    await more(rowOf(page, 'played-volume'), '制作镜像')
    await expect(dialog(page).getByRole('region', { name: '费用' })).toContainText('/ 小时')
    await look('an image of a volume')

    await page.goto('/instance')
    await more(rowOf(page, 'played-vm'), '调整规格')
    await expect(dialog(page).getByText('¥0.26 / 小时').first()).toBeVisible()
    await look('an instance that is resized')

    await page.goto('/floatingip')
    await button(page, '分配浮动 IP').first().click()
    await expect(dialog(page).getByText('¥0.01 / 小时')).toBeVisible()
    await look('an address with its price')

    await page.goto('/backup')
    await button(page, '创建备份').first().click()
    await pick(dialog(page), '云硬盘', 'played-volume')
    await expect(dialog(page).getByRole('region', { name: '费用' })).toContainText('¥0.20 / 小时')
    await look('a backup with its price')

    await page.goto('/backup')
    await button(rowOf(page, 'played-backup'), '恢复').click()
    await expect(dialog(page).getByRole('region', { name: '费用' })).toContainText('¥0.20 / 小时')
    await look('a backup that is restored to a new volume')
  } finally {
    await admin.call(clouds.delete, { params: { id: cloud_id }, query: { force: 'true' } })
    played.close()
  }
})

test('orders, top-ups, and income and expense are saved as they are filtered', async ({ page, context }) => {
  const person = await register(stage().url, newName('saver'), newName('org'))
  const bpId = (await (await clientOf(person)).call(users.current)).bp_id ?? ''
  const admin = await clientOf({ username: 'admin', password: administratorPassword })
  await admin.call(accounts.charge, { params: { id: bpId }, body: { amount: '12.5', note: '=1+1' } })
  await signIn(context, person)
  const saved = (name: '导出 CSV' | '导出 Excel') => savedBy(page, () => button(page, name).click())

  await page.goto('/fund?entries.kind=topup')
  const entries = await saved('导出 CSV')
  expect(entries.name).toMatch(/^收支明细-org-\d+-\d{4}-\d\d-\d\d\.csv$/)
  expect(entries.content.toString('utf8')).toMatch(/充值,可用资金,12\.50,12\.50,'=1\+1,admin,/)

  await page.goto('/charge-records')
  const topups = await saved('导出 CSV')
  expect(topups.name).toMatch(/^充值记录-/)
  expect(topups.content.toString('utf8')).toContain('管理员充值')

  await page.goto('/order?status=unpaid')
  const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/orders/exports'))
  const orders = await saved('导出 Excel')
  expect((await asked).postDataJSON()).toEqual({ format: 'xlsx', status: 'unpaid' })
  expect([orders.name, orders.content.subarray(0, 2).toString()]).toEqual([expect.stringMatching(/^订单-.*\.xlsx$/), 'PK'])
})

test('a budget is told by what the month is expected to come to', async ({ page, context }) => {
  const name = newName('forecast')
  await signIn(context, await register(stage().url, newName('planner'), newName('org')))
  await page.goto('/monthOverview')
  await page.getByRole('tab', { name: '预算' }).click()
  await button(page, '新建预算').first().click()
  await fill(dialog(page), { 名称: name, 每月预算: '100' })
  await dialog(page).getByLabel('预计提醒比例（%）').fill('90')
  await page.keyboard.press('Enter')
  // Its list goes away with the focus.
  await dialog(page).getByText('新建预算').click()
  await expect(page.locator('.ant-select-dropdown:visible')).toHaveCount(0)
  await accessible(page, 'a budget by its forecast')
  await button(dialog(page), '保存').click()
  await expect(toast(page, '预算已保存')).toBeVisible()
  // A job looks at it soon.
  const forecast = rowOf(page, name).locator('[data-label="预计全月"]')
  await expect(forecast).toHaveText('¥0.000%')
  await button(rowOf(page, name), '修改').click()
  await expect(dialog(page).locator('.ant-form-item', { hasText: '预计提醒比例' }).locator('.ant-select-selection-item')).toHaveText(['90'])
})
