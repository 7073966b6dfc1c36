import { offers } from '@zhisuan/contract/market/offer'
import { rentals } from '@zhisuan/contract/market/rental'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone } from '../../../testing/people.ts'
import { createListings } from '../offer/listing.service.ts'
import { createHistory } from './history.service.ts'

let app: TestApp
let node: CardNode
beforeAll(async () => {
  app = await testApp()
})
afterAll(async () => {
  node.stop()
  await app.close()
})

it('what cards cost and how many were free is shown to everybody by hour, each card once however many offers there are of it', async () => {
  const [admin, owner, renter] = [await someone(app, { kind: 1 }), await someone(app), await someone(app)]
  node = await cardNode(app, owner.token, { count: 4 })
  await providing(app, owner, admin, [node], '华东算力')
  const offer = await listed(app, owner, admin, { card_price: '12' })
  await listed(app, owner, admin, { card_price: '14' })
  await listed(app, owner, admin, { card_price: '5', mode: 'interruptible', grace_seconds: 60 })
  // As the clock does it, with what is there in that moment.
  const keep = () => createHistory(app.platform, { listed: createListings(app.platform).all }).keep()
  await keep()
  await call(app, rentals.create, { token: renter.token, body: { name: 'm', offer_id: offer.id, image: 'app:1', count: 2 } })
  await keep()
  const shown = await call(app, offers.history, { query: { card_model: 'NVIDIA H100', days: 7 } })
  expect(shown).toMatchObject({ interval_seconds: 3_600, points: [{ on_demand: '12.00', interruptible: '5.00', total_cards: 4, free_cards: 3 }] })
  app.clock.advance(3_600_000)
  await keep()
  const later = await createHistory(app.platform, { listed: createListings(app.platform).all }).get({ card_model: 'NVIDIA H100', days: 7 })
  expect(later.points.map(({ free_cards }) => free_cards)).toEqual([3, 2])
  expect(await call(app, offers.history, { query: { card_model: 'NVIDIA A100', days: 30 } })).toEqual({ interval_seconds: 86_400, points: [] })
})
