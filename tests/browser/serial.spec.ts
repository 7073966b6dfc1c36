import type { Locator, Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, act, button, dialog } from './console.ts'
import { newName, someAddress } from './people.ts'
import { ids, PlayedCloud, playedPassword, playedToken } from './playedCloud.ts'
import { expect, signIn, stage, test } from './test.ts'

test.describe('the serial console of an OpenStack instance', () => {
  const played = new PlayedCloud()
  let name = ''
  let cloudId = ''

  test.beforeAll(async () => {
    const auth_url = await played.open()
    const administrator = new Client(stage().url, someAddress())
    await administrator.signIn('admin', administratorPassword)
    name = newName('串口')
    const connection = {
      type: 'openstack-password' as const,
      auth_url,
      interface: 'public' as const,
      region: 'RegionOne',
      username: 'admin',
      password: playedPassword,
      user_domain: 'Default',
      project: 'admin',
      project_domain: 'Default',
    }
    cloudId = (await administrator.call(clouds.create, { body: { name, product: 'openstack', connection } })).cloud_id
  })
  test.afterAll(async () => {
    const administrator = new Client(stage().url, someAddress())
    await administrator.signIn('admin', administratorPassword)
    await administrator.call(clouds.delete, { params: { id: cloudId }, query: { force: 'true' } })
    played.close()
  })

  const screen = (page: Page): Locator => page.locator('.xterm-rows')
  const state = (page: Page): Locator => page.getByRole('toolbar', { name: '终端工具' }).getByRole('status')
  const type = async (page: Page, line: string): Promise<void> => {
    await expect(state(page)).toHaveText('已连接')
    await page.locator('.zs-terminal-screen').click()
    await page.keyboard.type(line)
    await page.keyboard.press('Enter')
  }

  for (const width of [1440, 390]) {
    test(`is typed into, breaks, is refused and opened again, ${width} px wide`, async ({ page, context, trouble }) => {
      // The cloud has no graphical one; the other window asks while this one has it.
      trouble.expect(/^409 POST .*\/(console|serial-console)$/)
      const said: string[] = []
      page.on(
        'response',
        (response) =>
          void response.text().then(
            (text) => said.push(text),
            () => undefined,
          ),
      )
      await page.setViewportSize({ width, height: 900 })
      await signIn(context, 'admin')
      await context.addInitScript((id) => location.protocol.startsWith('http') && localStorage.setItem('zhisuan.cloud', id), cloudId)
      await page.goto(`/instancedesc/${ids.server}`)

      await test.step('the dialog leads to it', async () => {
        await act(page, '控制台')
        await expect(dialog(page).getByText('该云平台没有提供这种控制台')).toBeVisible()
        await dialog(page).getByRole('radio', { name: '串口控制台' }).check()
        await expect(dialog(page).getByText('串口控制台是文字终端')).toBeVisible()
        await page.screenshot({ path: test.info().outputPath(`dialog-${width}.png`) })
        await button(dialog(page), '打开串口控制台').click()
        await expect(page).toHaveURL(/tab=serial/)
      })
      await test.step('what is typed comes back', async () => {
        await type(page, 'root')
        await expect(screen(page)).toContainText('played-vm login: root')
        await expect(page.getByText(/^stty cols \d+ rows \d+$/)).toBeVisible()
        await page.screenshot({ path: test.info().outputPath(`open-${width}.png`) })
        await accessible(page, 'the terminal')
      })
      await test.step('a page that is read again goes on where it was', async () => {
        await page.reload()
        await expect(state(page)).toHaveText('已连接')
        await expect(screen(page)).toContainText('played-vm login: root')
      })
      await test.step('it breaks off, and is opened again', async () => {
        played.breakSerial()
        const note = page.getByText('与云平台的串口控制台代理的连接中断')
        await expect(note).toBeVisible()
        await expect(note).toContainText(`云平台“${name}”的计算服务`)
        await expect(note).toContainText('req-of-the-cloud')
        // What it printed last stays.
        await expect(screen(page)).toContainText('played-vm login: root')
        await page.screenshot({ path: test.info().outputPath(`broken-${width}.png`) })
        await accessible(page, 'the broken terminal')
        played.serialRefused = true
        await button(page, '重新连接').click()
        await expect(page.getByText('云平台的串口控制台代理拒绝了连接')).toBeVisible()
        played.serialRefused = false
        await button(page, '重新连接').click()
        await type(page, 'again')
        await expect(screen(page)).toContainText('played-vm login: again')
      })
      await test.step('another window is told, and takes it over', async () => {
        const other = await context.newPage()
        await other.setViewportSize({ width, height: 900 })
        await other.goto(`/instancedesc/${ids.server}?tab=serial`)
        await expect(other.getByText('同一时间只能打开一个终端')).toBeVisible()
        await other.screenshot({ path: test.info().outputPath(`taken-${width}.png`) })
        await button(other, '接管').click()
        await type(other, 'mine')
        await expect(screen(other)).toContainText('played-vm login: mine')
        await expect(state(page)).toHaveText('已关闭')
        await other.close()
      })
      expect(said.filter((text) => text.includes(playedToken))).toEqual([])
    })
  }
})
