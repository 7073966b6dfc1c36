import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { Agent, createServer, get, type Server } from 'node:http'
import { connect, createServer as createTcp, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { serviceGateways, servicePorts, type ServiceGateway, type ServicePort } from '@zhisuan/contract/middleware/gateway'
import type { BodyInput } from '@zhisuan/contract/define'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allPids, markOf } from '../../apps/agent/src/kept/processes.ts'
import { parametersOf, startAgent, type RunningAgent } from '../support/agent.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'
import { asAdministrator, Client, startServer, until, type RunningServer } from '../support/server.ts'

const haproxyIsThere = existsSync('/usr/sbin/haproxy') || process.env['CI'] !== undefined

/** A HAProxy that a real agent keeps on this host, in front of servers of ours. */
describe.skipIf(!haproxyIsThere)('a service gateway', () => {
  let data: TemporaryFolder
  let server: RunningServer
  let agent: RunningAgent | undefined
  let admin: Client
  let gateway: ServiceGateway
  let listens: number
  let web: ServicePort
  const behind: { name: string; server: Server; port: number; well: boolean }[] = []
  const programs = (): number[] => allPids().filter((pid) => markOf(pid)?.startsWith(`${data.path}/agent/kept/`) === true)

  const settled = (id: string): Promise<ServiceGateway> =>
    until(async () => {
      const now = await admin.call(serviceGateways.get, { params: { id } })
      if (now.status === 'error') throw new Error(now.error ?? 'error')
      return now.status === 'active' && now.operation_id === null && now
    }, 'the gateway to be there')
  const portSettled = async (id: string): Promise<ServicePort> => {
    await settled(gateway.id)
    return admin.call(servicePorts.get, { params: { id } })
  }
  /** As it is asked for. */
  const given = ({ id, address, port, weight, backup, enabled }: ServicePort['targets'][number]) => ({ id, address, port, weight, backup, enabled })
  const change = async (port: ServicePort, more: Partial<BodyInput<typeof servicePorts.update>>): Promise<ServicePort> => {
    const { name, description, protocol, balance, sticky, check, idle_seconds, connections_most, allowed, revision } = port
    const targets = port.targets.map(given)
    const body = { name, description, protocol, port: port.port, balance, sticky, check, idle_seconds, connections_most, allowed, targets, revision, ...more }
    await admin.call(servicePorts.update, { params: { id: port.id }, body })
    return portSettled(port.id)
  }
  const ask = async (port = listens): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
    return `${answer.status} ${await answer.text()}`
  }
  /** Who answered how often. */
  const share = async (times: number): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (let time = 0; time < times; time++) {
      const who = await ask()
      counts[who] = (counts[who] ?? 0) + 1
    }
    return counts
  }
  const states = async (id: string): Promise<string[]> => (await admin.call(servicePorts.get, { params: { id } })).targets.map(({ now }) => now.state)

  beforeAll(async () => {
    data = temporaryFolder('gateway')
    for (const name of ['a', 'b']) {
      const one = { name, server: createServer(), port: 0, well: true }
      one.server.on('request', (_request, response) => response.writeHead(one.well ? 200 : 503).end(name))
      one.server.listen(0, '127.0.0.1')
      await once(one.server, 'listening')
      one.port = (one.server.address() as AddressInfo).port
      behind.push(one)
    }
    const serverPort = await freePort()
    server = await startServer(data.path, { LOCAL_CLOUD: 'none', PORT: String(serverPort), PUBLIC_URL: `http://localhost:${serverPort}` })
    admin = await asAdministrator(server)
    const { edge, enrolment } = await admin.call(edges.create, { body: { name: 'node', confirm: 'auto' } })
    agent = startAgent(['serve', '--data', join(data.path, 'agent'), ...parametersOf(enrolment.command)])
    await until(async () => (await admin.call(edges.get, { params: { id: edge.id } })).status === 'online', 'the node to be online')
    const made = await admin.call(serviceGateways.create, { body: { name: 'main', node_id: edge.id, control_port: await freePort() } })
    expect(made).toMatchObject({ status: 'installing', node: { name: 'node' } })
    gateway = await settled(made.id)
    listens = await freePort()
    const { id } = await admin.call(servicePorts.create, {
      body: {
        gateway_id: gateway.id,
        name: 'web',
        protocol: 'http',
        port: listens,
        check: { kind: 'http', path: '/', interval_seconds: 1, timeout_seconds: 1, rise: 1, fall: 1 },
        targets: behind.map(({ port }) => ({ address: '127.0.0.1', port })),
      },
    })
    web = await portSettled(id)
  })
  afterAll(async () => {
    await agent?.stop()
    await server?.stop()
    for (const one of behind) {
      one.server.closeAllConnections()
      one.server.close()
    }
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    data?.remove()
  })

  it('shares what comes among those that are well, by their weights', async () => {
    expect(gateway).toMatchObject({ health: 'reachable', version: expect.stringMatching(/^\d+\.\d+/) as string })
    await until(async () => (await states(web.id)).join() === 'up,up', 'both to be up')
    expect(await share(10)).toEqual({ '200 a': 5, '200 b': 5 })
    const [first, second] = web.targets
    if (first === undefined || second === undefined) throw new Error('two targets')
    web = await change(web, {
      targets: [
        { ...first, weight: 30 },
        { ...second, weight: 10 },
      ],
    })
    expect(web).toMatchObject({ status: 'active', error: null, revision: 2 })
    await until(async () => (await states(web.id)).join() === 'up,up', 'both to be up')
    expect(await share(12)).toEqual({ '200 a': 9, '200 b': 3 })
    const now = await admin.call(serviceGateways.overview)
    expect(now.items).toMatchObject([{ name: 'main', ports: [{ name: 'web', up: 2, targets: 2 }] }])
  })

  it('says of each target whether it is up and why not, and looks at one when it is asked to', async () => {
    const [a, b] = behind
    if (a === undefined || b === undefined) throw new Error('two servers')
    b.well = false
    await until(async () => (await states(web.id)).join() === 'up,down', 'one to be down')
    expect((await admin.call(servicePorts.get, { params: { id: web.id } })).targets[1]?.now).toMatchObject({
      reason: 'L7STS',
      said: expect.stringContaining('503') as string,
    })
    expect(await share(4)).toEqual({ '200 a': 4 })
    const test = (at: number) => admin.call(servicePorts.test, { params: { id: web.id, sid: web.targets[at]?.id ?? '' } })
    expect(await test(0)).toMatchObject({ ok: true, reason: 'L7OK', http_status: 200 })
    expect(await test(1)).toMatchObject({ ok: false, reason: 'L7STS', http_status: 503 })
    b.well = true
    await until(async () => (await states(web.id)).join() === 'up,up', 'it to be up again')
    // Nobody listens, and a name that leads nowhere: the others serve.
    const nobody = await freePort()
    web = await change(web, {
      targets: [...web.targets.map(given), { address: '127.0.0.1', port: nobody }, { address: 'nowhere.invalid', port: 80 }],
    })
    await until(async () => (await states(web.id)).join() === 'up,up,down,down', 'those to be down')
    expect(await test(2)).toMatchObject({ ok: false, reason: 'L4CON' })
    expect(await test(3)).toMatchObject({ ok: false, reason: 'NAME' })
    expect(Object.keys(await share(6)).toSorted()).toEqual(['200 a', '200 b'])
    web = await change(web, { targets: web.targets.slice(0, 2).map(given) })
  })

  it('closes nothing when it is changed, and neither does what cannot be', async () => {
    // Two that stay open all the while: of HTTP, and of TCP.
    const keep = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<Socket>()
    const askKept = (): Promise<number> =>
      new Promise((resolve, reject) => {
        get({ host: '127.0.0.1', port: listens, agent: keep }, (answer) => {
          answer.resume()
          answer.on('end', () => resolve(answer.statusCode ?? 0))
        })
          .on('socket', (socket) => sockets.add(socket))
          .on('error', reject)
      })
    const echo: TcpServer = createTcp((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const tcpPort = await freePort()
    const { id } = await admin.call(servicePorts.create, {
      body: {
        gateway_id: gateway.id,
        name: 'echo',
        protocol: 'tcp',
        port: tcpPort,
        idle_seconds: 600,
        targets: [{ address: '127.0.0.1', port: (echo.address() as AddressInfo).port }],
      },
    })
    const tcp = await portSettled(id)
    expect(tcp).toMatchObject({ status: 'active' })
    const open = connect(tcpPort, '127.0.0.1')
    await once(open, 'connect')
    const echoed = async (word: string): Promise<string> => {
      open.write(word)
      const [chunk] = (await once(open, 'data')) as [Buffer]
      return chunk.toString('utf8')
    }
    expect(await echoed('one')).toBe('one')
    expect(await askKept()).toBe(200)
    // Asked all the while, by new connections.
    let [asked, failed] = [0, 0]
    const over = new AbortController()
    const load = (async () => {
      while (!over.signal.aborted) {
        asked++
        if ((await ask().catch(() => 'failed')) === 'failed') failed++
      }
    })()
    const [master] = programs()
    web = await change(web, { balance: 'leastconn' })
    web = await change(web, { balance: 'roundrobin' })
    over.abort()
    await load
    expect([failed, asked > 50]).toEqual([0, true])
    expect(programs()).toContain(master)
    expect(await echoed('two')).toBe('two')

    // A port that somebody else has: refused with who it is, and what was goes on.
    const other = createTcp().listen(0, '0.0.0.0')
    await once(other, 'listening')
    const theirs = (other.address() as AddressInfo).port
    const failedChange = await change(web, { port: theirs })
    expect(failedChange).toMatchObject({ status: 'active', port: listens, error: expect.stringContaining(String(theirs)) as string })
    other.close()
    expect(await ask()).toContain('200')
    expect(await echoed('three')).toBe('three')
    // Of an older revision than it has, or of another's port.
    await expect(change({ ...web, revision: 1 }, {})).rejects.toThrow(/97404/)
    await expect(change(web, { port: tcpPort })).rejects.toThrow(/97403/)
    open.destroy()
    keep.destroy()
    echo.close()
    await admin.call(servicePorts.delete, { params: { id: tcp.id } })
    await settled(gateway.id)
    await expect(once(connect(tcpPort, '127.0.0.1'), 'connect')).rejects.toThrow(/ECONNREFUSED/)
    web = await admin.call(servicePorts.get, { params: { id: web.id } })
  })

  it('is reached only from where it may be', async () => {
    web = await change(web, { allowed: ['192.0.2.0/24'] })
    await expect(ask()).rejects.toThrow()
    web = await change(web, { allowed: ['192.0.2.0/24', '127.0.0.1'] })
    expect(await ask()).toContain('200')
  })

  it('comes back when it is killed, and when its agent was away', async () => {
    for (const pid of programs()) process.kill(pid, 'SIGKILL')
    await until(async () => (await ask().catch(() => '')).startsWith('200'), 'it to be there again')
    const { items, total } = await admin.call(serviceGateways.operations, { params: { id: gateway.id }, query: { page_size: '100' } })
    expect(items.at(-1)).toMatchObject({ kind: 'middleware.gateway.create', status: 'succeeded' })
    expect(items.find(({ kind, status }) => kind === 'middleware.port.update' && status === 'failed')).toMatchObject({ part: 'web' })
    expect(total).toBeGreaterThan(5)
  })

  it('leaves nothing when it is taken away', async () => {
    await admin.call(serviceGateways.delete, { params: { id: gateway.id } })
    await until(
      async () =>
        admin.call(serviceGateways.get, { params: { id: gateway.id } }).then(
          () => false,
          () => true,
        ),
      'the gateway to be gone',
    )
    expect([programs(), readdirSync(join(data.path, 'agent', 'kept', 'programs'))]).toEqual([[], []])
    await expect(ask()).rejects.toThrow()
  })
})
