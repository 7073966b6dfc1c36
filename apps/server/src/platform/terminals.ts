import { randomBytes } from 'node:crypto'
import { terminalFromClient, type terminalFromServer, type terminalOpened, type terminalWish } from '@zhisuan/contract/terminal'
import type { TerminalSession } from '@zhisuan/engines/compute'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { Actor } from './auth/actor.ts'
import { Refusal } from './errors.ts'
import { problemOf, toRefusal } from './http/problems.ts'
import { uuidv7 } from './ids.ts'
import type { OpenStream, OpenStreams } from './openStreams.ts'
import { sendPaced } from './paced.ts'

/** How long a terminal waits for its person to come back. */
const detachedMs = 60_000
export const ticketMs = 30_000
/** What is printed again to one who comes back. */
const scrollbackBytes = 256 * 1024

interface Terminal extends OpenStream {
  id: string
  line: string
  shell: string
  user_id: string
  session_id: string
  session: TerminalSession
  scrollback: Buffer[]
  scrollbackSize: number
  socket: WebSocket | null
  leaving: NodeJS.Timeout | undefined
  exited: z.output<typeof terminalFromServer> | null
  openedAt: number
  /** When anything was last typed or printed. */
  usedAt: number
  /** Ends it where it is open too long, or too long unused. */
  watch: NodeJS.Timeout | undefined
}

export type Terminals = ReturnType<typeof createTerminals>

/**
 * Terminals in things of engines. A session belongs to the terminal, not to the connection: when the
 * connection breaks, it goes on for a minute, and who comes back sees what they missed.
 * @param parts.path of the websockets, before `/{id}/socket`
 * @param parts.streams among which each is while it is open: with its session, or with the server, it ends
 * @param parts.limits after which a terminal is ended that is not used, and any
 * @param parts.enter refuses who comes by a ticket and may not be let in any more; the terminal is ended then
 * @param parts.awaited whether one whose ticket is not used yet keeps others out, as one that somebody is connected to
 */
export function createTerminals(parts: {
  path: string
  streams: OpenStreams
  log: Logger
  limits?: { readonly idleMs: number; readonly wholeMs: number }
  enter?: (terminal: { readonly line: string; readonly session_id: string }) => Promise<unknown>
  awaited?: boolean
}) {
  const { log, limits } = parts
  const open = new Map<string, Terminal>()
  const tickets = new Map<string, { terminal: Terminal; expires: NodeJS.Timeout }>()

  const close = (terminal: Terminal): void => {
    if (!open.delete(terminal.id)) return
    parts.streams.remove(terminal)
    clearTimeout(terminal.leaving)
    clearInterval(terminal.watch)
    terminal.session.close()
    terminal.socket?.close(1000)
  }

  const send = (socket: WebSocket, frame: z.output<typeof terminalFromServer>): void => socket.send(JSON.stringify(frame))

  /** Reads what is printed, for as long as it runs, connected or not. */
  const pump = async (terminal: Terminal): Promise<void> => {
    try {
      for await (const chunk of terminal.session.output) {
        terminal.usedAt = Date.now()
        terminal.scrollback.push(chunk)
        terminal.scrollbackSize += chunk.length
        while (terminal.scrollbackSize > scrollbackBytes && terminal.scrollback.length > 1) {
          terminal.scrollbackSize -= terminal.scrollback.shift()?.length ?? 0
        }
        const { socket } = terminal
        if (socket === null) continue
        await sendPaced(socket, chunk, () => terminal.socket === socket)
      }
    } catch (error) {
      log.debug({ err: error, terminal: terminal.id }, 'terminal output ended')
    }
    // Closed from here.
    if (!open.has(terminal.id)) return
    // What ended it, where that was not the terminal itself, is told before.
    terminal.exited ??= await terminal.session.exit.then(
      (exit_code) => ({ type: 'exit' as const, exit_code }),
      (error: unknown) => failed(terminal, error),
    )
    if (terminal.socket !== null) {
      send(terminal.socket, terminal.exited)
      close(terminal)
    } else {
      // Whoever comes back in time is told how it ended.
      terminal.leaving ??= setTimeout(() => close(terminal), detachedMs).unref()
    }
  }

  const failed = (terminal: Terminal, error: unknown): z.output<typeof terminalFromServer> => {
    log.info({ err: error, terminal: terminal.id }, 'a terminal was ended')
    return { type: 'exit', exit_code: null, problem: problemOf(toRefusal(error), terminal.id) }
  }

  const watch = (terminal: Terminal, { idleMs, wholeMs }: NonNullable<typeof limits>): NodeJS.Timeout =>
    setInterval(
      () => {
        if (terminal.exited !== null) return
        const now = Date.now()
        const over = now - terminal.openedAt >= wholeMs ? 'terminalTooLong' : now - terminal.usedAt >= idleMs ? 'terminalIdle' : null
        if (over === null) return
        terminal.exited = failed(terminal, new Refusal(over))
        // Its output ends, and the rest follows from that.
        terminal.session.close()
      },
      Math.min(15_000, idleMs / 4),
    ).unref()

  const ticketFor = (terminal: Terminal): z.output<typeof terminalOpened> => {
    const ticket = randomBytes(32).toString('base64url')
    const expires = setTimeout(() => tickets.delete(ticket), ticketMs).unref()
    tickets.set(ticket, { terminal, expires })
    return { terminal_id: terminal.id, socket_path: `${parts.path}/${terminal.id}/socket?ticket=${ticket}` }
  }

  /** Opens it; not for a session that ended while the engine was at it, and so told nobody to end it. */
  const begun = async ({ session_id, user_id }: Actor, begin: () => Promise<TerminalSession>): Promise<TerminalSession> => {
    const ended: ('session' | 'server')[] = []
    const opening: OpenStream = { session_id, user_id, end: (why) => void ended.push(why) }
    parts.streams.add(opening)
    const session = await begin().finally(() => parts.streams.remove(opening))
    if (ended[0] === undefined) return session
    session.close()
    throw new Refusal(ended[0] === 'session' ? 'tokenInvalid' : 'serverStopping')
  }

  const openOf = (line: string): Terminal | undefined => [...open.values()].find((terminal) => terminal.line === line && terminal.exited === null)

  const isTaken = (terminal: Terminal): boolean =>
    terminal.socket !== null || (parts.awaited === true && [...tickets.values()].some((ticket) => ticket.terminal === terminal))

  /** @throws Refusal terminalTicketInvalid */
  const redeem = (id: string, ticket: string): Terminal => {
    const held = tickets.get(ticket)
    tickets.delete(ticket)
    clearTimeout(held?.expires)
    if (held === undefined || held.terminal.id !== id || !open.has(id)) throw new Refusal('terminalTicketInvalid')
    return held.terminal
  }

  /** Connects a websocket; an older one of the same terminal is let go. */
  const attach = (terminal: Terminal, socket: WebSocket): void => {
    // Closed while the connection was made.
    if (!open.has(terminal.id)) {
      socket.close(1000)
      return
    }
    terminal.socket?.close(4001)
    clearTimeout(terminal.leaving)
    terminal.leaving = undefined
    const past = Buffer.concat(terminal.scrollback)
    send(socket, { type: 'ready', replay_bytes: past.length })
    if (past.length > 0) socket.send(past, { binary: true })
    if (terminal.exited !== null) {
      send(socket, terminal.exited)
      close(terminal)
      socket.close(1000)
      return
    }
    terminal.socket = socket
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        terminal.usedAt = Date.now()
        const waits = terminal.session.write(data)
        if (waits === undefined) return
        // What is pasted waits for the other side to take it.
        socket.pause()
        void waits.finally(() => socket.resume())
        return
      }
      const frame = terminalFromClient.safeParse(jsonOf(data))
      if (!frame.success) socket.close(1008)
      else terminal.session.resize(frame.data.columns, frame.data.rows)
    })
    const left = () => {
      if (terminal.socket !== socket) return
      terminal.socket = null
      terminal.leaving = setTimeout(() => close(terminal), detachedMs).unref()
    }
    socket.on('close', left)
    socket.on('error', left)
  }

  return {
    /**
     * @param line what there is one terminal of at a time
     * @param begin opens its session, where there is none to come back to
     * @param shell what runs in it: who wants another where their own is gets it in its place
     * @throws Refusal terminalOpen; streamsExceeded; tokenInvalid, serverStopping where that came while it was opened
     */
    async open(
      actor: Actor,
      line: string,
      wish: z.output<typeof terminalWish>,
      begin: () => Promise<TerminalSession>,
      shell = '',
    ): Promise<z.output<typeof terminalOpened>> {
      if (wish.terminal_id !== undefined) {
        const former = open.get(wish.terminal_id)
        if (former?.user_id === actor.user_id && former.line === line) {
          if (former.shell !== shell) close(former)
          else {
            former.session_id = actor.session_id
            return ticketFor(former)
          }
        }
      }
      const other = openOf(line)
      if (other !== undefined) {
        // One that nobody is connected to was left behind by a closed page.
        if (!wish.take_over && isTaken(other)) throw new Refusal('terminalOpen')
        close(other)
      }
      const session = await begun(actor, begin)
      // While the engine opened it, another may have been opened.
      if (openOf(line) !== undefined) {
        session.close()
        throw new Refusal('terminalOpen')
      }
      const now = Date.now()
      const terminal: Terminal = {
        id: uuidv7(),
        line,
        shell,
        user_id: actor.user_id,
        session_id: actor.session_id,
        session,
        scrollback: [],
        scrollbackSize: 0,
        socket: null,
        leaving: undefined,
        exited: null,
        openedAt: now,
        usedAt: now,
        watch: undefined,
        end: () => close(terminal),
      }
      try {
        parts.streams.add(terminal)
      } catch (error) {
        session.close()
        throw error
      }
      terminal.watch = limits && watch(terminal, limits)
      terminal.leaving = setTimeout(() => close(terminal), detachedMs).unref()
      open.set(terminal.id, terminal)
      void pump(terminal)
      return ticketFor(terminal)
    },
    redeem,
    attach,

    /**
     * The websockets that `open` names. A browser cannot send a bearer token with them, so the
     * ticket in the query, good once and for seconds, is what lets it in.
     */
    serve(app: FastifyInstance): void {
      const redeemed = new WeakMap<object, Terminal>()
      app.get(
        `${parts.path}/:id/socket`,
        {
          websocket: true,
          preValidation: async (request) => {
            const { id } = target.parse(request.params)
            const { ticket } = credentials.parse(request.query)
            const terminal = redeem(id, ticket)
            try {
              await parts.enter?.(terminal)
            } catch (error) {
              close(terminal)
              throw error
            }
            redeemed.set(request, terminal)
          },
        },
        (socket, request) => {
          const terminal = redeemed.get(request)
          if (terminal === undefined) socket.close(1008)
          else attach(terminal, socket)
        },
      )
    },
  }
}

const target = z.object({ id: z.string() })
const credentials = z.object({ ticket: z.string().max(128).catch('') })

function jsonOf(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return null
  }
}
