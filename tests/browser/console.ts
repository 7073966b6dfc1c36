import { readFile } from 'node:fs/promises'
import type { Locator, Page } from '@playwright/test'
import { still, violations, wcag } from './axe.ts'
import { expect } from './test.ts'

/** That axe finds nothing wrong on what is seen now, once nothing fades in any more. */
export async function accessible(page: Page, what?: string, tags = wcag): Promise<void> {
  await still(page)
  expect.soft(await violations(page, { tags }), what).toEqual([])
}

export const button = (within: Page | Locator, name: string): Locator => within.getByRole('button', { name, exact: true })
export const dialog = (page: Page): Locator => page.getByRole('dialog')
export const heading = (page: Page, name: string | RegExp): Locator => page.getByRole('heading', { level: 1, name })
export const rowOf = (within: Page | Locator, name: string): Locator => within.getByRole('row', { name: new RegExp(name) })
export const more = async (within: Locator, action: string): Promise<void> => {
  await within.getByRole('button', { name: /更多/ }).click()
  await within.page().getByRole('menuitem', { name: action }).click()
}
/** Once the page knows that it may be done. */
export async function act(page: Page, action: string): Promise<void> {
  const one = button(page.locator('.frame-head-actions'), action)
  await expect(one).toHaveAttribute('aria-disabled', 'false')
  await one.click()
}
/**
 * Opens an address as a link of the console does, without loading all of it anew, and waits until what was shown before
 * has gone. From a page that is none of the console's, and where only the query differs, as the browser does.
 */
export async function visit(page: Page, address: string): Promise<void> {
  const led = await page.evaluate((to) => {
    const { idx } = (history.state ?? {}) as { idx?: number }
    const shown = document.querySelector('#main > :last-child:not(.frame-head)')
    if (idx === undefined || shown === null || new URL(to, location.href).pathname === location.pathname) return false
    shown.setAttribute('data-left', '')
    history.pushState({ idx: idx + 1, key: String(idx + 1) }, '', to)
    dispatchEvent(new PopStateEvent('popstate', { state: history.state }))
    return true
  }, address)
  if (led) await expect(page.locator('[data-left]')).toHaveCount(0)
  else await page.goto(address)
}

/** Searches in a select and takes what is found. */
export async function pick(within: Page | Locator, label: string, text: string): Promise<void> {
  const page = 'page' in within ? within.page() : within
  const box = within.getByLabel(label, { exact: true }).and(page.locator('input[role=combobox]'))
  // Of few choices none is searched for.
  if ((await box.getAttribute('readonly')) === null) await box.fill(text)
  else await box.click()
  await page.locator('.ant-select-dropdown:visible .ant-select-item-option', { hasText: text }).first().click()
}

/** The file that the browser saves for what is asked. */
export async function savedBy(page: Page, ask: () => Promise<void>): Promise<{ readonly name: string; readonly content: Buffer }> {
  const announced = page.waitForEvent('download')
  await ask()
  const file = await announced
  return { name: file.suggestedFilename(), content: await readFile(await file.path()) }
}

/** Keeps how a page looks, narrow and wide, in the folder that SHOTS names: for who looks at it; without one, nothing. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder === undefined) return
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    await page.waitForTimeout(400)
    await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true })
  }
}

/** Presses as people do, and counts: how many clicks something takes. */
export function countingClicks(page: Page): { click(...about: Parameters<Page['getByRole']>): Promise<void>; clicks(): number } {
  let clicks = 0
  return {
    async click(...about) {
      clicks++
      await page
        .getByRole(...about)
        .first()
        .click()
    },
    clicks: () => clicks,
  }
}
