import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type BrowserContext } from '@playwright/test'
import { changes } from '@zhisuan/contract/change'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { projects } from '@zhisuan/contract/issue/project'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { licences, system } from '@zhisuan/contract/sys/sys'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { launchOptions } from '../browser/playwright.config.ts'
import { mayOpen, table, type Row } from '../browser/routeTable.ts'
import { administratorPassword, asAdministrator, startServer, until, type Client } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median } from './stats.ts'

const instances = 300
/** One creation makes no more. */
const atATime = 50
/** After the one that fills the cache. */
const visits = 5

/** What one visit of a page took. */
interface Visit {
  /** Script files. */
  readonly files: number
  /** From navigation to the first question that is not asked around every page; null where it asks none. */
  readonly askedMs: number | null
  /** From navigation to its heading with all that was on its way. */
  readonly contentMs: number
}

type Page = Visit & { readonly address: string }

/**
 * Every page of the console that an administrator opens, as a browser shows it that has been there before. Of addresses
 * with parameters, those that a page before links to. `PAGES=/nextStack/` leaves all others out.
 */
export async function benchPages(data: string): Promise<Figure[]> {
  const dist = fileURLToPath(new URL('../../apps/web/dist', import.meta.url))
  if (!existsSync(`${dist}/index.html`)) throw new Error('build the console first: npm run build')
  const server = await startServer(data, { LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'error' })
  const browser = await chromium.launch(launchOptions)
  try {
    const client = await asAdministrator(server)
    await fill(client)
    const { token } = await client.call(auth.password, { body: { username: 'admin', password: administratorPassword } })
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', locale: 'zh-CN', timezoneId: 'Asia/Shanghai' })
    await context.addCookies([{ name: 'token', value: token, url: server.url }])
    await context.addInitScript(watchContent, { restMs, mostMs })
    const pages: Page[] = []
    const links = new Set<string>()
    const look = async (address: string): Promise<void> => {
      const seen: Visit[] = []
      for (let visit = 0; visit <= visits; visit++) {
        const { hrefs, ...one } = await visitOf(context, server.url + address)
        if (visit > 0) seen.push(one)
        else for (const href of hrefs) links.add(href)
      }
      const asked = seen.flatMap(({ askedMs }) => askedMs ?? [])
      const page: Page = {
        address,
        files: Math.max(...seen.map(({ files }) => files)),
        askedMs: asked.length === 0 ? null : median(asked),
        contentMs: median(seen.map(({ contentMs }) => contentMs)),
      }
      pages.push(page)
      console.log([page.files, inMs(page.askedMs), inMs(page.contentMs)].map((one) => String(one).padStart(8)).join(''), `  ${address}`)
    }
    console.log('   files   asked content')
    const left: string[] = []
    for (const row of rows.toSorted((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')))) {
      const address = row.path.includes('{') ? [...links].find((link) => patternOf(row.path).test(link)) : row.path
      if (address === undefined) left.push(row.path)
      else if (address.includes(process.env['PAGES'] ?? '')) await look(address)
    }
    console.log(`left out, as nothing of it is there: ${left.join(', ')}`)
    return [
      ...figures('script files', pages, ({ files }) => files, 15, ''),
      ...figures('first question (warm)', pages, ({ askedMs }) => askedMs, 150, ' ms'),
      ...figures('content (warm)', pages, ({ contentMs }) => contentMs, 500, ' ms'),
    ]
  } finally {
    await browser.close()
    await server.stop()
  }
}

/** The stage has no OpenStack: pages of the second family all say so, and one stands for them. */
const rows: readonly Row[] = table.filter(
  (row) => row.built && row.path !== '/login' && mayOpen(row, ['ADMIN']) && (row.group !== 'compute' || row.path === '/instance'),
)

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\/\{\w+\?\}/g, '').replace(/\{\w+\}/g, '[^/?#]+')}$`)

const inMs = (value: number | null): string => (value === null ? '–' : value.toFixed(0))

/** More instances than any page shows. */
async function fill(client: Client): Promise<void> {
  const cloud_id = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
  const [image] = (await client.call(images.list, { query: { cloud_id, type: 'container' } })).items
  const [network] = (await client.call(networks.list, { query: { cloud_id } })).items
  const [flavor] = (await client.call(flavors.list)).items
  if (image === undefined || network === undefined || flavor === undefined) throw new Error('nothing to create from')
  const body = {
    cloud_id,
    count: atATime,
    type: 'container' as const,
    image_fingerprint: image.fingerprint,
    network: network.name,
    flavor_id: flavor.id,
    ssh_public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHVzZXI= bench',
  }
  for (let made = 0; made < instances; made += atATime) await client.call(vms.create, { body: { ...body, name: `bench-${made}` } })
  await until(async () => (await client.call(vms.list, { query: { status: 'running' } })).total === instances, 'the instances to run', 300_000)
}

/** When it became what it stays: a list is drawn before it asks, and is busy only then. */
const restMs = 300
/** A page that never comes to rest is told of, and measured no longer. */
const mostMs = 20_000

interface Watched {
  /** Null where it never came to rest. */
  readonly content: Promise<number | null>
}

/** In the page, before all of its own, as Playwright's own looking takes its time. */
function watchContent({ restMs, mostMs }: { readonly restMs: number; readonly mostMs: number }): void {
  let since: number | null = null
  const watched: Watched = {
    content: new Promise((resolve) => {
      const look = (now: number): void => {
        const isThere = document.querySelector('h1') !== null && document.querySelector('[aria-busy=true], .ant-skeleton, .ant-spin-spinning') === null
        since = isThere ? (since ?? performance.now()) : null
        if (since !== null && performance.now() - since >= restMs) resolve(since)
        else if (now > mostMs) resolve(null)
        else requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    }),
  }
  Object.assign(globalThis, { watched })
}

/** Asked around every page, and by none of them for itself. */
const ofFrame: readonly string[] = [users.current, system.info, licences.get, projects.list, changes.wait].map(({ path }) => path)

async function visitOf(context: BrowserContext, url: string): Promise<Visit & { readonly hrefs: readonly string[] }> {
  const page = await context.newPage()
  try {
    await page.goto(url, { waitUntil: 'commit', timeout: 120_000 })
    const contentMs = await page.evaluate(() => (globalThis as unknown as { readonly watched: Watched }).watched.content)
    if (contentMs === null) throw new Error(`${url} did not come to rest`)
    const asked = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name, startTime }) => ({ path: new URL(name).pathname, startTime })),
    )
    const hrefs = await page.evaluate(() => [...document.querySelectorAll('main a[href]')].map((link) => new URL((link as HTMLAnchorElement).href).pathname))
    const own = asked.filter(({ path }) => path.startsWith('/api/') && !ofFrame.includes(path))
    return {
      files: new Set(asked.flatMap(({ path }) => (path.endsWith('.js') ? path : []))).size,
      askedMs: own.length === 0 ? null : Math.min(...own.map(({ startTime }) => startTime)),
      contentMs,
      hrefs,
    }
  } finally {
    await page.close()
  }
}

/** The worst page, and the one in the middle. */
function figures(name: string, pages: readonly Page[], of: (page: Page) => number | null, bar: number, unit: string): Figure[] {
  const known = pages.flatMap((page) => {
    const value = of(page)
    return value === null ? [] : { value, address: page.address }
  })
  const worst = known.toSorted((one, other) => other.value - one.value)[0]
  if (worst === undefined) return []
  const figure = (which: string, value: number, where: string): Figure => ({
    name: `${name}, ${which} of ${known.length} pages`,
    ours: `${value.toFixed(0)}${unit}${where}`,
    floor: `${bar}${unit}`,
    value: value / bar,
    bar: '≤ 1',
    met: value <= bar,
  })
  return [figure('worst', worst.value, ` (${worst.address})`), figure('median', median(known.map(({ value }) => value)), '')]
}
