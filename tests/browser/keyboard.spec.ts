import type { Locator, Page } from '@playwright/test'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, networks, vms } from '@zhisuan/contract/nextstack/vm'
import { administratorPassword, Client, until } from '../support/server.ts'
import { dialog, visit } from './console.ts'
import { focused, unseenStops } from './focus.ts'
import { newName, register, someAddress } from './people.ts'
import { someAtATime, pagesFor } from './routeTable.ts'
import type { Account } from './stage.ts'
import { field } from './forms.ts'
import { expect, signIn, stage, test, toast } from './test.ts'

/** Goes on by the Tab key, or back, until something has the focus. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let stops = 0; stops < 80; stops++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press(key)
    passed.push(await focused(page))
  }
  throw new Error(`${key} never came to ${String(target)}; it passed ${passed.join(', ')}`)
}

/** Goes there and presses a key. */
async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

/** Opens a menu and goes down to one of its entries; an open menu has the focus. */
async function openMenu(page: Page, opener: Locator, entry: Locator): Promise<void> {
  await press(page, opener)
  await expect(page.locator('[role=menuitem]:focus')).toHaveCount(1)
  for (let down = 0; down < 12; down++) {
    // An entry that leads somewhere has a link in it, which then has the focus.
    if (await entry.evaluate((element) => element.contains(document.activeElement))) return
    const former = await focused(page)
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).not.toBe(former)
  }
  throw new Error(`ArrowDown never came to ${String(entry)}`)
}

const button = (within: Page | Locator, name: string | RegExp) => within.getByRole('button', { name, exact: true })
const main = (page: Page) => page.getByRole('main')

test.describe.configure({ mode: 'parallel' })

let person: Account
let vmId: string
let otherCloud: string

const names = ['键盘-1', '键盘-2', '键盘-3']

/** Somebody with three instances, and a second cloud to switch to. */
test.beforeAll(async () => {
  const { url, cloudId } = stage()
  const administrator = new Client(url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  otherCloud = newName('第二朵云')
  await administrator.call(clouds.create, { body: { name: otherCloud, description: '', product: 'nextstack', labels: [], connection: { type: 'sandbox' } } })

  person = await register(url, newName('keyboard'))
  const client = new Client(url, someAddress())
  await client.signIn(person.username, person.password)
  const [image] = (await client.call(images.list, { query: { cloud_id: cloudId, type: 'container' } })).items
  const [network] = (await client.call(networks.list, { query: { cloud_id: cloudId } })).items
  const [flavor] = (await client.call(flavors.list)).items
  const { items } = await client.call(vms.create, {
    body: {
      cloud_id: cloudId,
      name: '键盘',
      count: 3,
      type: 'container',
      image_fingerprint: image?.fingerprint,
      network: network?.name,
      flavor_id: flavor?.id,
      password: person.password,
    },
  })
  vmId = items[0]?.id ?? ''
  await until(async () => (await client.call(vms.list, { query: { status: 'running' } })).total === 3, 'the instances to run')
})

test.afterAll(async () => {
  const administrator = new Client(stage().url, someAddress())
  await administrator.signIn('admin', administratorPassword)
  const { clouds: all } = await administrator.call(clouds.list)
  const id = all.find(({ name }) => name === otherCloud)?.cloud_id ?? ''
  await administrator.call(clouds.delete, { params: { id }, query: { force: 'true' } })
})

test('signing in', async ({ page, trouble }) => {
  trouble.expect(/^401 POST \/api\/ums\/v1\/auth\/password\/tokens/)
  await page.goto('/login')
  await expect(field(page, '用户名、手机号或邮箱')).toBeFocused()

  await page.keyboard.press('Enter')
  await expect(field(page, '用户名、手机号或邮箱')).toHaveAccessibleDescription('用户名不能为空')
  await expect(field(page, '用户名、手机号或邮箱')).toBeFocused()

  await page.keyboard.type(person.username)
  await press(page, field(page, '密码'), 'a')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert').filter({ hasText: '用户名或密码' })).toBeVisible()
  await expect(field(page, '密码')).toBeFocused()
  await expect(field(page, '用户名、手机号或邮箱')).toHaveValue(person.username)

  await press(page, button(page, '显示密码'), 'Space')
  await expect(field(page, '密码')).toHaveAttribute('type', 'text')
  await tabTo(page, page.getByRole('tab', { name: '密码登录' }), 'Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: '验证码登录' })).toBeFocused()
  await expect(field(page, '手机号')).toBeVisible()
  await page.keyboard.press('ArrowLeft')
  await expect(field(page, '用户名、手机号或邮箱')).toHaveValue(person.username)

  await tabTo(page, field(page, '密码'))
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(person.password)
  await press(page, button(page, '登录'))
  await expect(page).toHaveURL(/\/nextStack\/vm$/)
})

test.describe('in the console', () => {
  test.beforeEach(async ({ context }) => signIn(context, person))

  test('past what is on every page', async ({ page }) => {
    await page.goto('/nextStack/vm')
    await expect(page.getByRole('link', { name: names[0] ?? '' })).toBeVisible()
    await page.keyboard.press('Tab')
    await expect(page.getByRole('link', { name: '跳到主要内容' })).toBeFocused()
    await expect(page.getByRole('link', { name: '跳到主要内容' })).toBeInViewport()
    await page.keyboard.press('Enter')
    await expect(main(page)).toBeFocused()
    await page.keyboard.press('Tab')
    expect(await main(page).evaluate((element) => element.contains(document.activeElement))).toBe(true)

    // A page that is opened takes the reader to its heading.
    await press(page, page.getByRole('link', { name: names[0] ?? '' }))
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
    await expect(page.getByRole('heading', { level: 1 })).toContainText(names[0] ?? '')
  })

  test('the product drawer', async ({ page }) => {
    await page.goto('/userMsg')
    await expect(page.getByRole('heading', { name: '个人中心' })).toBeVisible()
    const products = button(page, '产品')
    await press(page, products)
    const search = dialog(page).getByRole('textbox')
    await expect(search).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(dialog(page)).toHaveCount(0)
    await expect(products).toBeFocused()

    await page.keyboard.press('Space')
    await expect(search).toBeFocused()
    await press(page, dialog(page).getByRole('link', { name: '云主机', exact: true }))
    await expect(page).toHaveURL(/\/nextStack\/vm$/)
    await expect(dialog(page)).toHaveCount(0)
    await expect(page.getByRole('heading', { name: '云主机' })).toBeFocused()

    await press(page, products)
    await expect(search).toBeFocused()
    await page.keyboard.type('云主机')
    await page.keyboard.press('Enter')
    await expect(dialog(page)).toHaveCount(0)
    await press(page, products)
    // What was searched for is offered again.
    await press(page, dialog(page).getByRole('button', { name: '云主机', exact: true }))
    await expect(search).toHaveValue('云主机')
  })

  test('the cloud switcher and the account menu', async ({ page }) => {
    await page.goto('/nextStack/vm')
    const switcher = page.getByRole('button', { name: /^切换云平台/ })
    await press(page, switcher)
    await expect(page.getByRole('menuitem').first()).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('menu')).toHaveCount(0)
    await expect(switcher).toBeFocused()

    await openMenu(page, switcher, page.getByRole('menuitem', { name: otherCloud }))
    await page.keyboard.press('Enter')
    await expect(page.getByText(`“${otherCloud}”上还没有云主机`)).toBeVisible()
    await expect(switcher).toContainText(otherCloud)
    await expect(switcher).toBeFocused()

    const account = page.getByRole('button', { name: /的账号菜单$/ })
    await openMenu(page, account, page.getByRole('menuitem', { name: '个人中心' }))
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/userMsg$/)
    await openMenu(page, account, page.getByRole('menuitem', { name: '退出登录' }))
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/login$/)
  })

  test('the list: filters, columns, order, selection, and a batch of actions', async ({ page }) => {
    await page.goto('/nextStack/vm')
    const rows = page.getByRole('row', { name: /键盘-/ })
    await expect(rows).toHaveCount(3)

    await test.step('filters', async () => {
      await press(page, page.getByRole('combobox', { name: '状态' }))
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(/status=running/)
      await expect(rows).toHaveCount(3)
      await tabTo(page, page.getByRole('combobox', { name: /名称/ }))
      await page.keyboard.type('键盘-2')
      await page.keyboard.press('Enter')
      await expect(rows).toHaveCount(1)
      await press(page, button(page, '清除筛选'))
      await expect(rows).toHaveCount(3)
      await expect(page).toHaveURL(/\/nextStack\/vm$/)
    })

    await test.step('columns', async () => {
      await press(page, button(page, '列设置'))
      const creator = page.getByRole('checkbox', { name: '创建人' })
      await press(page, creator, 'Space')
      await expect(page.getByRole('columnheader', { name: '创建人' })).toBeVisible()
      await page.keyboard.press('Space')
      await expect(page.getByRole('columnheader', { name: '创建人' })).toHaveCount(0)
      await page.keyboard.press('Escape')
      await expect(creator).toBeHidden()
      await expect(button(page, '列设置')).toBeFocused()
    })

    await test.step('order', async () => {
      await press(page, page.getByRole('columnheader', { name: '名称' }))
      await expect(rows.first()).toContainText('键盘-1')
      await page.keyboard.press('Enter')
      await expect(rows.first()).toContainText('键盘-3')
    })

    await test.step('a batch', async () => {
      await press(page, page.getByRole('checkbox', { name: '选择键盘-3' }), 'Space')
      await press(page, page.getByRole('checkbox', { name: '选择键盘-2' }), 'Space')
      const batch = page.getByRole('region', { name: '批量操作' })
      await expect(batch).toContainText('已选 2 项')
      await tabTo(page, button(batch, '关机'), 'Shift+Tab')
      await page.keyboard.press('Enter')
      await expect(dialog(page)).toContainText('键盘-3、键盘-2')
      await press(page, button(dialog(page), '关机'))
      await expect(dialog(page)).toContainText('成功 2 项')
      await press(page, button(dialog(page), '完成'))
      await expect(dialog(page)).toHaveCount(0)
      await expect(batch).toHaveCount(0)
      await expect(page.getByRole('checkbox', { name: /^选择键盘-/, checked: true })).toHaveCount(0)
      expect(await focused(page), 'the focus').not.toBe('nothing')
      await expect(rows.filter({ hasText: '已关机' })).toHaveCount(2)
    })
  })

  test('an instance: its tabs, its actions, and out of its terminal', async ({ page }) => {
    await page.goto(`/nextStack/vm/detail/${vmId}`)
    const tab = (name: string) => page.getByRole('tab', { name, exact: true })
    await tabTo(page, tab('概览'))
    for (const name of ['监控', '云硬盘', '快照', '操作记录', '控制台日志']) {
      await page.keyboard.press('ArrowRight')
      await expect(tab(name)).toBeFocused()
      await page.keyboard.press('Enter')
      await expect(tab(name)).toHaveAttribute('aria-selected', 'true')
      await expect(page.getByRole('tabpanel', { name })).toBeVisible()
    }
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')

    await test.step('the terminal has the Tab key until told otherwise', async () => {
      await expect(page.getByText('已连接')).toBeVisible()
      const input = page.getByRole('textbox', { name: /的终端输入/ })
      await expect(input).toBeFocused()
      await expect(input).toHaveAccessibleName(/Ctrl\+Shift\+M/)
      await page.keyboard.type('ech')
      await page.keyboard.press('Tab')
      await expect(input).toBeFocused()
      await page.keyboard.press('Control+Shift+M')
      await expect(page.getByRole('status').filter({ hasText: 'Tab 键移动焦点' })).toBeVisible()
      await page.keyboard.press('Shift+Tab')
      await expect(button(page, '快捷键')).toBeFocused()
      await page.keyboard.press('Enter')
      await expect(page.getByText('切换 Tab 键')).toBeVisible()
      await page.keyboard.press('Escape')
      await tabTo(page, input)
      await page.keyboard.press('Control+Shift+M')
      await page.keyboard.press('Tab')
      await expect(input).toBeFocused()
      await page.keyboard.press('Control+Shift+M')
    })

    await test.step('a dialog has the focus, keeps it, and gives it back', async () => {
      const more = button(page, /^更多/)
      const edit = page.getByRole('menuitem', { name: '编辑' })
      await tabTo(page, more, 'Shift+Tab')
      await openMenu(page, more, edit)
      await page.keyboard.press('Enter')
      const name = dialog(page).getByLabel('名称')
      await expect(name).toBeFocused()
      for (let stops = 0; stops < 12; stops++) {
        await page.keyboard.press(stops < 6 ? 'Tab' : 'Shift+Tab')
        // At its end the focus is the browser's own for a moment, never the page's.
        expect(
          await dialog(page).evaluate((element) => element.contains(document.activeElement) || document.activeElement === document.body),
          await focused(page),
        ).toBe(true)
      }
      await page.keyboard.press('Escape')
      await expect(dialog(page)).toHaveCount(0)
      await expect(more).toBeFocused()

      await openMenu(page, more, edit)
      await page.keyboard.press('Enter')
      await expect(name).toBeFocused()
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.press('Delete')
      await page.keyboard.press('Enter')
      await expect(name).toHaveAccessibleDescription(/不能为空|请输入/)
      await page.keyboard.type('键盘-一')
      await page.keyboard.press('Enter')
      await expect(toast(page, /./)).toBeVisible()
      await expect(page.getByRole('heading', { level: 1 })).toContainText('键盘-一')
      await expect(more).toBeFocused()
    })
  })

  test('creating an instance, from the first field to the last button', async ({ page }) => {
    await page.goto('/nextStack/vm/add')
    await expect(page.getByRole('radio', { name: 'nano' })).toBeVisible()
    await press(page, page.getByRole('combobox', { name: '云平台' }))
    await page.keyboard.press('Escape')
    const types = page.getByRole('radiogroup', { name: '类型' })
    await press(page, types.getByRole('radio', { checked: true }), 'ArrowDown')
    await expect(types.getByRole('radio', { name: /^轻量实例/ })).toBeChecked()
    await press(page, page.getByRole('radio', { name: 'debian-12' }), 'ArrowDown')
    await expect(page.getByRole('radio', { name: 'ubuntu-24.04' })).toBeChecked()
    await press(page, page.getByRole('radio', { name: 'nano' }), 'Space')
    await page.keyboard.press('ArrowDown')
    await expect(page.getByRole('radio', { name: 'micro' })).toBeChecked()

    const disk = page.getByRole('slider', { name: '系统盘' })
    await tabTo(page, disk)
    const before = Number(await disk.getAttribute('aria-valuenow'))
    await page.keyboard.press('ArrowRight')
    await expect(disk).toHaveAttribute('aria-valuenow', String(before + 1))
    await tabTo(page, page.getByRole('spinbutton', { name: '系统盘' }))
    await page.keyboard.press('ArrowUp')
    await expect(disk).toHaveAttribute('aria-valuenow', String(before + 2))

    await press(page, page.getByRole('combobox', { name: '网络' }))
    await page.keyboard.press('Enter')

    // Refused: the first field that is wrong has the focus, and nothing typed is lost.
    await press(page, button(page, '立即创建'))
    const name = field(page, '名称')
    await expect(name).toBeFocused()
    await expect(name).toHaveAccessibleDescription(/请输入内容|不能为空/)
    await page.keyboard.type('键盘创建')
    await press(page, button(page, '立即创建'))
    const password = field(page, '登录密码')
    await expect(password).toBeFocused()
    await expect(name).toHaveValue('键盘创建')
    await page.keyboard.type('weak')
    await page.keyboard.press('Enter')
    await expect(password).toBeFocused()
    await expect(password).toHaveValue('weak')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('Root-of-it-1')
    await page.keyboard.press('Enter')
    await expect(toast(page, '“键盘创建”正在创建')).toBeVisible()
    await expect(page).toHaveURL(/\/nextStack\/vm$/)
    await expect(page.getByRole('row', { name: /键盘创建/ })).toBeVisible()
  })
})

test.describe('what has the focus is seen', () => {
  const open = async (page: Page, path: string): Promise<void> => {
    await visit(page, path)
    await expect(page.locator('h1').first()).toBeAttached()
    await expect(page.locator('.zs-placeholder, .ant-skeleton, .ant-spin-spinning, .zs-table[aria-busy=true]')).toHaveCount(0)
  }
  /** The whole round. Where a field has the focus from the beginning, it begins before that. */
  const look = async (page: Page, path: string, key?: 'Shift+Tab'): Promise<void> => {
    await open(page, path)
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    })
    expect.soft(await unseenStops(page, key), `${path}${key === undefined ? '' : ', backwards'}`).toEqual([])
  }
  /** What is the page's own: the bars around it are looked at once. */
  const lookInside = async (page: Page, path: string): Promise<void> => {
    await open(page, path)
    await page.locator('main').evaluate((element) => element.focus())
    expect.soft(await unseenStops(page, 'Tab', 'main'), path).toEqual([])
  }

  test('on public pages', async ({ page }) => {
    for (const path of pagesFor(['public'])) await look(page, path)
  })

  test('in the bars around every page', async ({ page, context }) => {
    await signIn(context, person)
    await look(page, '/nextStack/vm')
    await context.clearCookies()
    await signIn(context, 'admin')
    await look(page, '/nextStack/vm')
  })

  const everybodys = pagesFor(['public'])
  const tenants = pagesFor(['TENANT']).filter((path) => !everybodys.includes(path))
  for (const [group, paths] of someAtATime(tenants)) {
    test(`in the console: ${group}`, async ({ page, context }) => {
      await signIn(context, person)
      for (const path of paths) await lookInside(page, path)
    })
  }

  test('on an instance, in its tabs, and in an article', async ({ page, context }) => {
    await signIn(context, person)
    for (const tab of ['overview', 'metrics', 'operations', 'console']) await lookInside(page, `/nextStack/vm/detail/${vmId}?tab=${tab}`)
    await lookInside(page, '/help/helpCenter/terminal')
  })

  test('backwards too, below the bar that stays', async ({ page, context }) => {
    await signIn(context, person)
    for (const path of ['/nextStack/vm/add', '/userMsg', '/help/helpCenter/terminal']) await look(page, path, 'Shift+Tab')
  })

  for (const [group, paths] of someAtATime(pagesFor(['ADMIN']).filter((path) => !everybodys.includes(path) && !tenants.includes(path)))) {
    test(`on an administrator’s pages: ${group}`, async ({ page, context }) => {
      await signIn(context, 'admin')
      for (const path of paths) await lookInside(page, path)
    })
  }

  test('in a drawer', async ({ page, context }) => {
    await signIn(context, 'admin')
    await page.goto('/infrastructure/cloudy')
    await press(page, button(page, '登记云平台'))
    await expect(dialog(page)).toBeVisible()
    expect.soft(await unseenStops(page), 'the drawer').toEqual([])
  })
})
