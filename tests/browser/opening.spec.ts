import { vms } from '@zhisuan/contract/nextstack/vm'
import { users } from '@zhisuan/contract/ums/user'
import { expect, signIn, test } from './test.ts'

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
