import { terminals as calls } from '@zhisuan/contract/nextstack/vm'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { TerminalService } from './terminal.service.ts'

export const terminalRoutes = (terminals: TerminalService): Handler[] => [
  handle(calls.open, ({ actor, params, body }) => terminals.open(actor, params.id, body)),
]
