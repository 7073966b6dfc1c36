import { apiLogs } from '@zhisuan/contract/omc/log'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { hourlyCalls, readCalls, readCursor } from './log.store.ts'

const count = 1_000_000

describe(`${count} calls`, () => {
  let app: TestApp
  let owner: Person & SignedIn
  beforeAll(async () => {
    app = await testApp()
    owner = await someone(app)
    // A day of them, a hundredth of which is one organisation's.
    await sql`
      insert into api_calls (id, at, call, method, status, code, ms, actor_id, actor_name, by_key, bp_id, ip, request_id)
      select gen_random_uuid(), date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' + n * interval '86400 seconds' / ${count}, 'nextstack.vm.list', 'GET',
        case when n % 50 = 0 then 403 else 200 end, 0, 3, ${owner.id}::uuid, 'x', false, case when n % 100 = 0 then ${owner.bp_id}::uuid else gen_random_uuid() end, '10.0.0.1', n::text
      from generate_series(0, ${count - 1}) as n
    `.execute(app.platform.db)
    await sql`
      insert into api_call_hours (hour, bp_id, ok, refused, failed, ms)
      select date_trunc('hour', now()) - n * interval '1 hour', gen_random_uuid(), 10, 1, 0, 30 from generate_series(0, 719) as n, generate_series(1, 50)
    `.execute(app.platform.db)
    await sql`analyze api_calls`.execute(app.platform.db)
  })
  afterAll(() => app.close())

  /** The middle of some, in milliseconds. */
  const taken = async (ask: () => Promise<unknown>): Promise<number> => {
    const times: number[] = []
    for (let tries = 0; tries < 9; tries++) {
      const since = performance.now()
      await ask()
      times.push(performance.now() - since)
    }
    return times.toSorted((one, other) => one - other)[4] ?? 0
  }

  it('are read a page at a time within 50 ms, also far behind, and of one organisation; and counted within 100 ms', async () => {
    const everything = { everything: true } as const
    const on = app.platform.db
    const [middle] = await readCalls(on, everything, null, { to: new Date(new Date().setUTCHours(12, 0, 0, 0)).toISOString() }, null, 1)
    const after = middle === undefined ? null : readCursor(`${middle.micros}~${middle.id}`)
    expect(await taken(() => readCalls(on, everything, null, {}, null, 50))).toBeLessThan(50)
    expect(await taken(() => readCalls(on, everything, null, {}, after, 50))).toBeLessThan(50)
    expect(await taken(() => readCalls(on, { bp_id: owner.bp_id ?? '' }, null, {}, after, 50))).toBeLessThan(50)
    expect(await taken(() => readCalls(on, everything, null, { outcome: 'refused' }, after, 50))).toBeLessThan(50)
    expect(await taken(() => hourlyCalls(on, everything, 720, new Date()))).toBeLessThan(100)
    expect((await call(app, apiLogs.list, { token: owner.token, query: { page_size: '20' } })).items).toHaveLength(20)
  })
})
