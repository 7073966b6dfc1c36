import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { Page } from '@playwright/test'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { Client, until } from '../support/server.ts'
import { accessible, button, countingClicks, dialog, rowOf, shot } from './console.ts'
import { field, fill, takeOut } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const docker = createDocker(socketTransport())
const image = `zs-browser-${randomUUID().slice(0, 8)}:1`

const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name, exact: true }).click()

test.describe('containers on a real Docker', () => {
  test.skip(!dockerIsThere, 'no Docker Engine on this host')
  const node = newName('node')
  let data: TemporaryFolder
  let agent: RunningAgent | undefined
  let edgeId = ''

  test.beforeAll(async () => {
    data = temporaryFolder('browser-container')
    await importBusybox(docker, image)
    const client = new Client(stage().url, someAddress())
    await client.signIn(stage().tenant.username, stage().tenant.password)
    const { edge, enrolment } = await client.call(edges.create, { body: { name: node, confirm: 'auto' } })
    edgeId = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await client.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
  })
  test.afterAll(async () => {
    await agent?.stop()
    for (const one of await docker.containers.list({ all: true }))
      if (one.image === image) await docker.containers.remove(one.id, { force: true, volumes: true })
    for (const { id, tags } of await docker.images.list()) if (tags.includes(image)) await docker.images.remove(id, { force: true })
    data.remove()
  })

  test('somebody new who has one node has a container running after five clicks', { tag: '@journey' }, async ({ page }) => {
    const person = await register(stage().url, newName('newcomer'), newName('org'))
    const client = new Client(stage().url, someAddress())
    await client.signIn(person.username, person.password)
    const { edge, enrolment } = await client.call(edges.create, { body: { name: newName('theirs'), confirm: 'auto' } })
    const theirs = startAgent(['serve', '--data', join(data.path, 'theirs'), ...parametersOf(enrolment.command)])
    try {
      await until(async () => (await client.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
      const { click, clicks } = countingClicks(page)
      const name = newName('first')
      await page.goto('/login')
      await fill(page, { '用户名、手机号或邮箱': person.username, 密码: person.password })
      await click('button', { name: '登录', exact: true })
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
      await click('button', { name: '产品', exact: true })
      await click('link', { name: '容器部署', exact: true })
      await click('button', { name: '创建部署' })
      await expect(page.getByText('1 个节点可以部署')).toBeVisible()
      await fill(page, { 名称: name, 镜像: image, 启动命令: 'sleep 1000' })
      await click('button', { name: '开始部署' })
      await expect(rowOf(page, name).getByText('运行中')).toBeVisible()
      expect(clicks()).toBeLessThanOrEqual(5)
    } finally {
      await theirs.stop()
      // On this Docker others look for what they made of the same image.
      for (const one of await docker.containers.list({ all: true })) if (one.name.startsWith('first-')) await docker.containers.remove(one.id, { force: true })
    }
  })

  test('a deployment is made, looked into, typed into, and deleted', async ({ page, context, trouble }) => {
    // The terminal that is left is closing still when the next is asked for.
    trouble.expect(/^409 POST .*\/terminals$/)
    const [name, config] = [newName('web'), newName('conf')]
    const port = await freePort()
    await signIn(context, 'tenant')

    await test.step('a config is written', async () => {
      await page.goto('/containerApplicationService/appConfigure')
      await button(page, '创建配置').first().click()
      await fill(page, { 名称: config, 内容: '一: 1\n' })
      await accessible(page, 'the form of a config')
      await button(page, '保存').click()
      await expect(rowOf(page, config)).toBeVisible()
      await accessible(page, 'the configs')
    })

    await test.step('deployed, with what is wrong beside its field', async () => {
      await page.goto('/containerApplicationService/containerDeploy')
      await accessible(page, 'the deployments')
      await button(page, '创建部署').first().click()
      await fill(page, { 名称: name, 镜像: image, 启动命令: "sh -c 'i=0; while true; do i=$((i+1)); echo tick $i; sleep 1; done" })
      await button(page, '添加端口').click()
      await page.getByLabel('节点端口 1', { exact: true }).fill(String(port))
      await page.getByLabel('容器端口 1', { exact: true }).fill('80')
      await button(page, '添加变量').click()
      await page.getByLabel('变量名 1', { exact: true }).fill('A=B')
      await button(page, '添加挂载').click()
      await page.getByRole('combobox', { name: '类型 1', exact: true }).click()
      await page.locator('.ant-select-item-option', { hasText: '配置文件' }).click()
      await page.getByRole('combobox', { name: '配置 1', exact: true }).click()
      await page.locator('.ant-select-item-option', { hasText: config }).click()
      await page.getByLabel('容器内路径 1', { exact: true }).fill('/etc/app.yaml')
      // The only node that can take it is chosen already.
      await takeOut(page, '节点', node)
      await button(page, '开始部署').click()
      await expect(page.getByText('引号没有成对')).toBeVisible()
      await expect(page.getByText('变量名不能为空，不能包含等号和换行')).toBeVisible()
      await expect(page.getByText('请选择节点或设置节点标签')).toBeVisible()
      await accessible(page, 'the form of a deployment')
      await field(page, '启动命令').fill("sh -c 'i=0; while true; do i=$((i+1)); echo tick $i; sleep 1; done'")
      await page.getByLabel('变量名 1', { exact: true }).fill('GREETING')
      await page.getByLabel('值 1', { exact: true }).fill('你好')
      await field(page, '节点').click()
      await page.locator('.ant-select-item-option', { hasText: node }).click()
      await page.keyboard.press('Escape')
      await expect(page.getByText('1 个节点可以部署')).toBeVisible()
      await button(page, '开始部署').click()
      await expect(rowOf(page, name).getByText('运行中')).toBeVisible()
      await accessible(page, 'the containers of a deployment')
    })

    await test.step('its facts, and what it uses', async () => {
      await page.getByRole('link', { name, exact: true }).click()
      await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
      await expect(page.getByText(`${port} → 80/tcp`)).toBeVisible()
      await expect(page.locator('.zs-chart').first().locator('strong')).toContainText('核')
      await accessible(page, 'the overview')
      await tab(page, '配置')
      await expect(page.getByText('GREETING=••••••')).toBeVisible()
      await button(page, '显示变量值').click()
      await expect(page.getByText('GREETING=你好')).toBeVisible()
      await accessible(page, 'the specification')
    })

    await test.step('its log, as it comes and searched', async () => {
      await tab(page, '日志')
      const log = page.getByRole('log')
      await expect(log.getByText('tick 1', { exact: false }).first()).toBeVisible()
      const before = await log.locator('> div').count()
      await expect.poll(() => log.locator('> div').count()).toBeGreaterThan(before)
      await accessible(page, 'the log')
      await page.getByText('搜索全部').click()
      await page.getByLabel('要搜索的文字，区分大小写').fill('tick 2')
      await page.keyboard.press('Enter')
      await expect(page.getByText(/找到 \d+ 行/)).toBeVisible()
      await expect(log.locator('mark').first()).toHaveText('tick 2')
      const saved = page.waitForEvent('download')
      await button(page, '下载全部').click()
      expect(readFileSync(await (await saved).path(), 'utf8')).toContain('tick 1\n')
    })

    await test.step('files go in and out', async () => {
      await tab(page, '文件')
      await page.getByRole('link', { name: 'etc', exact: true }).click()
      await expect(page.getByRole('cell', { name: /app\.yaml/ }).first()).toBeVisible()
      await page.locator('input[type=file]').setInputFiles({ name: 'in.txt', mimeType: 'text/plain', buffer: Buffer.from('进来\n') })
      await expect(page.getByText('已上传')).toBeVisible()
      await expect(page.getByRole('cell', { name: /in\.txt/ }).first()).toBeVisible()
      const saved = page.waitForEvent('download')
      await button(page, '下载 in.txt').click()
      expect(readFileSync(await (await saved).path(), 'utf8')).toBe('进来\n')
      await accessible(page, 'the files')
      await button(page, '把 in.txt 存到空间').click()
      await accessible(page, 'where to in a space')
      await shot(page, 'machine-to-space')
      await button(dialog(page), '存到这里').click()
      await expect(toast(page, '1 项开始传送')).toBeVisible()
      const copies = page.getByRole('region', { name: '与文件空间之间的传送' })
      await expect(copies.getByText(/in\.txt → 文件空间/)).toBeVisible()
      await expect(copies.getByText(/完成 · 7 B/)).toBeVisible({ timeout: 20_000 })
      trouble.expect(/409 POST .*\/machine-copies\/to$/)
      await button(page, '从空间传入').click()
      await dialog(page).getByLabel('in.txt').check()
      await accessible(page, 'what of a space')
      await shot(page, 'machine-from-space')
      await button(dialog(page), '传入选中的内容').click()
      await expect(dialog(page)).toContainText('已有同名的文件或文件夹：in.txt')
      await shot(page, 'machine-taken')
      await button(dialog(page), '继续').click()
      await expect(page.getByRole('cell', { name: /in \(1\)\.txt/ }).first()).toBeVisible({ timeout: 20_000 })
      await shot(page, 'machine-copies')
      await accessible(page, 'the files with what was copied')
    })

    await test.step('a terminal', async () => {
      await tab(page, '终端')
      await expect(page.getByText('已连接')).toBeVisible()
      await page.keyboard.type('cat /etc/app.yaml; echo "$((40+2)) $GREETING"\n')
      await expect(page.locator('.xterm-rows')).toContainText('42 你好')
      await expect(page.locator('.xterm-rows')).toContainText('一: 1')
      await page.getByRole('link', { name: '全屏终端' }).click()
      await expect(page.getByText('已连接')).toBeVisible()
      await page.getByRole('link', { name: '容器详情' }).click()
      await expect(page.getByRole('tab', { name: '概览' })).toBeVisible()
    })

    await test.step('a taken port is told before anything is made', async () => {
      await page.goto(`/containerApplicationService/addcontainer?edge=${edgeId}&image=${image}`)
      await button(page, '添加端口').click()
      await page.getByLabel('节点端口 1', { exact: true }).fill(String(port))
      await page.getByLabel('容器端口 1', { exact: true }).fill('80')
      await expect(page.getByText(new RegExp(`节点“${node}”的端口${port}已被“${name}”占用`))).toBeVisible()
    })

    await test.step('deleted with its containers', async () => {
      await page.goto('/containerApplicationService/containerDeploy')
      await button(rowOf(page, name), '删除').click()
      await page.getByRole('dialog').getByRole('textbox').fill(name)
      await button(page.getByRole('dialog'), '删除').click()
      await expect(toast(page, `正在删除部署“${name}”`)).toBeVisible()
      await expect(rowOf(page, name)).toHaveCount(0)
      expect((await docker.containers.list({ all: true })).filter((one) => one.image === image)).toEqual([])
    })
  })
})
