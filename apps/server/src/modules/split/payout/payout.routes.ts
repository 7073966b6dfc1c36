import type { FastifyInstance } from 'fastify'
import { notifyPath } from './channel.service.ts'
import type { PayoutService } from './payout.service.ts'

/** Where the channel tells what became of payouts. It is no call: who asks proves themselves by the signature of the message. */
export function servePayoutChannel(http: FastifyInstance, service: Pick<PayoutService, 'notified'>): void {
  http.post(notifyPath, { bodyLimit: 64 * 1024, config: { rateLimit: { max: 1200, timeWindow: 60_000 } } }, async (request, reply) => {
    const believed = await service.notified(request.body)
    reply.header('cache-control', 'no-store').code(believed ? 200 : 400)
    return { result: believed ? 'success' : 'failure' }
  })
}
