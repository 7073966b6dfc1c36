import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { registries } from '@zhisuan/contract/ims/registry'
import { createDocker } from '@zhisuan/engines/docker/engine'
import { socketTransport } from '@zhisuan/engines/docker/socket'
import { dockerIsThere, importBusybox } from '@zhisuan/engines/docker/testing'
import { registryIsThere } from '@zhisuan/engines/registry/testing'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, startAtOrigin, until, type Client, type RunningServer } from '../support/server.ts'
import { openWayIn } from '../support/wayIn.ts'
import { button, dialog, more, pick, rowOf, shot, visit } from './console.ts'
import { field, fill } from './forms.ts'
import { expect, signIn, test, toast } from './test.ts'

const run = promisify(execFile)
const docker = createDocker(socketTransport())
const local = `zs-browser-registry-${randomUUID().slice(0, 8)}:1`
const password = 'Registry-pass-1'

test.describe('a registry that the platform runs', () => {
  test.skip(!dockerIsThere || !registryIsThere, 'no Docker Engine or no docker-registry on this host')
  let data: TemporaryFolder
  let server: RunningServer
  let origin: string
  let admin: Client
  let agent: RunningAgent | undefined
  let closeWay = (): void => undefined
  const images: string[] = [local]

  test.beforeAll(async () => {
    data = temporaryFolder('browser-registry')
    await importBusybox(docker, local)
    ;({ server, origin } = await startAtOrigin(join(data.path, 'server'), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' }))
    admin = await asAdministrator(server)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'first-node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online', 40_000)
  })
  test.afterAll(async () => {
    closeWay()
    await agent?.stop()
    await server?.stop()
    for (const pid of allPids()) if (markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true) process.kill(pid, 'SIGKILL')
    for (const one of await docker.containers.list({ all: true }))
      if (images.includes(one.image)) await docker.containers.remove(one.id, { force: true, volumes: true })
    for (const image of images) await docker.images.remove(image, { force: true }).catch(() => undefined)
    data.remove()
  })

  test('is made, what is pushed to it is seen within two seconds, is brought to a node, and a container is made of it there', async ({
    page,
    context,
    trouble,
  }) => {
    // Nobody has a password for the registries at first: the page asks for one.
    trouble.expect(/^400 POST \/api\/ims\/v1\/docker\/registries\/command/)
    await signIn(context, 'admin', origin)
    await page.goto(`${origin}/mirror/service`)
    await button(page, '添加仓库').first().click()
    await fill(dialog(page), { 名称: 'main' })
    await pick(dialog(page), '节点', 'first-node')
    await fill(dialog(page), { 访问地址: '127.0.0.1', 端口: String(await freePort()) })
    await shot(page, 'registry-create')
    await dialog(page).getByText('登记已有仓库').click()
    await dialog(page).getByText('Harbor', { exact: true }).click()
    await shot(page, 'registry-harbor')
    await dialog(page).getByText('由平台新建').click()
    await button(dialog(page), '添加仓库').click()
    await expect(rowOf(page, 'main')).toContainText('启用', { timeout: 60_000 })
    await shot(page, 'registry-list')
    await more(rowOf(page, 'main'), '运行日志')
    await expect(
      dialog(page)
        .getByText(/还没有日志|level=/)
        .first(),
    ).toBeVisible()
    await button(dialog(page), '刷新').click()
    await shot(page, 'registry-log')
    await page.keyboard.press('Escape')
    const [registry] = (await admin.call(registries.list)).items
    const address = registry?.address ?? ''
    closeWay = await openWayIn(Number(address.split(':')[1]))

    await visit(page, `${origin}/mirror/project`)
    await button(page, '创建项目').first().click()
    await fill(dialog(page), { 名称: 'team' })
    await button(dialog(page), '创建').click()
    await expect(toast(page, '“team”已创建')).toBeVisible()
    await button(page, '推拉命令').first().click()
    await fill(dialog(page), { 仓库密码: password, 再次输入: password })
    await button(dialog(page), '保存').click()
    await expect(page.getByText(`docker login ${address} -u admin`)).toBeVisible()
    await shot(page, 'registry-command')
    await page.keyboard.press('Escape')

    // Pushed by a program, seen by who looks.
    await rowOf(page, 'team').getByRole('link', { name: 'team' }).click()
    await expect(page.getByText('项目里还没有镜像')).toBeVisible()
    const certificates = join(data.path, 'certificates')
    mkdirSync(certificates)
    writeFileSync(join(certificates, 'ca.crt'), registry?.certificate_authority ?? '')
    const image = `${address}/team/app:1.0`
    images.push(image)
    await run('skopeo', ['copy', '--dest-creds', `admin:${password}`, '--dest-cert-dir', certificates, `docker-daemon:${local}`, `docker://${image}`])
    await expect(page.getByRole('link', { name: 'app' })).toBeVisible({ timeout: 2_000 })
    await page.getByRole('link', { name: 'app' }).click()
    await expect(page.getByRole('row').filter({ hasText: 'sha256:' })).toContainText('1.0')
    await shot(page, 'registry-repository')

    // To the node, which has no part of it yet.
    await docker.images.remove(local, { force: true })
    await visit(page, `${origin}/mirror/imagesDownloadList`)
    await button(page, '预热镜像').first().click()
    await dialog(page).getByRole('combobox', { name: '镜像仓库服务' }).click()
    await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: 'main' }).click()
    await dialog(page).getByRole('combobox', { name: '镜像 1', exact: true }).fill('team/app')
    await fill(dialog(page), { '标签 1': '1.0' })
    await pick(dialog(page), '节点', 'first-node')
    await page.keyboard.press('Escape')
    await shot(page, 'registry-preheat')
    await button(dialog(page), '预热镜像').click()
    await expect(rowOf(page, image)).toContainText('已完成', { timeout: 30_000 })
    await rowOf(page, image).getByRole('button', { name: '查看进度' }).click()
    await expect(dialog(page).getByRole('row').filter({ hasText: 'first-node' })).toContainText('已拉取')
    await shot(page, 'registry-preheat-progress')
    await page.keyboard.press('Escape')

    await visit(page, `${origin}/containerApplicationService/containerDeploy`)
    await button(page, '创建部署').first().click()
    await fill(page, { 名称: 'made', 启动命令: 'sleep 1000' })
    await field(page, '镜像').fill('team/app')
    await page
      .locator('.ant-select-item-option', { hasText: `${address}/team/app` })
      .first()
      .click()
    await shot(page, 'registry-image-field')
    await field(page, '镜像').fill(image)
    await page.keyboard.press('Escape')
    await button(page, '开始部署').click()
    await expect(rowOf(page, 'made').getByText('运行中')).toBeVisible({ timeout: 30_000 })
    await shot(page, 'registry-container')

    // What is ours is no third party's, however its address is written.
    trouble.expect(/^400 POST \/api\/ims\/v1\/docker\/3rd-registries/)
    await visit(page, `${origin}/mirror/thirdParty`)
    await button(page, '添加第三方仓库').first().click()
    await fill(dialog(page), { 名称: 'alias', 仓库地址: `https://LOCALHOST:${address.split(':')[1]}/` })
    await dialog(page).getByText('匿名访问').click()
    await button(dialog(page), '添加第三方仓库').click()
    await expect(dialog(page).getByText('该地址是平台的镜像仓库，不能登记为第三方仓库')).toBeVisible()
    await shot(page, 'registry-third-own')
    await page.keyboard.press('Escape')
  })
})
