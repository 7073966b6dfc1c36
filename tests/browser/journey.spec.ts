import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { startServer, type RunningServer } from '../support/server.ts'
import { field } from './forms.ts'
import { expect, test, toast } from './test.ts'

const socket = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')
const password = 'Journey-of-one-1'

/** The first day of a platform, on the real LXD of this machine. */
test.describe('the journey', () => {
  // Whoever develops without LXD hears of it; the gate always has one.
  test.skip(!existsSync(socket) && process.env['CI'] === undefined, `no LXD at ${socket}: scripts/engines.sh starts one`)

  let server: RunningServer
  let data: TemporaryFolder
  test.beforeAll(async () => {
    data = temporaryFolder('journey')
    server = await startServer(data.path)
  })
  test.afterAll(async () => {
    await server.stop()
    data.remove()
  })

  const screen = (page: Page) => page.locator('.xterm-rows')
  const type = async (page: Page, line: string) => {
    await page.locator('.zs-terminal-screen').click()
    await page.keyboard.type(line)
    await page.keyboard.press('Enter')
  }

  test('first start, sign in, create, run, type, stop, delete', async ({ page, trouble }) => {
    // The first console asks for the initial password before anything else is answered.
    trouble.expect(/^403 GET/)
    await page.goto(server.url)
    await page.getByRole('link', { name: '登录控制台' }).first().click()

    await test.step('sign in with the one-time password, which has to be replaced', async () => {
      await field(page, '用户名、手机号或邮箱').fill('admin')
      await field(page, '密码').fill(server.firstPassword ?? '')
      await page.getByRole('button', { name: '登录', exact: true }).click()
      await expect(page.getByRole('heading', { name: '请修改初始密码' })).toBeVisible()
      await field(page, '初始密码').fill(server.firstPassword ?? '')
      await field(page, '新密码').fill(password)
      await field(page, '确认新密码').fill(password)
      await page.getByRole('button', { name: '修改密码' }).click()
      await expect(page.getByRole('heading', { name: '请修改初始密码' })).toBeHidden()
      await expect(page).toHaveURL(/\/index/)
    })

    await test.step('create an instance', async () => {
      await page.goto(`${server.url}/nextStack/vm`)
      await page.getByRole('button', { name: '创建云主机' }).first().click()
      await expect(page).toHaveURL(/\/nextStack\/vm\/add/)
      // No VM driver here: the wizard says why, and offers what there is.
      await expect(page.getByText('当前云平台不支持：')).toBeVisible()
      // The one that the platform made; others may be on this engine.
      await page.getByRole('radio', { name: 'busybox', exact: true }).check()
      await page.getByRole('radio', { name: 'nano' }).check()
      await expect(page.locator('.zs-summary').getByText('未定价')).toBeVisible()
      await field(page, '登录密码').fill('Root-of-it-1')
      await field(page, '名称').fill('第一台')
      await page.getByRole('button', { name: '立即创建' }).click()
      await expect(toast(page, '“第一台”正在创建')).toBeVisible()
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
    })

    await test.step('see it run, with an address, without reloading', async () => {
      const row = page.getByRole('row', { name: /第一台/ })
      await expect(row.getByText('运行中')).toBeVisible()
      await expect(row.getByText(/10\.\d+\.\d+\.\d+/)).toBeVisible()
      await row.getByRole('link', { name: '第一台' }).click()
      await expect(page.getByRole('heading', { name: /第一台/ })).toBeVisible()
    })

    await test.step('type in its terminal; it survives a new size and a reload', async () => {
      await page.getByRole('tab', { name: '终端' }).click()
      await type(page, 'echo it-$((6*7)); hostname')
      await expect(screen(page)).toContainText('it-42')
      const size = async () => {
        await type(page, 'clear; echo "size=$(stty size)="')
        await expect(screen(page)).toContainText(/size=\d+ \d+=/)
        return (
          /size=(\d+) (\d+)=/
            .exec((await screen(page).innerText()).replaceAll('\u00a0', ' '))
            ?.slice(1)
            .map(Number) ?? []
        )
      }
      const before = await size()
      await page.setViewportSize({ width: 1240, height: 800 })
      await expect.poll(async () => (await size())[1]).toBeLessThan(before[1] ?? 0)
      await type(page, 'kept=across-a-reload')
      await page.reload()
      await expect(screen(page)).toContainText('kept=across-a-reload')
      await type(page, 'echo "[$kept]"')
      await expect(screen(page)).toContainText('[across-a-reload]')
    })

    await test.step('see what it uses, what was done, and what it printed', async () => {
      await page.getByRole('tab', { name: '监控' }).click()
      await expect(page.getByText('CPU 使用率')).toBeVisible()
      await page.getByRole('tab', { name: '操作记录' }).click()
      await expect(page.getByRole('row', { name: /创建.*成功/ })).toBeVisible()
      await page.getByRole('tab', { name: '控制台日志' }).click()
      await expect(page.getByRole('tabpanel', { name: '控制台日志' })).toBeVisible()
    })

    await test.step('stop it, delete it', async () => {
      // The page may ask for what it shows once more, after it is gone.
      trouble.expect(/^404 GET \/api\/nextstack\/v1\/vms\//)
      await page.getByRole('button', { name: '关机', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: '关机' }).click()
      await expect(page.getByText('已关机').first()).toBeVisible()
      await page.getByRole('button', { name: '更多' }).click()
      await page.getByRole('menuitem', { name: '删除' }).click()
      const dialog = page.getByRole('dialog')
      await expect(dialog).toContainText('永久删除')
      await dialog.getByRole('textbox').fill('第一台')
      await dialog.getByRole('button', { name: '删除' }).click()
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
      await expect(page.getByText('还没有云主机')).toBeVisible()
    })
  })
})
