import { expect, signIn, test } from './test.ts'

for (const reducedMotion of ['reduce', 'no-preference'] as const) {
  test.describe(`motion: ${reducedMotion}`, () => {
    test.use({ viewport: { width: 1280, height: 620 }, contextOptions: { reducedMotion } })

    test('menus open beside their button and inside the window', async ({ page, context }) => {
      await signIn(context, 'tenant')
      await page.goto('/nextStack/vm')
      const buttons = page.getByRole('row').getByRole('button', { name: '更多' })
      await expect(buttons.first()).toBeVisible()
      expect(await buttons.count()).toBeGreaterThan(5)
      const menu = page.locator('.ant-dropdown:not(.ant-dropdown-hidden)')
      for (const button of await buttons.all()) {
        await button.scrollIntoViewIfNeeded()
        await button.click()
        await expect(async () => {
          const [box, anchor] = [await menu.boundingBox(), await button.boundingBox()]
          if (box === null || anchor === null) throw new Error('nothing to be seen')
          expect([box.x >= 0, box.y >= 0, box.x + box.width <= 1280, box.y + box.height <= 620], JSON.stringify(box)).toEqual([true, true, true, true])
          const apart = Math.min(Math.abs(box.y - anchor.y - anchor.height), Math.abs(anchor.y - box.y - box.height))
          expect(apart, `${JSON.stringify(box)} beside ${JSON.stringify(anchor)}`).toBeLessThan(20)
        }).toPass({ timeout: 20_000 })
        await page.keyboard.press('Escape')
        await expect(menu).toHaveCount(0)
      }
    })
  })
}

test('dialogs and drawers come and go without motion', async ({ page, context }) => {
  await signIn(context, 'tenant')
  await page.goto('/nextStack/privateImage')
  await page.getByRole('button', { name: '创建镜像' }).first().click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
})
