import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stats } from '@zhisuan/contract/omc/stats'
import { integrations, prometheus, type PrometheusInstance } from '@zhisuan/contract/omc/monitor'
import { prometheusIsThere, startPrometheus, type RunningPrometheus } from '@zhisuan/engines/prometheus/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { testApp, type TestApp } from '../../testing/app.ts'
import { call, refused } from '../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../testing/people.ts'

/** A Prometheus that was there, registered by an administrator. Two of its targets say that they are two organisations'. */
describe.skipIf(!prometheusIsThere)('a Prometheus that is registered', () => {
  let app: TestApp
  let running: RunningPrometheus
  let admin: Person & SignedIn
  let owner: Person & SignedIn
  let stranger: Person & SignedIn
  let instance: PrometheusInstance

  beforeAll(async () => {
    app = await testApp()
    admin = await someone(app, { kind: 1 })
    owner = await someone(app)
    stranger = await someone(app)
    const own = (who: Person): string => `{targets: ['@SELF@'], labels: {bp_id: '${who.bp_id}', instance: '${who.name}'}}`
    running = await startPrometheus(`global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: x\n    static_configs: [${own(owner)}, ${own(stranger)}]\n`)
    const made = await call(app, integrations.create, {
      token: admin.token,
      body: { name: 'old', component: 'prometheus', connection: { url: running.url } },
    })
    if (!('settings' in made)) throw new Error('a Prometheus')
    instance = made
  })
  afterAll(async () => {
    await app.close()
    await running.stop()
  })
  const ask = (token: string, query: string, more: Record<string, string> = {}) =>
    call(app, prometheus.query, { token, params: { id: instance.id }, query: { query, ...more } })

  it('has answered first, and is told what to scrape by a token that is shown once', async () => {
    expect(instance).toMatchObject({ origin: 'registered', status: 'active', health: 'reachable', version: expect.stringMatching(/^2/) as string })
    const token = /credentials: '([^']{40,})'/.exec(instance.scrape_config ?? '')?.[1] ?? ''
    expect(token).not.toBe('')
    const again = await call(app, prometheus.get, { token: admin.token, params: { id: instance.id } })
    expect(again.scrape_config).not.toContain(token)
    const targets = (header: string) =>
      app.http.inject({ method: 'GET', url: `/api/omc/v1/monitor/prometheus/${instance.id}/scrape/targets`, headers: { authorization: header } })
    expect((await targets(`Bearer ${token}`)).json()).toMatchObject([
      { labels: { job: 'platform', bp_id: 'platform' } },
      { labels: { job: 'instance' } },
      { labels: { job: 'account' } },
    ])
    expect((await targets('Bearer wrong')).statusCode).toBe(401)
    const create = (url: string) =>
      refused(app, integrations.create, { token: admin.token, body: { name: 'other', component: 'prometheus', connection: { url } } })
    expect(await create('http://127.0.0.1:1')).toMatchObject({ code: 98603, fields: [{ field: 'connection.url' }] })
    expect(
      await refused(app, integrations.create, { token: admin.token, body: { name: 'old', component: 'prometheus', connection: { url: running.url } } }),
    ).toMatchObject({ code: 98600, fields: [{ field: 'name' }] })
  })

  it('answers each organisation from its own series, whatever it asks', async () => {
    await vi.waitFor(async () => expect((await ask(admin.token, 'up == 1')).series).toHaveLength(2))
    for (const query of [
      'up',
      '{__name__=~".+"}',
      'sum by (bp_id) (up)',
      'max_over_time(up[1m])',
      'max_over_time((up or up)[10s:1s])',
      'up or on () {job=~".*"}',
    ]) {
      // What was scraped a moment ago is in no moment of a subquery yet.
      await vi.waitFor(async () => {
        const { series } = await ask(owner.token, query)
        expect(new Set(series.map(({ labels }) => labels['bp_id'])), query).toEqual(new Set([owner.bp_id]))
      })
    }
    expect(
      await refused(app, prometheus.query, { token: owner.token, params: { id: instance.id }, query: { query: `up{bp_id="${stranger.bp_id}"}` } }),
    ).toMatchObject({
      code: 98609,
      fields: [{ field: 'query' }],
    })
  })

  it('says what is wrong with a question and with its time', async () => {
    const wrong = (query: Record<string, string>) =>
      refused(app, prometheus.query, { token: admin.token, params: { id: instance.id }, query: { query: 'up', ...query } })
    expect(await wrong({ query: 'up{' })).toMatchObject({ code: 98608, fields: [{ field: 'query' }] })
    expect(await wrong({ start: '0', end: '11000', step: '1' })).toMatchObject({ code: 98611 })
    expect(await wrong({ start: '10', step: '1' })).toMatchObject({ code: 98611 })
    await vi.waitFor(async () => {
      const now = Math.floor(Date.now() / 1_000)
      const answer = await ask(owner.token, 'up', { start: String(now - 60), end: String(now), step: '1' })
      expect(answer).toMatchObject({ type: 'matrix', series: [{ labels: { bp_id: owner.bp_id } }] })
    })
  })

  it('is asked so much at once by one organisation, and others are not kept by that', async () => {
    // One that thinks for ever about what is slow.
    const played = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
      request.on('end', () => {
        if (!body.includes('slow')) response.end('{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}')
      })
    }).listen(0, '127.0.0.1')
    await once(played, 'listening')
    try {
      const { port } = played.address() as AddressInfo
      const { id } = await call(app, integrations.create, {
        token: admin.token,
        body: { name: 'played', component: 'prometheus', connection: { url: `http://127.0.0.1:${port}` } },
      })
      const asked = { params: { id }, query: { query: 'slow' } }
      const since = Date.now()
      const all = await Promise.all(Array.from({ length: 10 }, () => refused(app, prometheus.query, { token: owner.token, ...asked })))
      expect(all.map(({ code }) => code).toSorted()).toEqual([...Array.from({ length: 4 }, () => 98610), ...Array.from({ length: 6 }, () => 98613)])
      expect(Date.now() - since).toBeLessThan(10_000)
      expect(await call(app, prometheus.query, { token: owner.token, params: { id }, query: { query: 'vector(1)' } })).toMatchObject({ type: 'scalar' })
      await call(app, integrations.action, { token: admin.token, params: { id }, query: { action: 'uninstall' } })
    } finally {
      played.closeAllConnections()
      played.close()
    }
  })

  it('is shown to tenants as far as they need to ask it, and to nobody else', async () => {
    expect((await call(app, prometheus.list, { token: owner.token, query: {} })).items).toEqual([
      { id: instance.id, name: 'old', description: '', status: 'active', health: 'reachable' },
    ])
    expect((await call(app, prometheus.jobs, { token: admin.token, params: { id: instance.id } })).items).toMatchObject([{ job: 'x', target_count: 2 }])
    expect((await call(app, prometheus.link, { token: admin.token, params: { x: 'prometheus' } })).items).toMatchObject([{ url: running.url }])
    expect(await refused(app, prometheus.update, { token: admin.token, params: { id: instance.id }, body: { settings: { retention_days: 3 } } })).toMatchObject(
      { code: 98606 },
    )
  })

  it('is forgotten, and stays what it is', async () => {
    await call(app, integrations.action, { token: admin.token, params: { id: instance.id }, query: { action: 'uninstall' } })
    expect(await refused(app, prometheus.get, { token: admin.token, params: { id: instance.id } })).toMatchObject({ status: 404 })
    expect((await fetch(`${running.url}/-/ready`)).status).toBe(200)
  })

  it('is not needed for figures', async () => {
    expect((await call(app, stats.counts, { token: owner.token })).items.map(({ total }) => total)).toEqual([0, 0, 0, 0, 0, 0])
    expect(await call(app, stats.nodes, { token: owner.token, body: {} })).toMatchObject({ source: 'platform', items: [] })
    expect((await call(app, stats.ranking, { token: owner.token, query: { metric: 'gpu' } })).items).toEqual([])
    expect((await call(app, stats.clusters, { token: owner.token })).items).toEqual([])
  })
})
