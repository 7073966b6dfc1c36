import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accessible, button, dialog, savedBy, shot, visit } from './console.ts'
import { fill } from './forms.ts'
import { newName } from './people.ts'
import { expect, signIn, test, toast } from './test.ts'

test('a model is made, filled, reviewed, found by a visitor, and downloaded', async ({ page, context, browser }) => {
  const name = newName('qwen')
  const weights = randomBytes(400_000)
  await signIn(context, 'tenant')

  await test.step('it is made and filled', async () => {
    await visit(page, '/warehouse?view=mine')
    await expect(page.getByText('本组织还没有模型')).toBeVisible()
    await accessible(page, 'no models yet')
    await button(page, '创建模型').click()
    await fill(dialog(page), { 命名空间: newName('lab'), 模型名: name, 标题: '示例对话模型', 一句话介绍: '7B 参数的中文对话模型', 参数量: '7000000000' })
    await accessible(page, 'the form')
    await shot(page, 'models-form')
    await button(dialog(page), '创建模型').click()
    await expect(page.getByRole('heading', { level: 1, name: '示例对话模型' })).toBeVisible()
    await button(page, '上传文件').click()
    await dialog(page)
      .getByLabel('选择文件', { exact: true })
      .and(page.locator('input'))
      .setInputFiles([
        {
          name: 'README.md',
          mimeType: 'text/markdown',
          buffer: Buffer.from('---\nlicense: mit\n---\n# 使用说明\n\n<script>window.ran = true</script>\n\n`pip install` 即可。\n'),
        },
        { name: 'model.safetensors', mimeType: 'application/octet-stream', buffer: weights },
      ])
    await shot(page, 'models-commit')
    await button(dialog(page), '上传 2 个文件').click()
    await expect(toast(page, '新版本已生成')).toBeVisible({ timeout: 20_000 })
    await expect(page.getByRole('heading', { name: '使用说明' })).toBeVisible()
    // What people write is text.
    expect(await page.evaluate(() => 'ran' in window)).toBe(false)
    await accessible(page, 'a draft')
    await shot(page, 'models-draft')
    await button(page, '申请发布').click()
    await expect(toast(page, '已申请发布')).toBeVisible()
  })

  await test.step('an administrator publishes it', async () => {
    const admins = await browser.newContext()
    await signIn(admins, 'admin')
    const theirs = await admins.newPage()
    await theirs.goto('/warehouse?view=review')
    await shot(theirs, 'models-reviews')
    await theirs.getByRole('link', { name: new RegExp(name) }).click()
    await expect(button(theirs, '通过并发布')).toBeVisible()
    await accessible(theirs, 'a review')
    await shot(theirs, 'models-review')
    await button(theirs, '通过并发布').click()
    await expect(toast(theirs, '模型已发布')).toBeVisible()
    await admins.close()
  })

  await test.step('what is said of it otherwise afterwards waits for the next review', async () => {
    await page.reload()
    await button(page, '编辑').click()
    await expect(dialog(page)).toContainText('通过审核后，才对其他人可见')
    await fill(dialog(page), { 一句话介绍: '还没有审核的介绍', 使用条款: '仅用于研究' })
    await button(dialog(page), '保存').click()
    await expect(page.getByText('其他人看到和下载的是已通过审核的内容')).toBeVisible()
    await expect(page.getByText('还没有审核的介绍')).toBeVisible()
    await expect(page.getByRole('region', { name: '使用条款' })).toContainText('仅用于研究')
    await accessible(page, 'a change that waits')
    await shot(page, 'models-unreviewed')
  })

  await test.step('a visitor finds it by its task and downloads a file', async () => {
    const visitor = await browser.newContext()
    const theirs = await visitor.newPage()
    await theirs.goto('/warehouse')
    await theirs.getByRole('button', { name: /文本生成/ }).click()
    await accessible(theirs, 'the warehouse')
    await shot(theirs, 'models-list')
    await theirs.getByRole('link', { name: new RegExp(name) }).click()
    await expect(theirs).toHaveTitle(/示例对话模型/)
    await expect(theirs.getByText('7B 参数的中文对话模型')).toBeVisible()
    await expect(theirs.getByText('约 15.64 GB')).toBeVisible()
    await theirs.getByRole('tab', { name: '文件（2）' }).click()
    await accessible(theirs, 'files of a model')
    await shot(theirs, 'models-files')
    const row = theirs.getByRole('row', { name: /model\.safetensors/ })
    const { name: saved, content } = await savedBy(theirs, () => button(row, '下载').click())
    expect([saved, content.equals(weights)]).toEqual(['model.safetensors', true])
    await visitor.close()
  })
})

test('a file that was left on its way to a model goes on after a reload, and becomes a revision', async ({ page, context }) => {
  const name = newName('resume')
  const path = join(mkdtempSync(join(tmpdir(), 'models-')), 'weights.bin')
  writeFileSync(path, randomBytes(40 * 2 ** 20))
  await signIn(context, 'tenantAdmin')
  await visit(page, '/warehouse?view=mine')
  await button(page, '创建模型').click()
  await fill(dialog(page), { 命名空间: newName('lab'), 模型名: name, 标题: '断点续传' })
  await button(dialog(page), '创建模型').click()
  await expect(page.getByRole('heading', { level: 1, name: '断点续传' })).toBeVisible()
  let pieces = 0
  await page.route('**/uploads/*/content', async (route) => {
    // The first piece arrives, the next ones hang.
    if (route.request().method() === 'PATCH' && pieces++ > 0) return
    await route.continue().catch(() => undefined)
  })
  // Whoever leaves while something is on its way is asked.
  page.on('dialog', (asked) => void asked.accept())
  await button(page, '上传文件').click()
  const chosen = dialog(page).getByLabel('选择文件', { exact: true }).and(page.locator('input'))
  await chosen.setInputFiles(path)
  await button(dialog(page), '上传 1 个文件').click()
  await expect.poll(() => pieces, { timeout: 20_000 }).toBeGreaterThan(1)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.reload()
  const left = page.getByRole('region', { name: '未完成的上传' })
  await expect(left.getByText(/已传 [1-9]\d*%/)).toBeVisible({ timeout: 20_000 })
  await expect(left).toContainText('weights.bin')
  await accessible(page, 'a file on its way to a model')
  await shot(page, 'models-unfinished')
  await left.locator('input[type=file]').setInputFiles(path)
  await button(left, '把传完的 1 个文件生成新版本').click({ timeout: 30_000 })
  await expect(toast(page, '新版本已生成')).toBeVisible()
  await expect(left).toBeHidden()
  await expect(page.getByText('文件（1）')).toBeVisible()
})
