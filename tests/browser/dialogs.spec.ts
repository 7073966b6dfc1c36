import type { Locator, Page } from '@playwright/test'
import { visit } from './console.ts'
import { pagesFor, someAtATime } from './routeTable.ts'
import { expect, signIn, test, type Trouble } from './test.ts'
import { watchQuiet } from './traffic.ts'

// Recording what opens and closes takes longer than looking at it; a failure names its page and its button.
test.use({ trace: 'off' })

const opened = (page: Page): Locator => page.locator('.ant-modal:visible, .ant-drawer-section:visible, .ant-drawer-content:visible')

/** What opens a dialog or a drawer on a page, each once: rows have the same. */
async function openers(page: Page): Promise<readonly string[]> {
  const labels = await page.locator('button[aria-haspopup=dialog][aria-disabled=false]:visible').allTextContents()
  return [...new Set(labels)].filter((label) => label !== '')
}
/** The same in the menu of a page's first row, and in that beside its heading. */
async function inMenu(page: Page, menu: Locator): Promise<readonly string[]> {
  await menu.click()
  const items = page.locator('.ant-dropdown:visible [data-opens=dialog]')
  await expect(page.locator('.ant-dropdown:visible')).toHaveCount(1)
  const labels = await items.allTextContents()
  await page.keyboard.press('Escape')
  await expect(page.locator('.ant-dropdown:visible')).toHaveCount(0)
  return labels
}

/** Opens it, looks whether it is whole, and closes it by the keyboard. */
async function look(page: Page, trouble: Trouble, what: string, open: () => Promise<void>): Promise<void> {
  await open()
  const one = opened(page).first()
  await expect(one, what).toBeVisible()
  const dialog = page.getByRole('dialog').first()
  await expect(dialog, `${what} says what it is`).toHaveAccessibleName(/\S/)
  expect.soft(await dialog.innerText(), `${what} fails`).not.toMatch(/加载失败|undefined|\{\{/)
  // A key goes where the focus is: what opens from a menu has it once that has closed.
  await page.waitForFunction(() => document.activeElement?.closest('[role=dialog], .ant-modal, .ant-drawer') != null)
  // Whoever has typed nothing is not asked whether to keep it. A menu that is still closing takes the first.
  await expect(async () => {
    await page.keyboard.press('Escape')
    await expect(opened(page), `${what} closes`).toHaveCount(0, { timeout: 3_000 })
  }).toPass({ timeout: 30_000 })
  expect.soft(trouble.take(), `unseen in ${what}`).toEqual([])
}

const actors = [
  { who: 'admin', roles: ['ADMIN'] },
  { who: 'tenantAdmin', roles: ['TENANT_ADMIN'] },
  { who: 'tenant', roles: ['TENANT'] },
] as const

for (const { who, roles } of actors) {
  test.describe(`every dialog that pages offer to ${who}`, () => {
    for (const [name, paths] of someAtATime(pagesFor(roles), 12)) {
      test(name, async ({ page, context, trouble }) => {
        await signIn(context, who)
        const quiet = watchQuiet(page)
        for (const path of paths) {
          await visit(page, path)
          await quiet()
          trouble.take()
          for (const label of await openers(page))
            await look(page, trouble, `“${label}” of ${path}`, () =>
              page.locator('button[aria-haspopup=dialog][aria-disabled=false]:visible').filter({ hasText: label }).first().click(),
            )
          for (const menu of await page.locator('.frame-head-actions button[aria-haspopup=menu], tbody tr:first-of-type button[aria-haspopup=menu]').all())
            for (const label of await inMenu(page, menu))
              await look(page, trouble, `“${label}” of a menu of ${path}`, async () => {
                await menu.click()
                await page.locator('.ant-dropdown:visible [data-opens=dialog]').filter({ hasText: label }).first().click()
              })
        }
      })
    }
  })
}
