import { vms } from '@zhisuan/contract/nextstack/vm'
import { Client, until } from '../support/server.ts'
import { accessible, button, countingClicks, dialog, more, rowOf } from './console.ts'
import { fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { expect, stage, test, toast } from './test.ts'

test(
  'somebody new has a machine in a network of their own after six clicks, and sees what it is, does and costs',
  { tag: '@journey' },
  async ({ page, trouble }) => {
    // Its page may ask for it once more, after it is gone.
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/vms\//)
    const person = await register(stage().url, newName('newcomer'), newName('org'))
    const name = newName('first')
    const { click, clicks } = countingClicks(page)
    await page.goto('/login')
    await fill(page, { '用户名、手机号或邮箱': person.username, 密码: person.password })
    await click('button', { name: '登录', exact: true })
    await expect(page).toHaveURL(/\/nextStack\/vm$/)
    await click('button', { name: '创建云主机' })
    await click('radio', { name: 'debian-12', exact: true })
    await click('radio', { name: 'nano', exact: true })
    await click('button', { name: '创建专有网络并选用' })
    await expect(page.locator('.zs-summary')).toContainText('默认网络')
    await expect(button(page, '创建专有网络并选用')).toBeHidden()
    await accessible(page, 'the form')
    await fill(page, { 登录密码: 'Root-of-it-1', 名称: name })
    await click('button', { name: '立即创建' })
    await expect(toast(page, `“${name}”正在创建`)).toBeVisible()
    await expect(rowOf(page, name)).toContainText('运行中')
    expect(clicks()).toBeLessThanOrEqual(6)

    await test.step('its page says how it is paid, and how busy it is', async () => {
      await rowOf(page, name).getByRole('link', { name, exact: true }).click()
      await expect(page.getByRole('link', { name: '默认网络' })).toBeVisible()
      await expect(page.getByText('付费方式')).toBeVisible()
      await expect(page.getByText('按量', { exact: true })).toBeVisible()
      await expect(page.locator('.ns-load svg path').first()).toHaveAttribute('d', /^M/)
      await accessible(page, 'the machine')
    })

    await test.step('off it keeps its address, and says so', async () => {
      const client = new Client(stage().url, someAddress())
      await client.signIn(person.username, person.password)
      const id = (await client.call(vms.list, { query: { keyword: name } })).items[0]?.id ?? ''
      const { reserved_address: address } = await client.call(vms.get, { params: { id } })
      await client.call(vms.stop, { params: { id }, body: { force: true } })
      await until(async () => (await client.call(vms.get, { params: { id } })).status === 'stopped', 'the instance')
      await expect(page.getByText('已保留')).toBeVisible()
      await expect(page.getByText(address ?? 'none', { exact: true })).toBeVisible()
    })

    await test.step('it is deleted, and the list says so', async () => {
      await more(page.locator('.frame-head-actions'), '删除')
      await expect(dialog(page)).toContainText('永久删除')
      await dialog(page).getByRole('textbox').fill(name)
      await button(dialog(page), '删除').click()
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
      await expect(rowOf(page, name)).toHaveCount(0)
    })

    await test.step('the next one goes into the same network by itself', async () => {
      await page.goto('/nextStack/vm/add')
      await expect(page.locator('.zs-summary')).toContainText('默认网络')
    })
  },
)
