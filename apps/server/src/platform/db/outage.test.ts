import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createOutageLog } from './outage.ts'

it('tells of a database that does not answer in one line, and of a long outage now and then', () => {
  const lines: unknown[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  let now = 0
  const outage = createOutageLog(log, () => now)
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' })
  for (; now < 60_000; now += 100) expect(outage(refused)).toBe(true)
  // As the queue hands it on.
  expect(outage({ ...Object.assign(new Error(), { code: 'ENOENT', syscall: 'connect' }), message: 'connect ENOENT run/.s.PGSQL.5432', queue: 'q' })).toBe(true)
  const line = { level: 50, reason: 'connect ECONNREFUSED 10.0.0.1:5432', msg: 'the database does not answer: jobs and operations wait for it' }
  expect(lines).toEqual([line, line, { ...line, reason: 'connect ENOENT run/.s.PGSQL.5432' }])
  // What it is not asked about it leaves to whoever asks.
  const missing = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT', syscall: 'open' })
  for (const error of [new Error('syntax error'), Object.assign(new Error('duplicate'), { code: '23505' }), missing, null]) expect(outage(error)).toBe(false)
  expect(lines).toHaveLength(3)
})
