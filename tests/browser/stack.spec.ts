import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { configs } from '@zhisuan/contract/cis/container'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { Client } from '../support/server.ts'
import { accessible, button, dialog, heading, rowOf } from './console.ts'
import { field, fill, takeOut } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const docker = createDocker(socketTransport())
const image = `zs-browser-stack-${randomUUID().slice(0, 8)}:1`

const tab = (page: Page, name: string | RegExp): Promise<void> => page.getByRole('tab', { name }).click()
const more = async (within: Locator, action: string): Promise<void> => {
  await within.getByRole('button', { name: /更多/ }).click()
  await within.page().getByRole('menuitem', { name: action }).click()
}
const choose = async (page: Page, label: string, option: string | RegExp): Promise<void> => {
  await field(page, label).click()
  await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: option }).click()
}
const editor = (page: Page): Locator => page.getByRole('textbox', { name: '编排文件' })
/** What is in the editor becomes this, as if it were pasted. */
async function write(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}

const file = (greeting: string) => `services:
  web:
    image: \${IMAGE}
    command: ["sh", "-c", "trap 'exit 0' TERM; i=0; while true; do i=$$((i+1)); echo ${greeting} \${WHO} $$i; sleep 1; done"]
    environment:
      WHO: \${WHO}
      PASSWORD: \${PASSWORD:-}
    volumes: ["./app.conf:/etc/app.conf:ro", "data:/data"]
volumes:
  data:
`

test.describe('applications on a real Docker', () => {
  test.skip(!dockerIsThere, 'no Docker Engine on this host')
  const [node, name, template, config] = [newName('node'), newName('app'), newName('template'), newName('conf')]
  let data: TemporaryFolder
  let agent: RunningAgent | undefined
  let client: Client

  test.beforeAll(async () => {
    data = temporaryFolder('browser-stack')
    await importBusybox(docker, image)
    client = new Client(stage().url, someAddress())
    await client.signIn(stage().tenantAdmin.username, stage().tenantAdmin.password)
  })
  test.afterAll(async () => {
    await agent?.stop()
    for (const one of await docker.containers.list({ all: true }))
      if (one.image === image) await docker.containers.remove(one.id, { force: true, volumes: true })
    for (const { name: volume } of await docker.volumes.list({})) if (volume.startsWith(`zs-${name}`)) await docker.volumes.remove(volume, { force: true })
    for (const id of networks()) execFileSync('docker', ['network', 'rm', id])
    for (const { id, tags } of await docker.images.list()) if (tags.includes(image)) await docker.images.remove(id, { force: true })
    data.remove()
  })
  /** Those of this application's projects. */
  const networks = (): string[] =>
    execFileSync('docker', ['network', 'ls', '-q', '--filter', `name=zs-${name}`], { encoding: 'utf8' })
      .split('\n')
      .filter((id) => id !== '')
  const running = async () => (await docker.containers.list({ all: true })).filter((one) => one.image === image)
  /** The variables of the one container of the service. */
  const environment = async (): Promise<string> => {
    // While it is replaced there may be none that runs.
    const one = (await running()).find(({ state }) => state === 'running')
    if (one === undefined) return ''
    return docker.execs.run(one.id, { command: ['env'] }).then(
      ({ stdout }) => stdout.toString(),
      () => '',
    )
  }

  test('a template is deployed to a new node, entered, updated, gone back with and deleted', { tag: '@journey' }, async ({ page, context, trouble }) => {
    // Its pages are still open when it is deleted; a terminal that is left is closing still when the next is asked for.
    trouble.expect(/^404 GET \/api\/aos\/v1\//, /^409 POST .*\/terminals$/)
    await signIn(context, 'tenantAdmin')

    await test.step('a node is brought in by the printed command', async () => {
      await page.goto('/infrastructure/addNodes')
      await fill(page, { 名称: node })
      await button(page, '下一步').click()
      await expect(page.getByText('正在等待节点接入…')).toBeVisible()
      agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf((await page.locator('pre').textContent()) ?? '')])
      await button(page, '是这个节点，允许加入').click()
      await expect(page.getByText(`“${node}”已经在线`)).toBeVisible()
    })

    await test.step('a config is written', async () => {
      await page.goto('/containerApplicationService/configureInformation')
      await fill(page, { 名称: config, 内容: 'mode=first\n' })
      await button(page, '保存').click()
      await expect(rowOf(page, config)).toBeVisible()
    })

    await test.step('a template is written, with what is wrong at its line', async () => {
      await page.goto('/containerApplicationService/appTemplate')
      await accessible(page, 'the templates')
      await button(page, '创建模板').first().click()
      await fill(page, { 名称: template, 描述: '问候' })
      await write(page, `${file('hello')}servics: {}\n`)
      await expect(page.getByText('5 个问题：')).toBeVisible()
      await expect(page.locator('.cm-lint-marker-error').first()).toBeVisible()
      await accessible(page, 'the form of a template')
      await button(page, '第 11 行').click()
      await expect(editor(page)).toBeFocused()
      await write(page, file('hello'))
      // Whoever has no mouse gets out of it.
      await page.keyboard.press('Tab')
      await expect(editor(page)).not.toBeFocused()
      // What nobody could fill in is told at its line; what has a default may stay so.
      const problems = page.getByRole('status', { name: '4 个问题：' })
      await expect(problems).toContainText('第 3 行 变量“IMAGE”没有声明，部署时无法填写')
      await expect(problems).toContainText('第 7 行 变量“PASSWORD”没有声明，部署时总是使用文件中的默认值')
      await button(page, '声明变量 IMAGE').click()
      await expect(page.getByText('3 个问题：')).toBeVisible()
      await expect(page.getByLabel('变量名 1', { exact: true })).toHaveValue('IMAGE')
      await button(page, '加入文件中的 2 个变量：WHO、PASSWORD').click()
      await expect(page.getByText('0 个问题：')).toBeAttached()
      await page.getByLabel('显示名称 1', { exact: true }).fill('镜像')
      await page.getByLabel('默认值 1', { exact: true }).fill(image)
      await choose(page, '类型 2', '单选')
      await page.getByRole('combobox', { name: '可选值 2', exact: true }).fill('world,moon,')
      await page.keyboard.press('Escape')
      await page.getByRole('checkbox', { name: '必填' }).nth(2).uncheck()
      await expect(page.getByLabel('默认值 3', { exact: true })).toHaveAttribute('type', 'password')
      await accessible(page, 'the variables of a template')
      await button(page, '保存').click()
      await expect(heading(page, `${template} 1.0`)).toBeVisible()
      await accessible(page, 'a template')
      await tab(page, '变量（3）')
      await expect(rowOf(page, 'WHO')).toContainText('world、moon')
    })

    await test.step('and another version of it', async () => {
      await page.locator('.frame-head-actions').getByRole('button', { name: '新建版本' }).click()
      await expect(field(page, '版本')).toHaveValue('1.1')
      await write(page, file('bonjour'))
      await button(page, '保存').click()
      await expect(heading(page, `${template} 1.1`)).toBeVisible()
      await tab(page, '全部版本（2）')
      await expect(rowOf(page, '1.0')).toBeVisible()
      await accessible(page, 'the versions')
    })

    await test.step('deployed, with what is missing beside its field', async () => {
      const source = (kind: string): Locator => page.locator('.ant-radio-button-wrapper', { hasText: kind })
      await page.goto('/containerApplicationService/appTemplate')
      await button(rowOf(page, template), '部署').click()
      await expect(heading(page, '部署应用')).toBeVisible()
      await expect(field(page, '镜像')).toHaveValue(image)
      // A file that is typed asks for what stands in it.
      await source('编写编排文件').click()
      await write(page, 'services:\n  other:\n    image: other:${TAG}\n')
      await expect(field(page, 'TAG')).toBeVisible()
      await expect(page.getByRole('complementary', { name: '概要' })).toContainText('other')
      await accessible(page, 'a file that is typed')
      await source('应用模板').click()
      await choose(page, '版本', '1.0')
      await fill(page, { 名称: name })
      // The only node that can take it is chosen already.
      await takeOut(page, '节点', node)
      await button(page, '开始部署').click()
      await expect(page.getByText('请选择节点或设置节点标签')).toBeVisible()
      await accessible(page, 'the form of a deployment')
      await choose(page, 'WHO', 'world')
      await field(page, 'PASSWORD').fill('geheim')
      await expect(page.getByText(/第 8 行/)).toBeVisible()
      await button(page, '添加配置文件').click()
      await choose(page, '配置 1', config)
      await page.getByLabel('路径 1', { exact: true }).fill('app.conf')
      await expect(page.getByText(/第 8 行/)).toBeHidden()
      await field(page, '节点').click()
      await page.locator('.ant-select-item-option', { hasText: node }).click()
      await page.keyboard.press('Escape')
      await expect(page.getByText('1 个节点可以部署')).toBeVisible()
      await button(page, '开始部署').click()
      await expect(heading(page, name)).toBeVisible()
      // What goes on is the server's: a reload shows the same.
      await page.reload()
      await expect(rowOf(page, node).getByText('运行中')).toBeVisible()
      await accessible(page, 'an application')
      await expect.poll(environment).toContain('WHO=world')
    })

    await test.step('its services, and a container with its terminal and its log', async () => {
      await page.getByRole('link', { name: node, exact: true }).click()
      await expect(rowOf(page, 'web')).toContainText('1 / 1')
      await accessible(page, 'a stack')
      await page.getByRole('link', { name: 'web', exact: true }).click()
      await expect(page.getByText(image)).toBeVisible()
      await accessible(page, 'the containers of a service')
      await page.getByRole('link', { name: /web/ }).first().click()
      await expect(page.getByRole('tab', { name: '概览' })).toBeVisible()
      await accessible(page, 'a container')
      await tab(page, '终端')
      await expect(page.getByText('已连接')).toBeVisible()
      await expect(page.locator('.xterm-helper-textarea')).toBeFocused()
      await page.keyboard.type('cat /etc/app.conf; echo "$((40+2)) $WHO"; echo kept > /data/x\n')
      await expect(page.locator('.xterm-rows')).toContainText('42 world')
      await expect(page.locator('.xterm-rows')).toContainText('mode=first')
      await tab(page, '日志')
      const log = page.getByRole('log')
      await expect(log.getByText('hello world', { exact: false }).first()).toBeVisible()
      const before = await log.locator('> div').count()
      await expect.poll(() => log.locator('> div').count()).toBeGreaterThan(before)
    })

    await test.step('updated to the other version, with the differences shown', async () => {
      await page.goto('/containerApplicationService/applicationDeploy')
      await accessible(page, 'the applications')
      await page.getByRole('link', { name, exact: true }).click()
      await button(rowOf(page, node), '更新').click()
      await expect(heading(page, `更新“${name}”`)).toBeVisible()
      await expect(page.getByText(/与运行中的修订 1 相同/)).toBeVisible()
      await choose(page, '版本', '1.1')
      await choose(page, 'WHO', 'moon')
      await expect(page.getByText('编排文件有改动')).toBeVisible()
      await expect(page.getByText('1 个变量有改动')).toBeVisible()
      await expect(page.locator('.cm-deletedChunk')).toContainText('echo hello')
      await accessible(page, 'the form of an update')
      await button(page, '更新应用').click()
      await expect(toast(page, `正在更新“${name}”`)).toBeVisible()
      await expect(page.locator('.frame-head-status')).toHaveText('运行中')
      await expect.poll(environment).toContain('WHO=moon')
    })

    await test.step('gone back with to the first revision, and the volume keeps what it had', async () => {
      await tab(page, '修订')
      await accessible(page, 'the revisions')
      await button(page.getByRole('tabpanel').getByRole('row', { name: /修订 1/ }), '回滚').click()
      await expect(dialog(page).locator('.cm-deletedChunk')).toContainText('echo bonjour')
      await accessible(page, 'the question')
      await button(dialog(page), '显示变量值').click()
      await expect(dialog(page)).toContainText('WHO: moon → world')
      await dialog(page)
        .getByRole('button', { name: /^回\s?滚$/ })
        .click()
      // The facts above name it, too.
      await expect(page.getByRole('tabpanel').getByRole('row', { name: /修订 3/ })).toContainText('运行中')
      await expect.poll(environment).toContain('WHO=world')
      const [one] = await running()
      expect((await docker.execs.run(one?.id ?? '', { command: ['cat', '/data/x'] })).stdout.toString()).toBe('kept\n')
      await tab(page, '操作记录')
      await expect(page.getByRole('tabpanel').getByRole('row', { name: /回滚/ })).toContainText('成功')
      await accessible(page, 'the history')
      await tab(page, '编排与变量')
      await expect(page.getByText('第 1 版，已是最新')).toBeVisible()
      await accessible(page, 'the file')
    })

    await test.step('a config that changed is brought to the node', async () => {
      const [own] = (await client.call(configs.list, { query: { keyword: config } })).items
      await client.call(configs.put, { body: { id: own?.id ?? '', name: config, content: 'mode=second\n' } })
      await expect(page.getByText('1 个配置文件有新内容')).toBeVisible()
      await button(page, '更新配置文件').click()
      await expect(page.getByText('第 2 版，已是最新')).toBeVisible()
      await expect(page.locator('.frame-head-status')).toHaveText('运行中')
      const [one] = await running()
      expect((await docker.execs.run(one?.id ?? '', { command: ['cat', '/etc/app.conf'] })).stdout.toString()).toBe('mode=second\n')
    })

    await test.step('scaled, stopped and started, by keyboard alone', async () => {
      await tab(page, '服务')
      const scale = rowOf(page, 'web').getByRole('button', { name: '更多' })
      await scale.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem', { name: '伸缩' }).press('Enter')
      // What is typed before the field has the focus goes to the page.
      await expect(dialog(page).getByRole('spinbutton')).toBeFocused()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type('2')
      await page.keyboard.press('Enter')
      await expect(rowOf(page, 'web')).toContainText('2 / 2')
      await expect(scale).toBeFocused()
      expect(await running()).toHaveLength(2)
      await button(page.locator('.frame-head-actions'), '停止').click()
      await dialog(page)
        .getByRole('button', { name: /停\s?止/ })
        .click()
      await expect(page.locator('.frame-head-status')).toHaveText('已停止')
      await button(page.locator('.frame-head-actions'), '启动').click()
      await expect(page.locator('.frame-head-status')).toHaveText('运行中')
    })

    await test.step('deleted, and nothing is left on the node', async () => {
      await page.goto('/containerApplicationService/applicationDeploy')
      await button(rowOf(page, name), '删除').click()
      await accessible(page, 'what will be lost')
      await dialog(page).getByRole('textbox').fill(name)
      await dialog(page)
        .getByRole('button', { name: /删\s?除/ })
        .click()
      await expect(toast(page, `正在删除“${name}”`)).toBeVisible()
      await expect(rowOf(page, name)).toHaveCount(0)
      expect(await running()).toEqual([])
      expect((await docker.volumes.list({})).filter((volume) => volume.name.startsWith(`zs-${name}`))).toEqual([])
      expect(networks()).toEqual([])
      const [edge] = (await client.call(edges.list, { query: { keyword: node } })).items
      expect(edge?.container_count).toBe(0)
    })

    await test.step('the template goes with all its versions', async () => {
      await page.goto('/containerApplicationService/appTemplate')
      await more(rowOf(page, template), '删除全部版本')
      await dialog(page).getByRole('textbox').fill(template)
      await button(dialog(page), '删除全部版本').click()
      await expect(rowOf(page, template)).toHaveCount(0)
    })
  })
})
