import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { configs } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

let app: TestApp
let admin: Person & SignedIn
let renter: Person & SignedIn
let node: CardNode
let offer_id: string

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  const owner = await someone(app)
  renter = await someone(app)
  node = await cardNode(app, owner.token, { count: 3 })
  await providing(app, owner, admin, [node], '华东算力')
  // 12.6 an hour with its disk, and 0.05 stopped.
  offer_id = (await listed(app, owner, admin)).id
  await call(app, configs.reset, { token: admin.token, query: { key: 'market_hours_ahead' } })
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const wish = () => ({ name: `m-${randomUUID().slice(0, 8)}`, offer_id, image: 'app:1' })
const becomes = (id: string, status: Rental['status']) =>
  vi.waitFor(async () => expect(await call(app, rentals.get, { token: renter.token, params: { id } })).toMatchObject({ status }), 10_000)

it('who rents, starts or moves has enough for an hour of all that they rent, and is told how much they have and need', async () => {
  const unpaid = (count = 1) => refused(app, rentals.create, { token: renter.token, body: { ...wish(), count } })
  const hours = (value: string) => call(app, configs.set, { token: admin.token, body: { key: 'market_hours_ahead', value } })
  expect(await unpaid()).toMatchObject({ status: 409, code: 98029, message: expect.stringMatching(/0\.00元.*12\.60元/) as string })
  await call(app, accounts.charge, { token: admin.token, params: { id: renter.bp_id ?? '' }, body: { amount: '13' } })
  const { id } = await call(app, rentals.create, { token: renter.token, body: wish() })
  await becomes(id, 'running')
  expect(await unpaid()).toMatchObject({ code: 98029, message: expect.stringMatching(/13\.00元.*25\.20元/) as string })
  // Stopped, its disk alone is counted.
  await call(app, rentals.stop, { token: renter.token, params: { id } })
  await becomes(id, 'stopped')
  expect((await unpaid(2)).message).toContain('25.25元')
  await hours('2')
  for (const what of [rentals.start, rentals.move])
    expect(await refused(app, what, { token: renter.token, params: { id } })).toMatchObject({
      code: 98029,
      message: expect.stringContaining('2小时') as string,
    })
  await hours('1')
  await vi.waitFor(() => call(app, rentals.start, { token: renter.token, params: { id } }), 5_000)
  await becomes(id, 'running')
}, 30_000)
