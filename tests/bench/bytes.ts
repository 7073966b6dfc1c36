import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type BrowserContext } from '@playwright/test'
import { auth } from '@zhisuan/contract/ums/auth'
import { launchOptions } from '../browser/playwright.config.ts'
import { watchQuiet } from '../browser/traffic.ts'
import { administratorPassword, asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'

const dist = fileURLToPath(new URL('../../apps/web/dist', import.meta.url))

/** Gzipped script that a browser fetches for a page, all in all, from the built console. */
export async function benchBytes(data: string): Promise<Figure[]> {
  if (!existsSync(`${dist}/index.html`)) throw new Error('build the console first: npm run build')
  const server = await startServer(data, { LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'error' })
  const browser = await chromium.launch(launchOptions)
  try {
    const client = await asAdministrator(server)
    const { token } = await client.call(auth.password, { body: { username: 'admin', password: administratorPassword } })
    const login = await browser.newContext()
    const list = await browser.newContext()
    await list.addCookies([{ name: 'token', value: token, url: server.url }])
    return [
      figure('sign-in page', await scripts(login, `${server.url}/login`, 'input[type=password]'), 250),
      figure('first list', await scripts(list, `${server.url}/nextStack/vm`, 'main table'), 550),
    ]
  } finally {
    await browser.close()
    await server.stop()
  }
}

/** Bytes of all script files that a fresh browser asks for until the page is at rest. */
async function scripts(context: BrowserContext, url: string, shows: string): Promise<number> {
  const seen = new Map<string, number>()
  const page = await context.newPage()
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js')) seen.set(pathname, size(`${dist}${pathname}`))
  })
  const quiet = watchQuiet(page)
  await page.goto(url)
  await page.locator(shows).first().waitFor()
  await quiet()
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0)
}

/** The file as the build gzipped it; small ones it leaves alone are sent as they are. */
const size = (path: string): number => statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size

const figure = (name: string, bytes: number, bar: number): Figure => ({
  name: `gzipped script, ${name}`,
  ours: `${(bytes / 1024).toFixed(1)} KB`,
  floor: `${bar} KB`,
  value: bytes / 1024 / bar,
  bar: `≤ ${bar} KB`,
  met: bytes <= bar * 1024,
})
