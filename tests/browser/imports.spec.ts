import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startHub, type Hub } from '../../apps/server/src/testing/hub.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { startServer, type RunningServer } from '../support/server.ts'
import { accessible, button, dialog, shot } from './console.ts'
import { field, fill } from './forms.ts'
import { newName, register } from './people.ts'
import { begin, password } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

/** This server may fetch from this machine, where the hub is. */
let server: RunningServer
let data: TemporaryFolder
let hub: Hub

test.beforeAll(async () => {
  data = temporaryFolder('imports')
  hub = await startHub()
  server = await startServer(begin(join(data.path, 'server')), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', IMAGE_FETCH_ALLOW: '127.0.0.1' })
})
test.afterAll(async () => {
  hub.close()
  await server.stop()
  data.remove()
})

test('a model comes in from another hub that an administrator allows, and shows once it is verified', async ({ page, context, browser }) => {
  const person = await register(server.url, newName('import'))
  await signIn(context, { username: person.username, password }, server.url)
  const name = newName('qwen')
  hub.files.set('README.md', Buffer.from('---\nlicense: mit\n---\n# 来自别处的模型\n'))
  hub.files.set('model.safetensors', randomBytes(1_500_000))

  const admins = await browser.newContext()
  await signIn(admins, 'admin', server.url)
  const theirs = await admins.newPage()
  /** What the administrator says of which hubs may be asked. */
  const allow = async (hubs: string): Promise<void> => {
    await theirs.goto(`${server.url}/configureDetail?key=model_hubs`)
    await field(theirs, '用户可以从哪些模型库导入模型，多个地址用逗号分隔').fill(hubs)
    await button(theirs, '保存').click()
    await expect(toast(theirs, '“可导入的模型库”已保存并生效')).toBeVisible()
  }

  await test.step('as long as no hub is allowed, that is said', async () => {
    await allow('')
    await page.goto(`${server.url}/warehouse?view=mine`)
    await button(page, '创建模型').click()
    await fill(dialog(page), { 命名空间: newName('lab'), 模型名: name, 标题: '导入的模型' })
    await button(dialog(page), '创建模型').click()
    await expect(page.getByRole('heading', { level: 1, name: '导入的模型' })).toBeVisible()
    await button(page, '导入').click()
    await expect(dialog(page)).toContainText('平台管理员还没有允许从任何模型库导入')
    await shot(page, 'imports-none')
    await page.keyboard.press('Escape')
  })

  await test.step('an administrator allows one', async () => {
    await allow(hub.url)
    await shot(theirs, 'imports-setting')
    await admins.close()
  })

  await test.step('it is brought in, and one sees how far it is, also after a reload', async () => {
    hub.paceMs = 150
    await page.reload()
    await button(page, '导入').click()
    await fill(dialog(page), { 对方的模型: 'team/model' })
    await accessible(page, 'an import')
    await shot(page, 'imports-form')
    await button(dialog(page), '开始导入').click()
    await expect(toast(page, '已开始导入')).toBeVisible()
    await expect(page.getByText('正在导入 team/model')).toBeVisible()
    await page.reload()
    await expect(page.getByText(/\/ 1\.43 MB，\d \/ 2 个文件/)).toBeVisible()
    await accessible(page, 'how far it is')
    await shot(page, 'imports-running')
    await expect(page.getByRole('heading', { name: '来自别处的模型' })).toBeVisible({ timeout: 30_000 })
    await expect(page.getByRole('tab', { name: '文件（2）' })).toBeVisible()
    await shot(page, 'imports-done')
  })

  await test.step('what is not what the hub said is told, and changes nothing', async () => {
    hub.paceMs = 0
    hub.told.set('model.safetensors', '0'.repeat(64))
    await button(page, '导入').click()
    await button(dialog(page), '开始导入').click()
    await expect(page.getByText(/没有导入 team\/model：.*校验值不符/)).toBeVisible({ timeout: 20_000 })
    await shot(page, 'imports-failed')
    await expect(page.getByRole('tab', { name: '文件（2）' })).toBeVisible()
  })
})
