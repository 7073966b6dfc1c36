import { join } from 'node:path'
import { apiLogs } from '@zhisuan/contract/omc/log'
import { integrations } from '@zhisuan/contract/omc/monitor'
import fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import { pino } from 'pino'
import { createCallRecorder } from '../../apps/server/src/modules/omc/log/recorder.ts'
import { openDatabase } from '../../apps/server/src/platform/db/database.ts'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, percentile, timed } from './stats.ts'

const count = 1_000_000
const runs = 100
const asked = 2_000

/** The log of calls: what reading it takes over a million of them, by HTTP, and what keeping it costs each call. */
export async function benchCalls(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  const admin = new pg.Client({ connectionString: postgres.url('postgres') })
  await admin.connect()
  await admin.query('create database bench')
  await admin.end()
  const url = postgres.url('bench')
  const server = await startServer(data, { DATABASE_URL: url, LOCAL_CLOUD: 'none', LOG_LEVEL: 'fatal' })
  const sql = new pg.Client({ connectionString: url })
  await sql.connect()
  const database = openDatabase(url, { poolSize: 4, log: pino({ level: 'silent' }) })
  try {
    const client = await asAdministrator(server)
    await sql.query(
      `insert into api_calls (id, at, call, method, status, code, ms, actor_name, by_key, bp_id, ip, request_id)
       select gen_random_uuid(), date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' + n * interval '86400 seconds' / $1::int, 'nextstack.vm.list', 'GET',
         case when n % 50 = 0 then 403 else 200 end, 0, 3, 'x', false, gen_random_uuid(), '10.0.0.1', n::text
       from generate_series(0, $1::int - 1) as n`,
      [count],
    )
    await sql.query(
      `insert into api_call_hours (hour, bp_id, ok, refused, failed, ms)
       select date_trunc('hour', now()) - n * interval '1 hour', gen_random_uuid(), 10, 1, 0, 30 from generate_series(0, 719) as n, generate_series(1, 50)`,
    )
    await sql.query('vacuum analyze')
    const figures: Figure[] = []
    const page = await client.call(apiLogs.list, { query: { page_size: '50' } })
    const reads = [
      { name: 'a page', most: 50, ask: () => client.call(apiLogs.list, { query: { page_size: '50' } }) },
      { name: 'the page after', most: 50, ask: () => client.call(apiLogs.list, { query: { page_size: '50', cursor: page.next ?? '' } }) },
      { name: 'a page of what was refused', most: 50, ask: () => client.call(apiLogs.list, { query: { page_size: '50', outcome: 'refused' } }) },
      { name: 'thirty days by the hour', most: 100, ask: () => client.call(apiLogs.trend, { query: { hours: '720' } }) },
    ]
    for (const { name, most, ask } of reads) {
      await ask()
      const times: number[] = []
      const bare: number[] = []
      for (let run = 0; run < runs; run++) {
        times.push(await timed(ask))
        bare.push(await timed(() => sql.query('select * from api_calls order by at desc limit 50')))
      }
      const value = percentile(times, 0.95)
      figures.push({
        name: `${name} of ${count} calls, p95`,
        ours: `${value.toFixed(1)} ms`,
        floor: `${percentile(bare, 0.95).toFixed(1)} ms of bare SQL`,
        value,
        bar: `≤ ${most} ms`,
        met: value <= most,
      })
    }

    const recorder = createCallRecorder({ db: database.db, log: pino({ level: 'silent' }), now: () => new Date() })
    const bare = httpOf()
    const recorded = httpOf(recorder)
    /** What each takes of this process, what is written afterwards too. */
    const costs = { bare: [] as number[], recorded: [] as number[] }
    for (let round = 0; round < 7; round++) {
      for (const [name, http] of Object.entries({ bare, recorded }) as [keyof typeof costs, FastifyInstance][]) {
        const before = process.cpuUsage()
        for (let times = 0; times < asked; times++) await http.inject('/')
        await recorder.flush()
        const { user, system } = process.cpuUsage(before)
        costs[name].push((user + system) / 1_000 / asked)
      }
    }
    const value = median(costs.recorded) - median(costs.bare)
    figures.push({
      name: 'what the log takes of each call',
      ours: `${median(costs.recorded).toFixed(3)} ms`,
      floor: `${median(costs.bare).toFixed(3)} ms without`,
      value,
      bar: '≤ 0.3 ms',
      met: value <= 0.3,
    })
    return figures
  } finally {
    await database.close()
    await sql.end()
    await server.stop()
    await postgres.stop()
  }
}

function httpOf(recorder?: ReturnType<typeof createCallRecorder>): FastifyInstance {
  const http = fastify()
  http.decorateRequest('actor', null)
  http.decorateRequest('note', null)
  recorder?.serve(http)
  http.get('/', { config: { call: integrations.list } }, async () => ({}))
  return http
}
