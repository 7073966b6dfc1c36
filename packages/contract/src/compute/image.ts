import { z } from 'zod'
import { can } from '../can.ts'
import { defineCall, empty, moment } from '../define.ts'
import { inProject, sizeBetween } from '../resource.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { lineOf } from '../line.ts'
import { plainLine } from '../validation.ts'
import { cloudId, engineId, inCloud } from './ids.ts'

/** Glance's words. */
export const computeImageStatuses = ['queued', 'saving', 'uploading', 'importing', 'active', 'killed', 'deleted', 'pending_delete', 'deactivated'] as const
export type ComputeImageStatus = (typeof computeImageStatuses)[number]
/** Soon over, by itself. What is `queued` waits for its file. */
export const computeImageTransitional: readonly ComputeImageStatus[] = ['saving', 'uploading', 'importing', 'pending_delete']

/** What may be done to an image in which status. */
export const computeImageCan = can<ComputeImageStatus>()({
  createInstance: ['active'],
  upload: ['queued'],
  import: ['queued'],
  update: ['queued', 'saving', 'uploading', 'importing', 'active', 'deactivated'],
  share: ['queued', 'saving', 'uploading', 'importing', 'active', 'deactivated'],
  download: ['active'],
  deactivate: ['active'],
  reactivate: ['deactivated'],
  delete: ['queued', 'saving', 'uploading', 'importing', 'active', 'killed', 'deactivated'],
})

/** `shared`: with projects that it was offered to; `community`: with whoever knows its id. */
export const computeImageVisibilities = ['private', 'shared', 'community', 'public'] as const
export const computeDiskFormats = ['qcow2', 'raw', 'iso', 'vmdk', 'vhd', 'vhdx', 'vdi'] as const
export const computeOsTypes = ['linux', 'windows'] as const

/** What an instance's disk is made from, as Glance keeps it. */
export const computeImage = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(computeImageStatuses),
  visibility: z.enum(computeImageVisibilities),
  /** `qcow2`, `raw` … */
  disk_format: z.string().nullable(),
  /** Of its content; null until there is one. */
  size_bytes: z.int().nullable(),
  /** What instances of it need at least; 0: anything. */
  min_disk_bytes: z.int(),
  min_memory_bytes: z.int(),
  distribution: z.string().nullable(),
  os_type: z.string().nullable(),
  /** Cannot be deleted before that is taken off. */
  protected: z.boolean(),
  /** Whether it is the asker's own to change. */
  mine: z.boolean(),
  /** Another project's that was offered to the asker's; null of everything else. */
  offer: z.enum(['pending', 'accepted', 'rejected']).nullable(),
  /** Made from an instance, not uploaded. */
  snapshot: z.boolean(),
  /** The instance that it was made from, where the cloud tells it. */
  instance_id: z.string().nullable(),
  tags: z.array(z.string()),
  keystone_project_id: z.string().nullable(),
  created_at: moment,
  updated_at: moment,
})
export type ComputeImage = z.output<typeof computeImage>

/** A project that an image is offered to. */
export const computeImageMember = z.object({
  /** By which it is withdrawn; says nothing of whose it is. */
  id: z.string(),
  /** Told to platform-level people only: to all others another organisation is its name. */
  keystone_project_id: z.string().nullable(),
  /** Its organisation, and its project where it is one's; null where it is none of ours. */
  name: z.string().nullable(),
  status: z.enum(['pending', 'accepted', 'rejected']),
  updated_at: moment,
})
export type ComputeImageMember = z.output<typeof computeImageMember>

export const computeImageDetail = computeImage.extend({
  /** Of the disk that it becomes; null until the cloud has looked. */
  virtual_size_bytes: z.int().nullable(),
  /** `sha512:…`, of its content. */
  digest: z.string().nullable(),
  /** Emptied for those whose it is not. */
  members: z.array(computeImageMember),
})
export type ComputeImageDetail = z.output<typeof computeImageDetail>

const line = z.string().trim().regex(plainLine, fieldTexts.controlCharacters)
const imageName = line.min(1, fieldTexts.contentRequired).max(255)
const minimum = sizeBetween(0)
const about = {
  name: imageName,
  visibility: z.enum(computeImageVisibilities),
  protected: z.boolean(),
  min_disk_bytes: minimum,
  min_memory_bytes: minimum,
  /** `ubuntu`, `centos` … */
  distribution: line.max(64).nullable(),
  os_type: z.enum(computeOsTypes).nullable(),
} as const

const base = '/api/compute/v1/clouds/{cloud_id}'
const images = `${base}/images`
const one = `${images}/{id}`

export const computeImages = {
  list: defineCall({
    id: 'compute.image.list',
    method: 'GET',
    path: images,
    summary: 'Images of a cloud that the asker may use, in lines; those made from instances among them, and those offered and not answered',
    access: tenants,
    params: cloudId,
    lines: true,
    response: lineOf(computeImage),
  }),
  get: defineCall({
    id: 'compute.image.get',
    method: 'GET',
    path: one,
    summary: 'One image, and whom it is offered to',
    access: tenants,
    params: inCloud,
    response: computeImageDetail,
  }),
  importWays: defineCall({
    id: 'compute.image.importWays',
    method: 'GET',
    path: `${base}/image-ways`,
    summary: 'Whether the cloud takes images in from an address by itself',
    access: tenants,
    params: cloudId,
    response: z.object({ address: z.boolean() }),
  }),
  create: defineCall({
    id: 'compute.image.create',
    method: 'POST',
    path: images,
    summary: 'Announce an image; its file then goes to `upload_path` by one PUT of `application/octet-stream`, again from the beginning where that broke off',
    access: tenants,
    params: cloudId,
    status: 201,
    body: z.object({
      ...inProject,
      name: about.name,
      disk_format: z.enum(computeDiskFormats),
      /** Public only by administrators (93137). */
      visibility: about.visibility.default('private'),
      protected: about.protected.default(false),
      min_disk_bytes: minimum.default(0),
      min_memory_bytes: minimum.default(0),
      distribution: about.distribution.default(null),
      os_type: about.os_type.default(null),
    }),
    response: z.object({ image: computeImage, upload_path: z.string() }),
  }),
  import: defineCall({
    id: 'compute.image.import',
    method: 'POST',
    path: `${one}/import`,
    summary: 'Let the cloud fetch the content from an HTTP or HTTPS address; addresses of the platform’s own networks are refused (94165)',
    access: tenants,
    params: inCloud,
    status: 202,
    body: z.object({ url: z.url({ protocol: /^https?$/, error: fieldTexts.imageUrl }).max(2048) }),
    response: computeImage,
  }),
  update: defineCall({
    id: 'compute.image.update',
    method: 'PUT',
    path: one,
    summary: 'Change what is said of an image, who sees it, and whether it can be deleted; what is left out stays',
    access: tenants,
    params: inCloud,
    body: z.object(about).partial(),
    response: computeImage,
  }),
  deactivate: defineCall({
    id: 'compute.image.deactivate',
    method: 'POST',
    path: `${one}/deactivate`,
    summary: 'Let nobody use its content',
    access: tenants,
    params: inCloud,
    response: computeImage,
  }),
  reactivate: defineCall({
    id: 'compute.image.reactivate',
    method: 'POST',
    path: `${one}/reactivate`,
    summary: 'Let it be used again',
    access: tenants,
    params: inCloud,
    response: computeImage,
  }),
  offer: defineCall({
    id: 'compute.image.offer',
    method: 'POST',
    path: `${one}/members`,
    summary: 'Offer an image to another organisation, or to a project of one, by name; a private one becomes shared',
    access: tenants,
    params: inCloud,
    body: z.object({ organisation: line.min(1, fieldTexts.contentRequired).max(64), project: line.max(64).nullable().default(null) }),
    response: computeImageDetail,
  }),
  withdraw: defineCall({
    id: 'compute.image.withdraw',
    method: 'DELETE',
    path: `${one}/members/{member_id}`,
    summary: 'Offer an image to a project no longer; instances made from it stay',
    access: tenants,
    params: inCloud.extend({ member_id: engineId }),
    response: computeImageDetail,
  }),
  answer: defineCall({
    id: 'compute.image.answer',
    method: 'POST',
    path: `${one}/answer`,
    summary: 'Accept an image that was offered to the asker’s project, or reject it',
    access: tenants,
    params: inCloud,
    body: z.object({ accept: z.boolean() }),
    response: computeImage,
  }),
  download: defineCall({
    outside: false,
    id: 'compute.image.download',
    method: 'POST',
    path: `${one}/download`,
    summary: 'A link that gives the file; it works for ten minutes',
    access: tenants,
    params: inCloud,
    response: z.object({ path: z.string(), expires_at: moment }),
  }),
  delete: defineCall({
    id: 'compute.image.delete',
    method: 'DELETE',
    path: one,
    summary: 'Delete an image; instances made from it stay',
    access: tenants,
    params: inCloud,
    response: empty,
  }),
} as const
