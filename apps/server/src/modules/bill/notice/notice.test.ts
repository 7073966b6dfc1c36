import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { standings } from '@zhisuan/contract/bill/arrears'
import { notices } from '@zhisuan/contract/bill/notice'
import { messages } from '@zhisuan/contract/sys/message'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone } from '../../../testing/people.ts'
import { chargeUsage } from '../testing.ts'
import { noticeMigrations } from './notice.store.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const messagesOf = async ({ token }: { token: string }) => (await call(app, messages.list, { token })).items
const unread = async ({ token }: { token: string }) => (await call(app, messages.unread, { token })).count

it('what an organisation is told of its money is told within the console too, in the same words, to who manages it', async () => {
  const [admin, tenant] = [await someone(app, { kind: 1 }), await someone(app)]
  const id = tenant.bp_id ?? ''
  const member = await someone(app, { kind: 4, organisation: id })
  await call(app, accounts.charge, { token: admin.token, params: { id }, body: { amount: '150' } })
  // Where an account begins, being low is no news.
  await expect.poll(async () => (await call(app, standings.get, { token: tenant.token, params: { id } })).since, { interval: 30 }).not.toBeNull()
  await chargeUsage(app.platform.db, id, '60')
  const told = async () => (await call(app, notices.list, { token: tenant.token })).items
  await expect.poll(async () => (await told()).length, { interval: 30 }).toBe(1)
  const [notice] = await told()
  const [message] = await messagesOf(tenant)
  expect(notice?.text).toBe(`【智算云】${message?.text}`)
  expect(message).toMatchObject({ kind: 'bill.low', category: 'money', about: { kind: 'bill.account', id }, read: false })
  expect([await unread(tenant), await unread(member)]).toEqual([1, 0])
})

it('what organisations were told before there were messages is one each, and read', async () => {
  const tenant = await someone(app)
  const [id, bp_id, at] = [randomUUID(), tenant.bp_id ?? '', new Date(app.clock.now().getTime() - 3 * 24 * 60 * 60_000)]
  await app.platform.db.transaction().execute(async (tx) => {
    await tx.insertInto('bill_notices').values({ id, bp_id, kind: 'low', text: '【智算云】可用余额已低于提醒线。', at }).execute()
    // Of what was told in the test before there is a message already, as there was of nothing when it ran.
    await tx.deleteFrom('messages').execute()
    await noticeMigrations['20261126_81_notices_as_messages']?.(tx)
  })
  expect(await messagesOf(tenant)).toEqual([
    {
      id,
      kind: 'bill.low',
      category: 'money',
      text: '可用余额已低于提醒线。',
      at: at.toISOString(),
      about: { kind: 'bill.account', id: bp_id, name: expect.stringContaining('org-') as string },
      read: true,
    },
  ])
  expect(await unread(tenant)).toBe(0)
})
