import type { Page } from '@playwright/test'

/** What has the focus, as a person would say it. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const at = document.activeElement
    return at === null || at === document.body ? 'nothing' : `${at.tagName.toLowerCase()} ${at.getAttribute('aria-label') ?? at.textContent ?? ''}`.slice(0, 60)
  })

/** What was seen to be drawn otherwise with the focus, by its classes and those around it: pictures take their time. */
const drawnKinds = new Set<string>()

/** Where what has the focus is drawn, and among what; null where it is outside or was looked at before. */
const placeOfFocus = (page: Page, within: string) =>
  page.evaluate(async (inside) => {
    const element = document.activeElement as (HTMLElement & { passed?: boolean }) | null
    if (element === null || element === document.body || element.closest(inside) === null || element.passed === true) return null
    // Some inputs have no extent, or no border: what is drawn for them is around them.
    const drawn = element.closest('.ant-input-affix-wrapper') ?? (element.clientWidth > 0 ? element : (element.parentElement ?? element))
    const look = () => {
      const { x, y, width, height } = drawn.getBoundingClientRect()
      const at = document.elementFromPoint(Math.min(innerWidth - 1, x + width / 2), Math.max(y, 0) + (Math.min(innerHeight, y + height) - Math.max(y, 0)) / 2)
      const left = Math.max(0, x - 6)
      const top = Math.max(0, y - 6)
      const clip = { x: left, y: top, width: Math.min(innerWidth, x + width + 6) - left, height: Math.min(innerHeight, y + height + 6) - top }
      const covered = at === null || !(drawn.contains(at) || at.contains(drawn) || element.closest('label')?.contains(at) === true)
      return { clip, covered: covered || clip.width <= 0 || clip.height <= 0 }
    }
    let seen = look()
    // What comes in moves yet, and what is scrolled to is there a moment later.
    for (let again = 0; seen.covered && again < 20; again++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      seen = look()
    }
    const kind: string[] = []
    for (let around: Element | null = element; around !== null && kind.length < 6; around = around.parentElement)
      kind.push(`${around.tagName}.${[...around.classList].sort().join('.')}`)
    element.passed = true
    return { ...seen, kind: kind.join(' < ') }
  }, within)

const stopsMost = 1_000
/**
 * Looks at every stop of the Tab key: whether it is on the screen, covered by nothing, and drawn
 * otherwise than without the focus. Answers those that are not.
 * @param within ends the round where the focus leaves it
 */
export async function unseenStops(page: Page, key: 'Tab' | 'Shift+Tab' = 'Tab', within = 'body'): Promise<readonly string[]> {
  const unseen: string[] = []
  // Of a round before this one, on a page that what is around it stayed for.
  await page.evaluate(() => document.querySelectorAll<HTMLElement & { passed?: boolean }>('*').forEach((element) => delete element.passed))
  // The longest list names each kind of thing that policies may be about.
  for (let stops = 0; stops < stopsMost; stops++) {
    await page.keyboard.press(key)
    const place = await placeOfFocus(page, within)
    if (place === null) return unseen
    if (place.covered) {
      unseen.push(`${await focused(page)}: not on the screen`)
      continue
    }
    if (drawnKinds.has(place.kind)) continue
    const name = await focused(page)
    const stop = await page.evaluateHandle(() => document.activeElement)
    const shot = async () => {
      // Some of what is drawn for the focus comes with the next render.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      return page.screenshot({ clip: place.clip, animations: 'disabled' })
    }
    const withFocus = await shot()
    await stop.evaluate((element) => (element as HTMLElement).blur())
    const without = await shot()
    await stop.evaluate((element) => (element as HTMLElement).focus())
    if (withFocus.equals(without)) unseen.push(`${name}: looks the same`)
    else drawnKinds.add(place.kind)
  }
  throw new Error(`more than ${stopsMost} stops, lately ${await focused(page)}`)
}
