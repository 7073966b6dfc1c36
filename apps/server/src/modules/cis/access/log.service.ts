import { Readable } from 'node:stream'
import type { containers as calls } from '@zhisuan/contract/cis/container'
import type { QueryOf, ResponseOf } from '@zhisuan/contract/define'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { sendPaced } from '../../../platform/paced.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import { createLines, type LogLine } from '../container/container.logs.ts'
import type { ContainerService } from '../container/container.service.ts'
import type { Entry } from './entry.ts'
import type { Link } from './link.store.ts'
import type { Links } from './links.ts'

/** So many lines from the end are searched. */
const searchedLines = 100_000
const downloads = 'cis.container.log'
export const logsPath = '/api/cis/v1/docker/logs'

/** A log that somebody came for. */
export type Followed = { readonly link: Link } & Pick<Awaited<ReturnType<Entry>>, 'docker_id' | 'node'>
export type LogService = ReturnType<typeof createLogs>

/** What containers print: its end, as it comes, or whole. */
export function createLogs(
  platform: Pick<Platform, 'downloads'>,
  parts: { containers: Pick<ContainerService, 'reached'>; links: Links; entry: Entry; refusedByNode: RefusedByNode; log: Logger },
) {
  const { containers, links, entry, refusedByNode, log } = parts
  const following = new Map<WebSocket, Pick<Link, 'user_id' | 'session_id'>>()
  const saving = new Map<Readable, Pick<Link, 'user_id' | 'session_id'>>()

  platform.downloads.offer(downloads, async (id) => {
    const link = await links.take(id, 'log')
    const { row, docker_id, node } = await entry(link, 'logs')
    return {
      name: `${row.name}.log`,
      size: null,
      open: async () => {
        const output = await node.docker.containers.logs(docker_id, { timestamps: true })
        const bytes = Readable.from(contentOf(output), { objectMode: false })
        saving.set(bytes, link)
        bytes.once('close', () => {
          saving.delete(bytes)
          output.destroy()
        })
        return bytes
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
          tail: searching ? searchedLines : tail,
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
      return { path: how === 'follow' ? `${logsPath}/${token}` : platform.downloads.link(downloads, token).path, expires_at }
    },

    /** @throws Refusal 95120, and whatever refuses who got the link */
    async enter(token: string): Promise<Followed> {
      const link = await links.take(token, 'follow')
      return { link, ...(await entry(link, 'logs')) }
    },

    /**
     * Messages are JSON `{items}` of lines as the call that reads them has them; the last is
     * `{ended: true}`, where the container has ended. Docker waits for who reads slowly.
     */
    async follow({ link, docker_id, node }: Followed, tail: number, socket: WebSocket): Promise<void> {
      following.set(socket, link)
      const gone = new AbortController()
      socket.on('close', () => {
        following.delete(socket)
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

    /** Ends those of sessions that ended. */
    closeWhere(gone: (one: { user_id: string; session_id: string }) => boolean): void {
      for (const [socket, one] of following) if (gone(one)) socket.close(1008)
      for (const [stream, one] of saving) if (gone(one)) stream.destroy()
    },
    stop(): void {
      for (const socket of following.keys()) socket.close(1001)
    },
  }
}

async function* contentOf(output: AsyncIterable<{ readonly data: Buffer }>): AsyncGenerator<Buffer> {
  for await (const { data } of output) yield data
}
