import type { Locator, Page } from '@playwright/test'
import { button } from './console.ts'
import { offline, openAction, openClouds, openWizard, ownerOfTwo } from './failing.ts'
import { field, fill } from './forms.ts'
import { newPhone } from './inbox.ts'
import { newName } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, test } from './test.ts'
import { watchTraffic } from './traffic.ts'

let owner: Account
test.beforeAll(async () => {
  owner = await ownerOfTwo()
})

/** A form that is filled in well enough to be sent. */
interface Sendable {
  readonly who: 'admin' | 'owner' | null
  readonly open: (page: Page) => Promise<Page | Locator>
  readonly values: Readonly<Record<string, string>>
  readonly submit: string
  /** The request that it makes. */
  readonly sends: RegExp
}

const sendable: Readonly<Record<string, Sendable>> = {
  signingIn: {
    who: null,
    open: async (page) => {
      await page.goto('/login')
      return page
    },
    values: { '用户名、手机号或邮箱': 'somebody', 密码: 'Something-1' },
    submit: '登录',
    sends: /^POST .*\/auth\/password\/tokens$/,
  },
  signingInByCode: {
    who: null,
    open: async (page) => {
      await page.goto('/login')
      await page.getByRole('tab', { name: '验证码登录' }).click()
      return page
    },
    values: { 手机号: newPhone(), 验证码: '123456' },
    submit: '登录',
    sends: /^POST .*\/auth\/sms\/tokens$/,
  },
  registering: {
    who: null,
    open: async (page) => {
      await page.goto('/register')
      // Straight away: what was left empty above says nothing yet, so that nothing moves.
      await page.getByRole('checkbox').check()
      return page
    },
    values: { 用户名: newName('late'), 手机号: newPhone(), 验证码: '123456', 密码: password, 确认密码: password, '组织名称（选填）': '某组织' },
    submit: '注册',
    sends: /^POST .*\/users\/registration$/,
  },
  retrievingAPassword: {
    who: null,
    open: async (page) => {
      await page.goto('/login')
      await button(page, '忘记密码').click()
      return page
    },
    values: { 手机号: newPhone(), 验证码: '123456', 新密码: password, 确认新密码: password },
    submit: '重置密码',
    sends: /^PATCH .*\/users\/retrieved-password$/,
  },
  leavingAMessage: {
    who: null,
    open: async (page) => {
      await page.goto('/messageBoard')
      return page
    },
    values: { 称呼: '王先生', 手机号: newPhone(), 验证码: '123456', 留言内容: '很长的一段话' },
    submit: '提交留言',
    sends: /^POST .*\/consultation\/anonymous\/consultation$/,
  },
  profile: {
    who: 'owner',
    open: (page) => section(page, '基本信息'),
    values: { 昵称: '小红', 备注: '说明' },
    submit: '保存',
    sends: /^PUT .*\/users\/current$/,
  },
  password: {
    who: 'owner',
    open: (page) => section(page, '修改密码'),
    values: { 旧密码: password, 新密码: 'Another-one-2', 确认新密码: 'Another-one-2' },
    submit: '修改密码',
    sends: /^PATCH .*\/users\/password$/,
  },
  phone: {
    who: 'owner',
    open: (page) => section(page, '手机号'),
    values: { 新手机号: newPhone(), 验证码: '123456', 当前密码: password },
    submit: '修改手机号',
    sends: /^PATCH .*\/users\/phone$/,
  },
  email: {
    who: 'owner',
    open: (page) => section(page, '邮箱'),
    values: { 新邮箱: 'one@example.com', 验证码: '123456', 当前密码: password },
    submit: '绑定邮箱',
    sends: /^PATCH .*\/users\/email$/,
  },
  creatingAnInstance: {
    who: 'owner',
    open: async (page) => {
      await openWizard(page)
      return page
    },
    values: { 名称: 'unsent', 描述: '说明', 登录密码: password },
    submit: '立即创建',
    sends: /^POST .*\/vms$/,
  },
  renaming: { who: 'owner', open: (page) => action(page, '编辑'), values: { 名称: 'renamed', 描述: '说明' }, submit: '保存', sends: /^PUT .*\/vms\/[^/]+$/ },
  anotherSize: {
    who: 'owner',
    open: async (page) => {
      const dialog = await action(page, '调整规格')
      await dialog.getByRole('radio', { name: 'small' }).check()
      return dialog
    },
    values: {},
    submit: '调整规格',
    sends: /^POST .*\/resize$/,
  },
  aFreshSystem: {
    who: 'owner',
    open: async (page) => {
      const dialog = await action(page, '重装系统')
      await dialog.getByLabel(/输入名称以确认/).fill('first')
      return dialog
    },
    values: { 登录密码: password },
    submit: '重装系统',
    sends: /^POST .*\/rebuild$/,
  },
  registeringACloud: {
    who: 'admin',
    open: async (page) => {
      const drawer = await openClouds(page)
      await drawer.getByText('沙箱', { exact: true }).click()
      return drawer
    },
    values: { 名称: '未登记', 描述: '说明' },
    submit: '登记',
    sends: /^POST .*\/clouds$/,
  },
  changingACloud: {
    who: 'admin',
    open: async (page) => {
      await page.goto('/infrastructure/cloudy')
      await page.getByRole('button', { name: '编辑' }).first().click()
      return page.getByRole('dialog', { name: /^编辑“/ })
    },
    values: { 名称: '改过的名称', 描述: '改过的说明' },
    submit: '保存',
    sends: /^PUT .*\/clouds\/[^/]+$/,
  },
  importingALicence: {
    who: 'admin',
    open: async (page) => {
      await page.goto('/license')
      return page
    },
    values: { 许可证内容: '-----BEGIN ZHISUAN LICENCE-----\nabc' },
    submit: '导入',
    sends: /^POST .*\/licenses$/,
  },
}

async function section(page: Page, name: string): Promise<Locator> {
  await page.goto('/userMsg')
  return page.getByRole('region', { name })
}

async function action(page: Page, name: string): Promise<Locator> {
  await page.goto('/nextStack/vm')
  return openAction(page, 'first', name)
}

test.describe('a form that is sent while the server is slow and then gone: sent once, says so, keeps what was typed', () => {
  for (const [name, form] of Object.entries(sendable)) {
    test(name, async ({ page, context }) => {
      if (form.who !== null) await signIn(context, form.who === 'owner' ? owner : 'admin')
      const within = await form.open(page)
      await fill(within, form.values)
      let lose: () => void = () => undefined
      const lost = new Promise<void>((resolve) => (lose = resolve))
      await page.route('**/api/**', async (route) => {
        const request = route.request()
        if (!form.sends.test(`${request.method()} ${new URL(request.url()).pathname}`)) return route.continue()
        await lost
        return route.abort('connectionfailed')
      })
      const traffic = watchTraffic(page)
      const submit = button(within, form.submit)
      await submit.dblclick()
      await expect.poll(() => traffic.sent(form.sends)).toBe(1)
      // Shown as busy for as long as it takes; on the login page by its words.
      if (name === 'signingIn') await expect(button(page, '正在登录…')).toHaveAttribute('aria-disabled', 'true')
      else await expect(submit).toHaveClass(/ant-btn-loading/)
      await page.keyboard.press('Enter')
      lose()
      await expect(page.getByText(offline).first()).toBeVisible()
      for (const [label, value] of Object.entries(form.values)) await expect(field(within, label)).toHaveValue(value)
      expect(traffic.sent(form.sends)).toBe(1)
    })
  }
})
