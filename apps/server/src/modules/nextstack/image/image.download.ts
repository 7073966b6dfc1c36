import { Readable } from 'node:stream'
import { EngineError } from '@zhisuan/engines/errors'
import type { ImageExport } from '@zhisuan/engines/compute'
import { pack } from 'tar-stream'
import { platformScope } from '../../../platform/auth/actor.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { CloudService } from '../../cmp/cloud/cloud.service.ts'
import { packSplit } from './image.files.ts'
import * as store from './image.store.ts'

/** Metadata of a split image is held in memory, as its size has to be known; it is some kilobytes. */
const mostMetadata = 64 * 2 ** 20

/** Images flow from the engine as they are downloaded: a unified one as it is, a split one as an archive of its two files. */
export function imageDownloads({ db, downloads }: Pick<Platform, 'db' | 'downloads'>, clouds: Pick<CloudService, 'engine'>): void {
  downloads.offer('image', async (id) => {
    const image = await store.getImage(db, platformScope, id)
    if (image?.status !== 'active' || image.fingerprint === null) return null
    const { fingerprint, suffix, name, cloud_id, size_bytes } = image
    const engine = await clouds.engine(cloud_id)
    const open = async (range?: { start: number; end: number }): Promise<Readable> => {
      const controller = new AbortController()
      const exported = await engine.images.export?.(fingerprint, { signal: controller.signal })
      if (exported === undefined) throw new EngineError('unsupported', 'the engine gives no images')
      const stream = Readable.from(range === undefined ? whole(exported) : part(exported, range), { objectMode: false })
      return stream.once('close', () => controller.abort())
    }
    // Only of one file it is known how many bytes there will be.
    return { name: `${name}${suffix ?? '.tar'}`, size: suffix === null ? null : size_bytes, etag: fingerprint, open }
  })
}

async function* whole({ files, sizeBytes }: ImageExport): AsyncGenerator<Buffer> {
  for await (const { role, content } of files) {
    if (role === 'unified') {
      yield* content
      return
    }
    const metadata = await buffered(content)
    const archive = pack()
    const packing = (async () => {
      await packSplit(archive, { name: `metadata${suffixOf(metadata)}`, size: metadata.length, content: Readable.from([metadata]) })
      for await (const rootfs of files) await packSplit(archive, { name: rootfsName(rootfs.name), size: sizeBytes - metadata.length, content: rootfs.content })
      archive.finalize()
    })()
    packing.catch((error: Error) => archive.destroy(error))
    yield* archive
    await packing
    return
  }
}

/** As `importable` knows it again. */
const suffixOf = (head: Buffer): string => {
  const magic = head.toString('hex', 0, 3)
  return magic.startsWith('1f8b') ? '.tar.gz' : magic === 'fd377a' ? '.tar.xz' : '.tar'
}
const rootfsName = (name: string): string => `rootfs${/\.(?:squashfs|img|qcow2|tar(?:\.\w+)?)$/.exec(name)?.[0] ?? '.img'}`

async function buffered(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of content) {
    length += part.length
    if (length > mostMetadata) throw new EngineError('bad_answer', 'the metadata of the image are too long')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** What comes before is read and let go: engines give images from their beginning only. */
async function* part(exported: ImageExport, { start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
  let at = 0
  for await (const chunk of whole(exported)) {
    const [from, to] = [Math.max(0, start - at), Math.min(chunk.length, end + 1 - at)]
    at += chunk.length
    if (from < to) yield chunk.subarray(from, to)
    if (at > end) return
  }
}
