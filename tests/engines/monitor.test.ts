import { existsSync, readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { alarms, alertLogs, receivers } from '@zhisuan/contract/omc/alarm'
import { integrations, prometheus, type Integration, type QueryResult } from '@zhisuan/contract/omc/monitor'
import { prometheusIsThere } from '@zhisuan/engines/prometheus/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

/** A Prometheus and a node-exporter that a real agent keeps on this host. */
describe.skipIf(!prometheusIsThere)('a monitor that the platform runs', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let agent: RunningAgent | undefined
  let admin: Client
  let owner: Client
  let nodeId: string
  let monitor: Integration
  let exporter: Integration
  const ports = { prometheus: 0, exporter: 0 }
  /** Somebody who is told of alarms. */
  const hook = { url: '', came: [] as { alerts: { what: string }[] }[], server: createServer() }

  const shown = (id: string): Promise<Integration> => admin.call(integrations.get, { params: { id } })
  const settled = (id: string): Promise<Integration> =>
    until(async () => {
      const now = await shown(id)
      if (now.status === 'error') throw new Error(now.error ?? 'error')
      return now.status === 'active' && now.operation_id === null && now
    }, 'the component to be there')
  const programs = (): number[] => allPids().filter((pid) => markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true)
  const listens = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
  const ask = (as: Client, query: string, range: Record<string, string> = {}): Promise<QueryResult> =>
    as.call(prometheus.query, { params: { id: monitor.id }, query: { query, ...range } })
  const answered = (as: Client, query: string): Promise<QueryResult> =>
    until(async () => {
      const result = await ask(as, query)
      return result.series.length > 0 && result
    }, `an answer to ${query}`)

  beforeAll(async () => {
    data = temporaryFolder('monitor')
    hook.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        hook.came.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as (typeof hook.came)[number])
        response.end('{}')
      })
    })
    const hookPort = await freePort()
    hook.server.listen(hookPort, '127.0.0.1')
    hook.url = `http://127.0.0.1:${hookPort}/`
    const serverPort = await freePort()
    server = await startServer(data.path, {
      LOCAL_CLOUD: 'none',
      PORT: String(serverPort),
      PUBLIC_URL: `http://localhost:${serverPort}`,
      WEBHOOK_ALLOW: '127.0.0.1',
    })
    admin = await asAdministrator(server)
    const person = await register(server.url, 'monitor-owner')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    nodeId = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
    ports.prometheus = await freePort()
    monitor = await admin.call(integrations.create, {
      body: { name: 'main', component: 'prometheus', place: { node_id: nodeId, port: ports.prometheus }, settings: { scrape_interval_seconds: 5 } },
    })
    expect(monitor).toMatchObject({ status: 'installing', origin: 'kept', node: { id: nodeId } })
    ports.exporter = await freePort()
    exporter = await admin.call(integrations.create, {
      body: { name: 'exporter', component: 'node_exporter', place: { node_id: nodeId, port: ports.exporter } },
    })
    monitor = await settled(monitor.id)
    exporter = await settled(exporter.id)
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    hook.server.close()
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    data?.remove()
  })

  it('scrapes the node, what runs on it and the platform, each with whose it is', async () => {
    expect([monitor, exporter]).toMatchObject([{ health: 'reachable', version: expect.stringMatching(/^\d/) as string }, { health: 'reachable' }])
    const jobs = await until(async () => {
      const { items } = await admin.call(prometheus.jobs, { params: { id: monitor.id } })
      return items.length === 4 && items.every(({ target_count, up_count }) => target_count === up_count) && items
    }, 'all targets to be up')
    expect(jobs.map(({ job }) => job)).toEqual(['instance', 'node', 'node-exporter', 'platform'])
    expect((await answered(admin, 'zhisuan_node_memory_total_bytes')).series).toMatchObject([{ labels: { bp_id: 'platform', node_id: nodeId, node: 'node' } }])
    expect((await answered(admin, 'node_load1')).series).toMatchObject([{ labels: { job: 'node-exporter', node_id: nodeId } }])
    const now = Math.floor(Date.now() / 1_000)
    const range = await ask(admin, 'up{job="node"}', { start: String(now - 60), end: String(now), step: '5' })
    expect(range).toMatchObject({ type: 'matrix', series: [{ labels: { job: 'node' } }] })
  })

  it('shows a tenant nothing that is not theirs, and cuts what takes too long', async () => {
    await answered(admin, 'up')
    expect(await ask(owner, 'count({__name__=~".+"})')).toMatchObject({ series: [] })
    await expect(ask(owner, 'up{bp_id="platform"}')).rejects.toThrow(/98609/)
    await expect(
      admin.call(prometheus.query, { params: { id: monitor.id }, query: { query: 'up', start: '0', end: '9', step: '1', time: 'x' } }),
    ).rejects.toThrow()
    const since = Date.now()
    await expect(ask(owner, 'count_over_time((count_over_time(vector(1)[365d:1s]))[365d:1s])')).rejects.toThrow(/98610/)
    expect(Date.now() - since).toBeLessThan(4_000)
    expect(await owner.call(prometheus.list)).toMatchObject({ items: [{ id: monitor.id, name: 'main' }] })
    await expect(owner.call(integrations.get, { params: { id: monitor.id } })).rejects.toThrow(/90004|3000|403/)
  })

  it('works otherwise when it is told to, and is installed anew with what it has kept', async () => {
    const before = programs()
    const updated = await admin.call(prometheus.update, { params: { id: monitor.id }, body: { settings: { retention_days: 7 } } })
    expect(updated).toMatchObject({ status: 'changing' })
    monitor = await settled(monitor.id)
    expect(await admin.call(prometheus.get, { params: { id: monitor.id } })).toMatchObject({ settings: { retention_days: 7, scrape_interval_seconds: 5 } })
    // The one before said that it was told to end.
    expect((await admin.call(integrations.log, { params: { id: monitor.id }, query: { lines: '50' } })).text).toContain('SIGTERM')
    const firstAt = Number((await answered(admin, 'min_over_time(timestamp(up{job="node"})[1h:1s])')).series[0]?.points[0]?.[1])
    await admin.call(integrations.action, { params: { id: monitor.id }, query: { action: 'reinstall' } })
    await settled(monitor.id)
    expect(programs().some((pid) => before.includes(pid))).toBe(true)
    // What was done to it.
    const { items } = await admin.call(integrations.operations, { params: { id: monitor.id } })
    expect(items.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'omc.integration.reinstall succeeded',
      'omc.prometheus.update succeeded',
      'omc.integration.create succeeded',
    ])
    const kept = Number((await answered(admin, 'min_over_time(timestamp(up{job="node"})[1h:1s])')).series[0]?.points[0]?.[1])
    expect(kept).toBeLessThanOrEqual(firstAt + 1)
  })

  it('fires, tells it once, and tells that it is over; a rule that is refused is told, and the others go on', async () => {
    const receiver = await admin.call(receivers.create, { body: { name: 'hook', kind: 'webhook', url: hook.url } })
    const lastsUntil = Math.floor(Date.now() / 1_000) + 45
    const alarm = await admin.call(alarms.create, {
      body: {
        name: 'there',
        severity: 'critical',
        for_seconds: 0,
        rule: { kind: 'promql', query: `zhisuan_node_memory_total_bytes > 0 and on () (vector(time()) < ${lastsUntil})` },
        receiver_ids: [receiver.id],
      },
    })
    await expect(admin.call(alarms.create, { body: { name: 'wrong', severity: 'info', rule: { kind: 'promql', query: 'rate(up) > 1' } } })).rejects.toThrow(
      /98608/,
    )
    await until(async () => (await admin.call(alarms.get, { params: { id: alarm.id } })).rule_state === 'loaded', 'the rule to be loaded')
    await until(async () => hook.came.length > 0, 'somebody to be told')
    expect(hook.came[0]).toMatchObject({ alerts: [{ what: 'firing', severity: 'critical' }] })
    const shownLogs = async () => (await admin.call(alertLogs.list)).items
    expect(await shownLogs()).toMatchObject([{ status: 'firing', alarm: { id: alarm.id }, labels: { node: 'node' } }])
    await until(async () => (await shownLogs())[0]?.status === 'resolved', 'it to be over')
    await until(async () => hook.came.length > 1, 'somebody to be told that it is over')
    expect(hook.came.map(({ alerts }) => alerts.map(({ what }) => what))).toEqual([['firing'], ['resolved']])
  })

  it('leaves nothing when it is uninstalled', async () => {
    for (const { id } of [monitor, exporter]) {
      await admin.call(integrations.action, { params: { id }, query: { action: 'uninstall' } })
      await until(
        async () =>
          shown(id).then(
            (now) => {
              if (now.status === 'error') throw new Error(now.error ?? 'error')
              return false
            },
            () => true,
          ),
        'the component to be gone',
      )
    }
    expect(programs()).toEqual([])
    expect([await listens(ports.prometheus), await listens(ports.exporter)]).toEqual([false, false])
    const folder = join(data.path, 'agent', 'kept', 'programs')
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([])
  })
})
