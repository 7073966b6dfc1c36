import { Readable } from 'node:stream'
import { isEngineError } from '@zhisuan/engines/errors'
import { z } from 'zod'
import type { Actor } from '../../../platform/auth/actor.ts'
import type { Downloads } from '../../../platform/downloads.ts'
import type { WholeTenancy } from '../tenancy/tenancy.service.ts'

/** Which image, and from within which project it is read; null: as the registration of the cloud sees it. */
const target = z.object({ cloud: z.string(), project: z.string().nullable(), image: z.string() })
type Target = z.output<typeof target>

/** Images flow from Glance as they are downloaded. @returns makes links, for who may have the image */
export function imageDownloads(
  downloads: Downloads,
  tenancy: Pick<WholeTenancy, 'cloudOf'>,
): (of: Target, by: Pick<Actor, 'user_id'>) => { path: string; expires_at: string } {
  const kind = 'compute-image'
  downloads.offer(kind, async (id) => {
    const { cloud: cloudId, project, image: imageId } = target.parse(JSON.parse(id))
    const cloud = await tenancy.cloudOf(cloudId, project)
    const image = await cloud.images.get(imageId).catch((error: unknown) => {
      if (isEngineError(error, 'not_found')) return null
      throw error
    })
    if (image?.status !== 'active') return null
    const open = async (range?: { start: number; end: number }): Promise<Readable> => {
      const { body } = await cloud.images.download(imageId)
      if (range === undefined) return body
      const piece = Readable.from(part(body, range), { objectMode: false })
      return piece.once('close', () => body.destroy())
    }
    return { name: `${image.name}.${image.diskFormat ?? 'img'}`, size: image.sizeBytes, ...(image.digest !== null && { etag: image.digest }), open }
  })
  return (of, by) => downloads.link(kind, JSON.stringify(of), by)
}

/** What comes before is read and let go: not every store of Glance's gives a part. */
async function* part(content: AsyncIterable<Buffer>, { start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
  let at = 0
  for await (const chunk of content) {
    const [from, to] = [Math.max(0, start - at), Math.min(chunk.length, end + 1 - at)]
    at += chunk.length
    if (from < to) yield chunk.subarray(from, to)
    if (at > end) return
  }
}
