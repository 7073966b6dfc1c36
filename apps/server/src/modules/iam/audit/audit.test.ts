import { audits } from '@zhisuan/contract/iam/audit'
import { policies } from '@zhisuan/contract/iam/policy'
import { policyLanguage } from '@zhisuan/contract/policy/document'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { accessKeys } from '@zhisuan/contract/ums/access-key'
import { auth } from '@zhisuan/contract/ums/auth'
import { users } from '@zhisuan/contract/ums/user'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { password, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { verifyChain } from './audit.store.ts'

let app: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const rename = (who: SignedIn, nickname: string) => call(app, users.updateCurrent, { token: who.token, body: { nickname, description: '' } })
const verify = () => call(app, audits.verify, { token: admin.token })
/** As whoever has the database could. */
const tamper = (statement: string) =>
  app.platform.db.transaction().execute(async (tx) => {
    await sql`alter table audit_log disable trigger all`.execute(tx)
    await sql.raw(statement).execute(tx)
    await sql`alter table audit_log enable trigger all`.execute(tx)
  })

describe('the audit log', () => {
  it('tells who asked for what, of one’s own organisation only', async () => {
    const [boss, stranger] = [await someone(app), await someone(app)]
    await rename(boss, '老板')
    await send(app, policies.create, { token: boss.token, body: { name: 'x', document: 'nonsense' } })
    await rename(stranger, '别人')
    const mine = await call(app, audits.list, { token: boss.token })
    expect(mine.items.map((record) => [record.call, record.code])).toEqual(
      expect.arrayContaining([
        ['iam.policy.create', 91101],
        ['ums.user.updateCurrent', 0],
      ]),
    )
    expect(mine.items.every(({ bp_id, actor }) => bp_id === boss.bp_id && actor?.id === boss.id)).toBe(true)
    expect((await call(app, audits.list, { token: boss.token, query: { refused: 'true' } })).items.map(({ code }) => code)).toEqual([91101])
    const all = await call(app, audits.list, { token: admin.token, query: { actor_id: stranger.id, call: 'ums.user.updateCurrent' } })
    expect(all).toMatchObject({ total: 1, items: [{ actor: { name: stranger.name } }] })
    expect((await call(app, audits.list, { token: admin.token, query: { from: '2100-01-01T00:00:00Z' } })).total).toBe(0)
    expect(await refused(app, audits.verify, { token: boss.token })).toMatchObject({ code: 3000 })
  })

  it('names what it was about, but of no other organisation’s', async () => {
    const [boss, stranger] = [await someone(app), await someone(app)]
    const document = { Version: policyLanguage, Statement: [{ Effect: 'Allow' as const, Action: 'nextstack.vm.list', Resource: '*' }] }
    const { id } = await call(app, policies.create, { token: boss.token, body: { name: '只看云主机', document } })
    const version = { params: { id }, body: { document } }
    await call(app, policies.addVersion, { token: boss.token, ...version })
    await refused(app, policies.addVersion, { token: stranger.token, ...version })
    const named = async (who: SignedIn) =>
      (await call(app, audits.list, { token: who.token, query: { call: policies.addVersion.id, object_id: id } })).items.map(({ object_name }) => object_name)
    expect(await named(boss)).toEqual(['只看云主机'])
    expect(await named(stranger)).toEqual([null])
    expect(await named(admin)).toEqual(['只看云主机', '只看云主机'])
  })

  it('names who signed in, and where that was refused the account that was tried, to its own organisation too', async () => {
    const { id, name, bp_id, token } = await someone(app)
    await refused(app, auth.password, { body: { username: name, password: 'Not-the-one-1' } })
    await refused(app, auth.password, { body: { username: 'nobody-has-this-name', password: 'Not-the-one-1' } })
    const { items } = await call(app, audits.list, { token: admin.token, query: { call: auth.password.id, page_size: '50' } })
    expect(items.find((record) => record.actor?.id === id)).toMatchObject({ code: 0, bp_id, actor: { name }, object_id: id })
    expect(items[0]).toMatchObject({ code: 1101, actor: null, object_id: null, bp_id: null })
    const tried = { code: 1101, actor: null, object_id: id, object_name: name, bp_id }
    expect(items[1]).toMatchObject(tried)
    const theirs = await call(app, audits.list, { token, query: { call: auth.password.id, refused: 'true' } })
    expect(theirs).toMatchObject({ total: 1, items: [tried] })
    const stranger = await someone(app)
    expect((await call(app, audits.list, { token: stranger.token, query: { call: auth.password.id, refused: 'true' } })).total).toBe(0)
  })

  it('is a file, too, of the same', async () => {
    const boss = await someone(app)
    await rename(boss, '导出')
    const fetch = async (format: 'csv' | 'jsonl', who: SignedIn) => {
      const { path } = await call(app, audits.export, { token: who.token, body: { format, call: 'ums.user.updateCurrent' } })
      return (await app.http.inject({ method: 'GET', url: path })).body
    }
    const csv = await fetch('csv', boss)
    const [header, line, end] = csv.split('\r\n')
    expect(header).toBe('\uFEFF编号,时间,操作,操作人ID,操作人,组织ID,对象ID,请求ID,来源IP,结果码,访问密钥ID,访问密钥,校验值')
    const [record] = (await call(app, audits.list, { token: boss.token, query: { call: 'ums.user.updateCurrent' } })).items
    const beijing = new Date(Date.parse(record?.at ?? '') + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
    expect(line?.split(',')[1]).toBe(beijing)
    expect(line?.split(',').slice(2, 6)).toEqual(['ums.user.updateCurrent', boss.id, boss.name, boss.bp_id])
    expect(end).toBe('')
    const lines = (await fetch('jsonl', boss))
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as { actor: { id: string } })
    expect(lines.map(({ actor }) => actor.id)).toEqual([boss.id])
  })

  it('has no gap though many write at once', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => someone(app)))
    await Promise.all(people.flatMap((who) => Array.from({ length: 10 }, (_, index) => rename(who, `n${index}`))))
    const verdict = await verify()
    expect(verdict).toMatchObject({ intact: true, first_broken: null })
    expect(verdict.head.number).toBe(verdict.count)
  })

  it('cannot be changed by the platform itself', async () => {
    for (const statement of [`update audit_log set actor_name = 'x'`, `delete from audit_log`, `truncate audit_log`]) {
      await expect(sql.raw(statement).execute(app.platform.db)).rejects.toThrow('not changed')
    }
  })

  it('is broken where the access key that a change was made with is taken out of it', async () => {
    const person = await someone(app)
    const { key, secret } = await call(app, accessKeys.create, { token: person.token, body: { name: 'k', scheme: 'bearer', password } })
    await call(app, keyPairs.create, { token: secret, body: { name: 'made-with-a-key' } })
    expect(await verify()).toMatchObject({ intact: true })
    const broken = app.platform.db.transaction().execute(async (tx) => {
      await sql`alter table audit_log disable trigger audit_keep`.execute(tx)
      await tx.updateTable('audit_log').set({ access_key_id: null, access_key_name: null }).where('access_key_id', '=', key.id).execute()
      const { first_broken } = await verifyChain(tx)
      expect(first_broken).not.toBeNull()
      throw new Error('back')
    })
    await expect(broken).rejects.toThrow('back')
  })

  it('shows what somebody who has the database did to it', async () => {
    await rename(admin, '之前')
    const {
      rows: [entry],
    } = await sql<{ number: number; call: string }>`select number, call from audit_log order by number desc offset 3 limit 1`.execute(app.platform.db)
    const number = entry?.number ?? 0
    await tamper(`update audit_log set call = 'nothing.was.done' where number = ${number}`)
    expect(await verify()).toMatchObject({ intact: false, first_broken: number })
    await tamper(`update audit_log set call = '${entry?.call}' where number = ${number}`)
    expect((await verify()).intact).toBe(true)
    // Sealed again, it does not fit to the next.
    await tamper(
      `update audit_log set call = 'nothing.was.done' where number = ${number}; update audit_log set hash = audit_seal(audit_log) where number = ${number}`,
    )
    expect(await verify()).toMatchObject({ intact: false, first_broken: number + 1 })
    await tamper(
      `update audit_log set call = '${entry?.call}' where number = ${number}; update audit_log set hash = audit_seal(audit_log) where number = ${number}`,
    )
    expect((await verify()).intact).toBe(true)
    // The newest ones taken away: the head tells.
    const { head } = await verify()
    await tamper(`delete from audit_log where number >= ${head.number}`)
    expect(await verify()).toMatchObject({ intact: false })
  })
})
