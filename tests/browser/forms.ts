import { expect, type Locator, type Page } from '@playwright/test'

const pageOf = (within: Page | Locator): Page => ('page' in within ? within.page() : within)

/** A field of a form by its label, of a page or of a part of it; columns and filters of the same name are none. */
export const field = (within: Page | Locator, label: string): Locator => within.getByLabel(label, { exact: true }).and(pageOf(within).locator('form *'))

/** What is said to be wrong with a field, where it stands. */
export function wrong(within: Page | Locator, label: string): Locator {
  // What is no longer wrong fades out.
  return within
    .locator('.ant-form-item', { has: pageOf(within).getByLabel(label, { exact: true }) })
    .locator('.ant-form-item-explain-error:not(.ant-form-show-help-item-leave)')
}

/** Takes out what a form has chosen itself in a select of several. */
export async function takeOut(within: Page | Locator, label: string, choice: string): Promise<void> {
  const item = within.locator('.ant-form-item', { has: pageOf(within).getByLabel(label, { exact: true }) })
  await expect(item).toContainText(choice)
  await field(within, label).press('Backspace')
  await expect(item).not.toContainText(choice)
}

/** Types a day or a moment, or empties it, as people do: Enter takes what is typed, and nothing is taken when it is left. */
export async function fillDate(within: Page | Locator, label: string, text: string): Promise<void> {
  const calendar = within.getByLabel(label, { exact: true })
  await calendar.fill(text)
  await calendar.press(text === '' ? 'Tab' : 'Enter')
}

/** Types into several fields, by their labels. */
export async function fill(within: Page | Locator, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await field(within, label).fill(value)
  // What was wrong with it goes away a moment later, and what stands below moves up.
  await pageOf(within).evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 50)))
}
