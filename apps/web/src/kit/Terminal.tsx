import Spin from 'antd/es/spin'
import { lazy, Suspense } from 'react'
import type { TerminalState } from './terminalMachine.ts'
import './terminal.css'

export interface TerminalProps {
  /**
   * Opens a terminal, or with `terminal_id` comes back to one: the call of the resource, such as
   * `nextstack.terminal.open`. Has to reject with an ApiError.
   */
  readonly open: (input: { columns: number; rows: number; terminal_id?: string; take_over: boolean }) => Promise<{ terminal_id: string; socket_path: string }>
  /** Names the terminal in this tab's memory, so that going away and back within a minute finds the same shell. */
  readonly resumeKey: string
  /** What it is a terminal of, said to screen readers. */
  readonly label: string
  /** Takes the keyboard when it is shown. Default true. */
  readonly focus?: boolean
  readonly onPhase?: (phase: TerminalState['phase']) => void
  /** Told how large the screen is, at first and whenever that changes. */
  readonly onSize?: (columns: number, rows: number) => void
}

const TerminalView = lazy(() => import('./terminalView.tsx'))

/**
 * A terminal that fills its container, over the websocket frames of the contract
 * (`terminalFromClient`, `terminalFromServer`). Survives a broken connection. Ctrl+Shift+M lets
 * Tab leave it.
 */
export function Terminal(props: TerminalProps) {
  return (
    <Suspense
      fallback={
        <div className="zs-terminal zs-terminal-loading">
          <Spin />
        </div>
      }
    >
      <TerminalView {...props} />
    </Suspense>
  )
}
