import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { EVENTS, Server } from '@tus/server'
import { FileStore } from '@tus/file-store'
import { errors, type ErrorName } from '@zhisuan/contract/errors'
import { imageCan, imageLibrary } from '@zhisuan/contract/nextstack/image'
import type { FastifyInstance } from 'fastify'
import { platformScope, scopeOf } from '../../../platform/auth/actor.ts'
import type { Db } from '../../../platform/db/database.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { authorise, type Authorising } from '../../../platform/http/bind.ts'
import { problemOf, toRefusal } from '../../../platform/http/problems.ts'
import type { Operations } from '../../../platform/operations.ts'
import type { ImageFiles } from './image.files.ts'
import type { ImageOperations } from './image.operations.ts'
import { uploadPath } from './image.service.ts'
import * as store from './image.store.ts'

/** While bytes come, how often people are told how many. */
const tellEveryMs = 1_000

/**
 * Files of announced images, by tus 1.0.0. How many bytes are here is what the file says, so an
 * upload goes on where it was whatever broke off: the connection, the page, the server.
 */
export function createImageUploads(parts: { db: Db; operations: Operations; upload: ImageOperations['upload']; files: ImageFiles }) {
  const { db, operations, files } = parts
  const open = new Map<ServerResponse, string>()

  /** All bytes are here: begins to import them, once. */
  const whole = (id: string): Promise<void> =>
    db.transaction().execute(async (tx) => {
      const image = await store.lockImage(tx, platformScope, id)
      if (image?.status !== 'uploading' || image.size_bytes === null) return
      await store.updateImage(tx, id, { status: 'importing', received_bytes: image.size_bytes })
      const actor = image.created_by === null ? null : { user_id: image.created_by, name: image.created_by_name }
      await operations.begin(tx, parts.upload, { resource_id: id, bp_id: image.bp_id, actor, input: {} })
    })
  const imageOf = (name: string): string => name.split('/')[0] ?? ''

  // The store makes it too where it is not there.
  files.makeRoot()
  const tus = new Server({
    path: '/',
    allowedOrigins: [],
    datastore: new FileStore({
      directory: files.root,
      // The row is what is known of an upload: how long it is to be, and whether it is one.
      configstore: {
        async get(name) {
          const image = await store.getImage(db, platformScope, imageOf(name))
          return image?.status === 'uploading' && image.size_bytes !== null
            ? // Of tus's own class only its methods are missing, which nothing asks for here.
              ({ id: name, size: image.size_bytes, offset: 0, creation_date: image.created_at.toISOString() } as Awaited<
                ReturnType<NonNullable<FileStore['configstore']>['get']>
              >)
            : undefined
        },
        set: async () => undefined,
        delete: async () => undefined,
      },
    }),
    getFileIdFromRequest: (request) => files.nameOf(new URL(request.url).pathname.split('/').at(-2) ?? ''),
    // What tus says by itself is English and no answer of ours.
    onResponseError: async (request, error) => {
      const refusal = 'status_code' in error ? new Refusal(refusalOf(error.status_code)) : toRefusal(error)
      return { status_code: errors[refusal.refusal].status, body: JSON.stringify(problemOf(refusal, request.headers.get('x-request-id') ?? '')) }
    },
    postReceiveInterval: tellEveryMs,
    onUploadFinish: async (_, { id }) => {
      await whole(imageOf(id))
      return {}
    },
  })
  tus.on(EVENTS.POST_RECEIVE, (_, { id, offset }) => {
    store.updateImageIf(db, imageOf(id), 'uploading', { received_bytes: offset }).catch(() => undefined)
  })

  const handle = async (id: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    open.set(response, id)
    try {
      await tus.handle(request, response)
    } finally {
      open.delete(response)
      await store.updateImageIf(db, id, 'uploading', { received_bytes: await files.sizeOf(id) }).catch(() => undefined)
    }
  }

  return {
    /** Whoever sends bytes for it is cut off. */
    end(id: string): void {
      for (const [response, of] of open) if (of === id) response.destroy()
    },
    /** A stop does not wait for uploads: they go on where they were. */
    drain(): void {
      for (const response of open.keys()) response.destroy()
    },
    async serve(http: FastifyInstance, authorising: Authorising): Promise<void> {
      await http.register(async (app) => {
        // The bytes flow to the file as they come.
        app.addContentTypeParser('application/offset+octet-stream', (_request, _payload, done) => done(null))
        app.route<{ Params: { id: string } }>({
          method: ['HEAD', 'PATCH'],
          url: uploadPath(':id'),
          onRequest: (request) => authorise(request, imageLibrary.upload, authorising),
          handler: async (request, reply) => {
            const actor = found(request.actor)
            const { id } = request.params
            if (!isId(id)) throw new Refusal('notFound')
            const image = found(await store.getImage(db, scopeOf(actor), id))
            if (!image.mine) throw new Refusal('noPermission')
            refuseUnless(imageCan.upload, image)
            await files.make(id)
            // Its last byte was the last thing that a killed server did.
            const left = (image.size_bytes ?? 0) - (await files.sizeOf(id))
            if (left === 0) await whole(id)
            else if (request.method === 'PATCH' && (await files.room()) < left) throw new Refusal('filesExhausted')
            if (request.method === 'PATCH') refuseMisplaced(request.headers, image.size_bytes ?? 0, left)
            if (request.headers['tus-resumable'] !== '1.0.0') throw new Refusal('uploadHeadersInvalid', { values: { header: 'Tus-Resumable' } })
            reply.hijack()
            for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
            await handle(id, request.raw, reply.raw).catch((error: unknown) => {
              request.log.warn({ err: error, image: id }, 'an upload broke off')
              reply.raw.destroy()
            })
          },
        })
      })
    },
  }
}

const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Whoever goes on where the file is not, or sends more than was announced. @throws Refusal 90029, 90030, 90003 */
function refuseMisplaced(headers: IncomingHttpHeaders, size: number, left: number): void {
  const offset = headers['upload-offset']
  if (typeof offset !== 'string' || !/^\d{1,15}$/.test(offset)) throw new Refusal('uploadHeadersInvalid', { values: { header: 'Upload-Offset' } })
  if (Number(offset) !== size - left) throw new Refusal('uploadOffsetMismatch', { values: { bytes: size - left } })
  const length = headers['upload-length']
  if (length !== undefined && length !== String(size)) throw new Refusal('uploadHeadersInvalid', { values: { header: 'Upload-Length' } })
  if (Number(headers['content-length'] ?? 0) > left) throw new Refusal('bodyTooLarge')
}

/** What tus means by a status. */
function refusalOf(status: number): ErrorName {
  if (status === 404 || status === 410) return 'notFound'
  if (status === 413) return 'bodyTooLarge'
  return status < 500 ? 'requestInvalid' : 'unknown'
}
