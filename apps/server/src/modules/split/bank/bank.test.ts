import { splitBankDetails } from '@zhisuan/contract/split/bank'
import { configs } from '@zhisuan/contract/sys/sys'
import { messages } from '@zhisuan/contract/sys/message'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClock, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { currentBank } from './bank.store.ts'
import { makeProvider } from '../testing.ts'

type Somebody = Person & SignedIn

describe('the bank details of a provider', () => {
  let app: TestApp
  let keeper: Somebody
  let other: Somebody
  const clock = createClock()
  const said = { holder: '东数算力有限公司', bank: '工商银行', account: '6222 0000 1111 2222' }
  const list = async (by: Somebody, id: string) => (await call(app, splitBankDetails.list, { token: by.token, params: { id } })).items
  const say = (by: Somebody, id: string, account = said.account) =>
    call(app, splitBankDetails.create, { token: by.token, params: { id }, body: { ...said, account } })

  beforeAll(async () => {
    app = await testApp({}, { clock })
    keeper = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
    other = await someone(app, { kind: 4, roles: ['OPERATION_SUPPORTER'], organisation: null })
  })
  afterAll(() => app.close())

  it('are told to its people, hidden, and count after a while', async () => {
    const { id, person } = await makeProvider(app, keeper)
    const made = await say(person, id)
    expect(made).toMatchObject({ status: 'waiting', holder: '东**', bank: '工商银行', account: '**** 2222', approved_by: null })
    expect(Date.parse(made.counts_from) - Date.parse(made.created_at)).toBe(24 * 3_600_000)
    expect((await call(app, messages.list, { token: person.token, query: {} })).items).toMatchObject([{ kind: 'split.bank', category: 'security' }])
    // What lies in the database tells nobody.
    const row = await app.platform.db.selectFrom('split_bank_details').selectAll().where('id', '=', made.id).executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toMatch(/6222|东数/)
    expect(await currentBank(app.platform.db, id, clock.now())).toBeUndefined()
    clock.advance(24 * 3_600_000)
    expect(await currentBank(app.platform.db, id, clock.now())).toMatchObject({ id: made.id })
    person.token = (await signIn(app, person)).token
    expect(await list(person, id)).toMatchObject([{ status: 'current' }])
    // Until the next ones count, these do.
    const next = await say(person, id, '6222 0000 1111 3333')
    expect((await list(person, id)).map(({ status }) => status)).toEqual(['waiting', 'current'])
    expect(await call(app, splitBankDetails.withdraw, { token: person.token, params: { id: next.id } })).toMatchObject({ status: 'withdrawn' })
    expect(await refused(app, splitBankDetails.withdraw, { token: person.token, params: { id: next.id } })).toMatchObject({ code: 90010 })
    clock.advance(24 * 3_600_000)
    expect(await currentBank(app.platform.db, id, clock.now())).toMatchObject({ id: made.id })
    for (const one of [keeper, other]) one.token = (await signIn(app, one)).token
  })

  it('count at once where somebody else approves them, and not who said them', async () => {
    const { id } = await makeProvider(app, keeper)
    const made = await say(keeper, id)
    expect(await refused(app, splitBankDetails.approve, { token: keeper.token, params: { id: made.id }, body: {} })).toMatchObject({ code: 98209 })
    expect(await call(app, splitBankDetails.approve, { token: other.token, params: { id: made.id }, body: {} })).toMatchObject({
      status: 'current',
      approved_by: other.name,
    })
    await call(app, configs.set, { token: (await someone(app, { kind: 1 })).token, body: { key: 'split_bank_hours', value: '1' } })
    const next = await say(keeper, id, '6222 0000 1111 3333')
    expect(Date.parse(next.counts_from) - Date.parse(next.created_at)).toBe(3_600_000)
  })

  it('are changed only by who proves that it is they', async () => {
    const { id, person } = await makeProvider(app, keeper)
    clock.advance(11 * 60_000)
    expect(await refused(app, splitBankDetails.create, { token: person.token, params: { id }, body: said })).toMatchObject({
      code: 91125,
      fields: [{ field: 'password' }],
    })
    expect(await refused(app, splitBankDetails.create, { token: person.token, params: { id }, body: { ...said, password: 'wrong' } })).toMatchObject({
      code: 1120,
    })
    expect(await call(app, splitBankDetails.create, { token: person.token, params: { id }, body: { ...said, password: person.password } })).toMatchObject({
      status: 'waiting',
    })
    expect(await refused(app, splitBankDetails.create, { token: person.token, params: { id }, body: { ...said, account: '12' } })).toMatchObject({
      fields: [{ field: 'account' }],
    })
  })

  it('of another provider are not there', async () => {
    const [mine, theirs] = [await makeProvider(app, keeper), await makeProvider(app, keeper)]
    const made = await say(theirs.person, theirs.id)
    const { token } = mine.person
    expect(await refused(app, splitBankDetails.list, { token, params: { id: theirs.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, splitBankDetails.create, { token, params: { id: theirs.id }, body: said })).toMatchObject({ status: 404 })
    expect(await refused(app, splitBankDetails.withdraw, { token, params: { id: made.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, splitBankDetails.approve, { token, params: { id: made.id }, body: {} })).toMatchObject({ status: 403 })
  })
})
