import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { containers as calls } from '@zhisuan/contract/cis/container'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { terminalFromClient, type terminalFromServer } from '@zhisuan/contract/terminal'
import type { Docker } from '@zhisuan/engines/docker/types'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import type { z } from 'zod'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { RefusedByNode } from '../../ecrm/index.ts'
import type { Entry } from './entry.ts'
import type { ContainerService } from '../container/container.service.ts'

const ticketMs = 30_000
/** Above this much unsent, the container's output waits. */
const unsentBytes = 1024 * 1024
/** A command that is not there is told as its first output, soon. */
const firstWordsMs = 1_500
const missing = /OCI runtime exec failed|executable file not found|no such file or directory: unknown/i
/** Docker lets what was executed go on when nobody listens any more: this interrupts what runs, and ends the input of a shell. */
const hangUp = Buffer.from('\u0003\u0004')

interface Terminal {
  readonly id: string
  readonly container_id: string
  readonly user_id: string
  readonly session_id: string
  readonly docker: Docker
  readonly exec_id: string
  readonly stream: Duplex
  /** Printed before anybody was connected. */
  readonly first: Buffer
  readonly ticket: string
  waiting: NodeJS.Timeout | undefined
  socket: WebSocket | null
}

export type TerminalService = ReturnType<typeof createTerminals>

/** Terminals in containers, one at a time in each. Unlike those of instances they end with their connection. */
export function createTerminals(parts: {
  containers: Pick<ContainerService, 'reached'>
  entry: Entry
  refusedByNode: RefusedByNode
  log: Logger
  now: () => Date
}) {
  const { containers, entry, refusedByNode, log, now } = parts
  const open = new Map<string, Terminal>()
  /** Containers in which one is being opened. */
  const opening = new Set<string>()

  const close = (terminal: Terminal): void => {
    if (!open.delete(terminal.id)) return
    clearTimeout(terminal.waiting)
    const { stream } = terminal
    if (!stream.destroyed) {
      stream.write(hangUp)
      stream.end()
      setTimeout(() => stream.destroy(), 1_000).unref()
    }
    terminal.socket?.close(1000)
  }
  const send = (socket: WebSocket, frame: z.output<typeof terminalFromServer>): void => socket.send(JSON.stringify(frame))

  /** Hands on what is printed, no faster than it is taken. */
  const pump = async (terminal: Terminal, socket: WebSocket): Promise<void> => {
    try {
      for await (const chunk of terminal.stream as AsyncIterable<Buffer>) {
        if (socket.readyState !== socket.OPEN) break
        socket.send(chunk, { binary: true })
        while (socket.readyState === socket.OPEN && socket.bufferedAmount > unsentBytes) await new Promise((resolve) => setTimeout(resolve, 5))
      }
    } catch (error) {
      log.debug({ err: error, terminal: terminal.id }, 'terminal output ended')
    }
    const exit = await terminal.docker.execs.inspect(terminal.exec_id).catch(() => null)
    if (socket.readyState === socket.OPEN) send(socket, { type: 'exit', exit_code: exit?.exitCode ?? null })
    close(terminal)
  }

  return {
    async open(actor: Actor, containerId: string, body: BodyOf<typeof calls.terminal>): Promise<ResponseOf<typeof calls.terminal>> {
      const { row, docker_id, node } = await containers.reached(scopeOf(actor), containerId, 'terminal')
      const busy = opening.has(containerId) || [...open.values()].some((terminal) => terminal.container_id === containerId)
      if (busy) throw new Refusal('terminalOpen')
      opening.add(containerId)
      try {
        const { docker } = node
        const exec_id = await docker.execs.create(docker_id, { command: body.command, tty: true, stdin: true, env: { TERM: 'xterm-256color' } })
        const stream = await docker.execs.attach(exec_id, { tty: true })
        stream.on('error', () => undefined)
        await docker.execs.resize(exec_id, { columns: body.cols, rows: body.rows }).catch(() => undefined)
        const first = await firstWords(stream)
        if (missing.test(first.toString('utf8'))) {
          stream.destroy()
          throw new Refusal('containerCommandMissing', { field: 'command' })
        }
        const terminal: Terminal = {
          id: uuidv7(),
          container_id: containerId,
          user_id: actor.user_id,
          session_id: actor.session_id,
          docker,
          exec_id,
          stream,
          first,
          ticket: randomBytes(32).toString('base64url'),
          waiting: undefined,
          socket: null,
        }
        terminal.waiting = setTimeout(() => close(terminal), ticketMs).unref()
        stream.once('close', () => {
          // Ended before anybody came.
          if (terminal.socket === null) close(terminal)
        })
        open.set(terminal.id, terminal)
        return {
          terminal_id: terminal.id,
          path: `${terminalPath(terminal.id)}?ticket=${terminal.ticket}`,
          expires_at: new Date(now().getTime() + ticketMs).toISOString(),
        }
      } catch (error) {
        throw refusedByNode(error, node.row, row.image)
      } finally {
        opening.delete(containerId)
      }
    },

    /** @throws Refusal terminalTicketInvalid; also where the ticket was used; 404 and the like where who got it may not enter any more */
    async redeem(id: string, ticket: string): Promise<Terminal> {
      const terminal = open.get(id)
      if (terminal === undefined || terminal.ticket !== ticket || terminal.waiting === undefined) throw new Refusal('terminalTicketInvalid')
      clearTimeout(terminal.waiting)
      terminal.waiting = undefined
      try {
        await entry(terminal, 'terminal')
      } catch (error) {
        close(terminal)
        throw error
      }
      return terminal
    },

    attach(terminal: Terminal, socket: WebSocket): void {
      // Closed while the connection was made.
      if (!open.has(terminal.id)) return socket.close(1000)
      terminal.socket = socket
      send(socket, { type: 'ready', replay_bytes: terminal.first.length })
      if (terminal.first.length > 0) socket.send(terminal.first, { binary: true })
      socket.on('message', (data: Buffer, isBinary: boolean) => {
        if (isBinary) {
          // What is pasted waits for the container to read it.
          if (!terminal.stream.write(data)) {
            socket.pause()
            terminal.stream.once('drain', () => socket.resume())
          }
          return
        }
        const frame = terminalFromClient.safeParse(jsonOf(data))
        if (!frame.success) return socket.close(1008)
        terminal.docker.execs
          .resize(terminal.exec_id, frame.data)
          .catch((error: unknown) => log.debug({ err: error, terminal: terminal.id }, 'resizing a terminal'))
      })
      socket.on('close', () => close(terminal))
      socket.on('error', () => close(terminal))
      void pump(terminal, socket)
    },

    /** Ends the terminals of sessions that ended. */
    closeWhere(gone: (terminal: { user_id: string; session_id: string }) => boolean): void {
      for (const terminal of open.values()) if (gone(terminal)) close(terminal)
    },
    stop(): void {
      for (const terminal of open.values()) close(terminal)
    },
  }
}

export const terminalPath = (id: string): string => `/api/cis/v1/docker/terminals/${id}/socket`

/** What is printed first, or nothing where it keeps silent. The rest stays in the stream. */
async function firstWords(stream: Duplex): Promise<Buffer> {
  const said = stream.read() as Buffer | null
  if (said !== null) return said
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      for (const event of ['readable', 'end', 'close']) stream.off(event, done)
      resolve()
    }
    const timer = setTimeout(done, firstWordsMs)
    for (const event of ['readable', 'end', 'close']) stream.on(event, done)
  })
  return (stream.read() as Buffer | null) ?? Buffer.alloc(0)
}

function jsonOf(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return null
  }
}
