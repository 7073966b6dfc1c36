import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { images, vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { configs, licences } from '@zhisuan/contract/sys/sys'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { administratorPassword, asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'
import { button } from './console.ts'
import { offline, openAction, ownerOfTwo, withInstances } from './failing.ts'
import { field, fill } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { begin, type Account } from './stage.ts'
import { expect, signIn, stage, test, toast } from './test.ts'
import { watchTraffic } from './traffic.ts'
import { startWire, type Wire } from './wire.ts'

let owner: Account
let administrator: Client
test.beforeAll(async () => {
  owner = await ownerOfTwo()
  administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
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
    await expect(page.locator('.frame-toast-error')).toHaveCount(1)
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

  test('when a page is opened for the first time: says so there, and goes on when asked to', async ({ page, context, trouble }) => {
    trouble.expect(/dynamically imported module|preload CSS/)
    await administrator.call(configs.set, { body: { key: 'support_phone', value: '400 800 1234' } })
    await signIn(context, owner)
    await page.goto('/nextStack/vm')
    await expect(page.getByRole('row').filter({ hasText: 'first' })).toBeVisible()
    const since = await page.evaluate(() => performance.timeOrigin)
    await page.route('**/*', (route) => route.abort('connectionrefused'))
    await page.getByRole('link', { name: '安全组', exact: true }).click()
    const panel = page.getByRole('alert').filter({ hasText: '页面需要重新加载' })
    await expect(panel).toBeVisible()
    await expect(panel).toContainText('请拨打客服电话 400 800 1234')
    await administrator.call(configs.reset, { query: { key: 'support_phone' } })
    await button(panel, '重新加载').click()
    await expect(toast(page, offline)).toBeVisible()
    // The browser's own page would have taken its place.
    expect(await page.evaluate(() => performance.timeOrigin)).toBe(since)
    await page.unrouteAll()
    await button(panel, '重新加载').click()
    await expect(page.getByRole('heading', { level: 1, name: '安全组' })).toBeVisible()
  })

  test('stopped and started: what is shown stays, what is typed stays, and all goes on without a reload', async ({ page, context, browser, trouble }) => {
    // What is asked of a server that is stopping.
    trouble.expect(/^503 GET /)
    const data = temporaryFolder('restarted')
    const path = begin(join(data.path, 'server'))
    const start = (port: number) => startServer(path, { LOCAL_CLOUD: 'sandbox', TRUST_PROXY: '1', PORT: String(port) })
    let server = await start(0)
    try {
      const [cloud] = (await (await asAdministrator(server)).call(clouds.list)).clouds
      const who = await register(server.url, newName('stays'))
      const { made } = await withInstances(server.url, who, cloud?.cloud_id ?? '', ['kept'])
      await signIn(context, who, server.url)
      await page.goto(`${server.url}/nextStack/vm`)
      const row = page.getByRole('row').filter({ hasText: 'kept' })
      const dialog = await openAction(page, 'kept', '编辑')
      await fill(dialog, { 名称: 'kept-2', 描述: '停机前写的' })
      const elsewhere = await browser.newContext()
      await signIn(elsewhere, who, server.url)
      const detail = await elsewhere.newPage()
      await detail.goto(`${server.url}/nextStack/vm/detail/${made[0]?.id}`)
      await expect(detail.getByRole('heading', { name: 'kept' })).toBeVisible()
      const since = await page.evaluate(() => performance.timeOrigin)

      await server.stop()
      await expect(page.getByText(/刷新失败，数据截至/)).toBeVisible()
      await expect(row).toContainText('运行中')
      await expect(detail.getByText('刷新失败，显示的是之前的内容')).toBeVisible()
      await expect(detail.getByRole('heading', { name: 'kept' })).toBeVisible()
      await button(dialog, '保存').click()
      await expect(toast(page, offline)).toBeVisible()
      await expect(field(dialog, '名称')).toHaveValue('kept-2')
      await expect(field(dialog, '描述')).toHaveValue('停机前写的')

      server = await start(Number(new URL(server.url).port))
      await expect(page.getByText(/刷新失败，数据截至/)).toBeHidden()
      await expect(detail.getByText('刷新失败，显示的是之前的内容')).toBeHidden()
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
    data = temporaryFolder('wire')
    wire = await startWire(join(data.path, 'unix.socket'), socket)
    server = await startServer(begin(join(data.path, 'server')), { LXD_DIR: data.path, TRUST_PROXY: '1' })
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
      await until(
        () =>
          client.call(images.list, offers).then(
            () => false,
            () => true,
          ),
        'what it offered to be forgotten',
      )
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
      await expect(page.getByText('已关机').first()).toBeVisible()
      await expect(page.getByText('最近一次操作失败')).toBeHidden()
    })
  })

  test('that is slow: an operation shows how far it is, and a reload finds it there', async ({ page, context }) => {
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
    await expect(page.getByRole('row', { name: /重启.*成功/ })).toContainText('2 / 2 步')
    await expect(page.getByText('运行中').first()).toBeVisible()
  })
})
