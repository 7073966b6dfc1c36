import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { flavors } from '@zhisuan/contract/nextstack/flavor'
import { images, terminals, vms } from '@zhisuan/contract/nextstack/vm'
import { terminalFromServer } from '@zhisuan/contract/terminal'
import { auth } from '@zhisuan/contract/ums/auth'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createLog } from '../../../platform/log.ts'
import { createOpenStreams } from '../../../platform/openStreams.ts'
import { someActor } from '../../../testing/actor.ts'
import { testApp, type TestApp } from '../../../testing/app.ts'
import { call, refused, send } from '../../../testing/call.ts'
import { someone, type Person, type SignedIn } from '../../../testing/people.ts'
import { fakeSession, fakeSocket } from '../../../testing/terminal.ts'
import { createTerminalService } from './terminal.service.ts'

/** A browser at the websocket: what it was told, and what the terminal printed. */
interface Screen {
  socket: WebSocket
  frames: unknown[]
  /** All that was printed, replay included. */
  text: () => string
  shows: (text: string) => Promise<void>
  closed: Promise<number>
  type: (text: string) => void
}

describe('a terminal', () => {
  let app: TestApp
  let owner: Person & SignedIn
  let vmId: string
  let port: number
  const screens: Screen[] = []

  beforeAll(async () => {
    app = await testApp()
    owner = await someone(app)
    const admin = await someone(app, { kind: 1 })
    const { cloud_id } = await call(app, clouds.create, {
      token: admin.token,
      body: { name: 'sandbox', product: 'nextstack', connection: { type: 'sandbox' } },
    })
    const { items: offered } = await call(app, images.list, { token: owner.token, query: { cloud_id, type: 'container' } })
    const { items: sizes } = await call(app, flavors.list, { token: owner.token })
    const { items } = await call(app, vms.create, {
      token: owner.token,
      body: {
        cloud_id,
        name: 'vm',
        type: 'container',
        image_fingerprint: offered[0]?.fingerprint ?? '',
        flavor_id: sizes[0]?.id ?? '',
        network: 'sandbox0',
        password: 'Correct-horse-1',
      },
    })
    vmId = items[0]?.id ?? ''
    await vi.waitFor(async () => expect((await call(app, vms.get, { token: owner.token, params: { id: vmId } })).status).toBe('running'), { interval: 20 })
    await app.http.listen({ host: '127.0.0.1', port: 0 })
    port = (app.http.server.address() as AddressInfo).port
  })
  afterEach(() => {
    for (const { socket } of screens.splice(0)) socket.terminate()
  })
  afterAll(() => app.close())

  const open = (body: { columns?: number; rows?: number; terminal_id?: string; take_over?: boolean } = {}, token = owner.token) =>
    call(app, terminals.open, { token, params: { id: vmId }, body })
  /** The first terminal of a test takes the place of what the test before left. */
  const fresh = (body: { columns?: number; rows?: number } = {}) => open({ ...body, take_over: true })
  const connect = async (path: string): Promise<Screen> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    const frames: unknown[] = []
    const printed: Buffer[] = []
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) printed.push(data)
      else frames.push(JSON.parse(data.toString()))
    })
    const text = () => Buffer.concat(printed).toString()
    const screen: Screen = {
      socket,
      frames,
      text,
      shows: (wanted) => vi.waitFor(() => expect(text()).toContain(wanted), { interval: 10 }),
      closed: once(socket, 'close').then(([code]) => code as number),
      type: (typed) => socket.send(Buffer.from(typed), { binary: true }),
    }
    screens.push(screen)
    await once(socket, 'open')
    return screen
  }
  /** What a connection that is not let in is told. */
  const rejected = async (path: string): Promise<{ status: number; body: unknown }> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, import('node:http').IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    socket.on('error', () => undefined)
    socket.terminate()
    return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as unknown }
  }

  it('prints, takes what is typed, and tells how the shell ended', async () => {
    const { terminal_id, socket_path } = await fresh()
    expect(socket_path).toMatch(new RegExp(`^/api/nextstack/v1/terminals/${terminal_id}/socket\\?ticket=[\\w-]{43}$`))
    const screen = await connect(socket_path)
    await screen.shows('~# ')
    expect(terminalFromServer.parse(screen.frames[0])).toEqual({ type: 'ready', replay_bytes: expect.any(Number) })
    screen.type('echo 你好\r')
    await screen.shows('\r\n你好\r\n')
    screen.type('exit 3\r')
    expect(await screen.closed).toBe(1000)
    expect(screen.frames.at(-1)).toEqual({ type: 'exit', exit_code: 3 })
  })

  it('has the size that it was opened with, and the one that it is given later', async () => {
    const { socket } = await (async () => {
      const screen = await connect((await fresh({ columns: 132, rows: 50 })).socket_path)
      await screen.shows('~# ')
      screen.type('stty size\r')
      await screen.shows('50 132')
      screen.socket.send(JSON.stringify({ type: 'resize', columns: 90, rows: 30 }))
      screen.type('stty size\r')
      await screen.shows('30 90')
      return screen
    })()
    socket.close()
  })

  it('goes on without its connection, and shows who comes back what they missed', async () => {
    const first = await fresh()
    const before = await connect(first.socket_path)
    await before.shows('~# ')
    before.type('echo before\r')
    await before.shows('\r\nbefore\r\n')
    before.socket.terminate()
    await before.closed
    const again = await vi.waitFor(async () => open({ terminal_id: first.terminal_id }))
    expect(again.terminal_id).toBe(first.terminal_id)
    const after = await connect(again.socket_path)
    await after.shows(before.text())
    const { replay_bytes } = terminalFromServer.options[0].parse(after.frames[0])
    // And what came when nobody was there to see it.
    expect(after.text().startsWith(before.text())).toBe(true)
    expect(replay_bytes).toBeGreaterThanOrEqual(Buffer.byteLength(before.text()))
    after.type('echo after\r')
    await after.shows('\r\nafter\r\n')
  })

  it('moves to the newer connection of the same terminal', async () => {
    const first = await fresh()
    const before = await connect(first.socket_path)
    await before.shows('~# ')
    const after = await connect((await open({ terminal_id: first.terminal_id })).socket_path)
    expect(await before.closed).toBe(4001)
    after.type('echo mine\r')
    await after.shows('\r\nmine\r\n')
    expect(before.text()).not.toContain('mine')
  })

  it('lets a ticket in once, and only to its own terminal', async () => {
    const { terminal_id, socket_path } = await fresh()
    await connect(socket_path)
    const ticket = socket_path.split('ticket=')[1] ?? ''
    const path = (id: string, one: string) => `/api/nextstack/v1/terminals/${id}/socket?ticket=${one}`
    for (const wrong of [
      socket_path,
      path(terminal_id, ''),
      path(terminal_id, ticket.toLowerCase()),
      path(terminal_id, 'x'.repeat(500)),
      `/api/nextstack/v1/terminals/${terminal_id}/socket`,
    ]) {
      expect(await rejected(wrong)).toMatchObject({ status: 401, body: { code: 94010 } })
    }
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const other = await open({}, colleague.token)
    expect(await rejected(path(terminal_id, other.socket_path.split('ticket=')[1] ?? ''))).toMatchObject({ status: 401, body: { code: 94010 } })
    // Tried at the wrong door, it is spent.
    expect(await rejected(other.socket_path)).toMatchObject({ status: 401 })
  })

  it('is one for each person and instance; a second one is refused or takes over', async () => {
    const first = await connect((await fresh()).socket_path)
    await first.shows('~# ')
    expect(await refused(app, terminals.open, { token: owner.token, params: { id: vmId }, body: {} })).toMatchObject({ status: 409, code: 94009 })
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const theirs = await open({}, colleague.token)
    const second = await connect((await open({ take_over: true })).socket_path)
    expect(await first.closed).toBe(1000)
    second.type('echo second\r')
    await second.shows('\r\nsecond\r\n')
    // The colleague's was no matter of theirs.
    const other = await connect(theirs.socket_path)
    await other.shows('~# ')
  })

  it('left behind by a closed page does not stand in the way', async () => {
    const first = await fresh()
    const screen = await connect(first.socket_path)
    await screen.shows('~# ')
    screen.socket.close()
    await screen.closed
    const second = await vi.waitFor(() => open())
    expect(second.terminal_id).not.toBe(first.terminal_id)
    // It is gone for good: who asks for it gets a new one in the place of the second.
    expect((await open({ terminal_id: first.terminal_id })).terminal_id).not.toBe(first.terminal_id)
  })

  it('is not come back to by another person', async () => {
    const mine = await fresh()
    const screen = await connect(mine.socket_path)
    screen.type('echo private\r')
    await screen.shows('\r\nprivate\r\n')
    const colleague = await someone(app, { kind: 4, organisation: owner.bp_id })
    const theirs = await open({ terminal_id: mine.terminal_id }, colleague.token)
    expect(theirs.terminal_id).not.toBe(mine.terminal_id)
    const other = await connect(theirs.socket_path)
    await other.shows('~# ')
    expect(other.text()).not.toContain('private')
  })

  it.each(['{"type":"resize","columns":0,"rows":5}', '{"type":"resize"}', '{"type":"run","command":"reboot"}', 'not json'])(
    'cuts off who sends %s',
    async (text) => {
      const screen = await connect((await fresh()).socket_path)
      screen.socket.send(text)
      expect(await screen.closed).toBe(1008)
    },
  )

  it('ends with the session of who opened it', async () => {
    const person = await someone(app, { kind: 4, organisation: owner.bp_id })
    const opened = await open({}, person.token)
    const screen = await connect(opened.socket_path)
    await screen.shows('~# ')
    const spare = await open({ terminal_id: opened.terminal_id }, person.token)
    expect((await send(app, auth.logout, { token: person.token })).status).toBeLessThan(300)
    expect(await screen.closed).toBe(1000)
    expect(await rejected(spare.socket_path)).toMatchObject({ status: 401, body: { code: 94010 } })
  })

  it('refuses sizes that no screen has', async () => {
    for (const [field, value] of [
      ['columns', 9],
      ['columns', 501],
      ['rows', 3],
      ['rows', 301],
      ['terminal_id', 'x'],
      ['take_over', 'yes'],
    ] as const) {
      expect(await refused(app, terminals.open, { token: owner.token, params: { id: vmId }, body: { [field]: value } }), field).toMatchObject({
        status: 400,
        code: 90001,
        fields: [{ field }],
      })
    }
  })
})

describe('time', () => {
  const body = { columns: 80, rows: 24, take_over: false }

  function service() {
    const shells: ReturnType<typeof fakeSession>[] = []
    const openStreams = createOpenStreams()
    const vms = {
      // The service asks for these two alone.
      forTerminal: (async () => ({
        vm: { engine_name: 'zs-1' },
        engine: {
          instances: {
            terminal: async () => {
              const shell = fakeSession()
              shells.push(shell)
              return shell.session
            },
          },
        },
      })) as unknown as Parameters<typeof createTerminalService>[1]['vms']['forTerminal'],
    }
    const terminalService = createTerminalService({ openStreams, log: createLog({ LOG_LEVEL: 'silent' }) }, { vms })
    return { openStreams, terminalService, shells }
  }
  const ticketOf = (path: string) => path.split('ticket=')[1] ?? ''
  /** Lets what is ready run, without letting time pass. */
  const settle = () => vi.advanceTimersByTimeAsync(0)

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('ends a ticket after half a minute', async () => {
    const { terminalService } = service()
    const early = await terminalService.open(someActor(), 'vm', body)
    await vi.advanceTimersByTimeAsync(29_000)
    expect(terminalService.redeem(early.terminal_id, ticketOf(early.socket_path)).id).toBe(early.terminal_id)
    const late = await terminalService.open(someActor(), 'vm', { ...body, terminal_id: early.terminal_id })
    await vi.advanceTimersByTimeAsync(30_001)
    expect(() => terminalService.redeem(late.terminal_id, ticketOf(late.socket_path))).toThrow('终端连接凭证无效或已过期')
  })

  it('ends a shell a minute after its connection, not before, and not while it has one', async () => {
    const { terminalService, shells } = service()
    const opened = await terminalService.open(someActor(), 'vm', body)
    const { socket, as } = fakeSocket()
    terminalService.attach(terminalService.redeem(opened.terminal_id, ticketOf(opened.socket_path)), as)
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    expect(shells[0]?.close).not.toHaveBeenCalled()
    socket.emit('close')
    await vi.advanceTimersByTimeAsync(59_000)
    expect(shells[0]?.close).not.toHaveBeenCalled()
    // Who comes back in the last second has another minute.
    const again = await terminalService.open(someActor(), 'vm', { ...body, terminal_id: opened.terminal_id })
    const second = fakeSocket()
    terminalService.attach(terminalService.redeem(again.terminal_id, ticketOf(again.socket_path)), second.as)
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    expect(shells[0]?.close).not.toHaveBeenCalled()
    second.socket.emit('close')
    await vi.advanceTimersByTimeAsync(60_001)
    expect(shells[0]?.close).toHaveBeenCalledTimes(1)
    expect(shells).toHaveLength(1)
  })

  it('ends a shell that nobody ever connected to', async () => {
    const { terminalService, shells } = service()
    await terminalService.open(someActor(), 'vm', body)
    await vi.advanceTimersByTimeAsync(60_001)
    expect(shells[0]?.close).toHaveBeenCalledTimes(1)
  })

  it('keeps how it ended for who comes back within the minute', async () => {
    const { terminalService, shells } = service()
    const opened = await terminalService.open(someActor(), 'vm', body)
    shells[0]?.print('bye')
    shells[0]?.end(7)
    await settle()
    const again = await terminalService.open(someActor(), 'vm', { ...body, terminal_id: opened.terminal_id })
    const { socket, sent, as } = fakeSocket()
    terminalService.attach(terminalService.redeem(again.terminal_id, ticketOf(again.socket_path)), as)
    expect(sent.map(String)).toEqual(['{"type":"ready","replay_bytes":3}', 'bye', '{"type":"exit","exit_code":7}'])
    expect(socket.close).toHaveBeenCalledWith(1000)
  })

  it('does not let the replay grow without end', async () => {
    const { terminalService, shells } = service()
    const opened = await terminalService.open(someActor(), 'vm', body)
    for (let n = 0; n < 64; n++) shells[0]?.print(Buffer.alloc(16 * 1024, n))
    await settle()
    const { sent, as } = fakeSocket()
    terminalService.attach(terminalService.redeem(opened.terminal_id, ticketOf(opened.socket_path)), as)
    const replay = sent[1]
    expect(sent[0]).toBe(JSON.stringify({ type: 'ready', replay_bytes: 256 * 1024 }))
    expect(replay).toHaveLength(256 * 1024)
    expect(replay?.at(-1)).toBe(63)
  })

  it('waits for a slow reader instead of filling memory', async () => {
    const { terminalService, shells } = service()
    const opened = await terminalService.open(someActor(), 'vm', body)
    const { socket, sent, as } = fakeSocket()
    terminalService.attach(terminalService.redeem(opened.terminal_id, ticketOf(opened.socket_path)), as)
    socket.bufferedAmount = 2 ** 21
    shells[0]?.print('first')
    shells[0]?.print('second')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(sent.map(String)).toEqual(['{"type":"ready","replay_bytes":0}', 'first'])
    socket.bufferedAmount = 0
    await vi.advanceTimersByTimeAsync(100)
    expect(sent.map(String).at(-1)).toBe('second')
  })

  it('of two that are opened at once leaves one', async () => {
    const { terminalService, shells } = service()
    const outcomes = await Promise.allSettled([terminalService.open(someActor(), 'vm', body), terminalService.open(someActor(), 'vm', body)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(shells.filter(({ close }) => close.mock.calls.length > 0)).toHaveLength(1)
    expect((await terminalService.open(someActor({ user_id: randomUUID() }), 'vm', body)).terminal_id).toBeDefined()
  })

  it('that was closed while the connection was made closes the connection', async () => {
    const { openStreams, terminalService } = service()
    const opened = await terminalService.open(someActor(), 'vm', body)
    const terminal = terminalService.redeem(opened.terminal_id, ticketOf(opened.socket_path))
    openStreams.sessionEnded('s')
    const { socket, sent, as } = fakeSocket()
    terminalService.attach(terminal, as)
    expect(socket.close).toHaveBeenCalledWith(1000)
    expect(sent).toEqual([])
  })
})
