import { edges as calls, enrolments } from '@zhisuan/contract/ecrm/edge'
import { tunnelCloses, tunnelPath } from '@zhisuan/contract/agent/tunnel'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../../../platform/errors.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import type { Tunnels } from '../../../platform/tunnel/tunnels.ts'
import type { UpgradeService } from '../upgrade/upgrade.service.ts'
import type { EdgeService } from './edge.service.ts'
import type { EnrolmentService } from './enrolment.service.ts'

export const edgeRoutes = (edges: EdgeService, enrolment: EnrolmentService, upgrades: Pick<UpgradeService, 'confirm'>): Handler[] => [
  handle(calls.list, ({ actor, query }) => edges.list(actor, query)),
  handle(calls.get, ({ actor, params }) => edges.get(actor, params.id)),
  handle(calls.create, ({ actor, body, request }) => edges.create(actor, body, reachedAt(request))),
  handle(calls.update, ({ actor, params, body }) => edges.update(actor, params.id, body)),
  handle(calls.mark, ({ actor, params, body }) => edges.mark(actor, params.id, body)),
  handle(calls.share, ({ actor, params, body }) => edges.share(actor, params.id, body)),
  handle(calls.delete, ({ actor, params }) => edges.delete(actor, params.id)),
  handle(calls.activate, ({ actor, params, query }) => edges.activate(actor, params.id, query.action)),
  handle(calls.confirm, async ({ actor, params, body }) => {
    if (body.what === 'enrolment') return edges.confirm(actor, params.id)
    await upgrades.confirm(actor, params.id)
    return edges.get(actor, params.id)
  }),
  handle(calls.unbind, ({ actor, body }) => edges.unbind(actor, body.ids)),
  handle(calls.qrcode, ({ actor, params, request }) => edges.renew(actor, params.id, reachedAt(request))),
  handle(calls.metrics, ({ actor, params, query }) => edges.metrics(actor, params.id, query)),
  handle(enrolments.enrol, ({ body }) => enrolment.enrol(body)),
]

/** It goes into a command for a shell. @throws Refusal where it is no host */
function reachedAt(request: FastifyRequest): string {
  if (!/^[A-Za-z0-9.:[\]_-]+$/.test(request.host)) throw new Refusal('requestInvalid')
  return `${request.protocol}://${request.host}`
}

/** Where agents dial in. Who they are they prove inside, see platform/tunnel. */
export function serveTunnel(app: FastifyInstance, tunnels: () => Tunnels | null): void {
  app.get(tunnelPath, { websocket: true }, (socket) => {
    const open = tunnels()
    if (open === null) socket.close(tunnelCloses.stopping)
    else open.accept(socket)
  })
}
