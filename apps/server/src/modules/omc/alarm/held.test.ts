import { randomUUID } from 'node:crypto'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { alarms, alarmWindows, alertLogs, receivers, type Alarm, type AlertLog, type Delivery } from '@zhisuan/contract/omc/alarm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { claimDue } from './alarm.store.ts'
import { createInbox, type Inbox } from './inbox.ts'

const minute = 60_000

/** Nobody listens where these go to: what is to be sent, and when, is what counts. */
describe('alarms that nobody is told of at once', () => {
  let app: TestApp
  let owner: Person & SignedIn
  let stranger: Person & SignedIn
  let inbox: Inbox
  let nodeId: string
  const ids: Record<'first' | 'second', string> = { first: '', second: '' }
  const teller = { id: randomUUID(), origin: 'kept' } as const

  beforeAll(async () => {
    app = await testApp({ WEBHOOK_ALLOW: '127.0.0.1' })
    owner = await someone(app)
    stranger = await someone(app)
    inbox = createInbox(app.platform)
    nodeId = (await call(app, edges.create, { token: owner.token, body: { name: 'node' } })).edge.id
    for (const name of ['first', 'second'] as const)
      ids[name] = (await call(app, receivers.create, { token: owner.token, body: { name, kind: 'webhook', url: 'http://127.0.0.1:1/' } })).id
  })
  afterAll(() => app.close())

  const later = async (ms: number): Promise<void> => {
    app.clock.advance(ms)
    owner = { ...owner, ...(await signIn(app, owner)) }
    await inbox.tellLater()
  }
  const make = (body: object = {}): Promise<Alarm> =>
    call(app, alarms.create, {
      token: owner.token,
      body: {
        name: `a-${randomUUID()}`,
        severity: 'warning',
        rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 90 },
        receiver_ids: [ids.first],
        ...body,
      },
    })
  const told = (alarm: Alarm, over = false): Promise<void> =>
    inbox.take(
      [
        {
          labels: { alertname: alarm.id, zhisuan_alarm: alarm.id, node_id: nodeId, node: 'node' },
          annotations: { value: '95' },
          startsAt: '2026-11-01T00:00:00Z',
          ...(over && { endsAt: app.clock.now().toISOString() }),
        },
      ],
      teller,
    )
  const log = async (alarm: Alarm): Promise<AlertLog | undefined> =>
    (await call(app, alertLogs.list, { token: owner.token, query: { alarm_id: alarm.id } })).items[0]
  /** What a receiver is to be sent of an alarm, oldest first. */
  const sent = async (alarm: Alarm, receiver: keyof typeof ids = 'first'): Promise<Delivery['what'][]> => {
    const { items } = await call(app, receivers.deliveries, { token: owner.token, params: { id: ids[receiver] }, query: { page_size: '100' } })
    return items.flatMap(({ what, summary }) => (summary.includes(alarm.name) ? [what] : [])).toReversed()
  }
  const window = (from: number, to: number, node_ids: readonly string[] = []) => ({
    name: `w-${randomUUID()}`,
    starts_at: new Date(app.clock.now().getTime() + from).toISOString(),
    ends_at: new Date(app.clock.now().getTime() + to).toISOString(),
    node_ids: [...node_ids],
  })

  it('during maintenance tell nobody, and of what goes on at its end they tell then', async () => {
    const made = await call(app, alarmWindows.create, { token: owner.token, body: window(-minute, 30 * minute, [nodeId]) })
    expect(made).toMatchObject({ status: 'lasting', everything: false, nodes: [{ id: nodeId, name: 'node' }] })
    const [goesOn, ends] = [await make(), await make()]
    for (const alarm of [goesOn, ends]) await told(alarm)
    expect(await log(goesOn)).toMatchObject({ status: 'firing', held: 'maintenance' })
    await told(ends, true)
    expect([await sent(goesOn), await sent(ends)]).toEqual([[], []])
    await later(31 * minute)
    expect([await sent(goesOn), await sent(ends)]).toEqual([['firing'], []])
    expect(await log(goesOn)).toMatchObject({ held: null })
    await told(goesOn, true)
    expect(await sent(goesOn)).toEqual(['firing', 'resolved'])
    expect((await call(app, alarmWindows.list, { token: owner.token, query: {} })).items).toMatchObject([{ id: made.id, status: 'over' }])
  })

  it('are told at once when maintenance ends earlier, or is taken away; and that of other nodes keeps nothing', async () => {
    const here = await call(app, alarmWindows.create, { token: owner.token, body: window(-minute, 30 * minute) })
    const alarm = await make()
    await told(alarm)
    expect(await sent(alarm)).toEqual([])
    const { id: otherId } = (await call(app, edges.create, { token: owner.token, body: { name: 'other' } })).edge
    await call(app, alarmWindows.update, { token: owner.token, params: { id: here.id }, body: window(-minute, 30 * minute, [otherId]) })
    expect(await sent(alarm)).toEqual(['firing'])
    await call(app, alarmWindows.delete, { token: owner.token, params: { id: here.id } })
  })

  it('of others have maintenance of their own', async () => {
    const theirs = await call(app, alarmWindows.create, { token: (await signIn(app, stranger)).token, body: window(-minute, 30 * minute) })
    const alarm = await make()
    await told(alarm)
    expect(await sent(alarm)).toEqual(['firing'])
    expect(await refused(app, alarmWindows.delete, { token: owner.token, params: { id: theirs.id } })).toMatchObject({ status: 404 })
    const wrong = (body: object) => refused(app, alarmWindows.create, { token: owner.token, body: { ...window(0, minute), ...body } })
    expect(await wrong({ node_ids: [randomUUID()] })).toMatchObject({ fields: [{ field: 'node_ids' }] })
    expect(await wrong({ ends_at: '2020-01-01T00:00:00Z' })).toMatchObject({ fields: [{ field: 'ends_at' }] })
    expect(await wrong({ ends_at: '2999-01-01T00:00:00Z' })).toMatchObject({ fields: [{ field: 'ends_at' }] })
  })

  it('of a node that is away tell that it is away, and the rest once it is back', async () => {
    const down = await make({ rule: { kind: 'metric', metric: 'node_down', comparison: '<', threshold: 1 } })
    const full = await make()
    await told(down)
    await told(full)
    expect([await sent(down), await sent(full)]).toEqual([['firing'], []])
    expect(await log(full)).toMatchObject({ held: 'node' })
    await later(2 * minute)
    expect(await sent(full)).toEqual([])
    await told(down, true)
    await later(2 * minute)
    expect([await sent(down), await sent(full)]).toEqual([['firing', 'resolved'], ['firing']])
  })

  it('tell that they are over whom they told that they began, whoever is told by now', async () => {
    const alarm = await make()
    await told(alarm)
    const { name, severity, rule, for_seconds } = alarm
    await call(app, alarms.update, { token: owner.token, params: { id: alarm.id }, body: { name, severity, rule, for_seconds, receiver_ids: [ids.second] } })
    await told(alarm, true)
    expect([await sent(alarm), await sent(alarm, 'second')]).toEqual([['firing', 'resolved'], []])
  })

  it('tell others where nobody takes them up, once, and those too that it is over', async () => {
    const escalation = { after_minutes: 10, receiver_ids: [ids.second] }
    const [left, taken] = [await make({ escalation }), await make({ escalation })]
    expect(left.escalation).toEqual({ after_minutes: 10, receivers: [{ id: ids.second, name: 'second' }] })
    // They began long ago: what counts is since when somebody was told.
    for (const alarm of [left, taken]) await told(alarm)
    await call(app, alertLogs.process, { token: owner.token, params: { id: (await log(taken))?.id ?? '' }, body: { note: '在看' } })
    await later(9 * minute)
    expect(await sent(left, 'second')).toEqual([])
    for (let times = 0; times < 2; times++) await later(2 * minute)
    expect([await sent(left, 'second'), await sent(taken, 'second')]).toEqual([['escalated'], []])
    expect(await log(left)).toMatchObject({ escalated_at: expect.any(String) as string })
    for (const alarm of [left, taken]) await told(alarm, true)
    expect([await sent(left, 'second'), await sent(taken, 'second'), await sent(left)]).toEqual([['escalated', 'resolved'], [], ['firing', 'resolved']])
    expect(
      await refused(app, alarms.create, {
        token: owner.token,
        body: { name: 'x', severity: 'info', rule: left.rule, escalation: { after_minutes: 5, receiver_ids: [randomUUID()] } },
      }),
    ).toMatchObject({
      code: 98623,
      fields: [{ field: 'escalation.receiver_ids' }],
    })
  })

  it('are over only after they began, for whoever has not been reached yet', async () => {
    const { db } = app.platform
    const late = new Date(app.clock.now().getTime() + 60 * minute)
    // Nothing is sent to them meanwhile: here it is only asked what would be.
    await db.updateTable('alarm_receivers').set({ next_at: late }).execute()
    const alarm = await make()
    await told(alarm)
    await told(alarm, true)
    const [first, ...more] = await db.selectFrom('alarm_deliveries').selectAll().where('summary', 'like', `%${alarm.name}%`).orderBy('id').execute()
    /** What would be sent were these the ones that are due. */
    const claimed = (...due: readonly (typeof first)[]): Promise<string[]> =>
      db.transaction().execute(async (tx) => {
        await tx.updateTable('alarm_receivers').set({ next_at: null }).execute()
        await tx.updateTable('alarm_deliveries').set({ next_at: late }).where('status', '=', 'waiting').execute()
        for (const one of due)
          await tx
            .updateTable('alarm_deliveries')
            .set({ next_at: app.clock.now() })
            .where('id', '=', one?.id ?? '')
            .execute()
        const found = await claimDue(tx, app.clock.now(), app.clock.now(), () => 500, [])
        await tx.updateTable('alarm_receivers').set({ next_at: late }).execute()
        return (found?.deliveries ?? []).flatMap(({ what, summary }) => (summary.includes(alarm.name) ? [what] : []))
      })
    expect(await claimed(...more)).toEqual([])
    expect(await claimed(first, ...more)).toEqual(['firing', 'resolved'])
    await db.updateTable('alarm_receivers').set({ next_at: null }).execute()
  })

  it('wait for the hours of who is told', async () => {
    const hours = { days: [1, 2, 3, 4, 5, 6, 7], from: '09:00', to: '18:00', critical_anyway: true }
    const night = await call(app, receivers.create, { token: owner.token, body: { name: 'day', kind: 'webhook', url: 'http://127.0.0.1:1/', hours } })
    expect(night.hours).toEqual(hours)
    // Until it is evening in Beijing.
    const beijing = new Date(app.clock.now().getTime() + 8 * 3_600_000)
    await later(((20 - beijing.getUTCHours() + 24) % 24) * 3_600_000)
    for (const severity of ['warning', 'critical'] as const) await told(await make({ receiver_ids: [night.id], severity }))
    const rows = await app.platform.db
      .selectFrom('alarm_deliveries')
      .select(['severity', 'next_at'])
      .where('receiver_id', '=', night.id)
      .orderBy('id')
      .execute()
    expect(rows.map(({ severity, next_at }) => [severity, new Date(next_at.getTime() + 8 * 3_600_000).getUTCHours() === 9])).toEqual([
      ['warning', true],
      ['critical', false],
    ])
  })

  it('are over by silence only where somebody has listened all the while', async () => {
    const silence = 5 * minute
    const alarm = await make()
    const status = async () =>
      (await app.platform.db.selectFrom('alert_logs').select('status').where('alarm_id', '=', alarm.id).executeTakeFirstOrThrow()).status
    const look = async (after: number, silentMs: number | null = silence): Promise<void> => {
      app.clock.advance(after)
      await inbox.endSilent(silentMs)
    }
    await look(0)
    await told(alarm)
    // Server or database were away: what is not told by then may be told any moment.
    await look(30 * minute)
    expect(await status()).toBe('firing')
    for (let minutes = 1; minutes < 5; minutes++) await look(minute)
    expect(await status()).toBe('firing')
    // Nor does who would tell it answer.
    await look(minute, null)
    await look(minute)
    expect(await status()).toBe('firing')
    for (let minutes = 0; minutes < 5; minutes++) await look(minute)
    expect(await status()).toBe('resolved')
  })

  it('are sent to others while enough is being sent for one organisation', async () => {
    const { db } = app.platform
    owner = { ...owner, ...(await signIn(app, owner)) }
    await told(await make())
    const { bp_id } = await db.selectFrom('alarm_receivers').select('bp_id').where('id', '=', ids.first).executeTakeFirstOrThrow()
    const claimed = async (busy: readonly (string | null)[]) => {
      await db.updateTable('alarm_receivers').set({ next_at: null }).execute()
      const at = app.clock.now()
      return (await db.transaction().execute((tx) => claimDue(tx, at, at, () => 500, busy)))?.receiver.bp_id
    }
    expect(await claimed([bp_id])).toBeUndefined()
    expect(await claimed([null])).toBe(bp_id)
  })
})
