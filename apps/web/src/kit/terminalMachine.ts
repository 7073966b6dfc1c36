import type { EngineRequest } from '@zhisuan/contract/problem'

/**
 * What a terminal's connection is doing, as a pure reducer: the component does what a state asks
 * for (open, connect, wait) and reports back what became of it.
 *
 * ```
 * opening ──opened──▶ connecting ──ready──▶ ready ──exit──▶ exited
 *    │ ▲                  │ lost              │ lost
 *    │ └──due── waiting ◀─┴───────────────────┘      (after long enough: gaveUp)
 *    └─refused─▶ waiting | taken | refused
 * ```
 */
export interface TerminalState {
  readonly phase: 'opening' | 'connecting' | 'ready' | 'waiting' | 'exited' | 'ended' | 'taken' | 'refused' | 'gaveUp'
  /** Number of the attempt: what an earlier one reports late is ignored. */
  readonly attempt: number
  /** The terminal to come back to; null for a new one. */
  readonly terminalId: string | null
  readonly socketPath: string | null
  /** Closes the person's other terminal in this instance. */
  readonly takeOver: boolean
  /** Attempts since it last worked. */
  readonly failures: number
  /** When it last worked, or first was tried. */
  readonly troubleSince: number | null
  /** In `waiting`: how long until the next attempt. */
  readonly delayMs: number
  /** In `exited`: what the shell ended with; null where the engine does not say. */
  readonly exitCode: number | null
  /** In `refused`, `waiting` and `gaveUp` what the server said, if it did; in `exited` what ended it, where it did not end by itself. */
  readonly message: string | null
  /** Beside the message: which service of which cloud that was, where it was one. */
  readonly engine: EngineRequest | null
  /** Whether the shell is another than before: the server had let the former one go. */
  readonly renewed: boolean
}

export type TerminalEvent =
  | { type: 'opened'; attempt: number; terminalId: string; socketPath: string }
  /** `temporary`: worth another try. `taken`: another terminal of the person's is open (94009). */
  | { type: 'notOpened'; attempt: number; why: 'temporary' | 'taken' | 'refused'; message: string | null; engine?: EngineRequest | null; now: number }
  | { type: 'ready'; attempt: number }
  | { type: 'lost'; attempt: number; closeCode: number; now: number }
  | { type: 'exit'; attempt: number; exitCode: number | null; message?: string; engine?: EngineRequest | null }
  /** The wait is over, or the network came back, or the person does not want to wait. */
  | { type: 'due' }
  | { type: 'takeOver' }
  /** A new shell, after the former ended. */
  | { type: 'reopen' }

/** The server lets a terminal go a minute after its person; a little longer covers its restart. */
export const giveUpAfterMs = 120_000

/** Half a second, doubling to eight. */
export const backOffMs = (failures: number): number => Math.min(8_000, 500 * 2 ** Math.max(0, failures - 1))

/** The server ended it in order: signed out, or taken over elsewhere. Coming back would fight that. */
const closedInOrder = (code: number): boolean => code === 1000 || code === 4001

export const newTerminal: TerminalState = {
  phase: 'opening',
  attempt: 1,
  terminalId: null,
  socketPath: null,
  takeOver: false,
  failures: 0,
  troubleSince: null,
  delayMs: 0,
  exitCode: null,
  message: null,
  engine: null,
  renewed: false,
}

export function terminalReducer(state: TerminalState, event: TerminalEvent): TerminalState {
  if ('attempt' in event && event.attempt !== state.attempt) return state
  switch (event.type) {
    case 'opened':
      if (state.phase !== 'opening') return state
      return {
        ...state,
        phase: 'connecting',
        socketPath: event.socketPath,
        renewed: state.terminalId !== null && state.terminalId !== event.terminalId,
        terminalId: event.terminalId,
        takeOver: false,
        message: null,
        engine: null,
      }
    case 'notOpened':
      if (state.phase !== 'opening') return state
      if (event.why === 'temporary') return afterFailure({ ...state, engine: event.engine ?? null }, event.message, event.now)
      return { ...state, phase: event.why, takeOver: false, message: event.message, engine: event.engine ?? null }
    case 'ready':
      if (state.phase !== 'connecting') return state
      return { ...state, phase: 'ready', failures: 0, troubleSince: null, message: null }
    case 'lost':
      if (state.phase !== 'connecting' && state.phase !== 'ready') return state
      if (closedInOrder(event.closeCode)) return { ...state, phase: 'ended' }
      return afterFailure(state, null, event.now)
    case 'exit':
      if (state.phase !== 'connecting' && state.phase !== 'ready') return state
      return { ...state, phase: 'exited', exitCode: event.exitCode, message: event.message ?? null, engine: event.engine ?? null }
    case 'due':
      if (state.phase === 'waiting') return again(state)
      // From here the person asked: the patience begins anew.
      if (state.phase === 'gaveUp' || state.phase === 'refused') return again({ ...state, failures: 0, troubleSince: null })
      return state
    case 'takeOver':
      return state.phase === 'taken' ? again({ ...state, takeOver: true }) : state
    case 'reopen':
      if (state.phase === 'exited' || state.phase === 'ended') return { ...newTerminal, attempt: state.attempt + 1 }
      return state
  }
}

function afterFailure(state: TerminalState, message: string | null, now: number): TerminalState {
  const failures = state.failures + 1
  const troubleSince = state.troubleSince ?? now
  const rest = { ...state, failures, troubleSince, message }
  if (now - troubleSince >= giveUpAfterMs) return { ...rest, phase: 'gaveUp' }
  return { ...rest, phase: 'waiting', delayMs: backOffMs(failures) }
}

const again = (state: TerminalState): TerminalState => ({ ...state, phase: 'opening', attempt: state.attempt + 1, socketPath: null })
