import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { BrowserContext, Locator, Page } from '@playwright/test'
import { imageLibrary } from '@zhisuan/contract/nextstack/image'
import { pack } from 'tar-stream'
import { accessible, button, dialog, rowOf } from './console.ts'
import { field, fill, wrong } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
const state = (page: Page): Locator => page.locator('.zs-status').first()

/** An image that nobody else has. */
async function imageFile(name: string): Promise<{ name: string; mimeType: string; buffer: Buffer }> {
  const archive = pack()
  archive.entry({ name: 'metadata.yaml' }, 'architecture: x86_64\ncreation_date: 1700000000\nproperties:\n  os: TestOS\n  release: "7"\n')
  archive.entry({ name: 'rootfs/root/mark' }, randomBytes(2_000_000))
  archive.finalize()
  const parts: Buffer[] = []
  for await (const part of archive as AsyncIterable<Buffer>) parts.push(part)
  return { name: `${name}.tar.gz`, mimeType: 'application/gzip', buffer: gzipSync(Buffer.concat(parts)) }
}

/** One of the actions of the page, wherever it stands. */
async function act(page: Page, name: string): Promise<void> {
  const actions = page.locator('.zs-actions-default')
  await expect(actions.getByRole('button').first()).toBeVisible()
  const shown = actions.getByRole('button', { name, exact: true })
  if ((await shown.count()) > 0) return shown.click()
  await actions.getByRole('button', { name: '更多' }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

/** Holds the bytes of uploads back, as a slow network does, until they are let through. */
async function slowUploads(page: Page): Promise<{ offsets: string[]; held: Promise<void>; release: () => Promise<void> }> {
  const offsets: string[] = []
  const held = Promise.withResolvers<void>()
  let open = false
  const waiting: (() => void)[] = []
  await page.route('**/image-library/*/file', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    offsets.push(route.request().headers()['upload-offset'] ?? '')
    held.resolve()
    if (!open) await new Promise<void>((resolve) => waiting.push(resolve))
    await route.continue().catch(() => undefined)
  })
  return {
    offsets,
    held: held.promise,
    release: async () => {
      open = true
      for (const go of waiting.splice(0)) go()
    },
  }
}

const tokenOf = async (context: BrowserContext): Promise<string> => (await context.cookies()).find(({ name }) => name === 'token')?.value ?? ''

test('an image is uploaded, paused, gone on with after a reload, used, shared, made public and deleted', async ({ page, context, browser, trouble }) => {
  const name = newName('image')
  const file = await imageFile(name)
  await signIn(context, 'tenant')
  let id = ''

  await test.step('the form says what is missing', async () => {
    await page.goto('/nextStack/privateImage')
    await expect(page.getByText('还没有私有镜像')).toBeVisible()
    await accessible(page, 'the empty list')
    await button(page, '创建镜像').first().click()
    await button(dialog(page), '开始上传').click()
    await expect(dialog(page).getByText('请选择镜像文件')).toBeVisible()
    await expect(wrong(dialog(page), '名称')).toHaveText('请输入内容')
    await dialog(page).locator('input[type=file]').setInputFiles(file)
    await expect(field(dialog(page), '名称')).toHaveValue(name)
    await accessible(page, 'the drawer')
  })

  const first = await slowUploads(page)
  await test.step('upload, pause, go on', async () => {
    await fill(dialog(page), { 描述: '浏览器测试' })
    await button(dialog(page), '开始上传').click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    id = page.url().split('/').at(-1) ?? ''
    await first.held
    await expect(state(page)).toHaveText('上传中')
    await button(page, '暂停').click()
    await expect(state(page)).toHaveText('已暂停')
    await accessible(page, 'an upload')
    await button(page, '继续上传').click()
    await expect(state(page)).toHaveText('上传中')
  })

  await test.step('leave, come back, and go on with the same file', async () => {
    const asked: string[] = []
    page.once('dialog', (question) => {
      asked.push(question.type())
      void question.accept()
    })
    await page.reload()
    expect(asked).toEqual(['beforeunload'])
    await first.release()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await expect(state(page)).toHaveText('未传完')
    // A part had arrived.
    const half = Math.floor(file.buffer.length / 2)
    const url = `${stage().url}${imageLibrary.get.path.replace('{id}', id)}/file`
    const headers = { authorization: `Bearer ${await tokenOf(context)}`, 'tus-resumable': '1.0.0' }
    const offset = Number((await context.request.head(url, { headers })).headers()['upload-offset'])
    if (offset < half) {
      const sent = await context.request.patch(url, {
        headers: { ...headers, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) },
        data: file.buffer.subarray(offset, half),
      })
      expect(sent.status()).toBe(204)
    }
    await page.locator('.im-progress input[type=file]').setInputFiles({ ...file, buffer: file.buffer.subarray(1) })
    await expect(page.getByText('不是同一个文件')).toBeVisible()
    const again = await slowUploads(page)
    await again.release()
    await page.locator('.im-progress input[type=file]').setInputFiles(file)
    await expect(state(page)).toHaveText('可用')
    expect(Number(again.offsets[0])).toBeGreaterThanOrEqual(half)
    await expect(page.getByText('TestOS 7')).toBeVisible()
    await expect(page.getByText(sha256(file.buffer))).toBeVisible()
    await accessible(page, 'an image')
  })

  await test.step('download it', async () => {
    const downloading = page.waitForEvent('download')
    await act(page, '下载')
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`${name}.tar.gz`)
    expect(sha256(await readFile(await download.path()))).toBe(sha256(file.buffer))
  })

  await test.step('ask for a smallest size', async () => {
    await act(page, '编辑')
    await fill(dialog(page), { CPU核数: '2', 操作系统: '' })
    await fill(dialog(page), { 操作系统: '测试系统' })
    await accessible(page, 'editing')
    await button(dialog(page), '保存').click()
    await expect(page.getByText('2 核')).toBeVisible()
    await expect(page.getByText('测试系统 7')).toBeVisible()
  })

  await test.step('share it: with one that there is', async () => {
    await act(page, '共享')
    await field(dialog(page), '组织名称').fill('没有这个组织,')
    await button(dialog(page), '保存').click()
    trouble.expect(/^400 PUT .*\/shares$/)
    await expect(dialog(page).getByText('组织“没有这个组织”不存在')).toBeVisible()
    await accessible(page, 'sharing')
    await field(dialog(page), '组织名称').press('Backspace')
    await field(dialog(page), '组织名称').fill('浏览器测试组织,')
    await button(dialog(page), '保存').click()
    await expect(toast(page, '共享已更新')).toBeVisible()
    await expect(page.locator('.zs-card').getByText('浏览器测试组织')).toBeVisible()
  })

  await test.step('the other organisation sees and uses it, and cannot change it', async () => {
    const others = await browser.newContext({ baseURL: stage().url, locale: 'zh-CN', extraHTTPHeaders: { ...someAddress() } })
    try {
      await signIn(others, 'tenantAdmin')
      const their = await others.newPage()
      await their.goto('/nextStack/privateImage')
      await expect(rowOf(their, name)).toContainText('他人共享')
      await rowOf(their, name).getByRole('button', { name: '共享' }).hover()
      await expect(their.getByText('其他组织共享的镜像只能使用，不能更改')).toBeVisible()
      await their.goto('/nextStack/vm/add')
      await their.getByRole('radio', { name: /^轻量实例/ }).check()
      await expect(rowOf(their, name)).toContainText('私有')
      await expect(rowOf(their, name)).toContainText('最低规格：2 核')
    } finally {
      await others.close()
    }
  })

  await test.step('administrators make it public, and private again', async () => {
    const admins = await browser.newContext({ baseURL: stage().url, locale: 'zh-CN', extraHTTPHeaders: { ...someAddress() } })
    try {
      await signIn(admins, 'admin')
      const their = await admins.newPage()
      await their.goto(`/nextStack/privateImage/detail/${id}`)
      await act(their, '设为公共')
      await button(dialog(their), '设为公共').click()
      await expect(toast(their, '已设为公共镜像')).toBeVisible()
      await their.goto('/nextStack/publicImage')
      await expect(rowOf(their, name)).toBeVisible()
      await expect(rowOf(their, 'ubuntu-24.04').first()).toContainText('云平台自带')
      await accessible(their, 'the public images')
      await rowOf(their, name).getByRole('link', { name }).click()
      await act(their, '设为私有')
      await button(dialog(their), '设为私有').click()
      await expect(toast(their, '已设为私有镜像')).toBeVisible()
    } finally {
      await admins.close()
    }
  })

  await test.step('delete it', async () => {
    await page.goto('/nextStack/privateImage')
    await rowOf(page, name).getByRole('button', { name: '更多' }).click()
    await page.getByRole('menuitem', { name: '删除' }).click()
    await dialog(page).getByRole('textbox').fill(name)
    await button(dialog(page), '删除').click()
    await expect(page.getByText('还没有私有镜像')).toBeVisible()
  })
})

test('images come from addresses, but not from the platform’s own, and from instances that are stopped', async ({ page, context, trouble }) => {
  await signIn(context, 'tenant')
  await page.goto('/nextStack/privateImage')
  await button(page, '创建镜像').first().click()
  await dialog(page).getByText('从地址导入', { exact: true }).click()
  await fill(dialog(page), { 地址: 'ftp://x', 名称: newName('fetched'), 'SHA-256校验值': 'abc' })
  await button(dialog(page), '开始下载').click()
  await expect(wrong(dialog(page), '地址')).toHaveText('请输入以http://或https://开头的地址')
  await expect(wrong(dialog(page), 'SHA-256校验值')).toHaveText('请输入64位十六进制的SHA-256校验值')
  await fill(dialog(page), { 地址: 'http://169.254.169.254/latest/meta-data', 'SHA-256校验值': '' })
  trouble.expect(/^400 POST .*\/fetch$/)
  await button(dialog(page), '开始下载').click()
  await expect(wrong(dialog(page), '地址')).toHaveText('不能从该地址下载镜像')
  await accessible(page, 'an address')

  await dialog(page).getByText('从云主机制作', { exact: true }).click()
  await field(dialog(page), '云主机').fill('示例')
  await page.getByTitle(/^示例实例/).click()
  await expect(dialog(page).getByText('云主机没有关机')).toBeVisible()
  await button(dialog(page), '制作镜像').click()
  await expect(dialog(page).getByText('请选择快照，或者先关机')).toBeVisible()
  await accessible(page, 'an instance')
  await button(dialog(page), '取消').click()
  await button(dialog(page).last(), '离开').click()
  await expect(dialog(page)).toHaveCount(0)
})
