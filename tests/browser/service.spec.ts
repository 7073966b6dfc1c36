import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { databaseServices } from '@zhisuan/contract/middleware/service'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startAtOrigin, until, type RunningServer } from '../support/server.ts'
import { accessible, button, dialog, heading, more, pick, rowOf, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { expect, signIn, test, toast } from './test.ts'

const run = promisify(execFile)
const programsAreThere = existsSync('/usr/lib/postgresql/15/bin/postgres') || process.env['CI'] !== undefined

test.describe('databases and caches', () => {
  test.skip(!programsAreThere, 'no PostgreSQL on this host')
  let data: TemporaryFolder
  let server: RunningServer
  let origin: string
  let admin: Client
  let agent: RunningAgent | undefined

  test.beforeAll(async () => {
    data = temporaryFolder('browser-service')
    ;({ server, origin } = await startAtOrigin(join(data.path, 'server'), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' }))
    admin = await asAdministrator(server)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'first-node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
  })
  test.afterAll(async () => {
    for (const { id } of (await admin?.call(databaseServices.list))?.items ?? [])
      await admin.call(databaseServices.delete, { params: { id } }).catch(() => undefined)
    await until(async () => (await admin?.call(databaseServices.list))?.total === 0, 'all of it to be gone', 60_000).catch(() => undefined)
    await agent?.stop()
    await server?.stop()
    for (const pid of allPids()) if (markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true) process.kill(pid, 'SIGKILL')
    data.remove()
  })

  test('a database is made, connected to, given databases and accounts, and taken away', async ({ page, context, trouble }) => {
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/middleware/PostgreSQL`)
    await expect(heading(page, 'PostgreSQL')).toBeVisible()
    await accessible(page)
    await shot(page, 'service-none')
    await page.getByRole('link', { name: '创建服务' }).or(button(page, '创建服务')).first().click()
    await expect(heading(page, '创建服务')).toBeVisible()
    const port = await freePort()
    await fill(page, { 名称: 'orders', 端口: String(port), '内存（MiB）': '64' })
    await pick(page, '节点', 'first-node')
    await accessible(page)
    await shot(page, 'service-add')
    await button(page, '创建服务').click()
    await expect(toast(page, '正在创建服务“orders”')).toBeVisible()
    await expect(heading(page, 'orders')).toBeVisible()
    await expect(page.getByText(`0 / 100`)).toBeVisible({ timeout: 120_000 })

    await button(page, '查看密码').click()
    await button(dialog(page), '显示密码').click()
    await expect(dialog(page).getByText('postgres', { exact: true })).toBeVisible()
    const password = await dialog(page).locator('.zs-code').last().innerText()
    await shot(page, 'service-credential')
    await button(dialog(page), '关闭').last().click()
    const said = await run('psql', ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-At', '-c', 'select 6 * 7'], {
      env: { ...process.env, PGPASSWORD: password },
    })
    expect(said.stdout.trim()).toBe('42')

    await page.getByRole('tab', { name: '数据库' }).click()
    await button(page, '创建数据库').first().click()
    await fill(dialog(page), { 名称: 'shop' })
    await button(dialog(page), '创建数据库').click()
    await expect(toast(page, '已创建数据库“shop”')).toBeVisible()
    await expect(rowOf(page, 'shop')).toBeVisible()
    await shot(page, 'service-databases')
    await page.getByRole('tab', { name: '账号' }).click()
    await button(page, '创建账号').first().click()
    await fill(dialog(page), { 名称: 'clerk', 密码: 'Of-tests-only-1' })
    await pick(dialog(page), '可访问的数据库', 'shop')
    await page.keyboard.press('Escape')
    await shot(page, 'service-account-add')
    await button(dialog(page), '创建账号').click()
    await expect(toast(page, '已创建账号“clerk”')).toBeVisible()
    await expect(rowOf(page, 'clerk')).toContainText('shop')
    await accessible(page)

    await more(page.locator('.frame-head-actions'), '更换密码')
    await button(dialog(page), '更换密码').click()
    await expect(toast(page, '正在更换“orders”的密码')).toBeVisible()
    await page.getByRole('tab', { name: '操作记录' }).click()
    await expect(page.getByRole('row').filter({ hasText: '更换密码' })).toContainText('成功', { timeout: 60_000 })
    await page.getByRole('tab', { name: '连接与状态' }).click()
    await expect(page.getByText(`psql -h`)).toBeVisible()
    await accessible(page)
    await shot(page, 'service-detail')

    await visit(page, `${origin}/middleware/service`)
    await expect(rowOf(page, 'orders')).toContainText('运行中')
    await accessible(page)
    await shot(page, 'service-list')
    await rowOf(page, 'orders').getByRole('link', { name: 'orders' }).click()
    await expect(heading(page, 'orders')).toBeVisible()
    await more(page.locator('.frame-head-actions'), '删除')
    await dialog(page).getByRole('textbox').fill('orders')
    await shot(page, 'service-delete')
    // It looks until it is gone.
    trouble.expect(/^404 GET \/api\/service-manager\/v1\/services\//)
    await button(dialog(page), '删除').click()
    await expect(page.getByText('服务不存在或已删除')).toBeVisible({ timeout: 60_000 })
  })
})
