import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { projects } from '@zhisuan/contract/issue/project'
import { configs } from '@zhisuan/contract/sys/sys'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { somePhone, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { codeSentTo } from '../../../testing/inbox.ts'
import { makeUser, password, signIn, someone } from '../../../testing/people.ts'

let app: TestApp
let admin: { token: string }
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

/** A phone with a code for it. */
async function applicant(): Promise<{ phone: string; code: string }> {
  const phone = somePhone()
  await call(app, verification.registrationSms, { params: { phone } })
  return { phone, code: await codeSentTo(app, phone) }
}
const someName = (): string => `r-${randomUUID()}`
const setMode = (value: string) => call(app, configs.set, { token: admin.token, body: { key: 'register_mode', value } })
const rowsOf = async () => {
  const { rows } = await app.platform.database.pool.query<{ n: number }>(
    'select (select count(*) from users) + (select count(*) from organisations) + (select count(*) from projects) + (select count(*) from accounts) as n',
  )
  return Number(rows[0]?.n)
}

describe('registering', () => {
  it('makes a person with an organisation, a project and an account of their own', async () => {
    const who = await applicant()
    const username = someName()
    const made = await call(app, auth.register, { body: { username, ...who, password } })
    expect(made.status).toBe('active')
    const { token } = await signIn(app, { name: username, password })
    const me = await call(app, users.current, { token })
    expect(me).toMatchObject({ id: made.id, kind: 3, permissions: [{ role: 'TENANT' }], phone: who.phone, bp_name: username, must_change_password: false })
    expect((await call(app, organisations.list, { token, query: {} })).items).toMatchObject([
      { id: me.bp_id, name: username, kind: 'personal', status: 'active', user_count: 1 },
    ])
    expect((await call(app, projects.list, { token, query: {} })).items).toMatchObject([{ key: 'default', bp_id: me.bp_id }])
    expect(await call(app, accounts.get, { token, params: { id: me.bp_id ?? '' } })).toEqual({ id: me.bp_id, balance: '0.00' })
  })

  it('with a company’s name makes its administrator', async () => {
    const username = someName()
    const organisation = `公司-${randomUUID()}`
    await call(app, auth.register, { body: { username, ...(await applicant()), password, organisation } })
    const { token } = await signIn(app, { name: username, password })
    expect(await call(app, users.current, { token })).toMatchObject({ kind: 2, bp_name: organisation, permissions: [{ role: 'TENANT_ADMIN' }] })
    expect((await call(app, organisations.list, { token, query: {} })).items).toMatchObject([{ name: organisation, kind: 'company' }])
  })

  it('needs the code that was sent to that phone', async () => {
    const [one, other] = [await applicant(), await applicant()]
    const body = { username: someName(), phone: one.phone, code: other.code, password }
    if (one.code !== other.code) expect(await refused(app, auth.register, { body })).toMatchObject({ status: 400, code: 1121, fields: [{ field: 'code' }] })
    await call(app, auth.register, { body: { ...body, code: one.code } })
    expect((await refused(app, auth.register, { body: { ...body, code: one.code, username: someName() } })).code).toBe(1121)
  })

  it('checks every field', async () => {
    const answer = await refused(app, auth.register, { body: { username: 'a', phone: '1', code: '1', password: '1', organisation: 'a b' } })
    expect(answer).toMatchObject({ status: 400, code: 90001 })
    expect(answer.fields?.map(({ field }) => field)).toEqual(['username', 'phone', 'code', 'password', 'organisation'])
    for (const username of ['甲 乙', '<b>', "o'neill", 'x'.repeat(65), '']) {
      expect((await refused(app, auth.register, { body: { username, phone: somePhone(), code: '123456', password } })).fields?.[0]?.field).toBe('username')
    }
  })

  it('refuses a name, phone or company that is taken, with the field, and leaves nothing behind', async () => {
    const person = await makeUser(app)
    const organisation = `co-${randomUUID()}`
    await call(app, auth.register, { body: { username: someName(), ...(await applicant()), password, organisation } })
    const who = await applicant()
    const before = await rowsOf()
    const attempt = (body: object) => refused(app, auth.register, { body: { username: someName(), ...who, password, ...body } })
    expect(await attempt({ username: person.name.toUpperCase() })).toMatchObject({
      status: 400,
      code: 91002,
      fields: [{ field: 'username', message: '用户名已被使用' }],
    })
    expect(await attempt({ organisation: organisation.toUpperCase() })).toMatchObject({ status: 400, code: 91013, fields: [{ field: 'organisation' }] })
    // Registered by another way between the code and the form.
    await app.platform.db.updateTable('users').set({ phone: who.phone }).where('id', '=', person.id).execute()
    expect(await attempt({})).toMatchObject({ status: 400, code: 91003, fields: [{ field: 'phone' }] })
    expect(await rowsOf()).toBe(before)
    // The code was not spent on any of them.
    await app.platform.db.updateTable('users').set({ phone: somePhone() }).where('id', '=', person.id).execute()
    await call(app, auth.register, { body: { username: someName(), ...who, password } })
  })

  it('keeps people’s names and companies’ apart: each may be called as the other is', async () => {
    const [person, company] = [someName(), someName()]
    await call(app, auth.register, { body: { username: person, ...(await applicant()), password } })
    await call(app, auth.register, { body: { username: someName(), ...(await applicant()), password, organisation: company } })
    await call(app, auth.register, { body: { username: someName(), ...(await applicant()), password, organisation: person } })
    await call(app, auth.register, { body: { username: company, ...(await applicant()), password } })
    const both = someName()
    await call(app, auth.register, { body: { username: both, ...(await applicant()), password, organisation: both } })
    expect((await call(app, organisations.list, { token: admin.token, query: { keyword: company } })).items.map(({ kind }) => kind).sort()).toEqual([
      'company',
      'personal',
    ])
  })

  it('refuses a name that reads as somebody’s phone or mailbox: both sign in too', async () => {
    const who = await applicant()
    for (const username of ['13912345678', 'boss@example.com']) {
      expect(await refused(app, auth.register, { body: { username, ...who, password } })).toMatchObject({
        status: 400,
        code: 1111,
        fields: [{ field: 'username' }],
      })
    }
  })

  it('gives a name that several want at once to one of them', async () => {
    const username = someName()
    const applicants = []
    for (let n = 0; n < 6; n++) applicants.push(await applicant())
    const before = await rowsOf()
    const answers = await Promise.all(applicants.map((who) => send(app, auth.register, { body: { username, ...who, password } })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 201)) expect(answer).toMatchObject({ status: 400, body: { code: 91002 } })
    expect(await rowsOf()).toBe(before + 4)
  })

  it('does not run out of connections when many register at once', async () => {
    const applicants = []
    for (let n = 0; n < 20; n++) applicants.push(await applicant())
    const answers = await Promise.all(applicants.map((who) => send(app, auth.register, { body: { username: someName(), ...who, password } })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  })

  it('takes the name of one who was deleted', async () => {
    const username = someName()
    const made = await call(app, auth.register, { body: { username, ...(await applicant()), password } })
    await call(app, users.delete, { token: admin.token, params: { id: made.id } })
    const again = await call(app, auth.register, { body: { username, ...(await applicant()), password } })
    expect(again.id).not.toBe(made.id)
  })
})

describe('register_mode', () => {
  it('approval: one is registered, and waits', async () => {
    await setMode('approval')
    const username = someName()
    const made = await call(app, auth.register, { body: { username, ...(await applicant()), password } })
    expect(made.status).toBe('pending')
    expect(await refused(app, auth.password, { body: { username, password } })).toMatchObject({ status: 401, code: 1134 })
    await setMode('open')
  })

  it('closed: nobody registers, with a code in hand or without', async () => {
    const who = await applicant()
    await setMode('closed')
    expect(await refused(app, auth.register, { body: { username: someName(), ...who, password } })).toMatchObject({ status: 400, code: 1184 })
    expect((await refused(app, verification.registrationSms, { params: { phone: somePhone() } })).code).toBe(1184)
    await setMode('open')
    await call(app, auth.register, { body: { username: someName(), ...who, password } })
  })
})
