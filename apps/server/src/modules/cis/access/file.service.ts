import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import type { containers as calls } from '@zhisuan/contract/cis/container'
import type { BodyOf, ResponseOf } from '@zhisuan/contract/define'
import type { Docker, PathStat } from '@zhisuan/engines/docker/types'
import { scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { Refusal } from '../../../platform/errors.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RefusedByNode } from '../../ecrm/edge/edge.refusals.ts'
import type { ContainerService } from '../container/container.service.ts'
import { entriesOf, fileArchive, onlyFile } from '../container/container.tar.ts'
import { directoryOf } from '../../../platform/directoryListing.ts'
import { placeOf } from './file.place.ts'
import type { Entry } from './entry.ts'
import type { Link } from './link.store.ts'
import type { Links } from './links.ts'

/** Of a directory of a container that does not run, an archive is read up to this. */
const archiveBytes = 256 * 2 ** 20
const listMs = 15_000
export const uploadMaxBytes = 4 * 2 ** 30
const downloadsKind = 'cis.container.file'
export const uploadsPath = '/api/cis/v1/docker/uploads'

export type FileService = ReturnType<typeof createFiles>

/** Files of containers, by the archives of Docker. A path never gets into a shell. */
export function createFiles(
  { downloads, openStreams }: Pick<Platform, 'downloads' | 'openStreams'>,
  parts: { containers: Pick<ContainerService, 'reached'>; links: Links; entry: Entry; refusedByNode: RefusedByNode },
) {
  const { containers, links, entry, refusedByNode } = parts

  /** What is there, behind whatever links lead to it. @throws Refusal 95109 */
  const stat = async (docker: Docker, id: string, path: string): Promise<PathStat & { path: string }> => {
    const seen = await placeOf(docker, id, path)
    if (seen === null) throw new Refusal('containerFileMissing', { field: 'path' })
    return seen
  }

  downloads.offer(downloadsKind, async (id) => {
    const link = await links.take(id, 'file')
    const { docker_id, node } = await entry(link, 'files')
    try {
      const seen = await stat(node.docker, docker_id, link.path)
      const base = posix.basename(link.path) === '' ? 'root' : posix.basename(link.path)
      return {
        name: seen.directory ? `${base}.tar` : base,
        size: null,
        open: async () => {
          const archive = await node.docker.containers.get(docker_id, seen.path)
          return openStreams.addTransfer(seen.directory ? archive : await onlyFile(archive), link)
        },
      }
    } catch (error) {
      throw refusedByNode(error, node.row)
    }
  })

  return {
    async list(actor: Actor, id: string, path: string): Promise<ResponseOf<typeof calls.files>> {
      const { row, docker_id, node } = await containers.reached(scopeOf(actor), id, 'files')
      const { docker } = node
      const signal = AbortSignal.timeout(listMs)
      try {
        const seen = await stat(docker, docker_id, path)
        if (!seen.directory) throw new Refusal('containerFileMissing', { field: 'path' })
        // An archive holds all that is below: where something runs that can list, it is asked.
        if (row.shown_status === 'running') {
          const items = await directoryOf(seen.path, (command) =>
            docker.execs.run(docker_id, { command, env: { LC_ALL: 'C' } }, { signal, limitBytes: 16 * 2 ** 20 }).catch(() => null),
          )
          if (items !== null) return { items }
        }
        const entries = await entriesOf(await docker.containers.get(docker_id, seen.path, { signal }), { bytes: archiveBytes })
        if (entries === 'too much' || entries === 'file') throw new Refusal('containerDirectoryTooLarge', { field: 'path' })
        return { items: entries }
      } catch (error) {
        throw refusedByNode(error, node.row)
      }
    },

    async link(actor: Actor, id: string, { how, path }: BodyOf<typeof calls.fileLink>): Promise<ResponseOf<typeof calls.fileLink>> {
      const { row, docker_id, node } = await containers.reached(scopeOf(actor), id, 'files')
      const at = posix.normalize(path)
      try {
        const seen = await stat(node.docker, docker_id, how === 'upload' ? posix.dirname(at) : at)
        // A file goes into a directory that is there, under a name of its own.
        if (how === 'upload' && (!seen.directory || posix.basename(at) === '' || at.endsWith('/'))) throw new Refusal('containerFileMissing', { field: 'path' })
        if (how === 'download') {
          const { token, expires_at } = await links.make({ how: 'file', container_id: row.id, path: at }, actor)
          return { path: downloads.link(downloadsKind, token, actor).path, expires_at }
        }
        const { token, expires_at } = await links.make({ how, container_id: row.id, path: posix.join(seen.path, posix.basename(at)) }, actor)
        return { path: `${uploadsPath}/${token}`, expires_at }
      } catch (error) {
        throw refusedByNode(error, node.row)
      }
    },

    /** Writes what comes to where the link says. */
    async upload(link: Link, content: { stream: Readable; size: number }): Promise<void> {
      const { docker_id, node } = await entry(link, 'files')
      try {
        await node.docker.containers.put(docker_id, '/', fileArchive(link.path, { ...content, stream: openStreams.addTransfer(content.stream, link) }))
      } catch (error) {
        throw refusedByNode(error, node.row)
      }
    },
  }
}
