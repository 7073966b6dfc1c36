import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildApp } from '../app.ts'
import { readConfig } from '../platform/config.ts'
import { someIp, testApp, type TestApp } from '../testing/app.ts'
import { call, refused, send } from '../testing/call.ts'
import { makeUser, password, signIn, someone } from '../testing/people.ts'
import { runScript } from './testing.ts'

const newPassword = 'New-password-1'

describe('reset-password', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.close())
  const reset = (...args: string[]) => runScript('reset-password', args, { DATABASE_URL: app.databaseUrl, DATA_DIR: app.config.DATA_DIR })
  const me = (token: string) => send(app, users.current, { token })

  it('prints a password that is good once, has to be changed, and ends all sessions', async () => {
    const lost = await someone(app, { kind: 1 })
    const [tab, other] = [await signIn(app, lost), await someone(app)]
    expect((await me(tab.token)).status).toBe(200)
    const { status, stdout, stderr } = await reset(lost.name)
    expect({ status, stderr }).toEqual({ status: 0, stderr: `One-time password of ${lost.name}, to be changed at the first sign-in. Sessions ended: 2.\n` })
    expect(stdout).toMatch(/^[A-Z]{4}-[a-z]{4}-[2-9]{4}\n$/)
    const oneTime = stdout.trim()

    // The server is told by the bus.
    for (const token of [lost.token, tab.token]) await vi.waitFor(async () => expect((await me(token)).body).toMatchObject({ code: 90008 }))
    expect((await refused(app, auth.refresh, { cookies: { zs_refresh: tab.refresh } })).code).toBe(91011)
    expect((await me(other.token)).status).toBe(200)
    expect((await refused(app, auth.password, { body: { username: lost.name, password } })).code).toBe(1101)

    const { token } = await signIn(app, { name: lost.name, password: oneTime })
    expect((await refused(app, users.list, { token })).code).toBe(91001)
    await call(app, users.changePassword, { token, body: { old_password: oneTime, password: newPassword } })
    expect((await send(app, users.list, { token })).status).toBe(200)
    expect((await refused(app, auth.password, { body: { username: lost.name, password: oneTime } })).code).toBe(1101)
  })

  it('writes to the audit log, and keeps the password nowhere', async () => {
    const lost = await makeUser(app)
    const { stdout } = await reset(lost.name)
    const entries = await app.platform.db.selectFrom('audit_log').selectAll().where('object_id', '=', lost.id).execute()
    expect(entries).toMatchObject([{ call: 'ums.user.resetPassword', actor_id: null, ip: 'localhost', code: 0 }])
    const row = await app.platform.db.selectFrom('users').selectAll().where('id', '=', lost.id).executeTakeFirst()
    expect(JSON.stringify([entries, row])).not.toContain(stdout.trim())
  })

  it('ends a freeze, and finds people by phone and mailbox too', async () => {
    const lost = await makeUser(app)
    const ip = someIp()
    for (let n = 0; n < 5; n++) await send(app, auth.password, { ip, body: { username: lost.name, password: 'wrong' } })
    expect((await refused(app, auth.password, { ip, body: { username: lost.name, password } })).code).toBe(1136)
    for (const login of [lost.phone, lost.email.toUpperCase()]) {
      const { stdout } = await reset(login)
      expect((await send(app, auth.password, { ip, body: { username: lost.name, password: stdout.trim() } })).status).toBe(200)
    }
  })

  it('says that a user cannot sign in all the same', async () => {
    const off = await makeUser(app, { status: 'disabled' })
    expect(await reset(off.name)).toMatchObject({ status: 0, stderr: expect.stringContaining('The user is disabled') })
  })

  it('changes nothing for anybody else', async () => {
    const before = await app.platform.db.selectFrom('users').select(['id', 'password_hash']).orderBy('id').execute()
    expect(await reset('nobody-at-all')).toEqual({ status: 1, stdout: '', stderr: 'Nobody signs in as nobody-at-all.\n' })
    expect(await reset()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('USERNAME is missing') })
    expect(await reset('one', 'two')).toMatchObject({ status: 2, stdout: '' })
    expect(await reset('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('usage: scripts/reset-password USERNAME') })
    expect(await app.platform.db.selectFrom('users').select(['id', 'password_hash']).orderBy('id').execute()).toEqual(before)
  })

  it('says what is missing', async () => {
    const bare = new URL(app.databaseUrl)
    bare.pathname = '/template1'
    expect(await runScript('reset-password', ['admin'], { DATABASE_URL: bare.href })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no users yet'),
    })
    expect(await runScript('reset-password', ['admin'], { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The database does not answer'),
    })
    expect(await runScript('reset-password', ['admin'], { DATABASE_URL: '', DATA_DIR: join(app.config.DATA_DIR, 'none') })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('does not exist'),
    })
  })
})

it('reset-password works on the embedded database, whether the server runs or not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-reset-'))
  // The database's own user has to get in.
  chmodSync(folder, 0o755)
  const environment = { DATA_DIR: join(folder, 'data'), DATABASE_URL: '' }
  const start = () =>
    buildApp(readConfig({ ...environment, ZHISUAN_ENV: 'test', LOCAL_CLOUD: 'none', LOG_LEVEL: 'silent', WEB_DIR: join(folder, 'no-console') }))
  const oneTime = async () => (await runScript('reset-password', ['admin'], environment)).stdout.trim()
  const accepts = async (app: Awaited<ReturnType<typeof start>>, typed: string) =>
    (await app.http.inject({ method: auth.password.method, url: auth.password.path, payload: { username: 'admin', password: typed } })).statusCode
  try {
    let app = await start()
    const running = await oneTime()
    expect([await accepts(app, running), await accepts(app, app.firstPassword ?? '')]).toEqual([200, 401])
    await app.close()
    const stopped = await oneTime()
    app = await start()
    expect([await accepts(app, stopped), await accepts(app, running)]).toEqual([200, 401])
    await app.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
