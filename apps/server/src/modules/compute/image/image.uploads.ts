import { Readable } from 'node:stream'
import { computeImages } from '@zhisuan/contract/compute/image'
import { inCloud } from '@zhisuan/contract/compute/ids'
import { errors } from '@zhisuan/contract/errors'
import { auditAsked } from '@zhisuan/contract/iam/audit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { found, Refusal } from '../../../platform/errors.ts'
import { authorise, type Authorising } from '../../../platform/http/bind.ts'
import { auditEntry, type AuditEntry } from '../../../platform/http/entry.ts'
import { toRefusal } from '../../../platform/http/problems.ts'
import type { RefuseWhileSuspended } from '../suspended.ts'
import { uploadPath, type Images } from './image.service.ts'

/** Whoever is slower than that holds a connection of the cloud for nothing. */
const mostMs = 3_600_000

/** Who may announce an image may send its file; to the audit log and to suspensions that is a deed of its own. */
const upload = { ...computeImages.create, id: 'compute.image.upload' }

/**
 * Files of announced images: the bytes flow to Glance as they come, nothing of them is kept here. What breaks off
 * leaves the image `queued`, to be sent again from the beginning.
 */
export function createImageUploads(parts: {
  images: Images
  refuseWhileSuspended: RefuseWhileSuspended
  audit: (entry: AuditEntry) => Promise<void>
  maxBytes: number
}) {
  const { images, maxBytes } = parts
  /** Attempts are part of the record too. */
  const audited = async (request: FastifyRequest, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (request.actor !== null) await parts.audit(auditEntry(request, upload, errors[toRefusal(error).refusal].code))
      throw error
    }
  }
  const open = new Set<AbortController>()
  const take = async (request: FastifyRequest<{ Body: Readable | undefined }>): Promise<void> => {
    const actor = found(request.actor)
    const params = inCloud.safeParse(request.params)
    if (!params.success) throw new Refusal('notFound')
    const { body: content } = request
    if (content === undefined || request.headers['content-length'] === '0') throw new Refusal('computeImageFileEmpty')
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new Refusal('bodyTooLarge')
    await parts.refuseWhileSuspended(actor, upload.id)
    const { cloud } = await images.forUpload(actor, params.data.cloud_id, params.data.id)
    // What comes of it the cloud says at the end.
    await parts.audit(auditEntry(request, upload, auditAsked))
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
  }
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
          onRequest: (request) => audited(request, () => authorise(request, computeImages.create, authorising)),
          handler: async (request, reply) => {
            await audited(request, () => take(request))
            await parts.audit(auditEntry(request, upload, 0))
            return reply.code(204).send()
          },
        })
      })
    },
  }
}
