import { accounts } from '@zhisuan/contract/bill/account'
import { idempotencyKeyHeader } from '@zhisuan/contract/define'
import { audits } from '@zhisuan/contract/iam/audit'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { users } from '@zhisuan/contract/ums/user'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused, send } from '../../testing/call.ts'
import { makeOrganisation, someone, type Person, type SignedIn } from '../../testing/people.ts'

let app: TestApp
let admin: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const entriesOf = async (who: { readonly id: string }, id: string) =>
  (await call(app, audits.list, { token: admin.token, query: { actor_id: who.id, call: id } })).items.map(({ code, object_id }) => [code, object_id])
const keyPairsOf = async (who: SignedIn) => (await call(app, keyPairs.list, { token: who.token })).items.map(({ name }) => name)

describe('the entry of a change', () => {
  it('names what was made', async () => {
    const person = await someone(app)
    const { id } = await call(app, keyPairs.create, { token: person.token, body: { name: 'first' } })
    expect(await entriesOf(person, keyPairs.create.id)).toEqual([[0, id]])
    const made = await call(app, users.create, { token: admin.token, body: { username: 'made-by-admin', kind: 4, bp_id: person.bp_id } })
    expect(await entriesOf(admin, users.create.id)).toEqual([[0, made.user.id]])
  })

  it('is there with it or neither is, whatever ends the connection between them', async () => {
    const person = await someone(app)
    const broken = async (how: string) => {
      await sql.raw(`create function break_off() returns trigger language plpgsql as $$ begin ${how}; return new; end $$`).execute(app.platform.db)
      await sql`create trigger a_break_off before insert on audit_log for each row when (new.code = 0) execute function break_off()`.execute(app.platform.db)
      const answer = await send(app, keyPairs.create, { token: person.token, body: { name: 'made-once' } })
      await expect
        .poll(() =>
          sql`drop function break_off() cascade`.execute(app.platform.db).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
      return answer
    }
    expect(await broken('perform pg_terminate_backend(pg_backend_pid())')).toMatchObject({ status: 503, body: { code: 90014 } })
    expect(await keyPairsOf(person)).toEqual([])
    expect((await broken(`raise exception 'no entry'`)).status).toBe(500)
    expect(await keyPairsOf(person)).toEqual([])
    await call(app, keyPairs.create, { token: person.token, body: { name: 'made-once' } })
    expect(await keyPairsOf(person)).toEqual(['made-once'])
    expect((await entriesOf(person, keyPairs.create.id)).filter(([code]) => code === 0)).toHaveLength(1)
  })

  it('is none of what is counted beside, such as a wrong password', async () => {
    const person = await someone(app)
    const body = { old_password: 'Not-the-one-1', password: 'Another-one-12' }
    expect(await refused(app, users.changePassword, { token: person.token, body })).toMatchObject({ code: 1120 })
    expect(await entriesOf(person, users.changePassword.id)).toEqual([[1120, null]])
  })

  it('is written of what was granted and changed nothing', async () => {
    const person = await someone(app)
    await call(app, audits.export, { token: person.token, body: { format: 'csv' } })
    expect(await entriesOf(person, audits.export.id)).toEqual([[0, null]])
  })
})

describe('a call that moves money', () => {
  const charge = (id: string, amount: string, key?: string) =>
    app.http.inject({
      method: 'PUT',
      url: accounts.charge.path.replace('{id}', id),
      headers: { authorization: `Bearer ${admin.token}`, ...(key !== undefined && { [idempotencyKeyHeader]: key }) },
      payload: { amount, note: '' },
    })
  const account = async (): Promise<string> => {
    const bp_id = await makeOrganisation(app)
    return bp_id
  }
  const balance = async (id: string) => (await call(app, accounts.get, { token: admin.token, params: { id } })).balance

  it('moves it once however often it is asked with its key, and answers the same', async () => {
    const id = await account()
    const key = 'a-key-of-one-form'
    const answers = await Promise.all([charge(id, '5.00', key), charge(id, '5.00', key), charge(id, '5.00', key)])
    answers.push(await charge(id, '5.00', key))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(3)
    expect(Number(await balance(id))).toBe(5)
    expect((await entriesOf(admin, accounts.charge.id)).filter(([code, object]) => code === 0 && object === id)).toHaveLength(1)
    // Another wish is no repetition, whoever made it.
    expect((await charge(id, '6.00', key)).json()).toMatchObject({ code: 90033 })
    expect((await charge(id, '6.00', 'x')).json()).toMatchObject({ code: 90032 })
    await charge(id, '5.00', 'another-key-1')
    await charge(id, '5.00')
    expect(Number(await balance(id))).toBe(15)
  })

  it('that was refused has not used its key up', async () => {
    const id = await account()
    expect((await charge(id, '-1.00', 'key-of-a-mistake')).statusCode).toBe(400)
    expect((await charge(id, '1.00', 'key-of-a-mistake')).statusCode).toBe(200)
    expect(Number(await balance(id))).toBe(1)
  })
})
