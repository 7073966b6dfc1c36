import { terminals as calls } from '@zhisuan/contract/nextstack/vm'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { TerminalService } from './terminal.service.ts'

export const terminalRoutes = (terminals: TerminalService): Handler[] => [
  handle(calls.open, ({ actor, params, body }) => terminals.open(actor, params.id, body)),
]

const target = z.object({ id: z.string() })
const credentials = z.object({ ticket: z.string().max(128).catch('') })

/**
 * The websocket that `nextstack.terminal.open` names. A browser cannot send a bearer token with
 * it, so the ticket in its query, good once and for seconds, is what lets it in.
 */
export function serveTerminalSockets(app: FastifyInstance, terminals: TerminalService): void {
  app.get(
    '/api/nextstack/v1/terminals/:id/socket',
    {
      websocket: true,
      preValidation: async (request) => {
        const { id } = target.parse(request.params)
        const { ticket } = credentials.parse(request.query)
        redeemed.set(request, terminals.redeem(id, ticket))
      },
    },
    (socket, request) => {
      const terminal = redeemed.get(request)
      if (terminal === undefined) socket.close(1008)
      else terminals.attach(terminal, socket)
    },
  )
}

const redeemed = new WeakMap<object, ReturnType<TerminalService['redeem']>>()
