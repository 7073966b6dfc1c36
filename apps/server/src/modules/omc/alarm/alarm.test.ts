import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { alarms, alertLogs, receivers, type Alarm, type AlertLog, type Receiver } from '@zhisuan/contract/omc/alarm'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { integrations } from '@zhisuan/contract/omc/monitor'
import { prometheusIsThere, startPrometheus, type RunningPrometheus } from '@zhisuan/engines/prometheus/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused } from '../../../testing/call.ts'
import { signIn, someone, type Person, type SignedIn } from '../../../testing/people.ts'

interface Came {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Somebody who is told, and a Prometheus that tells. */
describe.skipIf(!prometheusIsThere)('alarms', () => {
  let app: TestApp
  let running: RunningPrometheus
  let root: Person & SignedIn
  let owner: Person & SignedIn
  let stranger: Person & SignedIn
  let server: Server
  let url: string
  let inbox: { id: string; token: string }
  let receiver: Receiver
  let alarm: Alarm
  const came: Came[] = []
  /** What is answered, by path. */
  const answers = new Map<string, { status: number; body: string }>()

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const path = request.url ?? ''
        came.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
        const { status, body } = answers.get(path.split('?')[0] ?? '') ?? { status: 200, body: '{"errcode":0}' }
        response.writeHead(status).end(body)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    app = await testApp({ WEBHOOK_ALLOW: '127.0.0.1' })
    running = await startPrometheus('scrape_configs: []\n')
    const admin = await someone(app, { kind: 1 })
    root = admin
    owner = await someone(app)
    stranger = await someone(app)
    const made = await call(app, integrations.create, { token: admin.token, body: { name: 'old', component: 'prometheus', connection: { url: running.url } } })
    inbox = { id: made.id, token: /credentials: '([^']{40,})'/.exec('scrape_config' in made ? (made.scrape_config ?? '') : '')?.[1] ?? '' }
    // As one that the platform runs: only such knows alarms.
    const { edge } = await call(app, edges.create, { token: admin.token, body: { name: 'node' } })
    await app.platform.db.updateTable('monitor_integrations').set({ origin: 'kept', node_id: edge.id, port: 1 }).execute()
    receiver = await call(app, receivers.create, {
      token: owner.token,
      body: { name: 'hook', kind: 'webhook', url: `${url}/hook?key=hidden`, secret: 'shared' },
    })
    alarm = await call(app, alarms.create, {
      token: owner.token,
      body: { name: 'CPU', severity: 'critical', rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 90 }, receiver_ids: [receiver.id] },
    })
  })
  afterAll(async () => {
    await app.close()
    await running.stop()
    server.close()
  })

  /** Who was signed in for so long is so no more. */
  const later = async (ms: number): Promise<void> => {
    app.clock.advance(ms)
    owner = { ...owner, ...(await signIn(app, owner)) }
    stranger = { ...stranger, ...(await signIn(app, stranger)) }
    root = { ...root, ...(await signIn(app, root)) }
  }
  const told = (labels: Record<string, string>, startsAt: Date, endsAt?: Date) =>
    app.http.inject({
      method: 'POST',
      url: `/api/omc/v1/monitor/prometheus/${inbox.id}/scrape/api/v2/alerts`,
      headers: { authorization: `Bearer ${inbox.token}` },
      payload: [
        {
          labels: { alertname: alarm.id, zhisuan_alarm: alarm.id, severity: 'critical', bp_id: owner.bp_id, ...labels },
          annotations: { value: '95.25' },
          startsAt: startsAt.toISOString(),
          ...(endsAt !== undefined && { endsAt: endsAt.toISOString() }),
        },
      ],
    })
  const logs = async (query: Record<string, string> = {}): Promise<AlertLog[]> => (await call(app, alertLogs.list, { token: owner.token, query })).items
  const hooks = (path: string): Came[] => came.filter((one) => one.path.startsWith(path))

  it('are told once each, firing and resolved, however often Prometheus tells, and signed', async () => {
    const began = new Date(Date.now() - 60_000)
    for (let times = 0; times < 3; times++) expect((await told({ node: 'n1' }, began, new Date(Date.now() + 60_000))).statusCode).toBe(200)
    await vi.waitFor(() => expect(hooks('/hook')).toHaveLength(1))
    const [first] = hooks('/hook')
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      text: '[严重] 告警：n1 CPU CPU 使用率 当前值 95.25%',
      alerts: [{ what: 'firing', severity: 'critical' }],
    })
    const signed = createHmac('sha256', 'shared')
      .update(`${first?.headers['x-zhisuan-timestamp'] as string}.${first?.body}`)
      .digest('hex')
    expect(first?.headers['x-zhisuan-signature']).toBe(`sha256=${signed}`)
    expect(await logs()).toMatchObject([{ status: 'firing', alarm: { name: 'CPU' }, labels: { node: 'n1' }, value: '95.25', ends_at: null }])
    for (let times = 0; times < 2; times++) await told({ node: 'n1' }, began, new Date(Date.now() - 1_000))
    await vi.waitFor(() => expect(hooks('/hook')).toHaveLength(2))
    expect(JSON.parse(hooks('/hook')[1]?.body ?? '')).toMatchObject({ alerts: [{ what: 'resolved' }] })
    expect(await logs()).toMatchObject([{ status: 'resolved', ends_at: expect.any(String) as string }])
  })

  it('keep who took them up when they are told again, and tell nobody while they are silent', async () => {
    const began = new Date()
    await told({ node: 'n2' }, began)
    await vi.waitFor(() => expect(hooks('/hook')).toHaveLength(3))
    const [log] = await logs({ status: 'firing' })
    await call(app, alertLogs.process, { token: owner.token, params: { id: log?.id ?? '' }, body: { note: '正在换风扇', silence_minutes: 60 } })
    await told({ node: 'n2' }, began)
    expect(await logs({ processed: 'true' })).toMatchObject([{ processed: { by: owner.name, note: '正在换风扇' }, status: 'firing' }])
    await told({ node: 'n2' }, began, new Date(Date.now() - 1))
    expect(await logs({ processed: 'true' })).toMatchObject([{ status: 'resolved' }])
    const { total } = await call(app, receivers.deliveries, { token: owner.token, params: { id: receiver.id }, query: {} })
    expect(total).toBe(3)
  })

  it('try again where nobody takes them, say why, and are sent by hand in the end', async () => {
    answers.set('/robot', { status: 200, body: '{"errcode":310000,"errmsg":"sign not match"}' })
    const robot = await call(app, receivers.create, { token: owner.token, body: { name: 'robot', kind: 'dingtalk', url: `${url}/robot`, secret: 'SEC1' } })
    const test = await call(app, receivers.test, { token: owner.token, params: { id: robot.id } })
    const shown = async () => (await call(app, receivers.deliveries, { token: owner.token, params: { id: robot.id }, query: {} })).items[0]
    await vi.waitFor(async () => expect(await shown()).toMatchObject({ status: 'waiting', attempts: 1, error: '对方返回：310000 sign not match' }))
    expect(new URLSearchParams(hooks('/robot')[0]?.path.split('?')[1]).get('sign')).toMatch(/=$/)
    expect(await refused(app, receivers.again, { token: owner.token, params: { id: robot.id, delivery_id: test.id } })).toMatchObject({ code: 98627 })
    answers.delete('/robot')
    await later(80 * 60_000)
    await vi.waitFor(async () => expect(await shown()).toMatchObject({ status: 'sent', attempts: 2, error: null }))
  })

  it('that come together are one message, critical first, and none is left out', async () => {
    const before = hooks('/hook').length
    answers.set('/hook', { status: 500, body: '' })
    const began = new Date(app.clock.now().getTime() - 1_000)
    for (let node = 0; node < 30; node++) await told({ node: `storm-${node}` }, began)
    await vi.waitFor(() => expect(hooks('/hook').length).toBeGreaterThan(before))
    answers.delete('/hook')
    await later(60_000)
    const seen = () =>
      new Set(
        hooks('/hook')
          .slice(before + 1)
          .flatMap(({ body }) => (JSON.parse(body) as { text: string }).text.match(/storm-\d+/g) ?? []),
      )
    await vi.waitFor(() => expect(seen().size).toBe(30))
    expect(await call(app, alertLogs.counts, { token: owner.token })).toMatchObject({ firing: { critical: 30, warning: 0, info: 0 }, unprocessed: 30 })
    const { items } = await call(app, alertLogs.trend, { token: owner.token, query: { days: 7 } })
    expect([items.length, items.reduce((sum, { critical }) => sum + critical, 0)]).toEqual([7, 32])
  })

  it('that were taken for over, and go on, are told once more', async () => {
    const before = (await logs({ page_size: '100' })).length
    const began = new Date(app.clock.now().getTime() - 1_000)
    await told({ node: 'again' }, began)
    for (const action of ['deactive', 'active'] as const) await call(app, alarms.activate, { token: owner.token, params: { id: alarm.id }, query: { action } })
    for (let times = 0; times < 2; times++) await told({ node: 'again' }, began)
    const mine = (await logs({ page_size: '100' })).filter(({ labels }) => labels['node'] === 'again')
    expect(mine.map(({ status }) => status)).toEqual(['firing', 'resolved'])
    expect((await logs({ page_size: '100' })).length).toBe(before + 2)
  })

  it('are kept from what is none of theirs: one poisoned alert, one that is too long, one that forges', async () => {
    const post = (payload: unknown) =>
      app.http.inject({
        method: 'POST',
        url: `/api/omc/v1/monitor/prometheus/${inbox.id}/scrape/api/v2/alerts`,
        headers: { authorization: `Bearer ${inbox.token}`, 'content-type': 'application/json' },
        payload: JSON.stringify(payload),
      })
    const alert = (node: string, more: object = {}) => ({
      labels: { alertname: alarm.id, zhisuan_alarm: alarm.id, node },
      startsAt: app.clock.now().toISOString(),
      ...more,
    })
    const answer = await post([
      alert('good-1'),
      { labels: 1 },
      alert('bad\0'),
      alert('x'.repeat(10_000)),
      alert('late', { startsAt: 'never' }),
      alert('good-2'),
    ])
    expect(answer.statusCode).toBe(200)
    const nodes = (await logs({ page_size: '100' })).map(({ labels }) => labels['node'])
    expect(nodes).toEqual(expect.arrayContaining(['good-1', 'good-2', 'bad\uFFFD']))
    // One that is registered is believed nothing.
    const [row] = await app.platform.db.selectFrom('monitor_integrations').select('node_id').execute()
    await app.platform.db.updateTable('monitor_integrations').set({ origin: 'registered', node_id: null }).execute()
    const before = (await logs({ page_size: '100' })).length
    expect((await post([alert('forged')])).statusCode).toBe(200)
    expect((await logs({ page_size: '100' })).length).toBe(before)
    expect((await call(app, alertLogs.list, { token: root.token, query: { keyword: 'forged' } })).items).toMatchObject([{ bp_id: null, alarm: null }])
    await app.platform.db
      .updateTable('monitor_integrations')
      .set({ origin: 'kept', node_id: row?.node_id ?? null })
      .execute()
  })

  it.each([
    ['1', 98628],
    ['time()', 98628],
    ['up[5m]', 98628],
    ['rate(up)', 98608],
    ['up{a="\uFFFE"}', 98608],
    ['label_replace(label_replace(label_replace(label_replace(up,"a","$1","b","(.*)"),"a","$1","b","(.*)"),"a","$1","b","(.*)"),"a","$1","b","(.*)")', 98610],
    ['label_replace(up,"a","$1$1$1$1$1","b","(.*)")', 98610],
    [`${'('.repeat(60)}up${')'.repeat(60)}`, 98610],
  ])('are no rule of %s', async (query, code) => {
    const body = { name: 'wrong', severity: 'info', no_data: 'alarm', rule: { kind: 'promql', query } }
    expect(await refused(app, alarms.create, { token: owner.token, body })).toMatchObject({ code })
  })

  it('show how often they would have fired', async () => {
    const seen = (rule: object) => call(app, alarms.preview, { token: root.token, body: { rule, for_seconds: 300 } as never })
    await vi.waitFor(async () => {
      const { known, items, times, interval_seconds } = await seen({ kind: 'promql', query: 'vector(1) > 0' })
      expect({ known, times, interval_seconds }).toEqual({ known: true, times: 1, interval_seconds: 600 })
      expect(items).toHaveLength(1_009)
      expect(items.every(({ count }) => count === 1)).toBe(true)
    })
    expect(await seen({ kind: 'promql', query: 'vector(1) > 2 # never' })).toMatchObject({ known: true, times: 0 })
    expect(await refused(app, alarms.preview, { token: owner.token, body: { rule: { kind: 'promql', query: 'rate(up)' }, for_seconds: 0 } })).toMatchObject({
      code: 98608,
      fields: [{ field: 'rule.query' }],
    })
  })

  it('of others are not there, and neither are their receivers', async () => {
    const { token } = stranger
    expect((await call(app, alarms.list, { token, query: {} })).items).toEqual([])
    expect((await call(app, alertLogs.list, { token, query: {} })).items).toEqual([])
    expect(await refused(app, alarms.get, { token, params: { id: alarm.id } })).toMatchObject({ status: 404 })
    expect(await refused(app, receivers.deliveries, { token, params: { id: receiver.id }, query: {} })).toMatchObject({ status: 404 })
    const body = { name: 'x', severity: 'info', rule: { kind: 'metric', metric: 'node_cpu', comparison: '>', threshold: 1 }, receiver_ids: [receiver.id] }
    expect(await refused(app, alarms.create, { token, body })).toMatchObject({ code: 98623, fields: [{ field: 'receiver_ids' }] })
    expect(await refused(app, alarms.create, { token, body: { ...body, receiver_ids: [], rule: { kind: 'promql', query: 'up{bp_id="x"}' } } })).toMatchObject({
      code: 98609,
    })
    expect((await told({}, new Date())).statusCode).toBe(200)
    expect((await app.http.inject({ method: 'POST', url: `/api/omc/v1/monitor/prometheus/${inbox.id}/scrape/api/v2/alerts`, payload: [] })).statusCode).toBe(
      401,
    )
  })

  it('are told where that may be: at no address of ours', async () => {
    const add = (target: string) => refused(app, receivers.create, { token: owner.token, body: { name: 'inner', kind: 'webhook', url: target } })
    expect(await add('http://10.0.0.1/x')).toMatchObject({ code: 98625, fields: [{ field: 'url' }] })
    expect(await add('ftp://example.com')).toMatchObject({ fields: [{ field: 'url' }] })
    expect(receiver).toMatchObject({ target: new URL(url).host, has_secret: true })
    expect(JSON.stringify(receiver)).not.toContain('hidden')
  })

  it('end when they are deleted, and stay in the log', async () => {
    expect(await call(app, alarms.activate, { token: owner.token, params: { id: alarm.id }, query: { action: 'deactive' } })).toMatchObject({
      status: 'deactive',
      firing_count: 0,
    })
    await call(app, alarms.delete, { token: owner.token, params: { id: alarm.id } })
    const ended = await logs({ page_size: '50' })
    expect(ended.length).toBeGreaterThan(30)
    expect(ended.every(({ status, alarm: of }) => status === 'resolved' && of === null)).toBe(true)
  })
})
