import { createHmac } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { alarms, alertLogs, receivers } from '@zhisuan/contract/omc/alarm'
import { integrations, prometheus, type Integration, type QueryResult } from '@zhisuan/contract/omc/monitor'
import { prometheusIsThere } from '@zhisuan/engines/prometheus/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { startMailServer } from '../../apps/server/src/testing/mail.ts'
import { register } from '../browser/people.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

interface Came {
  readonly at: number
  readonly alerts: readonly { readonly id: string; readonly what: string }[]
}
/** An alarm that comes and goes. */
const [periodSeconds, firingSeconds] = [18, 9]

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
  /** Who is told of alarms: a program, a robot of 钉钉 that takes what is signed, and somebody by mail. */
  const hook = { url: '', came: [] as Came[], server: createServer() }
  const robot = { secret: 'SEC0123456789', texts: [] as string[], refused: 0 }
  let mail: Awaited<ReturnType<typeof startMailServer>>
  let environment: Readonly<Record<string, string>>

  const shown = (id: string): Promise<Integration> => admin.call(integrations.get, { params: { id } })
  const settled = (id: string): Promise<Integration> =>
    until(async () => {
      const now = await shown(id)
      if (now.status === 'error') throw new Error(now.error ?? 'error')
      return now.status === 'active' && now.operation_id === null && now
    }, 'the component to be there')
  const programs = (): number[] => allPids().filter((pid) => markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true)
  /** What there is of them on the node: paths in the agent's folder but for what programs write themselves, processes, and users. */
  const footprint = () => {
    const agentFolder = join(data.path, 'agent')
    const paths = readdirSync(agentFolder, { recursive: true, encoding: 'utf8' })
      .filter((path) => !/\/(data|log|run)\//.test(path))
      // What it was told to be names a folder: it is told otherwise now.
      .map((path) => path.replace(/\/[0-9a-f]{64}/, '/told'))
    const users = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':')[0] ?? '')
    return { paths: paths.toSorted(), processes: programs().length, users: users.filter((name) => made.includes(name)) }
  }
  /** The users that the agent made for them. */
  let made: readonly string[] = []
  let untouched: ReturnType<typeof footprint>
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
        const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Omit<Came, 'at'> & { text: { content: string } }
        if (pathname !== '/robot/send') {
          hook.came.push({ at: Date.now(), alerts: body.alerts })
          return response.end('{}')
        }
        // As the robot's documentation has it, with its own words for what it does not take.
        const stamp = searchParams.get('timestamp') ?? ''
        const isSigned = searchParams.get('sign') === createHmac('sha256', robot.secret).update(`${stamp}\n${robot.secret}`).digest('base64')
        if (isSigned && Math.abs(Date.now() - Number(stamp)) < 3_600_000) robot.texts.push(body.text.content)
        else robot.refused++
        return response.end(JSON.stringify(isSigned ? { errcode: 0, errmsg: 'ok' } : { errcode: 310000, errmsg: 'sign not match' }))
      })
    })
    const hookPort = await freePort()
    hook.server.listen(hookPort, '127.0.0.1')
    hook.url = `http://127.0.0.1:${hookPort}/`
    mail = await startMailServer()
    const serverPort = await freePort()
    environment = {
      LOCAL_CLOUD: 'none',
      PORT: String(serverPort),
      PUBLIC_URL: `http://localhost:${serverPort}`,
      WEBHOOK_ALLOW: '127.0.0.1',
      SMTP_URL: mail.url,
      SMTP_FROM: 'platform@example.com',
      // One of its own, which is killed.
      DATABASE_URL: '',
    }
    server = await startServer(data.path, environment)
    admin = await asAdministrator(server)
    const person = await register(server.url, 'monitor-owner')
    owner = new Client(server.url)
    await owner.signIn(person.username, person.password)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    nodeId = edge.id
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
    untouched = footprint()
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
    // None where somebody else has made them before.
    const accounts = join(data.path, 'agent', 'kept', 'accounts.json')
    if (existsSync(accounts)) made = JSON.parse(readFileSync(accounts, 'utf8')) as string[]
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    hook.server.close()
    mail?.stop()
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
    const range = await until(async () => {
      const now = Math.floor(Date.now() / 1_000)
      const result = await ask(admin, 'up{job="node"}', { start: String(now - 60), end: String(now), step: '5' })
      return result.series.length > 0 && result
    }, 'a step at which the node was scraped')
    expect(range).toMatchObject({ type: 'matrix', series: [{ labels: { job: 'node' } }] })
  })

  it('shows a tenant nothing that is not theirs, and cuts what takes too long', async () => {
    await answered(admin, 'up')
    expect(await ask(owner, 'count({__name__=~".+"})')).toMatchObject({ series: [] })
    await expect(ask(owner, 'up{bp_id="platform"}')).rejects.toThrow(/98609/)
    await expect(
      admin.call(prometheus.query, { params: { id: monitor.id }, query: { query: 'up', start: '0', end: '9', step: '1', time: 'x' } }),
    ).rejects.toThrow()
    // The quickest of three: of a machine that does much else at once the clock says little.
    const took: number[] = []
    for (let time = 0; time < 3; time++) {
      const since = Date.now()
      await expect(ask(owner, 'count_over_time((count_over_time(vector(1)[365d:1s]))[365d:1s])')).rejects.toThrow(/98610/)
      took.push(Date.now() - since)
    }
    expect(Math.min(...took)).toBeLessThan(2_000)
    expect(await owner.call(prometheus.list)).toMatchObject({ items: [{ id: monitor.id, name: 'main' }] })
    await expect(owner.call(integrations.get, { params: { id: monitor.id } })).rejects.toThrow(/90004|3000|403/)
  })

  it('works otherwise when it is told to, and is installed anew with what it has kept', async () => {
    const [before, there] = [programs(), footprint()]
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
    expect(footprint()).toEqual(there)
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

  it('fires and tells each once, first that it is so and then that it is over, though all that takes part is killed meanwhile', async () => {
    const ways = [
      { name: 'hook', kind: 'webhook', url: hook.url },
      { name: 'robot', kind: 'dingtalk', url: `${hook.url}robot/send?access_token=a`, secret: robot.secret },
      { name: 'mail', kind: 'mail', addresses: ['somebody@example.com'] },
    ] as const
    const receiver_ids: string[] = []
    for (const body of ways) receiver_ids.push((await admin.call(receivers.create, { body })).id)
    await expect(admin.call(alarms.create, { body: { name: 'wrong', severity: 'info', rule: { kind: 'promql', query: 'rate(up) > 1' } } })).rejects.toThrow(
      /98608/,
    )
    const alarm = await admin.call(alarms.create, {
      body: {
        name: 'now-and-then',
        severity: 'critical',
        for_seconds: 0,
        rule: { kind: 'promql', query: `zhisuan_node_memory_total_bytes > 0 and on () (vector(time() % ${periodSeconds}) < ${firingSeconds})` },
        receiver_ids,
      },
    })
    await until(async () => (await admin.call(alarms.get, { params: { id: alarm.id } })).rule_state === 'loaded', 'the rule to be loaded')
    const heard = () => hook.came.flatMap(({ at, alerts }) => alerts.map((one) => ({ ...one, at })))
    const count = (what: string): number => new Set(heard().flatMap((one) => (one.what === what ? [one.id] : []))).size
    const told = (what: string, times: number) => until(async () => count(what) >= times, `it to be told ${times} times that it is ${what}`)

    // One that began while nobody watched yet has no beginning that could be measured.
    await told('resolved', 1)
    const known = count('firing')
    await told('firing', known + 1)
    const began = heard().at(-1)?.at ?? 0
    // Scraped, evaluated, and a second.
    expect((began / 1_000) % periodSeconds).toBeLessThan(5 + 5 + 1)
    await until(async () => robot.texts.length > 0 && mail.messages.length > 0, 'the robot and the mail')
    expect(robot.texts[0]).toMatch(/严重.*now-and-then/)
    expect(robot.refused).toBe(0)
    expect(mail.messages[0]).toMatchObject({ to: expect.stringContaining('somebody@example.com') as string })

    // The server: what it was told of is not lost, what ends meanwhile is told once it is back.
    server.process.kill('SIGKILL')
    await server.ended
    await told('firing', known + 1)
    server = await startServer(data.path, environment)
    await told('resolved', known + 1)
    await told('firing', known + 2)
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    await told('resolved', known + 2)
    await told('firing', known + 3)
    const postmaster = readFileSync(join(data.path, 'database', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]
    process.kill(Number(postmaster), 'SIGKILL')
    await told('resolved', known + 3)
    await until(
      () =>
        admin.call(alertLogs.list, { query: {} }).then(
          () => true,
          () => false,
        ),
      'the database to be back',
    )

    const byEpisode = Map.groupBy(heard(), ({ id }) => id)
    for (const [id, of] of byEpisode) {
      const all = of.map(({ what }) => what)
      // Whoever is killed after somebody took a message, and before that was written down, sends it once more.
      expect([...new Set(all)], id).toEqual(['firing', 'resolved'].slice(0, new Set(all).size))
    }
    const more = [...byEpisode.values()].reduce((sum, of) => sum + of.length - new Set(of.map(({ what }) => what)).size, 0)
    expect(more, 'told again').toBeLessThanOrEqual(2)
    const { items } = await admin.call(alertLogs.list, { query: { alarm_id: alarm.id, page_size: '100' } })
    expect(items.map(({ id }) => id).toSorted()).toEqual([...byEpisode.keys()].toSorted())
    await admin.call(alarms.delete, { params: { id: alarm.id } })
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
    expect(footprint()).toEqual(untouched)
    expect([await listens(ports.prometheus), await listens(ports.exporter)]).toEqual([false, false])
  })
})
