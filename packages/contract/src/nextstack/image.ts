import { z } from 'zod'
import { can } from '../can.ts'
import { actsOn, byId, defineCall, listOf, listQuery, moment } from '../define.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, keyword, name, plainLine } from '../validation.ts'
import { onEngine, sizeBetween, sizeBytes } from '../resource.ts'
import { vmTypes } from './vm.ts'

/** `uploading`: bytes come from a client (tus). `fetching`: from a URL. `importing`: into the engine. */
export const imageStatuses = ['uploading', 'fetching', 'publishing', 'importing', 'active', 'deleting', 'error', 'lost'] as const
export type ImageStatus = (typeof imageStatuses)[number]
export const imageTransitional: readonly ImageStatus[] = ['uploading', 'fetching', 'publishing', 'importing', 'deleting']

export const imageCan = can<ImageStatus>()({
  createVm: ['active'],
  update: ['uploading', 'fetching', 'publishing', 'importing', 'active', 'error', 'lost'],
  share: ['active'],
  download: ['active'],
  upload: ['uploading'],
  delete: ['uploading', 'fetching', 'publishing', 'active', 'error', 'lost'],
})

/** `public`: everybody's. `private`: its organisation's, and those that it is shared with. */
export const imageVisibilities = ['public', 'private'] as const
/** `engine`: somebody put it there without us; administrators' own, public. */
export const imageSources = ['upload', 'url', 'vm', 'engine'] as const

export const image = z.object({
  ...onEngine,
  status: z.enum(imageStatuses),
  visibility: z.enum(imageVisibilities),
  source: z.enum(imageSources),
  /** SHA-256 of the image's files, as the engine names it; null until it is there. */
  fingerprint: z.string().nullable(),
  type: z.enum(vmTypes),
  os: z.string().nullable(),
  release: z.string().nullable(),
  architecture: z.string().nullable(),
  cloud_init: z.boolean(),
  /** Of the file; null until known. */
  size_bytes: z.int().nullable(),
  /** Bytes that came so far, while uploading or fetching. */
  received_bytes: z.int(),
  /** Smallest flavor that may be used with it. */
  min_cpu_cores: z.int(),
  min_memory_bytes: z.int(),
  min_disk_bytes: z.int(),
  /** Whether it is the asker's own to change. */
  mine: z.boolean(),
  /** Organisations that may use it, by the names that it was shared by. Emptied for those who do not own it. */
  shared_with: z.array(z.object({ name: z.string() })),
  vm_count: z.int(),
})
export type Image = z.output<typeof image>

const word = z.string().trim().max(64).regex(plainLine, fieldTexts.controlCharacters)
const minimum = {
  min_cpu_cores: z.int().min(0).max(512).default(0),
  min_memory_bytes: sizeBetween(0).default(0),
  min_disk_bytes: sizeBetween(0).default(0),
} as const
const about = {
  name,
  description: description.default(''),
  os: word.nullable().default(null),
  release: word.nullable().default(null),
  cloud_init: z.boolean().default(false),
  ...minimum,
} as const
const fresh = {
  cloud_id: z.uuid(),
  ...about,
  type: z.enum(vmTypes).default('container'),
  /** Public only by administrators (3000). */
  visibility: z.enum(imageVisibilities).default('private'),
} as const
/** Hex SHA-256; where given, other bytes are refused (94163). */
const sha256 = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[0-9a-f]{64}$/, fieldTexts.sha256)
  .optional()

const base = '/api/nextstack/v1/image-library'

/** Paths begin with `image-library`: `images` answers what instances can be made from. */
export const imageLibrary = {
  list: defineCall({
    id: 'nextstack.image.browse',
    method: 'GET',
    path: base,
    summary: 'Images that the user owns or may use',
    access: tenants,
    query: listQuery(['name', 'status', 'size_bytes', 'created_at'], {
      cloud_id: z.uuid().optional(),
      visibility: z.enum(imageVisibilities).optional(),
      status: z.enum(imageStatuses).optional(),
      type: z.enum(vmTypes).optional(),
      keyword,
    }),
    response: listOf(image),
  }),
  get: defineCall({ id: 'nextstack.image.get', method: 'GET', path: `${base}/{id}`, summary: 'One image', access: tenants, params: byId, response: image }),
  upload: defineCall({
    id: 'nextstack.image.upload',
    method: 'POST',
    path: base,
    summary: 'Announce an image; its file then goes to `upload_path` by tus 1.0.0, in as many pieces and attempts as it takes',
    access: tenants,
    status: 201,
    body: z.object({ ...fresh, size_bytes: sizeBytes, sha256 }),
    response: z.object({ image, upload_path: z.string() }),
  }),
  fetch: defineCall({
    id: 'nextstack.image.fetch',
    method: 'POST',
    path: `${base}/fetch`,
    summary: 'Import an image from an HTTP or HTTPS address; addresses of the platform’s own networks are refused (94165)',
    access: tenants,
    status: 202,
    body: z.object({ ...fresh, url: z.url({ protocol: /^https?$/, error: fieldTexts.imageUrl }).max(2048), sha256 }),
    response: image,
  }),
  fromVm: defineCall({
    id: 'nextstack.image.fromVm',
    method: 'POST',
    path: `${base}/from-vm`,
    summary: 'Make an image of a stopped instance, or of a snapshot',
    also: ({ body }) => (body === undefined ? [] : actsOn('nextstack.image.fromVm', { kind: 'nextstack.vm', id: body.vm_id })),
    access: tenants,
    status: 202,
    body: z.object({ ...about, vm_id: z.uuid(), snapshot_id: z.uuid().nullable().default(null), visibility: z.enum(imageVisibilities).default('private') }),
    response: image,
  }),
  update: defineCall({
    id: 'nextstack.image.update',
    method: 'PUT',
    path: `${base}/{id}`,
    summary: 'Change what is said of an image, and who sees it',
    access: tenants,
    params: byId,
    body: z.object({ ...about, visibility: z.enum(imageVisibilities).optional() }),
    response: image,
  }),
  share: defineCall({
    id: 'nextstack.image.share',
    method: 'PUT',
    path: `${base}/{id}/shares`,
    summary: 'Which organisations may use a private image, by their names',
    access: tenants,
    params: byId,
    body: z.object({ organisations: z.array(word.min(1)).max(100) }),
    response: image,
  }),
  download: defineCall({
    id: 'nextstack.image.download',
    method: 'POST',
    path: `${base}/{id}/download`,
    summary: 'A link that gives the file; it works for ten minutes',
    access: tenants,
    params: byId,
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
  delete: defineCall({
    id: 'nextstack.image.delete',
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Delete an image, or give up its upload, fetching or making; instances made from it stay',
    access: tenants,
    params: byId,
    status: 202,
    response: image,
  }),
} as const
