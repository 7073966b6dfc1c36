import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { accessible, visit } from './console.ts'
import { mayOpen, table, type Row } from './routeTable.ts'
import { expect, signIn, stage, test } from './test.ts'
import { watchQuiet } from './traffic.ts'

// Recording two hundred pages takes longer than looking at them; a failure names its row.
test.use({ trace: 'off' })

/** With its parameters given, and without the optional one. */
function addressesOf(path: string): readonly string[] {
  const id = path.startsWith('/nextStack/vm/') ? stage().vmId : path.startsWith('/help/') ? 'sign-in' : 'made-up'
  const filled = path.replace(/\{\w+\??\}/g, id)
  return path.endsWith('?}') ? [filled, path.replace(/\/\{\w+\?\}$/, '')] : [filled]
}

/** What an address leads to. */
interface Place {
  /** With its query. */
  readonly at: string
  readonly windowTitle: string
  /** All of the first rank: there has to be one. */
  readonly heading: string
  /** What a page says that is not built. */
  readonly pending: string | null
}

/** Pages whose heading is not their title. */
const headings: Readonly<Record<string, string>> = {
  '/': '多个云，一处算清',
  '/login': '登录智算云',
  '/register': '注册账号',
  '/Terms-of-Service': '智算云服务条款',
}

/** Pages about one thing: it is named in the heading and in the window. */
const things: Readonly<Record<string, string>> = {
  '/nextStack/vm/detail/{id}': '示例实例',
  '/help/helpCenter/{id}': '登录与注册',
  // Its name is in its address.
  '/containerApplicationService/deployContainer/{id}/{name}': 'made-up',
  '/containerApplicationService/containerFromService/{id}/{name}': 'made-up',
  // Without an id in the query a new one.
  '/containerApplicationService/configureInformation': '创建配置',
  '/containerApplicationService/version': '创建应用模板',
}

const pendingText = (title: string): string => `尚未开放“${title}”正在建设中，目前还不能使用。`

function placeOf(path: string, at = path): Place {
  const row = table.find((one) => one.path === path)
  if (row === undefined) throw new Error(`no route ${path}`)
  const name = things[path] ?? row.title
  return {
    at,
    windowTitle: path === '/' ? '智算云 · 一站式智能计算云解决方案' : `${name} · 智算云`,
    heading: headings[path] ?? name,
    pending: row.built ? null : pendingText(row.title),
  }
}

/**
 * Opens an address as a link in the console does; answers where that led, once it is as expected or
 * stays otherwise. All within the page: asking from here costs more than the page's own work.
 */
const open = (page: Page, address: string, expected: Place): Promise<Place> =>
  page.evaluate(
    async ({ address, expected }) => {
      const look = (): Place => {
        const panel = document.querySelector('main .zs-panel')
        const texts = [...(panel?.querySelectorAll('.zs-panel-title, .zs-panel-note') ?? [])].map(({ textContent }) => textContent)
        return {
          // Pages of the second family add which cloud they are about.
          at: location.pathname + location.search.replace(/^\?cloud=[\w-]+$/, ''),
          windowTitle: document.title,
          heading: [...document.querySelectorAll('h1')].map(({ textContent }) => textContent).join(' and '),
          pending: texts[0] === '尚未开放' ? texts.join('') : null,
        }
      }
      const { idx } = history.state as { idx: number }
      history.pushState({ idx: idx + 1, key: String(idx + 1) }, '', address)
      dispatchEvent(new PopStateEvent('popstate', { state: history.state }))
      const end = Date.now() + 5_000
      while (JSON.stringify(look()) !== JSON.stringify(expected) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5))
      return look()
    },
    { address, expected },
  )

interface Actor {
  readonly who: 'nobody' | 'admin' | 'tenant' | 'tenantAdmin'
  readonly roles: readonly string[]
  /** Where somebody begins who asked for nothing else. */
  readonly landing: string
}

const actors: readonly Actor[] = [
  { who: 'nobody', roles: [], landing: '' },
  { who: 'admin', roles: ['ADMIN'], landing: '/index' },
  { who: 'tenant', roles: ['TENANT'], landing: '/nextStack/vm' },
  { who: 'tenantAdmin', roles: ['TENANT_ADMIN'], landing: '/nextStack/vm' },
]

/** What the specification says: the guard of section 4, the roles of section 6. */
function expectedFor({ who, roles, landing }: Actor, row: Row, address: string): Place {
  const isPublic = row.roles.includes('public')
  if (who === 'nobody') return isPublic ? placeOf(row.path, address) : placeOf('/login', `/login?${new URLSearchParams({ redirect: address })}`)
  if (row.path === '/login') return placeOf(landing)
  if (mayOpen(row, roles)) return placeOf(row.path, address)
  // Said at the address that was asked for.
  return row.path === '/index' ? placeOf(landing) : placeOf('/403', address)
}

test.describe('every route', () => {
  for (const actor of actors) {
    test(`as ${actor.who}`, { tag: '@journey' }, async ({ page, context, trouble }) => {
      if (actor.who !== 'nobody') await signIn(context, actor.who)
      // Another organisation's instance does not exist: that page is looked at below.
      const rows = table.filter(({ path }) => actor.who !== 'tenantAdmin' || path !== '/nextStack/vm/detail/{id}')
      expect(rows.length).toBeGreaterThan(200)
      await page.goto('/404')
      await expect(page.getByRole('heading', { name: '页面不存在' })).toBeVisible()
      // What is made up does not exist, and its page says so.
      trouble.expect(/^404 GET .*made-up/)
      for (const row of rows) {
        for (const address of addressesOf(row.path)) {
          const expected = expectedFor(actor, row, address)
          expect.soft(await open(page, address, expected), address).toEqual(expected)
          expect.soft(trouble.take(), `unseen at ${address}`).toEqual([])
        }
      }
    })
  }

  test('an instance of another organisation, and one that never was, do not exist', async ({ page, context, trouble }) => {
    await signIn(context, 'tenantAdmin')
    trouble.expect(/^404 GET \/api\/nextstack\/v1\/vms\//)
    for (const id of [stage().vmId, '00000000-0000-4000-8000-000000000000', 'made-up']) {
      await page.goto(`/nextStack/vm/detail/${id}`)
      await expect(page.getByText('云主机不存在或已被删除')).toBeVisible()
      await expect(page).toHaveTitle('云主机详情 · 智算云')
    }
  })

  test('an address that is none says so and stays, signed in or not, with a way back', async ({ page, context }) => {
    const addresses = ['/nextstack/vm', '/nextStack', '/nextStack/vm/detail', '/index/more', '/iam', '/a/b/c/d/e', '/%E6%97%A0']
    const look = async (): Promise<void> => {
      for (const address of addresses) {
        await page.goto(address)
        await expect.soft(page.getByRole('heading', { level: 1, name: '页面不存在' }), address).toBeVisible()
        await expect.soft(page, address).toHaveURL(address)
      }
    }
    await look()
    const home = page.getByRole('main').getByRole('link', { name: '返回首页' })
    await expect(home).toHaveAttribute('href', '/')
    // Apart from what is said above it.
    const [text, way] = [await page.locator('.zs-panel-note').boundingBox(), await home.boundingBox()]
    expect((way?.y ?? 0) - ((text?.y ?? 0) + (text?.height ?? 0))).toBeGreaterThanOrEqual(16)
    await signIn(context, 'admin')
    await look()
    await page.getByRole('main').getByRole('link', { name: '返回控制台' }).click()
    await expect(page).toHaveURL('/index')
  })

  test('a page that one may not open says whose it is, keeps its address, and leads back', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/nextStack/vm')
    await page.getByRole('link', { name: '帮助中心' }).first().click()
    await expect(page).toHaveURL('/help')
    await visit(page, '/iam/user?status=pending')
    await expect(page.getByRole('heading', { level: 1, name: '没有权限' })).toBeVisible()
    await expect(page.getByText('您的角色不能打开“用户”，能打开它的是：平台管理员。')).toBeVisible()
    await expect(page).toHaveURL('/iam/user?status=pending')
    await accessible(page, 'no right')
    await page.getByRole('button', { name: '返回上一页' }).click()
    await expect(page).toHaveURL('/help')
  })
})

test.describe('what a page loads', () => {
  const dist = process.env['WEB_DIR'] ?? fileURLToPath(new URL('../../apps/web/dist', import.meta.url))
  const source = fileURLToPath(new URL('../../apps/web/src', import.meta.url))
  const textOf = (file: string): string => readFileSync(join(dist, file), 'utf8')
  /** Which modules each script has. */
  const contents = Object.entries(JSON.parse(textOf('.vite/contents.json')) as Readonly<Record<string, Readonly<Record<string, number>>>>).map(
    ([file, modules]) => ({ file, modules: Object.keys(modules), sizes: modules }),
  )
  const sizeOf = (part: string): number => Math.max(...contents.map(({ sizes }) => sizes[`apps/web/src/${part}`] ?? 0))
  const scriptsOfFirst = [...textOf('index.html').matchAll(/="\/(assets\/[^"]+\.js)"/g)].map(([, file = '']) => file)
  const pageModules = ['pages.ts', 'visitorPages.ts'].flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(/import\('\.\/([^']+)'\)/g)].map(([, module = '']) => module),
  )

  /** Files of the scripts that a page has loaded once it rests. */
  async function loadedBy(page: Page, path: string, heading: string): Promise<ReadonlySet<string>> {
    const quiet = watchQuiet(page)
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible()
    await quiet()
    const urls = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname.slice(1)))
    return new Set(urls.filter((url) => url.endsWith('.js')))
  }

  /** The pages and the messages in files, without those that every page begins with. */
  const partsIn = (files: ReadonlySet<string>): readonly string[] =>
    contents
      .filter(({ file }) => files.has(file) && !scriptsOfFirst.includes(file))
      .flatMap(({ modules }) => modules.map((module) => module.replace('apps/web/src/', '')))
      .filter((module) => pageModules.includes(module) || module.startsWith('locales/zh/'))
      .toSorted()

  /** Which of the heavy libraries are in files, wherever the bundler put them. */
  function librariesIn(files: ReadonlySet<string>): readonly string[] {
    const marks = { terminal: 'xterm-helper-textarea', charts: '_echarts_instance_', articles: 'remarkRehype' }
    return Object.entries(marks).flatMap(([library, mark]) => {
      const holding = contents.filter(({ file }) => textOf(file).includes(mark))
      expect(holding, `chunks with ${library}`).not.toEqual([])
      return holding.some(({ file }) => files.has(file)) ? library : []
    })
  }

  test('no page needs more than fifteen scripts', () => {
    const preloads = JSON.parse(textOf('.vite/preloads.json')) as readonly { readonly pattern: string; readonly scripts: readonly string[] }[]
    expect(preloads.length).toBeGreaterThan(100)
    const counted = preloads.map(({ pattern, scripts }) => ({ pattern, files: scriptsOfFirst.length + scripts.length }))
    expect(counted.filter(({ files }) => files > 15)).toEqual([])
  })

  test('the login page: itself alone', async ({ page }) => {
    const files = await loadedBy(page, '/login', '登录智算云')
    expect(partsIn(files)).toEqual(['features/public/LoginPage.tsx', 'locales/zh/public.ts'])
    expect(librariesIn(files)).toEqual([])
  })

  test('the first list: nothing of another page', async ({ page, context }) => {
    await signIn(context, 'tenant')
    const files = await loadedBy(page, '/nextStack/vm', '云主机')
    // The words of snapshots too: it makes them. Those of flavours and key pairs are in one file with its own.
    const words = ['nextstack', 'nextstackCompute', 'snapshot'].map((name) => `locales/zh/${name}.ts`)
    const parts = partsIn(files)
    expect(parts.filter((part) => !part.startsWith('locales/'))).toEqual(['features/nextstack/vm/VmList.tsx'])
    expect(parts).toEqual(expect.arrayContaining(words))
    // The build puts some words of others into one file with what lists have: fewer requests for a few bytes.
    const others = parts.filter((part) => part.startsWith('locales/') && !words.includes(part))
    expect(others.reduce((sum, part) => sum + sizeOf(part), 0)).toBeLessThan(16 * 1024)
    expect(librariesIn(files)).toEqual([])
  })
})
