import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable, type Duplex } from 'node:stream'
import { EngineError } from '../errors.ts'
import { defaultTimeoutMs, isChange, type DockerAsk, type DockerTransport } from './transport.ts'

export const defaultSocketPath = '/var/run/docker.sock'

/** The Docker Engine of this host. Each request has a connection of its own: they cost nothing here, and none is found closed. */
export function socketTransport(socketPath: string = defaultSocketPath): DockerTransport {
  const begin = (ask: DockerAsk, upgrade: boolean) =>
    new Promise<{ answer: IncomingMessage; joined: Duplex | null }>((resolve, reject) => {
      const { body, signal } = ask
      if (signal?.aborted === true) return reject(new EngineError('cancelled', 'cancelled', { cause: signal.reason }))
      const request = httpRequest({
        socketPath,
        agent: false,
        method: ask.method ?? 'GET',
        path: ask.path,
        headers: { host: 'docker', ...ask.headers, ...(upgrade && { connection: 'Upgrade', upgrade: 'tcp' }) },
      })
      let sent = false
      request.once('socket', (socket) => {
        // One that was kept from an earlier question stands already.
        sent = !socket.connecting
        socket.once('connect', () => {
          sent = true
        })
      })
      const abort = () => request.destroy(new Error('cancelled'))
      const timer = setTimeout(() => request.destroy(new Error(`${ask.path}: no answer in time`)), ask.timeoutMs ?? defaultTimeoutMs)
      signal?.addEventListener('abort', abort, { once: true })
      request.once('close', () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        if (body instanceof Readable) body.destroy()
      })
      // Also what goes wrong after the head: it is told to whoever reads.
      request.on('error', (error) => {
        // What nobody took was not done.
        const lost = isChange(ask) && sent ? 'unanswered' : 'unreachable'
        reject(new EngineError(signal?.aborted === true ? 'cancelled' : lost, error.message, { cause: error }))
      })
      request.once('response', (answer) => {
        clearTimeout(timer)
        resolve({ answer, joined: null })
      })
      request.once('upgrade', (answer, joined, head) => {
        clearTimeout(timer)
        if (head.length > 0) joined.unshift(head)
        const cut = () => joined.destroy()
        signal?.addEventListener('abort', cut, { once: true })
        joined.once('close', () => signal?.removeEventListener('abort', cut))
        resolve({ answer, joined })
      })
      if (body instanceof Readable) {
        body.on('error', (error) => request.destroy(error))
        body.pipe(request)
      } else request.end(body)
    })

  return {
    async request(ask) {
      const { answer } = await begin(ask, false)
      return { status: answer.statusCode ?? 0, headers: answer.headers, stream: answer }
    },
    async attach(execId, { tty, signal }) {
      const { answer, joined } = await begin(
        {
          method: 'POST',
          path: `/exec/${encodeURIComponent(execId)}/start`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ Detach: false, Tty: tty }),
          signal,
          changes: false,
        },
        true,
      )
      return joined === null ? { status: answer.statusCode ?? 0, stream: answer as Readable as Duplex } : { status: 200, stream: joined }
    },
  }
}
