import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { containers as calls } from '@zhisuan/contract/cis/container'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { TerminalSession } from '@zhisuan/engines/compute'
import type { Docker } from '@zhisuan/engines/docker/types'
import type { Logger } from 'pino'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import { createTerminals, ticketMs } from '../../../platform/terminals.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import type { Entry } from './entry.ts'
import type { ContainerService } from '../container/container.service.ts'

/** A command that is not there is told as its first output, soon. */
const firstWordsMs = 1_500
const missing = /OCI runtime exec failed|executable file not found|no such file or directory: unknown/i
/** Docker lets what was executed go on when nobody listens any more: this interrupts what runs, and ends the input of a shell. */
const hangUp = Buffer.from('\u0003\u0004')

export type ContainerTerminals = ReturnType<typeof createContainerTerminals>

/** Terminals in containers, one at a time in each, which nobody takes from another. */
export function createContainerTerminals(
  { openStreams, log, now }: Pick<Platform, 'openStreams' | 'log' | 'now'>,
  parts: { containers: Pick<ContainerService, 'reached'>; entry: Entry; refusedByNode: RefusedByNode },
) {
  const { containers, entry, refusedByNode } = parts
  const { open, ...terminals } = createTerminals({
    path: '/api/cis/v1/docker/terminals',
    streams: openStreams,
    log,
    enter: ({ line, session_id }) => entry({ container_id: line, session_id }, 'terminal'),
    awaited: true,
  })
  return {
    ...terminals,
    async open(
      actor: Actor,
      containerId: string,
      { command, cols, rows, terminal_id }: BodyOf<typeof calls.terminal>,
    ): Promise<ResponseOf<typeof calls.terminal>> {
      const { row, docker_id, node } = await containers.reached(scopeOf(actor), containerId, 'terminal')
      const { docker } = node
      const begin = async (): Promise<TerminalSession> => {
        const execId = await docker.execs.create(docker_id, { command, tty: true, stdin: true, env: { TERM: 'xterm-256color' } })
        const stream = await docker.execs.attach(execId, { tty: true })
        stream.on('error', () => undefined)
        await docker.execs.resize(execId, { columns: cols, rows }).catch(() => undefined)
        const first = await firstWords(stream)
        if (missing.test(first.toString('utf8'))) {
          stream.destroy()
          throw new Refusal('containerCommandMissing', { field: 'command' })
        }
        return sessionOf({ docker, execId, stream, first, log })
      }
      try {
        const wish = { columns: cols, rows, terminal_id, take_over: false }
        const opened = await open(actor, containerId, wish, begin, JSON.stringify([docker_id, command]))
        return { terminal_id: opened.terminal_id, path: opened.socket_path, expires_at: new Date(now().getTime() + ticketMs).toISOString() }
      } catch (error) {
        throw refusedByNode(error, node.row, row.image)
      }
    },
  }
}

/** What Docker executes, as a terminal's session. How it ended Docker tells once its output has. */
function sessionOf(of: { docker: Docker; execId: string; stream: Duplex; first: Buffer; log: Logger }): TerminalSession {
  const { docker, execId, stream, first, log } = of
  return {
    output: printed(first, stream),
    write(data) {
      if (!stream.writable || stream.write(data)) return undefined
      return new Promise<void>((resolve) => {
        for (const event of ['drain', 'close']) stream.once(event, resolve)
      })
    },
    resize: (columns, rows) => void docker.execs.resize(execId, { columns, rows }).catch((error: unknown) => log.debug({ err: error }, 'resizing a terminal')),
    exit: finished(stream, { writable: false })
      .catch(() => undefined)
      .then(() => docker.execs.inspect(execId))
      .then(
        ({ exitCode }) => exitCode,
        () => null,
      ),
    close() {
      if (stream.destroyed) return
      stream.write(hangUp)
      stream.end()
      setTimeout(() => stream.destroy(), 1_000).unref()
    },
  }
}

async function* printed(first: Buffer, stream: Duplex): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  yield* stream as AsyncIterable<Buffer>
}

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
