import { chromium, type BrowserContext, type Locator, type Page } from '@playwright/test'
import { createOpenStack } from '@zhisuan/engines/openstack/cloud'
import { all } from '@zhisuan/engines/openstack/session'
import { administrator, registration } from '@zhisuan/engines/openstack/local'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchOptions } from '../browser/playwright.config.ts'
import type { Figure } from './main.ts'
import { median } from './stats.ts'

/** Where `scripts/engines.sh horizon up` serves it. */
const horizon = 'http://127.0.0.1:18080'
export const horizonIsThere = (): Promise<boolean> =>
  fetch(`${horizon}/auth/login/`).then(
    ({ ok }) => ok,
    () => false,
  )

const runs = 3
/** Horizon's own choice; what it shows at most; what ours shows at most. */
const [few, most, large] = [20, 1000, 100]

/**
 * Both consoles in one Chromium, in turns: from the navigation until the rows are there and the menu of the first of
 * them, opened by the mouse, is seen. Both as the administrator over the instances of all projects, with what they
 * have cached. *All*: until each can be found, sorted and paged to at once; ours has them all in the page and draws 100,
 * its most, Horizon has what it draws: 1000, its most. *First rows*: 20 on both, Horizon's own choice; ours goes on reading.
 */
export async function benchHorizon(server: { readonly url: string }, token: string, count: number): Promise<Figure[]> {
  const browser = await chromium.launch(launchOptions)
  try {
    const [own, theirs] = await Promise.all([browser.newContext(look), browser.newContext(look)])
    await own.addCookies([{ name: 'token', value: token, url: server.url, sameSite: 'Strict' }])
    await signIn(theirs)
    const ways = {
      own: () => shownByOurs(own, server.url, large, count),
      first: () => shownByOurs(own, server.url, few, Math.min(few, count)),
      most: () => shownBy(theirs, most, Math.min(count, most)),
      few: () => shownBy(theirs, few, Math.min(count, few)),
    }
    const times = {
      own: [] as number[],
      first: [] as number[],
      most: [] as number[],
      few: [] as number[],
    }
    // The first of each is to warm both.
    for (let run = 0; run <= runs; run++) {
      for (const name of ['own', 'most', 'first', 'few'] as const) {
        const ms = await again(ways[name])
        if (run > 0) times[name].push(ms)
      }
    }
    const figure = (name: string, ours: readonly number[], floor: readonly number[], what: string): Figure => {
      const value = median(floor) / median(ours)
      return {
        name: `${name} of ${count} Nova servers in a browser`,
        ours: `${median(ours).toFixed(0)} ms`,
        floor: `${median(floor).toFixed(0)} ms of ${what}`,
        value,
        bar: '≥ 5',
        met: value >= 5,
      }
    }
    return [
      figure('usable table, all of them', times.own, times.most, `Horizon with ${most} a page`),
      figure('usable table, its first rows', times.first, times.few, `Horizon with ${few} a page`),
    ]
  } finally {
    await browser.close()
  }
}

const look = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const

async function signIn(context: BrowserContext): Promise<void> {
  const { username, password } = registration()
  const page = await context.newPage()
  await page.goto(`${horizon}/auth/login/`)
  await page.locator('#id_username').fill(username)
  await page.locator('#id_password').fill(password)
  await page.locator('#loginBtn').click()
  await page.waitForURL((url) => !url.pathname.startsWith('/auth/'), { timeout: 120_000 })
  // Of the projects that the administrator has a role in it takes any: its pages of all projects want that of administrators.
  await page.goto(`${horizon}/auth/switch/${await projectOfAdministrators()}/?next=/project/`, { timeout: 120_000 })
  await page.close()
}

async function projectOfAdministrators(): Promise<string> {
  const direct = createOpenStack(administrator())
  const [project] = await all(direct.identity.projects.list({ name: 'admin', domain_id: 'default' }))
  await direct.close()
  return project?.id ?? ''
}

/** Until it says that it has so many. */
function shownByOurs(context: BrowserContext, url: string, size: number, total: number): Promise<number> {
  return inNewPage(context, async (page) => {
    await page.goto(`${url}/instance?page_size=${size}`, { waitUntil: 'commit' })
    const rows = 'tbody tr[data-row-key]'
    await page.waitForFunction(
      ([selector, drawn, least]) => {
        const told = /共 ([\d,]+) 条/.exec(document.querySelector('.ant-pagination')?.textContent ?? '')?.[1] ?? ''
        return document.querySelectorAll(selector).length >= drawn && Number(told.replaceAll(',', '')) >= least
      },
      [rows, Math.min(size, total), total] as const,
    )
    await opened(page.locator(rows).first().getByRole('button', { name: /更多/ }), page.getByRole('menuitem').first())
  })
}

/** The page of all projects' instances. How many are on it is a setting of the person, kept in a cookie. */
async function shownBy(context: BrowserContext, size: number, wanted: number): Promise<number> {
  await context.addCookies([{ name: 'API_RESULT_PAGE_SIZE', value: String(size), url: horizon }])
  return inNewPage(context, async (page) => {
    await page.goto(`${horizon}/admin/instances/`, { waitUntil: 'commit' })
    const rows = '#instances tbody tr[data-object-id]'
    await page.waitForFunction(([selector, least]) => document.querySelectorAll(selector).length >= least, [rows, wanted] as const)
    const first = page.locator(rows).first()
    await opened(first.locator('.dropdown-toggle'), first.locator('.dropdown-menu').locator('a, button').first())
  })
}

/** The menu of the first row: pressed until it opens, as one who waits for a page would. */
async function opened(toggle: Locator, menu: Locator): Promise<void> {
  do await toggle.click()
  while (
    !(await menu.waitFor({ timeout: 500 }).then(
      () => true,
      () => false,
    ))
  )
}

async function inNewPage(context: BrowserContext, run: (page: Page) => Promise<void>): Promise<number> {
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  try {
    const start = performance.now()
    await run(page)
    return performance.now() - start
  } finally {
    await page.close()
  }
}

/** A browser breaks off what it loads when an interface of the host comes or goes, as networks of the cloud do: such a run does not count. */
async function again(run: () => Promise<number>): Promise<number> {
  for (let left = 5; ; left--) {
    try {
      return await run()
    } catch (error) {
      if (left === 0) throw error
      console.error(`once more: ${String(error).split('\n')[0]}`)
      await sleep(1_000)
    }
  }
}
