import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { splitContracts, splitRuns } from '@zhisuan/contract/split/contract'
import { splitProviders } from '@zhisuan/contract/split/provider'
import { users } from '@zhisuan/contract/ums/user'
import type { Role } from '@zhisuan/contract/roles'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, Client, startAtOrigin, type RunningServer } from '../support/server.ts'
import { accessible, act, button, countingClicks, dialog, heading, rowOf, shot } from './console.ts'
import { field } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { password, begin } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

test.describe('statements', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let origin: string
  let admin: Client
  let database: pg.Client
  const [provider, rental, payer, order] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const [model, card, orderNumber] = ['NVIDIA H200', 'GPU-7f3a', '900001']
  const now = new Date(Date.now() + 8 * 3_600_000)
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7)
  let person: { id: string; username: string; password: string }

  const make = async (role: Role): Promise<{ id: string; username: string; password: string }> => {
    const username = newName(role.toLowerCase().slice(0, 8))
    const { user, one_time_password } = await admin.call(users.create, { body: { username, roles: [role] } })
    const client = new Client(server.url, someAddress())
    await client.signIn(username, one_time_password)
    await client.call(users.changePassword, { body: { old_password: one_time_password, password } })
    return { id: user.id, username, password }
  }

  test.beforeAll(async () => {
    data = temporaryFolder('browser-statement')
    ;({ server, origin } = await startAtOrigin(begin(join(data.path, 'server')), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' }))
    admin = await asAdministrator(server)
    database = new pg.Client({ connectionString: server.databaseUrl })
    await database.connect()
    await database.query(
      `insert into market_providers (id, bp_id, name, contact, description, status, created_by_name) values ($1, null, '东数算力', '王工', '', 'verified', '')`,
      [provider],
    )
    await database.query(`insert into organisations (id, name, kind, status) values ($1, '用卡的人', 'company', 'active')`, [payer])
    await database.query(
      `insert into bill_orders (id, number, bp_id, kind, status, resource_type, resource_id, resource_name, period, count, auto_renew, automatic, quote, usage, amount, expires_at, created_by_name, created_at)
       overriding system value values ($4, $3, $1, 'onDemand', 'charging', 'market.rental', $2, 'train-1', 'hour', 1, false, false, '{"list_amount": "0.00", "amount": "0.00", "lines": []}', '{}', 0, now(), '', now())`,
      [payer, rental, orderNumber, order],
    )
    // An hour of last month, and one of yesterday.
    for (const from of [`${month}-10T05:00:00+08:00`, new Date(Math.floor(Date.now() / 3_600_000 - 24) * 3_600_000)])
      await database.query(
        `insert into usage_lines (resource_id, bp_id, product_id, sku_id, price_id, "from", quantity, seconds, fraction, meter, variant, amount, attributes)
         values ($1, $2, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $3, 1, 3600, 10000, 'market.card', 'o', 1250000001, $4)`,
        [rental, payer, from, JSON.stringify({ provider_id: provider, cards: [{ uuid: card, model }] })],
      )
    person = await make('PROVIDER')
    await admin.call(splitProviders.bind, { params: { id: provider }, body: { user_id: person.id } })
    const parties = [
      { kind: 'platform', name: '平台' },
      { kind: 'provider', name: '东数算力' },
    ]
    const contract = await admin.call(splitContracts.create, {
      body: { name: '东数-2026', provider_id: provider, from: month, terms: { parties, steps: [{ above: '0', parts: [300_000, 700_000] }] } },
    })
    await admin.call(splitContracts.sign, { params: { id: contract.id } })
    await admin.call(splitRuns.create, { body: { contract_id: contract.id, period: month } })
  })
  test.afterAll(async () => {
    await database?.end()
    await server?.stop()
    data.remove()
  })

  test('a statement that its provider disputes becomes a work order by a click', async ({ page, context, browser }) => {
    await signIn(context, person, origin)
    await page.goto(`${origin}/separateAccountingSystem/providers_record`)
    const action = async (name: string): Promise<void> => {
      await rowOf(page, month).getByRole('button', { name: /更多/ }).click()
      await page.getByRole('menuitem', { name, exact: true }).click()
    }
    await rowOf(page, month)
      .getByRole('button', { name: '提出异议' })
      .or(rowOf(page, month).getByRole('button', { name: /更多/ }))
      .first()
      .click()
    if ((await dialog(page).count()) === 0) await page.getByRole('menuitem', { name: '提出异议', exact: true }).click()
    await field(dialog(page), '哪里不对').fill('少算了 7f3a 这张卡 3 小时')
    await button(dialog(page), '提出异议').click()
    await expect(toast(page, '异议已提交')).toBeVisible()
    await action('提交工单')
    await expect(field(dialog(page), '标题')).toHaveValue(`“东数-2026”${month} 分账单的异议`)
    await expect(field(dialog(page), '问题描述')).toHaveValue('少算了 7f3a 这张卡 3 小时')
    await expect(dialog(page)).toContainText('分账异议')
    await expect(dialog(page)).toContainText(`东数-2026 ${month}`)
    await accessible(page, 'the form of a work order about a statement')
    await shot(page, 'statement-ticket-form')
    await button(dialog(page), '提交工单').click()
    await expect(heading(page, `“东数-2026”${month} 分账单的异议`)).toBeVisible()
    await expect(page.getByRole('link', { name: `东数-2026 ${month}` })).toBeVisible()
    await shot(page, 'statement-ticket')

    // Those who answer see what it is about, and come there.
    const desk = await browser.newContext()
    const theirs = await desk.newPage()
    await signIn(desk, 'admin', origin)
    await theirs.goto(`${origin}/workOrderlist`)
    await rowOf(theirs, '分账单的异议').getByRole('link').first().click()
    await act(theirs, '受理')
    await expect(toast(theirs, '工单由您处理')).toBeVisible()
    await theirs.getByRole('link', { name: `东数-2026 ${month}` }).click()
    await expect(theirs).toHaveURL(/separateAccountingSystem/)
    await desk.close()
  })

  test('a failed payout becomes a work order by a click', async ({ page, context }) => {
    const bank = randomUUID()
    await database.query(
      `insert into split_bank_details (id, provider_id, sealed, holder, bank, account, counts_from, set_by, set_by_name, created_at)
       values ($1, $2, 'x', '东*', '工商银行', '6222****1234', now(), $1, '', now())`,
      [bank, provider],
    )
    await database.query(
      `insert into split_payouts (id, provider_id, amount, status, four_eyes, bank_id, reference, reason, asked_by, asked_by_name, created_at, claimed_at, ended_at)
       values (gen_random_uuid(), $1, 875000000, 'failed', false, $2, '', '户名与账号不符', $2, '', now(), now(), now())`,
      [provider, bank],
    )
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/separateAccountingSystem/record?tab=payouts`)
    const row = rowOf(page, '户名与账号不符')
    await row.getByRole('button', { name: /更多/ }).click()
    await page.getByRole('menuitem', { name: '提交工单', exact: true }).click()
    await expect(field(dialog(page), '标题')).toHaveValue(/东数算力 的付款 ¥8\.75：/)
    await expect(field(dialog(page), '问题描述')).toHaveValue('户名与账号不符')
    await button(dialog(page), '提交工单').click()
    await expect(heading(page, /东数算力 的付款 ¥8\.75/)).toBeVisible()
    await expect(page.getByRole('link', { name: '东数算力 8.75' })).toBeVisible()
    await shot(page, 'payout-ticket')
  })

  test('a sick card becomes a work order by a click', async ({ page, context }) => {
    const owner = await register(server.url, newName('owner'), newName('cards'))
    const edge = randomUUID()
    const { rows } = await database.query<{ bp_id: string }>(`select bp_id from users where name = $1`, [owner.username])
    const bpId = rows[0]?.bp_id
    await database.query(
      `insert into edges (id, bp_id, name, description, binding, confirm, labels, taints, created_by_name) values ($1, $2, 'node-7', '', 'bound', 'auto', '{}', '[]', '')`,
      [edge, bpId],
    )
    await database.query(`insert into market_nodes (id, bp_id, name) values ($1, $2, 'node-7')`, [edge, bpId])
    await database.query(
      `insert into market_cards (id, edge_id, uuid, "index", model, memory_bytes, driver, health, trouble, trouble_detail) values (gen_random_uuid(), $1, 'GPU-sick', 3, $2, 1, '550', 'sick', 'xid', '79')`,
      [edge, model],
    )
    await signIn(context, owner, origin)
    await page.goto(`${origin}/market/provider?tab=cards`)
    await rowOf(page, 'GPU-sick').getByRole('button', { name: '提交工单' }).click()
    await expect(field(dialog(page), '标题')).toHaveValue(/显卡 NVIDIA H200 故障：.*79/)
    await expect(field(dialog(page), '问题描述')).toHaveValue(/node-7 · 3 号[^]*GPU-sick/)
    await expect(dialog(page)).toContainText('故障报修')
    await shot(page, 'card-ticket-form')
    await button(dialog(page), '提交工单').click()
    await expect(heading(page, /显卡 NVIDIA H200 故障/)).toBeVisible()
    await expect(page.locator('.zs-card').first()).toContainText(`显卡 ${model}`)
    await accessible(page, 'a work order about a card')
    await shot(page, 'card-ticket')
  })

  /** Its card, its order and its hour are there. */
  const isTold = async (page: Page, number = orderNumber): Promise<void> => {
    const row = page.getByRole('row', { name: new RegExp(card) })
    await expect(row).toContainText(number)
    await expect(row).toContainText(/\d{2}-\d{2}.*\d{2}:00/)
  }
  test('from any amount it is three clicks at most to its card, its order and its hour', async ({ page, context, browser }) => {
    await signIn(context, 'admin', origin)
    for (const [from, first] of [
      ['/separateAccountingSystem/record', { role: 'button', name: '查看明细' }],
      ['/separateAccountingSystem/operationaldata', { role: 'link', name: '¥12.50' }],
      ['/separateAccountingSystem/resourcedata', { role: 'link', name: '¥12.50' }],
    ] as const) {
      await page.goto(`${origin}${from}`)
      const { click, clicks } = countingClicks(page)
      if (first.role === 'link') await expect(page.getByRole('link', { name: first.name }).first()).toBeVisible()
      await click(first.role, { name: first.name })
      await isTold(page)
      await click('link', { name: orderNumber })
      await expect(page).toHaveURL(/orderdesc/)
      expect(clicks()).toBeLessThanOrEqual(3)
      await page.goBack()
    }
    await page.goto(`${origin}/separateAccountingSystem/operationaldata`)
    await expect(page.getByRole('heading', { name: '用量明细' })).toBeVisible()
    await isTold(page)
    await accessible(page, 'what machines were sold for')
    await shot(page, 'split-lines')
    await page.goto(`${origin}/separateAccountingSystem/record`)
    await button(rowOf(page, month), '查看明细').click()
    await isTold(page)
    await accessible(page, 'a statement')
    await shot(page, 'statement-lines')

    // Its provider sees the same of its own, and opens no order of others.
    const own = await browser.newContext()
    const mine = await own.newPage()
    await signIn(own, person, origin)
    await mine.goto(`${origin}/separateAccountingSystem/resources`)
    // Numbers that count up over all would tell it of others.
    await isTold(mine, order.slice(-8).toUpperCase())
    await expect(mine.getByText(orderNumber)).toHaveCount(0)
    await shot(mine, 'split-own-lines')
    await own.close()
  })
})
