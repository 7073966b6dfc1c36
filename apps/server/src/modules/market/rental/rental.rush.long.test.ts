import { rentals } from '@zhisuan/contract/market/rental'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { shortened, testApp, type TestApp } from '../../../testing/app.ts'
import { call, send } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { lookEveryMs } from './rental.service.ts'

const cardsInAll = 25
const rounds = 5
let app: TestApp
let nodes: CardNode[]
let renters: (Person & SignedIn)[]
let offerId: string

beforeAll(async () => {
  app = await testApp({}, { pause: shortened([lookEveryMs], 50) })
  const admin = await someone(app, { kind: 1 })
  const owner = await someone(app)
  nodes = await Promise.all([8, 8, 8, 1].map((count) => cardNode(app, owner.token, { count })))
  await providing(app, owner, admin, nodes, '华东算力')
  offerId = (await listed(app, owner, admin)).id
  renters = await Promise.all(Array.from({ length: 100 }, () => someone(app)))
}, 120_000)
afterAll(async () => {
  for (const node of nodes) node.stop()
  await app.close()
})

const openHolds = () => app.platform.db.selectFrom('market_holds').select(['card_id', 'rental_id']).where('released_at', 'is', null).execute()

it('a hundred rent at once: each card is one renter’s, each loser has a reason, and nothing stays held', async () => {
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(
      renters.map(async ({ token }, index) => ({
        token,
        answer: await send(app, rentals.create, { token, body: { name: `m${index}`, offer_id: offerId, image: 'app:1' } }),
      })),
    )
    const won = answers.flatMap(({ token, answer }) => (answer.status === 202 ? [{ token, id: (answer.body as { id: string }).id }] : []))
    const lost = answers.flatMap(({ answer }) => (answer.status === 202 ? [] : [answer.body as { code: number; message: string }]))
    expect(won).toHaveLength(cardsInAll)
    expect(new Set(lost.map(({ code }) => code))).toEqual(new Set([98011]))
    expect(lost.every(({ message }) => message.includes('华东算力'))).toBe(true)
    const held = await openHolds()
    expect(new Set(held.map(({ card_id }) => card_id)).size).toBe(cardsInAll)
    expect(new Set(held.map(({ rental_id }) => rental_id))).toEqual(new Set(won.map(({ id }) => id)))
    for (const { token, id } of won) await call(app, rentals.release, { token, params: { id } })
    await vi.waitFor(async () => expect(await openHolds()).toEqual([]), { timeout: 60_000, interval: 250 })
  }
}, 240_000)
