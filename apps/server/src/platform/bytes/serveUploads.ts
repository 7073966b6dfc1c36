import { byId, type Call } from '@zhisuan/contract/define'
import type { FastifyInstance } from 'fastify'
import type { Actor } from '../auth/actor.ts'
import { found } from '../errors.ts'
import { authorise, type Authorising } from '../http/bind.ts'
import type { Bytes } from './bytes.ts'
import type { UploadRow } from './bytes.store.ts'

/** Where bytes of announced files come in, by tus 1.0.0. */
export async function serveUploads(
  http: FastifyInstance,
  authorising: Authorising,
  {
    path,
    call,
    bytes,
    uploadOf,
  }: {
    /** With `:id` of the upload. */
    readonly path: string
    /** Whoever may make this one may send. */
    readonly call: Call
    readonly bytes: Pick<Bytes, 'door'>
    /** Finds one that is the actor's. @throws Refusal notFound */
    readonly uploadOf: (actor: Actor, id: string) => Promise<UploadRow>
  },
): Promise<void> {
  await http.register(async (app) => {
    // The bytes flow to the file as they come.
    app.addContentTypeParser('application/offset+octet-stream', (_request, _payload, done) => done(null))
    app.route({
      method: ['HEAD', 'PATCH'],
      url: path,
      onRequest: (request) => authorise(request, call, authorising),
      handler: async (request, reply) => {
        const { id } = found(byId.safeParse(request.params).data)
        await bytes.door(await uploadOf(found(request.actor), id), request, reply)
      },
    })
  })
}
