import { Readable } from 'node:stream'
import { computeImages } from '@zhisuan/contract/compute/image'
import { inCloud } from '@zhisuan/contract/compute/line'
import type { FastifyInstance } from 'fastify'
import { found, Refusal } from '../../../platform/errors.ts'
import { authorise, type Authorising } from '../../../platform/http/bind.ts'
import { uploadPath, type Images } from './image.service.ts'

/** Whoever is slower than that holds a connection of the cloud for nothing. */
const mostMs = 3_600_000

/**
 * Files of announced images: the bytes flow to Glance as they come, nothing of them is kept here. What breaks off
 * leaves the image `queued`, to be sent again from the beginning.
 */
export function createImageUploads(images: Images, maxBytes: number) {
  const open = new Set<AbortController>()
  return {
    /** A stop does not wait for uploads. */
    drain(): void {
      for (const controller of open) controller.abort()
    },
    async serve(http: FastifyInstance, authorising: Authorising): Promise<void> {
      await http.register(async (app) => {
        app.removeAllContentTypeParsers()
        app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
        app.route<{ Params: { cloud_id: string; id: string }; Body: Readable | undefined }>({
          method: 'PUT',
          url: uploadPath(':cloud_id', ':id'),
          bodyLimit: maxBytes,
          onRequest: (request) => authorise(request, computeImages.create, authorising),
          handler: async (request, reply) => {
            const params = inCloud.safeParse(request.params)
            if (!params.success) throw new Refusal('notFound')
            const { body: content } = request
            if (content === undefined || request.headers['content-length'] === '0') throw new Refusal('computeImageFileEmpty')
            if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new Refusal('bodyTooLarge')
            const { cloud } = await images.forUpload(found(request.actor), params.data.cloud_id, params.data.id)
            const controller = new AbortController()
            open.add(controller)
            let tooLarge = false
            try {
              await cloud.images.upload(params.data.id, content, {
                signal: AbortSignal.any([controller.signal, AbortSignal.timeout(mostMs)]),
                // Who does not say how long it is may still send too much.
                progress: (sentBytes) => {
                  if (sentBytes <= maxBytes) return
                  tooLarge = true
                  controller.abort()
                },
              })
            } catch (error) {
              throw tooLarge ? new Refusal('bodyTooLarge', { cause: error }) : error
            } finally {
              open.delete(controller)
            }
            return reply.code(204).send()
          },
        })
      })
    },
  }
}
