import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { enrolments } from '@zhisuan/contract/ecrm/edge'
import pino from 'pino'
import { WebSocketServer } from 'ws'
import { createTunnels, newIdentity, openIdentity, type Tunnels } from '../../apps/server/src/platform/tunnel/tunnels.ts'

/** Of the server only what agents speak with: enrolment by the token, and tunnels. */
export interface AgentServer {
  readonly url: string
  readonly tunnels: Tunnels
  /** Of its first node. */
  readonly token: string
  readonly edgeId: string
  /** Another node. */
  addEdge(): { readonly token: string; readonly edgeId: string }
  /** Versions with which its agent came, in order. */
  readonly versions: string[]
  /** Also serves these, such as bundles. */
  readonly files: Map<string, Buffer>
  /** Breaks the cables, says nothing. */
  cut(): void
  stop(): Promise<void>
}

/** @param again one that was there before: its key, its port, and the key of its first node */
export async function startAgentServer(
  again: { readonly identity?: string; readonly port?: number; readonly edgeId?: string; readonly token?: string; readonly key?: string } = {},
): Promise<AgentServer> {
  /** By tokens. */
  const edges = new Map<string, { readonly token: string; readonly edgeId: string; key: string | null }>()
  const addEdge = ({ token = randomUUID(), edgeId = randomUUID(), key = null }: { token?: string; edgeId?: string; key?: string | null } = {}) => {
    const edge = { token, edgeId, key }
    edges.set(edge.token, edge)
    return edge
  }
  const first = addEdge(again)
  const versions: string[] = []
  const files = new Map<string, Buffer>()
  const tunnels = createTunnels({
    identity: openIdentity(again.identity ?? newIdentity()),
    log: pino({ level: 'silent' }),
    keeper: {
      keyOf: async (id) => [...edges.values()].find(({ edgeId }) => edgeId === id)?.key ?? null,
      up: ({ version }) => versions.push(version),
      down: () => undefined,
    },
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const file = files.get(request.url ?? '')
    if (file !== undefined) return void response.end(file)
    if (request.url !== enrolments.enrol.path) return void response.writeHead(404).end()
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    const body = enrolments.enrol.body.parse(JSON.parse(Buffer.concat(parts).toString('utf8')))
    const edge = edges.get(body.token)
    if (edge === undefined || (edge.key !== null && edge.key !== body.public_key)) return void response.writeHead(403).end('{"message":"no such token"}')
    edge.key = body.public_key
    response.writeHead(201).end(JSON.stringify({ edge_id: edge.edgeId, server_public_key: tunnels.publicKey }))
  }
  const http: Server = createServer((request, response) => void answer(request, response))
  const sockets = new WebSocketServer({ server: http, maxPayload: 2 ** 20, perMessageDeflate: false })
  sockets.on('connection', (socket) => tunnels.accept(socket))
  http.listen(again.port ?? 0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    tunnels,
    token: first.token,
    edgeId: first.edgeId,
    addEdge: () => addEdge(),
    versions,
    files,
    cut() {
      for (const socket of sockets.clients) socket.terminate()
    },
    async stop() {
      tunnels.stop()
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}
