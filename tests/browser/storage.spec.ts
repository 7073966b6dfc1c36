import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Locator, Page } from '@playwright/test'
import { errors } from '@zhisuan/contract/errors'
import { still } from './axe.ts'
import { accessible, button, dialog, rowOf } from './console.ts'
import { field, fill } from './forms.ts'
import { newName } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

/** Beside the title: what the volume is doing. */
const state = (page: Page): Locator => page.locator('.zs-status').first()

/** One of the actions of the page about `of`, wherever it stands. */
async function act(page: Page, of: string, name: string): Promise<void> {
  await expect(page.getByRole('heading', { level: 1, name: of, exact: true })).toBeVisible()
  const shown = page.locator('.zs-actions-default').getByRole('button', { name, exact: true })
  await expect(page.locator('.zs-actions-default').getByRole('button').first()).toBeVisible()
  if ((await shown.count()) > 0) return shown.click()
  await choose(page, page.locator('.zs-actions-default'), name)
}

/** One of those behind 更多: what is clicked while it unfolds is missed. */
async function choose(page: Page, of: Locator, name: string): Promise<void> {
  await of.getByRole('button', { name: '更多' }).click()
  await expect(page.getByRole('menuitem', { name, exact: true })).toBeVisible()
  await still(page)
  await page.getByRole('menuitem', { name, exact: true }).click()
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

test.describe('volumes', () => {
  test('one is made, attached, kept, set back, backed up, made again from its backup, and deleted', async ({ page, context, trouble }) => {
    const name = newName('data')
    await signIn(context, 'tenant')

    await test.step('make it, with what is wrong beside its field', async () => {
      await page.goto('/nextStack/volumes')
      await accessible(page, 'the list')
      await button(page, '创建云硬盘').first().click()
      await button(page, '创建').click()
      await expect(page.getByText('请输入内容')).toBeVisible()
      await fill(page, { 名称: name, 容量: '2', 描述: '浏览器测试' })
      await page.getByRole('switch', { name: '创建后挂载到云主机' }).click()
      await field(page, '挂载路径').fill('/etc')
      await button(page, '创建').click()
      await expect(page.getByText('不能挂载到系统目录')).toBeVisible()
      await expect(page.getByText('请选择云主机')).toBeVisible()
      await accessible(page, 'the form')
      await page.getByRole('switch', { name: '创建后挂载到云主机' }).click()
      await button(page, '创建').click()
      await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
      await expect(state(page)).toHaveText('未挂载')
      await expect(page.getByText('2 GB', { exact: true })).toBeVisible()
    })

    await test.step('attach it, and see it on the instance', async () => {
      await act(page, name, '挂载')
      await field(dialog(page), '云主机').fill('示例')
      await page.getByTitle('示例实例').click()
      await field(dialog(page), '挂载路径').fill(`/srv/${name}`)
      await button(dialog(page), '挂载').click()
      await expect(state(page)).toHaveText('已挂载')
      await page.goto(`/nextStack/vm/detail/${stage().vmId}?tab=volumes`)
      await expect(rowOf(page, name)).toContainText(`/srv/${name}`)
      await accessible(page, 'the tab of the instance')
      await rowOf(page, name).getByRole('link', { name }).click()
    })

    await test.step('keep it as it is, make it larger', async () => {
      await act(page, name, '创建快照')
      await field(dialog(page), '名称').fill('then')
      await button(dialog(page), '创建快照').click()
      await expect(rowOf(page, 'then')).toContainText('可用')
      await expect(state(page)).toHaveText('已挂载')
      await act(page, name, '扩容')
      await field(dialog(page), '新容量').fill('2')
      await button(dialog(page), '扩容').click()
      await expect(dialog(page).getByText('必须大于当前的 2 GB')).toBeVisible()
      await field(dialog(page), '新容量').fill('3')
      await expect(dialog(page).getByText('2 GB → 3 GB，增加 1 GB')).toBeVisible()
      await button(dialog(page), '扩容').click()
      await expect(page.getByText('3 GB', { exact: true })).toBeVisible()
      await page.getByRole('tab', { name: '操作记录' }).click()
      await expect(page.getByRole('row', { name: /扩容.*成功/ })).toBeVisible()
      await expect(page.getByRole('row', { name: /挂载.*成功/ })).toBeVisible()
      await page.getByRole('tab', { name: '快照' }).click()
      await rowOf(page, 'then').getByRole('link', { name: 'then' }).click()
      await expect(page.getByRole('heading', { level: 1, name: 'then' })).toBeVisible()
      await accessible(page, 'a snapshot')
      await page.goto('/nextStack/volumesSnap')
      await expect(rowOf(page, name)).toContainText('then')
      await accessible(page, 'the list of snapshots')
      await rowOf(page, name).getByRole('link', { name, exact: true }).click()
    })

    await test.step('detach it, and set it back', async () => {
      // In the sandbox no program ever holds on to a volume: the first answer is what a real engine's is then.
      trouble.expect(/^409 POST .*\/detach$/)
      const { code, status, text: message } = errors.volumeBusy
      await page.route('**/detach', (route) => route.fulfill({ status, json: { code, message } }), { times: 1 })
      await act(page, name, '卸载')
      await button(dialog(page), '卸载').click()
      await expect(dialog(page).getByText('云主机“示例实例”中有程序正在使用它，没有卸载')).toBeVisible()
      await expect(button(dialog(page), '卸载')).toBeDisabled()
      await dialog(page).getByRole('checkbox', { name: '强制卸载' }).check()
      const forced = page.waitForRequest('**/detach')
      await button(dialog(page), '强制卸载').click()
      expect((await forced).postDataJSON()).toEqual({ force: true })
      await expect(toast(page, `已从“示例实例”卸载“${name}”`)).toBeVisible()
      await expect(state(page)).toHaveText('未挂载')
      await act(page, name, '恢复')
      await page.getByRole('radio', { name: /^then/ }).check()
      await expect(page.getByText(/之后写入的数据（最近 .+）将全部丢失/)).toBeVisible()
      await accessible(page, 'setting back')
      const restore = button(page, '恢复到“then”')
      await expect(restore).toBeDisabled()
      await page.getByLabel(/输入云硬盘名称以确认/).fill(name)
      await restore.click()
      await expect(toast(page, `“${name}”正在恢复到“then”`)).toBeVisible()
      await expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeVisible()
      await expect(state(page)).toHaveText('未挂载')
    })

    await test.step('back it up, download the file, make another of it', async () => {
      await page.getByRole('tab', { name: '备份', exact: true }).click()
      await act(page, name, '创建备份')
      await field(dialog(page), '名称').fill(`${name}-file`)
      await button(dialog(page), '创建备份').click()
      const row = rowOf(page, `${name}-file`)
      await expect(row).toContainText('可用')
      await accessible(page, 'backups')
      const told = await row.locator('.zs-nowrap[title]').getAttribute('title')
      const downloading = page.waitForEvent('download')
      await button(row, '下载').click()
      expect(await sha256(await (await downloading).path())).toBe(told)

      await button(row, '创建新云硬盘').click()
      await expect(page.getByText('不能小于来源的 3 GB')).toBeVisible()
      await field(page, '名称').fill(`${name}-again`)
      await button(page, '创建').click()
      await expect(page.getByRole('heading', { level: 1, name: `${name}-again` })).toBeVisible()
      await expect(state(page)).toHaveText('未挂载')
    })

    await test.step('delete both; the backup outlives them, until it goes too', async () => {
      await page.goto(`/nextStack/volumes?keyword=${name}`)
      await page.getByRole('checkbox', { name: '全选本页' }).check()
      await button(page.getByRole('region', { name: '批量操作' }), '删除').click()
      await expect(dialog(page)).toContainText('1 个快照将被永久删除')
      await button(dialog(page), '删除').click()
      await expect(page.getByText('成功 2 项，失败 0 项，跳过 0 项')).toBeVisible()
      await button(dialog(page), '完成').click()
      await expect(page.getByText('没有符合条件的结果')).toBeVisible()
      await page.goto('/nextStack/volumes?tab=backups')
      const row = rowOf(page, `${name}-file`)
      await expect(row).toContainText('云硬盘已删除')
      await choose(page, row, '删除')
      await dialog(page).getByRole('textbox').fill(`${name}-file`)
      await button(dialog(page), '删除').click()
      await expect(row).toHaveCount(0)
    })
  })
})

test.describe('storage pools', () => {
  test('tell an administrator how full they are, and what lies in them', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/nextStack/storagePool')
    const first = page.locator('main tbody a').first()
    await expect(first).toBeVisible()
    await accessible(page, 'the list')
    const pool = (await first.textContent()) ?? ''
    await first.click()
    await expect(page.getByRole('heading', { level: 1, name: pool })).toBeVisible()
    await expect(page.getByText('硬性上限，写满后不能再写入')).toBeVisible()
    await page.getByRole('tab', { name: '节点' }).click()
    await expect(page.getByText('所有节点共用同一份存储')).toBeVisible()
    await accessible(page, 'a pool')
  })

  test('are no page for tenants', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/nextStack/storagePool')
    await expect(page.getByRole('heading', { level: 1, name: '没有权限' })).toBeVisible()
  })
})
