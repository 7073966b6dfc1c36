import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { licences } from '@zhisuan/contract/sys/sys'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { administratorPassword, asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'
import { button } from './console.ts'
import { field, fill, wrong } from './forms.ts'
import { newPhone } from './inbox.ts'
import { newName, register, someAddress } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'
import { watchTraffic } from './traffic.ts'
import { startWire, type Wire } from './wire.ts'

const offline = '无法连接服务器，请检查网络后重试'

/** Somebody with instances of his own on a cloud, running. */
async function withInstances(url: string, who: Account, cloudId: string, names: readonly string[]): Promise<{ client: Client; made: Vm[] }> {
  const client = new Client(url, someAddress())
  await client.signIn(who.username, who.password)
  const image = await until(async () => (await client.call(images.list, { query: { cloud_id: cloudId, type: 'container' } })).items.find(({ name }) => name === 'busybox'), 'an image')
  const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
  const flavor = (await client.call(flavors.list)).items.find(({ name }) => name === 'nano')
  const made: Vm[] = []
  for (const name of names) {
    const body = { cloud_id: cloudId, name, type: 'container', image_fingerprint: image.fingerprint, network: network?.name, flavor_id: flavor?.id, password }
    made.push(...(await client.call(vms.create, { body })).items)
  }
  await until(async () => (await client.call(vms.list, { query: { status: 'running' } })).total === names.length, 'the instances to run', 60_000)
  return { client, made }
}

/** Opens an action of an instance from its row. */
async function openAction(page: Page, instance: string, action: string): Promise<Locator> {
  await page.getByRole('row').filter({ hasText: instance }).getByRole('button', { name: '更多' }).click()
  await page.getByRole('menuitem', { name: action }).click()
  return page.getByRole('dialog')
}

/** The wizard, with everything chosen but what is typed. */
async function openWizard(page: Page): Promise<void> {
  await page.goto('/nextStack/vm/add')
  await page.getByRole('radio', { name: /^轻量实例/ }).check()
  await page.getByRole('radio', { name: 'busybox' }).check()
  await page.getByRole('radio', { name: 'nano' }).check()
}

async function openClouds(page: Page): Promise<Locator> {
  await page.goto('/infrastructure/cloudy')
  await button(page, '登记云平台').first().click()
  return page.getByRole('dialog', { name: '登记云平台' })
}

let owner: Account
let administrator: Client
test.beforeAll(async () => {
  owner = await register(stage().url, newName('owner'))
  await withInstances(stage().url, owner, stage().cloudId, ['first', 'second'])
  administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
})

test.describe('bad input is refused beside its field, and stays', () => {
  test('creating an instance', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST \/api\/nextstack\/v1\/vms$/)
    await signIn(context, owner)
    await page.goto('/nextStack/vm/add')
    const create = page.getByRole('button', { name: /^(立即创建|创建 \d+ 台)$/ })
    await create.click()
    await expect(page.getByText('请选择镜像')).toBeVisible()
    await expect(page.getByText('请选择规格')).toBeVisible()
    await expect(wrong(page, '名称')).toHaveText('请输入内容')

    await openWizard(page)
    const typed = { '名称': '有 空格', '描述': '说明\u0007', '登录密码': 'weak', 'SSH 公钥': 'not a key', '数量': '51' }
    await fill(page, typed)
    const disk = page.getByRole('spinbutton', { name: '系统盘' })
    await disk.fill('1')
    await create.click()
    await expect(wrong(page, '名称')).toHaveText('只能包含中文、字母、数字、下划线、连字符、点和@')
    await expect(wrong(page, '描述')).toHaveText('不能包含控制字符')
    await expect(wrong(page, '登录密码')).toHaveText(/密码长度为8到64个字符/)
    await expect(wrong(page, 'SSH 公钥')).toHaveText(/请输入OpenSSH格式的公钥/)
    await expect(page.locator('.ant-form-item-explain-error').filter({ hasText: /^不能小于规格要求的/ })).toBeVisible()
    for (const label of ['名称', '描述', '登录密码', 'SSH 公钥'] as const) await expect(field(page, label)).toHaveValue(typed[label])
    await expect(disk).toHaveValue('1')
    // More than fifty cannot be typed.
    await expect(field(page, '数量')).toHaveValue('50')

    await fill(page, { '名称': 'third', '描述': '', '登录密码': '', 'SSH 公钥': '', '数量': '1' })
    await disk.fill('20')
    await create.click()
    await expect(wrong(page, '登录密码')).toHaveText('请设置登录密码、SSH公钥或自定义数据中的至少一项')
    await expect(field(page, '登录密码')).toBeFocused()
    await fill(page, { '名称': 'first', '登录密码': password })
    await create.click()
    await expect(wrong(page, '名称')).toHaveText('实例名称已存在')
    await expect(page.getByText('没有创建：实例名称已存在')).toBeVisible()
    await expect(field(page, '名称')).toHaveValue('first')
    await expect(field(page, '登录密码')).toHaveValue(password)

    // Looking elsewhere, or a reload, costs the password only.
    await field(page, '描述').fill('写了很久的描述')
    await page.reload()
    await expect(page.getByText('已恢复上次未提交的内容（密码需要重新输入）。')).toBeVisible()
    await expect(field(page, '描述')).toHaveValue('写了很久的描述')
    await expect(field(page, '登录密码')).toHaveValue('')
  })

  test('the same name by two at once: one gets it, the other reads why not', async ({ page, context, browser, trouble }) => {
    trouble.expect(/^400 POST \/api\/nextstack\/v1\/vms$/)
    const name = newName('same')
    const elsewhere = await browser.newContext()
    trouble.watch(elsewhere)
    await signIn(context, owner)
    await signIn(elsewhere, owner)
    const other = await elsewhere.newPage()
    for (const one of [page, other]) {
      await openWizard(one)
      await fill(one, { '名称': name, '登录密码': password })
    }
    const answers = [page, other].map((one) => one.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/vms')))
    await Promise.all([page, other].map((one) => button(one, '立即创建').click()))
    const statuses = (await Promise.all(answers)).map((response) => response.status())
    expect([...statuses].sort()).toEqual([202, 400])
    const [winner, loser] = statuses[0] === 202 ? [page, other] : [other, page]
    await expect(winner).toHaveURL(/\/nextStack\/vm$/)
    await expect(wrong(loser, '名称')).toHaveText('实例名称已存在')
    await expect(field(loser, '名称')).toHaveValue(name)
    await elsewhere.close()
  })

  test('renaming', async ({ page, context, trouble }) => {
    trouble.expect(/^400 PUT/)
    await signIn(context, owner)
    await page.goto('/nextStack/vm')
    const dialog = await openAction(page, 'first', '编辑')
    await field(dialog, '名称').fill('')
    await button(dialog, '保存').click()
    await expect(wrong(dialog, '名称')).toHaveText('请输入内容')
    await field(dialog, '名称').fill('a/b')
    await button(dialog, '保存').click()
    await expect(wrong(dialog, '名称')).toHaveText('只能包含中文、字母、数字、下划线、连字符、点和@')
    await fill(dialog, { '名称': 'second', '描述': '换个名字' })
    await button(dialog, '保存').click()
    await expect(wrong(dialog, '名称')).toHaveText('实例名称已存在')
    await expect(field(dialog, '名称')).toHaveValue('second')
    await expect(field(dialog, '描述')).toHaveValue('换个名字')
  })

  test('another size', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST .*resize$/)
    const { client, made } = await withInstances(stage().url, await register(stage().url, newName('sizes')), stage().cloudId, ['grown'])
    const vm = made[0] as Vm
    await signIn(context, { username: vm.created_by, password })
    await page.goto('/nextStack/vm')
    const dialog = await openAction(page, 'grown', '调整规格')
    await expect(button(dialog, '调整规格')).toBeDisabled()
    await expect(dialog).toContainText('与当前规格相同')
    await dialog.getByRole('radio', { name: 'small' }).check()
    const disk = dialog.getByRole('spinbutton', { name: '系统盘' })
    await disk.fill('1')
    await button(dialog, '调整规格').click()
    await expect(dialog.locator('.ant-form-item-explain-error').filter({ hasText: /^不能小于规格要求的/ })).toBeVisible()
    await expect(disk).toHaveValue('1')
    await disk.fill('30')
    // Meanwhile somebody else makes it larger than what is asked for here.
    const flavor = (await client.call(flavors.list)).items.find(({ name }) => name === 'small')
    await client.call(vms.resize, { params: { id: vm.id }, body: { flavor_id: flavor?.id, disk_bytes: 40 * 2 ** 30 } })
    await until(async () => (await client.call(vms.get, { params: { id: vm.id } })).status === 'running', 'the new size')
    await button(dialog, '调整规格').click()
    await expect(dialog.locator('.ant-form-item-explain-error').filter({ hasText: '磁盘只能扩容，不能缩小' })).toBeVisible()
    await expect(disk).toHaveValue('30')
  })

  test('a fresh system', async ({ page, context, trouble }) => {
    trouble.expect(/^400 POST .*rebuild$/)
    await signIn(context, owner)
    await page.goto('/nextStack/vm')
    const dialog = await openAction(page, 'second', '重装系统')
    const go = button(dialog, '重装系统')
    await expect(go).toBeDisabled()
    const typed = dialog.getByLabel(/输入名称以确认/)
    await typed.fill('first')
    await expect(go).toBeDisabled()
    await typed.fill('second')
    await fill(dialog, { '登录密码': 'weak', 'SSH 公钥': 'not a key' })
    await go.click()
    await expect(wrong(dialog, '登录密码')).toHaveText(/密码长度为8到64个字符/)
    await expect(wrong(dialog, 'SSH 公钥')).toHaveText(/请输入OpenSSH格式的公钥/)
    await fill(dialog, { '登录密码': password, 'SSH 公钥': '' })
    // The image goes away between the choice and the click.
    await page.route('**/rebuild', (route) => route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), image_fingerprint: '0'.repeat(64) }) }))
    await go.click()
    await expect(dialog.locator('.ant-form-item-explain-error').filter({ hasText: '镜像不存在或已被删除' })).toBeVisible()
    await expect(field(dialog, '登录密码')).toHaveValue(password)
    await expect(typed).toHaveValue('second')
  })

  test('registering a cloud, changing one, and its labels', async ({ page, context, trouble }) => {
    trouble.expect(/^(400|502) (POST|PUT) \/api\/cmp\/v1\/clouds/)
    await signIn(context, 'admin')
    const drawer = await openClouds(page)
    const save = button(drawer, '登记')

    await test.step('what can be seen to be wrong', async () => {
      await field(drawer, '套接字路径').fill('relative/unix.socket')
      await save.click()
      await expect(wrong(drawer, '名称')).toHaveText('请输入内容')
      await expect(wrong(drawer, '套接字路径')).toHaveText('请输入套接字的绝对路径')
      await drawer.getByText('LXD / Incus HTTPS').click()
      await fill(drawer, { '地址': 'http://10.0.0.1:8443', '客户端证书（PEM）': 'nonsense', '项目（可选）': '有 空格' })
      await save.click()
      await expect(wrong(drawer, '地址')).toHaveText('请输入以 https:// 开头的地址')
      await expect(wrong(drawer, '客户端证书（PEM）')).toHaveText('请粘贴PEM格式的内容')
      await expect(wrong(drawer, '客户端私钥（PEM）')).toHaveText('请粘贴PEM格式的内容')
      await expect(wrong(drawer, '项目（可选）')).toHaveText('项目名只能包含字母、数字、点、下划线和连字符，最多63个字符')
      // Trying another kind of connection loses nothing.
      await drawer.getByText('LXD / Incus 本机套接字').click()
      await expect(field(drawer, '套接字路径')).toHaveValue('relative/unix.socket')
      await drawer.getByText('LXD / Incus HTTPS').click()
      await expect(field(drawer, '地址')).toHaveValue('http://10.0.0.1:8443')
    })

    await test.step('labels that are none', async () => {
      await button(drawer, '添加标签').click()
      await save.click()
      await expect(wrong(drawer, '文字')).toHaveText('请输入标签文字，最多32个字符')
      await drawer.getByLabel('文字', { exact: true }).fill('GPU')
      await drawer.getByText('图片', { exact: true }).click()
      await drawer.getByLabel('图片地址').fill('javascript:alert(1)')
      await save.click()
      await expect(wrong(drawer, '文字')).toHaveText('图片地址须以 https:// 或 / 开头')
      await expect(drawer.getByLabel('文字', { exact: true })).toHaveValue('GPU')
      await button(drawer, '删除标签').click()
    })

    await test.step('an address where nobody answers', async () => {
      await field(drawer, '名称').fill('远方')
      await drawer.getByText('LXD / Incus 本机套接字').click()
      await field(drawer, '套接字路径').fill('/nonexistent/unix.socket')
      await button(drawer, '测试连接').click()
      await expect(drawer.getByRole('alert').filter({ hasText: '连接失败' })).toContainText('无法连接云平台，请检查地址和网络')
      await save.click()
      await expect(drawer.getByText('没有保存：无法连接云平台，请检查地址和网络')).toBeVisible()
      await expect(field(drawer, '名称')).toHaveValue('远方')
      await expect(field(drawer, '套接字路径')).toHaveValue('/nonexistent/unix.socket')
      await field(drawer, '套接字路径').fill('/nonexistent/other.socket')
      await expect(drawer.getByText('连接信息已修改，请重新测试。')).toBeVisible()
    })

    await test.step('what was typed is not thrown away by a slip', async () => {
      await button(drawer, '取消').click()
      const question = page.getByRole('dialog', { name: '离开此页面？' })
      await button(question, '留在此页').click()
      await expect(field(drawer, '名称')).toHaveValue('远方')
      await button(drawer, '取消').click()
      await button(question, '离开').click()
      await expect(drawer).toBeHidden()
    })

    await test.step('a name that another got meanwhile, when registering and when editing', async () => {
      const name = newName('争用')
      const [first] = (await administrator.call(clouds.list)).clouds
      await openClouds(page)
      await field(drawer, '名称').fill(name)
      await drawer.getByText('沙箱', { exact: true }).click()
      const { cloud_id } = await administrator.call(clouds.create, { body: { name, product: 'nextstack', connection: { type: 'sandbox' } } })
      try {
        await save.click()
        await expect(wrong(drawer, '名称')).toHaveText('云平台名称已存在')
        await expect(field(drawer, '名称')).toHaveValue(name)
        await page.reload()
        await page.getByRole('row').filter({ hasText: name }).getByRole('button', { name: '编辑' }).click()
        const edit = page.getByRole('dialog', { name: `编辑“${name}”` })
        await fill(edit, { '名称': first?.name ?? '', '描述': '改名' })
        await button(edit, '保存').click()
        await expect(wrong(edit, '名称')).toHaveText('云平台名称已存在')
        await expect(field(edit, '描述')).toHaveValue('改名')
      } finally {
        await administrator.call(clouds.delete, { params: { id: cloud_id }, query: { force: 'true' } })
      }
    })
  })

  test('the profile and the message board', async ({ page, context, trouble }) => {
    trouble.expect(/^400 /)
    await signIn(context, owner)
    await page.goto('/userMsg')
    const profile = page.getByRole('region', { name: '基本信息' })
    await fill(profile, { '昵称': '响\u0007铃', '备注': '换\u0000行' })
    await button(profile, '保存').click()
    await expect(wrong(profile, '昵称')).toHaveText('不能包含控制字符')
    await expect(wrong(profile, '备注')).toHaveText('不能包含控制字符')
    await expect(field(profile, '昵称')).toHaveValue('响\u0007铃')
    // A server that is stricter than this page: its word stands at the field too.
    await fill(profile, { '昵称': '小明', '备注': '说明' })
    await page.route('**/users/current', (route) => (route.request().method() === 'PUT' ? route.continue({ postData: JSON.stringify({ nickname: '字'.repeat(65), description: '说明' }) }) : route.continue()))
    await button(profile, '保存').click()
    await expect(wrong(profile, '昵称')).toHaveText('内容长度不能超过64个字符')
    await expect(field(profile, '昵称')).toHaveValue('小明')

    await page.unrouteAll()
    await page.evaluate(() => addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true }))
    await context.clearCookies()
    await page.goto('/messageBoard')
    await fill(page, { '称呼': '有 空格', '手机号': '123', '验证码': 'abc', '留言内容': '响\u0007铃' })
    await button(page, '提交留言').click()
    await expect(wrong(page, '称呼')).toHaveText('只能包含中文、字母、数字、下划线、连字符、点和@')
    await expect(wrong(page, '手机号')).toHaveText('请输入正确的手机号')
    await expect(wrong(page, '验证码')).toHaveText('验证码为6位数字')
    await expect(wrong(page, '留言内容')).toHaveText('不能包含控制字符')
    await expect(field(page, '留言内容')).toHaveValue('响\u0007铃')
  })
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
    values: { '用户名、手机号或邮箱': 'somebody', '密码': 'Something-1' },
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
    values: { '手机号': newPhone(), '验证码': '123456' },
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
    values: { '用户名': newName('late'), '手机号': newPhone(), '验证码': '123456', '密码': password, '确认密码': password, '组织名称（选填）': '某组织' },
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
    values: { '手机号': newPhone(), '验证码': '123456', '新密码': password, '确认新密码': password },
    submit: '重置密码',
    sends: /^PATCH .*\/users\/retrieved-password$/,
  },
  leavingAMessage: {
    who: null,
    open: async (page) => {
      await page.goto('/messageBoard')
      return page
    },
    values: { '称呼': '王先生', '手机号': newPhone(), '验证码': '123456', '留言内容': '很长的一段话' },
    submit: '提交留言',
    sends: /^POST .*\/consultation\/anonymous\/consultation$/,
  },
  profile: { who: 'owner', open: (page) => section(page, '基本信息'), values: { '昵称': '小红', '备注': '说明' }, submit: '保存', sends: /^PUT .*\/users\/current$/ },
  password: {
    who: 'owner',
    open: (page) => section(page, '修改密码'),
    values: { '旧密码': password, '新密码': 'Another-one-2', '确认新密码': 'Another-one-2' },
    submit: '修改密码',
    sends: /^PATCH .*\/users\/password$/,
  },
  phone: {
    who: 'owner',
    open: (page) => section(page, '手机号'),
    values: { '新手机号': newPhone(), '验证码': '123456', '当前密码': password },
    submit: '修改手机号',
    sends: /^PATCH .*\/users\/phone$/,
  },
  email: {
    who: 'owner',
    open: (page) => section(page, '邮箱'),
    values: { '新邮箱': 'one@example.com', '验证码': '123456', '当前密码': password },
    submit: '绑定邮箱',
    sends: /^PATCH .*\/users\/email$/,
  },
  creatingAnInstance: {
    who: 'owner',
    open: async (page) => {
      await openWizard(page)
      return page
    },
    values: { '名称': 'unsent', '描述': '说明', '登录密码': password },
    submit: '立即创建',
    sends: /^POST .*\/vms$/,
  },
  renaming: { who: 'owner', open: (page) => action(page, '编辑'), values: { '名称': 'renamed', '描述': '说明' }, submit: '保存', sends: /^PUT .*\/vms\/[^/]+$/ },
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
    values: { '登录密码': password },
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
    values: { '名称': '未登记', '描述': '说明' },
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
    values: { '名称': '改过的名称', '描述': '改过的说明' },
    submit: '保存',
    sends: /^PUT .*\/clouds\/[^/]+$/,
  },
  importingALicence: {
    who: 'admin',
    open: async (page) => {
      await page.goto('/license')
      return page
    },
    values: { '许可证内容': '-----BEGIN ZHISUAN LICENCE-----\nabc' },
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

test.describe('what a failed call says', () => {
  const saved = '**/api/nextstack/v1/vms/*'

  /** The dialog that renames an instance, where saving is answered so. */
  async function renaming(page: Page): Promise<{ save: () => Promise<void>; answer: (status: number, body: unknown) => Promise<void> }> {
    await page.goto('/nextStack/vm')
    const dialog = await openAction(page, 'first', '编辑')
    return {
      save: async () => {
        const answered = page.waitForResponse((response) => response.request().method() === 'PUT')
        await button(dialog, '保存').click()
        await answered
      },
      answer: async (status, body) => {
        await page.unrouteAll()
        await page.route(saved, (route) =>
          route.request().method() === 'PUT'
            ? route.fulfill({ status, ...(typeof body === 'string' ? { contentType: 'text/html', body } : { json: body }) })
            : route.continue(),
        )
      },
    }
  }
  const problem = (code: number, message: string) => ({ code, message, request_id: 'mocked' })

  test('by its code: the catalogue’s text, the server’s, or that it is not known', async ({ page, context, trouble }) => {
    trouble.expect(/^(400|409|500|502) PUT/)
    await signIn(context, owner)
    const { save, answer } = await renaming(page)
    const answers: [status: number, body: unknown, text: string][] = [
      [400, problem(24011, 'insufficient'), '余额不足，请充值'],
      [400, problem(9000, '库房里的最后一句话'), '库房里的最后一句话'],
      [400, problem(77_777, '服务器自己的说法'), '服务器自己的说法'],
      [400, problem(77_777, ''), '未知状态'],
      [409, problem(90_012, 'changed'), '内容已被其他人修改，请刷新后重试'],
      [500, problem(99_999, 'unknown'), '错误'],
      [502, '<html><body>Bad Gateway</body></html>', '未知状态'],
    ]
    for (const [status, body, text] of answers) {
      await answer(status, body)
      await save()
      await expect(toast(page, new RegExp(`^${text}`))).toBeVisible()
      await button(page, '关闭提示').first().click()
      await expect(toast(page, /./)).toHaveCount(0)
    }
  })

  test('a repository password that is not set yet: nothing', async ({ page, context, trouble }) => {
    trouble.expect(/^400 PUT/)
    await signIn(context, owner)
    const { save, answer } = await renaming(page)
    await answer(400, problem(2293, '请先设置仓库密码'))
    await save()
    // What comes next is said: so nothing is on its way any more.
    await answer(400, problem(24011, ''))
    await save()
    await expect(toast(page, '余额不足')).toBeVisible()
    // Now, not when it would have gone by itself.
    expect(await toast(page, '仓库密码').count()).toBe(0)
  })

  test('no permission: once, and again only after two seconds; for five seconds', async ({ page, context, trouble }) => {
    trouble.expect(/^40[03] PUT/)
    await signIn(context, owner)
    const start = new Date('2026-11-21T08:00:00Z')
    await page.clock.install({ time: start })
    const { save, answer } = await renaming(page)
    await page.clock.pauseAt(new Date('2026-11-21T09:00:00Z'))
    const said = toast(page, '无操作权限')
    for (const status of [400, 403]) {
      await answer(status, problem(3000, 'illegal Operation'))
      await save()
      await page.clock.runFor(100)
      await expect(said).toHaveCount(1)
      await button(page, '关闭提示').click()
      await page.clock.runFor(1_500)
      await save()
      await page.clock.runFor(100)
      await expect(said).toHaveCount(0)
      await page.clock.runFor(400)
    }
    await save()
    await page.clock.runFor(100)
    await expect(said).toHaveCount(1)
    await page.clock.runFor(4_800)
    await expect(said).toHaveCount(1)
    await page.clock.runFor(200)
    await expect(said).toHaveCount(0)
  })

  test('not signed in any more: the login page, and back from there', async ({ page, context, trouble }) => {
    trouble.expect(/^401 PUT/)
    await signIn(context, owner)
    const { save, answer } = await renaming(page)
    await answer(401, problem(90_008, 'token'))
    await save()
    await expect(page).toHaveURL(/\/login\?redirect=%2FnextStack%2Fvm$/)
    await expect(toast(page, '登录已失效，请重新登录')).toBeVisible()
    expect((await context.cookies()).map(({ name }) => name)).not.toContain('token')
  })

  test('a second terminal in one instance: taken, or taken over', async ({ page, context, trouble }) => {
    trouble.expect(/^409 POST .*\/terminals$/)
    await signIn(context, 'tenant')
    const path = `/nextStack/vm/detail/${stage().vmId}?tab=terminal`
    await page.goto(path)
    await expect(page.getByRole('region', { name: /的终端$/ })).toContainText('已连接')
    const other = await context.newPage()
    await other.goto(path)
    await expect(other.getByText('同一时间只能打开一个终端')).toBeVisible()
    await button(other, '接管').click()
    await expect(other.getByRole('region', { name: /的终端$/ })).toContainText('已连接')
    await expect(page.getByText('终端已被关闭')).toBeVisible()
  })

  test('a licence that has ended, or will soon: told to administrators, for ten seconds', async ({ page, context }) => {
    await signIn(context, 'admin')
    const licence = await administrator.call(licences.get)
    const untilThen = async (end: number) => {
      await page.unrouteAll()
      await page.route('**/api/sys/v1/licenses', (route) => route.fulfill({ json: { ...licence, end_timestamp: end } }))
      await page.goto('/index')
    }
    await untilThen(Date.now() - 1_000)
    await expect(toast(page, '许可证已过期，部分操作受限')).toBeVisible()
    await expect(page.locator('.zs-toast-error')).toHaveCount(1)
    await untilThen(Date.now() + 3 * 86_400_000 - 60_000)
    await expect(toast(page, '许可证将在 3 天内到期，请及时更新')).toBeVisible()
    await page.clock.install()
    await page.goto('/license')
    await expect(toast(page, '许可证将在 3 天内到期')).toBeVisible()
    await page.clock.fastForward(8_000)
    await expect(toast(page, '许可证将在 3 天内到期')).toBeVisible()
    await page.clock.fastForward(2_000)
    await expect(toast(page, '许可证将在 3 天内到期')).toHaveCount(0)
  })
})

test.describe('a server that is slow or does not answer', () => {
  test('lists, pages and dialogs show that they load', async ({ page, context }) => {
    await signIn(context, 'tenant')
    let answer: () => void = () => undefined
    const slow = async (): Promise<void> => {
      const answered = new Promise<void>((resolve) => (answer = resolve))
      await page.unrouteAll()
      await page.route('**/api/nextstack/**', async (route) => {
        await answered
        await route.continue()
      })
    }
    const loading = page.locator('.ant-skeleton:visible, .ant-spin-spinning:visible')
    await slow()
    await page.goto('/nextStack/vm')
    await expect(loading.first()).toBeVisible()
    await expect(page.getByText('还没有云主机')).toHaveCount(0)
    answer()
    await expect(page.getByRole('row', { name: /batch/ }).first()).toBeVisible()
    await expect(loading).toHaveCount(0)

    await slow()
    await page.goto(`/nextStack/vm/detail/${stage().vmId}`)
    await expect(loading.first()).toBeVisible()
    answer()
    await expect(page.getByRole('heading', { name: '示例实例' })).toBeVisible()

    await slow()
    await page.goto('/nextStack/vm/add')
    await expect(loading.first()).toBeVisible()
    answer()
    await expect(page.getByRole('radio', { name: 'nano' })).toBeVisible()
    await expect(loading).toHaveCount(0)
  })

  test('an action is asked for once, however often it is clicked', async ({ page, context }) => {
    await signIn(context, owner)
    await page.goto('/nextStack/vm')
    const row = page.getByRole('row').filter({ hasText: 'second' })
    const stops = /^POST .*\/stop$/
    const traffic = watchTraffic(page)
    await row.getByRole('button', { name: '关机' }).click()
    await button(page.getByRole('dialog'), '关机').dblclick()
    await expect(row).toContainText('已关机')
    expect(traffic.sent(stops)).toBe(1)
    await row.getByRole('button', { name: '启动' }).dblclick()
    await expect(row).toContainText('运行中')
    expect(traffic.sent(/^POST .*\/start$/)).toBe(1)
  })

  test('from the first moment: says so, and goes on when asked to', async ({ page, context, trouble }) => {
    trouble.expect(/^503 /)
    await signIn(context, owner)
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    await page.goto('/nextStack/vm')
    await expect(page.getByText('暂时无法连接服务器')).toBeVisible()
    await expect(page.getByText(offline)).toBeVisible()
    // A proxy that answers for a server that starts again is no answer either.
    await page.unrouteAll()
    await page.route('**/api/**', (route) => route.fulfill({ status: 503, contentType: 'text/html', body: 'starting' }))
    await button(page, '重试').click()
    await expect(page.getByText('暂时无法连接服务器')).toBeVisible()
    await page.unrouteAll()
    await button(page, '重试').click()
    await expect(page.getByRole('row').filter({ hasText: 'first' })).toBeVisible()

    await context.clearCookies()
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    await page.goto('/register')
    await expect(page.getByRole('alert').filter({ hasText: offline })).toBeVisible()
    await page.unrouteAll()
    await button(page, '重试').click()
    await expect(field(page, '用户名')).toBeVisible()
  })

  test('stopped and started: what is shown stays, what is typed stays, and all goes on without a reload', async ({ page, context, browser, trouble }) => {
    // What is asked of a server that is stopping.
    trouble.expect(/^503 GET /)
    test.setTimeout(120_000)
    const data = temporaryFolder('restarted')
    const start = (port: number) => startServer(join(data.path, 'server'), { LOCAL_CLOUD: 'sandbox', TRUST_PROXY: '1', PORT: String(port) })
    let server = await start(await freePort())
    try {
      const [cloud] = (await (await asAdministrator(server)).call(clouds.list)).clouds
      const who = await register(server.url, newName('stays'))
      const { made } = await withInstances(server.url, who, cloud?.cloud_id ?? '', ['kept'])
      await signIn(context, who, server.url)
      await page.goto(`${server.url}/nextStack/vm`)
      const row = page.getByRole('row').filter({ hasText: 'kept' })
      const dialog = await openAction(page, 'kept', '编辑')
      await fill(dialog, { '名称': 'kept-2', '描述': '停机前写的' })
      const elsewhere = await browser.newContext()
      await signIn(elsewhere, who, server.url)
      const detail = await elsewhere.newPage()
      await detail.goto(`${server.url}/nextStack/vm/detail/${made[0]?.id}`)
      await expect(detail.getByRole('heading', { name: 'kept' })).toBeVisible()
      const since = await page.evaluate(() => performance.timeOrigin)

      await server.stop()
      await expect(page.getByText(/刷新失败，数据截至/)).toBeVisible({ timeout: 15_000 })
      await expect(row).toContainText('运行中')
      await expect(detail.getByText('刷新失败，显示的是之前的内容')).toBeVisible({ timeout: 15_000 })
      await expect(detail.getByRole('heading', { name: 'kept' })).toBeVisible()
      await button(dialog, '保存').click()
      await expect(toast(page, offline)).toBeVisible()
      await expect(field(dialog, '名称')).toHaveValue('kept-2')
      await expect(field(dialog, '描述')).toHaveValue('停机前写的')

      server = await start(Number(new URL(server.url).port))
      await expect(page.getByText(/刷新失败，数据截至/)).toBeHidden({ timeout: 15_000 })
      await expect(detail.getByText('刷新失败，显示的是之前的内容')).toBeHidden({ timeout: 15_000 })
      await button(dialog, '保存').click()
      await expect(toast(page, '已保存')).toBeVisible()
      await expect(page.getByRole('row').filter({ hasText: 'kept-2' })).toBeVisible()
      await expect(detail.getByRole('heading', { name: 'kept-2' })).toBeVisible()
      expect(await page.evaluate(() => performance.timeOrigin)).toBe(since)
      await elsewhere.close()
    } finally {
      await server.stop()
      data.remove()
    }
  })
})

const socket = join(process.env['LXD_DIR'] ?? '/var/lib/lxd', 'unix.socket')

test.describe('an engine behind a wire', () => {
  test.skip(!existsSync(socket) && process.env['CI'] === undefined, `no LXD at ${socket}: scripts/engines.sh starts one`)

  let server: RunningServer
  let data: TemporaryFolder
  let wire: Wire
  let manager: Client
  let cloudId: string
  let who: Account
  let client: Client
  let vm: Vm
  test.beforeAll(async () => {
    test.setTimeout(120_000)
    data = temporaryFolder('wire')
    wire = await startWire(join(data.path, 'unix.socket'), socket)
    server = await startServer(join(data.path, 'server'), { LXD_DIR: data.path, TRUST_PROXY: '1' })
    manager = await asAdministrator(server)
    cloudId = (await manager.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    who = await register(server.url, newName('wired'))
    const made = await withInstances(server.url, who, cloudId, ['wired'])
    client = made.client
    vm = made.made[0] as Vm
  })
  test.afterAll(async () => {
    wire.letGo()
    await wire.mend()
    await client.call(vms.delete, { params: { id: vm.id } })
    await until(async () => (await client.call(vms.list)).total === 0, 'the instance to be gone', 60_000)
    await server.stop()
    await wire.cut()
    data.remove()
  })

  test('that is cut: pages say so, show what they know, refuse in words; mended, it is over', async ({ page, context, trouble }) => {
    test.setTimeout(180_000)
    trouble.expect(/^502 /)
    /** Both look at their clouds now, not at their next round. */
    const look = async () => {
      await manager.call(clouds.action, { params: { id: cloudId }, body: { action: 'refresh' } })
      await page.clock.fastForward(31_000)
    }
    const notice = page.getByRole('alert').filter({ hasText: '暂时连接不上云平台“本机”' })
    const refusal = page.getByText('无法连接云平台，请检查地址和网络')
    const row = page.getByRole('row').filter({ hasText: 'wired' })
    await signIn(context, who, server.url)
    await page.clock.install()
    await page.goto(`${server.url}/nextStack/vm`)
    await expect(row).toContainText('运行中')
    await expect(notice).toHaveCount(0)

    await wire.cut()
    await look()
    await expect(notice).toBeVisible()
    await expect(row).toContainText('运行中')

    await test.step('nothing can be made there', async () => {
      // What it had to offer is remembered for a few seconds.
      const offers = { query: { cloud_id: cloudId } }
      await until(() => client.call(images.list, offers).then(() => false, () => true), 'what it offered to be forgotten')
      await button(page, '创建云主机').click()
      await expect(notice).toBeVisible()
      await expect(refusal.first()).toBeVisible()
      await page.goBack()
    })

    await test.step('an instance shows what is known of it', async () => {
      await row.getByRole('link', { name: 'wired' }).click()
      await expect(page.getByRole('heading', { name: 'wired' })).toBeVisible()
      await expect(notice).toBeVisible()
      await expect(page.getByRole('tabpanel', { name: '概览' })).toContainText('nano')
      await page.getByRole('tab', { name: '控制台日志' }).click()
      await expect(refusal).toBeVisible()
      await page.getByRole('tab', { name: '终端' }).click()
      await expect(page.getByRole('tabpanel', { name: '终端' })).toContainText('无法连接云平台，请检查地址和网络')
    })

    await test.step('what is asked of it fails, and says why', async () => {
      await page.getByRole('tab', { name: '操作记录' }).click()
      await button(page, '关机').click()
      await button(page.getByRole('dialog'), '关机').click()
      await expect(page.getByText('关机中').first()).toBeVisible()
      await expect(page.getByText('最近一次操作失败')).toBeVisible({ timeout: 90_000 })
      await expect(page.getByRole('alert').filter({ hasText: '最近一次操作失败' })).toContainText('无法连接云平台')
      await expect(page.getByRole('row', { name: /关机.*失败/ })).toBeVisible()
    })

    await test.step('mended', async () => {
      await wire.mend()
      await look()
      await expect(notice).toBeHidden()
      await expect(page.getByText('运行中').first()).toBeVisible()
      await page.getByRole('tab', { name: '控制台日志' }).click()
      await expect(page.getByRole('tabpanel', { name: '控制台日志' })).toContainText(/自动刷新|没有输出/)
      await button(page, '关机').click()
      await button(page.getByRole('dialog'), '关机').click()
      await expect(page.getByText('已关机').first()).toBeVisible({ timeout: 60_000 })
      await expect(page.getByText('最近一次操作失败')).toBeHidden()
    })
  })

  test('that is slow: an operation shows how far it is, and a reload finds it there', async ({ page, context }) => {
    test.setTimeout(90_000)
    const status = async () => (await client.call(vms.get, { params: { id: vm.id } })).status
    if ((await status()) === 'stopped') await client.call(vms.start, { params: { id: vm.id } })
    await until(async () => (await status()) === 'running', 'the instance to run')
    await signIn(context, who, server.url)
    await page.goto(`${server.url}/nextStack/vm/detail/${vm.id}?tab=operations`)
    await expect(button(page, '关机')).toBeVisible()
    const running = page.getByRole('row', { name: /重启.*执行中/ })
    wire.hold()
    try {
      await button(page, '重启').click()
      await button(page.getByRole('dialog'), '重启').click()
      await expect(running).toContainText('正在：停止')
      await expect(running).toContainText('0 / 2 步')
      await page.reload()
      await expect(running).toContainText('正在：停止')
      await expect(page.getByText('重启中').first()).toBeVisible()
      // Nothing else can be done meanwhile, and it says why.
      await button(page, '关机').hover()
      await expect(page.getByRole('tooltip')).toContainText('重启中，请等待完成')
    } finally {
      wire.letGo()
    }
    await expect(page.getByRole('row', { name: /重启.*成功/ })).toContainText('2 / 2 步', { timeout: 60_000 })
    await expect(page.getByText('运行中').first()).toBeVisible()
  })
})
