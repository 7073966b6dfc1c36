import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'
import { answerRaw } from './unparsed.ts'

/** In each span a body has to bring so many bytes: a long upload goes on for hours, one that only seems to come ends. */
export const bodyPace = { spanMs: 30_000, bytes: 16 * 1024 } as const
const lookEveryMs = 5_000

interface Arriving {
  request: FastifyRequest
  reply: FastifyReply
  /** When its span began, and what its connection had brought by then. */
  since: number
  bytes: number
}

/** Ends requests whose body does not come: Node has a deadline for the whole of one only, which uploads would not keep. */
export function createSlowBodies(now: () => number = () => performance.now()) {
  const arriving = new Map<IncomingMessage, Arriving>()

  const end = ({ request, reply }: Arriving): void => {
    const { raw: response } = reply
    const close = () => void request.raw.destroy()
    if (response.headersSent) return close()
    // Whoever still reads the body hears that it broke off; there is nothing left for them to answer.
    reply.hijack()
    answerRaw(response, new Refusal('requestTooSlow'), request.id, close)
  }

  return {
    watch(request: FastifyRequest, reply: FastifyReply): void {
      const { raw } = request
      if (raw.complete || (raw.headers['transfer-encoding'] === undefined && Number(raw.headers['content-length'] ?? 0) === 0)) return
      arriving.set(raw, { request, reply, since: now(), bytes: raw.socket.bytesRead })
      for (const over of ['end', 'close']) raw.once(over, () => arriving.delete(raw))
    },
    look(): void {
      const at = now()
      for (const [raw, one] of arriving) {
        const { bytesRead } = raw.socket
        if (raw.complete || raw.destroyed) arriving.delete(raw)
        else if (bytesRead - one.bytes >= bodyPace.bytes || raw.readableLength >= raw.readableHighWaterMark) {
          // Enough came, or it is we who do not take more.
          one.since = at
          one.bytes = bytesRead
        } else if (at - one.since >= bodyPace.spanMs) {
          arriving.delete(raw)
          end(one)
        }
      }
    },
  }
}

export function endSlowBodies(app: FastifyInstance): void {
  const slow = createSlowBodies()
  app.addHook('onRequest', async (request, reply) => slow.watch(request, reply))
  const looking = setInterval(slow.look, lookEveryMs).unref()
  app.addHook('onClose', async () => clearInterval(looking))
}
