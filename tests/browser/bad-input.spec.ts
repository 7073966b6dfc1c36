import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { administratorPassword, Client, until } from '../support/server.ts'
import { button } from './console.ts'
import { openAction, openClouds, openWizard, ownerOfTwo, withInstances } from './failing.ts'
import { field, fill, wrong } from './forms.ts'
import { newName, register, someAddress } from './people.ts'
import { password, type Account } from './stage.ts'
import { expect, signIn, stage, test } from './test.ts'

let owner: Account
let administrator: Client
test.beforeAll(async () => {
  owner = await ownerOfTwo()
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
    const typed = { 名称: '有 空格', 描述: '说明\u0007', 登录密码: 'weak', 'SSH 公钥': 'not a key', 数量: '51' }
    await fill(page, typed)
    const disk = page.getByRole('spinbutton', { name: '系统盘' })
    await disk.fill('1')
    await create.click()
    await expect(wrong(page, '名称')).toHaveText('只能包含中文、字母、数字、下划线、连字符、点和@')
    await expect(wrong(page, '描述')).toHaveText('不能包含控制字符')
    await expect(wrong(page, '登录密码')).toHaveText(/密码长度为8到64个字符/)
    // What is wrong stands in the place of the hint, which says the same.
    await expect(page.getByText('8 到 64 个字符，至少包含')).toBeHidden()
    await expect(wrong(page, 'SSH 公钥')).toHaveText(/请输入OpenSSH格式的公钥/)
    await expect(page.locator('.ant-form-item-explain-error').filter({ hasText: /^不能小于规格要求的/ })).toBeVisible()
    for (const label of ['名称', '描述', '登录密码', 'SSH 公钥'] as const) await expect(field(page, label)).toHaveValue(typed[label])
    await expect(disk).toHaveValue('1')
    await expect(wrong(page, '数量')).toHaveText('数量为1到50')
    await expect(field(page, '数量')).toHaveValue('51')

    await fill(page, { 名称: 'third', 描述: '', 登录密码: '', 'SSH 公钥': '', 数量: '1' })
    await disk.fill('20')
    await create.click()
    await expect(wrong(page, '登录密码')).toHaveText('请设置登录密码、SSH公钥或自定义数据中的至少一项')
    await expect(field(page, '登录密码')).toBeFocused()
    await fill(page, { 名称: 'first', 登录密码: password })
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
      await fill(one, { 名称: name, 登录密码: password })
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
    await fill(dialog, { 名称: 'second', 描述: '换个名字' })
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
    await fill(dialog, { 登录密码: 'weak', 'SSH 公钥': 'not a key' })
    await go.click()
    await expect(wrong(dialog, '登录密码')).toHaveText(/密码长度为8到64个字符/)
    await expect(wrong(dialog, 'SSH 公钥')).toHaveText(/请输入OpenSSH格式的公钥/)
    await fill(dialog, { 登录密码: password, 'SSH 公钥': '' })
    // The image goes away between the choice and the click.
    await page.route('**/rebuild', (route) =>
      route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), image_fingerprint: '0'.repeat(64) }) }),
    )
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
      await fill(drawer, { 地址: 'http://10.0.0.1:8443', '客户端证书（PEM）': 'nonsense', '项目（可选）': '有 空格' })
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
        await fill(edit, { 名称: first?.name ?? '', 描述: '改名' })
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
    await fill(profile, { 昵称: '响\u0007铃', 备注: '换\u0000行' })
    await button(profile, '保存').click()
    await expect(wrong(profile, '昵称')).toHaveText('不能包含控制字符')
    await expect(wrong(profile, '备注')).toHaveText('不能包含控制字符')
    await expect(field(profile, '昵称')).toHaveValue('响\u0007铃')
    // A server that is stricter than this page: its word stands at the field too.
    await fill(profile, { 昵称: '小明', 备注: '说明' })
    await page.route('**/users/current', (route) =>
      route.request().method() === 'PUT' ? route.continue({ postData: JSON.stringify({ nickname: '字'.repeat(65), description: '说明' }) }) : route.continue(),
    )
    await button(profile, '保存').click()
    await expect(wrong(profile, '昵称')).toHaveText('内容长度不能超过64个字符')
    await expect(field(profile, '昵称')).toHaveValue('小明')

    await page.unrouteAll()
    await page.evaluate(() => addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true }))
    await context.clearCookies()
    await page.goto('/messageBoard')
    await fill(page, { 称呼: '有 空格', 手机号: '123', 验证码: 'abc', 留言内容: '响\u0007铃' })
    await button(page, '提交留言').click()
    await expect(wrong(page, '称呼')).toHaveText('只能包含中文、字母、数字、下划线、连字符、点和@')
    await expect(wrong(page, '手机号')).toHaveText('请输入正确的手机号')
    await expect(wrong(page, '验证码')).toHaveText('验证码为6位数字')
    await expect(wrong(page, '留言内容')).toHaveText('不能包含控制字符')
    await expect(field(page, '留言内容')).toHaveValue('响\u0007铃')
  })
})
