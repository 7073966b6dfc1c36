import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { computeInstances as calls } from '@zhisuan/contract/compute/instance'
import { errors } from '@zhisuan/contract/errors'
import { auth } from '@zhisuan/contract/ums/auth'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { knowCloud } from '../../../testing/openstack.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'

/** What may go wrong on the way, with a Nova and a nova-serialproxy that do just that. */
describe('the serial console of an instance', () => {
  const id = '5f0c3f1a-6b0e-4f0e-9d55-0a8f0f6f3c11'
  const secret = 'f9906a48-b71e-4f18-baca-c987da3ebdb3'
  let app: TestApp
  let cloud_id: string
  let admin: Person & SignedIn
  let port: number
  let address = ''
  let url = ''
  let remote: () => { status: number; json: unknown }
  /** What the proxy does to whom it let in. */
  let answers: (socket: WebSocket) => void
  /** What it says to whom it does not let in. */
  let turnedAway: number | null
  const lines: WebSocket[] = []
  const screens: WebSocket[] = []

  const nova = createServer((request, response) => {
    request.resume()
    const { pathname } = new URL(request.url ?? '', url)
    const [status, json] = ((): [number, unknown] => {
      if (pathname === '/v3/auth/tokens') {
        const catalog = [{ type: 'compute', endpoints: [{ interface: 'public', region_id: 'one', url: `${url}/compute/v2.1` }] }]
        return [
          201,
          { token: { expires_at: new Date(Date.now() + 3_600_000).toISOString(), user: { id: 'u' }, project: { id: 'p', name: 'p' }, roles: [], catalog } },
        ]
      }
      if (pathname === `/compute/v2.1/servers/${id}/remote-consoles`) {
        const { status: said, json: body } = remote()
        return [said, body]
      }
      if (pathname === `/compute/v2.1/servers/${id}`) {
        return [
          200,
          {
            server: {
              id,
              name: 'web',
              status: 'ACTIVE',
              tenant_id: 'p',
              metadata: {},
              image: '',
              flavor: { original_name: 'm1.small', vcpus: 1, ram: 2048, disk: 20, ephemeral: 0, swap: 0, extra_specs: {} },
              created: '2026-11-20T01:02:03Z',
              updated: '2026-11-20T01:02:13Z',
              addresses: {},
              key_name: null,
              locked: false,
              tags: [],
              'OS-EXT-STS:vm_state': 'active',
              'OS-EXT-STS:task_state': null,
              'OS-SRV-USG:launched_at': '2026-11-20T01:02:12.000000',
            },
          },
        ]
      }
      return [200, { version: { id: 'v2.1', status: 'CURRENT', version: '2.96', min_version: '2.1' } }]
    })()
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-openstack-request-id': 'req-of-nova', ...(status === 201 && { 'x-subject-token': 't' }) })
      .end(JSON.stringify(json))
  })
  const proxy = createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (wanted) => (wanted.has('binary') ? 'binary' : false) })
  proxy.on('upgrade', (request, socket, head) => {
    if (turnedAway !== null) return socket.end(`HTTP/1.1 ${turnedAway} No\r\nconnection: close\r\n\r\n`)
    sockets.handleUpgrade(request, socket, head, (line) => {
      lines.push(line)
      if (line.protocol !== 'binary' || new URL(request.url ?? '', 'ws://x').searchParams.get('token') !== secret) return line.terminate()
      answers(line)
    })
  })
  const echo = (line: WebSocket) => {
    line.send(Buffer.from('web login: '), { binary: true })
    line.on('message', (data: Buffer) => line.send(data, { binary: true }))
  }

  beforeAll(async () => {
    for (const server of [nova, proxy]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(nova.address() as AddressInfo).port}`
    address = `ws://127.0.0.1:${(proxy.address() as AddressInfo).port}/?token=${secret}`
    app = await testApp()
    cloud_id = await knowCloud(app, {
      type: 'openstack-password',
      auth_url: url,
      interface: 'public',
      region: 'one',
      username: 'u',
      password: 'x',
      user_domain: 'Default',
      project: 'p',
      project_domain: 'Default',
    })
    admin = await someone(app, { kind: 1 })
    await app.http.listen({ host: '127.0.0.1', port: 0 })
    port = (app.http.server.address() as AddressInfo).port
  })
  beforeEach(() => {
    remote = () => ({ status: 200, json: { remote_console: { protocol: 'serial', type: 'serial', url: address } } })
    answers = echo
    turnedAway = null
  })
  afterEach(() => {
    for (const socket of [...screens.splice(0), ...lines.splice(0)]) socket.terminate()
  })
  afterAll(async () => {
    await app.close()
    for (const server of [nova, proxy]) server.close()
  })

  const params = () => ({ cloud_id, id })
  const open = (body = {}, who = admin) => call(app, calls.serialConsole, { token: who.token, params: params(), body: { take_over: true, ...body } })
  const notOpened = (body = {}, who = admin) => refused(app, calls.serialConsole, { token: who.token, params: params(), body: { take_over: true, ...body } })
  async function connect(path: string) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    screens.push(socket)
    const printed: Buffer[] = []
    const frames: { type: string; problem?: { code: number; engine?: unknown } }[] = []
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) printed.push(data)
      else frames.push(JSON.parse(data.toString()))
    })
    const closed = once(socket, 'close').then(([code]) => code as number)
    await once(socket, 'open')
    const text = () => Buffer.concat(printed).toString()
    return {
      socket,
      frames,
      text,
      closed,
      shows: (wanted: string) => vi.waitFor(() => expect(text()).toContain(wanted), { interval: 10 }),
      type: (typed: string) => socket.send(Buffer.from(typed), { binary: true }),
    }
  }
  const cloudAsked = () => expect.objectContaining({ service: 'compute', request_id: 'req-of-nova' })

  it('prints, takes what is typed, and keeps the address of the cloud to itself', async () => {
    const before = await app.platform.db.selectFrom('audit_log').selectAll().where('call', '=', 'compute.instance.serialConsole').execute()
    const opened = await open()
    expect(JSON.stringify(opened)).not.toContain(secret)
    expect(JSON.stringify(opened)).not.toContain('ws:')
    const screen = await connect(opened.socket_path)
    await screen.shows('web login: ')
    screen.type('根\r')
    await screen.shows('根\r')
    screen.socket.send(JSON.stringify({ type: 'resize', columns: 132, rows: 40 }))
    screen.type('after')
    await screen.shows('after')
    const entries = await app.platform.db.selectFrom('audit_log').selectAll().where('call', '=', 'compute.instance.serialConsole').execute()
    expect(entries.length - before.length).toBe(1)
    expect(JSON.stringify(entries)).not.toContain(secret)
  })

  it('goes on for who comes back, and is one for all: others are told, and may take it over', async () => {
    const first = await open()
    const before = await connect(first.socket_path)
    before.type('mine')
    await before.shows('mine')
    const colleague = await someone(app, { kind: 1 })
    expect(await notOpened({ take_over: false }, colleague)).toMatchObject({ status: 409, code: errors.terminalOpen.code })
    before.socket.terminate()
    const again = await connect((await open({ terminal_id: first.terminal_id, take_over: false })).socket_path)
    await again.shows('mine')
    const theirs = await connect((await open({}, colleague)).socket_path)
    expect(await again.closed).toBe(1000)
    await theirs.shows('web login: ')
    expect(theirs.text()).not.toContain('mine')
    await vi.waitFor(() => expect(lines.filter(({ readyState }) => readyState === WebSocket.OPEN)).toHaveLength(1))
  })

  it('hangs up at the cloud when the session of who opened it ends', async () => {
    const person = await someone(app, { kind: 1 })
    const screen = await connect((await open({}, person)).socket_path)
    await screen.shows('web login: ')
    expect((await send(app, auth.logout, { token: person.token })).status).toBeLessThan(300)
    expect(await screen.closed).toBe(1000)
    await vi.waitFor(() => expect(lines.at(-1)?.readyState).toBe(WebSocket.CLOSED))
  })

  it('says that the cloud has none', async () => {
    remote = () => ({ status: 400, json: { badRequest: { code: 400, message: 'Unavailable console type serial.' } } })
    expect(await notOpened()).toMatchObject({ status: 409, code: errors.consoleMissing.code })
  })

  it.each(['http://127.0.0.1:1/', 'file:///etc/passwd', 'nothing', ''])('opens no address such as %j', async (wrong) => {
    remote = () => ({ status: 200, json: { remote_console: { protocol: 'serial', type: 'serial', url: wrong } } })
    expect(await notOpened()).toMatchObject({ status: 502, code: errors.engineAnswerInvalid.code, engine: cloudAsked() })
  })

  it('says that nobody answers there', async () => {
    remote = () => ({ status: 200, json: { remote_console: { protocol: 'serial', type: 'serial', url: `ws://127.0.0.1:1/?token=${secret}` } } })
    const said = await notOpened()
    expect(said).toMatchObject({ status: 502, code: errors.consoleUnreachable.code, engine: cloudAsked() })
    expect(JSON.stringify(said)).not.toContain(secret)
    turnedAway = 503
    remote = () => ({ status: 200, json: { remote_console: { protocol: 'serial', type: 'serial', url: address } } })
    expect(await notOpened()).toMatchObject({ status: 502, code: errors.consoleUnreachable.code })
  })

  it('says that it is not let in: at the door, or as nova-serialproxy does it', async () => {
    turnedAway = 403
    expect(await notOpened()).toMatchObject({ status: 502, code: errors.consoleRefused.code, engine: cloudAsked() })
    turnedAway = null
    answers = (line) => setTimeout(() => line.terminate(), 200)
    const screen = await connect((await open()).socket_path)
    expect(await screen.closed).toBe(1000)
    expect(screen.frames.at(-1)).toMatchObject({ type: 'exit', problem: { code: errors.consoleRefused.code, engine: cloudAsked() } })
  })

  it('says that it broke off, and that the machine hung up', async () => {
    for (const [end, error] of [
      [(line: WebSocket) => line.terminate(), errors.consoleBroken],
      [(line: WebSocket) => line.close(1011), errors.consoleBroken],
      [(line: WebSocket) => line.close(1000, 'Target closed'), errors.consoleHungUp],
    ] as const) {
      const screen = await connect((await open()).socket_path)
      await screen.shows('web login: ')
      const line = lines.at(-1)
      if (line !== undefined) end(line)
      expect(await screen.closed).toBe(1000)
      expect(screen.frames.at(-1)).toMatchObject({ type: 'exit', exit_code: null, problem: { code: error.code } })
    }
  })

  it('holds the machine up while nobody reads, and loses nothing', async () => {
    const block = Buffer.alloc(64 * 1024, 'x')
    const blocks = 640
    answers = (line) => {
      line.once('message', () => {
        for (let sent = 0; sent < blocks; sent += 1) line.send(block, { binary: true })
      })
    }
    const screen = await connect((await open()).socket_path)
    let size = 0
    screen.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return
      // At the first that comes it stops to read.
      if (size === 0) screen.socket.pause()
      size += data.length
    })
    screen.type('go')
    await vi.waitFor(() => expect(size).toBeGreaterThan(0))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    // Of 40 MiB most still waits at the other end: between are what the kernel's and our buffers hold.
    expect(lines.at(-1)?.bufferedAmount).toBeGreaterThan(16 * 2 ** 20)
    screen.socket.resume()
    await vi.waitFor(() => expect(size).toBe(blocks * block.length))
  })
})
