import { randomUUID } from 'node:crypto'
import { messages } from '@zhisuan/contract/sys/message'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import type { Telling } from '../../sys/message/message.service.ts'
import { register } from '../testing.ts'
import { awayJob, awayMs, createAway } from './away.ts'
import { setConnected } from './presence.store.ts'

let app: TestApp
let owner: Person & SignedIn
beforeAll(async () => {
  app = await testApp()
  owner = await someone(app)
})
afterAll(() => app.close())

/** As it is once its agent had come, and has gone for so long. */
async function away(ms: number, changes: { activation?: 'deactive'; bp_id?: null } = {}) {
  const { edge } = await register(app, owner.token)
  const seen_at = new Date(app.clock.now().getTime() - ms)
  await app.platform.db
    .updateTable('edges')
    .set({ binding: 'bound', server_id: null, seen_at, ...changes })
    .where('id', '=', edge.id)
    .execute()
  return edge
}
/** What a server tells that has been there for so long. */
async function look(upMs = awayMs + 1000): Promise<readonly Telling[]> {
  const told: Telling[] = []
  let ahead = -upMs
  const { look: lookNow } = createAway(
    { db: app.platform.db, now: () => new Date(app.clock.now().getTime() + ahead) },
    {
      tell: async (_, message) => {
        told.push(message)
      },
    },
  )
  ahead = 0
  await lookNow()
  return told
}

it('is told once of each time that a node goes away for long, to whose it is', async () => {
  const [gone, platforms, briefly, unused] = [
    await away(awayMs + 60_000),
    await away(awayMs + 60_000, { bp_id: null }),
    await away(awayMs / 2),
    await away(awayMs + 60_000, { activation: 'deactive' }),
  ]
  const told = [...(await look()), ...(await look())]
  expect(told.map(({ about, bp_id }) => [about.id, bp_id])).toEqual(
    expect.arrayContaining([
      [gone.id, owner.bp_id],
      [platforms.id, null],
    ]),
  )
  expect(told.filter(({ about }) => [briefly.id, unused.id].includes(about.id))).toEqual([])
  expect(told.filter(({ about }) => about.id === gone.id)).toMatchObject([
    { kind: 'ecrm.edgeAway', text: expect.stringContaining(`节点“${gone.name}”已离线超过10分钟`), about: { kind: 'ecrm.edge' } },
  ])
  // It has come back, and gone again.
  const { db } = app.platform
  await setConnected(db, randomUUID(), new Map([[gone.id, '0.1.0']]))
  await db
    .updateTable('edges')
    .set({ server_id: null, seen_at: new Date(app.clock.now().getTime() - awayMs - 1000) })
    .where('id', '=', gone.id)
    .execute()
  expect((await look()).map(({ about }) => about.id)).toEqual([gone.id])
})

it('is not told before a server has been there for as long itself: until then no node could be connected', async () => {
  const gone = await away(awayMs + 60_000)
  expect(await look(awayMs - 1000)).toEqual([])
  expect((await look()).map(({ about }) => about.id)).toEqual([gone.id])
})

it('is a message of the organisation whose node it is', async () => {
  const [gone, stranger] = [await away(awayMs), await someone(app)]
  app.clock.advance(awayMs + 1000)
  const { db, jobs } = app.platform
  await db.transaction().execute((tx) => jobs.send(tx, awayJob, {}))
  const told = async ({ token }: { token: string }) => (await call(app, messages.list, { token })).items.filter(({ about }) => about.id === gone.id)
  await expect.poll(() => told(owner), { interval: 30 }).toMatchObject([{ kind: 'ecrm.edgeAway', category: 'resource', read: false }])
  expect(await told(stranger)).toEqual([])
})
