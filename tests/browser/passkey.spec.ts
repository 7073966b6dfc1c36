import { join } from 'node:path'
import type { CDPSession, Page } from '@playwright/test'
import { Secret, TOTP } from 'otpauth'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { startAtOrigin, type RunningServer } from '../support/server.ts'
import { accessible } from './console.ts'
import { field, fill } from './forms.ts'
import { newName, register } from './people.ts'
import { begin, password } from './stage.ts'
import { expect, test, toast } from './test.ts'

/** Passkeys belong to an address: this server is told its own. */
let server: RunningServer
let data: TemporaryFolder
let origin = ''

test.beforeAll(async () => {
  data = temporaryFolder('passkey')
  ;({ server, origin } = await startAtOrigin(begin(join(data.path, 'server')), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1' }))
})
test.afterAll(async () => {
  await server.stop()
  data.remove()
})

interface Device {
  readonly cdp: CDPSession
  readonly id: string
}

/** A device of the page's that verifies its owner without a word. */
async function plugIn(page: Page): Promise<Device> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { cdp, id: authenticatorId }
}
/** Whether somebody touches the device when it asks. */
const touches = ({ cdp, id }: Device, enabled: boolean) => cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: id, enabled })
const verifies = ({ cdp, id }: Device, isUserVerified: boolean) => cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified })

/** A browser that offers no passkeys with the name: what is left is the button. */
const withoutAutofill = (page: Page) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false
  })

const byPasskey = (page: Page) => page.getByRole('button', { name: '使用通行密钥登录' })
async function signOut(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `${name}的账号菜单`, exact: true }).click()
  await page.getByRole('menuitem', { name: '退出登录' }).click()
  await expect(page).toHaveURL(/\/login$/)
}
async function typeIn(page: Page, name: string): Promise<void> {
  await fill(page, { '用户名、手机号或邮箱': name, 密码: password })
  await page.getByRole('button', { name: '登录', exact: true }).click()
}
test('a passkey is added, signs in by its button, is renamed, and deleted', async ({ page, trouble }) => {
  // The last one asks for a passkey that was deleted.
  trouble.expect(/^401 POST \/api\/ums\/v1\/auth\/passkey\/tokens$/)
  await withoutAutofill(page)
  await plugIn(page)
  const { username } = await register(server.url, newName('keyed'))
  await page.goto(`${origin}/login`)
  await typeIn(page, username)
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
  await page.goto(`${origin}/userMsg#passkeys`)
  const section = page.getByRole('region', { name: '通行密钥' })
  await expect(section).toContainText('还没有通行密钥')
  await section.getByRole('button', { name: '添加通行密钥' }).click()
  await field(section, '名称').fill('办公电脑')
  await section.getByRole('button', { name: '继续' }).click()
  await expect(toast(page, '“办公电脑”已添加')).toBeVisible()
  const row = section.getByRole('listitem').filter({ hasText: '办公电脑' })
  await expect(row).toContainText('还没有使用过')
  await accessible(page)
  // The same device has one already.
  await section.getByRole('button', { name: '添加通行密钥' }).click()
  await section.getByRole('button', { name: '继续' }).click()
  await expect(section.getByRole('alert')).toContainText('已经有本账号的通行密钥')
  await section.getByRole('button', { name: '取消' }).click()

  await signOut(page, username)
  await expect(byPasskey(page)).toBeVisible()
  await accessible(page)
  await byPasskey(page).click()
  await expect(page).toHaveURL(/\/nextStack\/vm$/)

  await page.goto(`${origin}/userMsg#passkeys`)
  await expect(row).toContainText('使用过')
  await row.getByRole('button', { name: '改名 办公电脑' }).click()
  await field(section, '名称').fill('家里的电脑')
  await section.getByRole('button', { name: '保存' }).click()
  await section.getByRole('button', { name: '删除 家里的电脑' }).click()
  await expect(section).toContainText('删除后不能再用它登录')
  await section.getByRole('button', { name: '删除', exact: true }).click()
  await expect(section).toContainText('还没有通行密钥')
  await signOut(page, username)
  await byPasskey(page).click()
  await expect(page.getByRole('alert').filter({ hasText: '通行密钥验证失败' })).toBeVisible()
})

test('a passkey stands in for the second factor', async ({ page, trouble }) => {
  trouble.expect(/^401 POST \/api\/ums\/v1\/auth\/password\/tokens$/)
  await withoutAutofill(page)
  await plugIn(page)
  const { username } = await register(server.url, newName('autofilled'))
  await page.goto(`${origin}/login`)
  await expect(page.getByLabel('用户名、手机号或邮箱')).toHaveAttribute('autocomplete', 'username webauthn')
  await typeIn(page, username)
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
  await page.goto(`${origin}/userMsg`)
  const keys = page.getByRole('region', { name: '通行密钥' })
  await keys.getByRole('button', { name: '添加通行密钥' }).click()
  await keys.getByRole('button', { name: '继续' }).click()
  await expect(keys.getByRole('listitem')).toHaveCount(1)
  const second = page.getByRole('region', { name: '两步验证' })
  await second.getByRole('button', { name: '开启两步验证' }).click()
  await field(second, '当前密码').fill(password)
  await second.getByRole('button', { name: '下一步' }).click()
  const totp = new TOTP({ secret: Secret.fromBase32((await second.locator('code').textContent()) ?? '') })
  await field(second, '动态验证码').fill(totp.generate())
  await second.getByRole('button', { name: '开启两步验证' }).click()
  await second.getByRole('button', { name: '我已保存' }).click()

  // A password alone is not enough; the passkey is, instead of a code.
  await signOut(page, username)
  await typeIn(page, username)
  await expect(page.getByLabel('动态验证码或恢复码')).toBeFocused()
  await byPasskey(page).click()
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
})

test('a passkey is offered where the browser fills in the name', async ({ page }) => {
  const device = await plugIn(page)
  await touches(device, false)
  const { username } = await register(server.url, newName('autofilled'))
  await page.goto(`${origin}/login`)
  await expect(page.getByLabel('用户名、手机号或邮箱')).toHaveAttribute('autocomplete', 'username webauthn')
  await typeIn(page, username)
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
  await page.goto(`${origin}/userMsg#passkeys`)
  await touches(device, true)
  const section = page.getByRole('region', { name: '通行密钥' })
  await section.getByRole('button', { name: '添加通行密钥' }).click()
  await section.getByRole('button', { name: '继续' }).click()
  await expect(section.getByRole('listitem')).toHaveCount(1)
  // Somebody touches the device as soon as it is offered: no button is needed.
  const entered = page.waitForResponse((response) => response.url().endsWith('/api/ums/v1/auth/passkey/tokens'))
  await page.getByRole('button', { name: `${username}的账号菜单`, exact: true }).click()
  await page.getByRole('menuitem', { name: '退出登录' }).click()
  expect((await entered).status()).toBe(200)
  await expect(page.getByRole('button', { name: `${username}的账号菜单`, exact: true })).toBeVisible()
})

test('a device that does not know its owner makes no passkey, and one who gives up is told', async ({ page }) => {
  const device = await plugIn(page)
  await touches(device, false)
  const { username } = await register(server.url, newName('unverified'))
  await page.goto(`${origin}/login`)
  await typeIn(page, username)
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
  await page.goto(`${origin}/userMsg#passkeys`)
  await touches(device, true)
  await verifies(device, false)
  const section = page.getByRole('region', { name: '通行密钥' })
  await section.getByRole('button', { name: '添加通行密钥' }).click()
  await section.getByRole('button', { name: '继续' }).click()
  await expect(section.getByRole('alert')).toContainText('通行密钥没有添加')
})
