import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { Client, until } from '../support/server.ts'
import { accessible, button, dialog, rowOf } from './console.ts'
import { field, fill, wrong } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { password, stage } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

/** An instance of the tenant's that nobody else looks at. */
async function makeVm(name: string): Promise<string> {
  const { url, cloudId, tenant } = stage()
  const client = new Client(url, someAddress())
  await client.signIn(tenant.username, tenant.password)
  const [image] = (await client.call(images.list, { query: { cloud_id: cloudId, type: 'container' } })).items
  const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
  const [flavor] = (await client.call(flavors.list)).items
  const { items } = await client.call(vms.create, {
    body: { cloud_id: cloudId, name, type: 'container', image_fingerprint: image?.fingerprint, network: network?.name, flavor_id: flavor?.id, password },
  })
  const id = items[0]?.id ?? ''
  await until(async () => (await client.call(vms.get, { params: { id } })).status === 'running', 'the instance to run')
  return id
}

test.describe('snapshots of instances', () => {
  test('one is made, set back to, cloned, renamed and deleted', async ({ page, context, trouble }) => {
    // Its name is taken once, see below.
    trouble.expect(/^400 POST .*\/snapshots$/)
    const vm = newName('snapped')
    const id = await makeVm(vm)
    await signIn(context, 'tenant')

    await test.step('make one from the list, choosing the instance by typing', async () => {
      await page.goto('/nextStack/snaps')
      await button(page, '创建快照').first().click()
      await fill(dialog(page), { 名称: '含 空格' })
      await button(dialog(page), '创建快照').click()
      await expect(wrong(dialog(page), '云主机')).toHaveText('请选择云主机')
      await expect(wrong(dialog(page), '名称')).toBeVisible()
      await field(dialog(page), '云主机').fill(vm)
      await page.getByTitle(`${vm}（运行中）`).click()
      await fill(dialog(page), { 名称: '升级前', 描述: '浏览器测试' })
      await accessible(page, 'the dialog')
      await button(dialog(page), '创建快照').click()
      await expect(toast(page, '正在创建快照“升级前”')).toBeVisible()
      await expect(rowOf(page, '升级前').filter({ hasText: vm })).toContainText('可用')
      await accessible(page, 'the list')
    })

    await test.step('make another from the instance; its name is taken once', async () => {
      await page.goto(`/nextStack/vm/detail/${id}?tab=snapshots`)
      await button(page, '创建快照').first().click()
      await fill(dialog(page), { 名称: '升级前' })
      await button(dialog(page), '创建快照').click()
      await expect(wrong(dialog(page), '名称')).toHaveText('该实例已有同名快照')
      await fill(dialog(page), { 名称: '升级后' })
      await button(dialog(page), '创建快照').click()
      await expect(rowOf(page, '升级后')).toContainText('可用')
      await accessible(page, 'the tab of the instance')
    })

    await test.step('set back, which says what is lost and wants the name', async () => {
      await rowOf(page, '升级前').getByRole('link', { name: '升级前' }).click()
      await expect(page.getByRole('heading', { level: 1, name: '升级前' })).toBeVisible()
      await accessible(page, 'the page')
      await button(page, '恢复').click()
      await expect(dialog(page)).toContainText('所有数据都会丢失，无法找回')
      await expect(dialog(page)).toContainText('立即断电')
      await expect(button(dialog(page), '恢复')).toBeDisabled()
      await dialog(page).getByRole('textbox').fill(vm)
      await button(dialog(page), '恢复').click()
      await expect(toast(page, `“${vm}”正在恢复到“升级前”`)).toBeVisible()
      await page.getByRole('tab', { name: '操作记录' }).click()
      await expect(rowOf(page, '恢复快照')).toContainText('成功')
    })

    await test.step('clone it', async () => {
      await button(page, '克隆').click()
      await expect(field(dialog(page), '名称')).toHaveValue(`${vm}-clone`)
      await accessible(page, 'the dialog of cloning')
      await button(dialog(page), '克隆').click()
      await expect(toast(page, `“${vm}-clone”正在创建`)).toBeVisible()
      await page.goto(`/nextStack/vm?keyword=${vm}-clone`)
      await expect(rowOf(page, `${vm}-clone`)).toContainText('运行中')
    })

    await test.step('rename one, delete both together', async () => {
      await page.goto(`/nextStack/vm/detail/${id}?tab=snapshots`)
      await rowOf(page, '升级后').getByRole('button', { name: '更多' }).click()
      await page.getByRole('menuitem', { name: '编辑' }).click()
      await fill(dialog(page), { 名称: '稳定版' })
      await button(dialog(page), '保存').click()
      await expect(rowOf(page, '稳定版')).toBeVisible()
      await page.getByRole('checkbox', { name: '全选本页' }).check()
      await page.getByRole('region').getByRole('button', { name: '删除' }).click()
      await expect(dialog(page)).toContainText('稳定版')
      await button(dialog(page), '删除').click()
      await button(dialog(page), '完成').click()
      await expect(page.getByText('这台云主机还没有快照')).toBeVisible()
    })
  })

  test('a schedule says what it does and when, is switched off and on, and goes', async ({ page, context }) => {
    const vm = newName('scheduled')
    await makeVm(vm)
    await signIn(context, 'tenant')
    await page.goto('/nextStack/snaps?tab=schedules')
    await button(page, '新建定时策略').first().click()
    await field(dialog(page), '云主机').fill(vm)
    await page.getByTitle(`${vm}（运行中）`).click()
    await dialog(page).getByText('每周', { exact: true }).click()
    await expect(field(dialog(page), '名称')).toHaveValue('每周')
    await dialog(page).getByText('周日', { exact: true }).click()
    await field(dialog(page), '时刻').fill('25:00')
    await button(dialog(page), '新建定时策略').click()
    await expect(wrong(dialog(page), '时刻')).toContainText('请输入时刻')
    await field(dialog(page), '时刻').fill('01:30')
    await field(dialog(page), '保留数量').fill('4')
    await expect(dialog(page).getByRole('alert')).toContainText('每周日 01:30（Asia/Shanghai时间）创建快照，只保留最近 4 个。')
    await accessible(page, 'the drawer')
    await button(dialog(page), '新建定时策略').click()
    const row = rowOf(page, vm)
    await expect(row).toContainText('每周日 01:30')
    await expect(row).toContainText('01:30:00')
    await accessible(page, 'the list')

    await row.getByRole('button', { name: '停用' }).click()
    await expect(row).toContainText('已停用')
    await expect(row).not.toContainText('01:30:00')
    await row.getByRole('button', { name: '启用' }).click()
    await expect(row).toContainText('已启用')
    await row.getByRole('button', { name: '编辑' }).click()
    await dialog(page).getByText('每小时', { exact: true }).click()
    await field(dialog(page), '每小时的第几分钟').fill('15')
    await button(dialog(page), '保存').click()
    await expect(row).toContainText('每小时的第 15 分')
    await row.getByRole('button', { name: '删除' }).click()
    await expect(dialog(page)).toContainText('它已创建的快照会保留')
    await button(dialog(page), '删除').click()
    await expect(row).toHaveCount(0)
  })
})
