import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refusal } from '../../../platform/errors.ts'
import { uploadMaxBytes, uploadsPath, type FileService } from './file.service.ts'
import type { Links } from './links.ts'
import { logsPath, type Followed, type LogService } from './log.service.ts'
import type { ContainerTerminals } from './terminal.service.ts'

const target = z.object({ id: z.string() })
const tailed = z.object({ tail: z.coerce.number().int().min(0).max(10_000).catch(500) })

/** What a browser cannot send a bearer token with: tickets and links let it in. */
export async function serveAccess(
  http: FastifyInstance,
  parts: { terminals: ContainerTerminals; logs: LogService; files: FileService; links: Links },
): Promise<void> {
  const { terminals, logs, files, links } = parts
  const read = new WeakMap<object, Followed>()

  terminals.serve(http)
  http.get(
    `${logsPath}/:id`,
    {
      websocket: true,
      preValidation: async (request) => {
        read.set(request, await logs.enter(target.parse(request.params).id))
      },
    },
    (socket, request) => {
      const followed = read.get(request)
      if (followed === undefined) socket.close(1008)
      else void logs.follow(followed, tailed.parse(request.query).tail, socket)
    },
  )
  await http.register(async (app) => {
    // Bytes flow to the node as they come.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    app.put<{ Params: { id: string }; Body: Readable | undefined }>(`${uploadsPath}/:id`, { bodyLimit: uploadMaxBytes }, async (request, reply) => {
      const size = Number(request.headers['content-length'] ?? Number.NaN)
      // An archive says before each file how long it is.
      if (!Number.isSafeInteger(size)) throw new Refusal('requestInvalid')
      if (size > uploadMaxBytes) throw new Refusal('bodyTooLarge')
      await files.upload(await links.take(request.params.id, 'upload'), { stream: request.body ?? Readable.from([]), size })
      return reply.code(204).send()
    })
  })
}
