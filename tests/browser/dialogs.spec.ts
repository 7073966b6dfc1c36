import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from '@playwright/test'
import { loaders, present } from '../../apps/web/src/locales/namespaces.ts'
import { dialog } from './console.ts'
import { pagesFor, someAtATime } from './routeTable.ts'
import { expect, signIn, test } from './test.ts'

// What is pressed here is pressed a thousand times; a failure names the page and the button.
test.use({ trace: 'off' })
test.describe.configure({ mode: 'parallel' })

const web = fileURLToPath(new URL('../../apps/web/src', import.meta.url))
/** Every class that a style of ours speaks of. */
const classes = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.css'))
  .flatMap((file) =>
    [...readFileSync(join(web, file), 'utf8').matchAll(/\.([a-z]+(?:-\w+)+)/g)].flatMap(([, name = '']) => (name.startsWith('ant-') ? [] : name)),
  )

interface Texts {
  readonly [key: string]: string | Texts
}
const keysOf = (texts: Texts, before = ''): readonly string[] =>
  Object.entries(texts).flatMap(([key, text]) => (typeof text === 'string' ? `${before}${key}` : keysOf(text, `${before}${key}.`)))
/** What a text is called: it stands on a page where nobody brought the text. Actions are called so in policies, and are shown. */
async function keys(): Promise<readonly string[]> {
  const { action: _, ...lazy } = loaders
  const loaded: Texts[] = await Promise.all(Object.values(lazy).map(async (load) => (await load()).default as Texts))
  return [...Object.values(present as unknown as Record<string, Texts>), ...loaded].flatMap((texts) => keysOf(texts)).filter((key) => key.includes('.'))
}

/** What is wrong with what is seen of something: classes without a style, keys instead of texts. */
const faultsOf = async (shown: Locator): Promise<readonly string[]> =>
  shown.evaluate(
    (element, [ours, unsaid]) => {
      const styled = new Set<string>()
      const read = (rules: CSSRuleList): void => {
        for (const rule of rules) {
          if (rule instanceof CSSStyleRule) for (const [, name = ''] of rule.selectorText.matchAll(/\.([a-z]+(?:-\w+)+)/g)) styled.add(name)
          if ('cssRules' in rule) read(rule.cssRules as CSSRuleList)
        }
      }
      for (const sheet of document.styleSheets) read(sheet.cssRules)
      const [named, keyed] = [new Set(ours), new Set(unsaid)]
      const found = new Set<string>()
      for (const one of [element, ...element.querySelectorAll('*')]) {
        for (const name of one.classList) if (named.has(name) && !styled.has(name)) found.add(`no style: ${name}`)
        const texts = [
          one.children.length === 0 ? one.textContent : null,
          one.getAttribute('aria-label'),
          one.getAttribute('placeholder'),
          one.getAttribute('title'),
        ]
        for (const text of texts) if (text !== null && keyed.has(text.trim())) found.add(`no text: ${text.trim()}`)
      }
      return [...found]
    },
    [classes, unsaid] as const,
  )
let unsaid: readonly string[] = []
test.beforeAll(async () => {
  unsaid = await keys()
})

const settled = async (page: Page): Promise<void> => {
  await expect(page.locator('h1').first()).toBeAttached()
  await expect(page.locator('.zs-placeholder, .zs-spinner, .ant-skeleton, .ant-spin-spinning')).toHaveCount(0)
}

/** Buttons of a page that may open something: of rows, those of the first. */
const buttonsOf = (page: Page): Locator =>
  page.locator('main button:visible:not([disabled]):not([aria-disabled=true]):not(.ant-switch):not([role=tab]):not(tbody tr:not(:nth-child(-n+2)) *)')

/** Looks at what a press has opened, and closes it as anybody may: with nothing done. */
async function look(page: Page, what: string): Promise<boolean> {
  const opened = dialog(page).last()
  try {
    // Some come with a chunk of their own.
    await opened.waitFor({ timeout: 700 })
  } catch {
    return false
  }
  await expect(page.locator('[role=dialog] .ant-skeleton, [role=dialog] .ant-spin-spinning')).toHaveCount(0)
  await expect.soft(opened, what).toHaveAccessibleName(/\S/)
  expect.soft(await faultsOf(opened), what).toEqual([])
  await page.keyboard.press('Escape')
  await expect(dialog(page), `${what}: closed by Escape`).toHaveCount(0)
  return true
}

/** Presses whatever can be pressed on a page that was loaded for itself, so that nothing is there which another page brought. */
async function press(page: Page, path: string): Promise<number> {
  const arrive = async (): Promise<void> => {
    await page.goto(path)
    await settled(page)
  }
  await arrive()
  expect.soft(await faultsOf(page.locator('body')), path).toEqual([])
  let opened = 0
  const pressed = new Set<string>()
  for (;;) {
    const names = await buttonsOf(page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent.trim()))
    const next = names.findIndex((name) => !pressed.has(name))
    if (next < 0) return opened
    const name = names[next] ?? ''
    pressed.add(name)
    // What came later than anybody waited for belongs to the press before.
    if ((await dialog(page).count()) > 0 && (await look(page, `${path}: before ${name}`))) opened++
    const button = buttonsOf(page).nth(next)
    const isMenu = (await button.getAttribute('aria-haspopup')) === 'menu'
    await button.click()
    if (isMenu) {
      const items = page.locator('.ant-dropdown:not(.ant-dropdown-hidden) [role=menuitem]:not(:has([aria-disabled=true]))')
      await items
        .first()
        .waitFor({ timeout: 1_000 })
        .catch(() => undefined)
      const count = await items.count()
      for (let item = 0; item < count; item++) {
        if (item > 0) await button.click()
        const text = (await items.nth(item).textContent()) ?? ''
        await items.nth(item).click()
        if (await look(page, `${path}: ${name}: ${text}`)) opened++
        if (new URL(page.url()).pathname !== path) await arrive()
      }
      await page.keyboard.press('Escape')
    } else if (await look(page, `${path}: ${name}`)) opened++
    if (new URL(page.url()).pathname !== path) await arrive()
  }
}

for (const [who, role] of [
  ['admin', 'ADMIN'],
  ['tenantAdmin', 'TENANT_ADMIN'],
] as const) {
  const pages = pagesFor([role]).filter((path) => !pagesFor(['public']).includes(path))
  for (const [group, paths] of someAtATime(pages, 8)) {
    test(`what opens on a page has its styles and texts, and closes: ${who}, ${group}`, async ({ page, context, trouble }) => {
      await signIn(context, who)
      // Whatever is pressed does nothing: it does not get there. Questions do.
      await context.route(
        (url) => url.pathname.startsWith('/api/'),
        async (route) =>
          route.request().method() === 'GET' || /\/(prices?|quotes?|check|preview|decisions?)\b/.test(route.request().url()) ? route.continue() : route.abort(),
      )
      trouble.expect(/Failed to fetch/)
      for (const path of paths) {
        await press(page, path)
        await page.goto(path)
        await settled(page)
        const first = page.locator('main tbody a[href^="/"]').first()
        const inList = (await first.count()) === 0 ? null : await first.getAttribute('href')
        if (inList !== null) await press(page, new URL(inList, 'http://x').pathname)
      }
    })
  }
}
