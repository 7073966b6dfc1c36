import { clouds } from '@zhisuan/contract/cmp/cloud'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, button, dialog, rowOf } from './console.ts'
import { field, fill, wrong } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { playedPassword as password, PlayedCloud } from './playedCloud.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

test('an OpenStack is tried service by service, registered, looked at, changed and chosen', { tag: '@journey' }, async ({ page, context, trouble }) => {
  trouble.expect(/^(400|502) (POST|PUT) \/api\/cmp\/v1\/clouds/)
  const played = new PlayedCloud()
  const authUrl = await played.open()
  const administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  const name = newName('华东')
  const drawer = page.getByRole('dialog', { name: '登记云平台' })
  const services = (service: string) => dialog(page).getByRole('row', { name: new RegExp(service) })
  try {
    await signIn(context, 'admin')
    await page.goto('/infrastructure/cloudy')
    await button(page, '登记云平台').first().click()

    await test.step('what is wrong stands beside its field', async () => {
      await field(drawer, '产品').click()
      await page.getByTitle('OpenStack', { exact: true }).click()
      await button(drawer, '登记').click()
      for (const label of ['名称', '认证地址', '用户名', '密码', '登录的项目']) await expect(wrong(drawer, label), label).not.toBeEmpty()
      await fill(drawer, { 名称: name, 认证地址: 'http://127.0.0.1:1/v3', 用户名: 'admin', 密码: 'wrong', 登录的项目: 'admin' })
      await button(drawer, '测试连接').click()
      await expect(wrong(drawer, '认证地址')).toContainText('连接不上127.0.0.1:1的身份服务（Keystone）')
      await expect(wrong(drawer, '认证地址')).toContainText('req-')
      await fill(drawer, { 认证地址: authUrl })
      await button(drawer, '测试连接').click()
      await expect(wrong(drawer, '密码')).toContainText('拒绝登录')
      await fill(drawer, { 密码: password, '区域（可选）': 'Nowhere' })
      await button(drawer, '测试连接').click()
      await expect(wrong(drawer, '区域（可选）')).toContainText('RegionOne')
      await fill(drawer, { '区域（可选）': 'RegionOne' })
      await drawer.getByText('应用凭据', { exact: true }).click()
      await expect(drawer.getByText('应用凭据只属于创建它的那一个项目')).toBeVisible()
      await drawer.getByText('用户名和密码', { exact: true }).click()
      await expect(field(drawer, '用户名')).toHaveValue('admin')
    })

    await test.step('each service answers for itself', async () => {
      played.broken.add('network').add('volume')
      await button(drawer, '测试连接').click()
      await expect(drawer.getByText('必需的服务不可用，不能登记')).toBeVisible()
      await expect(services('网络 Neutron')).toContainText('失败')
      await expect(services('网络 Neutron')).toContainText('req-of-the-cloud')
      await expect(services('计算 Nova')).toContainText('可用')
      await expect(services('计算 Nova')).toContainText('2.93')
      await accessible(page, 'the form')
      await button(drawer, '登记').click()
      await expect(drawer.getByText(/没有保存：.*这些必需服务不可用：Neutron/)).toBeVisible()
      played.broken.delete('network')
      await button(drawer, '测试连接').click()
      await expect(drawer.getByText('可以登记，但有服务不可用')).toBeVisible()
      await button(drawer, '登记').click()
      await expect(toast(page, `“${name}”已登记`)).toBeVisible()
    })

    await test.step('the list says what fails, and what is promised', async () => {
      const row = rowOf(page, name)
      await expect(row).toContainText('部分异常')
      await expect(row).toContainText('Cinder')
      await expect(row).toContainText('60 / 384 核')
      await row.getByRole('link', { name }).click()
      await expect(page).toHaveURL(/\?cloud=/)
      await expect(services('云硬盘 Cinder')).toContainText('the database is on fire')
      await expect(dialog(page)).toContainText('96 核（可超分 4 倍）')
      await expect(dialog(page).getByRole('figure')).toHaveCount(4)
      await accessible(page, 'the cloud')
      played.broken.clear()
      await page.keyboard.press('Escape')
      await expect(dialog(page)).toBeHidden()
      await expect(page).not.toHaveURL(/cloud=/)
      await row.getByRole('button', { name: '重新检测' }).click()
      await expect(row).toContainText('可连接')
    })

    await test.step('it is changed without its password, which nobody gets to see', async () => {
      await rowOf(page, name).getByRole('button', { name: '编辑' }).click()
      const edit = page.getByRole('dialog', { name: `编辑“${name}”` })
      await edit.getByLabel('更改连接方式或凭据').check()
      await expect(field(edit, '认证地址')).toHaveValue(authUrl)
      await expect(field(edit, '密码')).toHaveValue('')
      await button(edit, '测试连接').click()
      await expect(edit.getByText('所有服务可用')).toBeVisible()
      await fill(edit, { 用户名: 'other' })
      await button(edit, '保存').click()
      await expect(wrong(edit, '密码')).toHaveText('认证地址或账号已更改，请重新输入密码')
      await fill(edit, { 用户名: 'admin', 描述: '华东机房' })
      await button(edit, '保存').click()
      await expect(toast(page, '已保存')).toBeVisible()
    })

    await test.step('choosing it leads to the pages of its family', async () => {
      await page.goto('/nextStack/vm')
      await page.getByRole('button', { name: /^切换云平台/ }).click()
      await page.getByRole('menuitem', { name: new RegExp(name) }).click()
      await expect(page).toHaveURL(/\/instance\?cloud=/)
    })
  } finally {
    const { clouds: listed } = await administrator.call(clouds.list, { query: { keyword: name } })
    for (const { cloud_id } of listed) await administrator.call(clouds.delete, { params: { id: cloud_id }, query: { force: 'true' } })
    played.close()
  }
})
