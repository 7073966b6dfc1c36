import { edges } from '@zhisuan/contract/ecrm/edge'
import { marketNodes } from '@zhisuan/contract/market/card'
import { rentals, type Rental } from '@zhisuan/contract/market/rental'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { cardNode, listed, providing, type CardNode } from '../../../testing/market.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

let app: TestApp
let owner: Person & SignedIn
let renter: Person & SignedIn
let node: CardNode
let offer_id: string

beforeAll(async () => {
  app = await testApp()
  const admin = await someone(app, { kind: 1 })
  owner = await someone(app)
  renter = await someone(app)
  node = await cardNode(app, owner.token)
  await providing(app, owner, admin, [node], '华东算力')
  offer_id = (await listed(app, owner, admin)).id
})
afterAll(async () => {
  node.stop()
  await app.close()
})

const becomes = (id: string, status: Rental['status']): Promise<Rental> =>
  vi.waitFor(async () => {
    const rental = await call(app, rentals.get, { token: renter.token, params: { id } })
    expect(rental.status).toBe(status)
    return rental
  }, 10_000)

it('a node leaves once nothing is rented on it, out of the market; what is left on it of a machine is removed before it is tested', async () => {
  const unbind = { token: owner.token, body: { ids: [node.edge.id] } }
  const { id } = await call(app, rentals.create, { token: renter.token, body: { name: 'm', offer_id, image: 'app:1' } })
  const { container_id } = await becomes(id, 'running')
  const answer = await refused(app, edges.unbind, unbind)
  expect(answer).toMatchObject({ status: 409, code: 98027 })
  expect(answer.message).toContain('1台')
  await call(app, rentals.release, { token: renter.token, params: { id } })
  await becomes(id, 'released')

  // As if it had been sent away while that ran; what is of nobody's machine is not touched.
  const left = node.docker.make('left', { image: 'app:1', labels: { 'zhisuan.container': container_id ?? '' } })
  const other = node.docker.make('other', { image: 'app:1', labels: { 'zhisuan.container': crypto.randomUUID() } })
  const test = { token: owner.token, params: { id: node.edge.id } }
  const removed = node.docker.removedVolumes.length
  await call(app, marketNodes.test, test)
  expect([...node.docker.containers.keys()]).toEqual([other.id])
  expect(left.id).not.toBe(other.id)
  expect(node.docker.removedVolumes.slice(removed)).toEqual([expect.stringContaining(id)])

  await call(app, edges.unbind, unbind)
  expect(await app.platform.db.selectFrom('market_nodes').select(['listed', 'test_passed']).execute()).toEqual([{ listed: false, test_passed: false }])
  expect(await refused(app, marketNodes.enlist, test)).toMatchObject({ code: 98005 })
})
