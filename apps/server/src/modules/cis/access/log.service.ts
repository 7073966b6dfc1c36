import { Readable } from 'node:stream'
import type { containers as calls } from '@zhisuan/contract/cis/container'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Output } from '@zhisuan/engines/docker/frames'
import type { WebSocket } from 'ws'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import type { OpenStream } from '../../../platform/openStreams.ts'
import { sendPaced } from '../../../platform/paced.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import { createJoining, createLines, piecesMax, type LogLine } from '../container/container.logs.ts'
import type { ContainerService } from '../container/container.service.ts'
import type { Entry } from './entry.ts'
import type { Link } from './link.store.ts'
import type { Links } from './links.ts'

/** So many lines from the end are searched. */
const searchedLines = 100_000
const downloadsKind = 'cis.container.log'
export const logsPath = '/api/cis/v1/docker/logs'

/** A log that somebody came for. */
export type Followed = { readonly link: Link } & Pick<Awaited<ReturnType<Entry>>, 'docker_id' | 'node'>
export type LogService = ReturnType<typeof createLogs>

/** What containers print: its end, as it comes, or whole. */
export function createLogs(
  { downloads, openStreams, log }: Pick<Platform, 'downloads' | 'openStreams' | 'log'>,
  parts: { containers: Pick<ContainerService, 'reached'>; links: Links; entry: Entry; refusedByNode: RefusedByNode },
) {
  const { containers, links, entry, refusedByNode } = parts

  downloads.offer(downloadsKind, async (id) => {
    const link = await links.take(id, 'log')
    const { row, docker_id, node } = await entry(link, 'logs')
    return {
      name: `${row.name}.log`,
      size: null,
      open: async () => {
        const output = await node.docker.containers.logs(docker_id, { timestamps: true })
        const bytes = Readable.from(contentOf(output), { objectMode: false })
        bytes.once('close', () => output.destroy())
        return openStreams.addTransfer(bytes, link)
      },
    }
  })

  return {
    async read(actor: Actor, id: string, query: QueryOf<typeof calls.logs>): Promise<ResponseOf<typeof calls.logs>> {
      const { docker_id, node } = await containers.reached(scopeOf(actor), id, 'logs')
      const { tail, since, keyword, timestamps } = query
      const searching = keyword !== undefined && keyword !== ''
      try {
        const output = await node.docker.containers.logs(docker_id, {
          // Docker counts pieces: the first line that is shown is to be there from its beginning.
          tail: searching ? searchedLines : tail + piecesMax,
          timestamps,
          ...(since !== undefined && { since: new Date(since) }),
        })
        const lines = createLines(timestamps)
        const items: LogLine[] = []
        const add = (found: readonly LogLine[]): void => {
          for (const line of found) if (!searching || line.text.includes(keyword)) items.push(line)
          if (items.length > 2 * tail) items.splice(0, items.length - tail)
        }
        for await (const { from, data } of output) add(lines.add({ stream: from, data }))
        add(lines.rest())
        return { items: items.slice(-tail) }
      } catch (error) {
        throw refusedByNode(error, node.row)
      }
    },

    async link(actor: Actor, id: string, how: 'follow' | 'download'): Promise<ResponseOf<typeof calls.logLink>> {
      const { row } = await containers.reached(scopeOf(actor), id, 'logs')
      const { token, expires_at } = await links.make({ how: how === 'follow' ? 'follow' : 'log', container_id: row.id, path: '' }, actor)
      return { path: how === 'follow' ? `${logsPath}/${token}` : downloads.link(downloadsKind, token, actor).path, expires_at }
    },

    /** @throws Refusal 95120, and whatever refuses who got the link */
    async enter(token: string): Promise<Followed> {
      const link = await links.take(token, 'follow')
      openStreams.refuseMore(link.user_id)
      return { link, ...(await entry(link, 'logs')) }
    },

    /**
     * Messages are JSON `{items}` of lines as the call that reads them has them; the last is
     * `{ended: true}`, where the container has ended. Docker waits for who reads slowly.
     */
    async follow({ link, docker_id, node }: Followed, tail: number, socket: WebSocket): Promise<void> {
      const { session_id, user_id } = link
      const followed: OpenStream = { session_id, user_id, end: (why) => socket.close(why === 'session' ? 1008 : 1001) }
      try {
        openStreams.add(followed)
      } catch {
        // Others came in meanwhile.
        socket.close(1013)
        return
      }
      const gone = new AbortController()
      socket.on('close', () => {
        openStreams.remove(followed)
        gone.abort()
      })
      socket.on('error', () => socket.terminate())
      try {
        const output = await node.docker.containers.logs(docker_id, { follow: true, tail, timestamps: true, signal: gone.signal })
        const lines = createLines(true)
        const send = async (items: readonly LogLine[]): Promise<void> => {
          if (items.length > 0 && socket.readyState === socket.OPEN) await sendPaced(socket, JSON.stringify({ items }))
        }
        for await (const { from, data } of output) {
          await send(lines.add({ stream: from, data }))
          if (socket.readyState !== socket.OPEN) break
        }
        await send(lines.rest())
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ ended: true }))
        socket.close(1000)
      } catch (error) {
        if (!gone.signal.aborted) log.debug({ err: error, container: link.container_id }, 'following a log')
        // To be dialled again: the node is away for a moment.
        socket.close(1013)
      }
    },
  }
}

async function* contentOf(output: AsyncIterable<Output>): AsyncGenerator<Buffer> {
  const joining = createJoining()
  for await (const { from, data } of output) {
    const joined = joining.add({ stream: from, data })
    if (joined.length > 0) yield joined
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    const rest = joining.rest(stream)
    if (rest.length > 0) yield rest
  }
}
