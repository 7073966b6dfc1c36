import { verification } from '@zhisuan/contract/ums/auth'
import { consultations } from '@zhisuan/contract/ums/consultation'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { somePhone, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { codeSentTo } from '../../../testing/inbox.ts'
import { someone } from '../../../testing/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

async function visitor() {
  const phone = somePhone()
  await call(app, verification.consultationSms, { params: { phone } })
  return { phone, code: await codeSentTo(app, phone), name: '张三' }
}

describe('the message board', () => {
  it('takes a message of anybody whose phone it is, and shows it to administrators', async () => {
    const who = await visitor()
    const { id } = await call(app, consultations.leave, { body: { ...who, content: '  需要 8 张 A100，怎么收费？ ' } })
    const admin = await someone(app, { kind: 1 })
    const list = await call(app, consultations.list, { token: admin.token, query: {} })
    expect(list.items[0]).toEqual({ id, name: '张三', phone: who.phone, content: '需要 8 张 A100，怎么收费？', created_at: expect.any(String) })
    for (const keyword of ['A100', '张三', who.phone.slice(3)]) {
      expect((await call(app, consultations.list, { token: admin.token, query: { keyword } })).items.map((item) => item.id)).toEqual([id])
    }
    expect((await call(app, consultations.list, { token: admin.token, query: { keyword: '没有' } })).total).toBe(0)
  })

  it('takes one message for a code, also when several come at once', async () => {
    const who = await visitor()
    const answers = await Promise.all([1, 2, 3].map((n) => send(app, consultations.leave, { body: { ...who, content: `${n}` } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.body).toMatchObject({ code: 1121 })
  })

  it('says what is wrong with a message', async () => {
    const who = await visitor()
    expect(await refused(app, consultations.leave, { body: { ...who, content: ' ' } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'content', message: '请输入留言内容' }],
    })
    expect(await refused(app, consultations.leave, { body: { ...who, content: 'x'.repeat(1001) } })).toMatchObject({
      fields: [{ field: 'content', message: '留言不能超过1000个字符' }],
    })
    expect((await refused(app, consultations.leave, { body: { ...who, code: '000000', content: 'x' } })).code).toBe(who.code === '000000' ? 0 : 1121)
  })

  it('is read by administrators only', async () => {
    const tenant = await someone(app)
    expect(await refused(app, consultations.list, { token: tenant.token })).toMatchObject({ status: 403, code: 3000 })
  })
})
