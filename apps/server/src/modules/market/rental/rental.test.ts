import { randomUUID } from 'node:crypto'
import { containers } from '@zhisuan/contract/cis/container'
import { consumes } from '@zhisuan/contract/bill/consume'
import { idempotencyKeyHeader, type BodyInput } from '@zhisuan/contract/define'
import { cards, marketNodes } from '@zhisuan/contract/market/card'
import { offers, type Offer } from '@zhisuan/contract/market/offer'
import { faultMinutes, incomes, rentals, waits, type Rental } from '@zhisuan/contract/market/rental'
import { messages } from '@zhisuan/contract/sys/message'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { deny, keeping } from '../../../testing/policies.ts'
import { rateUsage } from '../../bill/testing.ts'
import { lookEveryMs } from './rental.service.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let renter: Person & SignedIn
let other: Person & SignedIn
let nodes: CardNode[]
let offer: Offer
let providerId: string
const gib = 2 ** 30

beforeAll(async () => {
  app = await testApp({}, { pause: shortened([lookEveryMs], 50) })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  renter = await someone(app)
  other = await someone(app)
  nodes = [await cardNode(app, owner.token), await cardNode(app, owner.token)]
  providerId = await providing(app, owner, admin, nodes, '华东算力')
  offer = await listed(app, owner, admin)
})
afterAll(async () => {
  for (const node of nodes) node.stop()
  await app.close()
})

type Wish = Partial<BodyInput<typeof rentals.create>>
const wish = (more: Wish = {}) => ({ name: `m-${randomUUID().slice(0, 8)}`, offer_id: offer.id, image: 'app:1', ...more })
const rent = (who: SignedIn, more: Wish = {}): Promise<Rental> => call(app, rentals.create, { token: who.token, body: wish(more) })
const one = (who: SignedIn, id: string) => ({ token: who.token, params: { id } })
const becomes = (who: SignedIn, id: string, expected: Partial<Rental>): Promise<Rental> =>
  vi.waitFor(async () => {
    const rental = await call(app, rentals.get, one(who, id))
    expect(rental).toMatchObject(expected)
    return rental
  }, 10_000)
const running = async (who: SignedIn, more: Wish = {}): Promise<Rental> => becomes(who, (await rent(who, more)).id, { status: 'running' })
const release = async (who: SignedIn, id: string): Promise<Rental> => {
  await call(app, rentals.release, one(who, id))
  return becomes(who, id, { status: 'released' })
}
const usage = (id: string) =>
  app.platform.db.selectFrom('usage_events').select(['usage', 'attributes']).where('resource_id', '=', id).orderBy('at').orderBy('revision').execute()
const openHolds = () => app.platform.db.selectFrom('market_holds').select(['card_id', 'rental_id']).where('released_at', 'is', null).execute()
const onDocker = (containerId: string | null) =>
  nodes.flatMap(({ docker }) => [...docker.containers.values()]).find(({ body }) => body.Labels['zhisuan.container'] === containerId)
const devices = (containerId: string | null) =>
  (onDocker(containerId)?.body.HostConfig as unknown as { DeviceRequests: { DeviceIDs: string[] }[] } | undefined)?.DeviceRequests[0]?.DeviceIDs

describe('a machine that is rented', () => {
  it('is one, however often it is asked for with the same key', async () => {
    const key = randomUUID()
    const payload = wish()
    const ask = () =>
      app.http.inject({ method: 'POST', url: rentals.create.path, headers: { authorization: `Bearer ${renter.token}`, [idempotencyKeyHeader]: key }, payload })
    const [first, second] = await Promise.all([ask(), ask()])
    expect([first.statusCode, second.statusCode]).toEqual([202, 202])
    const { id } = first.json<Rental>()
    expect(second.json<Rental>().id).toBe(id)
    expect((await ask()).json<Rental>().id).toBe(id)
    expect((await call(app, rentals.list, { token: renter.token, query: { keyword: payload.name } })).total).toBe(1)
    await becomes(renter, id, { status: 'running' })
    await release(renter, id)
  })

  it.each([
    ['cis.container.deploy', rentals.create],
    ['cis.container.action', rentals.stop],
    ['cis.container.action', rentals.start],
    ['cis.container.delete', rentals.release],
  ] as const)('is a container: who is denied %s does it by no rental either', async (action, what) => {
    const member = await someone(app, { kind: 4, organisation: renter.bp_id })
    await keeping(app).give(renter, await keeping(app).makePolicy(renter, [deny(action)]), { user_id: member.id })
    const answer = await send(app, what, { token: member.token, params: { id: randomUUID() }, body: wish() })
    expect(answer.body).toMatchObject({ code: 3000, refused: { action, outcome: 'explicitDeny' } })
  })

  let rental: Rental

  it('is a container with exactly its cards on a node of its provider', async () => {
    rental = await rent(renter, { count: 2 })
    expect(rental).toMatchObject({
      status: 'placing',
      count: 2,
      hourly: '0.00',
      running_price: '25.20',
      stopped_price: '0.10',
      cpus: 16,
      memory_bytes: 64 * gib,
    })
    rental = await becomes(renter, rental.id, { status: 'running', hourly: '25.20' })
    expect(rental.cards).toHaveLength(2)
    expect(devices(rental.container_id)).toEqual(rental.cards.map(({ uuid }) => uuid))
    const host = onDocker(rental.container_id)?.body.HostConfig
    expect(host).toMatchObject({ NanoCpus: 16e9, Memory: 64 * gib, PortBindings: {} })
    expect(host?.Mounts).toMatchObject([{ Type: 'volume', Target: '/workspace' }])
    const stock = (await call(app, cards.list, { token: owner.token, query: {} })).items
    expect(
      stock
        .filter(({ state }) => state === 'rented')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(rental.cards.map(({ id }) => id).sort())
  })

  it('is its renter’s: its provider looks into it by no call, and nobody changes it but where it is rented', async () => {
    for (const who of [owner, other]) {
      expect(await refused(app, rentals.get, one(who, rental.id))).toMatchObject({ status: 404 })
      expect(await refused(app, containers.get, one(who, rental.container_id ?? ''))).toMatchObject({ status: 404 })
      expect(await refused(app, containers.terminal, { ...one(who, rental.container_id ?? ''), body: {} })).toMatchObject({ status: 404 })
    }
    const mine = one(renter, rental.container_id ?? '')
    expect(await call(app, containers.get, mine)).toMatchObject({ status: 'running' })
    for (const action of [{ action: 'stop' }, { action: 'update', spec: { image: 'app:1', gpus: 8 } }, { action: 'rebuild' }] as const)
      expect(await refused(app, containers.action, { ...mine, body: action })).toMatchObject({ code: 98015 })
    expect(await refused(app, containers.delete, mine)).toMatchObject({ code: 98015 })
    // Its disk has a name that nobody can give one: whoever has the node does not get at it so.
    const disk = onDocker(rental.container_id)?.body.HostConfig.Mounts?.[0]?.Source ?? ''
    const mounts = [{ type: 'volume' as const, name: disk, path: '/theirs' }]
    const placement = { edge_ids: nodes.map(({ edge }) => edge.id) }
    expect(await refused(app, containers.deploy, { token: owner.token, body: { name: 'thief', spec: { image: 'app:1', mounts }, placement } })).toMatchObject({
      status: 400,
    })
  })

  it('is charged from running on, and says whose machine and which cards', async () => {
    const [first, ...more] = await usage(rental.id)
    expect(more).toEqual([])
    expect(first?.usage).toEqual({ [`market.card/${offer.id}`]: 2, [`market.disk/${offer.id}`]: 200 * gib })
    expect(first?.attributes).toMatchObject({ provider_id: providerId, offer_id: offer.id, cards: rental.cards.map(({ id, uuid }) => ({ id, uuid })) })
  })

  it('keeps its disk while it is stopped, and pays for nothing else', async () => {
    await call(app, rentals.stop, one(renter, rental.id))
    const stopped = await becomes(renter, rental.id, { status: 'stopped', cards: [], stop_reason: 'person', hourly: '0.10' })
    expect(Date.parse(stopped.release_at ?? '') - Date.parse(stopped.stopped_at ?? '')).toBe(15 * 86_400_000)
    expect((await usage(rental.id)).at(-1)?.usage).toEqual({ [`market.stoppedDisk/${offer.id}`]: 200 * gib })
    expect(onDocker(rental.container_id)?.state).toBe('exited')
    expect(await openHolds()).toEqual([])
  })

  it('starts again with its cards as it was, and with others around its disk', async () => {
    await call(app, rentals.start, one(renter, rental.id))
    const again = await becomes(renter, rental.id, { status: 'running' })
    expect(again.cards).toEqual(rental.cards)
    await call(app, rentals.stop, one(renter, rental.id))
    await becomes(renter, rental.id, { status: 'stopped' })
    // Somebody else has one of them meanwhile; of its two none is left over.
    const thief = await running(other, { alternatives: false })
    const ours = nodes.find(({ cards: there }) => there.some(({ gpu }) => gpu.uuid === rental.cards[0]?.uuid))
    const onOurs = ours?.cards.some(({ gpu }) => gpu.uuid === thief.cards[0]?.uuid)
    if (onOurs === true) expect(await refused(app, rentals.start, one(renter, rental.id))).toMatchObject({ code: 98011 })
    await release(other, thief.id)
    await call(app, rentals.start, one(renter, rental.id))
    await becomes(renter, rental.id, { status: 'running' })
  })

  it('goes to another host where whose it is wants that more than what is on its disk', async () => {
    await call(app, rentals.stop, one(renter, rental.id))
    const stopped = await becomes(renter, rental.id, { status: 'stopped' })
    const left = onDocker(stopped.container_id)
    await vi.waitFor(() => call(app, rentals.move, one(renter, rental.id)), 5_000)
    const moved = await becomes(renter, rental.id, { status: 'running', stop_reason: null, release_at: null, hourly: '25.20' })
    expect(moved.running_at).toBe(stopped.running_at)
    const [from, to] = [left, onDocker(moved.container_id)].map((made) => nodes.find(({ docker }) => made !== undefined && docker.containers.has(made.id)))
    expect(to).toBeDefined()
    expect(from).not.toBe(to)
    // Nothing of it is left where it was.
    await vi.waitFor(() => expect(nodes.flatMap(({ docker }) => [...docker.containers.values()])).toHaveLength(1), 10_000)
    expect(
      nodes
        .filter((node) => node !== to)
        .flatMap(({ docker }) => docker.removedVolumes)
        .some((name) => name.includes(rental.id)),
    ).toBe(true)
    expect(new Set((await openHolds()).map(({ rental_id }) => rental_id))).toEqual(new Set([rental.id]))
    expect(await refused(app, rentals.move, one(renter, rental.id))).toMatchObject({ code: 90010 })
  })

  it('is released with its disk, and charged no more', async () => {
    await release(renter, rental.id)
    expect(onDocker(rental.container_id)).toBeUndefined()
    expect(nodes.flatMap(({ docker }) => docker.removedVolumes).some((name) => name.includes(rental.id))).toBe(true)
    expect((await usage(rental.id)).at(-1)?.usage).toEqual({})
    expect(await openHolds()).toEqual([])
    expect(await refused(app, rentals.start, one(renter, rental.id))).toMatchObject({ code: 90010 })
  })

  it('has lines that keep provider, machine, card and offer, for who shares them out', async () => {
    // As if it ran for an hour that is to come.
    const { id } = rental
    const next = Math.ceil(Date.now() / 3_600_000) * 3_600_000
    for (const [at, ended] of [
      [next, false],
      [next + 3_600_000, true],
    ] as const)
      await sql`
        insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, at, usage, attributes)
        select gen_random_uuid(), resource_type, resource_id, resource_name, bp_id, ${new Date(at)}, case when ${ended} then '{}' else usage end, attributes
        from usage_events where resource_id = ${id} order by at limit 1`.execute(app.platform.db)
    await rateUsage(app.platform.db, new Date(next + 2 * 3_600_000))
    const lines = await app.platform.db.selectFrom('usage_lines').selectAll().where('resource_id', '=', id).orderBy('from').execute()
    const whole = lines.filter(({ seconds }) => seconds === 3_600)
    expect(whole).toHaveLength(2)
    expect(whole.find(({ meter }) => meter === 'market.card')).toMatchObject({ amount: String(25n * 10n ** 8n), attributes: { provider_id: providerId } })
    expect(whole.find(({ meter }) => meter === 'market.disk')?.amount).toBe(String(2n * 10n ** 7n))
    expect(JSON.stringify(whole[0]?.attributes)).toContain(rental.cards[0]?.uuid)
    const billed = await call(app, consumes.list, { token: renter.token, query: {} })
    expect(billed.items.some((line) => line.resource.id === id && line.meter === 'market.card')).toBe(true)
    const income = await call(app, incomes.list, { token: owner.token, params: { id: providerId }, query: {} })
    expect(income.items.at(-1)).toMatchObject({ offer_id: offer.id, card_model: 'NVIDIA H100' })
    expect(Number(income.total)).toBeGreaterThanOrEqual(25.2)
    expect(await refused(app, incomes.list, { token: renter.token, params: { id: providerId }, query: {} })).toMatchObject({ status: 404 })
  })
})

describe('where a machine cannot be had', () => {
  // The one before is in arrears by now, or will be.
  beforeAll(async () => {
    renter = await someone(app)
  })

  it('says why, and leaves nothing held', async () => {
    expect(await refused(app, rentals.create, { token: owner.token, body: wish() })).toMatchObject({ code: 98014, fields: [{ field: 'offer_id' }] })
    expect(await refused(app, rentals.create, { token: renter.token, body: wish({ count: 3 }) })).toMatchObject({ code: 98017, fields: [{ field: 'count' }] })
    expect(await refused(app, rentals.create, { token: renter.token, body: wish({ offer_id: randomUUID() }) })).toMatchObject({ code: 98012 })
    expect(await refused(app, rentals.create, { token: renter.token, body: wish({ ends_at: '2020-01-01T00:00:00Z' }) })).toMatchObject({ code: 98018 })
    expect(await refused(app, rentals.create, { token: admin.token, body: wish() })).toMatchObject({ code: 98016 })
    const both = [await running(renter, { count: 2 }), await running(renter, { count: 2 })]
    const none = await refused(app, rentals.create, { token: other.token, body: wish() })
    expect(none).toMatchObject({ code: 98011 })
    expect(none.message).toContain('华东算力')
    // Who wants to is told once there is one.
    const waiting = await call(app, waits.create, { token: other.token, body: { offer_id: offer.id } })
    expect(waiting).toMatchObject({ count: 1, offer: { card_model: 'NVIDIA H100' } })
    expect(await refused(app, waits.create, { token: other.token, body: { offer_id: offer.id } })).toMatchObject({ code: 98019 })
    expect(await refused(app, waits.delete, one(renter, waiting.id))).toMatchObject({ status: 404 })
    for (const { id } of both) await release(renter, id)
    expect(await openHolds()).toEqual([])
    await vi.waitFor(async () => expect((await call(app, waits.list, { token: other.token, query: {} })).total).toBe(0), 5_000)
    expect((await call(app, messages.list, { token: other.token, query: {} })).items[0]).toMatchObject({ kind: 'market.cardsFree' })
    await vi.waitFor(async () => {
      const { items } = await call(app, offers.browse, { query: {} })
      expect(items[0]?.starts).toMatchObject({ median_ms: expect.any(Number) as number, p95_ms: expect.any(Number) as number })
      expect(items[0]?.starts?.running).toBe(items[0]?.starts?.orders)
    }, 5_000)
  })

  it('goes on to the next one where it could not be made, and says where it was tried', async () => {
    const [first, second] = nodes
    first?.docker.images.delete('app:2')
    second?.docker.images.delete('app:2')
    const failed = await rent(renter, { image: 'app:2' })
    const told = await becomes(renter, failed.id, { status: 'failed', container_id: null, cards: [] })
    expect(told.attempts).toHaveLength(2)
    expect(told.error).toContain('app:2')
    expect(await usage(failed.id)).toEqual([])
    await vi.waitFor(async () => expect(await openHolds()).toEqual([]), 5_000)
    expect((await call(app, messages.list, { token: renter.token, query: {} })).items[0]).toMatchObject({ kind: 'market.rentalFailed' })
    second?.docker.images.add('app:2')
    const made = await running(renter, { image: 'app:2', count: 2 })
    expect(made.attempts.length).toBeLessThanOrEqual(1)
    expect(second?.cards.map(({ gpu }) => gpu.uuid)).toEqual(made.cards.map(({ uuid }) => uuid))
    await release(renter, made.id)
    first?.docker.images.add('app:2')
  })
})

describe('while its host is at fault', () => {
  it('nothing is charged, and it goes on when the host is back', async () => {
    const rental = await running(renter)
    const node = nodes.find(({ cards: there }) => there.some(({ gpu }) => gpu.uuid === rental.cards[0]?.uuid))
    const card = node?.cards.find(({ gpu }) => gpu.uuid === rental.cards[0]?.uuid)
    node?.stop()
    await becomes(renter, rental.id, { status: 'running', fault: 'host', hourly: '0.00' })
    expect((await usage(rental.id)).at(-1)?.usage).toEqual({})
    if (card?.health === undefined || card.health === null) throw new Error('no card')
    const { health } = card
    card.health = { ...health, xids: [{ code: 48, at: new Date().toISOString() }] }
    await node?.reconnect()
    await becomes(renter, rental.id, { fault: 'card', hourly: '0.00' })
    // Its provider does not say that it is well while somebody would pay for it.
    expect(await refused(app, cards.clear, one(owner, rental.cards[0]?.id ?? ''))).toMatchObject({ code: 98028 })
    card.health = health
    await node?.reconnect()
    await becomes(renter, rental.id, { fault: null, hourly: '12.60' })
    // A node that leaves the market keeps what runs there to its end, and whose it is is told.
    await call(app, marketNodes.withdraw, { token: owner.token, params: { id: node?.edge.id ?? '' } })
    expect((await call(app, messages.list, { token: renter.token, query: {} })).items[0]).toMatchObject({ kind: 'market.nodeWithdrawn' })
    expect((await call(app, rentals.get, one(renter, rental.id))).status).toBe('running')
    await release(renter, rental.id)
    await call(app, marketNodes.enlist, { token: owner.token, params: { id: node?.edge.id ?? '' } })
  })

  it('a card that stays sick stops it after some minutes: nobody has what is left of it for nothing', async () => {
    const rental = await running(renter)
    const node = nodes.find(({ cards: there }) => there.some(({ gpu }) => gpu.uuid === rental.cards[0]?.uuid))
    const card = node?.cards.find(({ gpu }) => gpu.uuid === rental.cards[0]?.uuid)
    if (card?.health === undefined || card.health === null) throw new Error('no card')
    const { health } = card
    card.health = { ...health, uncorrected_errors: 2 }
    await node?.reconnect()
    await becomes(renter, rental.id, { status: 'running', fault: 'card', hourly: '0.00' })
    app.clock.advance(faultMinutes * 60_000)
    await becomes(renter, rental.id, { status: 'stopped', fault: null, stop_reason: 'fault' })
    expect((await usage(rental.id)).at(-1)?.usage).toEqual({ [`market.stoppedDisk/${rental.offer.id}`]: rental.disk_bytes })
    expect((await call(app, messages.list, { token: renter.token, query: {} })).items[0]).toMatchObject({ kind: 'market.rentalStopped' })
    // Started again it has another card of its host.
    await call(app, rentals.start, one(renter, rental.id))
    const again = await becomes(renter, rental.id, { status: 'running', fault: null })
    expect(again.cards.map(({ uuid }) => uuid)).not.toEqual(rental.cards.map(({ uuid }) => uuid))
    card.health = health
    await node?.reconnect()
    await release(renter, rental.id)
  })

  it('one card that two nodes tell of is rented once: from who told of it first', async () => {
    const [first, second] = nodes
    const [mine, theirs] = [first?.cards[0], second?.cards[0]]
    if (mine === undefined || theirs === undefined || second === undefined) throw new Error('no cards')
    const own = theirs.gpu
    const stateOf = async (index: number) =>
      (await call(app, cards.list, { token: owner.token, query: { edge_id: second.edge.id, page_size: 50 } })).items
        .filter((one_) => one_.uuid === mine.gpu.uuid && one_.index === index)
        .map(({ state }) => state)
    theirs.gpu = { ...own, uuid: mine.gpu.uuid }
    await second.reconnect()
    await vi.waitFor(async () => expect(await stateOf(own.index)).toEqual(['elsewhere']), 10_000)
    // It is the other's once that is silent.
    const silent = async (minutes: number) => {
      await sql`update market_cards set seen_at = now() - make_interval(mins => ${minutes}) where edge_id = ${first?.edge.id} and uuid = ${mine.gpu.uuid}`.execute(
        app.platform.db,
      )
    }
    await silent(11)
    app.clock.advance(60_000)
    await second.reconnect()
    await vi.waitFor(async () => expect(await stateOf(own.index)).toEqual(['free']), 10_000)
    await silent(0)
    theirs.gpu = own
    await app.platform.db.deleteFrom('market_cards').where('edge_id', '=', second.edge.id).where('uuid', '=', mine.gpu.uuid).execute()
    await second.reconnect()
  })
})

describe('many who rent at once', () => {
  it('have each card once; whoever comes too late has a reason, and nothing stays held', async () => {
    const people = await Promise.all(Array.from({ length: 10 }, () => someone(app)))
    const ends = await Promise.allSettled(people.map((who) => rent(who)))
    const won = ends.flatMap((end, index) => (end.status === 'fulfilled' ? [{ who: people[index], id: end.value.id }] : []))
    const lost = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
    expect(won).toHaveLength(4)
    expect(lost).toHaveLength(6)
    for (const reason of lost) expect(reason).toContain('98011')
    const held = await openHolds()
    expect(new Set(held.map(({ card_id }) => card_id)).size).toBe(4)
    expect(new Set(held.map(({ rental_id }) => rental_id))).toEqual(new Set(won.map(({ id }) => id)))
    await Promise.all(won.map(async ({ who, id }) => who !== undefined && release(who, id)))
    expect(await openHolds()).toEqual([])
  }, 30_000)
})

describe('limits', () => {
  it('stop it at its end, and once it has cost so much', async () => {
    // Sessions end before: rows tell.
    const isNow = (id: string, status: Rental['status']) =>
      vi.waitFor(async () => {
        const row = await app.platform.db.selectFrom('market_rentals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
        expect(row.status).toBe(status)
        return row
      }, 10_000)
    const idling = await running(renter, { idle_minutes: 60 })
    const ending = await running(renter, { ends_at: new Date(app.clock.now().getTime() + 3_600_000).toISOString() })
    const spending = await running(renter, { spend_limit: '20' })
    app.clock.advance(3_600_000)
    expect(await isNow(ending.id, 'stopped')).toMatchObject({ stop_reason: 'end' })
    // Whoever computes is not idle, whatever the cards do.
    await isNow(idling.id, 'running')
    await isNow(spending.id, 'running')
    app.clock.advance(3_600_000)
    const spent = await isNow(spending.id, 'stopped')
    expect(spent).toMatchObject({ stop_reason: 'spend' })
    // Two hours of a card at 12.5 and of 100 GiB at 0.001, and some seconds.
    expect(Number(BigInt(spent.charged) / 10n ** 6n) / 100).toBeCloseTo(25.2, 0)
    const told = await app.platform.db.selectFrom('messages').select('about_id').where('kind', '=', 'market.rentalStopped').execute()
    for (const { id } of [ending, spending]) expect(told.filter(({ about_id }) => about_id === id)).toHaveLength(1)
    for (const { docker } of nodes) docker.load.ticks = 0
    app.clock.advance(30_000)
    await vi.waitFor(async () => expect((await isNow(idling.id, 'running')).idle_since).not.toBeNull(), 5_000)
    app.clock.advance(60 * 60_000)
    expect(await isNow(idling.id, 'stopped')).toMatchObject({ stop_reason: 'idle', idle_since: null })
    app.clock.advance(15 * 86_400_000)
    for (const { id } of [ending, spending, idling]) await isNow(id, 'released')
    expect(await openHolds()).toEqual([])
  })
})
