import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { configs, licences } from '@zhisuan/contract/sys/sys'
import { Secret, TOTP } from 'otpauth'
import { issueLicence, makeKeyPair } from '../../apps/server/src/modules/sys/licence/licence.file.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { administratorPassword, asAdministrator, Client, startServer, type RunningServer } from '../support/server.ts'
import { button } from './console.ts'
import { violations } from './axe.ts'
import { field, fill, wrong } from './forms.ts'
import { codeFor, newPhone } from './inbox.ts'
import { newName, register } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'
import { watchQuiet, watchTraffic } from './traffic.ts'

const tooOften = /操作过于频繁，请\d+秒后再试/

/** Signs in on the login page, as a person does. */
async function typeIn(page: Page, login: string, typed: string): Promise<void> {
  await fill(page, { '用户名、手机号或邮箱': login, 密码: typed })
  await button(page, '登录').click()
}

async function signOut(page: Page, name: string): Promise<void> {
  await button(page, `${name}的账号菜单`).click()
  await page.getByRole('menuitem', { name: '退出登录' }).click()
  await expect(page).toHaveURL(/\/login$/)
}

/** Has a code sent, as soon as the number may have another, and types it. */
async function proveByCode(page: Page, phone: string): Promise<void> {
  await field(page, '手机号').fill(phone)
  await expect(async () => {
    await button(page, '获取验证码').click()
    await expect(toast(page, '验证码已发送')).toBeVisible({ timeout: 2_000 })
  }).toPass({ timeout: 75_000, intervals: [8_000] })
  // Unknown until now: a code for signing in was never asked for.
  await field(page, '验证码').fill(await codeFor(stage().url, phone, 1))
}

// First here and used last: a number that was just registered by a code gets its next one a minute later.
let byPhone: Account
let forgetful: Account
test.beforeAll(async () => {
  byPhone = await register(stage().url, newName('by-phone'))
  forgetful = await register(stage().url, newName('forgetful'))
})

test.describe('registering', () => {
  test('alone: what is wrong is said beside its field, what was typed stays, and then one is let in', async ({ page, trouble }) => {
    trouble.expect(/^400 GET \/api\/ums\/v1\/verification\/registration/, /^400 POST \/api\/ums\/v1\/users\/registration/, /^429 GET/)
    const name = newName('独行')
    const phone = newPhone()
    await page.clock.install()
    await page.goto('/register')

    await test.step('nothing typed', async () => {
      await button(page, '注册').click()
      await expect(wrong(page, '用户名')).toHaveText('用户名不能为空')
      await expect(wrong(page, '手机号')).toHaveText('手机号不能为空')
      await expect(wrong(page, '验证码')).toHaveText('验证码不能为空')
      await expect(wrong(page, '密码')).toHaveText('密码不能为空')
      await expect(page.getByText('请先阅读并同意服务条款')).toBeVisible()
      await expect(field(page, '用户名')).toBeFocused()
      await expect(field(page, '用户名')).toHaveAccessibleDescription('用户名不能为空')
    })

    await test.step('everything typed wrong', async () => {
      const typed = { 用户名: '有 空格', 手机号: '12345678901', 验证码: '12ab', 密码: 'short', 确认密码: 'other' }
      const traffic = watchTraffic(page)
      await fill(page, typed)
      await button(page, '注册').click()
      await expect(wrong(page, '用户名')).toHaveText('只能包含中文、字母、数字、下划线、连字符、点和@')
      await expect(wrong(page, '手机号')).toHaveText('请输入正确的手机号')
      await expect(wrong(page, '验证码')).toHaveText('验证码为6位数字')
      await expect(wrong(page, '密码')).toHaveText(/密码长度为8到64个字符/)
      await expect(wrong(page, '确认密码')).toHaveText('两次输入的密码不一致')
      await button(page, '获取验证码').click()
      await expect(wrong(page, '手机号')).toHaveText('请输入正确的手机号')
      for (const [label, value] of Object.entries(typed)) await expect(field(page, label)).toHaveValue(value)
      expect(traffic.sent(/ \/api\//)).toBe(0)
    })

    await test.step('a number and a name that others have; a wrong code', async () => {
      await fill(page, { 手机号: stage().tenant.phone, 密码: password, 确认密码: password })
      await button(page, '获取验证码').click()
      await expect(wrong(page, '手机号')).toHaveText('手机号已被使用')
      await fill(page, { 用户名: stage().tenant.username, 手机号: phone })
      await button(page, '获取验证码').click()
      await expect(toast(page, '验证码已发送')).toBeVisible()
      await expect(field(page, '验证码')).toBeFocused()
      const code = await codeFor(stage().url, phone)
      await field(page, '验证码').fill(String((Number(code) + 1) % 1_000_000).padStart(6, '0'))
      await page.getByRole('checkbox').check()
      await button(page, '注册').click()
      await expect(wrong(page, '验证码')).toHaveText('验证码错误或已失效')
      await field(page, '验证码').fill(code)
      await button(page, '注册').click()
      await expect(wrong(page, '用户名')).toHaveText('用户名已被使用')
      await expect(field(page, '验证码')).toHaveValue(code)
      await expect(field(page, '密码')).toHaveValue(password)
    })

    await test.step('the next code has to be waited for', async () => {
      const again = page.getByRole('button', { name: /\d+ 秒后重新获取/ })
      await expect(again).toBeDisabled()
      const seconds = async () => Number(/\d+/.exec(await again.innerText())?.[0])
      const before = await seconds()
      await page.clock.fastForward(20_000)
      await expect.poll(seconds).toBeLessThanOrEqual(before - 20)
      // The server goes by its own clock, and says how long.
      await page.clock.fastForward(40_000)
      await button(page, '获取验证码').click()
      await expect(page.getByRole('alert').filter({ hasText: tooOften })).toBeVisible()
    })

    await test.step('all right: signed up, then in', async () => {
      await field(page, '用户名').fill(name)
      await button(page, '注册').click()
      await expect(page.getByRole('status').filter({ hasText: '注册成功，请登录' })).toBeVisible()
      await expect(field(page, '用户名、手机号或邮箱')).toHaveValue(name)
      await field(page, '密码').fill(password)
      await button(page, '登录').click()
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
      await page.goto('/userMsg')
      const profile = page.getByRole('region', { name: '基本信息' })
      await expect(profile).toContainText('个人用户')
      await expect(profile).toContainText('租户')
    })
  })

  test('with an organisation: one becomes its administrator, under a name that nobody else has', async ({ page, trouble }) => {
    trouble.expect(/^400 POST \/api\/ums\/v1\/users\/registration/)
    const [name, organisation, phone] = [newName('创办人'), newName('新组织'), newPhone()]
    await page.goto('/login?redirect=%2Fhelp')
    await page.getByRole('link', { name: '立即注册' }).click()
    await fill(page, { 用户名: name, 手机号: phone, 密码: password, 确认密码: password, '组织名称（选填）': '浏览器测试组织' })
    await page.getByRole('checkbox').check()
    await button(page, '获取验证码').click()
    await field(page, '验证码').fill(await codeFor(stage().url, phone))
    await button(page, '注册').click()
    await expect(wrong(page, '组织名称（选填）')).toHaveText('组织名称已存在')
    await field(page, '组织名称（选填）').fill(organisation)
    await button(page, '注册').click()
    // The address changes before the page does, and both have a field of this name.
    await expect(page.getByRole('status').filter({ hasText: '注册成功，请登录' })).toBeVisible()
    await expect(page).toHaveURL(/\/login\?redirect=%2Fhelp$/)
    await field(page, '密码').fill(password)
    await button(page, '登录').click()
    await expect(page).toHaveURL(/\/help$/)
    await page.goto('/userMsg')
    const profile = page.getByRole('region', { name: '基本信息' })
    await expect(profile).toContainText('租户管理员')
    await expect(profile).toContainText(organisation)
    await page.getByRole('link', { name: '概览' }).click()
    await expect(page).toHaveURL(/\/index$/)
  })

  test('closed: nobody is led there, and whoever comes is told', async ({ page, trouble }) => {
    trouble.expect(/^400 GET \/api\/ums\/v1\/verification\/registration/)
    const administrator = new Client(stage().url)
    await administrator.signIn('admin', administratorPassword)
    await page.goto('/register')
    await field(page, '手机号').fill(newPhone())
    await administrator.call(configs.set, { body: { key: 'register_mode', value: 'closed' } })
    try {
      // Closed under their hands.
      await button(page, '获取验证码').click()
      await expect(page.getByRole('alert').filter({ hasText: '注册功能未开放' })).toBeVisible()
      await page.reload()
      await expect(page.getByText('请联系平台管理员为您开通账号。')).toBeVisible()
      await expect(page.getByText('注册功能未开放')).toBeVisible()
      await expect(button(page, '注册')).toHaveCount(0)
      for (const path of ['/login', '/']) {
        const answered = page.waitForResponse(/system-info$/)
        await page.goto(path)
        await answered
        await expect(page.getByRole('link', { name: '登录', exact: false }).first()).toBeVisible()
        await expect(page.getByRole('link', { name: /注册/ })).toHaveCount(0)
      }
    } finally {
      await administrator.call(configs.reset, { query: { key: 'register_mode' } })
    }
  })
})

test.describe('signing in', () => {
  test('leads back to what was asked for, and nowhere else', { tag: '@journey' }, async ({ page }) => {
    const wanted = `/nextStack/vm/detail/${stage().vmId}?tab=operations`
    await page.goto(wanted)
    await expect(page).toHaveURL(`/login?${new URLSearchParams({ redirect: wanted })}`)
    await typeIn(page, `  ${stage().tenant.username} `, password)
    await expect(page).toHaveURL(wanted)
    await expect(page.getByRole('tab', { name: '操作记录' })).toHaveAttribute('aria-selected', 'true')
    await signOut(page, stage().tenant.username)

    for (const foreign of ['//example.com/', '/\\example.com/', 'https://example.com/', '/login']) {
      await page.goto(`/login?${new URLSearchParams({ redirect: foreign })}`)
      await typeIn(page, stage().tenant.phone, password)
      await expect(page).toHaveURL(/127\.0\.0\.1:\d+\/nextStack\/vm$/)
      await signOut(page, stage().tenant.username)
    }
  })

  test('typed before the page knows all ways to sign in, the password stays', async ({ page }) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/system-info', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto('/login')
    await fill(page, { '用户名、手机号或邮箱': stage().tenant.username, 密码: password })
    await expect(page.getByRole('tab', { name: '验证码登录' })).toHaveCount(0)
    resolve()
    await expect(page.getByRole('tab', { name: '验证码登录' })).toBeVisible()
    await expect(page.getByLabel('密码', { exact: true })).toHaveValue(password)
    await button(page, '登录').click()
    await expect(page).toHaveURL(/\/nextStack\/vm$/)
  })

  test('out again: nothing of the session stays but the choice of cloud', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/nextStack/vm')
    await page.evaluate((id) => {
      localStorage.setItem('zhisuan.cloud', id)
      localStorage.setItem('zhisuan.else', 'private')
    }, stage().cloudId)
    await expect.poll(async () => (await context.cookies()).map(({ name }) => name)).toEqual(expect.arrayContaining(['token', 'kind', 'project_key']))
    const token = (await context.cookies()).find(({ name }) => name === 'token')?.value ?? ''
    await signOut(page, stage().tenant.username)
    // What the platform is called is nobody's.
    await expect.poll(() => page.evaluate(() => Object.keys(localStorage).sort())).toEqual(['zhisuan.brand', 'zhisuan.cloud'])
    // That somebody signed in here before is the device's: it says nothing of who.
    expect((await context.cookies(`${stage().url}/api/ums/v1/auth/tokens`)).map(({ name }) => name).filter((name) => name !== 'zs_device')).toEqual([])
    const { status } = await fetch(`${stage().url}/api/ums/v1/users/current`, { headers: { authorization: `Bearer ${token}` } })
    expect(status).toBe(401)
    await page.goto('/nextStack/vm')
    await expect(page).toHaveURL(/\/login\?redirect=%2FnextStack%2Fvm$/)
  })

  test('with a wrong password: told so, and frozen when it goes on', async ({ page, trouble }) => {
    trouble.expect(/^401 POST \/api\/ums\/v1\/auth\/password\/tokens/)
    const { username } = await register(stage().url, newName('frozen'))
    const attempt = async (typed: string) => {
      const answered = page.waitForResponse(/password\/tokens$/)
      await typeIn(page, username, typed)
      await answered
    }
    const said = page.getByRole('alert').filter({ hasText: /./ })
    await page.goto('/login')
    await button(page, '登录').click()
    await expect(page.getByText('用户名不能为空')).toBeVisible()
    await expect(page.getByText('密码不能为空')).toBeVisible()
    for (let guess = 1; guess <= 4; guess++) {
      await attempt(`Wrong-guess-${guess}`)
      await expect(said).toHaveText('用户名或密码错误')
      await expect(field(page, '用户名、手机号或邮箱')).toHaveValue(username)
      await expect(field(page, '密码')).toHaveValue(`Wrong-guess-${guess}`)
    }
    await attempt('Wrong-guess-5')
    await expect(said).toHaveText('密码错误次数过多，账号已冻结，请五分钟后再试')
    // The right one does not help now, or it could be guessed on.
    await attempt(password)
    await expect(said).toHaveText('密码错误次数过多，账号已冻结，请五分钟后再试')
    await expect(page).toHaveURL(/\/login$/)
  })
})

test.describe('the session', () => {
  /** What an access token is once it has run out: nobody's. */
  const expire = (page: Page) =>
    page.context().addCookies([{ name: 'token', value: randomBytes(32).toString('base64url'), url: stage().url, sameSite: 'Strict' }])
  const renewal = /POST \/api\/ums\/v1\/auth\/tokens$/

  test('is renewed unseen, once for all requests that need it', async ({ page, context, trouble }) => {
    trouble.expect(/^401 GET/)
    await signIn(context, 'admin')
    const quiet = watchQuiet(page)
    await page.goto('/help')
    await expect(page.getByRole('link', { name: '概览' })).toBeVisible()
    await quiet()
    const traffic = watchTraffic(page)
    await expire(page)
    await page.getByRole('link', { name: '概览' }).click()
    await expect(page.getByRole('heading', { name: '用量趋势' })).toBeVisible()
    await expect(page.getByText('云平台', { exact: true }).first()).toBeVisible()
    await quiet()
    // One of them where the others were asked for after it: two tabs at once are below.
    expect(traffic.answered(/^401 GET/)).toBeGreaterThan(0)
    expect(traffic.sent(renewal)).toBe(1)
    expect(traffic.answered(/^200 POST \/api\/ums\/v1\/auth\/tokens$/)).toBe(1)
    await expect(page).toHaveURL(/\/index$/)
    expect(await toast(page, /./).count()).toBe(0)
  })

  test('is shared by two tabs: renewed by one, ended by one', async ({ page, context, trouble }) => {
    trouble.expect(/^401 /)
    await signIn(context, 'tenant')
    const other = await context.newPage()
    for (const tab of [page, other]) {
      await tab.goto('/nextStack/vm')
      await expect(tab.getByRole('row', { name: /batch/ }).first()).toBeVisible()
    }
    const traffic = watchTraffic(context)
    await expire(page)
    const listed = (tab: Page) => tab.waitForResponse((response) => response.ok() && response.url().includes('/api/nextstack/v1/vms'))
    await Promise.all([listed(page), listed(other), ...[page, other].map((tab) => tab.getByRole('button', { name: '刷新' }).click())])
    expect(traffic.sent(renewal)).toBe(1)
    for (const tab of [page, other]) await expect(tab).toHaveURL(/\/nextStack\/vm$/)

    await page.bringToFront()
    await signOut(page, stage().tenant.username)
    await other.bringToFront()
    await expect(other).toHaveURL(/\/login\?redirect=%2FnextStack%2Fvm$/)
  })

  test('over on a public page: cleared, told, and led to the login page as anywhere', async ({ page, context, trouble }) => {
    trouble.expect(/^401 /)
    await expire(page)
    await page.goto('/Terms-of-Service')
    await expect(page).toHaveURL(`/login?${new URLSearchParams({ redirect: '/Terms-of-Service' })}`)
    await expect(toast(page, '登录已过期，请重新登录')).toBeVisible()
    expect((await context.cookies()).map(({ name }) => name).filter((name) => name !== 'zs_device')).toEqual([])
  })

  test('begins where it was asked for, and the first page leads back to the overview', async ({ page, context }) => {
    await page.goto('/index')
    await expect(page).toHaveURL(`/login?${new URLSearchParams({ redirect: '/index' })}`)
    await typeIn(page, stage().tenantAdmin.username, password)
    await expect(page).toHaveURL('/index')
    const fresh = await context.newPage()
    await page.close()
    await context.clearCookies()
    await fresh.goto('/nextStack/vmCommand')
    await typeIn(fresh, stage().tenantAdmin.username, password)
    await expect(fresh).toHaveURL('/nextStack/vmCommand')
    await fresh.getByRole('button', { name: /返回/ }).click()
    await expect(fresh).toHaveURL('/index')
  })

  test('revoked: leads to the login page, says why, and back afterwards', async ({ page, context, trouble }) => {
    trouble.expect(/^401 /)
    const { username } = await register(stage().url, newName('revoked'))
    await signIn(context, { username, password })
    await page.goto('/nextStack/vm?status=running')
    await expect(page.getByText('没有符合条件的结果')).toBeVisible()
    await page.evaluate(() => localStorage.setItem('zhisuan.else', 'private'))
    const token = (await context.cookies()).find(({ name }) => name === 'token')?.value ?? ''
    // From elsewhere: this browser keeps its cookies, and has to find out.
    await fetch(`${stage().url}/api/ums/v1/auth/tokens`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })
    await expect(page).toHaveURL(`/login?${new URLSearchParams({ redirect: '/nextStack/vm?status=running' })}`)
    await expect(toast(page, '登录已过期，请重新登录')).toBeVisible()
    expect((await context.cookies()).map(({ name }) => name).filter((name) => name !== 'zs_device')).toEqual([])
    expect(await page.evaluate(() => localStorage.getItem('zhisuan.else'))).toBeNull()
    await typeIn(page, username, password)
    await expect(page).toHaveURL('/nextStack/vm?status=running')
  })
})

test.describe('one’s own information', () => {
  test('a new password ends all other sessions, and is the one that counts', async ({ page, context, browser, trouble }) => {
    trouble.expect(/^40[01] /)
    const { username } = await register(stage().url, newName('changing'))
    const fresh = 'Another-one-2'
    await signIn(context, { username, password })
    const elsewhere = await browser.newContext()
    trouble.watch(elsewhere)
    await signIn(elsewhere, { username, password })
    const other = await elsewhere.newPage()
    await other.goto(`${stage().url}/nextStack/vm`)
    await expect(other.getByText('还没有云主机')).toBeVisible()

    await page.goto('/userMsg')
    const section = page.getByRole('region', { name: '修改密码' })
    const change = section.getByRole('button', { name: '修改密码' })
    await change.click()
    await expect(wrong(section, '旧密码')).toHaveText('旧密码不能为空')
    await expect(wrong(section, '确认新密码')).toHaveText('新密码不能为空')
    await fill(section, { 旧密码: 'Not-the-one-1', 新密码: 'weak', 确认新密码: 'weaker' })
    await change.click()
    await expect(wrong(section, '新密码')).toHaveText(/密码长度为8到64个字符/)
    await expect(wrong(section, '确认新密码')).toHaveText('两次输入的密码不一致')
    await fill(section, { 新密码: fresh, 确认新密码: fresh })
    await change.click()
    await expect(wrong(section, '旧密码')).toHaveText('旧密码错误')
    await expect(field(section, '新密码')).toHaveValue(fresh)
    await fill(section, { 旧密码: password, 新密码: password, 确认新密码: password })
    await change.click()
    await expect(wrong(section, '新密码')).toHaveText('新密码不能与旧密码相同')
    await fill(section, { 新密码: fresh, 确认新密码: fresh })
    await change.click()
    await expect(toast(page, '密码已修改，其他登录已退出')).toBeVisible()

    await expect(other).toHaveURL(/\/login\?redirect=/)
    await page.reload()
    await expect(page.getByRole('region', { name: '基本信息' })).toBeVisible()
    await typeIn(other, username, password)
    await expect(other.getByRole('alert').filter({ hasText: '用户名或密码错误' })).toBeVisible()
    await typeIn(other, username, fresh)
    await expect(other).toHaveURL(/\/nextStack\/vm$/)
    await elsewhere.close()
  })

  test('a second factor is turned on, asked for, and a recovery code stands in for a lost phone', async ({ page, context, trouble }) => {
    trouble.expect(/^40[01] POST \/api\/ums\/v1\//)
    const { username } = await register(stage().url, newName('guarded'))
    await signIn(context, { username, password })
    await page.goto('/userMsg')
    const section = page.getByRole('region', { name: '两步验证' })
    await section.getByRole('button', { name: '开启两步验证' }).click()
    await field(section, '当前密码').fill(password)
    await section.getByRole('button', { name: '下一步' }).click()
    await expect(section.getByLabel('两步验证的二维码')).toBeVisible()
    const totp = new TOTP({ secret: Secret.fromBase32((await section.locator('code').textContent()) ?? '') })
    await field(section, '动态验证码').fill('000000')
    await section.getByRole('button', { name: '开启两步验证' }).click()
    await expect(wrong(section, '动态验证码')).toHaveText('动态验证码错误或已使用')
    expect(await violations(page)).toEqual([])
    await field(section, '动态验证码').fill(totp.generate())
    await section.getByRole('button', { name: '开启两步验证' }).click()
    const shown = section.getByRole('list', { name: '恢复码' }).getByRole('listitem')
    await expect(shown).toHaveCount(10)
    const codes = await shown.allTextContents()
    await section.getByRole('button', { name: '我已保存' }).click()
    await expect(section).toContainText('还有 10 个恢复码可用')

    await signOut(page, username)
    await typeIn(page, username, password)
    const otp = page.getByLabel('动态验证码或恢复码')
    await expect(otp).toBeFocused()
    await otp.fill('000000')
    await otp.press('Enter')
    await expect(page.getByText('动态验证码错误或已使用')).toBeVisible()
    await otp.fill(codes[0] ?? '')
    await otp.press('Enter')
    await expect(page).toHaveURL(/\/nextStack\/vm$/)

    await page.goto('/userMsg')
    await expect(section).toContainText('还有 9 个恢复码可用')
    await section.getByRole('button', { name: '关闭两步验证' }).click()
    await fill(section, { 当前密码: password, 动态验证码或恢复码: codes[1] ?? '' })
    await section.getByRole('button', { name: '关闭两步验证' }).click()
    await expect(section).toContainText('未开启')
  })

  test('another phone and a mailbox, each proved by a code, and good to sign in with', async ({ page, context, trouble }) => {
    trouble.expect(/^400 /)
    const { username } = await register(stage().url, newName('reachable'))
    const [phone, email] = [newPhone(), `${newName('person')}@example.com`]
    await signIn(context, { username, password })
    await page.goto('/userMsg')

    const phoneSection = page.getByRole('region', { name: '手机号' })
    const toPhone = phoneSection.getByRole('button', { name: '修改手机号' })
    await field(phoneSection, '新手机号').fill(stage().tenant.phone)
    await phoneSection.getByRole('button', { name: '获取验证码' }).click()
    await expect(wrong(phoneSection, '新手机号')).toHaveText('手机号已被使用')
    await field(phoneSection, '新手机号').fill(phone)
    await phoneSection.getByRole('button', { name: '获取验证码' }).click()
    await fill(phoneSection, { 验证码: await codeFor(stage().url, phone), 当前密码: 'Not-the-one-1' })
    await toPhone.click()
    await expect(wrong(phoneSection, '当前密码')).toHaveText('旧密码错误')
    await field(phoneSection, '当前密码').fill(password)
    await toPhone.click()
    await expect(toast(page, '手机号已修改')).toBeVisible()
    await expect(phoneSection).toContainText(phone)
    await expect(field(phoneSection, '新手机号')).toHaveValue('')

    const mailSection = page.getByRole('region', { name: '邮箱' })
    await field(mailSection, '新邮箱').fill('nobody')
    await mailSection.getByRole('button', { name: '绑定邮箱' }).click()
    await expect(wrong(mailSection, '新邮箱')).toHaveText('请输入正确的邮箱地址')
    await field(mailSection, '新邮箱').fill(email)
    await mailSection.getByRole('button', { name: '获取验证码' }).click()
    await fill(mailSection, { 验证码: await codeFor(stage().url, email), 当前密码: password })
    await mailSection.getByRole('button', { name: '绑定邮箱' }).click()
    await expect(toast(page, '邮箱已修改')).toBeVisible()
    await expect(mailSection).toContainText(email)

    for (const login of [phone, email.toUpperCase()]) {
      await signOut(page, username)
      await typeIn(page, login, password)
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
    }
  })

  test('the profile shows at once; what was not saved is not left without a question', async ({ page, context }) => {
    const { username } = await register(stage().url, newName('profile'))
    await signIn(context, { username, password })
    await page.goto('/userMsg')
    const section = page.getByRole('region', { name: '基本信息' })
    await field(section, '昵称').fill('小明')
    await section.getByRole('button', { name: '保存' }).click()
    await expect(toast(page, '已保存')).toBeVisible()
    await expect(button(page, '小明的账号菜单')).toBeVisible()

    await field(section, '备注').fill('还没有保存')
    await page.getByRole('link', { name: '帮助中心' }).click()
    const question = page.getByRole('dialog', { name: '离开此页面？' })
    await expect(question).toContainText('“基本信息”')
    await question.getByRole('button', { name: '留在此页' }).click()
    await expect(field(section, '备注')).toHaveValue('还没有保存')
    const asked = page.waitForEvent('dialog')
    await page.evaluate(() => void setTimeout(() => location.reload()))
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    await expect(field(section, '备注')).toHaveValue('还没有保存')
    await page.getByRole('link', { name: '帮助中心' }).click()
    await question.getByRole('button', { name: '离开', exact: true }).click()
    await expect(page).toHaveURL(/\/help$/)
    await expect(page.getByRole('heading', { name: '帮助中心' })).toBeVisible()
    await page.goBack()
    await expect(field(section, '备注')).toHaveValue('')
  })
})

test.describe('reading and writing', () => {
  test('a visitor leaves a message, not too many, and an administrator reads it', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST \/api\/ums\/v1\/consultation/, /^429 POST \/api\/ums\/v1\/consultation/)
    const [phone, content] = [newPhone(), `请问怎么收费？${newName('第')}`]
    await page.goto('/')
    await page.getByRole('link', { name: '留言板' }).click()
    const send = button(page, '提交留言')
    await send.click()
    await expect(wrong(page, '称呼')).toHaveText('请输入内容')
    await expect(wrong(page, '手机号')).toHaveText('手机号不能为空')
    await expect(wrong(page, '留言内容')).toHaveText('请输入留言内容')
    await fill(page, { 称呼: '李女士', 手机号: phone, 留言内容: content })
    await button(page, '获取验证码').click()
    await expect(toast(page, `验证码已发送到 ${phone}`)).toBeVisible()
    const code = await codeFor(stage().url, phone)
    await field(page, '验证码').fill(code === '111111' ? '222222' : '111111')
    await send.click()
    await expect(wrong(page, '验证码')).toHaveText('验证码错误或已失效')
    await expect(field(page, '留言内容')).toHaveValue(content)
    await field(page, '验证码').fill(code)
    await send.click()
    await expect(page.getByRole('heading', { name: '留言已提交' })).toBeFocused()

    // Codes are good once, and an address may try five times a minute.
    await button(page, '再写一条').click()
    await expect(field(page, '称呼')).toHaveValue('李女士')
    await fill(page, { 验证码: code, 留言内容: '还有一件事' })
    for (let left = 3; left > 0; left--) {
      const answered = page.waitForResponse(/consultation$/)
      await send.click()
      expect((await answered).status()).toBe(400)
    }
    await send.click()
    await expect(toast(page, tooOften)).toBeVisible()
    await expect(field(page, '留言内容')).toHaveValue('还有一件事')

    await signIn(context, 'admin')
    await page.goto('/messageBoard')
    const row = page.getByRole('row').filter({ hasText: content })
    await expect(row).toContainText('李女士')
    await expect(row).toContainText(phone)
  })

  test('the terms are readable by everybody, section by section', async ({ page }) => {
    await page.goto('/login')
    await page.getByRole('link', { name: '服务条款' }).first().click()
    await expect(page).toHaveURL(/\/Terms-of-Service$/)
    await expect(page.getByRole('heading', { level: 1 })).toContainText('服务')
    const sections = page.getByRole('heading', { level: 2 })
    expect(await sections.count()).toBeGreaterThan(3)
    const last = await sections.last().innerText()
    await page.getByRole('navigation', { name: '目录' }).getByRole('link', { name: last }).click()
    await expect(sections.last()).toBeInViewport()
  })

  test('the help centre finds an article, and the article opens', async ({ page, context }) => {
    await signIn(context, 'tenant')
    await page.goto('/help')
    await page.getByLabel('搜索帮助文档').fill('没有任何一篇会有的词')
    await expect(page.getByText('没有找到相关文档')).toBeVisible()
    await page.getByLabel('搜索帮助文档').fill('94009')
    await expect(page).toHaveURL(/keyword=94009/)
    await expect(page.getByText(/找到 \d+ 篇文档/)).toBeVisible()
    await page.getByLabel('搜索帮助文档').fill('重连')
    await page
      .getByRole('link', { name: /终端与重连/ })
      .first()
      .click()
    await expect(page).toHaveURL(/\/help\/helpCenter\/terminal/)
    await expect(page.getByRole('heading', { level: 1, name: '终端与重连' })).toBeVisible()
    await page.goBack()
    await expect(page.getByLabel('搜索帮助文档')).toHaveValue('重连')
  })
})

test.describe('an installation of its own', () => {
  let server: RunningServer
  let data: TemporaryFolder
  const keys = makeKeyPair()
  test.beforeAll(async () => {
    data = temporaryFolder('identity')
    const keyFile = join(data.path, 'licence.pem')
    writeFileSync(keyFile, keys.publicKey)
    server = await startServer(join(data.path, 'server'), { ZHISUAN_ENV: 'production', LOCAL_CLOUD: 'none', LICENCE_PUBLIC_KEY_FILE: keyFile })
    await asAdministrator(server)
  })
  test.afterAll(async () => {
    await server.stop()
    data.remove()
  })

  test('in production has no inbox for codes; in development the login page leads to it', async ({ page, trouble }) => {
    trouble.expect(/^404 GET \/api\/dev\/v1\/inbox/)
    const link = page.getByRole('link', { name: '查看开发收件箱' })
    const known = page.waitForResponse(/system-info$/)
    await page.goto(`${server.url}/login`)
    await known
    await expect(button(page, '登录')).toBeVisible()
    await expect(link).toHaveCount(0)
    // Nor is a code offered that nobody could send.
    await expect(page.getByRole('tab', { name: '验证码登录' })).toHaveCount(0)
    await expect(button(page, '忘记密码')).toHaveCount(0)
    await page.goto(`${server.url}/dev/inbox`)
    await expect(page.getByRole('heading', { name: '页面不存在' })).toBeVisible()
    await page.goto(`${server.url}/register`)
    await expect(page.getByText('注册功能未开放')).toBeVisible()

    const phone = newPhone()
    await fetch(`${stage().url}/api/ums/v1/verification/registration/sms/${phone}`)
    const code = await codeFor(stage().url, phone)
    await page.goto('/login')
    await link.click()
    await expect(page.getByText(phone)).toBeVisible()
    await expect(button(page, `复制 ${code}`)).toBeVisible()
  })

  test('takes a licence only that was issued for it, and says of any other what is wrong', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST \/api\/sys\/v1\/licenses/)
    const administrator = await asAdministrator({ ...server, firstPassword: null })
    const { installation_id } = await administrator.call(licences.publicKey)
    const now = Date.now()
    const granted = {
      id: newName('L'),
      customer: '浏览器测试客户',
      installation_id,
      start_timestamp: now - 1_000,
      end_timestamp: now + 365 * 86_400_000,
      nodes: 9,
      cores: null,
    }
    const issue = (changes: Partial<typeof granted> = {}, key = keys.privateKey) => issueLicence({ ...granted, ...changes }, key)
    await signIn(context, 'admin', server.url)
    await page.goto(`${server.url}/license`)
    await expect(page.getByText('试用').first()).toBeVisible()
    const text = field(page, '许可证内容')
    const submit = button(page, '导入')
    await expect(submit).toBeDisabled()

    const refusals: [file: string, before: RegExp | null, reason: string][] = [
      ['这不是许可证', /还看不出是许可证/, '许可证内容格式有误'],
      [issue({}, makeKeyPair().privateKey), null, '许可证签名无效'],
      [issue({ installation_id: crypto.randomUUID() }), /为另一个平台签发/, '该许可证不属于本平台'],
      [issue({ start_timestamp: now - 2_000, end_timestamp: now - 1_000 }), /已经过期/, '该许可证已过期，不能导入'],
    ]
    for (const [file, before, reason] of refusals) {
      await text.fill(file)
      if (before !== null) await expect(page.getByText(before)).toBeVisible()
      await submit.click()
      await expect(page.getByRole('alert').filter({ hasText: reason })).toBeVisible()
      await expect(text).toHaveValue(file)
    }
    const chooser = page.locator('input[type=file]')
    await chooser.setInputFiles({ name: 'large.lic', mimeType: 'text/plain', buffer: Buffer.alloc(20_000, 'x') })
    await expect(page.getByText('文件过大，这不是许可证文件')).toBeVisible()
    await chooser.setInputFiles({ name: 'good.lic', mimeType: 'text/plain', buffer: Buffer.from(issue()) })
    await expect(page.getByRole('region', { name: '导入后的变化' })).toContainText('浏览器测试客户')
    await submit.click()
    await expect(toast(page, '许可证已导入并生效')).toBeVisible()
    await expect(page.getByText('正式').first()).toBeVisible()
    await expect(page.getByText('浏览器测试客户').first()).toBeVisible()
    await expect(text).toHaveValue('')
  })
})

test.describe('by a code to the phone', () => {
  test('one signs in without a password', async ({ page, trouble }) => {
    trouble.expect(/^400 POST \/api\/ums\/v1\/auth\/sms\/tokens/, /^429 GET/)
    await page.goto('/login')
    await page.getByRole('tab', { name: '验证码登录' }).click()
    await button(page, '登录').click()
    await expect(wrong(page, '手机号')).toHaveText('手机号不能为空')
    await expect(wrong(page, '验证码')).toHaveText('验证码不能为空')
    await proveByCode(page, byPhone.phone)
    const code = await field(page, '验证码').inputValue()
    await field(page, '验证码').fill(code === '111111' ? '222222' : '111111')
    await button(page, '登录').click()
    await expect(wrong(page, '验证码')).toHaveText('验证码错误或已失效')
    await field(page, '验证码').fill(code)
    await button(page, '登录').click()
    await expect(page).toHaveURL(/\/nextStack\/vm$/)
    await expect(button(page, `${byPhone.username}的账号菜单`)).toBeVisible()
  })

  test('one sets a new password; the old one and all sessions end', async ({ page, browser, trouble }) => {
    trouble.expect(/^400 PATCH/, /^401 /, /^429 GET/)
    const fresh = 'Remembered-now-1'
    const elsewhere = await browser.newContext()
    trouble.watch(elsewhere)
    await signIn(elsewhere, forgetful)
    const other = await elsewhere.newPage()
    await other.goto(`${stage().url}/nextStack/vm`)
    await expect(other.getByText('还没有云主机')).toBeVisible()

    await page.goto('/login')
    await button(page, '忘记密码').click()
    await proveByCode(page, forgetful.phone)
    await fill(page, { 新密码: 'weak', 确认新密码: 'weaker' })
    await button(page, '重置密码').click()
    await expect(wrong(page, '新密码')).toHaveText(/密码长度为8到64个字符/)
    await expect(wrong(page, '确认新密码')).toHaveText('两次输入的密码不一致')
    await fill(page, { 新密码: fresh, 确认新密码: fresh })
    await button(page, '重置密码').click()
    await expect(page.getByRole('status').filter({ hasText: '密码已重置，请使用新密码登录' })).toBeVisible()

    await expect(other).toHaveURL(/\/login\?redirect=/)
    await typeIn(page, forgetful.username, forgetful.password)
    await expect(page.getByRole('alert').filter({ hasText: '用户名或密码错误' })).toBeVisible()
    await typeIn(page, forgetful.username, fresh)
    await expect(page).toHaveURL(/\/nextStack\/vm$/)
    await elsewhere.close()
  })
})
