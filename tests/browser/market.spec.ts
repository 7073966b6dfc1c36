import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { paymentChannels } from '@zhisuan/contract/bill/topup'
import { cards } from '@zhisuan/contract/market/card'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { configs } from '@zhisuan/contract/sys/sys'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import pg from 'pg'
import { notifyPath } from '../../apps/server/src/modules/bill/topup/channel.service.ts'
import { startGateway } from '../../apps/server/src/testing/payment-gateway.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { startOwnDocker, type OwnDocker } from '../support/agent-docker.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { cardsEnvironment } from '../support/gpu/node.ts'
import { administratorPassword, Client, until } from '../support/server.ts'
import { accessible, act, button, dialog, more, pick, rowOf, shot, visit } from './console.ts'
import { field, fill } from './forms.ts'
import { codeFor, newPhone } from './inbox.ts'
import { isPaidOut, wasUsedLastMonth } from './paidOut.ts'
import { newName, register, someAddress } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test, toast, type Trouble } from './test.ts'

const run = promisify(execFile)
const image = `zs-market-${randomUUID().slice(0, 8)}:1`

/** A tile opens what runs in the machine, on an origin of its own, in a window of its own. */
async function opensJupyter(page: Page, trouble: Trouble, engine: OwnDocker): Promise<void> {
  const tile = page.getByRole('button', { name: /^JupyterLab/ })
  trouble.expect(/^409 POST \/api\/market\/v1\/rentals\/.*\/apps$/)
  await tile.click()
  await expect(toast(page, '镜像中没有 jupyter')).toBeVisible()
  // What an image that has it would do: it takes the same port.
  const lab = '#!/bin/sh\nexec httpd -f -p 127.0.0.1:8888 -h /workspace\n'
  const install = `printf '%s' '${lab}' > /bin/jupyter; chmod +x /bin/jupyter; echo '<h1>the lab</h1>' > /workspace/index.html`
  const made = await engine.docker.containers.list({ labels: ['zhisuan.container'] })
  for (const { id } of made) await run('docker', ['-H', `unix://${engine.socket}`, 'exec', id, 'sh', '-c', install])
  const opened = page.context().waitForEvent('page')
  await tile.click()
  const shown = await opened
  await expect(shown.getByRole('heading', { name: 'the lab' })).toBeVisible({ timeout: 30_000 })
  expect(new URL(shown.url()).hostname).toMatch(/^[0-9a-f]{32}-8888\.localhost$/)
  await shown.close()
}

/** From where a visitor was led: signed up, signed in, and back where they wanted to be. */
async function signsUp(page: Page): Promise<Account> {
  const [username, phone] = [newName('renter'), newPhone()]
  await page.getByRole('link', { name: '立即注册' }).click()
  await fill(page, { 用户名: username, 手机号: phone, 密码: password, 确认密码: password, '组织名称（选填）': newName('lab') })
  await page.getByRole('checkbox').check()
  await button(page, '获取验证码').click()
  await field(page, '验证码').fill(await codeFor(stage().url, phone))
  await button(page, '注册').click()
  await expect(page.getByRole('status').filter({ hasText: '注册成功，请登录' })).toBeVisible()
  await field(page, '密码').fill(password)
  await button(page, '登录').click()
  return { username, phone, password }
}

/** At a gateway, whose page and message are played. */
async function pays(page: Page, amount: string): Promise<void> {
  const keys = { sign_type: 'HMAC-SHA256', key: 'a-secret-of-both-sides', gateway_public_key: '' } as const
  const [merchant_id, name] = [newName('m'), newName('gateway')]
  const gateway = await startGateway(keys, merchant_id, () => new Date())
  try {
    const administrator = await anAdministrator()
    const channel = await administrator.call(paymentChannels.create, { body: { name, enabled: true, gateway: gateway.url, merchant_id, ...keys } })
    await page.route(`${gateway.url}**`, (route) =>
      route.fulfill({ contentType: 'text/html; charset=utf-8', body: '<html lang="zh"><title>-</title><h1>收银台</h1></html>' }),
    )
    await visit(page, '/wallet')
    await button(page, '充值').first().click()
    await dialog(page).getByLabel(name, { exact: true }).check()
    await fill(dialog(page), { 金额: amount })
    await button(dialog(page), '下一步').click()
    await expect(page.getByRole('heading', { name: '收银台' })).toBeVisible()
    const { order_id = '', amount: due = '' } = gateway.visit(page.url())
    const answer = await fetch(new URL(notifyPath(channel.id), stage().url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...someAddress() },
      body: JSON.stringify(gateway.message({ order_id, amount: due, status: 'paid', trade_id: `T-${order_id}` })),
    })
    expect(await answer.json()).toEqual({ result: 'success' })
    await page.goto('/wallet')
    await expect(page.locator('.bf-big').first()).toContainText(`${amount}.00`)
  } finally {
    await gateway.close()
  }
}

/** By the line that the page shows, with a key of one's own. */
async function entersBySsh(page: Page, { username }: Account): Promise<void> {
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, password)
  const keys = temporaryFolder('market-keys')
  try {
    const file = join(keys.path, 'id')
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file])
    await client.call(keyPairs.create, { body: { name: 'mine', public_key: readFileSync(`${file}.pub`, 'utf8').trim() } })
    const [, port = '', who = ''] = /ssh -p (\d+) (\S+)@/.exec(await page.getByText(/^ssh -p/).innerText()) ?? []
    const options = ['IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'BatchMode=yes']
    const line = [
      '-F',
      'none',
      '-i',
      file,
      '-p',
      port,
      ...options.flatMap((one) => ['-o', one]),
      `${who}@127.0.0.1`,
      '/usr/bin/nvidia-smi --query-gpu=name --format=csv,noheader; ls /workspace',
    ]
    expect((await run('ssh', line)).stdout).toBe('NVIDIA H100 80GB HBM3\nindex.html\n')
  } finally {
    keys.remove()
  }
}

/** The platform sees that nothing is done in it; that this goes on for its minutes is not waited for. */
async function standsIdle(page: Page, id: string): Promise<void> {
  await onDatabase(async (database) => {
    const idle = async (): Promise<boolean> =>
      (await database.query('select from market_rentals where id = $1 and idle_since is not null', [id])).rowCount === 1
    await until(idle, 'the machine to be seen idle', 90_000)
    await database.query(`update market_rentals set idle_since = idle_since - interval '5 minutes' where id = $1`, [id])
  })
  await expect(page.locator('.frame-head').getByText('已停止')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByText('机器空闲已久，已自动停止')).toBeVisible()
  await shot(page, 'market-idle')
}

/** As if it had begun three hours before, and been used for two hours of last month: an hour is rated when it is over. */
async function isBilled(page: Page, id: string, machine: string): Promise<void> {
  await onDatabase(async (database) => {
    // What it cost then is what it costs.
    await database.query(
      `insert into bill_prices (id, sku_id, period, tiers, effective_from, created_by_name)
       select gen_random_uuid(), sku_id, period, tiers, effective_from - interval '2 months', '' from bill_prices
       where sku_id in (select bill_skus.id from bill_skus join market_rentals on market_rentals.offer_id::text = bill_skus.variant where market_rentals.id = $1)`,
      [id],
    )
    await database.query(
      `insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage, attributes)
       select gen_random_uuid(), resource_type, resource_id, resource_name, bp_id, project_id, at - interval '3 hours', usage, attributes
       from usage_events where resource_id = $1 and usage::text like '%market.card%' order by at, revision limit 1`,
      [id],
    )
    await wasUsedLastMonth(database, id)
    for (const name of ['bill.usage.settle', 'bill.usage.rate']) await database.query('insert into pgboss.job (name, data) values ($1, $2)', [name, {}])
    // What is behind by a month is rated day by day: the last hours come last.
    const lately = `select from usage_lines where resource_id = $1 and seconds = 3600 and "from" > now() - interval '4 hours'`
    const rated = async (): Promise<boolean> => (await database.query(lately, [id])).rowCount !== 0
    await until(rated, 'what was used to be rated', 60_000)
  })
  await visit(page, '/consumerDetails')
  await expect(page.getByText(machine).first()).toBeVisible()
  await shot(page, 'market-bill')
  await page.getByRole('link', { name: machine }).first().click()
  // A whole hour of the one card, by what the offer costs.
  const hour = page.getByRole('row').filter({ hasText: '1 张 × 10.00 × 3600 ÷ 3600 × 1.00' }).first()
  await expect(hour).toContainText('¥10.00')
  await expect(hour).toContainText('NVIDIA H100 80GB HBM3')
  await shot(page, 'market-bill-machine')
}

const anAdministrator = async (): Promise<Client> => {
  const client = new Client(stage().url, someAddress())
  await client.signIn('admin', administratorPassword)
  return client
}
async function onDatabase(work: (database: pg.Client) => Promise<unknown>): Promise<void> {
  const database = new pg.Client({ connectionString: stage().databaseUrl })
  await database.connect()
  try {
    await work(database)
  } finally {
    await database.end()
  }
}

test.describe('the market, on a real Docker with cards that are not there', () => {
  test.skip(!dockerIsThere, 'no Docker Engine on this host')
  let data: TemporaryFolder
  let engine: OwnDocker
  let agent: RunningAgent | undefined
  let environment: ReturnType<typeof cardsEnvironment>
  let owner: Awaited<ReturnType<typeof register>>
  const node = newName('cabinet')
  const provider = newName('卡主')

  test.beforeAll(async () => {
    data = temporaryFolder('browser-market')
    environment = cardsEnvironment(data.path, 2)
    engine = await startOwnDocker(join(data.path, 'docker'), { environment })
    await importBusybox(engine.docker, image)
    const administrator = await anAdministrator()
    await administrator.call(configs.set, { body: { key: 'market_prepaid', value: '1' } })
    owner = await register(stage().url, newName('owner'), newName('cards'))
  })
  test.afterAll(async () => {
    await agent?.stop()
    await engine?.remove()
    data?.remove()
  })

  test('a card in a cabinet is offered, found by a visitor, rented, stopped, started and released, and its owner is paid', async ({
    page,
    context,
    browser,
    trouble,
  }) => {
    test.setTimeout(400_000)
    const machine = newName('train')
    let rental = ''

    await test.step('its owner becomes a provider, tests the node, and offers the cards', async () => {
      await signIn(context, owner)
      // By the line that the page prints.
      await page.goto('/infrastructure/addNodes')
      await fill(page, { 名称: node })
      await button(page, '下一步').click()
      await expect(page.getByText('正在等待节点接入…')).toBeVisible()
      const command = (await page.locator('pre').textContent()) ?? ''
      agent = startAgent(['serve', '--data', join(data.path, 'agent'), '--docker', engine.socket, ...parametersOf(command)], undefined, environment)
      await button(page, '是这个节点，允许加入').click()
      await expect(page.getByText(`“${node}”已经在线`)).toBeVisible()
      const client = new Client(stage().url, someAddress())
      await client.signIn(owner.username, owner.password)
      await until(async () => (await client.call(cards.list, { query: {} })).total === 2, 'the agent to tell of its cards', 40_000)
      await page.goto('/market/provider')
      await expect(rowOf(page, node).getByText('没有自检过')).toBeVisible()
      await accessible(page, 'nodes')
      await button(page, '申请成为供应商').click()
      await fill(dialog(page), { 供应商名称: provider, 联系方式: '13800000000' })
      await button(dialog(page), '提交申请').click()
      await expect(page.getByText('供应商资料正在审核')).toBeVisible()
      await button(rowOf(page, node), '自检').click()
      await expect(toast(page, '自检完成')).toBeVisible({ timeout: 30_000 })
      await button(rowOf(page, node), '上架').click()
      await button(dialog(page), '上架').click()
      await expect(rowOf(page, node).getByText('已上架')).toBeVisible()
      await shot(page, 'market-nodes')
      await page.getByRole('tab', { name: '显卡' }).click()
      await expect(rowOf(page, '0 号')).toBeVisible()
      await accessible(page, 'cards')
      await shot(page, 'market-cards')
      await page.getByRole('tab', { name: '报价' }).click()
      await button(page, '提交报价').first().click()
      await pick(dialog(page), '卡型号', 'NVIDIA H100')
      await fill(dialog(page), {
        '每张卡配的 CPU 核数': '0.5',
        显卡每张每小时: '10',
        '磁盘每 GB 每小时，运行时': '0.01',
        '磁盘每 GB 每小时，停止时': '0.005',
        显卡每张包天: '200',
      })
      await accessible(page, 'the form of an offer')
      await shot(page, 'market-offer')
      await button(dialog(page), '提交审批').click()
      await expect(rowOf(page, 'NVIDIA H100').getByText('待审批')).toBeVisible()
    })

    await test.step('an administrator verifies the provider and lists the offer', async () => {
      const admins = await browser.newContext()
      await signIn(admins, 'admin')
      const theirs = await admins.newPage()
      await theirs.goto('/market/administration')
      await button(rowOf(theirs, provider), '通过').click()
      await button(dialog(theirs), '通过').click()
      await expect(rowOf(theirs, provider).getByText('已通过')).toBeVisible()
      await accessible(theirs, 'providers')
      await shot(theirs, 'market-administration')
      await theirs.getByRole('tab', { name: '报价' }).click()
      await button(rowOf(theirs, provider), '上架').click()
      await button(dialog(theirs), '上架').click()
      await expect(rowOf(theirs, provider).getByText('已上架')).toBeVisible()
      await admins.close()
    })

    await test.step('a visitor finds it, with what it costs and what a stop costs', async () => {
      const visitors = await browser.newContext()
      const theirs = await visitors.newPage()
      await theirs.goto('/')
      await theirs.goto('/market')
      const card = theirs.getByRole('article').filter({ hasText: provider })
      await expect(card.getByText('空闲 2 / 2')).toBeVisible()
      await expect(card.getByRole('table', { name: '停止以后' })).toContainText('停止后 15 天')
      await expect(card).toContainText('包天')
      await card.getByRole('link', { name: /^1 × / }).click()
      await expect(theirs.getByRole('region', { name: /的价格与空闲/ })).toBeVisible()
      await accessible(theirs, 'the market')
      await shot(theirs, 'market-public')
      await visitors.close()
    })

    await test.step('somebody rents a machine, and stops, starts and releases it', async () => {
      const renters = await browser.newContext()
      const theirs = await renters.newPage()
      await theirs.goto('/market')
      await theirs.getByRole('article').filter({ hasText: provider }).getByRole('link', { name: /租用/ }).click()
      const person = await signsUp(theirs)
      await expect(theirs.getByRole('heading', { level: 1 })).toContainText('租用')
      const form = theirs.url()
      await pays(theirs, '200')
      await theirs.goto(form)
      await fill(theirs, { 机器名称: machine, 镜像: image, '空闲自动停止（分钟）': '5' })
      await expect(theirs.getByText('¥11')).toBeVisible()
      await accessible(theirs, 'the form of a rent')
      await shot(theirs, 'market-rent')
      await button(theirs, '租用').click()
      await expect(theirs.getByRole('heading', { level: 1, name: machine })).toBeVisible()
      await expect(theirs.locator('.frame-head').getByText('运行中')).toBeVisible({ timeout: 30_000 })
      await accessible(theirs, 'a machine')
      await shot(theirs, 'market-rental')
      await opensJupyter(theirs, trouble, engine)
      await entersBySsh(theirs, person)
      const id = theirs.url().split('/').at(-1) ?? ''
      await standsIdle(theirs, id)
      await act(theirs, '启动')
      await button(dialog(theirs), '启动').click()
      await expect(theirs.locator('.frame-head').getByText('运行中')).toBeVisible({ timeout: 30_000 })
      await visit(theirs, '/market/rentals')
      await accessible(theirs, 'what is rented')
      await shot(theirs, 'market-rentals')
      await more(rowOf(theirs, machine), '释放')
      await dialog(theirs).getByRole('textbox').fill(machine)
      await button(dialog(theirs), '释放').click()
      await expect(rowOf(theirs, machine).getByText('已释放')).toBeVisible({ timeout: 30_000 })
      await isBilled(theirs, id, machine)
      await renters.close()
      rental = id
    })

    await test.step('what it cost is shared out and paid to the owner of the card, with the same figures everywhere', () =>
      onDatabase((database) => isPaidOut({ browser, database, provider, rental })))
  })
})
