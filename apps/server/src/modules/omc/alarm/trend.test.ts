import { createHash, randomUUID } from 'node:crypto'
import { alertLogs } from '@zhisuan/contract/omc/alarm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

const dayMs = 86_400_000
/** Of Beijing. */
const dayOf = (at: Date): string => new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 10)

describe('the daily trend of alarms', () => {
  let app: TestApp
  let owner: Person & SignedIn

  beforeAll(async () => {
    app = await testApp()
    owner = await someone(app)
  })
  afterAll(() => app.close())

  const began = (startsAt: Date) =>
    app.platform.db
      .insertInto('alert_logs')
      .values({
        id: randomUUID(),
        bp_id: owner.bp_id,
        alarm_id: null,
        alarm_name: 'CPU',
        fingerprint: createHash('sha256').update(randomUUID()).digest(),
        starts_at: startsAt,
        ends_at: startsAt,
        told_at: startsAt,
        severity: 'warning',
        status: 'resolved',
        summary: '',
        labels: '{}',
        value: null,
        processed_by: null,
        processed_at: null,
        note: null,
        silenced_until: null,
      })
      .execute()

  it('counts days of Beijing: from its midnight to its midnight', async () => {
    const yesterday = dayOf(new Date(app.clock.now().getTime() - dayMs))
    for (const time of ['00:00', '01:00', '23:00', '23:59']) await began(new Date(`${yesterday}T${time}:00+08:00`))
    // Of the day before.
    await began(new Date(Date.parse(`${yesterday}T00:00:00+08:00`) - 1))
    const { items } = await call(app, alertLogs.trend, { token: owner.token, query: { days: 3 } })
    const at = items.findIndex(({ day }) => day === yesterday)
    expect(items.slice(at - 1, at + 1).map(({ warning }) => warning)).toEqual([1, 4])
    expect(items.reduce((sum, { warning }) => sum + warning, 0)).toBe(5)
  })
})
