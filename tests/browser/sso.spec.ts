import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { organisations } from '@zhisuan/contract/ums/user'
import { startProvider, type RunningProvider } from '../../apps/server/src/testing/oidc-provider.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { asAdministrator, startAtOrigin, type RunningServer } from '../support/server.ts'
import { accessible, shot } from './console.ts'
import { field } from './forms.ts'
import { newName, register } from './people.ts'
import { begin, password } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

/** Providers lead back to the platform's address: this server is told its own. */
let server: RunningServer
let provider: RunningProvider & { allow(uri: string): void }
let data: TemporaryFolder
let origin = ''

test.beforeAll(async () => {
  data = temporaryFolder('sso')
  ;({ server, origin } = await startAtOrigin(begin(join(data.path, 'server')), { LOCAL_CLOUD: 'none', TRUST_PROXY: '1', SSO_ALLOW: '127.0.0.1' }))
  provider = await startProvider({ postLogoutRedirectUris: [`${origin}/login`] })
  const administrator = await asAdministrator(server)
  await administrator.call(organisations.create, { body: { name: '统一登录测试组织' } })
})
test.afterAll(async () => {
  await provider.close()
  await server.stop()
  data.remove()
})

/** On the provider's own page. */
async function signInThere(page: Page, account: string, go = 'Sign in'): Promise<void> {
  await page.getByLabel('Account').fill(account)
  await page.getByRole('button', { name: go }).click()
}

/** Tells a provider where people come back to, as its dialog says. */
async function registerAt(provider: { allow(address: string): void }, page: Page): Promise<void> {
  const redirect = await page
    .getByRole('dialog')
    .getByText(/\/callback$/)
    .textContent()
  provider.allow(redirect?.trim() ?? '')
}

test('an administrator sets a provider up; people sign in, link their own account, and sign out there too', async ({ page, context, trouble, browser }) => {
  trouble.expect(/^401 POST \/api\/ums\/v1\/auth\/password\/tokens$/)
  provider.add({ sub: 'alice', preferred_username: 'alice', name: '爱丽丝', email: 'alice@corp.example', email_verified: true })
  provider.add({ sub: 'bob', preferred_username: 'bob', name: '鲍勃', email: 'bob@corp.example', email_verified: true })
  await signIn(context, 'admin', origin)
  await page.goto(`${origin}/configure?tab=signOn`)
  await page.getByRole('tab', { name: '单点登录' }).click()
  await expect(page.getByText('还没有身份提供方')).toBeVisible()
  await accessible(page)
  await page.getByRole('button', { name: '添加身份提供方' }).first().click()
  const dialog = page.getByRole('dialog', { name: '添加身份提供方' })
  await field(dialog, '名称').fill('公司账号')
  await field(dialog, '颁发者地址').fill('http://127.0.0.1:1')
  await field(dialog, '客户端标识').fill(provider.client.id)
  await field(dialog, '客户端密钥').fill(provider.client.secret)
  await dialog.getByRole('button', { name: '测试连接' }).click()
  await expect(dialog.getByRole('alert')).toContainText('连接不上')
  await field(dialog, '颁发者地址').fill(provider.issuer)
  await dialog.getByRole('button', { name: '测试连接' }).click()
  await expect(dialog.getByRole('alert')).toContainText('可以连接')
  await dialog.getByRole('checkbox', { name: '没有关联的账号首次登录时，自动创建用户' }).check()
  await dialog.getByRole('combobox', { name: '所属组织' }).click()
  await page.getByTitle('统一登录测试组织').click()
  await dialog.getByRole('checkbox', { name: '退出登录时，同时退出身份提供方' }).check()
  await accessible(page)
  await dialog.getByRole('button', { name: '保存' }).click()
  await expect(toast(page, '身份提供方已保存')).toBeVisible()
  await page
    .getByRole('row', { name: /公司账号/ })
    .getByRole('button', { name: '修改' })
    .click()
  await registerAt(provider, page)

  // Somebody new: back where they wanted to go.
  const visitor = await browser.newContext({ locale: 'zh-CN' })
  const own = await visitor.newPage()
  await own.goto(`${origin}/login?redirect=/userMsg`)
  const button = own.getByRole('button', { name: '使用公司账号登录' })
  await button.click()
  await signInThere(own, 'alice', 'Cancel')
  await expect(own.getByRole('alert').filter({ hasText: '您取消了登录' })).toBeVisible()
  await accessible(own)
  await button.click()
  await signInThere(own, 'alice')
  await expect(own).toHaveURL(/\/userMsg$/)
  await expect(own.getByRole('region', { name: '关联账号' })).toContainText('公司账号：alice@corp.example')
  await own.getByRole('button', { name: /的账号菜单$/ }).click()
  await own.getByRole('menuitem', { name: '退出登录' }).click()
  await own.getByRole('button', { name: 'Sign out' }).click()
  await expect(own).toHaveURL(/\/login/)
  await visitor.close()

  // Somebody who is there links their own account, and signs in with it.
  const { username } = await register(server.url, newName('linked'))
  const second = await browser.newContext({ locale: 'zh-CN' })
  await signIn(second, { username, password }, origin)
  const theirs = await second.newPage()
  await theirs.goto(`${origin}/userMsg`)
  const section = theirs.getByRole('region', { name: '关联账号' })
  await section.getByRole('button', { name: '关联公司账号' }).click()
  await signInThere(theirs, 'bob')
  await expect(section).toContainText('公司账号：bob@corp.example')
  await accessible(theirs)
  await section.getByRole('button', { name: '解除关联 公司账号' }).click()
  await expect(section).toContainText('还没有关联账号')
  await second.close()
})

test('an organisation’s administrator sets its own provider up; its people sign in at its address, and nobody else is offered it', async ({
  page,
  context,
  browser,
  trouble,
}) => {
  // An address that is not public.
  trouble.expect(/^400 POST \/api\/ums\/v1\/identity-providers$/)
  provider.add({ sub: 'carol', preferred_username: 'carol', name: '卡罗尔', email: 'carol@corp.example', email_verified: true })
  const boss = await register(server.url, newName('boss'), newName('自有登录'))
  await signIn(context, { username: boss.username, password }, origin)
  await page.goto(`${origin}/organisation/sign-on`)
  await expect(page.getByText('还没有身份提供方')).toBeVisible()
  await accessible(page)
  await page.getByRole('button', { name: '添加身份提供方' }).first().click()
  const dialog = page.getByRole('dialog', { name: '添加身份提供方' })
  await expect(dialog.getByText('按邮箱')).toHaveCount(0)
  await field(dialog, '名称').fill('研究所')
  await field(dialog, '客户端标识').fill(provider.client.id)
  await field(dialog, '客户端密钥').fill(provider.client.secret)
  await field(dialog, '颁发者地址').fill('https://10.0.0.1')
  await dialog.getByRole('button', { name: '保存' }).click()
  await expect(dialog.getByText('颁发者须在公网上')).toBeVisible()
  await field(dialog, '颁发者地址').fill(provider.issuer)
  // What was wrong goes away, and what stands below moves up.
  await expect(dialog.getByText('颁发者须在公网上')).toHaveCount(0)
  await dialog.getByRole('checkbox', { name: '没有关联的账号首次登录时，自动创建用户' }).check()
  await accessible(page)
  await shot(page, 'sign-on-own')
  await dialog.getByRole('button', { name: '保存' }).click()
  await expect(toast(page, '身份提供方已保存')).toBeVisible()
  const row = page.getByRole('row', { name: /研究所/ })
  const address = (await row.getByText(/\/login\?organisation=/).textContent()) ?? ''
  await accessible(page)
  await shot(page, 'sign-on-list')
  await row.getByRole('button', { name: '修改' }).click()
  await registerAt(provider, page)

  const visitor = await browser.newContext({ locale: 'zh-CN' })
  const own = await visitor.newPage()
  await own.goto(`${origin}/login`)
  await expect(own.getByRole('button', { name: '登录', exact: true })).toBeVisible()
  const button = own.getByRole('button', { name: '使用组织账号（研究所）登录' })
  await expect(button).toHaveCount(0)
  await own.goto(address)
  await accessible(own)
  await shot(own, 'sign-on-login')
  await button.click()
  await signInThere(own, 'carol', 'Cancel')
  // The way that they came by is offered once more.
  await expect(own.getByRole('alert').filter({ hasText: '您取消了登录' })).toBeVisible()
  await button.click()
  await signInThere(own, 'carol')
  await expect(own.getByRole('button', { name: /的账号菜单$/ })).toBeVisible()
  await own.getByRole('button', { name: /的账号菜单$/ }).click()
  await own.getByRole('menuitem', { name: '退出登录' }).click()
  // Whoever has signed in by it once finds it there.
  await expect(button).toBeVisible()
  await visitor.close()
})
