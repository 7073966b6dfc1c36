import { randomUUID } from 'node:crypto'
import { changes } from '@zhisuan/contract/change'
import type { QueryInput } from '@zhisuan/contract/define'
import { configs } from '@zhisuan/contract/sys/sys'
import { messages, unreadMost } from '@zhisuan/contract/sys/message'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tx } from '../../../platform/db/database.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { makeOrganisation, makeUser, signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { createSettings } from '../settings/settings.service.ts'
import { createMessages, type MessageService, type Telling } from './message.service.ts'

type Who = Person & SignedIn

let app: TestApp
let service: MessageService
let admin: Who
beforeAll(async () => {
  app = await testApp()
  service = createMessages(app.platform, createSettings(app.platform))
  admin = await someone(app, { kind: 1 })
})
afterAll(() => app.close())

const within = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => app.platform.db.transaction().execute(work)
const node = (name = `n-${randomUUID()}`) => ({ kind: 'ecrm.edge', id: randomUUID(), name }) as const
/** Of a node that is away, unless another kind is wished. @returns its text */
async function tell(bp_id: string | null, wish: Partial<Telling> = {}): Promise<string> {
  const text = `t-${randomUUID()}`
  await within((tx) => service.tell(tx, { kind: 'ecrm.edgeAway', bp_id, text, about: node(), key: randomUUID(), ...wish }))
  return wish.text ?? text
}
const list = async (who: Who, query: QueryInput<typeof messages.list> = {}) =>
  (await call(app, messages.list, { token: who.token, query: { page_size: 100, ...query } })).items
const texts = async (who: Who, query: QueryInput<typeof messages.list> = {}) => (await list(who, query)).map(({ text }) => text)
const unread = async (who: Who) => (await call(app, messages.unread, { token: who.token })).count
const read = (who: Who, ids: string[]) => call(app, messages.read, { token: who.token, body: { ids } })
const readAll = (who: Who, body: { category?: 'money' | 'resource' } = {}) => call(app, messages.readAll, { token: who.token, body })
const daysAgo = (count: number): Date => new Date(app.clock.now().getTime() - count * 24 * 60 * 60_000)
/** An organisation with who manages it and a member. */
async function some() {
  const manager = await someone(app)
  const organisation = manager.bp_id ?? ''
  return { organisation, manager, member: await someone(app, { kind: 4, organisation }) }
}

describe('a message', () => {
  it('of an organisation is told to who manages it, of its resources to all members, and to nobody else', async () => {
    const [{ organisation, manager, member }, stranger] = [await some(), await someone(app)]
    const another = await someone(app, { kind: 4, organisation, roles: ['TENANT_ADMIN'] })
    const [money, resource] = [await tell(organisation, { kind: 'bill.low' }), await tell(organisation)]
    for (const who of [manager, another]) expect([await texts(who), await unread(who)]).toEqual([[resource, money], 2])
    expect([await texts(member), await unread(member)]).toEqual([[resource], 1])
    expect([await texts(stranger), await unread(stranger)]).toEqual([[], 0])
    expect(await texts(admin)).not.toEqual(expect.arrayContaining([money]))
  })

  it('of the platform is told to who runs it, and to no organisation', async () => {
    const { manager } = await some()
    const [before, second] = [await unread(admin), await someone(app, { kind: 1 })]
    const text = await tell(null, { kind: 'cmp.cloudUnreachable' })
    expect((await texts(admin))[0]).toBe(text)
    expect([await unread(admin), await unread(second)]).toEqual([before + 1, 1])
    expect([await texts(manager), await unread(manager)]).toEqual([[], 0])
  })

  it('says what it is about, and is found by kind, by word and as unread', async () => {
    const { organisation, manager } = await some()
    const about = node('机房-7')
    const text = await tell(organisation, { text: '节点“机房-7”已离线', about })
    const money = await tell(organisation, { kind: 'bill.arrears', text: '已欠费 100%' })
    const [newest, first] = await list(manager)
    expect(first).toEqual({ id: first?.id, kind: 'ecrm.edgeAway', category: 'resource', text, at: expect.any(String) as string, about, read: false })
    await read(manager, [newest?.id ?? ''])
    expect(await texts(manager, { category: 'resource' })).toEqual([text])
    expect(await texts(manager, { category: 'money' })).toEqual([money])
    expect(await texts(manager, { category: 'security' })).toEqual([])
    expect(await texts(manager, { keyword: '机房' })).toEqual([text])
    expect(await texts(manager, { keyword: '0%' })).toEqual([money])
    expect(await texts(manager, { unread: 'true' })).toEqual([text])
    expect(await texts(manager, { unread: 'false' })).toEqual([money])
    expect(await texts(manager, { sort: 'at', page_size: 1, page_num: 2 })).toEqual([money])
    expect(await refused(app, messages.list, { token: manager.token, query: { category: 'else' } })).toMatchObject({ status: 400 })
  })

  it('that is told twice of the same is there once, also by two at once; to another it is another', async () => {
    const [{ organisation, manager }, other] = [await some(), await some()]
    const key = randomUUID()
    const [text] = await Promise.all([tell(organisation, { key, text: 'once' }), tell(organisation, { key, text: 'once' })])
    await read(
      manager,
      (await list(manager)).map(({ id }) => id),
    )
    await tell(organisation, { key, text: 'again' })
    expect([await texts(manager), await unread(manager)]).toEqual([[text], 0])
    await tell(other.organisation, { key })
    expect(await unread(other.manager)).toBe(1)
    const before = (await list(admin)).length
    for (let time = 1; time <= 2; time++) await tell(null, { key })
    expect(await list(admin)).toHaveLength(before + 1)
  })

  it('of what was rolled back is none', async () => {
    const { organisation, manager } = await some()
    await expect(
      within(async (tx) => {
        await service.tell(tx, { kind: 'bill.low', bp_id: organisation, text: 'x', about: node(), key: 'x' })
        throw new Error('it did not happen')
      }),
    ).rejects.toThrow('it did not happen')
    expect([await texts(manager), await unread(manager)]).toEqual([[], 0])
  })

  it('is heard of by consoles that are open', async () => {
    const { organisation, manager } = await some()
    const wait = (after?: string) => call(app, changes.wait, { token: manager.token, query: { after } })
    let { cursor } = await wait()
    const told = tell(organisation)
    const kinds = new Set<string>()
    // What of other tests is everybody's may come before it.
    while (!kinds.has('sys.message')) {
      const answer = await wait(cursor)
      cursor = answer.cursor
      for (const kind of answer.kinds) kinds.add(kind)
    }
    await told
    expect(await unread(manager)).toBe(1)
  })
})

describe('reading', () => {
  it('is each person’s own', async () => {
    const { organisation, manager, member } = await some()
    await tell(organisation)
    const [one] = await list(manager)
    await read(manager, [one?.id ?? '', randomUUID()])
    await read(manager, [one?.id ?? ''])
    expect([await unread(manager), await unread(member)]).toEqual([0, 1])
    expect([(await list(manager))[0]?.read, (await list(member))[0]?.read]).toEqual([true, false])
    expect(await refused(app, messages.read, { token: manager.token, body: { ids: [] } })).toMatchObject({ status: 400 })
  })

  it('marks nothing of what others are told', async () => {
    const [{ organisation, manager, member }, stranger] = [await some(), await someone(app)]
    await tell(organisation, { kind: 'bill.low' })
    const [one] = await list(manager)
    for (const who of [member, stranger, admin]) await read(who, [one?.id ?? ''])
    expect(await unread(manager)).toBe(1)
  })

  it('of all is of all, or of a category, of one’s own', async () => {
    const { organisation, manager, member } = await some()
    for (let time = 1; time <= 2; time++) await tell(organisation, { kind: 'bill.low' })
    const resource = await tell(organisation)
    await readAll(manager, { category: 'money' })
    expect(await texts(manager, { unread: 'true' })).toEqual([resource])
    await readAll(manager)
    expect([await unread(manager), await unread(member)]).toEqual([0, 1])
    await tell(organisation)
    expect(await unread(manager)).toBe(1)
  })

  it('begins with what is told since somebody is there, and ends with what they are told no more', async () => {
    const { organisation, manager, member } = await some()
    const [money, resource] = [await tell(organisation, { kind: 'bill.low' }), await tell(organisation)]
    const newcomer = await someone(app, { organisation })
    expect([await texts(newcomer), await unread(newcomer)]).toEqual([[resource, money], 0])
    const elsewhere = await makeOrganisation(app)
    await app.platform.db.updateTable('users').set({ bp_id: elsewhere }).where('id', 'in', [manager.id, member.id]).execute()
    for (const who of [manager, member]) {
      Object.assign(who, await signIn(app, who))
      expect([await texts(who), await unread(who)]).toEqual([[], 0])
    }
  })

  it('is not asked of who may not sign in', async () => {
    const { organisation } = await some()
    const disabled = await makeUser(app, { organisation, status: 'disabled' })
    await tell(organisation)
    expect(await app.platform.db.selectFrom('message_unread').select('message_id').where('user_id', '=', disabled.id).execute()).toEqual([])
  })

  it('counts no further than anybody tells numbers apart', async () => {
    const { organisation, manager } = await some()
    await app.platform.database.pool.query(
      `with told as (
         insert into messages (id, bp_id, kind, text, about_kind, about_id, about_name, key, at)
         select gen_random_uuid(), $1::uuid, 'bill.low', 'x', 'bill.account', $1::text, 'x', nr, now() from generate_series(1, $3::int) as nr returning id
       ) insert into message_unread select $2::uuid, id from told`,
      [organisation, manager.id, unreadMost + 20],
    )
    expect(await unread(manager)).toBe(unreadMost)
    expect((await call(app, messages.list, { token: manager.token, query: { unread: 'true' } })).total).toBe(unreadMost + 20)
  })
})

describe('old messages', () => {
  const age = (text: string, count: number) =>
    app.platform.db
      .updateTable('messages')
      .set({ at: daysAgo(count) })
      .where('text', '=', text)
      .execute()

  it('go after half a year, or when the platform’s setting says so, and are unread by nobody', async () => {
    const { organisation, manager } = await some()
    const [old, kept] = [await tell(organisation), await tell(organisation)]
    await age(old, 181)
    await age(kept, 179)
    await service.clean()
    expect([await texts(manager), await unread(manager)]).toEqual([[kept], 1])
    await call(app, configs.set, { token: admin.token, body: { key: 'message_days', value: '30' } })
    await expect
      .poll(async () => {
        await service.clean()
        return texts(manager)
      })
      .toEqual([])
    expect(await unread(manager)).toBe(0)
    await call(app, configs.reset, { token: admin.token, query: { key: 'message_days' } })
  })
})
