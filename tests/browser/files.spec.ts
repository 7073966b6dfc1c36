import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { fileEntries } from '@zhisuan/contract/files/file'
import { keptProjects } from '@zhisuan/contract/iam/project'
import { users } from '@zhisuan/contract/ums/user'
import { Client } from '../support/server.ts'
import { accessible, button, dialog, more, rowOf, savedBy, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { password } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Half a second of a tone: eight bits, eight thousand times a second. */
function tone(): Buffer {
  const samples = Buffer.from(Array.from({ length: 4_000 }, (_, at) => 128 + Math.round(100 * Math.sin((at * 2 * Math.PI * 440) / 8_000))))
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(8_000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

/** In the page: a short film of a square that changes its colour, in base64. */
async function recorded(): Promise<string> {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 64
  const paint = canvas.getContext('2d')
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm;codecs=vp8' })
  const parts: Blob[] = []
  recorder.addEventListener('dataavailable', ({ data }) => parts.push(data))
  const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve))
  recorder.start()
  for (let frame = 0; frame < 20; frame++) {
    if (paint !== null) paint.fillStyle = `hsl(${frame * 18} 80% 50%)`
    paint?.fillRect(0, 0, 64, 64)
    // By the clock, and not as often as is painted: where little is, the film would have nothing in it.
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  recorder.stop()
  await stopped
  return btoa(String.fromCharCode(...new Uint8Array(await new Blob(parts).arrayBuffer())))
}

/** Drags a folder of the disk over the page and lets it fall: what the page is given is what a browser gives it of a real one. */
async function dropped(page: Page, path: string): Promise<void> {
  const browser = await page.context().newCDPSession(page)
  const box = await page.locator('.fl-drop').boundingBox()
  const at = { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + 100, data: { items: [], files: [path], dragOperationsMask: 1 } }
  for (const type of ['dragEnter', 'dragOver'] as const) await browser.send('Input.dispatchDragEvent', { type, ...at })
  await expect(page.getByText('松开鼠标，上传到当前文件夹')).toBeVisible()
  await shot(page, 'files-over')
  await browser.send('Input.dispatchDragEvent', { type: 'drop', ...at })
  await browser.detach()
}

test('a folder that is dragged in is uploaded through a broken connection, looked at, shared, and opened by somebody without an account @journey', async ({
  page,
  context,
  browser,
  trouble,
}) => {
  const name = newName('资料')
  const big = randomBytes(3_000_000)
  const folder = join(mkdtempSync(join(tmpdir(), 'files-')), name)
  mkdirSync(join(folder, '子目录'), { recursive: true })
  writeFileSync(join(folder, '说明.md'), '# 你好\n\n一份**说明**。\n')
  writeFileSync(join(folder, '子目录', '数据.bin'), big)
  await signIn(context, 'tenant')
  trouble.expect(/409 POST .*\/uploads$/)

  await test.step('a folder goes up, and on where the connection broke off', async () => {
    await visit(page, '/personalSpace')
    await accessible(page, 'an empty space')
    await shot(page, 'files-empty')
    let broken = 0
    await page.route('**/uploads/*/content', async (route) => {
      // The first pieces are lost on their way.
      if (route.request().method() === 'PATCH' && broken++ < 2) return route.abort('connectionreset')
      await route.continue()
    })
    await dropped(page, folder)
    await expect(rowOf(page, name)).toBeVisible()
    await page.getByRole('link', { name, exact: true }).click()
    await expect(rowOf(page, '说明.md')).toBeVisible()
    await page.getByRole('link', { name: '子目录', exact: true }).click()
    await expect(rowOf(page, '数据.bin')).toContainText('2.86 MB', { timeout: 20_000 })
    expect(broken).toBeGreaterThan(2)
    await shot(page, 'files-uploaded')
    await accessible(page, 'a folder with uploads')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  await test.step('a name that is taken is asked about', async () => {
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: '数据.bin', mimeType: 'application/octet-stream', buffer: randomBytes(10) })
    await expect(page.getByText('已有同名文件')).toBeVisible()
    await shot(page, 'files-conflict')
    await button(page, '两者都保留').click()
    await expect(rowOf(page, '数据 \\(1\\).bin')).toBeVisible()
  })

  await test.step('Markdown is looked at', async () => {
    await page.getByRole('link', { name, exact: true }).click()
    await button(page, '说明.md').click()
    await expect(dialog(page).getByRole('heading', { name: '你好' })).toBeVisible()
    await accessible(page, 'a preview')
    await shot(page, 'files-preview')
    await page.keyboard.press('Escape')
  })

  await test.step('sound is heard and film is seen, by the pieces of it that are wanted', async () => {
    const film = Buffer.from(await page.evaluate(recorded), 'base64')
    const chosen = [
      { name: '提示音.wav', mimeType: 'audio/wav', buffer: tone() },
      { name: '演示.webm', mimeType: 'video/webm', buffer: film },
    ]
    await page.locator('input[type=file]').first().setInputFiles(chosen)
    for (const { name: file } of chosen) {
      const pieces: number[] = []
      page.on('response', (response) => {
        if (response.url().includes('/api/downloads/')) pieces.push(response.status())
      })
      await button(page, file).click()
      const media = dialog(page).getByLabel(file)
      // Enough of it has come to be played from where one is.
      await expect.poll(() => media.evaluate((element) => (element as HTMLMediaElement).readyState), { timeout: 20_000 }).toBeGreaterThanOrEqual(2)
      expect(await media.evaluate((element) => (element as HTMLMediaElement).error)).toBeNull()
      await expect.poll(() => pieces).toContain(206)
      await accessible(page, `a preview of ${file}`)
      await shot(page, `files-${file.endsWith('.wav') ? 'audio' : 'video'}`)
      await page.keyboard.press('Escape')
    }
  })

  let link = ''
  await test.step('it is shared with a password', async () => {
    await page.locator('#main').getByRole('link', { name: '个人空间', exact: true }).click()
    await button(rowOf(page, name), '分享').click()
    await fill(dialog(page), { 提取密码: 'abcd' })
    await button(dialog(page), '创建链接').click()
    await expect(toast(page, '链接已创建')).toBeVisible()
    link = (await dialog(page).locator('.fl-shares .zs-code').first().textContent()) ?? ''
    await accessible(page, 'shares')
    await shot(page, 'files-share')
    await page.keyboard.press('Escape')
  })

  await test.step('whoever has the link downloads it', async () => {
    const visitor = await browser.newContext()
    const theirs = await visitor.newPage()
    await theirs.goto(link)
    // What it is, and whose, is told to whoever knows the password.
    await expect(theirs.getByRole('heading', { level: 1, name: '文件分享' })).toBeVisible()
    await expect(theirs.getByText(name)).toHaveCount(0)
    await accessible(theirs, 'a shared folder')
    await shot(theirs, 'files-shared')
    await theirs.getByLabel('提取密码').fill('wrong')
    await button(theirs, '下载').click()
    await expect(theirs.getByText('提取密码不正确')).toBeVisible()
    await theirs.getByLabel('提取密码').fill('abcd')
    const { name: saved, content } = await savedBy(theirs, () => button(theirs, '下载').click())
    expect(saved).toBe(`${name}.zip`)
    expect(content.includes(big)).toBe(true)
    await visitor.close()
  })

  await test.step('what is deleted comes back from the bin', async () => {
    await more(rowOf(page, name), '删除')
    await expect(dialog(page)).toContainText('7 天内可以恢复')
    await button(dialog(page), '删除').click()
    await expect(toast(page, '已移到回收站')).toBeVisible()
    await page.getByRole('link', { name: '回收站' }).click()
    await expect(rowOf(page, name)).toBeVisible()
    await accessible(page, 'the bin')
    await shot(page, 'files-bin')
    await button(rowOf(page, name), '恢复').click()
    await expect(toast(page, '已恢复')).toBeVisible()
    await page.getByRole('link', { name: '返回文件' }).click()
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('link', { name: '子目录', exact: true }).click()
    const { content } = await savedBy(page, () => button(rowOf(page, '数据.bin'), '下载').click())
    expect(sha256(content)).toBe(sha256(big))
  })

  await test.step('administrators see what went', async () => {
    const admins = await browser.newContext()
    await signIn(admins, 'admin')
    const theirs = await admins.newPage()
    await visit(theirs, '/transferRecord')
    // Whose own space it is knows what it was.
    await expect(rowOf(theirs, '访客').first()).toContainText('个人空间中的文件')
    await accessible(theirs, 'records')
    await shot(theirs, 'files-records')
    await admins.close()
  })
})

/** A PDF of one page; what it is to run when it is opened is its own to say. */
function pdf(opened = ''): Buffer {
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${opened} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>',
    '<< /Length 44 >>\nstream\nBT /F1 24 Tf 40 100 Td (A page to read) Tj ET\nendstream',
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`)
  return Buffer.from(`%PDF-1.4\n${objects.join('')}trailer << /Size 5 /Root 1 0 R >>\n%%EOF\n`)
}

test('pictures, PDF and code are looked at, and what somebody put there to be run runs nothing', async ({ page, context, trouble }) => {
  const beacon = 'beacon-of-the-hostile'
  const run = `document.title='${beacon}';document.body.append('${beacon}');new Image().src='/${beacon}';fetch('/${beacon}')`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200" onload="${run}"><script>${run}</script><image href="/${beacon}.png" width="9" height="9"/><rect width="300" height="200" fill="teal"/></svg>`
  const html = `<!doctype html><title>x</title><body onload="${run}"><script>${run}</script><img src="/${beacon}.png" onerror="${run}"><iframe src="javascript:${run}"></iframe>`
  const js = `app.alert("${beacon}"); app.launchURL("/${beacon}", true); this.submitForm("/${beacon}")`
  const opened = `/OpenAction << /S /JavaScript /JS (${js.replaceAll('(', '\\(').replaceAll(')', '\\)')}) >>`
  const hostile = [
    { name: '图.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) },
    { name: '页.html', mimeType: 'text/html', buffer: Buffer.from(html) },
    { name: '说明.md', mimeType: 'text/markdown', buffer: Buffer.from(`# 标题\n\n<img src="/${beacon}.png" onerror="${run}">\n\n[点](javascript:${run})\n`) },
    // A page that calls itself a picture.
    { name: '假图.png', mimeType: 'image/png', buffer: Buffer.from(html) },
    { name: '手册.pdf', mimeType: 'application/pdf', buffer: pdf(opened) },
  ]
  const ran: string[] = []
  context.on('request', (request) => {
    if (request.url().includes(beacon)) ran.push(`${request.resourceType()} ${request.url()}`)
  })
  context.on('dialog', (asked) => {
    ran.push(`dialog ${asked.message()}`)
    void asked.dismiss()
  })
  // What a sandbox or a policy keeps from running the browser writes into its log.
  trouble.expect(/Blocked script execution|Content Security Policy/)
  await signIn(context, 'tenantAdmin')
  await visit(page, '/personalSpace')
  const drawn = await page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 1_600
    canvas.height = 900
    const paint = canvas.getContext('2d')
    for (let at = 0; at < 16; at++) {
      if (paint !== null) paint.fillStyle = `hsl(${at * 22} 70% 55%)`
      paint?.fillRect(at * 100, 0, 100, 900)
    }
    return canvas.toDataURL('image/png').split(',')[1] ?? ''
  })
  const folder = newName('预览')
  await button(page, '新建文件夹').click()
  await fill(dialog(page), { 名称: folder })
  await button(dialog(page), '创建').click()
  await page.getByRole('link', { name: folder, exact: true }).click()
  // The field for files is that folder's then.
  await expect(page.getByText('这里还没有文件')).toBeVisible()
  const code = 'def 训练(次数: int) -> None:\n    for 轮 in range(次数):\n        print(f"第{轮}轮")\n'
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([
      { name: '色带.png', mimeType: 'image/png', buffer: Buffer.from(drawn, 'base64') },
      { name: '训练.py', mimeType: 'text/x-python', buffer: Buffer.from(code.repeat(30)) },
      { name: '论文.pdf', mimeType: 'application/pdf', buffer: pdf() },
      ...hostile,
    ])
  await expect(rowOf(page, '手册.pdf')).toBeVisible()

  await test.step('a picture is drawn, code is read, a PDF is opened by the reader of the browser', async () => {
    await button(page, '色带.png').click()
    await expect
      .poll(() =>
        dialog(page)
          .getByRole('img', { name: '色带.png' })
          .evaluate((image) => (image as HTMLImageElement).naturalWidth),
      )
      .toBe(1_600)
    await accessible(page, 'a preview of a picture')
    await shot(page, 'files-image')
    await page.keyboard.press('Escape')
    await button(page, '训练.py').click()
    await expect(dialog(page).locator('pre')).toContainText('def 训练')
    await accessible(page, 'a preview of code')
    await shot(page, 'files-code')
    await page.keyboard.press('Escape')
    await button(page, '论文.pdf').click()
    const link = dialog(page).getByRole('link', { name: '在新标签页中查看' })
    await expect(link).toBeVisible()
    await accessible(page, 'a preview of a PDF')
    await shot(page, 'files-pdf')
    await page.keyboard.press('Escape')
  })

  await test.step('what would run is text, or nothing', async () => {
    for (const { name: file } of hostile) {
      const linked = page.waitForResponse((response) => response.url().endsWith('/entries/download'))
      await button(page, file).click()
      const { path } = (await (await linked).json()) as ResponseOf<typeof fileEntries.download>
      const shown = dialog(page)
      if (/svg|html/.test(file)) await expect(shown.locator('pre')).toContainText('<script>')
      else if (file.endsWith('.md')) await expect(shown.getByRole('heading', { name: '标题' })).toBeVisible()
      else if (file.endsWith('.pdf')) await expect(shown.getByRole('link', { name: '在新标签页中查看' })).toBeVisible()
      else await expect(shown.getByText('文件内容不是可以显示的图片')).toBeVisible()
      await shot(page, `files-hostile-${file.split('.')[1]}`)
      await page.keyboard.press('Escape')
      // Also where its link is a page of its own. A PDF this browser only saves, as it has no reader.
      const alone = await context.newPage()
      await alone.goto(path).catch((error: unknown) => {
        if (!file.endsWith('.pdf') || !String(error).includes('Download is starting')) throw error
      })
      await alone.waitForTimeout(500)
      expect([await alone.title(), await alone.evaluate(() => document.scripts.length)], file).toEqual([expect.not.stringContaining(beacon), 0])
      await alone.close()
    }
    await page.waitForTimeout(500)
    expect([ran, await page.title()]).toEqual([[], expect.not.stringContaining(beacon)])
  })
})

test('what projects keep is told apart, and fits a phone', async ({ page, context }) => {
  const username = newName('head')
  await register(stage().url, username, newName('org'))
  const client = new Client(stage().url, someAddress())
  await client.signIn(username, password)
  const { bp_id } = await client.call(users.current)
  for (const name of ['视觉', '一个名字很长的语音与自然语言处理研究项目', '推荐', '风控模型'])
    await client.call(keptProjects.create, { body: { name, key: newName('key'), bp_id } })
  await signIn(context, { username, password })
  await visit(page, '/personalSpace')
  await page.getByText('视觉', { exact: true }).click()
  await expect(page.getByText('还没有文件')).toBeVisible()
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([
      { name: '标注说明.md', mimeType: 'text/markdown', buffer: Buffer.from('# 标注\n') },
      { name: '一个名字很长的数据集文件_第一批_2026年12月_人工复核.parquet', mimeType: 'application/octet-stream', buffer: randomBytes(2_000_000) },
    ])
  await expect(rowOf(page, '标注说明.md')).toBeVisible()
  await accessible(page, 'what a project keeps')
  await shot(page, 'files-project')
  await page.setViewportSize({ width: 390, height: 844 })
  // Nothing goes beyond the window.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('a large file goes up by itself behind others, is paused, and goes on after a reload once it is chosen again', async ({ page, context }) => {
  const name = `${newName('大文件')}.bin`
  const path = join(mkdtempSync(join(tmpdir(), 'files-')), name)
  // More than is verified with its last piece.
  const content = randomBytes(80 * 2 ** 20)
  writeFileSync(path, content)
  await signIn(context, 'tenantAdmin')
  await visit(page, '/personalSpace')
  let pieceMs = 700
  await page.route('**/uploads/*/content', async (route) => {
    if (route.request().method() === 'PATCH') await new Promise((resolve) => setTimeout(resolve, pieceMs))
    await route.continue().catch(() => undefined)
  })
  // Whoever leaves while something is on its way is asked.
  page.on('dialog', (asked) => void asked.accept())
  const uploads = page.getByRole('region', { name: '上传', exact: true })
  const input = page.locator('input[type=file]').first()

  await test.step('its rate and the time that is left are told, and it is paused', async () => {
    await input.setInputFiles([path])
    await expect(uploads.getByText(/\d+% · .*\/s · 还需/)).toBeVisible({ timeout: 20_000 })
    await shot(page, 'files-large')
    await button(uploads, '暂停').click()
    await expect(uploads.getByText(/\d+% · 已暂停/)).toBeVisible()
    await button(uploads, '继续').click()
    await expect(uploads.getByText(/\d+% · .*\/s/)).toBeVisible({ timeout: 20_000 })
  })

  await test.step('after a reload its file is asked for, and nothing goes twice', async () => {
    await page.reload()
    await expect(uploads.getByText(/已传 \d+%/)).toBeVisible()
    await shot(page, 'files-left')
    await accessible(page, 'an upload that was left')
    pieceMs = 0
    await uploads.locator('input[type=file]').setInputFiles(path)
    await expect(uploads.getByText('1 / 1 个已上传')).toBeVisible({ timeout: 30_000 })
    await expect(rowOf(page, name)).toContainText('80 MB')
    const { content: saved } = await savedBy(page, () => button(rowOf(page, name), '下载').click())
    expect(sha256(saved)).toBe(sha256(content))
  })
})

test('a folder of ten thousand files goes up by some hundred requests, and all of them are there', async ({ page, context }) => {
  test.setTimeout(240_000)
  const [name, count] = [newName('数据集'), 10_000]
  const folder = join(mkdtempSync(join(tmpdir(), 'files-')), name)
  for (let group = 0; group < 100; group++) {
    mkdirSync(join(folder, `第${group}组`), { recursive: true })
    for (let number = 0; number < count / 100; number++) writeFileSync(join(folder, `第${group}组`, `${number}.txt`), `${group} ${number}\n`.repeat(50))
  }
  await signIn(context, 'tenantAdmin')
  await visit(page, '/personalSpace')
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes('/uploads')) requests++
  })
  await page.locator('input[type=file]').nth(1).setInputFiles(folder)
  await expect(page.getByRole('region', { name: '上传', exact: true }).getByRole('status')).toHaveText(`${count} / ${count} 个已上传`, { timeout: 200_000 })
  // With those that ask what others left unfinished.
  expect(requests).toBeLessThan(count / 20)
  await shot(page, 'files-many')
  await page.getByRole('link', { name, exact: true }).click()
  await expect(page.getByText('共 100 条')).toBeVisible()
  await page.getByRole('link', { name: '第0组', exact: true }).click()
  await expect(page.getByText('共 100 条')).toBeVisible()
})

test('a file goes from a space into an instance, and back', async ({ page, context, trouble }) => {
  const name = `${newName('权重')}.bin`
  await signIn(context, 'tenant')
  await visit(page, '/personalSpace')
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: randomBytes(50_000) })
  await expect(rowOf(page, name)).toBeVisible()
  await page.goto(`/nextStack/vm/detail/${stage().vmId}?tab=files`)
  await expect(page.getByText('目录是空的')).toBeVisible()
  await button(page, '从空间传入').click()
  await dialog(page).getByLabel(name).check()
  await accessible(page, 'what goes into an instance')
  await shot(page, 'machine-to')
  await button(dialog(page), '传入选中的内容').click()
  await expect(rowOf(page, name)).toContainText('48.82 KB', { timeout: 20_000 })
  await accessible(page, 'files of an instance')
  await shot(page, 'machine-instance')
  trouble.expect(/409 POST .*\/machine-copies\/from$/)
  await button(page, `把 ${name} 存到空间`).click()
  await accessible(page, 'where it comes to in a space')
  await shot(page, 'machine-from')
  await button(dialog(page), '存到这里').click()
  await expect(button(dialog(page), '继续')).toBeVisible()
  await shot(page, 'machine-taken')
  await button(dialog(page), '继续').click()
  await expect(page.getByRole('region', { name: '与文件空间之间的传送' }).getByText(/完成/)).toHaveCount(2, { timeout: 20_000 })
  await shot(page, 'machine-done')
  await visit(page, '/personalSpace')
  await expect(rowOf(page, name.replace('.bin', ' \\(1\\).bin'))).toBeVisible()
})
