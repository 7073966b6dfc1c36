import { existsSync, readFileSync, statSync } from 'node:fs'
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
    const pages = [
      { name: 'sign-in page', files: await scripts(login, `${server.url}/login`, 'input[type=password]'), bar: 130 },
      { name: 'first list', files: await scripts(list, `${server.url}/nextStack/vm`, 'main table'), bar: 450 },
    ]
    for (const { name, files } of pages) tell(name, files)
    return pages.flatMap(({ name, files, bar }) => [figure(name, sum(files.values()), bar), count(name, files.size)])
  } finally {
    await browser.close()
    await server.stop()
  }
}

/** All script files that a fresh browser asks for until the page is at rest, with their bytes. */
async function scripts(context: BrowserContext, url: string, shows: string): Promise<ReadonlyMap<string, number>> {
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
  return seen
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0)

/** What is in these files, by package or folder, each with its share of the gzipped bytes. */
function tell(page: string, files: ReadonlyMap<string, number>): void {
  const contents = JSON.parse(readFileSync(`${dist}/.vite/contents.json`, 'utf8')) as Readonly<Record<string, Readonly<Record<string, number>>>>
  const shares = new Map<string, number>()
  for (const [file, bytes] of files) {
    const modules = Object.entries(contents[file.slice(1)] ?? {})
    const whole = sum(modules.map(([, length]) => length))
    for (const [module, length] of modules) shares.set(placeOf(module), (shares.get(placeOf(module)) ?? 0) + (bytes * length) / Math.max(whole, 1))
  }
  console.log(`${page}: ${files.size} files`)
  for (const [place, bytes] of [...shares].toSorted(([, a], [, b]) => b - a)) {
    if (bytes >= 512) console.log(`  ${(bytes / 1024).toFixed(1).padStart(6)} KB  ${place}`)
  }
}

/** The package that a module is of, or its folder here. */
const placeOf = (module: string): string =>
  /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ??
  /^(apps\/web\/src\/features\/[^/]+|apps\/web\/src(?:\/[^/]+(?=\/))?|packages\/[^/]+)/.exec(module)?.[1] ??
  'the bundler'

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

/** Each file is a request. */
const mostFiles = 15

const count = (name: string, files: number): Figure => ({
  name: `script files, ${name}`,
  ours: String(files),
  floor: String(mostFiles),
  value: files / mostFiles,
  bar: `≤ ${mostFiles}`,
  met: files <= mostFiles,
})
