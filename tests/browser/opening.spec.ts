import { randomUUID } from 'node:crypto'
import type { ResponseOf } from '@zhisuan/contract/define'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { users } from '@zhisuan/contract/ums/user'
import { expect, signIn, stage, test } from './test.ts'

const pathOf = (url: string): string => new URL(url).pathname

test('an address that was opened before asks again what it asked then, before its scripts have come, and once', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.goto('/nextStack/vm?keyword=batch-')
  await expect(page.locator('.ant-table-row')).toHaveCount(10)

  const asked: string[] = []
  const scripts = Promise.withResolvers<void>()
  page.on('request', (request) => {
    const path = pathOf(request.url())
    if (path === users.current.path || path === vms.list.path) asked.push(path)
  })
  // The page's own scripts are modules; what asks early is none.
  await page.route(/\/assets\/[^/]+\.js$/, async (route) => {
    if (route.request().headers()['sec-fetch-mode'] === 'cors') await scripts.promise
    await route.continue()
  })
  await page.reload({ waitUntil: 'commit' })
  await expect.poll(() => asked.toSorted()).toEqual([users.current.path, vms.list.path].toSorted())
  scripts.resolve()
  await expect(page.locator('.ant-table-row')).toHaveCount(10)
  expect(asked.filter((path) => path === users.current.path)).toHaveLength(1)
})

test('another cloud has the whole view begin anew: nothing that was chosen in the former one is left to act on', async ({ page, context }) => {
  const { cloudId } = stage()
  const other = { id: randomUUID(), name: '另一个云' }
  // The same cloud by another name: what it answers is looked at elsewhere.
  await page.route(`**${clouds.basicInfo.path}`, async (route) => {
    const answer = await route.fetch()
    const { clouds: all, ...rest } = (await answer.json()) as ResponseOf<typeof clouds.basicInfo>
    const copies = all.filter((one) => one.cloud_id === cloudId).map((one) => ({ ...one, cloud_id: other.id, name: other.name }))
    await route.fulfill({ response: answer, json: { ...rest, clouds: [...all, ...copies] } })
  })
  await page.route(
    (url) => url.searchParams.get('cloud_id') === other.id,
    (route) => route.continue({ url: route.request().url().replace(other.id, cloudId) }),
  )
  await signIn(context, 'tenant')
  await page.goto('/nextStack/vm?keyword=batch-&page=2')
  await page.locator('.ant-table-row').first().getByRole('checkbox').check()
  await expect(page.getByRole('region', { name: '批量操作' })).toBeVisible()
  await page.getByRole('button', { name: /^切换云平台/ }).click()
  await page.getByRole('menuitem', { name: new RegExp(other.name) }).click()
  await expect(page.getByRole('button', { name: /^切换云平台/ })).toContainText(other.name)
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
  await expect(page.locator('.ant-table-row')).toHaveCount(10)
  await expect(page.getByRole('region', { name: '批量操作' })).toBeHidden()
  await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(0)
})
