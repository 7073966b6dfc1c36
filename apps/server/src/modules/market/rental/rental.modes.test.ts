import { randomUUID } from 'node:crypto'
import { accounts } from '@zhisuan/contract/bill/account'
import { quotes } from '@zhisuan/contract/bill/catalogue'
import { orders } from '@zhisuan/contract/bill/order'
import type { BodyInput } from '@zhisuan/contract/define'
import { offers, type Offer } from '@zhisuan/contract/market/offer'
import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { messages } from '@zhisuan/contract/sys/message'
import { configs } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { cardNode, listed, providing, someTerms, type CardNode } from '../../../testing/market.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { lookEveryMs, noticeJob } from './rental.service.ts'

const dayMs = 86_400_000
let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let renter: Person & SignedIn
let other: Person & SignedIn
let node: CardNode
let offer: Offer
let interruptible: Offer

beforeAll(async () => {
  app = await testApp({}, { pause: shortened([lookEveryMs], 50) })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  renter = await someone(app)
  other = await someone(app)
  node = await cardNode(app, owner.token)
  await providing(app, owner, admin, [node], '华东算力')
  // Until the platform says so, nobody pays in advance.
  expect(await refused(app, offers.create, { token: owner.token, body: someTerms({ day_price: '200' }) })).toMatchObject({
    code: 98026,
    fields: [{ field: 'day_price' }],
  })
  await call(app, configs.set, { token: admin.token, body: { key: 'market_prepaid', value: '1' } })
  offer = await listed(app, owner, admin, { day_price: '200', week_price: '1000' })
  interruptible = await listed(app, owner, admin, { mode: 'interruptible', card_price: '5', grace_seconds: 60 })
  for (const { bp_id } of [renter, other]) await call(app, accounts.charge, { token: admin.token, params: { id: bp_id ?? '' }, body: { amount: '5000' } })
  app.clock.advance(1_000)
})
afterAll(async () => {
  node.stop()
  await app.close()
})

type Wish = Partial<BodyInput<typeof rentals.create>>
const wish = (more: Wish = {}) => ({ name: `m-${randomUUID().slice(0, 8)}`, offer_id: offer.id, image: 'app:1', ...more })
const rowOf = (id: string) => app.platform.db.selectFrom('market_rentals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const becomes = (id: string, expected: object) =>
  vi.waitFor(async () => {
    const row = await rowOf(id)
    expect(row).toMatchObject(expected)
    return row
  }, 10_000)
const running = async (who: SignedIn, more: Wish = {}) =>
  becomes((await call(app, rentals.create, { token: who.token, body: wish(more) })).id, { status: 'running' })
const release = async (who: SignedIn, id: string) => {
  await vi.waitFor(() => call(app, rentals.release, { token: who.token, params: { id } }), 5_000)
  await becomes(id, { status: 'released' })
}
const openHolds = () => app.platform.db.selectFrom('market_holds').select(['card_id', 'rental_id']).where('released_at', 'is', null).execute()
const usageOf = async (id: string) =>
  (
    await app.platform.db
      .selectFrom('usage_events')
      .select('usage')
      .where('resource_id', '=', id)
      .orderBy('at', 'desc')
      .orderBy('revision', 'desc')
      .executeTakeFirst()
  )?.usage
const used = (of: Pick<Rental, 'count' | 'disk_bytes'>) => ({ [`market.card/${offer.id}`]: of.count, [`market.disk/${offer.id}`]: of.disk_bytes })

describe('a machine that is paid in advance', () => {
  let id: string

  it('costs what was quoted, is there until that is over, and nothing by the second', async () => {
    const items = [
      { meter: 'market.card' as const, variant: offer.id, quantity: 1 },
      { meter: 'market.disk' as const, variant: offer.id, quantity: offer.disk_bytes_per_card },
    ]
    const quote = await call(app, quotes.ask, { token: renter.token, body: { period: 'day', count: 1, items } })
    // A card for 200 a day, and 100 GiB at 0.001 for 24 hours.
    expect(quote.amount).toBe('202.40')
    const order = await call(app, orders.create, { token: renter.token, body: { resource_type: 'market.rental', create: wish(), period: 'day' } })
    expect(order.amount).toBe(quote.amount)
    expect(await openHolds()).toEqual([])
    await call(app, orders.pay, { token: renter.token, params: { id: order.id } })
    const delivered = await vi.waitFor(async () => {
      const now = await call(app, orders.get, { token: renter.token, params: { id: order.id } })
      expect(now.status).toBe('delivered')
      return now
    }, 15_000)
    id = delivered.resource.id ?? ''
    const { covers } = delivered
    expect(Date.parse(covers?.to ?? '') - Date.parse(covers?.from ?? '')).toBe(dayMs)
    const row = await becomes(id, { status: 'running', prepaid_until: new Date(covers?.to ?? ''), hourly: '0' })
    expect(await usageOf(id)).toEqual(used(row))
  })

  it('keeps its cards while it is stopped, and starts with them', async () => {
    const before = await rowOf(id)
    await call(app, rentals.stop, { token: renter.token, params: { id } })
    const stopped = await becomes(id, { status: 'stopped', release_at: null, hourly: '0' })
    expect((await openHolds()).map(({ card_id }) => card_id)).toEqual(before.card_ids)
    expect(await usageOf(id)).toEqual(used(stopped))
    await vi.waitFor(() => call(app, rentals.start, { token: renter.token, params: { id } }), 5_000)
    expect((await becomes(id, { status: 'running' })).card_ids).toEqual(before.card_ids)
  })

  it('goes on in advance where that is paid for, and by the second where it is not; who has it is told before', async () => {
    const until = (await rowOf(id)).prepaid_until?.getTime() ?? 0
    const more = await call(app, orders.create, { token: renter.token, body: { resource_type: 'market.rental', resource_id: id, period: 'week' } })
    expect(more.kind).toBe('renewal')
    await call(app, orders.pay, { token: renter.token, params: { id: more.id } })
    await becomes(id, { prepaid_until: new Date(until + 7 * dayMs) })
    await call(app, rentals.stop, { token: renter.token, params: { id } })
    await becomes(id, { status: 'stopped' })
    app.clock.advance(7 * dayMs)
    await app.platform.db.transaction().execute(async (tx) => {
      await app.platform.jobs.send(tx, noticeJob, {})
      await app.platform.jobs.send(tx, noticeJob, {})
    })
    renter = { ...renter, ...(await signIn(app, renter)) }
    const told = await vi.waitFor(async () => {
      const now = (await call(app, messages.list, { token: renter.token, query: {} })).items.filter(({ kind }) => kind === 'market.rentalEnding')
      expect(now).toHaveLength(1)
      return now
    }, 10_000)
    expect(told[0]?.text).toContain('1天')
    app.clock.advance(dayMs)
    // Stopped, it is from now on as others are that are stopped.
    const over = await becomes(id, { status: 'stopped', prepaid_until: null })
    await vi.waitFor(async () => expect(await openHolds()).toEqual([]), 5_000)
    expect(await usageOf(id)).toEqual({ [`market.stoppedDisk/${offer.id}`]: over.disk_bytes })
    await becomes(id, { release_at: expect.any(Date) as Date })
    renter = { ...renter, ...(await signIn(app, renter)) }
    // It has no cards to be paid for.
    expect(await refused(app, orders.create, { token: renter.token, body: { resource_type: 'market.rental', resource_id: id, period: 'day' } })).toMatchObject({
      code: 96022,
    })
    await release(renter, id)
  })

  it('is paid so only where its offer says so', async () => {
    const body = (offer_id: string, period: 'month' | 'day') => ({ resource_type: 'market.rental' as const, create: wish({ offer_id }), period })
    expect(await refused(app, orders.create, { token: renter.token, body: body(offer.id, 'month') })).toMatchObject({ code: 24007 })
    expect(await refused(app, orders.create, { token: renter.token, body: body(interruptible.id, 'day') })).toMatchObject({ code: 24007 })
    owner = { ...owner, ...(await signIn(app, owner)) }
    for (const [terms, field] of [
      [{ mode: 'interruptible' }, 'grace_seconds'],
      [{ grace_seconds: 60 }, 'grace_seconds'],
      [{ mode: 'interruptible', grace_seconds: 60, day_price: '1' }, 'mode'],
    ] as const)
      expect(await refused(app, offers.create, { token: owner.token, body: someTerms(terms) }), field).toMatchObject({ fields: [{ field }] })
  })
})

describe('a machine that is interruptible', () => {
  it('gives its cards to whoever rents on demand and finds none free: after the grace, told before, its disk kept', async () => {
    for (const who of [other, renter]) Object.assign(who, await signIn(app, who))
    const giver = await running(other, { offer_id: interruptible.id, count: 2 })
    const taker = await call(app, rentals.create, { token: renter.token, body: wish() })
    expect(taker).toMatchObject({ status: 'placing', container_id: null, hourly: '0.00', waits_until: expect.any(String) as string })
    const told = await rowOf(giver.id)
    expect((told.interrupt_at?.getTime() ?? 0) - app.clock.now().getTime()).toBeGreaterThan(50_000)
    expect((await call(app, messages.list, { token: other.token, query: {} })).items[0]).toMatchObject({ kind: 'market.rentalInterrupting' })
    // What it waits for is nobody else's, and is not interrupted twice.
    expect(await refused(app, rentals.create, { token: renter.token, body: wish({ count: 2, alternatives: false }) })).toMatchObject({ code: 98011 })
    expect((await rowOf(giver.id)).status).toBe('running')
    app.clock.advance(60_000)
    const gave = await becomes(giver.id, { status: 'stopped', stop_reason: 'interrupted', interrupt_at: null })
    expect(await usageOf(giver.id)).toEqual({ [`market.stoppedDisk/${interruptible.id}`]: gave.disk_bytes })
    const took = await becomes(taker.id, { status: 'running', waits_until: null })
    expect(giver.card_ids).toContain(took.card_ids[0])
    expect(await app.platform.db.selectFrom('market_claims').selectAll().execute()).toEqual([])
    // Two were its own; it is started again once both are free.
    expect(await refused(app, rentals.start, { token: other.token, params: { id: giver.id } })).toMatchObject({ code: 98011 })
    await release(renter, taker.id)
    await call(app, rentals.start, { token: other.token, params: { id: giver.id } })
    await becomes(giver.id, { status: 'running' })
  })

  it('goes on where whoever waited for its cards wants them no longer', async () => {
    const [giver] = await app.platform.db
      .selectFrom('market_rentals')
      .selectAll()
      .where('status', '=', 'running')
      .where('offer_id', '=', interruptible.id)
      .execute()
    const taker = await call(app, rentals.create, { token: renter.token, body: wish() })
    await release(renter, taker.id)
    await becomes(giver?.id ?? '', { status: 'running', interrupt_at: null })
    app.clock.advance(120_000)
    await becomes(giver?.id ?? '', { status: 'running' })
    await release(other, giver?.id ?? '')
    expect(await openHolds()).toEqual([])
  })
})
