import { terminalWish } from '@zhisuan/contract/terminal'
import { EngineError } from '@zhisuan/engines/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { someActor } from '../testing/actor.ts'
import { fakeSession, fakeSocket } from '../testing/terminal.ts'
import { createLog } from './log.ts'
import { createOpenStreams, type OpenStreams } from './openStreams.ts'
import { createTerminals } from './terminals.ts'

// What a terminal is to a person is tested with the shells of instances; here is what those do not need.
describe('terminals', () => {
  const actor = someActor()
  const wish = terminalWish.parse({})
  const minute = 60_000

  async function opened(limits?: { idleMs: number; wholeMs: number }) {
    const streams = createOpenStreams()
    const terminals = createTerminals({ path: '/t', streams, log: createLog({ LOG_LEVEL: 'silent' }), ...(limits && { limits }) })
    const shell = fakeSession()
    const { terminal_id, socket_path } = await terminals.open(actor, 'line', wish, async () => shell.session)
    const { socket, sent, as } = fakeSocket()
    terminals.attach(terminals.redeem(terminal_id, socket_path.split('ticket=')[1] ?? ''), as)
    const settle = () => vi.advanceTimersByTimeAsync(0)
    return { streams, shell, socket, sent, settle, last: () => JSON.parse(String(sent.at(-1))) as unknown }
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('end when nothing is typed or printed for as long as that may be, and say so', async () => {
    const { streams, shell, socket, last } = await opened({ idleMs: 30 * minute, wholeMs: 600 * minute })
    await vi.advanceTimersByTimeAsync(29 * minute)
    socket.emit('message', Buffer.from('x'), true)
    await vi.advanceTimersByTimeAsync(29 * minute)
    shell.print('y')
    await vi.advanceTimersByTimeAsync(29 * minute)
    expect(shell.close).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2 * minute)
    expect(shell.close).toHaveBeenCalled()
    expect(last()).toMatchObject({ type: 'exit', exit_code: null, problem: { code: 94033 } })
    expect(socket.close).toHaveBeenCalledWith(1000)
    streams.drain()
  })

  it('end after as long as any may be, however much they are used', async () => {
    const { streams, shell, socket, last } = await opened({ idleMs: 30 * minute, wholeMs: 60 * minute })
    for (let passed = 0; passed < 59; passed += 1) {
      await vi.advanceTimersByTimeAsync(minute)
      socket.emit('message', Buffer.from('x'), true)
    }
    expect(shell.close).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2 * minute)
    expect(last()).toMatchObject({ type: 'exit', problem: { code: 94034 } })
    streams.drain()
  })

  it('have no end where none is set', async () => {
    const { streams, shell } = await opened()
    await vi.advanceTimersByTimeAsync(48 * 60 * minute)
    expect(shell.close).not.toHaveBeenCalled()
    streams.drain()
  })

  it.each([
    ['their session ends', (streams: OpenStreams) => streams.sessionEnded(actor.session_id), 'tokenInvalid'],
    ['the server stops', (streams: OpenStreams) => streams.drain(), 'serverStopping'],
  ] as const)('are not left open where %s while the engine opens them', async (_, happens, refusal) => {
    const streams = createOpenStreams()
    const terminals = createTerminals({ path: '/t', streams, log: createLog({ LOG_LEVEL: 'silent' }) })
    const [opened, shell] = [Promise.withResolvers<void>(), fakeSession()]
    const asked = terminals.open(actor, 'line', wish, () => opened.promise.then(() => shell.session))
    happens(streams)
    opened.resolve()
    await expect(asked).rejects.toMatchObject({ refusal })
    expect(shell.close).toHaveBeenCalled()
  })

  it('take no more typing until the other side has taken what it was given', async () => {
    const { streams, shell, socket, settle } = await opened()
    const taken = Promise.withResolvers<void>()
    shell.write.mockReturnValueOnce(taken.promise)
    socket.emit('message', Buffer.from('much'), true)
    expect(socket.pause).toHaveBeenCalledTimes(1)
    await settle()
    expect(socket.resume).not.toHaveBeenCalled()
    taken.resolve()
    await settle()
    expect(socket.resume).toHaveBeenCalledTimes(1)
    socket.emit('message', Buffer.from('little'), true)
    expect(socket.pause).toHaveBeenCalledTimes(1)
    streams.drain()
  })

  it('say what broke them, and end', async () => {
    const { shell, socket, settle, last, sent } = await opened()
    shell.print('before')
    await settle()
    shell.fail(new EngineError('unreachable', 'the cable is cut'))
    await settle()
    expect(sent.map(String)).toContain('before')
    expect(last()).toMatchObject({ type: 'exit', exit_code: null, problem: { code: 93002, request_id: expect.any(String) } })
    expect(JSON.stringify(last())).not.toContain('cable')
    expect(socket.close).toHaveBeenCalledWith(1000)
  })
})
