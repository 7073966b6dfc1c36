import { edges } from '@zhisuan/contract/ecrm/edge'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { register, someMetrics } from '../testing.ts'
import { createEdgeMetrics } from './edge.minutes.ts'
import { deleteMinutes } from './edge.minutes.store.ts'

let app: TestApp
let owner: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
})
afterAll(() => app.close())

/** Of a server that was there from then on, so many minutes, and has stopped. */
async function served(edgeId: string, since: number, minutes: number): Promise<void> {
  let now = since
  const metrics = createEdgeMetrics({ db: app.platform.db, log: pino({ level: 'silent' }), now: () => new Date(now) })
  for (; now < since + minutes * 60_000; now += 10_000) metrics.record(edgeId, someMetrics())
  await metrics.stop()
}
const ask = (id: string, minutes?: number) =>
  call(app, edges.metrics, { token: owner.token, params: { id }, ...(minutes !== undefined && { query: { minutes } }) })

describe('the metrics of a node', () => {
  it('are there by the minute, also after the server was started anew', async () => {
    const { edge } = await register(app, owner.token)
    const minute = Math.floor(Date.now() / 60_000) * 60_000
    await served(edge.id, minute - 30 * 60_000, 10)
    await served(edge.id, minute - 20 * 60_000 - 30_000, 10)
    const { items, interval_seconds } = await ask(edge.id, 60)
    expect(interval_seconds).toBe(60)
    const ats = items.map(({ at }) => (Date.parse(at) - minute) / 60_000)
    expect(ats).toEqual(Array.from({ length: 20 }, (_, index) => index - 30))
    expect(items[0]).toMatchObject({ cpu_share: 0.25, memory: someMetrics().memory, disks: someMetrics().disks })
    // Samples as they came were that server's.
    expect(await ask(edge.id)).toEqual({ items: [], interval_seconds: 10 })
    expect((await ask(edge.id, 1_440)).items.length).toBeLessThanOrEqual(6)
  })

  it('go after a day, and with their node', async () => {
    const { edge } = await register(app, owner.token)
    const other = (await register(app, owner.token)).edge
    await served(edge.id, Date.now() - 3 * 86_400_000, 5)
    await served(edge.id, Date.now() - 20 * 60_000, 1)
    await served(other.id, Date.now() - 20 * 60_000, 1)
    await deleteMinutes(app.platform.db, new Date())
    const rows = async (id: string) => (await app.platform.db.selectFrom('edge_minutes').select('until').where('edge_id', '=', id).execute()).length
    expect([(await rows(edge.id)) > 0, (await ask(edge.id, 1_440)).items.length > 0]).toEqual([true, true])
    expect(
      (
        await app.platform.db
          .selectFrom('edge_minutes')
          .select('until')
          .where('until', '<', new Date(Date.now() - 86_400_000))
          .execute()
      ).length,
    ).toBe(0)
    await call(app, edges.delete, { token: owner.token, params: { id: other.id } })
    expect(await rows(other.id)).toBe(0)
    // Of one that is gone nothing more is written, and that holds up nobody else's.
    await served(other.id, Date.now() - 10 * 60_000, 2)
    expect(await rows(other.id)).toBe(0)
  })

  it('are asked for a day at most', async () => {
    const { edge } = await register(app, owner.token)
    for (const minutes of [0, 1_441, 1.5])
      expect(await refused(app, edges.metrics, { token: owner.token, params: { id: edge.id }, query: { minutes } })).toMatchObject({
        code: 90001,
        fields: [{ field: 'minutes' }],
      })
  })
})
