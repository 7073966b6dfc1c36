import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { accounts } from '@zhisuan/contract/bill/account'
import { orders } from '@zhisuan/contract/bill/order'
import type { BodyInput } from '@zhisuan/contract/define'
import { faultMinutes, rentals } from '@zhisuan/contract/market/rental'
import { configs } from '@zhisuan/contract/sys/sys'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { idleEveryMs, lookEveryMs, tickEveryMs } from './rental.service.ts'
import { hostGivenUpSeconds, toLookAt } from './rental.store.ts'

const pause = shortened([lookEveryMs, tickEveryMs], 50)
let app: TestApp
let renter: Person & SignedIn
let nodes: CardNode[]
let offer_id: string

beforeAll(async () => {
  app = await testApp({}, { pause })
  const admin = await someone(app, { kind: 1 })
  const owner = await someone(app)
  renter = await someone(app)
  nodes = [await cardNode(app, owner.token), await cardNode(app, owner.token)]
  await providing(app, owner, admin, nodes, '华东算力')
  await call(app, configs.set, { token: admin.token, body: { key: 'market_prepaid', value: '1' } })
  offer_id = (await listed(app, owner, admin, { day_price: '300' })).id
  await call(app, accounts.charge, { token: admin.token, params: { id: renter.bp_id ?? '' }, body: { amount: '5000' } })
})
afterAll(async () => {
  for (const node of nodes) node.stop()
  await app.close()
})

const wish = (more: Partial<BodyInput<typeof rentals.create>> = {}) => ({ name: `m-${randomUUID().slice(0, 8)}`, offer_id, image: 'app:1', ...more })
const one = (id: string) => ({ token: renter.token, params: { id } })
const rowOf = (id: string) => app.platform.db.selectFrom('market_rentals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const becomes = (id: string, expected: object) =>
  vi.waitFor(async () => {
    const row = await rowOf(id)
    expect(row).toMatchObject(expected)
    return row
  }, 10_000)
const rent = async (more: Parameters<typeof wish>[0] = {}) => (await call(app, rentals.create, { token: renter.token, body: wish(more) })).id
const release = async (id: string) => {
  await vi.waitFor(() => call(app, rentals.release, one(id)), 5_000)
  await becomes(id, { status: 'released' })
}
const nodeOf = (edgeId: string | null): CardNode => {
  const node = nodes.find(({ edge }) => edge.id === edgeId)
  if (node === undefined) throw new Error('no such node')
  return node
}

it('what waits for a host that is away is looked at no more until that is back, and keeps nobody else waiting', async () => {
  const ids = [await rent(), await rent()]
  const [stopping, releasing] = await Promise.all(ids.map((id) => becomes(id, { status: 'running' })))
  const node = nodeOf(stopping?.edge_id ?? null)
  expect(releasing?.edge_id).toBe(stopping?.edge_id)
  node.stop()
  for (const id of ids) await becomes(id, { status: 'running', fault: 'host' })
  await call(app, rentals.stop, one(ids[0] ?? ''))
  await call(app, rentals.release, one(ids[1] ?? ''))
  await becomes(ids[0] ?? '', { status: 'stopping', fault: 'host', hourly: '0' })
  await becomes(ids[1] ?? '', { status: 'releasing' })
  await vi.waitFor(async () => expect(await toLookAt(app.platform.db, app.clock.now(), 500)).toEqual([]))
  await node.reconnect()
  await becomes(ids[0] ?? '', { status: 'stopped', fault: null })
  await becomes(ids[1] ?? '', { status: 'released' })
  await release(ids[0] ?? '')
}, 30_000)

it('a host that is lost while a machine is made there is given up after some seconds for the next one', async () => {
  for (const { docker } of nodes) docker.fail((_method, path) => (path === '/containers/create' ? new Promise(() => undefined) : null))
  const id = await rent({ count: 2 })
  const first = nodeOf((await rowOf(id)).edge_id)
  for (const node of nodes) if (node !== first) node.docker.fail(null)
  await sleep(200)
  first.stop()
  await becomes(id, { status: 'placing', fault: 'host', hourly: '0' })
  app.clock.advance(hostGivenUpSeconds * 1_000)
  const made = await becomes(id, { status: 'running', fault: null })
  expect(made.edge_id).not.toBe(first.edge.id)
  expect(made.attempts).toMatchObject([{ edge_id: first.edge.id, reason: expect.stringContaining('失去联系') as string }])
  await release(id)
  first.docker.fail(null)
  await first.reconnect()
  // It has its cards there until it is known what became of it.
  await vi.waitFor(
    async () => expect(await app.platform.db.selectFrom('market_holds').select('id').where('released_at', 'is', null).execute()).toEqual([]),
    15_000,
  )
}, 60_000)

it('servers say that they are there, however long a look takes: a long one gives nothing away', async () => {
  const seen = async () => (await app.platform.db.selectFrom('market_clock').select('seen_at').executeTakeFirstOrThrow()).seen_at.getTime()
  await app.platform.db.transaction().execute(async (tx) => {
    await sql`lock table market_waits in access exclusive mode`.execute(tx)
    await sleep(200)
    const before = await seen()
    await vi.waitFor(async () => expect(await seen()).toBeGreaterThan(before), 2_000)
  })
})

it('a machine that has nothing to do is known to have nothing to do by the server that its node tells, and no other', async () => {
  const id = await rent({ idle_minutes: 5 })
  const { edge_id } = await becomes(id, { status: 'running' })
  nodeOf(edge_id).docker.load.ticks = 0
  const second = await testApp({ DATABASE_URL: app.databaseUrl }, { clock: app.clock, pause })
  try {
    app.clock.advance(idleEveryMs)
    const { idle_since } = await vi.waitFor(async () => {
      const row = await rowOf(id)
      expect(row.idle_since).not.toBeNull()
      return row
    }, 5_000)
    for (let asked = 0; asked < 4; asked++) {
      const { idle_told_at } = await rowOf(id)
      app.clock.advance(idleEveryMs)
      await vi.waitFor(async () => expect((await rowOf(id)).idle_told_at).not.toEqual(idle_told_at), 5_000)
      await sleep(150)
      expect((await rowOf(id)).idle_since).toEqual(idle_since)
    }
  } finally {
    await second.close()
  }
  nodeOf(edge_id).docker.load.ticks = 200
  await release(id)
}, 30_000)

it('paid in advance and with a sick card it starts with others where there are some, and else is moved', async () => {
  const order = await call(app, orders.create, { token: renter.token, body: { resource_type: 'market.rental', create: wish(), period: 'day' } })
  await call(app, orders.pay, { token: renter.token, params: { id: order.id } })
  const id = await vi.waitFor(async () => {
    const now = await call(app, orders.get, { token: renter.token, params: { id: order.id } })
    expect(now.status).toBe('delivered')
    return now.resource.id ?? ''
  }, 15_000)
  const before = await becomes(id, { status: 'running', prepaid_until: expect.any(Date) as Date })
  const node = nodeOf(before.edge_id)
  const sicken = async (broken: boolean) => {
    const has = (await rowOf(id)).card_ids
    const uuids = (await app.platform.db.selectFrom('market_cards').select('uuid').where('id', 'in', has).execute()).map(({ uuid }) => uuid)
    for (const card of node.cards)
      if (card.health !== null && uuids.includes(card.gpu.uuid)) card.health = { ...card.health, uncorrected_errors: broken ? 1 : 0 }
    await node.reconnect()
  }
  const stoppedByFault = async () => {
    await sicken(true)
    await becomes(id, { fault: 'card' })
    app.clock.advance(faultMinutes * 60_000)
    await becomes(id, { status: 'stopped', stop_reason: 'fault', fault: null })
    // Sessions end before.
    renter = { ...renter, ...(await signIn(app, renter)) }
  }
  await stoppedByFault()
  await vi.waitFor(() => call(app, rentals.start, one(id)), 5_000)
  const again = await becomes(id, { status: 'running' })
  expect(again.edge_id).toBe(before.edge_id)
  expect(again.card_ids).not.toEqual(before.card_ids)
  // Now both of its host are sick.
  await stoppedByFault()
  expect(await refused(app, rentals.start, one(id))).toMatchObject({ code: 98011 })
  await vi.waitFor(() => call(app, rentals.move, one(id)), 5_000)
  const moved = await becomes(id, { status: 'running', prepaid_until: before.prepaid_until })
  expect(moved.edge_id).not.toBe(before.edge_id)
}, 60_000)
