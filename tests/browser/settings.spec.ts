import { configs } from '@zhisuan/contract/sys/sys'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button } from './console.ts'
import { field, wrong } from './forms.ts'
import { someAddress } from './people.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test.describe('the platform’s settings', () => {
  test.afterAll(async () => {
    const client = new Client(stage().url, someAddress())
    await client.signIn('admin', administratorPassword)
    await client.call(configs.reset, { query: { key: 'title' } })
  })

  test('its name is changed, shows everywhere, and is set back', { tag: '@journey' }, async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/configure')
    await expect(page.getByRole('row', { name: /注册方式/ })).toBeVisible()
    await accessible(page, 'the settings')
    await page.getByRole('link', { name: '平台名称' }).click()
    await expect(page.getByText('还没有人修改过')).toBeVisible()
    await accessible(page, 'one setting')

    await field(page, '控制台中显示的平台名称').fill('  ')
    await button(page, '保存').click()
    await expect(wrong(page, '控制台中显示的平台名称')).toHaveText('请输入内容')
    await field(page, '控制台中显示的平台名称').fill('某某大学云')
    await button(page, '保存').click()
    await expect(toast(page, '“平台名称”已保存并生效')).toBeVisible()
    await expect(page).toHaveTitle('平台名称 · 某某大学云')
    await expect(page.getByRole('link', { name: '某某大学云' })).toBeVisible()
    await expect(page.getByRole('row', { name: /改为“某某大学云”/ })).toContainText('admin')

    await button(page, '恢复默认值').click()
    await expect(page.getByRole('dialog')).toContainText('当前值“某某大学云”将被放弃，恢复为“智算云”')
    await page.getByRole('dialog').getByRole('button', { name: '恢复默认值' }).click()
    await expect(page).toHaveTitle('平台名称 · 智算云')
    await expect(field(page, '控制台中显示的平台名称')).toHaveValue('智算云')
    await expect(page.getByRole('row', { name: /恢复默认值/ })).toBeVisible()
    await expect(button(page, '恢复默认值')).toBeDisabled()
  })

  test('what the server was started with is told without secrets', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/configure?tab=environment')
    await expect(page.getByRole('row', { name: /DATABASE_URL/ })).toContainText(/已设置（不显示）|未设置/)
    await expect(page.getByRole('main')).not.toContainText('postgres://')
    await accessible(page, 'the environment')
  })

  test('a setting that is none says so', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/configureDetail?key=nope')
    await expect(page.getByText('没有这项设置')).toBeVisible()
    await page.getByRole('link', { name: '返回平台配置' }).click()
    await expect(page).toHaveURL(/\/configure$/)
  })
})
