import { clouds } from '@zhisuan/contract/cmp/cloud'
import { firstPageSize } from '@zhisuan/engines/openstack/session'
import { cloudIsThere, ports, registration } from '@zhisuan/engines/openstack/local'
import { request } from 'undici'
import { auth } from '@zhisuan/contract/ums/auth'
import { administratorPassword, asAdministrator, startServer, type RunningServer } from '../support/server.ts'
import type { Figure } from './main.ts'
import { benchHorizon, horizonIsThere } from './openstack.horizon.ts'
import { makeServers } from './openstack.servers.ts'
import { median, timed } from './stats.ts'

/** Fewer for a look at whether it works. */
const count = Number(process.env['ZHISUAN_BENCH_SERVERS'] ?? 1000)
const pageSize = 500
const runs = 8

/** The list of instances with all its columns over real servers, against the calls of Nova and Glance that it needs, bare, in the same run; and in a browser against Horizon, where it is. */
export async function benchOpenStack(data: string): Promise<Figure[]> {
  if (!cloudIsThere) {
    console.log('openstack: left out, as scripts/engines.sh openstack up did not run')
    return []
  }
  const servers = await makeServers(count)
  try {
    return await compare(
      await startServer(data, {
        LOCAL_CLOUD: 'none',
        LOG_LEVEL: 'error',
        ZHISUAN_ENV: 'production',
      }),
    )
  } finally {
    await servers.remove()
  }
}

async function compare(server: RunningServer): Promise<Figure[]> {
  try {
    const client = await asAdministrator(server)
    const made = await client.call(clouds.create, {
      body: { name: '测试云', product: 'openstack', connection: registration() },
    })
    const { token } = await client.call(auth.password, {
      body: { username: 'admin', password: administratorPassword },
    })
    const list = `${server.url}/api/compute/v1/clouds/${made.cloud_id}/instances`
    const { token: secret } = await bareToken()
    const headers = { 'x-auth-token': secret, 'openstack-api-version': 'compute 2.90' }
    const ours: number[] = []
    const firsts: number[] = []
    const floors: number[] = []
    const ones: number[] = []
    // The first of each is to warm both; in turns, so that a busy machine is busy for both.
    const measures = [
      async (keep: boolean): Promise<void> => {
        const whole = await timed(async () => {
          const start = performance.now()
          const first = await read(list, token, start)
          if (keep) firsts.push(first)
        })
        if (keep) ours.push(whole)
      },
      async (keep: boolean): Promise<void> => {
        const one = await timed(() => page(`http://127.0.0.1:${ports.compute}/v2.1/servers/detail?all_tenants=1&limit=${firstPageSize}`, headers))
        if (keep) ones.push(one)
      },
      async (keep: boolean): Promise<void> => {
        const floor = await timed(async () => {
          await walk(`http://127.0.0.1:${ports.compute}/v2.1/servers/detail?all_tenants=1&limit=${pageSize}`, headers, 'servers')
          await walk(`http://127.0.0.1:${ports.image}/v2/images?limit=${pageSize}`, headers, 'images')
        })
        if (keep) floors.push(floor)
      },
    ]
    // There and back: what Nova does every so many requests, such as collecting its garbage for a second, else falls
    // on the same of them each time.
    for (let run = 0; run <= runs; run++) for (const measure of run % 2 === 0 ? measures : measures.toReversed()) await measure(run > 0)
    const figure = (name: string, mine: number, theirs: number, what: string, bar: number): Figure => ({
      name: `${name} of ${count} Nova servers`,
      ours: `${mine.toFixed(0)} ms`,
      floor: `${theirs.toFixed(0)} ms of ${what}`,
      value: mine / theirs,
      bar: `≤ ${bar}`,
      met: mine / theirs <= bar,
    })
    return [
      figure('list with all its columns', median(ours), median(floors), 'the bare calls that it needs', 1.15),
      figure('first page', median(firsts), median(ones), `one bare call of Nova for ${firstPageSize}`, 1.3),
      ...((await horizonIsThere()) ? await benchHorizon(server, token, count) : []),
    ]
  } finally {
    await server.stop()
  }
}

/** Milliseconds until the first instances are there. @throws where the list is not whole */
async function read(url: string, token: string, start: number): Promise<number> {
  const { body } = await request(url, { headers: { authorization: `Bearer ${token}` } })
  let first = 0
  let seen = 0
  let done = false
  let rest = ''
  for await (const part of body as AsyncIterable<Buffer>) {
    const lines = (rest + part.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const told = JSON.parse(line) as { items?: unknown[]; done?: true }
      if (told.items !== undefined && first === 0) first = performance.now() - start
      seen += told.items?.length ?? 0
      done ||= told.done === true
    }
  }
  if (!done || seen < count) throw new Error(`the list told ${seen} of ${count}`)
  return first
}

async function page(url: string, headers: Record<string, string>): Promise<Record<string, unknown>> {
  const { body, statusCode } = await request(url, { headers })
  if (statusCode !== 200) throw new Error(await body.text())
  return (await body.json()) as Record<string, unknown>
}

/** Page by page, as each service says where it goes on. */
async function walk(url: string, headers: Record<string, string>, key: string): Promise<void> {
  for (let next: string | null = url; next !== null;) {
    const answer: Record<string, unknown> = await page(next, headers)
    const links = (answer[`${key}_links`] ?? []) as { rel: string; href: string }[]
    const onward = links.find(({ rel }) => rel === 'next')?.href ?? (answer['next'] as string | undefined)
    next = onward === undefined ? null : `${url}&marker=${new URL(onward, url).searchParams.get('marker')}`
  }
}

async function bareToken(): Promise<{ token: string }> {
  const { auth_url, username, password } = registration()
  const domain = { id: 'default' }
  const body = {
    auth: {
      identity: { methods: ['password'], password: { user: { name: username, domain, password } } },
      scope: { project: { name: 'admin', domain } },
    },
  }
  const answer = await request(`${auth_url}/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await answer.body.dump()
  return { token: String(answer.headers['x-subject-token']) }
}
