import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { Denied } from './answers.ts'
import { authorityOf, type ServerAddress } from './server.ts'

/** Agents of one site; more than a site has. */
const connectionsMost = 10_000
const keepAliveMs = 30_000

/** Lets the agents of a site through to the server that this agent has, and to nothing else. */
export interface Gateway {
  /** Listens there, or nowhere; what comes by another port is cut. @throws Denied where the port is taken */
  listen(port: number | null): Promise<void>
  state(): { readonly port: number | null; readonly connections: number }
}

export function createGateway(server: ServerAddress): Gateway {
  const target = authorityOf(server.url)
  let open: { http: Server; port: number } | null = null
  const joined = new Set<Duplex>()

  const join = (socket: Duplex, head: Buffer): void => {
    const upstream = connect({ host: target.host, port: target.port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs })
    joined.add(socket)
    let greeted = false
    upstream.once('connect', () => {
      greeted = true
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      if (head.length > 0) upstream.write(head)
      socket.pipe(upstream)
      upstream.pipe(socket)
    })
    upstream.on('error', () => {
      if (!greeted) socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n')
    })
    upstream.on('close', () => (greeted ? socket.destroy() : undefined))
    socket.on('close', () => {
      joined.delete(socket)
      upstream.destroy()
    })
  }
  const close = async (): Promise<void> => {
    const former = open
    open = null
    for (const socket of joined) socket.destroy()
    joined.clear()
    if (former === null) return
    former.http.closeAllConnections()
    former.http.close()
    await once(former.http, 'close')
  }
  // One order after the other.
  let turn: Promise<unknown> = Promise.resolve()
  const listenTo = async (port: number | null): Promise<void> => {
    if ((open?.port ?? null) === port) return
    await close()
    if (port === null) return
    const http = createServer((_, response) => void response.writeHead(405, { connection: 'close' }).end())
    http.on('connect', (request, socket: Duplex, head: Buffer) => {
      socket.on('error', () => undefined)
      if (request.url !== target.text) return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
      if (joined.size >= connectionsMost) return void socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n')
      join(socket, head)
    })
    http.listen(port)
    await once(http, 'listening').catch((error: Error) => {
      throw new Denied(409, `port ${port}: ${error.message}`)
    })
    open = { http, port }
  }
  return {
    listen(port) {
      const mine = turn.then(() => listenTo(port))
      turn = mine.catch(() => undefined)
      return mine
    },
    state: () => ({ port: open?.port ?? null, connections: joined.size }),
  }
}
