import { containers } from '@zhisuan/contract/cis/container'
import { quotes } from '@zhisuan/contract/bill/catalogue'
import type { QueryInput } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { cards, marketNodes } from '@zhisuan/contract/market/card'
import { offers } from '@zhisuan/contract/market/offer'
import { providers } from '@zhisuan/contract/market/provider'
import { messages } from '@zhisuan/contract/sys/message'
import { configs } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'
import { cardNode, listed, providing, someTerms, type CardNode } from '../../testing/market.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let stranger: Person & SignedIn
let node: CardNode

beforeAll(async () => {
  app = await testApp()
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  stranger = await someone(app)
  node = await cardNode(app, owner.token)
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const params = () => ({ id: node.edge.id })
const cardsOf = async (who: SignedIn) => (await call(app, cards.list, { token: who.token, query: {} })).items
const browse = (query: QueryInput<typeof offers.browse> = {}) => call(app, offers.browse, { query })
/** What is shown is a second old, or two. */
const shownSoon = (expected: object, query: QueryInput<typeof offers.browse> = {}) =>
  vi.waitFor(async () => expect((await browse(query)).items).toMatchObject([expected]), 5_000)

describe('a provider', () => {
  it('is bound to one organisation, and verified by an administrator', async () => {
    const about = { name: '华东算力', contact: '张三 13800000000' }
    const mine = await call(app, providers.create, { token: owner.token, body: about })
    expect(mine).toMatchObject({ status: 'pending', bp_id: owner.bp_id })
    expect(await refused(app, providers.create, { token: owner.token, body: { ...about, name: '另一个' } })).toMatchObject({ code: 26004 })
    expect(await refused(app, providers.create, { token: stranger.token, body: about })).toMatchObject({ code: 98001, fields: [{ field: 'name' }] })
    expect(await refused(app, providers.review, { token: owner.token, params: { id: mine.id }, body: { action: 'verify' } })).toMatchObject({ status: 403 })
    expect(await refused(app, providers.get, { token: stranger.token, params: { id: mine.id } })).toMatchObject({ status: 404 })
    const disabled = await call(app, providers.review, { token: admin.token, params: { id: mine.id }, body: { action: 'disable', reason: '资料不全' } })
    expect(disabled).toMatchObject({ status: 'disabled', reason: '资料不全' })
    const verified = await call(app, providers.review, { token: admin.token, params: { id: mine.id }, body: { action: 'verify' } })
    expect(verified).toMatchObject({ status: 'verified', reason: null, verified_at: expect.any(String) as string })
  })
})

describe('a node with cards', () => {
  it('shows what its agent tells of them, to whose it is', async () => {
    await vi.waitFor(async () => expect(await cardsOf(owner)).toHaveLength(2), 10_000)
    expect((await cardsOf(owner)).find(({ index }) => index === 0)).toMatchObject({
      model: 'NVIDIA H100',
      memory_bytes: 80 * 2 ** 30,
      driver: '550.54.15',
      cuda: '12.4',
      health: 'healthy',
      state: 'unlisted',
    })
    expect(await cardsOf(stranger)).toEqual([])
    expect(await refused(app, marketNodes.test, { token: stranger.token, params: params() })).toMatchObject({ status: 404 })
  })

  it('comes into the market once it has passed its test, and its cards are for rents only', async () => {
    expect(await refused(app, marketNodes.enlist, { token: owner.token, params: params() })).toMatchObject({ code: 98005 })
    node.disk.bytesPerSecond = 2 ** 20
    const failed = await call(app, marketNodes.test, { token: owner.token, params: params() })
    expect(failed.test).toMatchObject({ passed: false })
    expect(failed.test?.checks.filter(({ passed }) => !passed)).toEqual([{ check: 'disk', passed: false, value: '1 MiB/s' }])
    expect(await refused(app, marketNodes.enlist, { token: owner.token, params: params() })).toMatchObject({ code: 98005 })
    node.disk.bytesPerSecond = 500 * 2 ** 20
    expect(await call(app, marketNodes.test, { token: owner.token, params: params() })).toMatchObject({ test: { passed: true } })

    const deploy = { name: 'own', spec: { image: 'app:1', gpus: 1 }, placement: { edge_ids: [node.edge.id] } }
    const { items } = await call(app, containers.deploy, { token: owner.token, body: deploy })
    expect(await refused(app, marketNodes.enlist, { token: owner.token, params: params() })).toMatchObject({ code: 98006 })
    const own = { token: owner.token, params: { id: items[0]?.id ?? '' } }
    await vi.waitFor(async () => expect(await call(app, containers.get, own)).toMatchObject({ status: 'running' }))
    // Its operation ends a moment after it runs.
    await vi.waitFor(() => call(app, containers.delete, own))
    await vi.waitFor(async () => expect(await refused(app, containers.get, own)).toMatchObject({ status: 404 }))

    expect(await call(app, marketNodes.enlist, { token: owner.token, params: params() })).toMatchObject({ listed: true, cards: { total: 2, healthy: 2 } })
    expect(await refused(app, containers.deploy, { token: owner.token, body: { ...deploy, name: 'late' } })).toMatchObject({ code: 98010 })
  })
})

describe('an offer', () => {
  it('is proposed by a provider, decided by an administrator, and then priced in the catalogue', async () => {
    expect(await refused(app, offers.create, { token: stranger.token, body: someTerms() })).toMatchObject({ code: 98002 })
    expect(await refused(app, offers.create, { token: owner.token, body: someTerms({ card_model: 'NVIDIA A100' }) })).toMatchObject({ code: 98003 })
    expect(await refused(app, offers.create, { token: owner.token, body: someTerms({ card_price: '-1' }) })).toMatchObject({
      status: 400,
      fields: [{ field: 'card_price' }],
    })
    const offer = await call(app, offers.create, { token: owner.token, body: someTerms() })
    expect(offer).toMatchObject({ status: 'proposed', card_price: '12.50', disk_price: '0.001', free_cards: 2 })
    expect((await browse()).total).toBe(0)
    expect(await refused(app, offers.get, { token: stranger.token, params: { id: offer.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, offers.decide, { token: owner.token, params: { id: offer.id }, body: { accept: true } })).toMatchObject({ status: 403 })
    const other = await call(app, offers.create, { token: owner.token, body: someTerms({ card_price: '99' }) })
    const rejected = await call(app, offers.decide, { token: admin.token, params: { id: other.id }, body: { accept: false, reason: '价格过高' } })
    expect(rejected).toMatchObject({ status: 'rejected', reason: '价格过高' })
    await call(app, offers.decide, { token: admin.token, params: { id: offer.id }, body: { accept: true } })
    await shownSoon({ id: offer.id, free_cards: 2, total_cards: 2, free_together: 2, cuda: '12.4', card_memory_bytes: 80 * 2 ** 30 })

    const quoted = await call(app, quotes.ask, {
      token: stranger.token,
      body: {
        period: 'hour',
        items: [
          { meter: 'market.card', variant: offer.id, quantity: 2 },
          { meter: 'market.disk', variant: offer.id, quantity: 200 * 2 ** 30 },
        ],
      },
    })
    // Two cards at 12.5, and 200 GiB at 0.001.
    expect(quoted.amount).toBe('25.20')
    const [shown] = (await browse({ count: 2 })).items
    expect(shown).toMatchObject({ asked: { count: 2, running: '25.20', stopped: '0.10' }, starts: null })
    // What is said of a stop is what days of it cost.
    const days = await call(app, quotes.ask, {
      token: stranger.token,
      body: { period: 'hour', count: 24, items: [{ meter: 'market.stoppedDisk', variant: offer.id, quantity: 200 * 2 ** 30 }] },
    })
    expect(days.amount).toBe('2.40')
  })

  it('is found by what somebody looks for, without an account', async () => {
    for (const [query, total] of [
      [{ card_model: 'NVIDIA H100' }, 1],
      [{ card_model: 'NVIDIA A100' }, 0],
      [{ memory_bytes: 80 * 2 ** 30 }, 1],
      [{ memory_bytes: 81 * 2 ** 30 }, 0],
      [{ count: 3 }, 0],
      [{ cuda: '12.4' }, 1],
      [{ cuda: '12.10' }, 0],
      [{ price: '12.6' }, 1],
      [{ price: '12.59' }, 0],
      [{ count: 2, free: 'true' }, 1],
      [{ keyword: '华东' }, 1],
    ] as const)
      expect((await browse(query)).total, JSON.stringify(query)).toBe(total)
    expect((await browse()).facets).toMatchObject({ models: [{ model: 'NVIDIA H100', total: 2, free: 2 }], cudas: ['12.4'] })
  })

  it('is proposed and listed for no less than the platform’s least price', async () => {
    const before = await call(app, offers.create, { token: owner.token, body: someTerms({ card_price: '7.99' }) })
    await call(app, configs.set, { token: admin.token, body: { key: 'market_floor_price', value: '8' } })
    const refusal = { status: 400, code: 98025 }
    expect(await refused(app, offers.create, { token: owner.token, body: someTerms({ card_price: '7.99' }) })).toMatchObject({
      ...refusal,
      fields: [{ field: 'card_price' }],
    })
    expect(await refused(app, offers.decide, { token: admin.token, params: { id: before.id }, body: { accept: true } })).toMatchObject(refusal)
    await call(app, configs.reset, { token: admin.token, query: { key: 'market_floor_price' } })
    await call(app, offers.action, { token: owner.token, params: { id: before.id }, body: { action: 'end' } })
  })

  it('is paused and ended by its provider', async () => {
    const [shown] = (await browse()).items
    const id = shown?.id ?? ''
    await call(app, offers.action, { token: owner.token, params: { id }, body: { action: 'pause' } })
    await vi.waitFor(async () => expect((await browse()).total).toBe(0), 5_000)
    expect(await refused(app, offers.action, { token: owner.token, params: { id }, body: { action: 'pause' } })).toMatchObject({ code: 90010 })
    await call(app, offers.action, { token: owner.token, params: { id }, body: { action: 'resume' } })
    await shownSoon({ id })
  })
})

describe('a card that is sick', () => {
  it('leaves the market, its provider is told, and it comes back when it is well', async () => {
    const [first] = node.cards
    if (first?.health === undefined || first.health === null) throw new Error('no card')
    const { health } = first
    first.health = { ...health, xids: [{ code: 79, at: new Date().toISOString() }] }
    await node.reconnect()
    await shownSoon({ free_cards: 1, total_cards: 2, free_together: 1 })
    const sick = (await cardsOf(owner)).find(({ index }) => index === 0)
    expect(sick).toMatchObject({ health: 'sick', trouble: 'xid', trouble_detail: '79', state: 'sick' })
    const told = await call(app, messages.list, { token: owner.token, query: {} })
    expect(told.items).toMatchObject([{ kind: 'market.cardSick', text: expect.stringContaining('Xid 79') as string }])
    // A test finds it too.
    expect((await call(app, marketNodes.test, { token: owner.token, params: params() })).test?.checks.find(({ check }) => check === 'cards')).toMatchObject({
      passed: false,
    })
    expect(await refused(app, cards.clear, { token: stranger.token, params: { id: sick?.id ?? '' } })).toMatchObject({ status: 404 })
    // What its node does not pass is not seen to.
    const { gpu } = first
    first.gpu = { ...gpu, driver: '550.54.16' }
    expect(await refused(app, cards.clear, { token: owner.token, params: { id: sick?.id ?? '' } })).toMatchObject({ code: 98030 })
    first.gpu = gpu
    await call(app, cards.clear, { token: owner.token, params: { id: sick?.id ?? '' } })
    await node.reconnect()
    expect((await cardsOf(owner)).every((card) => card.health === 'healthy')).toBe(true)

    first.health = { ...health, slowed_by_heat: true }
    await node.reconnect()
    await vi.waitFor(async () => expect((await cardsOf(owner)).find(({ index }) => index === 0)).toMatchObject({ trouble: 'hot' }))
    first.health = null
    await node.reconnect()
    await vi.waitFor(async () => expect((await cardsOf(owner)).find(({ index }) => index === 0)).toMatchObject({ trouble: 'lost' }))
    // All of them at once, and its node reports of none: that is its driver.
    const all = node.cards.map((card) => ({ card, health: card.health }))
    for (const { card } of all) card.health = null
    await node.reconnect()
    await vi.waitFor(async () => expect((await cardsOf(owner)).map(({ trouble }) => trouble)).toEqual(['driver', 'driver']))
    for (const { card, health: before } of all) card.health = before
    first.health = health
    await node.reconnect()
    await vi.waitFor(async () => expect((await cardsOf(owner)).every((card) => card.trouble === null && card.health === 'healthy')).toBe(true))
  })

  it('is rented to nobody while its node is away, or takes nothing new', async () => {
    const token = owner.token
    await call(app, marketNodes.test, { token, params: params() })
    await call(app, marketNodes.enlist, { token, params: params() })
    await call(app, edges.activate, { token, params: params(), query: { action: 'deactive' } })
    await shownSoon({ free_cards: 0, total_cards: 2 })
    await call(app, edges.activate, { token, params: params(), query: { action: 'active' } })
    await shownSoon({ free_cards: 2 })
  })
})

describe('the platform', () => {
  it('is a provider of its own nodes', async () => {
    const own = await cardNode(app, admin.token, { count: 1, model: 'NVIDIA L40S', cuda: '12.2' })
    await providing(app, admin, admin, [own], '平台自营')
    await listed(app, admin, admin, { card_model: 'NVIDIA L40S', most_cards: 1, card_price: '3' })
    await shownSoon({ provider: { name: '平台自营' }, free_cards: 1 }, { card_model: 'NVIDIA L40S' })
    own.stop()
  })
})
