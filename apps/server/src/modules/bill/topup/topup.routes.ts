import { byId } from '@zhisuan/contract/define'
import { paymentChannels, topups } from '@zhisuan/contract/bill/topup'
import type { FastifyInstance } from 'fastify'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { notifyPath, type Channels } from './channel.service.ts'
import type { createTopupExport } from './topup.export.ts'
import type { TopupService } from './topup.service.ts'

export const topupRoutes = (service: TopupService, channels: Channels, exportTopups: ReturnType<typeof createTopupExport>): Handler[] => [
  handle(topups.ways, () => service.ways()),
  handle(topups.list, ({ actor, query }) => service.list(actor, query)),
  handle(topups.export, async ({ actor, body }) => exportTopups(actor, body)),
  handle(topups.get, ({ actor, params }) => service.get(actor, params.id)),
  handle(topups.remit, ({ actor, body }) => service.remit(actor, body)),
  handle(topups.pay, ({ actor, body }) => service.pay(actor, body)),
  handle(topups.resume, ({ actor, params }) => service.resume(actor, params.id)),
  handle(topups.cancel, ({ actor, params }) => service.cancel(actor, params.id)),
  handle(topups.confirm, ({ actor, body }) => service.confirm(actor, body)),
  handle(paymentChannels.list, () => channels.list()),
  handle(paymentChannels.create, ({ body }) => channels.create(body)),
  handle(paymentChannels.update, ({ params, body }) => channels.update(params.id, body)),
  handle(paymentChannels.delete, ({ params }) => channels.delete(params.id)),
]

/** Where gateways tell what was paid. It is no call: who asks proves themselves by the signature of the message. */
export function servePayments(http: FastifyInstance, service: TopupService): void {
  http.post(notifyPath(':id'), { bodyLimit: 64 * 1024, config: { rateLimit: { max: 600, timeWindow: 60_000 } } }, async (request, reply) => {
    const params = byId.safeParse(request.params)
    const believed = params.success && (await service.notified(params.data.id, request.body))
    reply.header('cache-control', 'no-store').code(believed ? 200 : 400)
    return { result: believed ? 'success' : 'failure' }
  })
}
