import { randomInt, randomUUID } from 'node:crypto'
import type { Role } from '@zhisuan/contract/roles'
import { accounts } from '@zhisuan/contract/bill/account'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { auth, verification } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { someIp, somePhone, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { codeSentTo } from '../../../testing/inbox.ts'
import { waitingForLocks } from '../../../testing/locks.ts'
import { makeOrganisation, makeUser, password, signIn, someone } from '../../../testing/people.ts'
import { lockAdministrators } from './user.store.ts'

const newPassword = 'Another-horse-2'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const isAlive = async (token: string, on = app): Promise<boolean> => (await send(on, users.current, { token })).status === 200
const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const someEmail = (): string => `box-${randomInt(1_000_000_000)}@example.com`
const codeFor = async (phone: string): Promise<string> => {
  await call(app, verification.authSms, { params: { phone } })
  return codeSentTo(app, phone)
}

describe('the list of users', () => {
  it('shows administrators everybody and tenant administrators their organisation', async () => {
    const [admin, tenantAdmin] = [await someone(app, { kind: 1 }), await someone(app)]
    const colleague = await makeUser(app, { kind: 4, organisation: tenantAdmin.bp_id })
    const stranger = await makeUser(app)
    const mine = await call(app, users.list, { token: tenantAdmin.token, query: { page_size: 100 } })
    expect(mine.items.map(({ id }) => id).sort()).toEqual([tenantAdmin.id, colleague.id].sort())
    expect(mine.total).toBe(2)
    const all = await call(app, users.list, { token: admin.token, query: { page_size: 1000 } })
    expect(all.items.map(({ id }) => id)).toEqual(expect.arrayContaining([admin.id, tenantAdmin.id, colleague.id, stranger.id]))
    const [shown] = (await call(app, users.list, { token: admin.token, query: { keyword: colleague.name } })).items
    expect(shown).toEqual({
      id: colleague.id,
      name: colleague.name,
      nickname: colleague.name,
      kind: 4,
      status: 'active',
      phone: colleague.phone,
      email: colleague.email,
      bp_id: tenantAdmin.bp_id,
      bp_name: expect.stringMatching(/^org-/),
      permissions: [{ role: 'TENANT' }],
      description: '',
      created_at: expect.any(String),
      last_login_at: null,
    })
  })

  it('does not widen with filters: another organisation stays unseen', async () => {
    const [one, other] = [await someone(app), await makeUser(app)]
    expect(await call(app, users.list, { token: one.token, query: { bp_id: other.bp_id ?? '' } })).toEqual({ total: 0, items: [] })
    expect((await call(app, users.list, { token: one.token, query: { keyword: other.name } })).total).toBe(0)
  })

  it('filters, sorts and pages', async () => {
    const admin = await someone(app, { kind: 1 })
    const organisation = await makeOrganisation(app)
    for (const [n, status] of (['active', 'pending', 'disabled', 'active', 'active'] as const).entries()) {
      await makeUser(app, { organisation, kind: n === 0 ? 2 : 4, status, name: `list-${organisation}-${n}`.slice(0, 64) })
    }
    const ask = async (query: Parameters<typeof call<typeof users.list>>[2]['query']) =>
      (await call(app, users.list, { token: admin.token, query: { bp_id: organisation, sort: 'name', ...query } })).items.map(({ name }) => Number(name.at(-1)))
    expect(await ask({})).toEqual([0, 1, 2, 3, 4])
    expect(await ask({ sort: '-name' })).toEqual([4, 3, 2, 1, 0])
    expect(await ask({ kind: 2 })).toEqual([0])
    expect(await ask({ status: 'pending' })).toEqual([1])
    expect(await ask({ page_size: 2, page_num: 2 })).toEqual([2, 3])
    expect(await ask({ keyword: `${organisation}-3` })).toEqual([3])
    expect(await ask({ keyword: '%' })).toEqual([])
    expect(await refused(app, users.list, { token: admin.token, query: { sort: 'password_hash' } })).toMatchObject({
      status: 400,
      code: 90001,
      fields: [{ field: 'sort' }],
    })
  })

  it('is refused to others', async () => {
    const tenant = await someone(app, { kind: 3 })
    expect(await refused(app, users.list, { token: tenant.token })).toMatchObject({ status: 403, code: 3000 })
  })
})

describe('one’s own data', () => {
  it('can be changed: nickname and description, nothing else', async () => {
    const person = await someone(app)
    const changed = await call(app, users.updateCurrent, { token: person.token, body: { nickname: ' 小王 ', description: '运维' } })
    expect(changed).toMatchObject({ id: person.id, nickname: '小王', description: '运维', name: person.name, kind: 2 })
    await send(app, users.updateCurrent, { token: person.token, body: { nickname: '', description: '', kind: 0, status: 'disabled', bp_id: null } })
    expect(await call(app, users.current, { token: person.token })).toMatchObject({ kind: 2, status: 'active', bp_id: person.bp_id, nickname: person.name })
    expect(await refused(app, users.updateCurrent, { token: person.token, body: { nickname: 'x'.repeat(65), description: '' } })).toMatchObject({
      code: 90001,
      fields: [{ field: 'nickname' }],
    })
  })
})

describe('what there is for somebody', () => {
  it('is the families that have a cloud, and a node where they have one of their own', async () => {
    const [admin, person, other] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
    const offered = async ({ token }: { token: string }) => (await call(app, users.current, { token })).offers.toSorted()
    expect(await offered(person)).toEqual([])
    const cloud = await call(app, clouds.create, {
      token: admin.token,
      body: { name: `c-${randomUUID()}`, product: 'nextstack', connection: { type: 'sandbox' } },
    })
    expect(await offered(person)).toEqual(['nextStack'])
    await app.platform.db.updateTable('clouds').set({ product: 'openstack' }).where('id', '=', cloud.cloud_id).execute()
    expect(await offered(person)).toEqual(['compute'])
    await call(app, edges.create, { token: person.token, body: { name: `e-${randomUUID()}` } })
    expect(await offered(person)).toEqual(['compute', 'node'])
    expect(await offered(other)).toEqual(['compute'])
    await app.platform.db.updateTable('clouds').set({ deleted_at: new Date() }).where('id', '=', cloud.cloud_id).execute()
    expect(await offered(other)).toEqual([])
  })
})

describe('changing one’s password', () => {
  it('ends all other sessions, on every server, and not the one that asks', async () => {
    const other = await testApp({ DATABASE_URL: app.databaseUrl })
    try {
      const person = await someone(app)
      const second = await signIn(other, person)
      expect(await isAlive(second.token, other)).toBe(true)
      await call(app, users.changePassword, { token: person.token, body: { old_password: password, password: newPassword } })
      expect(await isAlive(person.token)).toBe(true)
      expect(await isAlive(second.token)).toBe(false)
      await vi.waitFor(async () => expect(await isAlive(second.token, other)).toBe(false), 2000)
      expect((await send(app, auth.refresh, { cookies: { zs_refresh: second.refresh } })).status).toBe(401)
      expect((await send(app, auth.refresh, { cookies: { zs_refresh: person.refresh } })).status).toBe(200)
      expect((await refused(app, auth.password, { body: { username: person.name, password } })).code).toBe(1101)
      expect((await signIn(app, { name: person.name, password: newPassword })).token).not.toBe('')
    } finally {
      await other.close()
    }
  })

  it('wants the old one, and freezes who guesses at it', async () => {
    const person = await someone(app)
    const change = (old_password: string) => refused(app, users.changePassword, { token: person.token, body: { old_password, password: newPassword } })
    expect(await change('Wrong-password-1')).toMatchObject({ status: 400, code: 1120, fields: [{ field: 'old_password', message: '旧密码错误' }] })
    for (let n = 2; n <= 4; n++) expect((await change('Wrong-password-1')).code).toBe(1120)
    expect((await change('Wrong-password-1')).code).toBe(1136)
    expect((await change(password)).code).toBe(1136)
    // Of that session: who knows the password is let in.
    expect((await signIn(app, person)).token).not.toBe('')
  })

  it('wants another one than before, and a good one', async () => {
    const person = await someone(app)
    const change = (body: unknown) => refused(app, users.changePassword, { token: person.token, body })
    expect(await change({ old_password: password, password })).toMatchObject({ status: 400, code: 91006, fields: [{ field: 'password' }] })
    for (const weak of ['short-1', 'onlylowercase', 'lower-and-other', 'x'.repeat(65)]) {
      expect(await change({ old_password: password, password: weak }), weak).toMatchObject({
        status: 400,
        code: 90001,
        fields: [{ field: 'password', message: '密码长度为8到64个字符，且至少包含大写字母、小写字母、数字、特殊字符中的三种' }],
      })
    }
  })
})

describe('changing one’s phone or mailbox', () => {
  it('takes the password and a code sent to the new one', async () => {
    const person = await someone(app)
    const [phone, email] = [somePhone(), someEmail()]
    await call(app, verification.patchSms, { params: { phone }, token: person.token })
    const bySms = await codeSentTo(app, phone)
    const change = (body: unknown) => refused(app, users.changePhone, { token: person.token, body })
    expect(await change({ phone, code: bySms, password: 'Wrong-password-1' })).toMatchObject({ code: 1120, fields: [{ field: 'password' }] })
    expect(await change({ phone, code: wrong(bySms), password })).toMatchObject({ code: 1121, fields: [{ field: 'code' }] })
    expect((await change({ phone: somePhone(), code: bySms, password })).code).toBe(1121)
    await call(app, users.changePhone, { token: person.token, body: { phone, code: bySms, password } })
    await call(app, verification.patchEmail, { params: { email }, token: person.token })
    await call(app, users.changeEmail, { token: person.token, body: { email: email.toUpperCase(), code: await codeSentTo(app, email), password } })
    expect(await call(app, users.current, { token: person.token })).toMatchObject({ phone, email })
    await signIn(app, { name: phone, password })
    await signIn(app, { name: email, password })
    expect((await refused(app, auth.password, { body: { username: person.phone, password } })).code).toBe(1101)
  })

  it('gives a number that two want to one of them', async () => {
    const [one, two] = [await someone(app), await someone(app)]
    const phone = somePhone()
    await call(app, verification.patchSms, { params: { phone }, token: one.token })
    const first = await codeSentTo(app, phone)
    app.clock.advance(61_000)
    await call(app, verification.patchSms, { params: { phone }, token: two.token })
    const second = await codeSentTo(app, phone, 1)
    const answers = await Promise.all([
      send(app, users.changePhone, { token: one.token, body: { phone, code: first, password } }),
      send(app, users.changePhone, { token: two.token, body: { phone, code: second, password } }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400])
    expect(answers.find(({ status }) => status === 400)?.body).toMatchObject({ code: 91003, fields: [{ field: 'phone' }] })
  })
})

describe('signing in and retrieving a password with a code', () => {
  it('lets the phone’s owner in, once', async () => {
    const person = await makeUser(app)
    const answer = await call(app, auth.sms, { body: { phone: person.phone, code: await codeFor(person.phone) } })
    expect((await call(app, users.current, { token: answer.token })).id).toBe(person.id)
  })

  it('keeps out whom a password would not let in either', async () => {
    const frozen = await makeOrganisation(app, { status: 'frozen' })
    for (const [wish, code] of [
      [{ status: 'pending' }, 1134],
      [{ status: 'disabled' }, 1135],
      [{ organisation: frozen }, 91012],
    ] as const) {
      const person = await makeUser(app, wish)
      expect(await refused(app, auth.sms, { body: { phone: person.phone, code: await codeFor(person.phone) } })).toMatchObject({ status: 401, code })
    }
  })

  it('lets in whose password is being guessed at, and ends the freeze: they have the phone', async () => {
    const person = await makeUser(app)
    const ip = someIp()
    for (let n = 0; n < 5; n++) await send(app, auth.password, { ip, body: { username: person.name, password: 'wrong' } })
    expect((await refused(app, auth.password, { ip, body: { username: person.name, password } })).code).toBe(1136)
    expect((await send(app, auth.sms, { ip, body: { phone: person.phone, code: await codeFor(person.phone) } })).status).toBe(200)
    expect((await send(app, auth.password, { ip, body: { username: person.name, password } })).status).toBe(200)
  })

  it('sets a new password, ends all sessions and a freeze', async () => {
    const person = await someone(app, { must_change_password: true })
    const ip = someIp()
    for (let n = 1; n <= 5; n++) await refused(app, auth.password, { ip, body: { username: person.name, password: 'Wrong-password-1' } })
    expect((await refused(app, auth.password, { ip, body: { username: person.name, password } })).code).toBe(1136)
    const code = await codeFor(person.phone)
    const body = { phone: person.phone, code, password: newPassword }
    expect((await refused(app, auth.retrievePassword, { body: { ...body, code: wrong(code) } })).code).toBe(1121)
    expect(await refused(app, auth.retrievePassword, { body: { ...body, password: 'weak' } })).toMatchObject({ code: 90001, fields: [{ field: 'password' }] })
    await call(app, auth.retrievePassword, { body })
    expect(await isAlive(person.token)).toBe(false)
    const { token } = await call(app, auth.password, { ip, body: { username: person.name, password: newPassword } })
    expect((await call(app, users.current, { token })).must_change_password).toBe(false)
    expect((await refused(app, auth.retrievePassword, { body })).code).toBe(1121)
  })

  it('knows nothing of unknown phones', async () => {
    const phone = somePhone()
    await call(app, verification.authSms, { params: { phone } })
    expect((await refused(app, auth.sms, { body: { phone, code: '123456' } })).code).toBe(1121)
    expect((await refused(app, auth.retrievePassword, { body: { phone, code: '123456', password: newPassword } })).code).toBe(1121)
  })
})

describe('deleting a user', () => {
  it('ends their sessions everywhere and frees their name, phone and mailbox; the audit log keeps them', async () => {
    const other = await testApp({ DATABASE_URL: app.databaseUrl })
    try {
      const [admin, person] = [await someone(app, { kind: 1 }), await someone(app)]
      expect(await isAlive(person.token, other)).toBe(true)
      await call(app, users.delete, { token: admin.token, params: { id: person.id } })
      expect(await refused(app, users.current, { token: person.token })).toMatchObject({ status: 401, code: 90008 })
      await vi.waitFor(async () => expect(await isAlive(person.token, other)).toBe(false), 2000)
      for (const login of [person.name, person.phone, person.email]) {
        expect((await refused(app, auth.password, { body: { username: login, password } })).code).toBe(1101)
      }
      expect((await call(app, users.list, { token: admin.token, query: { keyword: person.name } })).total).toBe(0)
      await makeUser(app, { name: person.name })
      expect(await app.platform.db.selectFrom('users').select('former_name').where('id', '=', person.id).executeTakeFirst()).toEqual({
        former_name: person.name,
      })
      const audited = await app.platform.db
        .selectFrom('audit_log')
        .select(['call', 'actor_name', 'code'])
        .where('object_id', '=', person.id)
        .where('call', '=', users.delete.id)
        .execute()
      expect(audited).toEqual([{ call: 'ums.user.delete', actor_name: admin.name, code: 0 }])
      expect(await refused(app, users.delete, { token: admin.token, params: { id: person.id } })).toMatchObject({ status: 404, code: 90006 })
    } finally {
      await other.close()
    }
  })

  it('is refused for oneself, for nobody, and to others than administrators', async () => {
    const [admin, tenantAdmin] = [await someone(app, { kind: 1 }), await someone(app)]
    expect(await refused(app, users.delete, { token: admin.token, params: { id: admin.id } })).toMatchObject({ status: 400, code: 91007 })
    expect((await refused(app, users.delete, { token: admin.token, params: { id: randomUUID() } })).code).toBe(90006)
    expect((await refused(app, users.delete, { token: admin.token, params: { id: 'no-id' } })).code).toBe(90006)
    expect(await refused(app, users.delete, { token: tenantAdmin.token, params: { id: admin.id } })).toMatchObject({ status: 404, code: 90006 })
    const colleague = await someone(app, { kind: 4, organisation: tenantAdmin.bp_id })
    expect(await refused(app, users.delete, { token: colleague.token, params: { id: tenantAdmin.id } })).toMatchObject({ status: 403, code: 3000 })
    await call(app, users.delete, { token: tenantAdmin.token, params: { id: colleague.id } })
    expect(await isAlive(colleague.token)).toBe(false)
  })

  it('leaves one administrator, even when two delete each other at once', async () => {
    const empty = await testApp()
    try {
      // The one who was seeded is out of the way first.
      const [one, two] = [await someone(empty, { kind: 0 }), await someone(empty, { kind: 0 })]
      const disabled = await makeUser(empty, { kind: 1, status: 'disabled' })
      const seeded = (await call(empty, users.list, { token: one.token, query: { keyword: 'admin', kind: 0 } })).items.find(({ name }) => name === 'admin')
      await call(empty, users.delete, { token: one.token, params: { id: seeded?.id ?? '' } })
      // Both are let in before the first of them deletes the other.
      const deletions = await empty.platform.db.transaction().execute(async (tx) => {
        await lockAdministrators(tx)
        const begun = [
          send(empty, users.delete, { token: one.token, params: { id: two.id } }),
          send(empty, users.delete, { token: two.token, params: { id: one.id } }),
        ]
        await expect.poll(() => waitingForLocks(empty)).toBe(2)
        return begun
      })
      const answers = await Promise.all(deletions)
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 400])
      expect(answers.find(({ status }) => status === 400)?.body).toMatchObject({ code: 91008 })
      const left = await empty.platform.db.selectFrom('users').select('id').where('deleted_at', 'is', null).where('status', '=', 'active').execute()
      expect(left).toHaveLength(1)
      expect(left[0]?.id).not.toBe(disabled.id)
    } finally {
      await empty.close()
    }
  })
})

describe('roles', () => {
  it('of a user show as permissions, each once', async () => {
    const wanted: Role[] = ['PROVIDER', 'TENANT']
    const person = await someone(app, { kind: 4, roles: wanted })
    expect((await call(app, users.current, { token: person.token })).permissions).toEqual(wanted.map((role) => ({ role })))
    const nobody = await someone(app, { kind: 4, roles: [] })
    expect((await call(app, users.current, { token: nobody.token })).permissions).toEqual([])
    expect(await refused(app, accounts.get, { token: nobody.token, params: { id: randomUUID() } })).toMatchObject({ status: 404 })
  })
})
