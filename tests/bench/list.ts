import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import fastify from 'fastify'
import pg from 'pg'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { auth } from '@zhisuan/contract/ums/auth'
import { startEmbeddedPostgres } from '../../apps/server/src/platform/db/embedded.ts'
import { administratorPassword, asAdministrator, startServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { median, percentile, timed } from './stats.ts'

const count = 100_000
const runs = 200
/** How many of them are an organisation's of usual size. */
const ofOrganisation = 50
const organisation = '00000000-0000-4000-8000-000000000001'

/** Lists over 100,000 instances against the bare SQL, and requests per second against a bare Fastify route. */
export async function benchList(data: string): Promise<Figure[]> {
  const postgres = await startEmbeddedPostgres(join(data, 'database'))
  const admin = new pg.Client({ connectionString: postgres.url('postgres') })
  await admin.connect()
  await admin.query('create database bench')
  await admin.end()
  const url = postgres.url('bench')
  const server = await startServer(data, { DATABASE_URL: url, LOCAL_CLOUD: 'sandbox', LOG_LEVEL: 'error', ZHISUAN_ENV: 'production' })
  const sql = new pg.Client({ connectionString: url })
  await sql.connect()
  try {
    const client = await asAdministrator(server)
    const cloud = (await client.call(clouds.list)).clouds[0]?.cloud_id ?? ''
    // Recorded only: the sandbox's own bookkeeping is not what is measured, so its reconciler must not call them lost.
    await sql.query(
      `insert into vms (id, cloud_id, bp_id, name, description, type, status, engine_name, image_fingerprint, image_name, flavor_name,
         cpu_cores, memory_bytes, disk_bytes, network, addresses, created_by_name, created_at)
       select gen_random_uuid(), $1, case when n <= $3 then $4::uuid end, 'vm-' || n, '', case n % 3 when 0 then 'vm' else 'container' end,
         (array['running','running','running','stopped','error'])[1 + n % 5], 'bench-' || n, repeat('0', 64), 'debian-12', 'small',
         1 + n % 8, 1073741824, 10737418240, 'sandbox0',
         jsonb_build_array(jsonb_build_object('family', 4, 'address', '10.' || n / 65536 || '.' || (n / 256) % 256 || '.' || n % 256)),
         'bench', now() - n * interval '1 second'
       from generate_series(1, $2) as n`,
      [cloud, count, ofOrganisation, organisation],
    )
    await sql.query('vacuum analyze vms')
    const { token } = await client.call(auth.password, { body: { username: 'admin', password: administratorPassword } })
    const get = async (query: string) => {
      const response = await fetch(`${server.url}/api/nextstack/v1/vms?cloud_id=${cloud}&${query}`, { headers: { authorization: `Bearer ${token}` } })
      if (response.status !== 200) throw new Error(await response.text())
      await response.json()
    }
    const bare = (where: string, values: readonly unknown[], offset: number) => async () => {
      await sql.query(`select * from vms where cloud_id = $1 ${where} order by created_at desc, id desc limit 10 offset ${offset}`, [cloud, ...values])
      await sql.query(`select count(*) from vms where cloud_id = $1 ${where}`, [cloud, ...values])
    }
    const figures: Figure[] = []
    const cases = [
      { name: 'first page', query: 'page_num=1', floor: bare('', [], 0) },
      { name: 'page 500', query: 'page_num=500', floor: bare('', [], 4990) },
      { name: 'page by status', query: 'status=error&page_num=3', floor: bare('and status = $2', ['error'], 20) },
      { name: 'page by keyword', query: 'keyword=vm-4242', floor: bare('and search ilike $2', ['%vm-4242%'], 0) },
      { name: 'page by type', query: 'type=vm', floor: bare('and type = $2', ['vm'], 0) },
    ]
    for (const { name, query, floor } of cases) {
      for (let warm = 0; warm < 20; warm++) await get(query)
      const ours: number[] = []
      const bareTimes: number[] = []
      for (let run = 0; run < runs; run++) {
        ours.push(await timed(() => get(query)))
        bareTimes.push(await timed(floor))
      }
      const p95 = percentile(ours, 0.95)
      const floor95 = percentile(bareTimes, 0.95)
      figures.push({
        name: `list of ${count}, ${name}, p95`,
        ours: `${p95.toFixed(1)} ms`,
        floor: `${floor95.toFixed(1)} ms of bare SQL`,
        value: p95 / floor95,
        bar: '≤ 20 ms',
        met: p95 <= 20,
      })
    }
    figures.push(...(await counted(server.url, token)))
    const path = `/api/nextstack/v1/vms?cloud_id=${cloud}&bp_id=${organisation}`
    figures.push(...(await throughput(server.url, path, token, url)))
    return figures
  } finally {
    await sql.end()
    await server.stop()
    await postgres.stop()
  }
}

/** What counts all of them at each question. */
async function counted(url: string, token: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, path] of [
    ['overview', '/api/nextstack/v1/overview'],
    ['hosts', '/api/nextstack/v1/hosts'],
  ] as const) {
    const ask = async (): Promise<void> => {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
      if (response.status !== 200) throw new Error(await response.text())
      await response.json()
    }
    for (let warm = 0; warm < 20; warm++) await ask()
    const times: number[] = []
    for (let run = 0; run < runs; run++) times.push(await timed(ask))
    const p95 = percentile(times, 0.95)
    figures.push({ name: `${name} over ${count}, p95`, ours: `${p95.toFixed(1)} ms`, floor: '50 ms', value: p95 / 50, bar: '≤ 50 ms', met: p95 <= 50 })
  }
  return figures
}

/** Each for some ten of an organisation's instances, none like another: more of them than are asked at a time. */
const questions: readonly string[] = ['v', 'V', 'm', 'M', '-', 'vm', 'Vm', 'vM', 'VM', 'm-', 'M-', 'vm-', 'Vm-', 'vM-', 'VM-'].flatMap((keyword) =>
  [1, 2, 3].flatMap((page) => [8, 9, 10, 11, 12].map((size) => `keyword=${keyword}&page_num=${page}&page_size=${size}`)),
)

/**
 * In turns with their floors, so that a busy machine is busy for both. A hundred connections, as Fastify's own benchmarks have:
 * consoles that look at one list, against the same bytes from a bare Fastify route; and, for what sharing does not help, each question
 * unlike all others, against a bare route that asks the same SQL for it.
 */
async function throughput(url: string, path: string, token: string, database: string): Promise<Figure[]> {
  const headers = { authorization: `Bearer ${token}` }
  const sample = await (await fetch(`${url}${path}&page_size=10`, { headers })).json()
  const bytes = fastify()
  bytes.get('/', async () => sample)
  const bytesUrl = await bytes.listen({ port: 0, host: '127.0.0.1' })
  const asking = fork(fileURLToPath(new URL('list.bare.ts', import.meta.url)), { env: { ...process.env, DATABASE_URL: database } })
  try {
    const [askingUrl] = (await once(asking, 'message')) as [string]
    const rate = async (options: autocannon.Options) => (await autocannon({ connections: 100, duration: 4, ...options })).requests.average
    let question = 0
    const unlike = (path: string) => ({
      setupRequest: (request: autocannon.Request) => ({ ...request, path: `${path}&${questions[question++ % questions.length] ?? ''}` }),
    })
    const same: number[] = []
    const sameFloors: number[] = []
    const different: number[] = []
    const differentFloors: number[] = []
    for (let round = 0; round < 3; round++) {
      same.push(await rate({ url: `${url}${path}&page_size=10`, headers }))
      sameFloors.push(await rate({ url: bytesUrl }))
      different.push(await rate({ url, headers, requests: [unlike(path)] }))
      differentFloors.push(await rate({ url: askingUrl, requests: [unlike(`/?${new URLSearchParams(path.slice(path.indexOf('?')))}`)] }))
    }
    const figure = (name: string, ours: number, floor: number, of: string, bar: number): Figure => ({
      name: `authenticated list, requests per second, ${name}`,
      ours: ours.toFixed(0),
      floor: `${floor.toFixed(0)} of a bare Fastify route${of}`,
      value: ours / floor,
      bar: `≥ ${bar}`,
      met: ours / floor >= bar,
    })
    return [
      figure('100 look at one list', median(same), median(sameFloors), '', 0.4),
      figure('each question unlike the others', median(different), median(differentFloors), ' that asks the same SQL', 0.6),
    ]
  } finally {
    await bytes.close()
    asking.disconnect()
  }
}
