import axe, { type AxeResults, type RunOptions } from 'axe-core'
import type { Page } from '@playwright/test'

export const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']

/**
 * Until nothing fades in any more (half faded in, text has half its contrast), what stands in the place of what is still loaded is
 * gone, and so are the choices of a select that was left.
 * What goes by how far something is scrolled is never over.
 */
export const still = async (page: Page): Promise<void> =>
  void (await page.waitForFunction(
    () =>
      document
        .getAnimations()
        .every(
          ({ playState, effect, timeline }) =>
            playState !== 'running' || !(timeline instanceof DocumentTimeline) || effect?.getComputedTiming().iterations === Infinity,
        ) &&
      document.querySelector('.ant-skeleton-title') === null &&
      [...document.querySelectorAll('.ant-select-dropdown:not(.ant-select-dropdown-hidden)')].every((choices) => {
        const list = choices.querySelector('[role=listbox]')
        return document.querySelector(`[role=combobox][aria-expanded=true]${list === null ? '' : `[aria-controls="${list.id}"]`}`) !== null
      }),
  ))

/**
 * What axe finds wrong on what is seen now, a line each. axe comes into a document once and runs in it: its own builder
 * for Playwright brings it along three times for each look, opens a page to add up what it found, and tells of all
 * that is right, too.
 */
export async function violations(
  page: Page,
  {
    tags = wcag,
    withoutRules = [],
    exclude = [],
  }: { readonly tags?: readonly string[]; readonly withoutRules?: readonly string[]; readonly exclude?: readonly string[] } = {},
): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  // What cannot be pressed just now may be pale (WCAG 1.4.3): a button that is busy for a moment.
  const context = { exclude: ['.ant-btn-loading', ...exclude].map((selector) => [selector]) }
  const options: RunOptions = {
    runOnly: { type: 'tag', values: [...tags] },
    rules: Object.fromEntries(withoutRules.map((rule) => [rule, { enabled: false }])),
    resultTypes: ['violations'],
  }
  return page.evaluate(
    async ([within, how]) => {
      // axe puts itself on the window of the page, which no declaration of ours says.
      const { violations: found } = await (window as unknown as { axe: { run(within: unknown, how: RunOptions): Promise<AxeResults> } }).axe.run(within, how)
      return found.flatMap(({ id, impact, help, nodes }) =>
        nodes.map((node) => `${impact ?? ''} ${id}: ${help}: ${node.target.join(' ')} ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
      )
    },
    [context, options] as const,
  )
}
