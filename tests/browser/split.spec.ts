import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { splitProviders } from '@zhisuan/contract/split/provider'
import pg from 'pg'
import { startBank, type TestBank } from '../../apps/server/src/testing/payout-bank.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, type Client, startAtOrigin, type RunningServer } from '../support/server.ts'
import { accessible, act, button, dialog, heading, pick, rowOf, shot, visit } from './console.ts'
import { field, fill } from './forms.ts'
import { lastMonth } from './paidOut.ts'
import { staff } from './people.ts'
import { expect, signIn, test, toast } from './test.ts'

test.describe('the split centre', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let origin: string
  let admin: Client
  let database: pg.Client
  let bank: TestBank | undefined
  const provider = randomUUID()
  const month = lastMonth()

  test.beforeAll(async () => {
    data = temporaryFolder('browser-split')
    ;({ server, origin } = await startAtOrigin(join(data.path, 'server'), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' }))
    admin = await asAdministrator(server)
    database = new pg.Client({ connectionString: server.databaseUrl })
    await database.connect()
    await database.query(
      `insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values ($1, null, '东数算力', '王工', '', 'verified', '')`,
      [provider],
    )
    // What was used of its machines: some hours of last month, and of these days.
    for (let hour = 0; hour < 60; hour++)
      await database.query(
        `insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
         values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $1, 1, 3600, 10000, 'market.card', 'o', 1250000001, $2)`,
        [
          hour < 30 ? `${month}-10T${String(hour % 24).padStart(2, '0')}:00:00+08:00` : new Date(Date.now() - hour * 3_600_000),
          JSON.stringify({ provider_id: provider, cards: [{ uuid: 'GPU-1', model: hour % 3 === 0 ? 'NVIDIA H200' : 'NVIDIA A100' }] }),
        ],
      )
  })
  test.afterAll(async () => {
    await bank?.close()
    await database?.end()
    await server?.stop()
    data.remove()
  })

  test('a contract is written, tried and signed; a month is split, confirmed by its provider and paid', async ({ page, context, browser, trouble }) => {
    // Parts that are no whole.
    trouble.expect(/^400 POST \/api\/split\/v1\/contracts$/)
    const [supporter, theirs] = [await staff(admin, server.url, 'OPERATION_SUPPORTER'), await staff(admin, server.url, 'PROVIDER')]
    await admin.call(splitProviders.bind, { params: { id: provider }, body: { user_id: theirs.id } })
    await signIn(context, supporter, origin)

    await test.step('a contract', async () => {
      await page.goto(`${origin}/separateAccountingSystem/provider`)
      await expect(rowOf(page, '东数算力')).toContainText('已核验')
      await accessible(page, 'providers')
      await shot(page, 'split-providers')
      await visit(page, `${origin}/separateAccountingSystem/management`)
      await button(page, '新建合同').first().click()
      await fill(dialog(page), { 合同名称: '东数-2026', 从哪个月起: month })
      await pick(dialog(page), '算力供应商', '东数算力')
      await button(dialog(page), '添加阶梯').click()
      const second = dialog(page).getByRole('group', { name: '分账比例 2' })
      await second.getByLabel('基数超过', { exact: true }).fill('100')
      await second.getByLabel('平台（%）', { exact: true }).fill('20')
      await second.getByLabel('算力供应商（%）', { exact: true }).fill('79')
      await button(dialog(page), '新建合同').click()
      // 99 % are no whole.
      await expect(dialog(page)).toContainText('合计须为100%')
      await second.getByLabel('算力供应商（%）', { exact: true }).fill('80')
      await accessible(page, 'the form of a contract')
      await shot(page, 'split-contract-form')
      await button(dialog(page), '新建合同').click()
      await expect(heading(page, '东数-2026')).toBeVisible()
      await act(page, '试算')
      await field(dialog(page), '试算月份').fill(month)
      await button(dialog(page), '开始试算').click()
      await expect(dialog(page)).toContainText('¥300.00')
      await shot(page, 'split-try')
      await button(dialog(page), '取消').click()
      await act(page, '签署')
      await button(dialog(page), '签署').click()
      await expect(toast(page, '合同已签署')).toBeVisible()
      await accessible(page, 'a contract')
      await shot(page, 'split-contract')
    })

    await test.step('a month is split', async () => {
      await visit(page, `${origin}/separateAccountingSystem/record`)
      await button(page, '按月分账').first().click()
      await pick(dialog(page), '合同', '东数-2026')
      await field(dialog(page), '月份').fill(month)
      await button(dialog(page), '按月分账').click()
      await expect(rowOf(page, month)).toContainText('等待确认')
      await accessible(page, 'what was split')
      await shot(page, 'split-runs')
      await rowOf(page, month).getByRole('button', { name: '查看明细' }).click()
      await expect(dialog(page)).toContainText('NVIDIA H200')
      await accessible(page, 'a statement')
      await shot(page, 'split-statement')
      await page.keyboard.press('Escape')
    })

    await test.step('its provider confirms it, and sees what was sold', async () => {
      const own = await browser.newContext()
      const mine = await own.newPage()
      await signIn(own, theirs, origin)
      await mine.goto(`${origin}/separateAccountingSystem/providers_record`)
      await rowOf(mine, month).getByRole('button', { name: '确认账单' }).click()
      await button(dialog(mine), '确认账单').click()
      await expect(rowOf(mine, month)).toContainText('已确认')
      await shot(mine, 'split-own')
      await mine.goto(`${origin}/separateAccountingSystem/resources`)
      await expect(mine.getByRole('row', { name: /NVIDIA A100/ }).first()).toBeVisible()
      await accessible(mine, 'what was sold')
      await shot(mine, 'split-resources')
      await own.close()
    })

    const keeping = await browser.newContext()
    const other = await keeping.newPage()
    await test.step('its provider says where the money goes, and another approves it', async () => {
      const own = await browser.newContext()
      const mine = await own.newPage()
      await signIn(own, theirs, origin)
      await mine.goto(`${origin}/separateAccountingSystem/providers_record?tab=bank`)
      await button(mine, '变更收款账户').first().click()
      await fill(dialog(mine), { 户名: '东数算力有限公司', 开户银行: '工商银行', 银行账号: '6222 0000 1111 2222' })
      await accessible(mine, 'the form of bank details')
      await shot(mine, 'split-bank-form')
      await button(dialog(mine), '提交变更').click()
      await expect(rowOf(mine, '2222')).toContainText('等待生效')
      await shot(mine, 'split-own-bank')
      await own.close()
      await signIn(keeping, 'admin', origin)
      await other.goto(`${origin}/separateAccountingSystem/provider/${provider}?tab=bank`)
      await rowOf(other, '2222').getByRole('button', { name: '批准收款账户' }).click()
      await button(dialog(other), '批准收款账户').click()
      await expect(rowOf(other, '2222')).toContainText('当前使用')
      await accessible(other, 'bank details')
      await shot(other, 'split-bank')
    })

    await test.step('it is paid through the channel, and its provider sees that', async () => {
      const keys = { sign_type: 'HMAC-SHA256', key: 'a-secret-of-both-sides', gateway_public_key: '' } as const
      bank = await startBank(keys, 'm-1', () => new Date())
      await visit(other, `${origin}/separateAccountingSystem/record`)
      await button(other, '付款通道').click()
      await dialog(other).getByLabel(keys.sign_type, { exact: true }).check()
      await fill(dialog(other), { 通道地址: bank.url, 商户号: 'm-1', 共享密钥: keys.key })
      await accessible(other, 'the form of the channel')
      await shot(other, 'split-channel')
      await button(dialog(other), '保存').click()
      await expect(toast(other, '已提交，等待另一位人员批准')).toBeVisible()
      await page.goto(`${origin}/separateAccountingSystem/record`)
      await accessible(page, 'what waits to be the channel')
      await shot(page, 'split-channel-waiting')
      await button(page, '批准通道变更').click()
      await shot(page, 'split-channel-approve')
      await button(dialog(page), '批准通道变更').click()
      await expect(toast(page, '付款通道已变更')).toBeVisible()
      await page.goto(`${origin}/separateAccountingSystem/provider/${provider}?tab=payouts`)
      await expect(page.getByText('¥300.00').first()).toBeVisible()
      await button(page, '付款').first().click()
      await expect(field(dialog(page), '付款金额')).toHaveValue('300.00')
      await shot(page, 'split-payout-form')
      await button(dialog(page), '付款').click()
      await expect(rowOf(page.locator('.ant-table'), '300.00')).toContainText('已付款')
      expect([...bank.payments.values()]).toMatchObject([{ amount: '300.00', account: '6222000011112222' }])
      await expect(page.locator('.sp-tiles div', { hasText: '已付' })).toContainText('¥300.00')
      await accessible(page, 'payouts of a provider')
      await shot(page, 'split-payouts')
      const own = await browser.newContext()
      const mine = await own.newPage()
      await signIn(own, theirs, origin)
      await mine.goto(`${origin}/separateAccountingSystem/providers_record`)
      await expect(rowOf(mine, month)).toContainText('已付款')
      await mine.getByRole('tab', { name: '付款' }).click()
      await expect(rowOf(mine.locator('.ant-table'), '300.00')).toContainText('已付款')
      await accessible(mine, 'its own payouts')
      await shot(mine, 'split-own-payouts')
      await own.close()
    })

    await test.step('the file of a day names a payment that is none of ours, which one person accepts and another agrees with', async () => {
      const yesterday = new Date(Date.now() + 8 * 3_600_000 - 86_400_000).toISOString().slice(0, 10)
      const [paid] = [...(bank?.payments.keys() ?? [])]
      const at = `${yesterday}T10:00:00+08:00`
      // And one that failed there, of which we believe that it is paid.
      const lines = [`${randomUUID()},T-77,88.00,done,${at}`, `${paid},T-1,300.00,failed,${at}`]
      if (bank !== undefined) bank.file = (day) => (day === yesterday ? lines : [])
      await page.goto(`${origin}/separateAccountingSystem/record?tab=cases`)
      await button(page, '重新核对').first().click()
      await field(dialog(page), '日期').fill(yesterday)
      await button(dialog(page), '重新核对').click()
      await expect(rowOf(page, 'T-77')).toContainText('仅通道有')
      await accessible(page, 'differences')
      await shot(page, 'split-cases')
      // What an exit would change stands there before anybody proposes it.
      await rowOf(page, '东数算力').getByRole('button', { name: '提出处理意见' }).click()
      await dialog(page).getByLabel('认定未付').check()
      await expect(dialog(page).getByRole('status')).toContainText('+¥300.00')
      await accessible(page, 'what an exit changes')
      await shot(page, 'split-exit-form')
      await button(dialog(page), '取消').click()
      await rowOf(page, 'T-77').getByRole('button', { name: '提出处理意见' }).click()
      await field(dialog(page), '原因').fill('通道测试付款，已与银行确认')
      await shot(page, 'split-case-form')
      await button(dialog(page), '提交复核').click()
      await expect(rowOf(page, 'T-77')).toContainText('等待复核')
      await other.goto(`${origin}/separateAccountingSystem/record?tab=cases`)
      await rowOf(other, 'T-77').getByRole('button', { name: /更多/ }).click()
      await other.getByRole('menuitem', { name: '同意处理意见' }).click()
      await shot(other, 'split-agree-form')
      await button(dialog(other), '同意处理意见').click()
      await expect(rowOf(other, 'T-77')).toContainText('已关闭')
    })

    await test.step('administrators see what was sold', async () => {
      await other.goto(`${origin}/separateAccountingSystem/operationaldata`)
      await other.getByRole('link', { name: 'NVIDIA H200' }).click()
      await expect(other).toHaveURL(/resourcedata/)
      await expect(other.getByRole('row', { name: /NVIDIA H200/ }).first()).toBeVisible()
      await shot(other, 'split-model')
      await keeping.close()
    })
  })
})
