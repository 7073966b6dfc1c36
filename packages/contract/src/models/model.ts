import { z } from 'zod'
import { can } from '../can.ts'
import { byId, defineCall, empty, flag, listOf, listQuery, moment } from '../define.ts'
import { exportLink } from '../exports.ts'
import { fileBytesMost, fileUpload } from '../files/file.ts'
import { admins, tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { keyword, plainLine, plainText } from '../validation.ts'

export const modelsPath = '/api/models/v1'
/** What programs are given as the address of the hub (`HF_ENDPOINT`, `hubUrl`), behind the platform’s own. */
export const hubPath = '/hub'

/** What a model does, in the words of the field (Hugging Face's pipeline tags). */
export const modelTasks = [
  'text-generation',
  'text-classification',
  'token-classification',
  'question-answering',
  'summarization',
  'translation',
  'feature-extraction',
  'sentence-similarity',
  'text-to-image',
  'image-to-text',
  'image-text-to-text',
  'image-classification',
  'object-detection',
  'image-segmentation',
  'automatic-speech-recognition',
  'text-to-speech',
  'text-to-video',
  'reinforcement-learning',
  'tabular-classification',
  'other',
] as const
export type ModelTask = (typeof modelTasks)[number]
export const modelFrameworks = [
  'pytorch',
  'transformers',
  'diffusers',
  'safetensors',
  'gguf',
  'onnx',
  'tensorflow',
  'paddlepaddle',
  'mindspore',
  'jax',
  'other',
] as const
export const modelLicences = [
  'apache-2.0',
  'mit',
  'bsd-3-clause',
  'cc-by-4.0',
  'cc-by-nc-4.0',
  'openrail',
  'llama3',
  'gpl-3.0',
  'proprietary',
  'other',
] as const
export const modelQuantisations = ['none', 'int8', 'int4', 'fp8', 'gptq', 'awq', 'gguf'] as const

/**
 * Of the newest revision. `draft`: seen by its organisation. `review`: waits for an administrator. `published`: seen by everybody. `rejected`: with a
 * reason, back to its organisation. What was accepted before stays seen by everybody meanwhile.
 */
export const modelStatuses = ['draft', 'review', 'published', 'rejected'] as const
export type ModelStatus = (typeof modelStatuses)[number]
export const modelCan = can<ModelStatus>()({
  submit: ['draft', 'rejected'],
  withdraw: ['review', 'published'],
  review: ['review'],
})

/** As people's tools take it: letters, digits, `-`, `_`, `.`; neither begins nor ends with a mark. */
export const hubName = z
  .string(fieldTexts.nameRequired)
  .trim()
  .max(64, fieldTexts.contentTooLong)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_]|[-.](?![-.]))*(?<![-.])$/, fieldTexts.hubName)
/** Of a file within a model: parts as entries are called, `/` between them. */
export const modelFilePath = z
  .string(fieldTexts.contentRequired)
  .min(1, fieldTexts.contentRequired)
  .max(512, fieldTexts.entryNameTooLong)
  .regex(plainLine, fieldTexts.controlCharacters)
  .regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^/\\]+(?:\/[^/\\]+)*$/u, fieldTexts.modelPath)
  .refine((text) => text.isWellFormed(), fieldTexts.controlCharacters)
/** Which one: 40 hexadecimal digits. */
const commitId = z.string().regex(/^[0-9a-f]{40}$/, fieldTexts.modelRevision)
/** A commit as it is told: 40 hexadecimal digits; or `main`, the newest, to others than its organisation the one that was accepted last. */
export const modelRevisionId = z.string().regex(/^(?:main|[0-9a-f]{40})$/, fieldTexts.modelRevision)

const tag = z.string().trim().min(1).max(32).regex(plainLine, fieldTexts.controlCharacters)
const about = {
  title: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(128).regex(plainLine, fieldTexts.controlCharacters),
  summary: z.string().trim().max(500).regex(plainText, fieldTexts.controlCharacters).default(''),
  task: z.enum(modelTasks).default('other'),
  framework: z.enum(modelFrameworks).default('other'),
  licence: z.enum(modelLicences).default('other'),
  quantisation: z.enum(modelQuantisations).default('none'),
  /** ISO 639-1. */
  languages: z
    .array(z.string().regex(/^[a-z]{2,3}$/, fieldTexts.languageCode))
    .max(20)
    .default([]),
  tags: z.array(tag).max(20).default([]),
  /** How many it has; null: not said. */
  parameters: z.int().min(1).max(10_000_000_000_000).nullable().default(null),
  /** That it needs to run; null: worked out of parameters and quantisation. */
  memory_bytes: z
    .int()
    .min(1)
    .max(2 ** 50)
    .nullable()
    .default(null),
  /** Whoever downloads it has to accept these terms first; null: nobody has to. */
  terms: z.string().trim().min(1, fieldTexts.contentRequired).max(20_000).regex(plainText, fieldTexts.controlCharacters).nullable().default(null),
} as const

/** Bytes a parameter takes as it is stored. */
const bytesEach: Readonly<Record<(typeof modelQuantisations)[number], number>> = { none: 2, int8: 1, int4: 0.5, fp8: 1, gptq: 0.5, awq: 0.5, gguf: 0.5 }
/** Memory that a model needs: what its card says, or its parameters and a fifth more for what it works with. Null where nothing is known. */
export const memoryOf = (model: Pick<Model, 'parameters' | 'quantisation' | 'memory_bytes'>): number | null =>
  model.memory_bytes ?? (model.parameters === null ? null : Math.ceil(model.parameters * bytesEach[model.quantisation] * 1.2))

export const model = z.object({
  id: z.uuid(),
  /** `namespace/name`: what tools call it. */
  repository: z.string(),
  namespace: z.string(),
  name: z.string(),
  title: z.string(),
  summary: z.string(),
  task: z.enum(modelTasks),
  framework: z.enum(modelFrameworks),
  licence: z.enum(modelLicences),
  quantisation: z.enum(modelQuantisations),
  languages: z.array(z.string()),
  tags: z.array(z.string()),
  parameters: z.number().nullable(),
  memory_bytes: z.number().nullable(),
  gated: z.boolean(),
  status: z.enum(modelStatuses),
  size_bytes: z.number(),
  file_count: z.int(),
  download_count: z.int(),
  /** The newest commit that one sees; null while there is none. */
  revision: z.string().nullable(),
  /** The one that was accepted last: what `main` is to everybody but its organisation; null while it is not published. */
  published_revision: z.string().nullable(),
  /** Whether what is said of it here waits to be accepted: everybody but its organisation sees what was accepted before. */
  about_unreviewed: z.boolean(),
  /** Whether one may change it. */
  mine: z.boolean(),
  published_at: moment.nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Model = z.output<typeof model>

export const modelFile = z.object({ path: z.string(), size_bytes: z.number(), sha256: z.string() })
export type ModelFile = z.output<typeof modelFile>

export const modelRevision = z.object({
  id: z.string(),
  number: z.int(),
  message: z.string(),
  created_by: z.string(),
  created_at: moment,
  file_count: z.int(),
  size_bytes: z.number(),
})
export type ModelRevision = z.output<typeof modelRevision>

const one = { params: byId } as const
/** What a review is about: the model as it was looked at. */
const looked = { revision: commitId, updated_at: moment } as const
const filters = {
  keyword,
  task: z.enum(modelTasks).optional(),
  framework: z.enum(modelFrameworks).optional(),
  licence: z.enum(modelLicences).optional(),
  quantisation: z.enum(modelQuantisations).optional(),
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(),
  tag: tag.optional(),
} as const

export const models = {
  list: defineCall({
    id: 'models.model.list',
    method: 'GET',
    path: `${modelsPath}/models`,
    summary: 'Published models; one’s organisation’s own with `mine`, those that wait for a review with `status`',
    access: 'public',
    query: listQuery(['published_at', 'download_count', 'parameters', 'updated_at'], {
      ...filters,
      mine: flag.default(false),
      status: z.enum(modelStatuses).optional(),
    }),
    response: listOf(model),
  }),
  facets: defineCall({
    id: 'models.model.facets',
    method: 'GET',
    path: `${modelsPath}/facets`,
    summary: 'How many published models there are of each task, framework, licence, quantisation and language, as far as they match',
    access: 'public',
    query: z.object(filters),
    response: z.object({
      items: z.array(z.object({ facet: z.enum(['task', 'framework', 'licence', 'quantisation', 'language']), value: z.string(), count: z.int() })),
    }),
  }),
  get: defineCall({
    ...one,
    id: 'models.model.get',
    method: 'GET',
    path: `${modelsPath}/models/{id}`,
    summary: 'One model with its card (Markdown, its README.md), its terms and whether one has accepted them',
    access: 'public',
    response: model.extend({
      card: z.string(),
      terms: z.string().nullable(),
      accepted: z.boolean(),
      /** Why it was sent back. */
      rejected_reason: z.string().nullable(),
    }),
  }),
  create: defineCall({
    id: 'models.model.create',
    method: 'POST',
    path: `${modelsPath}/models`,
    summary: 'Make a model, a draft. A namespace belongs to the organisation that first uses it',
    access: tenants,
    status: 201,
    body: z.object({
      namespace: hubName,
      name: hubName,
      /** Whose quota it counts in besides the organisation's. */ project_id: z.uuid().nullable().default(null),
      ...about,
    }),
    response: model,
  }),
  update: defineCall({
    ...one,
    id: 'models.model.update',
    method: 'PUT',
    path: `${modelsPath}/models/{id}`,
    summary: 'Change what is said of it; its name stays. Where it is published everybody sees what was accepted until this is',
    access: tenants,
    body: z.object(about),
    response: model,
  }),
  delete: defineCall({
    ...one,
    id: 'models.model.delete',
    method: 'DELETE',
    path: `${modelsPath}/models/{id}`,
    summary: 'Delete it with all its revisions, for good',
    access: tenants,
    response: empty,
  }),
  submit: defineCall({
    ...one,
    id: 'models.model.submit',
    method: 'POST',
    path: `${modelsPath}/models/{id}/submit`,
    summary: 'Ask for it to be published',
    access: tenants,
    response: model,
  }),
  withdraw: defineCall({
    ...one,
    id: 'models.model.withdraw',
    method: 'POST',
    path: `${modelsPath}/models/{id}/withdraw`,
    summary: 'Take it back with all that was accepted: it is a draft again, and seen by its organisation only',
    access: tenants,
    response: model,
  }),
  review: defineCall({
    ...one,
    id: 'models.model.review',
    method: 'POST',
    path: `${modelsPath}/models/{id}/review`,
    summary: 'Publish the revision that waits, with what is said of it, or send it back with a reason; 409 where either is another by now',
    access: admins,
    body: z.discriminatedUnion('accept', [
      z.object({ accept: z.literal(true), ...looked }),
      z.object({
        accept: z.literal(false),
        ...looked,
        reason: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(500).regex(plainText, fieldTexts.controlCharacters),
      }),
    ]),
    response: model,
  }),
  accept: defineCall({
    ...one,
    id: 'models.model.accept',
    method: 'POST',
    path: `${modelsPath}/models/{id}/terms`,
    summary: 'Accept its terms; that is recorded with name, time and what they say. 409 where they are others by now',
    access: 'all',
    body: z.object({ /** As they were read. */ terms: z.string().max(20_000).regex(plainText, fieldTexts.controlCharacters) }),
    response: empty,
  }),
} as const

/** A file on its way to a model: `done` once it has come and waits for a commit. */
const stagedFile = fileUpload
  .pick({ id: true, status: true, error: true, offset_bytes: true, size_bytes: true, upload_path: true, expires_at: true })
  .extend({ /** Where it is to lie, where that was said. */ path: z.string().nullable() })
export type StagedFile = z.output<typeof stagedFile>

export const modelFiles = {
  list: defineCall({
    ...one,
    id: 'models.file.list',
    method: 'GET',
    path: `${modelsPath}/models/{id}/files`,
    summary: 'Files of a revision, by path',
    access: 'public',
    query: z.object({ revision: modelRevisionId.default('main') }),
    response: z.object({ revision: z.string().nullable(), items: z.array(modelFile) }),
  }),
  upload: defineCall({
    ...one,
    id: 'models.file.upload',
    method: 'POST',
    path: `${modelsPath}/models/{id}/uploads`,
    summary: 'Announce a file: its bytes are sent by tus to the address in the answer; a commit then says where it lies',
    access: tenants,
    status: 201,
    body: z.object({
      size_bytes: z.int().min(0).max(fileBytesMost),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, fieldTexts.sha256)
        .optional(),
      /** Where it is to lie: for people, who find it again by that. */
      path: modelFilePath.optional(),
    }),
    response: stagedFile,
  }),
  unfinished: defineCall({
    ...one,
    id: 'models.file.unfinished',
    method: 'GET',
    path: `${modelsPath}/models/{id}/uploads`,
    summary: 'One’s own files on their way to a model that no commit has taken: those that go on, that failed since yesterday, and that wait',
    access: tenants,
    response: z.object({ items: z.array(stagedFile) }),
  }),
  discard: defineCall({
    params: byId.extend({ upload_id: z.uuid() }),
    id: 'models.file.discard',
    method: 'DELETE',
    path: `${modelsPath}/models/{id}/uploads/{upload_id}`,
    summary: 'Give one of them up: what came of it is deleted, and counts no more',
    access: tenants,
    response: empty,
  }),
  staged: defineCall({
    params: byId.extend({ upload_id: z.uuid() }),
    id: 'models.file.staged',
    method: 'GET',
    path: `${modelsPath}/models/{id}/uploads/{upload_id}`,
    summary: 'How far an upload is',
    access: tenants,
    response: stagedFile,
  }),
  download: defineCall({
    ...one,
    id: 'models.file.download',
    method: 'POST',
    path: `${modelsPath}/models/{id}/download`,
    summary: 'A link to one file of a revision; without an account where the model is published and asks nobody to accept terms',
    access: 'public',
    audit: false,
    perMinute: 240,
    body: z.object({ path: modelFilePath, revision: modelRevisionId.default('main') }),
    response: exportLink,
  }),
} as const

export const modelRevisions = {
  list: defineCall({
    ...one,
    id: 'models.revision.list',
    method: 'GET',
    path: `${modelsPath}/models/{id}/revisions`,
    summary: 'Its commits, the newest first; to others than its organisation those that were accepted',
    access: 'public',
    query: listQuery(['number'], {}),
    response: listOf(modelRevision),
  }),
  create: defineCall({
    ...one,
    id: 'models.revision.create',
    method: 'POST',
    path: `${modelsPath}/models/{id}/revisions`,
    summary: 'A commit: puts files that have come where they belong and takes others away, all at once. 409 where somebody was faster',
    access: tenants,
    status: 201,
    body: z.object({
      message: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(200).regex(plainLine, fieldTexts.controlCharacters),
      /** The newest one that its author knew; left out: whatever it is. */
      parent: commitId.optional(),
      add: z
        .array(z.object({ path: modelFilePath, upload_id: z.uuid() }))
        .max(1_000)
        // Of two only one would be there, and the bytes of the other would lie about uncounted.
        .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, fieldTexts.pathTwice)
        .default([]),
      remove: z.array(modelFilePath).max(1_000).default([]),
    }),
    response: modelRevision,
  }),
} as const
