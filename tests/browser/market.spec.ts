import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { cards } from '@zhisuan/contract/market/card'
import { configs } from '@zhisuan/contract/sys/sys'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { startOwnDocker, type OwnDocker } from '../support/agent-docker.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { cardsEnvironment } from '../support/gpu/node.ts'
import { administratorPassword, Client, until } from '../support/server.ts'
import { accessible, act, button, dialog, more, pick, rowOf, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
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

test.describe('the market, on a real Docker with cards that are not there', () => {
  test.skip(!dockerIsThere, 'no Docker Engine on this host')
  let data: TemporaryFolder
  let engine: OwnDocker
  let agent: RunningAgent | undefined
  let owner: Awaited<ReturnType<typeof register>>
  const node = newName('cabinet')
  const provider = newName('卡主')

  test.beforeAll(async () => {
    data = temporaryFolder('browser-market')
    const environment = cardsEnvironment(data.path, 2)
    engine = await startOwnDocker(join(data.path, 'docker'), { environment })
    await importBusybox(engine.docker, image)
    const administrator = new Client(stage().url, someAddress())
    await administrator.signIn('admin', administratorPassword)
    await administrator.call(configs.set, { body: { key: 'market_prepaid', value: '1' } })
    owner = await register(stage().url, newName('owner'), newName('cards'))
    const client = new Client(stage().url, someAddress())
    await client.signIn(owner.username, owner.password)
    const { enrolment } = await client.call(edges.create, { body: { name: node, confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), '--docker', engine.socket, ...parametersOf(enrolment.command)], undefined, environment)
    await until(async () => (await client.call(cards.list, { query: {} })).total === 2, 'the agent to tell of its cards', 40_000)
  })
  test.afterAll(async () => {
    await agent?.stop()
    await engine?.remove()
    data?.remove()
  })

  test('a card in a cabinet is offered, found by a visitor, rented, stopped, started and released', async ({ page, context, browser, trouble }) => {
    test.setTimeout(120_000)
    const machine = newName('train')

    await test.step('its owner becomes a provider, tests the node, and offers the cards', async () => {
      await signIn(context, owner)
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
      const person = await register(stage().url, newName('renter'), newName('lab'))
      await signIn(renters, person)
      const theirs = await renters.newPage()
      await theirs.goto('/market')
      await theirs.getByRole('article').filter({ hasText: provider }).getByRole('link', { name: /租用/ }).click()
      await fill(theirs, { 机器名称: machine, 镜像: image })
      await expect(theirs.getByText('¥11')).toBeVisible()
      await accessible(theirs, 'the form of a rent')
      await shot(theirs, 'market-rent')
      await button(theirs, '租用').click()
      await expect(theirs.getByRole('heading', { level: 1, name: machine })).toBeVisible()
      await expect(theirs.locator('.frame-head').getByText('运行中')).toBeVisible({ timeout: 30_000 })
      await accessible(theirs, 'a machine')
      await shot(theirs, 'market-rental')
      await opensJupyter(theirs, trouble, engine)
      await act(theirs, '停止')
      await expect(dialog(theirs)).toContainText('磁盘保留 15 天')
      await button(dialog(theirs), '停止').click()
      await expect(theirs.locator('.frame-head').getByText('已停止')).toBeVisible({ timeout: 30_000 })
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
      await renters.close()
    })
  })
})
