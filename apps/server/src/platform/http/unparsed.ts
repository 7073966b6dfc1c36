import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import type { FastifyHttpOptions, FastifyInstance } from 'fastify'
import { Refusal } from '../errors.ts'
import { problemOf, toRefusal } from './problems.ts'

const refusals: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTooSlow',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'bodyTooLarge',
}

const jsonType = 'application/json; charset=utf-8'

/** For who cannot be answered by Fastify: nothing more is read from them. */
export function answerRaw(response: ServerResponse, refusal: Refusal, requestId: string, answered?: () => void): void {
  const body = Buffer.from(JSON.stringify(problemOf(refusal, requestId)))
  response.writeHead(errors[refusal.refusal].status, { 'content-type': jsonType, 'content-length': body.length, connection: 'close' }).end(body, answered)
}

/** What Node and Fastify would answer by themselves, before any hook or handler of ours, is a Problem too. */
export const unparsed = {
  // Whoever takes longer for their headers is no browser.
  http: { headersTimeout: 20_000, connectionsCheckingInterval: 5_000, requireHostHeader: false },
  clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
    // Gone already, or in the middle of an answer. Node looks at the same.
    const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse | null }
    if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent === true) return void socket.destroy(error)
    const refusal = refusals[error.code ?? ''] ?? 'requestInvalid'
    const body = JSON.stringify(problemOf(new Refusal(refusal), randomUUID()))
    const head = [`HTTP/1.1 ${errors[refusal].status} `, `content-type: ${jsonType}`, `content-length: ${Buffer.byteLength(body)}`, 'connection: close']
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  },
  frameworkErrors(error: unknown, request: { id: string }, { raw }: { raw: ServerResponse }): void {
    answerRaw(raw, toRefusal(error), request.id)
  },
} satisfies FastifyHttpOptions<Server>

export function answerUnparsed(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') throw new Refusal('requestInvalid')
  })
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    answerRaw(response, new Refusal('requestInvalid'), randomUUID())
  })
}
