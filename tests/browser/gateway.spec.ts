import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { serviceGateways } from '@zhisuan/contract/middleware/gateway'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startAtOrigin, until, type RunningServer } from '../support/server.ts'
import { accessible, button, dialog, heading, pick, rowOf, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { expect, signIn, test, toast } from './test.ts'

const haproxyIsThere = existsSync('/usr/sbin/haproxy') || process.env['CI'] !== undefined

test.describe('service gateways', () => {
  test.skip(!haproxyIsThere, 'no HAProxy on this host')
  let data: TemporaryFolder
  let server: RunningServer
  let origin: string
  let admin: Client
  let agent: RunningAgent | undefined
  const behind = createServer((_request, response) => response.end('well'))

  test.beforeAll(async () => {
    behind.listen(0, '127.0.0.1')
    await once(behind, 'listening')
    data = temporaryFolder('browser-gateway')
    ;({ server, origin } = await startAtOrigin(join(data.path, 'server'), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' }))
    admin = await asAdministrator(server)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'first-node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
  })
  test.afterAll(async () => {
    for (const { id } of (await admin?.call(serviceGateways.list))?.items ?? []) await admin.call(serviceGateways.delete, { params: { id } })
    await until(async () => (await admin?.call(serviceGateways.list))?.total === 0, 'all of it to be gone', 60_000).catch(() => undefined)
    await agent?.stop()
    await server?.stop()
    behind.close()
    for (const pid of allPids()) if (markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true) process.kill(pid, 'SIGKILL')
    data.remove()
  })

  test('a gateway is made, listens, shares among targets that it looks at, is changed and taken away', async ({ page, context }) => {
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/middleware/service/gateway`)
    await expect(heading(page, '服务网关')).toBeVisible()
    await accessible(page)
    await shot(page, 'gateway-none')
    await button(page, '创建网关').first().click()
    await fill(dialog(page), { 名称: 'entry', 管理端口: String(await freePort()) })
    await pick(dialog(page), '节点', 'first-node')
    await shot(page, 'gateway-add')
    await button(dialog(page), '创建网关').click()
    await expect(toast(page, '正在创建网关“entry”')).toBeVisible()
    await expect(rowOf(page, 'entry')).toContainText('运行中', { timeout: 60_000 })
    await rowOf(page, 'entry').getByRole('link', { name: 'entry' }).click()
    await expect(heading(page, 'entry')).toBeVisible()

    const [listens, nobody] = [await freePort(), await freePort()]
    await button(page, '添加服务端口').first().click()
    await fill(dialog(page), { 名称: 'shop', 监听端口: String(listens) })
    await dialog(page).getByLabel('IP 或主机名 1').fill('127.0.0.1')
    await dialog(page)
      .getByLabel('端口 1', { exact: true })
      .fill(String((behind.address() as AddressInfo).port))
    await button(dialog(page), '添加后端服务').click()
    await dialog(page).getByLabel('IP 或主机名 2').fill('127.0.0.1')
    await dialog(page).getByLabel('端口 2', { exact: true }).fill(String(nobody))
    await accessible(page)
    await shot(page, 'gateway-port-add')
    await button(dialog(page), '添加服务端口').click()
    await expect(toast(page, '正在添加服务端口“shop”')).toBeVisible()
    await expect(rowOf(page, 'shop')).toContainText('1 / 2 正常', { timeout: 60_000 })
    expect(await (await fetch(`http://127.0.0.1:${listens}/`)).text()).toBe('well')
    await shot(page, 'gateway-detail')

    await button(rowOf(page, 'shop'), '后端服务').click()
    await expect(page.getByText('无法连接').first()).toBeVisible()
    await button(page.getByRole('row').filter({ hasText: `127.0.0.1:${nobody}` }), '测试').click()
    await expect(page.getByText('无法连接 · ECONNREFUSED')).toBeVisible()
    await button(page.getByRole('row').filter({ hasText: String((behind.address() as AddressInfo).port) }), '测试').click()
    await expect(page.getByText(/正常，\d+ 毫秒/)).toBeVisible()
    await accessible(page)
    await shot(page, 'gateway-targets')
    await page.keyboard.press('Escape')

    // A port that somebody has: it says so, and serves on.
    await button(rowOf(page, 'shop'), '编辑').click()
    await fill(dialog(page), { 监听端口: String((behind.address() as AddressInfo).port) })
    await button(dialog(page), '保存').click()
    await expect(rowOf(page, 'shop')).toContainText('上次修改没有生效', { timeout: 60_000 })
    expect(await (await fetch(`http://127.0.0.1:${listens}/`)).text()).toBe('well')
    await shot(page, 'gateway-refused')

    await visit(page, `${origin}/middleware/service/gateway`)
    await expect(page.getByText('1 / 2 正常')).toBeVisible()
    await accessible(page)
    await shot(page, 'gateway-list')
  })
})
