import { ids } from './playedCloud.ts'
import { registered } from './registeredCloud.ts'
import { table } from './routeTable.ts'
import { expect, test } from './test.ts'

const pages = table.filter(({ group, built }) => group === 'compute' && built).map(({ path }) => path.replace(/\{\w+\??\}/g, ids.server))

test('an address of the second family leads to its cloud, whatever cloud was chosen last', async ({ page, context, trouble }) => {
  // Of what each page is about the played clouds have the instance only.
  trouble.expect(/^(404|502) GET \/api\/(compute\/v1\/clouds|nextstack\/v1\/key-pairs)\//)
  const meant = await registered(context)
  // Registered after the other: chosen in this browser at each load.
  const chosen = await registered(context)
  const shown = page.getByRole('button', { name: /^切换云平台/ })
  const namedIn = (name: string) => page.getByRole('button', { name: new RegExp(`^切换云平台.*${name}`) })
  try {
    expect(pages.length).toBeGreaterThan(30)
    for (const path of pages) {
      await test.step(path, async () => {
        await page.goto(`${path}?cloud=${meant.cloud_id}`)
        await expect(namedIn(meant.name)).toBeVisible()
        expect(new URL(page.url()).searchParams.get('cloud')).toBe(meant.cloud_id)
      })
    }
    for (const path of ['/instance', '/image', '/networks', '/port', '/router', '/floatingip', '/security-group', '/volume', '/backup', '/snapshot']) {
      await test.step(`links of ${path}`, async () => {
        await page.goto(`${path}?cloud=${meant.cloud_id}`)
        const things = page.getByRole('main').locator('a[href*="desc/"]')
        await expect(things.first()).toBeVisible()
        for (const to of await things.evaluateAll((links) => links.map((link) => link.getAttribute('href')))) expect(to).toContain(`cloud=${meant.cloud_id}`)
      })
    }
    // Without it, it is that of the choice, and the address says so from then on.
    await page.goto(`/instancedesc/${ids.server}`)
    await expect(page.getByRole('heading', { level: 1, name: 'played-vm' })).toBeVisible()
    await expect(page).toHaveURL(new RegExp(`cloud=${chosen.cloud_id}`))
    await expect(shown).toBeVisible()
    // Choosing another leads to its list, and its address.
    await page.goto('/volume')
    await expect(page).toHaveURL(new RegExp(`cloud=${chosen.cloud_id}`))
    await shown.click()
    await page.getByRole('menuitem', { name: new RegExp(meant.name) }).click()
    await expect(page).toHaveURL(new RegExp(`/volume\\?cloud=${meant.cloud_id}`))
    await expect(namedIn(meant.name)).toBeVisible()
    // One that nobody has is no other.
    await page.goto(`/instancedesc/${ids.server}?cloud=00000000-0000-4000-8000-000000000000`)
    await expect(page.getByRole('main')).toContainText('链接中的云平台')
  } finally {
    await meant.end()
    await chosen.end()
  }
})
