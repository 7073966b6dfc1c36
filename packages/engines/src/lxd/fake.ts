import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocketServer, type WebSocket } from 'ws'

/** A request as the fake got it. */
export interface Seen {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: Buffer
  json: unknown
}
/** An answer in LXD's envelope, or anything else that a server may do to a client. */
export type Reply =
  | { status?: number; json: unknown }
  | { status?: number; text: string; headers?: Record<string, string> }
  | ((response: ServerResponse, seen: Seen) => void)

export const sync = (metadata: unknown): Reply => ({
  json: { type: 'sync', status: 'Success', status_code: 200, operation: '', error_code: 0, error: '', metadata },
})
export const failure = (status: number, error: string): Reply => ({ status, json: { type: 'error', error, error_code: status } })
/** What begins an operation, and what waiting for it answers. */
export const begun = (id = 'op', more: object = {}): Reply => ({
  status: 202,
  json: {
    type: 'async',
    status: 'Operation created',
    status_code: 100,
    operation: `/1.0/operations/${id}`,
    metadata: { id, class: 'task', status_code: 103, ...more },
  },
})
export const ended = (changes: object = {}): Reply => sync({ id: 'op', class: 'task', status: 'Success', status_code: 200, err: '', ...changes })

const environment = { server: 'lxd', server_name: 'host', server_version: '5.0.2', server_clustered: false, driver: 'lxc | qemu' }
export const extensions = [
  'instances',
  'event_lifecycle',
  'resources',
  'virtual-machines',
  'cloud_init',
  'instance_file_head',
  'network',
  'network_state',
  'network_leases',
  'network_acl',
  'network_bridge_acl',
  'network_forward',
]
/** What `GET /1.0` says. */
export const server = (changes: object = {}, env: object = {}): Reply =>
  sync({ auth: 'trusted', api_extensions: extensions, environment: { ...environment, ...env }, ...changes })

export const instance = (changes: object = {}): Record<string, unknown> => ({
  name: 'one',
  type: 'container',
  status: 'Stopped',
  status_code: 102,
  config: { 'limits.cpu': '1', 'limits.memory': '1073741824', 'user.zhisuan.vm_id': '7', 'volatile.eth0.hwaddr': '00:16:3e:00:00:01' },
  devices: { root: { type: 'disk', path: '/', pool: 'fast', size: '1073741824' }, eth0: { type: 'nic', name: 'eth0', network: 'net' } },
  profiles: [],
  created_at: '2026-01-02T03:04:05Z',
  ...changes,
})

export interface FakeLxd {
  socketPath: string
  /** Where it listens with TLS. */
  url: string
  /** All requests so far. */
  seen: Seen[]
  /** Those but the reading ones. */
  changes(): string[]
  last(method: string, path: string): Seen
  /** Answers `METHOD /path` so from now on; a list is used up, its last stays. `*` is any path. */
  on(what: string, ...replies: Reply[]): void
  /** What happens to a websocket that was opened at a path. */
  socket(path: string, opened: (socket: WebSocket, seen: { query: Record<string, string> }) => void): void
  /** Websockets that were turned away, as nothing was to happen to them. */
  refused(): number
  close(): Promise<void>
}

/** A server that says what a test tells it to, over a Unix socket, or with TLS on a free port. */
export async function startFake(tls: ServerOptions | null = null): Promise<FakeLxd> {
  const folder = mkdtempSync(join(tmpdir(), 'zhisuan-fake-'))
  const socketPath = join(folder, 'unix.socket')
  const replies = new Map<string, Reply[]>()
  const opened = new Map<string, (socket: WebSocket, seen: { query: Record<string, string> }) => void>()
  const seen: Seen[] = []

  const handle: RequestListener = (request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
      const url = new URL(request.url ?? '/', 'http://fake')
      const body = Buffer.concat(parts)
      const one: Seen = {
        method: request.method ?? '',
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body,
        json: request.headers['content-type'] === 'application/json' ? (JSON.parse(body.toString()) as unknown) : undefined,
      }
      seen.push(one)
      const list = replies.get(`${one.method} ${one.path}`) ?? replies.get(`${one.method} *`) ?? replies.get('* *')
      const reply = list === undefined ? failure(404, 'not found') : ((list.length > 1 ? list.shift() : list[0]) as Reply)
      if (typeof reply === 'function') return reply(response, one)
      const [type, text] = 'json' in reply ? ['application/json', JSON.stringify(reply.json)] : ['text/html', reply.text]
      response.writeHead(reply.status ?? 200, { 'content-type': type, ...('headers' in reply && reply.headers) }).end(text)
    })().catch(() => request.destroy())
  }
  const http: Server = tls === null ? createServer(handle) : createTlsServer(tls, handle)
  const sockets = new Set<Socket>()
  http.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  let refused = 0
  const websockets = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const open = opened.get(url.pathname)
    if (open === undefined) {
      refused += 1
      return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    }
    websockets.handleUpgrade(request, socket, head, (websocket) => open(websocket, { query: Object.fromEntries(url.searchParams) }))
  })
  if (tls === null) http.listen(socketPath)
  else http.listen(0, '127.0.0.1')
  await once(http, 'listening')

  const fake: FakeLxd = {
    socketPath,
    url: tls === null ? '' : `https://127.0.0.1:${(http.address() as AddressInfo).port}`,
    seen,
    changes: () => seen.filter(({ method }) => method !== 'GET' && method !== 'HEAD').map(({ method, path }) => `${method} ${path}`),
    last(method, path) {
      const found = seen.findLast((one) => one.method === method && one.path === path)
      if (found === undefined) throw new Error(`nobody asked for ${method} ${path}, but for ${seen.map((one) => `${one.method} ${one.path}`).join(', ')}`)
      return found
    },
    on: (what, ...list) => void replies.set(what, list),
    socket: (path, open) => void opened.set(path, open),
    refused: () => refused,
    async close() {
      for (const websocket of websockets.clients) websocket.terminate()
      http.close()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => setImmediate(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  // A server that is well, with one stopped instance.
  fake.on('GET /1.0', server())
  fake.on(
    'GET /1.0/storage-pools',
    sync([
      { name: 'slow', status: 'Created' },
      { name: 'fast', status: 'Created' },
    ]),
  )
  fake.on('GET /1.0/storage-pools/slow/resources', sync({ space: { total: 1000, used: 100 } }))
  fake.on('GET /1.0/storage-pools/fast/resources', sync({ space: { total: 2000, used: 200 } }))
  fake.on('GET /1.0/resources', sync({ cpu: { total: 8 }, memory: { total: 16_000 } }))
  fake.on('GET /1.0/warnings', sync([]))
  fake.on('GET /1.0/networks', sync([]))
  fake.on('GET /1.0/images', sync([]))
  fake.on('GET /1.0/operations', sync({}))
  fake.on('GET /1.0/instances', sync([instance()]))
  fake.on('GET /1.0/instances/one', sync(instance()))
  fake.on('POST *', begun())
  fake.on('PUT *', begun())
  fake.on('PATCH *', begun())
  fake.on('DELETE *', begun())
  fake.on('GET /1.0/operations/op/wait', ended())
  return fake
}
