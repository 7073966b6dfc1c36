import { createReadStream } from 'node:fs'
import { bundles as calls } from '@zhisuan/contract/sys/bundle'
import { byId } from '@zhisuan/contract/define'
import type { FastifyInstance } from 'fastify'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { found } from '../../../platform/errors.ts'
import { authorise, type Authorising } from '../../../platform/http/bind.ts'
import { handle, type Handler } from '../../../platform/http/handler.ts'
import { servedPath, uploadPath, type BundleService } from './bundle.service.ts'

export const bundleRoutes = (bundles: BundleService): Handler[] => [
  handle(calls.list, ({ query }) => bundles.list(query)),
  handle(calls.create, ({ actor, body }) => bundles.create(actor, body)),
  handle(calls.delete, ({ params }) => bundles.delete(params.id)),
]

const digest = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) })

/** Files of bundles: from administrators, and to nodes. */
export async function serveBundles(http: FastifyInstance, authorising: Authorising, bundles: BundleService): Promise<void> {
  await http.register(async (app) => {
    // The bytes flow to the file as they come, and nothing else is taken for one.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
    app.put<{ Body: Readable }>(uploadPath(':id'), {
      bodyLimit: Number.MAX_SAFE_INTEGER,
      onRequest: (request) => authorise(request, calls.create, authorising),
      handler: async (request, reply) => {
        const { data } = byId.safeParse(request.params)
        const length = request.headers['content-length']
        await bundles.upload(found(data).id, request.body, length === undefined ? null : Number(length))
        return reply.status(204).send()
      },
    })
  })
  http.get(servedPath(':sha256'), async (request, reply) => {
    const { data } = digest.safeParse(request.params)
    const { path, sizeBytes } = await bundles.served(found(data).sha256)
    return reply.type('application/octet-stream').header('content-length', sizeBytes).send(createReadStream(path))
  })
}
