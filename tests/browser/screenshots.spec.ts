import type { BrowserContext, Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import type { ResponseOf } from '@zhisuan/contract/define'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { overview } from '@zhisuan/contract/nextstack/overview'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { administratorPassword, Client, until } from '../support/server.ts'
import { field } from './forms.ts'
import { register } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test } from './test.ts'

/** The pictures of README.md and docs, made anew by SCREENSHOTS=1 npm run test:browser. */
const folder = new URL('../../docs/screenshots/', import.meta.url).pathname

/** When the pictures say that it is, so that they only change when the console does. */
const now = new Date('2026-03-02T10:24:00+08:00')

interface Wanted {
  readonly name: string
  readonly description: string
  readonly type: 'container' | 'vm'
  readonly image: string
  readonly flavor: string
}
const wanted: readonly Wanted[] = [
  { name: 'build-01', description: '持续集成', type: 'container', image: 'ubuntu-24.04', flavor: 'medium' },
  { name: 'web-02', description: '门户网站', type: 'container', image: 'debian-12', flavor: 'small' },
  { name: 'web-01', description: '门户网站', type: 'container', image: 'debian-12', flavor: 'small' },
  { name: '订单数据库', description: 'PostgreSQL 主库', type: 'vm', image: 'debian-12', flavor: 'large' },
  { name: '模型训练-2', description: '', type: 'vm', image: 'ubuntu-24.04', flavor: '2xlarge' },
  { name: '模型训练-1', description: '', type: 'vm', image: 'ubuntu-24.04', flavor: '2xlarge' },
  { name: 'api-gateway', description: '对外接口', type: 'container', image: 'debian-12', flavor: 'medium' },
]

/** One after the other: their addresses follow the order. */
async function makeInstances(of: Account): Promise<ReadonlyMap<string, string>> {
  const { url, cloudId } = stage()
  const client = new Client(url)
  await client.signIn(of.username, of.password)
  const { items: sizes } = await client.call(flavors.list)
  const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
  const made = new Map<string, string>()
  for (const { name, description, type, image, flavor } of wanted) {
    const fitting = (await client.call(images.list, { query: { cloud_id: cloudId, type } })).items
    const { items } = await client.call(vms.create, {
      body: {
        cloud_id: cloudId,
        name,
        description,
        type,
        image_fingerprint: fitting.find((one) => one.name === image)?.fingerprint,
        network: network?.name,
        flavor_id: sizes.find((one) => one.name === flavor)?.id,
        password,
      },
    })
    const id = items[0]?.id ?? ''
    made.set(name, id)
    await until(async () => (await client.call(vms.get, { params: { id } })).status === 'running', `${name} to run`)
  }
  const id = made.get('build-01') ?? ''
  await client.call(vms.stop, { params: { id }, body: {} })
  await until(async () => (await client.call(vms.get, { params: { id } })).status === 'stopped', 'one to be stopped')
  return made
}

/** Moves every moment that the server tells, so that today is the day of the pictures, and to whole minutes. */
async function holdClock(context: BrowserContext): Promise<void> {
  const shift = now.getTime() - Date.now()
  const minute = 60_000
  const moved = (ms: number): number =>
    Math.min(Math.floor((ms + shift) / minute) * minute, ms > Date.now() ? Number.POSITIVE_INFINITY : now.getTime() - minute)
  await context.clock.setFixedTime(now)
  await context.route('**/api/**', async (route) => {
    // A long poll that tells no moments, and outlives the test.
    if (new URL(route.request().url()).pathname.endsWith('/changes')) return route.continue()
    const response = await route.fetch()
    if (!(response.headers()['content-type'] ?? '').includes('json')) return route.fulfill({ response })
    const body = (await response.text())
      .replace(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (_, moment: string) => `"${new Date(moved(Date.parse(moment))).toISOString()}"`)
      .replace(/(_timestamp":)(\d{13})/g, (_, key: string, ms: string) => `${key}${moved(Number(ms))}`)
    return route.fulfill({ response, body })
  })
}

/** The sandbox computes nothing, so its load is a straight line: the chart is shown with one that is made up. */
async function drawLoad(page: Page, memoryBytes: number): Promise<void> {
  const wave = (at: number, period: number): number => (Math.sin(at / period) + Math.sin(at / (period * 0.37))) / 4 + 0.5
  const items = Array.from({ length: 181 }, (_, index) => ({
    at: new Date(now.getTime() - (180 - index) * 5_000).toISOString(),
    cpu: 0.25 + 0.5 * wave(index, 19),
    memory_bytes: Math.round(memoryBytes * (0.35 + index / 900 + 0.04 * wave(index, 11))),
    disk_bytes: (11 + index / 400) * 1024 ** 3,
    received_bytes_per_second: 420_000 * wave(index, 9) + 60_000,
    sent_bytes_per_second: 900_000 * wave(index + 40, 13) + 90_000,
  }))
  const metrics: ResponseOf<typeof vms.metrics> = { interval_seconds: 5, items }
  await page.route('**/api/nextstack/v1/vms/*/metrics*', (route) => route.fulfill({ json: metrics }))
}

/** A server that was started for the pictures has no history: it is shown with one that is made up. */
async function drawTrends(page: Page): Promise<void> {
  const items = Array.from({ length: 145 }, (_, index) => {
    const vms = 14 + Math.round(index / 24 + 1.4 * Math.sin(index / 9))
    return {
      at: new Date(now.getTime() - (144 - index) * 600_000).toISOString(),
      vms,
      running: vms - 1 - Math.round(1 + Math.sin(index / 13)),
      cpu_cores: vms * 2,
      memory_bytes: vms * 3 * 1024 ** 3,
    }
  })
  const trends: ResponseOf<typeof overview.trends> = { since: new Date(now.getTime() - 90 * 86_400_000).toISOString(), items }
  await page.route('**/api/nextstack/v1/overview/trends*', (route) => route.fulfill({ json: trends }))
}

test.describe('screenshots', () => {
  let person: Account
  let made: ReadonlyMap<string, string>
  test.beforeAll(async () => {
    person = await register(stage().url, 'li-na', '星河智能')
    made = await makeInstances(person)
    // How full a cloud is, is looked at now and then: now.
    const administrator = new Client(stage().url)
    await administrator.signIn('admin', administratorPassword)
    await administrator.call(clouds.action, { params: { id: stage().cloudId }, body: { action: 'refresh' } })
  })
  test.beforeEach(async ({ context }) => holdClock(context))

  const take = async (page: Page, name: string): Promise<void> => {
    await page.mouse.move(720, 899)
    // What only a development server shows is in no picture.
    await page.screenshot({ path: `${folder}${name}.png`, animations: 'disabled', caret: 'hide', style: 'a[href="/dev/inbox"] { display: none }' })
  }

  test('login', async ({ page }) => {
    await page.goto('/login')
    await expect(field(page, '密码')).toBeVisible()
    await take(page, 'login')
  })

  test('overview', async ({ context, page }) => {
    await signIn(context, 'admin')
    await drawTrends(page)
    await page.goto('/index')
    await expect(page.getByRole('heading', { name: '最近操作' })).toBeVisible()
    await expect(page.locator('.zs-chart-canvas svg')).toHaveCount(3)
    await expect(page.getByText('CPU 核心')).toBeVisible()
    await expect(page.locator('.ant-skeleton')).toHaveCount(0)
    await take(page, 'overview')
  })

  test('list of instances', async ({ context, page }) => {
    await signIn(context, person)
    await page.goto('/nextStack/vm')
    await expect(page.getByRole('row')).toHaveCount(wanted.length + 1)
    await take(page, 'instances')
  })

  test('one instance, with its charts', async ({ context, page }) => {
    await signIn(context, person)
    await drawLoad(page, 16 * 1024 ** 3)
    await page.goto(`/nextStack/vm/detail/${made.get('模型训练-1')}?tab=metrics`)
    await expect(page.locator('.zs-chart-canvas svg')).toHaveCount(4)
    await take(page, 'instance')
  })

  test('creating instances', async ({ context, page }) => {
    await signIn(context, person)
    await page.goto('/nextStack/vm/add')
    await page.getByRole('radio', { name: 'ubuntu-24.04' }).check()
    await page.getByRole('radio', { name: 'large', exact: true }).check()
    await field(page, '登录密码').fill(password)
    await field(page, '名称').fill('模型推理')
    await field(page, '数量').fill('3')
    await page.getByRole('heading', { name: '创建云主机' }).scrollIntoViewIfNeeded()
    await take(page, 'create')
  })
})
