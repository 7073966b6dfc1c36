import { byId, type Call } from '@zhisuan/contract/define'
import type { FastifyInstance } from 'fastify'
import type { Actor } from '../auth/actor.ts'
import { found } from '../errors.ts'
import { authorise, permit, type Authorising } from '../http/bind.ts'
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
    within,
  }: {
    /** With `:id` of the upload. */
    readonly path: string
    /** Whoever may make this one may send. */
    readonly call: Call
    readonly bytes: Pick<Bytes, 'door'>
    /** Finds one that is the actor's, and that they may still send to where it goes. @throws Refusal notFound */
    readonly uploadOf: (actor: Actor, id: string) => Promise<UploadRow>
    /** The call that announced it, and what that was about: who may not make it any more sends no more of it. */
    readonly within: (upload: UploadRow) => { readonly call: Call; readonly id?: string }
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
        const look = async (): Promise<UploadRow> => {
          const upload = await uploadOf(found(request.actor), id)
          const { call: announcing, id: place } = within(upload)
          await permit(request, announcing, authorising, { id: place })
          return upload
        }
        await bytes.door(await look(), request, reply, async () => {
          await authorise(request, call, authorising)
          await look()
        })
      },
    })
  })
}
