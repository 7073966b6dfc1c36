import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { isSigned, signed, type Message, type SigningKeys } from '../platform/outbound/signed-messages.ts'

export interface TestGateway {
  readonly url: string
  /** What was asked for under a payment's page, as a browser that is led there brings it. */
  visit(url: string): Message
  /** As the gateway would send it now. */
  message(fields: Message): Message
  /** What `/query` knows of each order. */
  readonly orders: Map<string, Message>
  readonly asked: Message[]
  /** Instead of an honest answer to `/query`. */
  answer: ((question: Message) => unknown) | null
  close(): Promise<void>
}

/**
 * A payment gateway on this machine, over real HTTP.
 * @param keys of the gateway's side: its own private key, and the merchant's public one
 */
export async function startGateway(keys: SigningKeys, merchant_id: string, now: () => Date): Promise<TestGateway> {
  const server = createServer((request, response) => {
    void (async () => {
      const question = (await json(request)) as Message
      gateway.asked.push(question)
      if (request.url !== '/gate/query' || !isSigned(question, keys)) return response.writeHead(403).end()
      const answer =
        gateway.answer?.(question) ??
        gateway.message({
          ...(gateway.orders.get(question['order_id'] ?? '') ?? { amount: '0', status: 'unknown', trade_id: '', order_id: question['order_id'] ?? '' }),
          nonce: question['nonce'] ?? '',
        })
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gateway: TestGateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/gate/`,
    visit(url) {
      const asked = Object.fromEntries(new URL(url).searchParams)
      if (!isSigned(asked, keys)) throw new Error('the payment was not signed by the merchant')
      return asked
    },
    message(fields) {
      const { nonce, ...rest } = fields
      // A given nonce has to be signed too, so the signature is made over it.
      return nonce === undefined ? signed({ merchant_id, ...rest }, keys, now()) : signed({ merchant_id, ...rest }, keys, now(), nonce)
    },
    orders: new Map(),
    asked: [],
    answer: null,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return gateway
}
