import { randomBytes } from 'node:crypto'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import { terminalFromClient, type terminalFromServer, type terminals } from '@zhisuan/contract/nextstack/vm'
import type { TerminalSession } from '@zhisuan/engines/compute'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { VmService } from '../vm/vm.service.ts'

/** How long a terminal waits for its person to come back. */
const detachedMs = 60_000
const ticketMs = 30_000
/** What is printed again to one who comes back. */
const scrollbackBytes = 256 * 1024
/** Above this much unsent, the instance's output waits. */
const unsentBytes = 1024 * 1024

/** A login shell: bash where the image has it. Constant: nothing of a request gets in here. */
const loginShell = ['/bin/sh', '-c', 'if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi'] as const

interface Terminal {
  id: string
  vm_id: string
  user_id: string
  session_id: string
  session: TerminalSession
  scrollback: Buffer[]
  scrollbackSize: number
  socket: WebSocket | null
  leaving: NodeJS.Timeout | undefined
  exited: { code: number | null } | null
}

export type TerminalService = ReturnType<typeof createTerminalService>

/**
 * Terminals in instances. The shell belongs to the terminal, not to the connection: when the
 * connection breaks, it goes on for a minute, and who comes back sees what he missed.
 */
export function createTerminalService(parts: { vms: Pick<VmService, 'forTerminal'>; log: Logger }) {
  const { vms, log } = parts
  const open = new Map<string, Terminal>()
  const tickets = new Map<string, { terminal: Terminal; expires: NodeJS.Timeout }>()

  const close = (terminal: Terminal): void => {
    if (!open.delete(terminal.id)) return
    clearTimeout(terminal.leaving)
    terminal.session.close()
    terminal.socket?.close(1000)
  }

  const send = (socket: WebSocket, frame: z.output<typeof terminalFromServer>): void => socket.send(JSON.stringify(frame))

  /** Reads what the shell prints, for as long as it runs, connected or not. */
  const pump = async (terminal: Terminal): Promise<void> => {
    try {
      for await (const chunk of terminal.session.output) {
        terminal.scrollback.push(chunk)
        terminal.scrollbackSize += chunk.length
        while (terminal.scrollbackSize > scrollbackBytes && terminal.scrollback.length > 1) {
          terminal.scrollbackSize -= terminal.scrollback.shift()?.length ?? 0
        }
        const { socket } = terminal
        if (socket === null) continue
        socket.send(chunk, { binary: true })
        while (terminal.socket === socket && socket.readyState === socket.OPEN && socket.bufferedAmount > unsentBytes) {
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }
    } catch (error) {
      log.debug({ err: error, terminal: terminal.id }, 'terminal output ended')
    }
    terminal.exited = { code: await terminal.session.exit.catch(() => null) }
    if (terminal.socket !== null) {
      send(terminal.socket, { type: 'exit', exit_code: terminal.exited.code })
      close(terminal)
    } else {
      // Whoever comes back in time is told how it ended.
      terminal.leaving ??= setTimeout(() => close(terminal), detachedMs).unref()
    }
  }

  const ticketFor = (terminal: Terminal): ResponseOf<typeof terminals.open> => {
    const ticket = randomBytes(32).toString('base64url')
    const expires = setTimeout(() => tickets.delete(ticket), ticketMs).unref()
    tickets.set(ticket, { terminal, expires })
    return { terminal_id: terminal.id, socket_path: `/api/nextstack/v1/terminals/${terminal.id}/socket?ticket=${ticket}` }
  }

  const mine = (actor: Actor, vmId: string): Terminal | undefined =>
    [...open.values()].find((terminal) => terminal.vm_id === vmId && terminal.user_id === actor.user_id && terminal.exited === null)

  return {
    async open(actor: Actor, vmId: string, body: BodyOf<typeof terminals.open>): Promise<ResponseOf<typeof terminals.open>> {
      const { vm, engine } = await vms.forTerminal(actor, vmId)
      if (body.terminal_id !== undefined) {
        const former = open.get(body.terminal_id)
        if (former?.user_id === actor.user_id && former.vm_id === vmId) {
          former.session_id = actor.session_id
          return ticketFor(former)
        }
      }
      const other = mine(actor, vmId)
      if (other !== undefined) {
        // One that nobody is connected to was left behind by a closed page.
        if (!body.take_over && other.socket !== null) throw new Refusal('terminalOpen')
        close(other)
      }
      const session = await engine.instances.terminal(vm.engine_name, {
        command: loginShell,
        env: { TERM: 'xterm-256color', HOME: '/root', USER: 'root', LANG: 'C.UTF-8' },
        cwd: '/root',
        columns: body.columns,
        rows: body.rows,
      })
      // While the engine opened it, the same person may have opened another.
      if (mine(actor, vmId) !== undefined) {
        session.close()
        throw new Refusal('terminalOpen')
      }
      const terminal: Terminal = {
        id: uuidv7(),
        vm_id: vmId,
        user_id: actor.user_id,
        session_id: actor.session_id,
        session,
        scrollback: [],
        scrollbackSize: 0,
        socket: null,
        leaving: undefined,
        exited: null,
      }
      terminal.leaving = setTimeout(() => close(terminal), detachedMs).unref()
      open.set(terminal.id, terminal)
      void pump(terminal)
      return ticketFor(terminal)
    },

    /** @throws Refusal terminalTicketInvalid */
    redeem(id: string, ticket: string): Terminal {
      const held = tickets.get(ticket)
      tickets.delete(ticket)
      clearTimeout(held?.expires)
      if (held === undefined || held.terminal.id !== id || !open.has(id)) throw new Refusal('terminalTicketInvalid')
      return held.terminal
    },

    /** Connects a websocket; an older one of the same terminal is let go. */
    attach(terminal: Terminal, socket: WebSocket): void {
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
        send(socket, { type: 'exit', exit_code: terminal.exited.code })
        close(terminal)
        socket.close(1000)
        return
      }
      terminal.socket = socket
      socket.on('message', (data: Buffer, isBinary: boolean) => {
        if (isBinary) {
          terminal.session.write(data)
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
    },

    /** Ends the terminals of sessions that ended. */
    closeWhere(gone: (terminal: { user_id: string; session_id: string }) => boolean): void {
      for (const terminal of open.values()) if (gone(terminal)) close(terminal)
    },

    stop(): void {
      for (const terminal of open.values()) close(terminal)
      for (const { expires } of tickets.values()) clearTimeout(expires)
    },
  }
}

function jsonOf(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return null
  }
}
