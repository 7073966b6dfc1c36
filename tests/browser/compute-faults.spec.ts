import type { Locator, Page } from '@playwright/test'
import { accessible, button, rowOf } from './console.ts'
import { ids, playedServer, type PlayedService } from './playedCloud.ts'
import { registered } from './registeredCloud.ts'
import { table } from './routeTable.ts'
import { expect, test } from './test.ts'

/** The service that each list of the second family is of, and what of the cloud is in it; null: of none, it works whatever fails. */
const lists: Readonly<Record<string, { readonly service: PlayedService | null; readonly row: string }>> = {
  '/instance': { service: 'compute', row: 'played-vm' },
  '/instance-recovery': { service: 'compute', row: 'played-recycled' },
  '/instance-snapshot': { service: 'image', row: 'played-shot' },
  '/flavor': { service: 'compute', row: 'played-flavor' },
  '/image': { service: 'image', row: 'played-image' },
  '/keypair': { service: null, row: '' },
  '/networks': { service: 'network', row: 'played-net' },
  '/port': { service: 'network', row: 'played-port' },
  '/router': { service: 'network', row: 'played-router' },
  '/floatingip': { service: 'network', row: '203.0.113.9' },
  '/security-group': { service: 'network', row: 'played-group' },
  // The played cloud has none: then it says so.
  '/firewall': { service: 'network', row: '' },
  '/firewall-strategy': { service: 'network', row: '' },
  '/firewall-rule': { service: 'network', row: '' },
  '/volume': { service: 'volume', row: 'played-volume' },
  '/backup': { service: 'volume', row: 'played-backup' },
  '/snapshot': { service: 'volume', row: 'played-snapshot' },
}
const services: Readonly<Partial<Record<PlayedService, string>>> = { compute: '计算服务', image: '镜像服务', network: '网络服务', volume: '块存储服务' }
/** Lists that another service gives names to: what it does not tell is said to be missing. */
const beside: Readonly<Partial<Record<PlayedService, readonly string[]>>> = { compute: ['/port', '/volume'], image: ['/instance'] }

const built = table.filter(({ group, path, built: is }) => group === 'compute' && is && !path.includes('{') && !path.endsWith('add')).map(({ path }) => path)

test('each list of the second family is known here', () => {
  expect(built.filter((path) => lists[path] === undefined)).toEqual([])
  expect(built).toContain('/instance')
})

test('what somebody changes on the cloud itself shows by itself on pages that are open', async ({ page, context }) => {
  const { played, end } = await registered(context)
  // Soon, as everywhere: what looks once a minute is not there yet.
  const soon = { timeout: 20_000 }
  const rename = (name: string): void => {
    const server = { ...playedServer, name }
    played.says['GET /compute/v2.1/servers/detail'] = { servers: [server] }
    played.says[`GET /compute/v2.1/servers/${ids.server}`] = { server }
  }
  try {
    await page.goto('/instance')
    await expect(rowOf(page, 'played-vm')).toBeVisible()
    rename('renamed-vm')
    await expect(rowOf(page, 'renamed-vm')).toBeVisible(soon)
    await page.goto(`/instancedesc/${ids.server}`)
    await expect(page.getByRole('heading', { level: 1, name: 'renamed-vm' })).toBeVisible()
    rename('renamed-again')
    await expect(page.getByRole('heading', { level: 1, name: 'renamed-again' })).toBeVisible(soon)
  } finally {
    await end()
  }
})

for (const [service, said] of Object.entries(services) as [PlayedService, string][]) {
  test(`${service} fails: its pages say so and read again, all others work`, async ({ page, context, trouble }) => {
    trouble.expect(/^502 GET \/api\/compute\/v1\/clouds\//)
    const { played, name, end } = await registered(context)
    /** What says that something failed: the page itself, or a line above what is there. */
    const saidOf = (within: Page): Locator => within.getByRole('alert').filter({ hasText: `云平台“${name}”的${said}` })
    const mend = async (path: string): Promise<void> => {
      // All read themselves every five seconds: the button is clicked while they still fail, as it goes away once they do not.
      const asked = page.waitForRequest((request) => request.url().includes('/api/compute/v1/clouds/'))
      await button(page.getByRole('main'), '重试').first().click()
      await asked
      played.broken.clear()
      await expect(saidOf(page)).toHaveCount(0)
      if (lists[path]?.row !== '') await expect(rowOf(page, lists[path]?.row ?? '').first()).toBeVisible()
      played.broken.add(service)
    }
    try {
      played.broken.add(service)
      for (const path of built) {
        await test.step(path, async () => {
          const { service: own, row } = lists[path] ?? { service: null, row: '' }
          const open = async (): Promise<void> => {
            await page.goto(path)
            await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
          }
          if (own === service) {
            // What its neighbour was answered, before the service failed again, is shared for some seconds.
            await expect(async () => {
              await open()
              await expect(saidOf(page)).toContainText('req-of-the-cloud', { timeout: 15_000 })
              if (row !== '') await expect(rowOf(page, row)).toHaveCount(0, { timeout: 5_000 })
            }).toPass({ timeout: 180_000 })
            await mend(path)
            return
          }
          await open()
          if (row !== '') await expect(rowOf(page, row).first()).toBeVisible()
          if (beside[service]?.includes(path) === true) {
            await expect(saidOf(page)).toContainText('部分内容没有读到，其余内容不受影响')
            await expect(saidOf(page)).toContainText('req-of-the-cloud')
            await accessible(page, path)
            await mend(path)
          }
          await expect(page.locator('.zs-panel[role=alert]')).toHaveCount(0)
        })
      }
      await test.step('on a phone', async () => {
        await page.setViewportSize({ width: 390, height: 844 })
        for (const path of [...(beside[service] ?? []), built.find((one) => lists[one]?.service === service) ?? '']) {
          await page.goto(path)
          await expect(saidOf(page)).toBeVisible()
          expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390)
        }
      })
    } finally {
      await end()
    }
  })
}
