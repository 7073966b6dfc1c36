import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { accessible, dialog, rowOf } from './console.ts'
import { field, fill } from './forms.ts'
import { newName } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test.describe('flavors', () => {
  test('an administrator makes one, looks at it, changes who may choose it, and deletes it', async ({ page, context, trouble }) => {
    // The page may ask for what it shows once more, after it is gone.
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/flavors\//)
    const name = newName('gpu')
    await signIn(context, 'admin')
    await page.goto('/nextStack/flavors')
    await expect(rowOf(page, 'nano')).toContainText('256 MB')
    await accessible(page, 'the list')

    await page.getByRole('button', { name: '创建规格' }).first().click()
    // What is wrong stands beside its field.
    await dialog(page).getByRole('button', { name: '创建规格' }).click()
    await expect(dialog(page).getByText('请输入内容')).toBeVisible()
    await fill(page, { 规格名称: name, 描述: '给训练任务用', 'vCPU 核数': '16', 内存: '128' })
    // What it said folds away, and moves what is below.
    await expect(dialog(page).getByText('请输入内容')).toHaveCount(0)
    await dialog(page).getByRole('switch', { name: '直通整块 GPU' }).click()
    await fill(page, { 'GPU 型号': 'NVIDIA A100', 数量: '2' })
    await dialog(page)
      .getByRole('radio', { name: /仅指定的组织/ })
      .check()
    await dialog(page).getByRole('button', { name: '创建规格' }).click()
    await expect(dialog(page).getByText('请至少选择一个组织，或设为公开')).toBeVisible()
    await field(page, '可以选择的组织').fill('浏览器测试')
    await page.getByTitle('浏览器测试组织').click()
    await page.keyboard.press('Escape')
    await expect(page.locator('.ant-select-dropdown:visible')).toHaveCount(0)
    await accessible(page, 'the drawer')
    await dialog(page).getByRole('button', { name: '创建规格' }).click()
    await expect(toast(page, `规格“${name}”已创建`)).toBeVisible()

    const row = rowOf(page, name)
    await expect(row).toContainText('16 核')
    await expect(row).toContainText('128 GB')
    await expect(row).toContainText('NVIDIA A100 × 2')
    await expect(row).toContainText('1 个组织')
    await row.getByRole('link', { name }).click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await expect(page.getByText('还没有云主机使用该规格')).toBeVisible()
    await page.getByRole('tab', { name: '谁可以选择' }).click()
    await expect(page.getByText('浏览器测试组织')).toBeVisible()
    await accessible(page, 'the page of one')

    await page.getByRole('button', { name: '编辑' }).click()
    await dialog(page).getByRole('radio', { name: /公开/ }).check()
    await dialog(page).getByRole('button', { name: '保存' }).click()
    await expect(page.getByText('所有组织都可以选择该规格')).toBeVisible()

    await page.getByRole('button', { name: '删除' }).click()
    await expect(dialog(page)).toContainText('此操作不能撤销')
    await dialog(page).getByRole('button', { name: '删除' }).click()
    await expect(page).toHaveURL(/\/nextStack\/flavors$/)
    await expect(rowOf(page, 'nano')).toBeVisible()
    await expect(rowOf(page, name)).toHaveCount(0)
  })

  test('one that instances have names them, and cannot be deleted', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/nextStack/flavors?keyword=nano')
    const row = rowOf(page, 'nano')
    const remove = row.getByRole('button', { name: '删除' })
    await expect(remove).toHaveAttribute('aria-disabled', 'true')
    await row.getByRole('link', { name: 'nano' }).click()
    const vm = page.getByRole('row', { name: /batch-12\b/ })
    await expect(vm).toContainText('运行中')
    await vm.getByRole('link', { name: 'batch-12', exact: true }).click()
    await expect(page).toHaveURL(/\/nextStack\/vm\/detail\//)
  })

  test('are no page for tenants', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/nextStack/flavors')
    await expect(page.getByRole('heading', { level: 1, name: '没有权限' })).toBeVisible()
    await expect(page).toHaveURL(/\/nextStack\/flavors$/)
  })
})

test.describe('SSH keys', () => {
  let folder: string
  test.beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zhisuan-keys-'))
  })
  test.afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const keygen = spawnSync('ssh-keygen', ['-?']).error === undefined

  test('one is generated, its private half downloaded once, and it is deleted', async ({ page, context, trouble }) => {
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/key-pairs\//)
    const name = newName('laptop')
    await signIn(context, 'tenant')
    // From another page, so that there is one to go back to.
    await page.goto('/nextStack/vm')
    await page.getByRole('link', { name: '密钥对' }).click()
    await page.getByRole('button', { name: '生成密钥' }).first().click()
    await fill(page, { 名称: name, 描述: '办公室的笔记本' })
    await accessible(page, 'the dialog')
    await dialog(page).getByRole('button', { name: '生成', exact: true }).click()

    const shown = page.getByRole('dialog', { name: `请立即保存“${name}”的私钥` })
    await expect(shown).toContainText('私钥只显示这一次')
    await accessible(page, 'the private key')
    // Whoever leaves without it is told what they lose.
    await shown.getByRole('button', { name: '完成' }).click()
    await expect(page.getByText('您没有下载也没有复制私钥')).toBeVisible()
    await page.getByRole('button', { name: '返回保存' }).click()
    await page.goBack()
    await expect(page.getByText('您没有下载也没有复制私钥')).toBeVisible()
    await page.getByRole('button', { name: '返回保存' }).click()
    await expect(shown).toBeVisible()

    const downloading = page.waitForEvent('download')
    await shown.getByRole('button', { name: `下载 ${name}.pem` }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`${name}.pem`)
    const file = join(folder, `${name}.pem`)
    copyFileSync(await download.path(), file)
    chmodSync(file, 0o600)
    expect(readFileSync(file, 'utf8')).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/)
    await shown.getByRole('button', { name: '完成' }).click()
    await expect(shown).toHaveCount(0)

    const row = rowOf(page, name)
    await expect(row).toContainText('Ed25519')
    await expect(row).toContainText('平台生成')
    if (keygen) {
      const [, fingerprint = ''] = execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).split(' ')
      await expect(row).toContainText(fingerprint)
    }
    await accessible(page, 'the list')
    await row.getByRole('link', { name }).click()
    await expect(page.getByRole('region', { name: '公钥' })).toContainText('ssh-ed25519 ')
    await expect(page.getByText('还没有云主机放入该密钥')).toBeVisible()
    await accessible(page, 'the page of one')

    await page.getByRole('button', { name: '删除' }).click()
    await expect(dialog(page)).toContainText('已放入云主机的公钥不会被移除')
    await dialog(page).getByRole('button', { name: '删除' }).click()
    await expect(page).toHaveURL(/\/nextStack\/publicKey$/)
    await expect(rowOf(page, name)).toHaveCount(0)
  })

  test('one is imported from a file; a private key, a weak one and one that is there already are refused', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST .*key-pairs/)
    const [name, again] = [newName('import'), newName('again')]
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6l0uNYBUsRUAfb7E1sd/iVJ32O7azxPPPtbBDAU7aA me@host'
    await signIn(context, 'tenant')
    await page.goto('/nextStack/publicKey')
    const open = async (as: string) => {
      await page.getByRole('button', { name: '导入公钥' }).first().click()
      await fill(page, { 名称: as })
    }
    const submit = () => dialog(page).getByRole('button', { name: '导入', exact: true }).click()
    await open(name)
    await fill(page, { 公钥: '-----BEGIN OPENSSH PRIVATE KEY-----' })
    await submit()
    await expect(dialog(page).getByText('这是私钥')).toBeVisible()
    const weak =
      'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCuiBwx3Wr4bEGZ6SMxt9bLZojaClAP/FidpDwmcXbeNIdm6YaFwmOQ93LLMokMTNhcuoRyeOUOTOr+MXQxk9Q6pDx3a0fxVidJcvjMYctD2DNooJNnAKovCRqHSVJcq5AsMAfDO100KnMNm/JOCwzWplVB5Ue5S/E8emIqZT/MMw=='
    await fill(page, { 公钥: weak })
    await submit()
    await expect(dialog(page).getByText('公钥内容无效或长度不足')).toBeVisible()
    await page.getByTestId('public-key-file').setInputFiles({ name: 'id_ed25519.pub', mimeType: 'text/plain', buffer: Buffer.from(`${key}\r\n`) })
    await expect(field(page, '公钥')).toHaveValue(key)
    await submit()
    await expect(toast(page, `公钥“${name}”已导入`)).toBeVisible()
    await expect(rowOf(page, name)).toContainText('SHA256:2BEvnkE2LVfQvrGv2qm+vROUt6QugCzar9JPBzHVk2U')
    await open(again)
    await fill(page, { 公钥: key })
    await submit()
    await expect(dialog(page).getByText(`该公钥已导入为“${name}”`).first()).toBeVisible()
  })
})

test.describe('commands', () => {
  const pane = (page: Page, name: string): Locator => page.getByRole('article', { name })

  test('one runs in two instances that were selected in the list; its results stand side by side', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/nextStack/vm?keyword=batch-&sort=name')
    for (const name of ['batch-1', 'batch-2'])
      await page
        .getByRole('row', { name: new RegExp(`${name}(?!\\d)`) })
        .getByRole('checkbox')
        .check()
    await page.getByRole('button', { name: '执行命令' }).click()
    await expect(page).toHaveURL(/mode=batch/)
    // By its whole name: the list that is left has batch-10 too.
    await expect(page.getByRole('main').getByTitle('batch-1', { exact: true })).toBeVisible()
    await field(page, '命令').fill('hostname\ncat /no/such\n')
    await accessible(page, 'the composer')
    await page.getByRole('button', { name: '在 2 台云主机上执行' }).click()
    for (const name of ['batch-1', 'batch-2']) {
      await expect(pane(page, name)).toContainText('失败')
      await expect(pane(page, name)).toContainText('退出码 1')
      await expect(pane(page, name).getByRole('region')).toContainText(`${name}\n`)
      await expect(pane(page, name).getByRole('region')).toContainText('cat: /no/such: No such file')
    }
    await expect(page.getByRole('status').filter({ hasText: '2 / 2 台完成，2 台失败' })).toBeVisible()
    await accessible(page, 'the results')

    const downloading = page.waitForEvent('download')
    await pane(page, 'batch-1').getByRole('button', { name: '下载' }).click()
    expect(readFileSync(await (await downloading).path(), 'utf8')).toContain('No such file')
    await pane(page, 'batch-1').getByRole('button', { name: '展开' }).click()
    await expect(dialog(page).getByRole('region')).toContainText('No such file')
    await accessible(page, 'one output, large')
    await dialog(page).locator('.ant-modal-footer').getByRole('button', { name: '关闭' }).click()

    // The address knows which one is looked at.
    await page.reload()
    await expect(pane(page, 'batch-2')).toContainText('退出码 1')
    const row = rowOf(page, 'hostname').first()
    await expect(row).toContainText('失败')
    await page.getByRole('button', { name: '编辑后执行' }).first().click()
    await expect(field(page, '命令')).toHaveValue('hostname\ncat /no/such\n')
    await expect(page.getByRole('main').getByTitle('batch-2', { exact: true })).toBeVisible()
  })

  test('one that takes long is seen to run, and is cancelled; it can be run again', async ({ page, context }) => {
    const name = newName('long')
    await signIn(context, 'tenant')
    await page.goto(`/nextStack/vmCommand?mode=batch&vms=${stage().vmId}`)
    await expect(page.getByRole('main').getByTitle('示例实例', { exact: true })).toBeVisible()
    await fill(page, { 命令: 'sleep 600\n', 名称: name })
    await page.getByRole('button', { name: '执行', exact: true }).click()
    await expect(pane(page, '示例实例')).toContainText('执行中')
    await expect(pane(page, '示例实例')).toContainText(/[2-9] 秒/)
    await page.getByRole('button', { name: '取消执行' }).first().click()
    await dialog(page).getByRole('button', { name: '取消执行' }).click()
    await expect(pane(page, '示例实例')).toContainText('已取消')
    await expect(rowOf(page, name)).toContainText('已取消')

    const first = page.url()
    await page.getByRole('button', { name: '重新执行' }).first().click()
    await expect(dialog(page)).toContainText('以 root 身份再执行一次')
    await dialog(page).getByRole('button', { name: '重新执行' }).click()
    await expect(page).not.toHaveURL(first)
    await expect(pane(page, '示例实例')).toContainText('执行中')
    await page.getByRole('button', { name: '取消执行' }).first().click()
    await dialog(page).getByRole('button', { name: '取消执行' }).click()
    await expect(pane(page, '示例实例')).toContainText('已取消')
    await page.getByRole('button', { name: '收起结果' }).click()
    await expect(pane(page, '示例实例')).toHaveCount(0)
  })

  test('terminals and commands are two ways of one page', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/nextStack/vmCommand')
    await expect(page.getByText('从左侧选择云主机')).toBeVisible()
    await page.getByText('批量命令', { exact: true }).click()
    await expect(page.getByRole('heading', { name: '新命令' })).toBeVisible()
    await page.getByRole('button', { name: '执行', exact: true }).click()
    await expect(page.getByText('请选择1到50台实例')).toBeVisible()
    await page.goBack()
    await expect(page.getByText('从左侧选择云主机')).toBeVisible()
  })
})

test.describe('changes', () => {
  test('show at once on every open page, not at its next look', async ({ page, context, browser }) => {
    await signIn(context, 'tenant')
    const name = newName('seen')
    await page.clock.install()
    const waits = page.waitForRequest((request) => request.url().includes('/api/sys/v1/changes?after='))
    await page.goto('/nextStack/vmCommand?mode=batch')
    await expect(page.getByRole('heading', { name: '执行记录' })).toBeVisible()
    await waits
    // Its own look at the list comes every five seconds: they do not pass any more.
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000))
    const other = await browser.newContext({ baseURL: stage().url })
    await signIn(other, 'tenant')
    const token = (await other.cookies()).find((cookie) => cookie.name === 'token')?.value ?? ''
    const answer = await other.request.post('/api/nextstack/v1/commands', {
      headers: { authorization: `Bearer ${token}` },
      data: { vm_ids: [stage().vmId], script: 'true', name },
    })
    expect(answer.status()).toBe(202)
    await expect
      .poll(async () => {
        await page.clock.runFor(20)
        return rowOf(page, name).count()
      })
      .toBe(1)
    await other.close()
  })
})
