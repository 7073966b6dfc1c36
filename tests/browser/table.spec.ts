import type { Page } from '@playwright/test'
import { shot } from './console.ts'
import { expect, signIn, test } from './test.ts'

const rows = (page: Page) => page.locator('main .ant-table-row')
/** How far what is drawn is wider than the window. */
const tooWide = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
/** How dark the shadow of the actions is, over the columns that lie under them. */
const shadow = (page: Page): Promise<number> =>
  rows(page)
    .first()
    .locator('.zs-cell-actions')
    .evaluate((cell) => Number(getComputedStyle(cell, '::after').opacity))

test('a list that is wider than the window moves within itself, and what can be done with a row stays in sight', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.setViewportSize({ width: 820, height: 900 })
  await page.goto('/nextStack/vm')
  await expect(rows(page)).toHaveCount(10)
  // It would be measured in them, and drawn once more.
  await expect(page.locator('.ant-table-measure-row')).toHaveCount(0)
  const frame = page.locator('main .ant-table-content')
  const wider = await frame.evaluate((box) => box.scrollWidth - box.clientWidth)
  expect(wider).toBeGreaterThan(100)
  expect(await tooWide(page)).toBeLessThanOrEqual(0)
  await expect.poll(() => shadow(page)).toBe(1)

  const more = rows(page).first().getByRole('button', { name: /更多/ })
  const [button, box] = [await more.boundingBox(), await frame.boundingBox()]
  expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThanOrEqual((box?.x ?? 0) + (box?.width ?? 0))
  await more.click()
  await expect(page.getByRole('menuitem').first()).toBeVisible()
  await page.keyboard.press('Escape')

  await frame.evaluate((one) => one.scrollTo({ left: one.scrollWidth }))
  await expect.poll(() => shadow(page)).toBe(0)
  await rows(page).first().getByRole('checkbox').check()
  await expect(page.getByRole('region', { name: '批量操作' })).toBeVisible()
  await shot(page, 'list')
  await page.setViewportSize({ width: 390, height: 900 })
  await expect.poll(() => tooWide(page)).toBeLessThanOrEqual(0)
  await expect(more).toBeInViewport()
})
