import { randomUUID } from 'node:crypto'
import { allCalls } from '@zhisuan/contract/calls'
import { containers } from '@zhisuan/contract/cis/container'
import { offers, type Offer } from '@zhisuan/contract/market/offer'
import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { configs } from '@zhisuan/contract/sys/sys'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { cardNode, listed, providing, someTerms, type CardNode } from '../../../testing/market.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { lookEveryMs } from './rental.service.ts'

let app: TestApp
let admin: Person & SignedIn
let owner: Person & SignedIn
let neighbour: Person & SignedIn
let renter: Person & SignedIn
let nodes: CardNode[]
let offer: Offer
let theirs: Offer

beforeAll(async () => {
  app = await testApp({}, { pause: shortened([lookEveryMs], 50) })
  admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  neighbour = await someone(app)
  renter = await someone(app)
  nodes = [await cardNode(app, owner.token), await cardNode(app, neighbour.token)]
  const [first, second] = nodes as [CardNode, CardNode]
  await providing(app, owner, admin, [first], '华东算力')
  await providing(app, neighbour, admin, [second], '华南算力')
  await call(app, configs.set, { token: admin.token, body: { key: 'market_prepaid', value: '1' } })
  offer = await listed(app, owner, admin)
  theirs = await listed(app, neighbour, admin)
})
afterAll(async () => {
  for (const node of nodes) node.stop()
  await app.close()
})

const one = (who: SignedIn, id: string) => ({ token: who.token, params: { id } })
const wish = (offer_id = offer.id, more = {}) => ({ name: 'm', offer_id, image: 'app:1', ...more })
const becomes = (who: SignedIn, id: string, status: Rental['status']): Promise<Rental> =>
  vi.waitFor(async () => {
    const rental = await call(app, rentals.get, one(who, id))
    expect(rental.status).toBe(status)
    return rental
  }, 10_000)
const running = async (who: SignedIn, body: ReturnType<typeof wish>): Promise<Rental> =>
  becomes(who, (await call(app, rentals.create, { token: who.token, body })).id, 'running')
const release = async (who: SignedIn, id: string): Promise<void> => {
  await vi.waitFor(() => call(app, rentals.release, one(who, id)), 5_000)
  await becomes(who, id, 'released')
}

describe('what somebody tries who does not mean well', () => {
  it('a price below the platform’s least is neither proposed nor listed, by the second nor in advance', async () => {
    await call(app, configs.set, { token: admin.token, body: { key: 'market_floor_price', value: '8' } })
    for (const [terms, field] of [
      [{ card_price: '7.99' }, 'card_price'],
      [{ day_price: '191.99' }, 'day_price'],
      [{ month_price: '5759' }, 'month_price'],
      [{ mode: 'interruptible' as const, grace_seconds: 60, card_price: '0' }, 'card_price'],
    ] as const)
      expect(await refused(app, offers.create, { token: owner.token, body: someTerms(terms) })).toMatchObject({ code: 98025, fields: [{ field }] })
    await call(app, configs.reset, { token: admin.token, query: { key: 'market_floor_price' } })
  })

  it('nor one that was proposed, or paused, before the least was raised: by no price of it', async () => {
    const floor = (value: string) => call(app, configs.set, { token: admin.token, body: { key: 'market_floor_price', value } })
    const of = (who: SignedIn, id: string) => ({ token: who.token, params: { id } })
    const proposed = await call(app, offers.create, { token: owner.token, body: someTerms({ day_price: '200' }) })
    await floor('9')
    expect(await refused(app, offers.decide, { ...of(admin, proposed.id), body: { accept: true } })).toMatchObject({
      code: 98025,
      fields: [{ field: 'day_price' }],
    })
    await floor('0')
    await call(app, offers.decide, { ...of(admin, proposed.id), body: { accept: true } })
    await call(app, offers.action, { ...of(owner, proposed.id), body: { action: 'pause' } })
    await floor('9')
    expect(await refused(app, offers.action, { ...of(owner, proposed.id), body: { action: 'resume' } })).toMatchObject({ code: 98025 })
    await call(app, offers.action, { ...of(owner, proposed.id), body: { action: 'end' } })
    await call(app, configs.reset, { token: admin.token, query: { key: 'market_floor_price' } })
  })

  it('a provider rents nothing of its own, also not as somebody else’s alternative', async () => {
    expect(await refused(app, rentals.create, { token: owner.token, body: wish() })).toMatchObject({ code: 98014, fields: [{ field: 'offer_id' }] })
    // The neighbour's are rented: what is left that costs no more is the provider's own.
    const taken = await running(renter, wish(theirs.id, { count: 2, alternatives: false }))
    expect(await refused(app, rentals.create, { token: owner.token, body: wish(theirs.id) })).toMatchObject({ code: 98011 })
    await release(renter, taken.id)
  })

  it('an offer has no terms that could be changed, and ended while it is rented what is rented keeps them', async () => {
    expect(allCalls.filter(({ id, method }) => id.startsWith('market.offer.') && (method === 'PUT' || method === 'PATCH'))).toEqual([])
    const short = await listed(app, owner, admin, { card_price: '11' })
    const rental = await running(renter, wish(short.id, { alternatives: false }))
    await call(app, offers.action, { ...one(owner, short.id), body: { action: 'end' } })
    expect(await refused(app, offers.action, { ...one(owner, short.id), body: { action: 'resume' } })).toMatchObject({ code: 90010 })
    expect(await refused(app, rentals.create, { token: renter.token, body: wish(short.id) })).toMatchObject({ code: 98012 })
    expect(await call(app, rentals.get, one(renter, rental.id))).toMatchObject({ status: 'running', running_price: rental.running_price })
    await call(app, rentals.stop, one(renter, rental.id))
    await becomes(renter, rental.id, 'stopped')
    await vi.waitFor(() => call(app, rentals.start, one(renter, rental.id)), 5_000)
    expect(await becomes(renter, rental.id, 'running')).toMatchObject({ hourly: rental.running_price })
    await release(renter, rental.id)
  })

  it('ports, volumes and directories of a host are none of a machine’s, whatever is asked for', async () => {
    const asked = {
      ports: [{ container_port: 22, host_port: 22, protocol: 'tcp' }],
      mounts: [{ type: 'bind', source: '/', path: '/host', read_only: false }],
      volumes: ['rental-of-somebody:/theirs'],
      gpus: 8,
      entrypoint: ['/bin/sh'],
      network: 'host',
      privileged: true,
    }
    const env = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }]
    const rental = await running(renter, wish(offer.id, { env, ...asked }))
    const made = nodes.flatMap(({ docker }) => [...docker.containers.values()]).find(({ body }) => body.Labels['zhisuan.container'] === rental.container_id)
    const host = made?.body.HostConfig as unknown as Record<string, unknown>
    expect(host).toMatchObject({ PortBindings: {}, Mounts: [{ Type: 'volume', Target: '/workspace' }] })
    expect(host['Mounts']).toHaveLength(1)
    expect(host['Binds'] ?? []).toEqual([])
    expect([host['NetworkMode'], host['Privileged'] ?? false]).not.toContain('host')
    expect(host['Privileged'] ?? false).toBe(false)
    expect(host['DeviceRequests']).toMatchObject([{ DeviceIDs: rental.cards.map(({ uuid }) => uuid) }])
    expect(rental.cards).toHaveLength(1)
    // Nor later, by way of the container that it is.
    for (const action of [{ action: 'update', spec: { image: 'app:1', ports: asked.ports } }] as const)
      expect(await refused(app, containers.action, { ...one(renter, rental.container_id ?? ''), body: action as never })).toMatchObject({ code: 98015 })
    await release(renter, rental.id)
  })

  it('one organisation holds so many machines at most, however often it asks', async () => {
    const rental = await running(renter, wish())
    await call(app, rentals.stop, one(renter, rental.id))
    await becomes(renter, rental.id, 'stopped')
    const { db } = app.platform
    const { attempts: _, ...row } = await db.selectFrom('market_rentals').selectAll().where('id', '=', rental.id).executeTakeFirstOrThrow()
    const others = Array.from({ length: 99 }, () => ({ ...row, id: randomUUID(), attempts: '[]' }))
    await db
      .insertInto('market_rentals')
      .values(others as never)
      .execute()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refused(app, rentals.create, { token: renter.token, body: wish() })))
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([98013]))
    await db
      .deleteFrom('market_rentals')
      .where(
        'id',
        'in',
        others.map(({ id }) => id),
      )
      .execute()
    await release(renter, rental.id)
  })
})
