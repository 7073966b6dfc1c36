import { readFile } from 'node:fs/promises'
import { AxeBuilder } from '@axe-core/playwright'
import type { Locator, Page } from '@playwright/test'
import { expect } from './test.ts'

/** What axe finds wrong on what is seen now, once nothing fades in any more. */
export async function accessible(page: Page, what?: string): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState, effect }) => playState !== 'running' || effect?.getComputedTiming().iterations === Infinity),
  )
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze()
  expect
    .soft(
      violations.map(({ id, impact, nodes }) => `${impact ?? ''} ${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' ')}`),
      what,
    )
    .toEqual([])
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
  const one = button(page.locator('.zs-head-actions'), action)
  await expect(one).toHaveAttribute('aria-disabled', 'false')
  await one.click()
}
/** Searches in a select and takes what is found. */
export async function pick(within: Page | Locator, label: string, text: string): Promise<void> {
  const page = 'page' in within ? within.page() : within
  await within.getByLabel(label, { exact: true }).and(page.locator('input[role=combobox]')).fill(text)
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
