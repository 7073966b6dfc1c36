import { join } from 'node:path'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { alarms } from '@zhisuan/contract/omc/alarm'
import { integrations } from '@zhisuan/contract/omc/monitor'
import { prometheusIsThere } from '@zhisuan/engines/prometheus/testing'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startAtOrigin, until, type RunningServer } from '../support/server.ts'
import { accessible, button, dialog, heading, pick, rowOf, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { newName, register } from './people.ts'
import { expect, signIn, test, toast } from './test.ts'

test.describe('operations', () => {
  test.skip(!prometheusIsThere, 'no Prometheus on this host')
  let data: TemporaryFolder
  let server: RunningServer
  let origin: string
  let admin: Client
  let agent: RunningAgent | undefined

  test.beforeAll(async () => {
    data = temporaryFolder('browser-operations')
    ;({ server, origin } = await startAtOrigin(join(data.path, 'server'), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', WEBHOOK_ALLOW: '127.0.0.1' }))
    admin = await asAdministrator(server)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'first-node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
  })
  test.afterAll(async () => {
    // With the user that the agent made for it.
    for (const { id } of (await admin?.call(integrations.list))?.items ?? [])
      await admin.call(integrations.action, { params: { id }, query: { action: 'uninstall' } })
    await until(async () => (await admin?.call(integrations.list))?.total === 0, 'all of it to be gone', 60_000).catch(() => undefined)
    await agent?.stop()
    await server?.stop()
    for (const pid of allPids()) if (markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true) process.kill(pid, 'SIGKILL')
    data.remove()
  })

  test('a component is installed, asked, watched by a rule, and its episodes are taken up @journey', async ({ page, context }) => {
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/component/center`)
    await expect(heading(page, '组件中心')).toBeVisible()
    await accessible(page)
    await shot(page, 'component-center')
    await page.getByRole('link', { name: '标准' }).click()
    await pick(page, '节点', 'first-node')
    await fill(page, { 名称: 'main', 端口: String(await freePort()), '采集间隔（秒）': '5' })
    await shot(page, 'component-add')
    await button(page, '安装').click()
    await expect(toast(page, '正在安装“main”')).toBeVisible()
    const [made] = (await admin.call(integrations.list)).items
    await until(async () => (await admin.call(integrations.get, { params: { id: made?.id ?? '' } })).status === 'active', 'it to be there', 60_000)
    await visit(page, `${origin}/component/installation`)
    await expect(rowOf(page, 'main')).toContainText('可访问')
    await shot(page, 'component-list')
    await visit(page, `${origin}/component/installation/${made?.id}`)
    await expect(heading(page, 'main')).toBeVisible()
    await shot(page, 'component-detail')

    await visit(page, `${origin}/component/prometheus/${made?.id}?tab=jobs`)
    await expect(page.getByText('1 / 1 正常').first()).toBeVisible({ timeout: 60_000 })
    await shot(page, 'prometheus-jobs')
    await visit(page, `${origin}/component/prometheus/${made?.id}?query=up`)
    await expect(page.getByText('up{', { exact: false }).first()).toBeVisible({ timeout: 30_000 })
    await accessible(page)
    await shot(page, 'prometheus-explore')

    await visit(page, `${origin}/statistics`)
    await expect(page.getByRole('link', { name: 'first-node' }).first()).toBeVisible({ timeout: 30_000 })
    await accessible(page)
    await shot(page, 'statistics')

    // What Prometheus knows of it, on the node's own page.
    const [node] = (await admin.call(edges.list, { query: {} })).items
    await visit(page, `${origin}/infrastructure/nodeList/${node?.id}?tab=metrics&minutes=10080`)
    await expect(async () => {
      await page.reload()
      await expect(page.locator('.zs-chart').first()).toContainText(/first-node\s*[\d.]+%/, { timeout: 5_000 })
      await expect(page.getByText('平台自己只保留最近一天的分钟数据')).toHaveCount(0)
    }).toPass({ timeout: 60_000 })
    await accessible(page)
    await shot(page, 'node-curve')

    await visit(page, `${origin}/alarmmanagement?tab=receivers`)
    await button(page, '添加通知方式').first().click()
    await dialog(page).getByText('Webhook', { exact: true }).click()
    await fill(dialog(page), { 名称: 'hook', 地址: `http://127.0.0.1:${await freePort()}/` })
    await shot(page, 'receiver-add')
    await button(dialog(page), '保存').click()
    await expect(rowOf(page, 'hook')).toBeVisible()
    await visit(page, `${origin}/addalarm`)
    await page.getByText('PromQL', { exact: true }).first().click()
    // Over by itself, in a while.
    const over = Math.floor(Date.now() / 1_000) + 120
    await fill(page, { 名称: 'memory', 查询语句: `zhisuan_node_memory_used_bytes > 0 and on () (vector(time()) < ${over})`, '持续时间（秒）': '0' })
    await button(page, '用过去 7 天试算').click()
    await expect(page.getByText(/过去 7 天会告警 \d+ 次/)).toBeVisible()
    await accessible(page)
    await shot(page, 'alarm-add')
    await button(page, '保存').click()
    await expect(heading(page, 'memory')).toBeVisible()
    await expect(page.getByText('已生效')).toBeVisible({ timeout: 60_000 })
    await visit(page, `${origin}/statistics/alarm`)
    await expect(rowOf(page, 'memory')).toContainText('告警中', { timeout: 60_000 })
    await button(rowOf(page, 'memory'), '处理').click()
    await fill(dialog(page), { 处理说明: '已知悉' })
    await button(dialog(page), '处理').click()
    await expect(rowOf(page, 'memory')).toContainText('admin')
    await accessible(page)
    await shot(page, 'alarm-logs')
    await visit(page, `${origin}/alarmmanagement`)
    await expect(rowOf(page, 'memory')).toContainText('1 个告警中')
    await shot(page, 'alarm-list')
  })

  test('a tenant sees what is theirs, and nothing else', async ({ page, context }) => {
    const tenant = await register(server.url, newName('tenant'), newName('lab'))
    const client = new Client(server.url)
    await client.signIn(tenant.username, tenant.password)
    await client.call(alarms.create, {
      body: { name: 'mine', severity: 'warning', rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 90 } },
    })
    await signIn(context, tenant, origin)
    await page.goto(`${origin}/statistics`)
    await expect(page.getByText('还没有可以显示的节点')).toBeVisible()
    await shot(page, 'statistics-tenant')
    await visit(page, `${origin}/statistics/alarm`)
    await expect(heading(page, '告警记录')).toBeVisible()
    await expect(rowOf(page, 'memory')).toHaveCount(0)
    await visit(page, `${origin}/alarmmanagement`)
    await expect(rowOf(page, 'mine')).toBeVisible()
    await expect(rowOf(page, 'memory')).toHaveCount(0)
    await visit(page, `${origin}/statistics/log?keyword=omc.alarm.create`)
    await expect(rowOf(page, 'omc.alarm.create')).toHaveCount(1, { timeout: 15_000 })
    await visit(page, `${origin}/statistics/log?keyword=ecrm.edge.create`)
    await expect(heading(page, '操作日志')).toBeVisible()
    await expect(rowOf(page, 'ecrm.edge.create')).toHaveCount(0)
    await page.goto(`${origin}/statistics/event`)
    await expect(heading(page, '没有权限')).toBeAttached()
    await visit(page, `${origin}/statistics?tab=explore&query=up`)
    await expect(page.getByText('没有匹配的数据')).toBeVisible({ timeout: 30_000 })
    await expect(page.getByText('up{', { exact: false })).toHaveCount(0)
    await shot(page, 'prometheus-tenant')
  })

  test('people are told when it suits: maintenance is planned, hours are kept, and others are told where nobody looks', async ({ page, context }) => {
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/alarmmanagement?tab=receivers`)
    await button(page, '添加通知方式').first().click()
    await dialog(page).getByText('Webhook', { exact: true }).click()
    await fill(dialog(page), { 名称: 'by-day', 地址: `http://127.0.0.1:${await freePort()}/` })
    await dialog(page).getByRole('switch', { name: '只在工作时间通知' }).click()
    await accessible(page)
    await shot(page, 'receiver-hours')
    await fill(dialog(page), { 到: '25:00' })
    await button(dialog(page), '保存').click()
    await expect(dialog(page).getByText('请输入时间，例如 09:00')).toBeVisible()
    await fill(dialog(page), { 到: '18:30' })
    await button(dialog(page), '保存').click()
    await expect(rowOf(page, 'by-day')).toBeVisible()

    await page.getByRole('tab', { name: '维护时段' }).click()
    await shot(page, 'alarm-windows-none')
    await button(page, '添加维护时段').first().click()
    await fill(dialog(page), { 名称: 'upgrade' })
    await pick(dialog(page), '节点', 'first-node')
    await accessible(page)
    await shot(page, 'alarm-window-add')
    await button(dialog(page), '保存').click()
    await expect(rowOf(page, 'upgrade')).toContainText('维护中')
    await accessible(page)
    await shot(page, 'alarm-windows')

    await visit(page, `${origin}/addalarm`)
    await fill(page, { 名称: 'busy' })
    await page.getByRole('switch', { name: '无人处理时升级' }).click()
    await button(page, '保存').click()
    await expect(page.getByText('请选择升级时通知谁')).toBeVisible()
    await pick(page, '升级通知', 'by-day（Webhook）')
    await page.keyboard.press('Escape')
    await accessible(page)
    await shot(page, 'alarm-escalation')
    await page.setViewportSize({ width: 390, height: 844 })
    await shot(page, 'alarm-escalation-390')
    await button(page, '保存').click()
    await expect(heading(page, 'busy')).toBeVisible()
    await shot(page, 'alarm-detail-390')
  })

  test('what is over is recovered', async ({ page, context }) => {
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/statistics/alarm`)
    await expect(rowOf(page, 'memory')).toContainText('已恢复', { timeout: 150_000 })
    await shot(page, 'alarm-recovered')
  })

  test('calls and events are found', async ({ page, context }) => {
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/statistics/log?keyword=ecrm.edge.create`)
    await expect(page.getByText('ecrm.edge.create')).toBeVisible({ timeout: 15_000 })
    await accessible(page)
    await shot(page, 'api-log')
    await visit(page, `${origin}/statistics/event?keyword=ecrm.edge.create`)
    await expect(page.getByText('ecrm.edge.create')).toBeVisible()
    await accessible(page)
    await shot(page, 'events')
  })
})
