import type { Call } from '@zhisuan/contract/define'
import { hubPath, modelFiles, models as modelCalls } from '@zhisuan/contract/models/model'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { iso, type Db } from '../../platform/db/database.ts'
import { rangeOf, sendBytes, type Downloads } from '../../platform/downloads.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { identify, type Authorising } from '../../platform/http/bind.ts'
import type { ModelService, View } from './models.service.ts'
import * as store from './models.store.ts'
import type { ModelRow, RevisionRow, SeenModel } from './models.store.ts'

export interface Repository {
  readonly namespace: string
  readonly name: string
}
interface At extends Repository {
  readonly revision: string
  readonly '*': string
}

const pathsAsked = z.object({ paths: z.array(z.string().max(1_024)).max(1_000) })

/** As tools know a file: all are kept as Git LFS keeps large ones. */
const shapeFile = ({ path, size_bytes, sha256 }: { readonly path: string; readonly size_bytes: number; readonly sha256: string }) => ({
  type: 'file',
  path,
  size: size_bytes,
  oid: sha256.slice(0, 40),
  lfs: { oid: sha256, size: size_bytes, pointerSize: 134 },
})

/** A token as tools give it is an access key with `hf_` in front. */
export function readToken(request: FastifyRequest): void {
  const { authorization } = request.headers
  if (authorization !== undefined) request.headers.authorization = authorization.replace(/^(bearer\s+)hf_/i, '$1')
}
export const repositoryOf = async (db: Db, actor: Actor | null, { namespace, name }: Repository): Promise<SeenModel> =>
  found(await store.seenByName(db, actor, namespace, name))

/**
 * The door that people's tools know: what `@huggingface/hub` and `huggingface_hub` ask of a hub, so far as they list, look
 * and download (huggingface.co/docs/hub/api, read on 2026-11-28). An access key of the platform is a token there; tools
 * that want their tokens to begin with `hf_` are given it with that in front.
 */
export function serveHub(
  http: FastifyInstance,
  authorising: Authorising,
  { db, downloads, models, bytes }: { db: Db; downloads: Pick<Downloads, 'hold'>; models: ModelService; bytes: Bytes },
): void {
  const route = {
    /** Who asks; nobody is somebody too. Whether they may is known once it is known which model. */
    onRequest: async (request: FastifyRequest): Promise<void> => {
      readToken(request)
      await identify(request, modelCalls.get, authorising)
    },
    /** Of one address: a tool asks twice for each file. */
    config: { rateLimit: { max: 6_000, timeWindow: 60_000 } },
  }
  /** @param call what it would be by the API */
  const at = async (request: FastifyRequest, call: Call): Promise<{ model: ModelRow; view: View; revision: RevisionRow | null; path: string }> => {
    // The routes below have these parameters.
    const params = request.params as Partial<At> & Repository
    const view = await models.viewOf(request, call, await repositoryOf(db, request.actor, params))
    return { model: view.row, view, revision: await models.revisionOf(view, params.revision ?? 'main'), path: params['*'] ?? '' }
  }
  const info = async (request: FastifyRequest) => {
    const { model, revision } = await at(request, modelCalls.get)
    const files = revision === null ? [] : await store.filesOf(db, revision.id)
    return {
      _id: model.id,
      id: `${model.namespace}/${model.name}`,
      modelId: `${model.namespace}/${model.name}`,
      author: model.namespace,
      sha: revision?.id ?? null,
      lastModified: iso(model.updated_at),
      createdAt: iso(model.created_at),
      private: model.published_revision_id === null,
      gated: model.terms === null ? false : 'auto',
      disabled: false,
      downloads: model.download_count,
      likes: 0,
      pipeline_tag: model.task,
      library_name: model.framework,
      tags: [...model.tags, ...model.languages, `license:${model.licence}`],
      siblings: files.map(({ path }) => ({ rfilename: path })),
    }
  }
  http.get(`${hubPath}/api/models/:namespace/:name`, route, info)
  http.get(`${hubPath}/api/models/:namespace/:name/revision/:revision`, route, info)

  const tree = async (request: FastifyRequest) => {
    const { revision, path } = await at(request, modelFiles.list)
    const { recursive } = request.query as { recursive?: string }
    const within = path.replace(/\/+$/, '')
    const start = within === '' ? '' : `${within}/`
    const files = revision === null ? [] : (await store.filesOf(db, revision.id)).filter((file) => file.path.startsWith(start))
    if (within !== '' && files.length === 0) throw new Refusal('notFound')
    const deep = recursive === 'true' || recursive === '1'
    const folders = new Set<string>()
    for (const file of files) {
      const rest = file.path.slice(start.length)
      for (let slash = rest.indexOf('/'); slash !== -1; slash = deep ? rest.indexOf('/', slash + 1) : -1) folders.add(start + rest.slice(0, slash))
    }
    return [
      ...[...folders].map((folder) => ({ type: 'directory', path: folder, size: 0, oid: revision?.id })),
      ...files.filter((file) => deep || !file.path.slice(start.length).includes('/')).map(shapeFile),
    ]
  }
  http.get(`${hubPath}/api/models/:namespace/:name/tree/:revision`, route, tree)
  http.get(`${hubPath}/api/models/:namespace/:name/tree/:revision/*`, route, tree)
  // What tools ask before they put a file into their cache; of what is not there nothing is said.
  http.post(`${hubPath}/api/models/:namespace/:name/paths-info/:revision`, route, async (request) => {
    const parsed = pathsAsked.safeParse(request.body)
    if (!parsed.success) throw new Refusal('requestInvalid', { field: 'paths' })
    const { revision } = await at(request, modelFiles.list)
    if (revision === null) return []
    const wanted = new Set(parsed.data.paths)
    const lastCommit = { id: revision.id, title: revision.message, date: iso(revision.created_at) }
    return (await store.filesOf(db, revision.id)).filter(({ path }) => wanted.has(path)).map((file) => ({ ...shapeFile(file), lastCommit }))
  })

  http.route({
    method: ['GET', 'HEAD'],
    url: `${hubPath}/:namespace/:name/resolve/:revision/*`,
    ...route,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { model, view, revision, path } = await at(request, modelFiles.download)
      // By these headers tools tell what is missing; an answer without a refusal has none.
      reply.header('x-error-code', 'GatedRepo')
      await models.refuseGated(request.actor, view)
      reply.header('x-error-code', 'EntryNotFound')
      const file = found(await store.fileAt(db, found(revision).id, path))
      reply.removeHeader('x-error-code')
      const tag = `"${file.sha256}"`
      reply
        .header('etag', tag)
        .header('x-linked-etag', tag)
        .header('x-linked-size', file.size_bytes)
        .header('x-repo-commit', found(revision).id)
        .header('accept-ranges', 'bytes')
        .header('cache-control', 'private, no-cache')
        // Nothing that somebody put here runs in the console's origin.
        .header('content-security-policy', "sandbox; default-src 'none'")
        .header('content-disposition', 'attachment')
        .type('application/octet-stream')
      if (request.headers['if-none-match'] === tag) return reply.code(304).send()
      // Whoever goes on with what became another meanwhile is sent it whole.
      const { range: wanted, 'if-range': unchanged } = request.headers
      const range = wanted === undefined || (unchanged !== undefined && unchanged !== tag) ? null : rangeOf(wanted, file.size_bytes)
      if (range === 'outside') return reply.code(416).header('content-range', `bytes */${file.size_bytes}`).send()
      const length = range === null ? file.size_bytes : range.end - range.start + 1
      reply.header('content-length', length)
      if (range !== null) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.size_bytes}`)
      if (request.method === 'HEAD') return reply.send()
      downloads.hold(request.actor, request, reply)
      // Once for each that begins at its beginning: tools fetch a large one in pieces, and its first byte to learn its size.
      if (range === null || (range.start === 0 && range.end > 0)) await store.countDownload(db, model.id)
      const stream = await bytes.read(file.sha256, range ?? undefined)
      // That is how tools learn the size.
      if (range !== null && range.end === 0 && file.size_bytes > 1) return sendBytes(reply, stream)
      return sendBytes(reply, await models.follow(stream, { model, by: request.actor, ip: request.ip, file, range: range ?? undefined }))
    },
  })
}
