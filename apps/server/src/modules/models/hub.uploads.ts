import { hubName, hubPath, modelFilePath, modelFiles, modelLicences, modelRevisions, models as modelCalls } from '@zhisuan/contract/models/model'
import type { Call } from '@zhisuan/contract/define'
import { fileBytesMost } from '@zhisuan/contract/files/file'
import { plainLine } from '@zhisuan/contract/validation'
import { fieldTexts } from '@zhisuan/contract/texts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { setImmediate as others } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import type { Actor } from '../../platform/auth/actor.ts'
import type { Bytes } from '../../platform/bytes/bytes.ts'
import { found, Refusal } from '../../platform/errors.ts'
import { authorise, identify, permit, unreadable, type Authorising } from '../../platform/http/bind.ts'
import type { Changing } from '../../platform/http/changing.ts'
import { problemOf } from '../../platform/http/problems.ts'
import type { Platform } from '../../platform/platform.ts'
import { readToken, repositoryOf, type Repository } from './hub.ts'
import { modelOf, type ContentChange, type ModelService } from './models.service.ts'
import type { ModelRow } from './models.store.ts'

/** What is smaller comes with the commit itself; all else as an object of its own before. A revision of only such files fits one body. */
const inlineBytes = 4 * 1024
const commitBytes = 16 * 1024 * 1024
const batchBytes = 1024 * 1024
/** A commit may put every file of a model in another place. */
const linesMost = 5_000
/** A small file in base64 or escaped, with its path. */
const lineCharacters = 64 * 1024
/** What reading a line and a batch of Git LFS costs follows from how many values are in it. */
const lineMost = { values: 32, keys: 32 }
const batchMost = { values: 10_000, keys: 100 }
/** Requests of one address in a minute, and objects: each is a request of its own. */
const often = { rateLimit: { max: 600, timeWindow: 60_000 } }
const objectsOften = { rateLimit: { max: 6_000, timeWindow: 60_000 } }
/** Objects of one request; `@huggingface/hub` sends 100, `huggingface_hub` 256. */
const objectsMost = 1_000
/** So long bytes may begin to come that were announced. */
const linkMs = 12 * 3_600_000
const sealPlace = 'models.hub.upload'
/** `session`: of whoever asked for it, or the access key: what ends with that. */
const ticket = z.object({ upload: z.string(), session: z.string(), expires: z.number() })

const digest = z.string().regex(/^[0-9a-f]{64}$/, fieldTexts.sha256)
const size = z.int().min(0).max(fileBytesMost)
/** Too many are refused before each of them is looked at. */
const few = <Schema extends z.ZodType>(schema: Schema) => z.array(z.unknown()).max(objectsMost).pipe(z.array(schema))
const preupload = z.object({ files: few(z.object({ path: modelFilePath, size })) })
const batch = z.object({ operation: z.string().default('upload'), objects: few(z.object({ oid: digest, size })) })
const creation = z.object({ name: z.string(), organization: hubName, type: z.literal('model').nullish(), license: z.string().nullish() })
const operation = z.discriminatedUnion('key', [
  z.object({
    key: z.literal('header'),
    value: z.object({
      summary: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(200).regex(plainLine, fieldTexts.controlCharacters),
      parentCommit: z
        .string()
        .regex(/^[0-9a-f]{40}$/, fieldTexts.modelRevision)
        .nullish(),
    }),
  }),
  z.object({ key: z.literal('file'), value: z.object({ path: modelFilePath, content: z.string(), encoding: z.enum(['utf-8', 'base64']).default('utf-8') }) }),
  z.object({ key: z.literal('lfsFile'), value: z.object({ path: modelFilePath, oid: digest, size }) }),
  z.object({ key: z.enum(['deletedFile', 'deletedFolder']), value: z.object({ path: z.string() }) }),
])

/** Whom a session is of, or an access key, by now; null where it has ended. */
export type ActorOf = (sessionId: string) => Promise<Actor | null>

interface Parts {
  readonly platform: Pick<Platform, 'db' | 'config' | 'secrets' | 'now'>
  readonly models: ModelService
  readonly bytes: Bytes
  readonly changing: Changing
  readonly actorOf: ActorOf
}

/**
 * The part of the hub's door by which tools upload: what is to come as an object (preupload), where it comes in (the batch
 * of Git LFS, whose links need no token), and the commit in lines that puts all of it where it belongs.
 */
export async function serveHubUploads(http: FastifyInstance, authorising: Authorising, { platform, models, bytes, changing, actorOf }: Parts): Promise<void> {
  const { db, secrets, now } = platform
  const by = (call: Call) => async (request: FastifyRequest) => {
    readToken(request)
    await authorise(request, call, authorising)
  }
  /** By its name the model is found first: policies are about one by its id. */
  const byModel = (call: Call) => async (request: FastifyRequest) => {
    readToken(request)
    await identify(request, call, authorising)
    // The routes below have these parameters.
    const id = request.actor === null ? undefined : (await repositoryOf(db, request.actor, request.params as Repository)).id
    await permit(request, call, authorising, { id })
  }
  const baseOf = (request: FastifyRequest): string => new URL(hubPath, platform.config.PUBLIC_URL ?? `${request.protocol}://${request.host}`).href
  /** One's own: another's that is published is there, and not theirs to change. */
  const ownOf = async (request: FastifyRequest): Promise<{ actor: Actor; model: ModelRow }> => {
    const actor = found(request.actor)
    // The routes below have these parameters.
    const model = await repositoryOf(db, actor, request.params as Repository)
    if (!model.mine) throw new Refusal('noPermission')
    return { actor, model }
  }
  const refuseBranches = (request: FastifyRequest): void => {
    const { revision } = request.params as { revision?: string }
    const { create_pr: request_ } = request.query as { create_pr?: string }
    if ((revision ?? 'main') !== 'main' || (request_ !== undefined && request_ !== '0')) throw new Refusal('hubBranchUnknown')
  }
  const linkOf = (request: FastifyRequest, { session_id: session }: Actor, upload: string): string => {
    const sealed = secrets.seal(JSON.stringify({ upload, session, expires: now().getTime() + linkMs } satisfies z.input<typeof ticket>), sealPlace)
    return `${baseOf(request)}/objects/${sealed.replaceAll('+', '-').replaceAll('/', '_')}`
  }
  const uploadOf = (link: string): Pick<z.output<typeof ticket>, 'upload' | 'session'> => {
    try {
      const { expires, ...given } = ticket.parse(JSON.parse(secrets.open(link.replaceAll('-', '+').replaceAll('_', '/'), sealPlace)))
      if (expires > now().getTime()) return given
    } catch {
      // As one that has expired.
    }
    throw new Refusal('hubLinkInvalid')
  }

  await http.register(async (app) => {
    // Git LFS has a type of JSON of its own.
    const json = app.getDefaultJsonParser('error', 'error')
    app.addContentTypeParser<string>('application/vnd.git-lfs+json', { parseAs: 'string', bodyLimit: batchBytes }, (request, body, done) => {
      const refusal = unreadable(body, batchMost)
      if (refusal === null) void json(request, body, done)
      else done(new Refusal(refusal))
    })
    app.addContentTypeParser('application/x-ndjson', { parseAs: 'string', bodyLimit: commitBytes }, (_request, body, done) => done(null, body))

    app.post(`${hubPath}/api/repos/create`, { onRequest: by(modelCalls.create), config: { call: modelCalls.create, ...often } }, async (request, reply) => {
      const { name, organization, license } = read(creation, request.body)
      const licence = modelLicences.find((one) => one === license)
      const body = read(modelCalls.create.body, { namespace: organization, name, title: name, ...(licence !== undefined && { licence }) })
      const made = await changing(request, reply, modelCalls.create, { params: {}, query: {}, body }, () => models.create(found(request.actor), body))
      const { id, repository } = modelCalls.create.response.parse(made)
      return { id, name: repository, url: `${baseOf(request)}/${repository}` }
    })
    // What a card says at its head is its author's own: nothing of it is ours to refuse, and it names no model that policies could be about.
    app.post(`${hubPath}/api/validate-yaml`, { onRequest: by({ ...modelFiles.upload, always: true }), config: often }, async () => ({
      errors: [],
      warnings: [],
    }))

    app.post(
      `${hubPath}/api/models/:namespace/:name/preupload/:revision`,
      { onRequest: byModel(modelFiles.upload), config: often, bodyLimit: batchBytes },
      async (request) => {
        refuseBranches(request)
        await ownOf(request)
        const { files } = read(preupload, request.body)
        return { files: files.map(({ path, size: of }) => ({ path, uploadMode: of > inlineBytes ? 'lfs' : 'regular', shouldIgnore: false, oid: null })) }
      },
    )

    app.post(
      `${hubPath}/:namespace/:name.git/info/lfs/objects/batch`,
      { onRequest: byModel(modelFiles.upload), config: { call: modelFiles.upload, ...often } },
      async (request, reply) => {
        const { actor, model } = await ownOf(request)
        const { operation: wanted, objects } = read(batch, request.body)
        if (wanted !== 'upload') throw new Refusal('requestInvalid')
        const contents = objects.map(({ oid: sha256, size: size_bytes }) => ({ sha256, size_bytes }))
        named(request, model)
        let answers: Awaited<ReturnType<ModelService['announceAll']>> = []
        await changing(request, reply, modelFiles.upload, { params: { id: model.id }, query: {}, body: { objects } }, async () => {
          answers = await models.announceAll(actor, model.id, contents, request.ip)
        })
        return reply.type('application/vnd.git-lfs+json').send({
          transfer: 'basic',
          hash_algo: 'sha256',
          objects: answers.map(({ sha256: oid, size_bytes, upload_id, refused }) => ({
            oid,
            size: size_bytes,
            ...(refused !== null && { error: { code: 422, message: problemOf(refused, request.id).message } }),
            ...(upload_id !== null && { actions: { upload: { href: linkOf(request, actor, upload_id), header: {}, expires_in: linkMs / 1000 } } }),
          })),
        })
      },
    )

    app.post(
      `${hubPath}/api/models/:namespace/:name/commit/:revision`,
      { onRequest: byModel(modelRevisions.create), config: { call: modelRevisions.create, ...often }, bodyLimit: commitBytes },
      async (request, reply) => {
        refuseBranches(request)
        const { actor, model } = await ownOf(request)
        const change = await readCommit(request.body)
        named(request, model)
        let commitOid = ''
        await changing(request, reply, modelRevisions.create, { params: { id: model.id }, query: {}, body: { message: change.message } }, async () => {
          commitOid = (await models.commitContents(actor, model.id, change, request.ip)).id
        })
        const repository = `${model.namespace}/${model.name}`
        return { success: true, commitOid, commitUrl: `${baseOf(request)}/${repository}/commit/${commitOid}`, hookOutput: '' }
      },
    )
  })

  await http.register(async (app) => {
    // Bytes flow to the disk as they come, whatever type they are said to be of.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    app.put<{ Params: { link: string } }>(
      `${hubPath}/objects/:link`,
      { bodyLimit: fileBytesMost, config: objectsOften },
      async (request: FastifyRequest<{ Params: { link: string } }>, reply: FastifyReply) => {
        const { upload, session } = uploadOf(request.params.link)
        // As they may by now who were given the link.
        const may = async (): Promise<void> => {
          request.actor = await actorOf(session)
          if (request.actor === null) throw new Refusal('hubLinkInvalid')
          const model = modelOf(await models.sent(request.actor, upload))
          await permit(request, modelFiles.upload, authorising, { id: model })
        }
        await may()
        await bytes.put(upload, request.body as Readable, may)
        return reply.code(200).send()
      },
    )
  })
}

/** What an entry of the audit log is about is said by the path, where calls have their ids. */
function named(request: FastifyRequest, { id }: ModelRow): void {
  Object.assign(request.params as object, { id })
}

/** @throws Refusal fieldsInvalid */
function read<Schema extends z.ZodType>(schema: Schema, value: unknown, at?: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const before = at === undefined ? [] : [at]
  throw new Refusal('fieldsInvalid', { fields: parsed.error.issues.map(({ path, message }) => ({ field: [...before, ...path].join('.'), message })) })
}

/** Its lines, one after another: too many, or one too long, end it before anything is made of them. @throws Refusal bodyTooMany */
function* linesOf(body: string): Generator<string> {
  let count = 0
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\n', at)
    const next = end === -1 ? body.length : end
    if (++count > linesMost || next - at > lineCharacters) throw new Refusal('bodyTooMany')
    yield body.slice(at, next)
    at = next + 1
  }
}

/** Lines of JSON; others go on between them. @throws Refusal bodyTooMany, bodyMalformed, fieldsInvalid */
async function readCommit(body: unknown): Promise<ContentChange> {
  let header: { summary: string; parentCommit?: string | null | undefined } | null = null
  const add: ContentChange['add'][number][] = []
  const remove: string[] = []
  const removeFolders: string[] = []
  const paths = new Set<string>()
  let [index, characters] = [0, 0]
  for (const line of linesOf(typeof body === 'string' ? body : '')) {
    characters += line.length
    if (index % 100 === 99 || characters > lineCharacters) {
      characters = 0
      await others()
    }
    if (line.trim() === '') continue
    const field = `lines.${index++}`
    const { key, value } = read(operation, parsed(line), field)
    if (key === 'file' || key === 'lfsFile') {
      if (paths.has(value.path)) throw new Refusal('fieldsInvalid', { fields: [{ field: `${field}.value.path`, message: fieldTexts.pathTwice }] })
      paths.add(value.path)
    }
    if (key === 'header') header = value
    else if (key === 'file') add.push({ path: value.path, content: Buffer.from(value.content, value.encoding) })
    else if (key === 'lfsFile') add.push({ path: value.path, sha256: value.oid, size_bytes: value.size })
    else if (key === 'deletedFile') remove.push(value.path)
    else removeFolders.push(value.path.replace(/\/+$/, ''))
  }
  if (header === null) throw new Refusal('fieldsInvalid', { fields: [{ field: 'header', message: fieldTexts.contentRequired }] })
  return { message: header.summary, ...(header.parentCommit != null && { parent: header.parentCommit }), add, remove, removeFolders }
}
function parsed(line: string): unknown {
  const refusal = unreadable(line, lineMost)
  if (refusal !== null) throw new Refusal(refusal)
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new Refusal('bodyMalformed', { cause })
  }
}
