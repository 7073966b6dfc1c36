import type { Role } from '@zhisuan/contract/roles'
import { ticketDesk } from '@zhisuan/contract/ticket/desk'
import { tickets } from '@zhisuan/contract/ticket/ticket'
import { users } from '@zhisuan/contract/ums/user'
import type { Page } from '@playwright/test'
import { administratorPassword, Client } from '../support/server.ts'
import { accessible, act, button, dialog, heading, more, pick, rowOf, savedBy, shot, visit } from './console.ts'
import { field, fill } from './forms.ts'
import { newName, someAddress } from './people.ts'
import { password, stage } from './stage.ts'
import { expect, signIn, test, toast } from './test.ts'

/** Somebody who answers, without an organisation. */
async function staff(role: Role): Promise<{ username: string; password: string }> {
  const { url } = stage()
  const admin = new Client(url, someAddress())
  await admin.signIn('admin', administratorPassword)
  const username = newName(role.toLowerCase().replace('copote_', ''))
  const { one_time_password } = await admin.call(users.create, { body: { username, roles: [role] } })
  const client = new Client(url, someAddress())
  await client.signIn(username, one_time_password)
  await client.call(users.changePassword, { body: { old_password: one_time_password, password } })
  return { username, password }
}

test('a work order goes from the page of a machine through a review to its rating', { tag: '@journey' }, async ({ page, context, browser }) => {
  const title = newName('磁盘满了')
  const [first, keeper] = [await staff('COPOTE_NORMAL'), await staff('COPOTE_ADMIN')]
  await signIn(context, 'tenant')

  await test.step('it is opened from the page of a machine, and what was typed survives a reload', async () => {
    await visit(page, `/nextStack/vm/detail/${stage().vmId}`)
    await more(page.locator('.frame-head-actions'), '提交工单')
    await expect(dialog(page)).toContainText('关联资源')
    await fill(dialog(page), { 标题: title, 问题描述: '还没写完' })
    await page.reload()
    await visit(page, `/nextStack/vm/detail/${stage().vmId}`)
    await more(page.locator('.frame-head-actions'), '提交工单')
    await expect(field(dialog(page), '标题')).toHaveValue(title)
    await expect(field(dialog(page), '问题描述')).toHaveValue('还没写完')
    await fill(dialog(page), { 问题描述: '<script>window.ran = true</script>\n\n[点我](javascript:alert(1)) **请扩容**' })
    await pick(dialog(page), '类型', '配额与权限')
    await fill(dialog(page), { 保密信息: 'Pa55-of-mine' })
    await dialog(page)
      .getByLabel('添加附件', { exact: true })
      .and(page.locator('input'))
      .setInputFiles({ name: '截图.txt', mimeType: 'text/plain', buffer: Buffer.from('df -h') })
    await expect(dialog(page).getByText('截图.txt')).toBeVisible()
    await accessible(page, 'the form of a work order')
    await shot(page, 'ticket-form')
    await button(dialog(page), '提交工单').click()
    await expect(heading(page, title)).toBeVisible()
    await expect(page.getByText('请扩容')).toBeVisible()
    expect(await page.evaluate(() => 'ran' in window)).toBe(false)
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
    await page.getByRole('textbox', { name: '回复' }).fill('还没写完')
    await page.reload()
    await expect(page.getByRole('textbox', { name: '回复' })).toHaveValue('还没写完')
    await page.getByRole('textbox', { name: '回复' }).fill('')
    await accessible(page, 'a work order')
    await shot(page, 'ticket-detail')
  })

  const desk = await browser.newContext()
  const theirs = await desk.newPage()
  await test.step('somebody takes it, reads what was told in confidence, and answers', async () => {
    await signIn(desk, first)
    await theirs.goto('/')
    await theirs.goto('/workOrderlist')
    await accessible(theirs, 'the desk')
    await shot(theirs, 'ticket-desk')
    await rowOf(theirs, title).getByRole('button', { name: '受理' }).click()
    await expect(toast(theirs, '工单由您处理')).toBeVisible()
    await rowOf(theirs, title).getByRole('link', { name: title }).click()
    await act(theirs, '查看保密信息')
    await button(dialog(theirs), '查看保密信息').click()
    await expect(theirs.getByText('Pa55-of-mine')).toBeVisible()
    const saved = await savedBy(theirs, () => theirs.getByRole('button', { name: /截图\.txt/ }).click())
    expect(saved.content.toString()).toBe('df -h')
    await theirs.getByRole('textbox', { name: '回复内容' }).fill('给配额管理员：可以扩到 200 GB')
    await button(theirs, '保存备注').click()
    await expect(theirs.getByText('内部备注')).toBeVisible()
    await expect(theirs.getByRole('textbox', { name: '回复内容' })).toHaveValue('')
    await theirs.getByRole('textbox', { name: '回复内容' }).fill('已扩到 200 GB，请确认。')
    await button(theirs, '给出结果并送审').click()
    await expect(theirs.getByText('处理结果等待审核', { exact: false }).first()).toBeVisible()
    await accessible(theirs, 'a work order at the desk')
    await shot(theirs, 'ticket-desk-detail')
    await desk.close()
  })

  await test.step('it is asked about meanwhile, and shows nothing of what they said among themselves', async () => {
    await page.reload()
    await expect(page.getByText('处理结果正在审核', { exact: false })).toBeVisible()
    await expect(page.getByText('查看了保密信息')).toBeVisible()
    await expect(page.getByText('200 GB')).toHaveCount(0)
    await act(page, '催办')
    await expect(toast(page, '已提醒处理人员')).toBeVisible()
  })

  await test.step('another lets the answer out, and sees how the desk stands', async () => {
    const keeping = await browser.newContext()
    const mine = await keeping.newPage()
    await signIn(keeping, keeper)
    await mine.goto('/workOrderCenter')
    await accessible(mine, 'the board')
    await shot(mine, 'ticket-board')
    await mine.getByRole('link', { name: new RegExp(title) }).click()
    await act(mine, '审核通过')
    await button(dialog(mine), '审核通过').click()
    await expect(toast(mine, '处理结果已发给提交人')).toBeVisible()
    for (const [tab, name] of [
      ['统计', 'figures'],
      ['处理组', 'groups'],
      ['常用回复', 'canned'],
      ['服务时间', 'hours'],
    ] as const) {
      await mine.goto('/workOrderCenter')
      await mine.getByRole('tab', { name: tab }).click()
      if (name === 'groups') {
        await button(mine, '新建处理组').first().click()
        await fill(dialog(mine), { 名称: newName('存储组') })
        await button(dialog(mine), '保存').click()
        await expect(toast(mine, '处理组已保存')).toBeVisible()
      }
      await expect(mine.locator('.ant-skeleton')).toHaveCount(0)
      await accessible(mine, name)
      await shot(mine, `ticket-${name}`)
    }
    await keeping.close()
  })

  await test.step('it is confirmed and rated, and what was told in confidence is gone', async () => {
    await page.reload()
    await expect(page.getByText('已扩到 200 GB')).toBeVisible()
    await act(page, '确认解决')
    await expect(toast(page, '工单已完成')).toBeVisible()
    await act(page, '评价')
    await field(dialog(page), '说说原因（选填）').fill('很快')
    await button(dialog(page), '评价').click()
    await expect(page.getByText('5 分 很快')).toBeVisible()
    await expect(page.getByRole('textbox', { name: '回复' })).toHaveCount(0)
    await page.getByRole('link', { name: '工单', exact: true }).click()
    await expect(rowOf(page, title)).toContainText('已完成')
    await accessible(page, 'work orders')
    await shot(page, 'ticket-list')
  })
})

test('nothing that somebody writes into a work order runs anywhere', async ({ page, context, browser }) => {
  const { url, tenant } = stage()
  const asker = new Client(url, someAddress())
  await asker.signIn(tenant.username, tenant.password)
  const title = newName('<img src=x onerror="ran(0)">')
  const hostile = [
    '<script>ran(1)</script>',
    '<img src=x onerror="ran(2)">',
    '<svg onload="ran(3)"><animate onbegin="ran(4)" attributeName="x"/></svg>',
    '<iframe src="javascript:parent.ran(5)" srcdoc="<script>parent.ran(6)</script>"></iframe>',
    '<style>* { display: none !important }</style><link rel="stylesheet" href="/ran-7.css">',
    '[a](javascript:ran(8)) [b](JaVaScRiPt:ran(9)) [c](java\tscript:ran(10)) [d](data:text/html,<script>ran(11)</script>) [e](vbscript:ran(12))',
    '<a href="javascript:ran(13)">f</a> <javascript:ran(14)> [g]: javascript:ran(15)\n\n[g][g]',
    '![h](/ran-16.png) ![i](javascript:ran(17)) ![j](https://elsewhere.invalid/ran-18.png)',
    '<form action="/ran-19"><button formaction="javascript:ran(20)">k</button></form>',
    '<math><mtext><table><mglyph><style><img src=x onerror="ran(21)"></style></mglyph></table></mtext></math>',
    '[l](//elsewhere.invalid/m) [n](https://example.com/"onmouseover="ran(22)) [safe](https://example.com/safe)',
    '`<script>ran(23)</script>` ${ran(24)} {{constructor.constructor("ran(25)")()}}',
  ].join('\n\n')
  const { id } = await asker.call(tickets.create, { body: { title, type: 'question', text: hostile } })
  const first = await staff('COPOTE_NORMAL')
  const helper = new Client(url, someAddress())
  await helper.signIn(first.username, first.password)
  await helper.call(ticketDesk.answer, { params: { id }, body: { text: hostile, next: 'stay' } })

  const looking = async (by: Page, address: string): Promise<void> => {
    const asked: string[] = []
    by.on('request', (request) => asked.push(request.url()))
    by.on('dialog', () => asked.push('a dialog'))
    await by.addInitScript(() => {
      const ran: number[] = []
      Object.assign(window, { ran: (which: number) => ran.push(which), allRan: () => ran })
    })
    const answer = await by.goto(address)
    const policy = answer?.headers()['content-security-policy'] ?? ''
    expect(policy).toMatch(/script-src [^;]*'self'/)
    expect(policy).not.toMatch(/script-src[^;]*'unsafe-(?:inline|eval)'/)
    const thread = by.getByRole('list', { name: '沟通记录' })
    await expect(thread.getByRole('link', { name: 'safe' })).toHaveCount(2)
    // All of it is text.
    expect(await thread.locator('script, img, svg, iframe, style, link, form, math, object, embed, base, meta').count()).toBe(0)
    const links = await thread.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    expect(links.filter((href) => !/^https?:\/\//.test(href))).toEqual([])
    expect(await thread.locator('a:not([rel~=noopener])').count()).toBe(0)
    expect(await thread.locator('*').evaluateAll((all) => all.flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on'))))).toEqual([])
    // Whoever presses all that can be pressed in it starts nothing either.
    for (const button of await thread.getByRole('button').all()) await button.click()
    expect(await by.evaluate(() => (window as unknown as { allRan: () => number[] }).allRan())).toEqual([])
    expect(asked.filter((one) => one === 'a dialog' || one.includes('ran-') || one.includes('elsewhere'))).toEqual([])
  }
  await signIn(context, 'tenant')
  await looking(page, `/tickets/${id}`)
  await shot(page, 'ticket-hostile')
  const desk = await browser.newContext()
  await signIn(desk, first)
  await looking(await desk.newPage(), `${url}/workOrderlist/${id}`)
  await desk.close()
})
