import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { agentPaths } from '@zhisuan/contract/agent/node'
import type { Logger } from 'pino'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { EdgeReach } from '../edge/edge.reach.ts'
import type { ServiceAgentRow } from './service-agent.store.ts'

/** An agent answers some hundreds of streams at once; one port does not take them all. */
const connectionsMost = 200

interface Listener {
  readonly server: Server
  readonly sockets: Set<Socket>
  /** Why it does not listen; an errno such as `EADDRINUSE`. */
  error: string | null
}

export type ServiceAgentListeners = ReturnType<typeof createListeners>

/** Ports of this server that lead through tunnels to ports of nodes. */
export function createListeners(parts: { host: string; reach: EdgeReach['reach']; log: Logger }) {
  const { host, reach, log } = parts
  const listeners = new Map<string, Listener>()

  const join = async (row: ServiceAgentRow, socket: Socket): Promise<void> => {
    const { tunnel } = await reach(platformScope, row.edge_id)
    const gone = new AbortController()
    socket.on('close', () => gone.abort())
    const { status, stream } = await tunnel.request({ method: 'POST', path: `${agentPaths.port}?port=${row.target_port}`, body: 'open', signal: gone.signal })
    stream.on('error', () => undefined)
    stream.on('close', () => socket.destroy())
    if (status !== 200) return void stream.destroy()
    socket.pipe(stream)
    stream.pipe(socket)
  }
  const open = async (row: ServiceAgentRow): Promise<void> => {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    const listener: Listener = { server, sockets: new Set(), error: null }
    listeners.set(row.id, listener)
    server.maxConnections = connectionsMost
    server.on('connection', (socket) => {
      listener.sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => listener.sockets.delete(socket))
      join(row, socket).catch((error: unknown) => {
        log.debug({ err: error, service_agent: row.id }, 'a connection to a node')
        socket.destroy()
      })
    })
    const failed = new Promise<void>((resolve) => {
      server.on('error', (error: NodeJS.ErrnoException) => {
        listener.error = error.code ?? error.message
        resolve()
      })
    })
    server.listen(row.listen_port, host)
    await Promise.race([once(server, 'listening').catch(() => undefined), failed])
  }
  const close = (id: string): void => {
    const listener = listeners.get(id)
    listeners.delete(id)
    listener?.server.close()
    for (const socket of listener?.sockets ?? []) socket.destroy()
  }

  return {
    /** Listens for these and for no others; once more where it failed. */
    async apply(rows: readonly ServiceAgentRow[]): Promise<void> {
      const wanted = new Set(rows.map(({ id }) => id))
      for (const id of listeners.keys()) if (!wanted.has(id)) close(id)
      await Promise.all(
        rows.map(async (row) => {
          const listener = listeners.get(row.id)
          if (listener !== undefined && listener.error === null) return
          close(row.id)
          await open(row)
        }),
      )
    },
    /** Undefined where nothing has been tried yet. */
    state: (id: string): { error: string | null; connections: number } | undefined => {
      const listener = listeners.get(id)
      return listener && { error: listener.error, connections: listener.sockets.size }
    },
    stop: (): void => {
      for (const id of listeners.keys()) close(id)
    },
  }
}
