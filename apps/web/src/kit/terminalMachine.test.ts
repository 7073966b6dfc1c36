import { describe, expect, it } from 'vitest'
import { backOffMs, giveUpAfterMs, newTerminal, terminalReducer, type TerminalEvent, type TerminalState } from './terminalMachine.ts'

const after = (events: readonly TerminalEvent[], from: TerminalState = newTerminal): TerminalState => events.reduce(terminalReducer, from)

const opened = (attempt = 1, terminalId = 't1'): TerminalEvent => ({ type: 'opened', attempt, terminalId, socketPath: `/s/${attempt}` })
const ready = (attempt = 1): TerminalEvent => ({ type: 'ready', attempt })
const lost = (attempt = 1, now = 0, closeCode = 1006): TerminalEvent => ({ type: 'lost', attempt, closeCode, now })

describe('terminal connection', () => {
  it('opens, connects and is ready', () => {
    expect(after([opened()])).toMatchObject({ phase: 'connecting', terminalId: 't1', socketPath: '/s/1', renewed: false })
    expect(after([opened(), ready()])).toMatchObject({ phase: 'ready', failures: 0 })
  })

  it('comes back to the same terminal after the connection broke', () => {
    const waiting = after([opened(), ready(), lost()])
    expect(waiting).toMatchObject({ phase: 'waiting', terminalId: 't1', delayMs: 500, failures: 1 })
    const back = after([{ type: 'due' }], waiting)
    expect(back).toMatchObject({ phase: 'opening', terminalId: 't1', attempt: 2 })
    expect(after([opened(2), ready(2)], back)).toMatchObject({ phase: 'ready', renewed: false, failures: 0, troubleSince: null })
  })

  it('says so when the server had let the former shell go', () => {
    const back = after([opened(), ready(), lost(), { type: 'due' }, opened(2, 't2')])
    expect(back).toMatchObject({ phase: 'connecting', terminalId: 't2', renewed: true })
  })

  it('waits longer each time, and gives up after two minutes of trouble', () => {
    expect([1, 2, 3, 4, 5, 6, 20].map(backOffMs)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
    let state = after([opened(), ready(), lost(1, 0)])
    let now = 0
    let attempts = 0
    while (state.phase === 'waiting') {
      now += state.delayMs
      state = after([{ type: 'due' }], state)
      state = after([{ type: 'notOpened', attempt: state.attempt, why: 'temporary', message: 'x', now }], state)
      attempts += 1
    }
    expect(state.phase).toBe('gaveUp')
    expect(now).toBeGreaterThanOrEqual(giveUpAfterMs)
    expect(attempts).toBeLessThan(30)
    // The person may still want it.
    expect(after([{ type: 'due' }], state)).toMatchObject({ phase: 'opening', failures: 0, troubleSince: null })
  })

  it('does not fight a terminal that the server closed in order', () => {
    expect(after([opened(), ready(), lost(1, 0, 1000)]).phase).toBe('ended')
    expect(after([opened(), ready(), lost(1, 0, 4001)]).phase).toBe('ended')
  })

  it('offers to take over where another terminal is open', () => {
    const taken = after([{ type: 'notOpened', attempt: 1, why: 'taken', message: null, now: 0 }])
    expect(taken.phase).toBe('taken')
    expect(after([{ type: 'takeOver' }], taken)).toMatchObject({ phase: 'opening', takeOver: true, attempt: 2 })
    // Once: a later reconnection must not close somebody's terminal again.
    expect(after([{ type: 'takeOver' }, opened(2)], taken).takeOver).toBe(false)
  })

  it('shows how the shell ended and opens a new one', () => {
    const exited = after([opened(), ready(), { type: 'exit', attempt: 1, exitCode: 130 }, lost()])
    expect(exited).toMatchObject({ phase: 'exited', exitCode: 130 })
    expect(after([{ type: 'reopen' }], exited)).toMatchObject({ phase: 'opening', terminalId: null, attempt: 2, exitCode: null })
  })

  it('says what ended it where it did not end by itself, and forgets that with a new one', () => {
    const engine = { cloud: '云', service: 'compute', request_id: 'req-1' } as const
    const broken = after([opened(), ready(), { type: 'exit', attempt: 1, exitCode: null, message: '连接中断', engine }, lost(1, 0, 1000)])
    expect(broken).toMatchObject({ phase: 'exited', exitCode: null, message: '连接中断', engine })
    expect(after([{ type: 'reopen' }], broken)).toMatchObject({ phase: 'opening', message: null, engine: null })
    const refused = after([{ type: 'notOpened', attempt: 1, why: 'refused', message: 'no', engine, now: 0 }])
    expect(refused).toMatchObject({ phase: 'refused', engine })
    expect(after([{ type: 'due' }, opened(2)], refused)).toMatchObject({ message: null, engine: null })
  })

  it('stops at a refusal that trying again does not change', () => {
    const refused = after([{ type: 'notOpened', attempt: 1, why: 'refused', message: 'no', now: 0 }])
    expect(refused).toMatchObject({ phase: 'refused', message: 'no' })
  })

  it('ignores what an earlier attempt reports late', () => {
    const second = after([opened(), ready(), lost(), { type: 'due' }])
    expect(after([lost(1), ready(1), opened(1)], second)).toBe(second)
  })

  it('ignores what does not fit where it is', () => {
    const fresh = newTerminal
    for (const event of [ready(), lost(), { type: 'due' }, { type: 'takeOver' }, { type: 'reopen' }] as const) {
      expect(terminalReducer(fresh, event)).toBe(fresh)
    }
  })
})
